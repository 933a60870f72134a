// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "agent/cli/libpcap.hpp"
#include "tlv/lldpdu.hpp"

namespace lldp::cli {
namespace {

constexpr std::size_t kAddresses = 12;
constexpr std::size_t kHeader = 14;
constexpr std::size_t kVlanTag = 4;
constexpr int kSnapLength = 65535;

std::string shown(const std::string& file, const char* standard) {
  return file == "-" ? standard : file;
}

std::uint16_t type_at(ByteSpan frame, std::size_t i) {
  return static_cast<std::uint16_t>(frame[i] << 8 | frame[i + 1]);
}

bool is_vlan_tag(std::uint16_t type) {
  return type == 0x8100 || type == 0x88a8;  // IEEE 802.1Q-2018 Table 9-1
}

/// Where the EtherType that is no VLAN tag stands; 0: the frame is too short to have one.
std::size_t type_offset(ByteSpan frame) {
  std::size_t i = kAddresses;
  while (i + 2 <= frame.size()) {
    if (!is_vlan_tag(type_at(frame, i))) return i;
    i += kVlanTag;
  }
  return 0;
}

}  // namespace

std::string to_date(CaptureTime time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date{sys_days(day)};
  const hh_mm_ss clock(floor<microseconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

ByteSpan CapturedFrame::lldpdu() const { return ByteSpan(octets).subspan(kHeader); }

// What is closed was opened, so libpcap is there.
void CaptureReader::Close::operator()(pcap* p) const { libpcap()->close(p); }
void CaptureWriter::Close::operator()(pcap* p) const { libpcap()->close(p); }
void CaptureWriter::Close::operator()(pcap_dumper* d) const { libpcap()->dump_close(d); }

Result<CaptureReader> CaptureReader::open(const std::string& file) {
  const Result<Libpcap>& lib = libpcap();
  if (!lib) return fail(lib.error());
  std::array<char, PCAP_ERRBUF_SIZE> why{};
  std::string name = shown(file, "standard input");
  // Opened here, so that an error is the system's and libpcap does not repeat the name.
  std::FILE* stream = file == "-" ? stdin : std::fopen(file.c_str(), "rbe");
  if (stream == nullptr) return fail(Error{errno, std::move(name), std::strerror(errno)});
  pcap* handle =
      lib->fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, why.data());
  if (handle == nullptr) {
    if (stream != stdin) std::fclose(stream);
    return fail(Error{0, std::move(name), std::string("not a pcap or pcapng file: ") + why.data()});
  }
  CaptureReader reader(std::move(name), handle);
  if (lib->datalink(handle) != DLT_EN10MB) {
    const char* type = lib->datalink_val_to_name(lib->datalink(handle));
    return fail(Error{0, reader.file_,
                      std::string("link type ") + (type == nullptr ? "unknown" : type) +
                          ": capture on an Ethernet interface"});
  }
  return reader;
}

Result<bool> CaptureReader::next(CapturedFrame& frame) {
  for (;;) {
    pcap_pkthdr* header = nullptr;
    const unsigned char* data = nullptr;
    switch (libpcap()->next_ex(pcap_.get(), &header, &data)) {
      case 1:
        break;
      case PCAP_ERROR_BREAK:  // the end of the file
        return false;
      default:
        return fail(Error{0, file_, libpcap()->geterr(pcap_.get())});
    }
    const ByteSpan octets(data, header->caplen);
    const std::size_t type = type_offset(octets);
    if (type == 0 || type_at(octets, type) != tlv::kEtherType) continue;
    // With nanosecond precision asked for, tv_usec has nanoseconds. A file may name any second.
    constexpr auto kLast = std::chrono::floor<std::chrono::seconds>(CaptureTime::max()).count() - 1;
    frame.time =
        std::chrono::seconds(std::clamp<std::int64_t>(header->ts.tv_sec, 0, kLast)) +
        std::chrono::nanoseconds(std::clamp<std::int64_t>(header->ts.tv_usec, 0, 999'999'999));
    std::copy_n(octets.begin() + 6, frame.source.size(), frame.source.begin());
    frame.octets.assign(octets.begin(), octets.begin() + kAddresses);
    frame.octets.insert(frame.octets.end(), octets.begin() + static_cast<std::ptrdiff_t>(type),
                        octets.end());
    frame.missing = header->len - std::min(header->len, header->caplen);
    return true;
  }
}

Result<CaptureWriter> CaptureWriter::open(const std::string& file) {
  const Result<Libpcap>& lib = libpcap();
  if (!lib) return fail(lib.error());
  CaptureWriter writer;
  writer.file_ = shown(file, "standard output");
  writer.pcap_.reset(
      lib->open_dead_with_tstamp_precision(DLT_EN10MB, kSnapLength, PCAP_TSTAMP_PRECISION_NANO));
  if (!writer.pcap_) return fail(Error{ENOMEM, writer.file_, std::strerror(ENOMEM)});
  std::FILE* stream = file == "-" ? stdout : std::fopen(file.c_str(), "wbe");
  if (stream == nullptr) return fail(Error{errno, writer.file_, std::strerror(errno)});
  writer.dumper_.reset(lib->dump_fopen(writer.pcap_.get(), stream));
  if (!writer.dumper_) {
    if (stream != stdout) std::fclose(stream);
    return fail(Error{0, writer.file_, lib->geterr(writer.pcap_.get())});
  }
  return writer;
}

Result<void> CaptureWriter::write(CaptureTime time, ByteSpan frame) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  pcap_pkthdr header{};
  header.ts.tv_sec = static_cast<time_t>(seconds.count());
  header.ts.tv_usec = static_cast<suseconds_t>((time - seconds).count());
  header.caplen = static_cast<bpf_u_int32>(frame.size());
  header.len = header.caplen;
  libpcap()->dump(reinterpret_cast<unsigned char*>(dumper_.get()), &header, frame.data());
  if (libpcap()->dump_flush(dumper_.get()) != 0)
    return fail(Error{errno, file_, std::string("cannot write: ") + std::strerror(errno)});
  return {};
}

}  // namespace lldp::cli
