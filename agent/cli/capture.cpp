// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/capture.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "agent/cli/libpcap.hpp"
#include "base/text.hpp"
#include "tlv/lldpdu.hpp"

namespace lldp::cli {
namespace {

constexpr std::size_t kAddresses = 12;
constexpr std::size_t kHeader = 14;
constexpr std::size_t kVlanTag = 4;
constexpr std::uint16_t kVidMask = 0x0fff;
constexpr int kSnapLength = 65535;
/// A capture that has no end, as one that is still written to a pipe, would be read for ever.
constexpr std::uint64_t kMostOctets = std::uint64_t{4} << 30;
/// That a packet takes at least in a file; so packets without octets end, too.
constexpr std::uint64_t kRecordHeader = 16;

std::string shown(const std::string& file, const char* standard) {
  return file == "-" ? standard : file;
}

std::uint16_t type_at(ByteSpan frame, std::size_t i) {
  return static_cast<std::uint16_t>(frame[i] << 8 | frame[i + 1]);
}

Error too_long(const std::string& name) {
  return {EFBIG, name, "is longer than 4 GiB: capture with 'ether proto 0x88cc', or cut it"};
}

/// What is refused before it is read: what is too long, and what is no file. A pipe ends when its
/// writer does; a device gives octets for ever, and a terminal is a mistake.
std::optional<Error> refused(const struct stat& status, const std::string& name) {
  if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > kMostOctets)
    return too_long(name);
  if (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return {};
  if (S_ISDIR(status.st_mode)) return Error{EISDIR, name, std::strerror(EISDIR)};
  return Error{EINVAL, name, "is a device, which has no end: name a file"};
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

/// Of the first of the tags at the end that is no priority tag; 0: none is.
std::uint16_t vid_of(ByteSpan tags) {
  for (std::size_t i = kAddresses; i + kVlanTag <= tags.size(); i += kVlanTag) {
    const auto vid = static_cast<std::uint16_t>(type_at(tags, i + 2) & kVidMask);
    if (vid != 0) return vid;
  }
  return 0;
}

/// Linux cooked captures, as `tcpdump -i any` makes them: LINKTYPE_LINUX_SLL and _SLL2.
struct Cooked {
  std::size_t header = 0;
  std::size_t protocol = 0;  ///< where it stands
  std::size_t type = 0;      ///< the last octet of the packet's type
  std::size_t address = 0;
};
constexpr Cooked kSll{.header = 16, .protocol = 14, .type = 1, .address = 6};
constexpr Cooked kSll2{.header = 20, .protocol = 0, .type = 10, .address = 12};
constexpr std::uint8_t kMulticast = 2;
constexpr std::uint8_t kOutgoing = 4;

/// The Ethernet frame that it was, as far as it is known; `sent`: by the machine itself.
Bytes uncooked(ByteSpan packet, const Cooked& at, bool& sent) {
  if (packet.size() < at.header) return {};
  sent = packet[at.type] == kOutgoing;
  MacAddress destination{};
  if (sent || packet[at.type] == kMulticast)
    destination = group_address(core::Scope::kNearestBridge);
  Bytes frame(destination.begin(), destination.end());
  const auto append = [&](ByteSpan octets) {
    frame.insert(frame.end(), octets.begin(), octets.end());
  };
  append(packet.subspan(at.address, 6));
  append(packet.subspan(at.protocol, 2));
  append(packet.subspan(at.header));
  return frame;
}

/// How many octets of an LLDPDU whose end was not captured are whole TLVs; nothing if it was.
std::optional<std::size_t> whole_tlvs(ByteSpan lldpdu) {
  std::size_t end = 0;
  while (end + 2 <= lldpdu.size()) {
    const std::size_t length = type_at(lldpdu, end) & tlv::kMaxInformation;
    if (lldpdu[end] >> 1 == 0) return std::nullopt;  // the End TLV
    if (end + 2 + length > lldpdu.size()) break;
    end += 2 + length;
  }
  return end;
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

std::optional<std::string> why_ignored(const CapturedFrame& frame, const core::Settings& settings) {
  if (frame.sent) return "sent by the machine that captured it";
  if (frame.vid != 0)
    return fmt::format("tagged for VLAN {}: it belongs to that VLAN, not to the link", frame.vid);
  MacAddress to{};
  std::copy_n(frame.octets.begin(), to.size(), to.begin());
  const auto is_group_of = [&](core::Scope scope) { return group_address(scope) == to; };
  if (std::any_of(settings.scopes.begin(), settings.scopes.end(), is_group_of)) return std::nullopt;
  if (to == MacAddress{}) return "not sent to a group address";
  using enum core::Scope;
  const bool is_lldp = is_group_of(kNearestBridge) || is_group_of(kNearestNonTpmrBridge) ||
                       is_group_of(kNearestCustomerBridge);
  return "sent to " + to_string(to) +
         (is_lldp ? ": heard where lldp.scopes names it" : ", which is no address of LLDP");
}

Error no_lldp(const std::string& file) {
  return {.where = file, .what = "no LLDP frame: capture with 'ether proto 0x88cc'"};
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
  struct stat status {};
  if (::fstat(::fileno(stream), &status) == 0) {
    if (auto refusal = refused(status, name)) {
      if (stream != stdin) std::fclose(stream);
      return fail(std::move(*refusal));
    }
  }
  pcap* handle =
      lib->fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, why.data());
  if (handle == nullptr) {
    if (stream != stdin) std::fclose(stream);
    return fail(Error{0, std::move(name), std::string("not a pcap or pcapng file: ") + why.data()});
  }
  const int link_type = lib->datalink(handle);
  CaptureReader reader(std::move(name), handle, link_type);
  if (link_type != DLT_EN10MB && link_type != DLT_LINUX_SLL && link_type != DLT_LINUX_SLL2) {
    const char* type = lib->datalink_val_to_name(link_type);
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
    ByteSpan octets(data, header->caplen);
    read_ += kRecordHeader + octets.size();
    if (read_ > kMostOctets) return fail(too_long(file_));
    frame.sent = false;
    Bytes ethernet;
    if (link_type_ != DLT_EN10MB) {
      ethernet = uncooked(octets, link_type_ == DLT_LINUX_SLL ? kSll : kSll2, frame.sent);
      octets = ethernet;
    }
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
    frame.vid = vid_of(octets.first(type));
    frame.missing = header->len - std::min(header->len, header->caplen);
    const auto whole = frame.missing == 0 ? std::nullopt : whole_tlvs(frame.lldpdu());
    frame.cut = whole.has_value();
    if (whole) frame.octets.resize(kHeader + *whole);
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
  // Its header: a recording that is ended before the first frame is a capture without one.
  if (auto written = writer.flush(); !written) return fail(written.error());
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
  return flush();
}

Result<void> CaptureWriter::flush() const {
  if (libpcap()->dump_flush(dumper_.get()) != 0)
    return fail(Error{errno, file_, std::string("cannot write: ") + std::strerror(errno)});
  return {};
}

}  // namespace lldp::cli
