// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "agent/core/settings.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

struct pcap;
struct pcap_dumper;

/// Capture files, by libpcap: pcap and pcapng are read, pcap is written.
namespace lldp::cli {

/// Since 1970, as capture files have it.
using CaptureTime = std::chrono::nanoseconds;
/// UTC, to the microsecond: 2026-01-31T23:59:59.123456Z
[[nodiscard]] std::string to_date(CaptureTime time);

/// An LLDP frame of a capture.
struct CapturedFrame {
  CaptureTime time{};
  MacAddress source{};
  /// From the destination address on, without VLAN tags. A cooked capture has no destination: the
  /// nearest bridge's stands for a multicast, zeros for anything else.
  Bytes octets{};
  std::size_t missing = 0;  ///< octets that were on the wire and not captured
  bool cut = false;         ///< of the LLDPDU, too: `octets` end with its last whole TLV
  std::uint16_t vid = 0;    ///< of the outermost tag that is no priority tag; 0: there is none
  bool sent = false;        ///< by the machine that captured it, as a cooked capture says
  [[nodiscard]] ByteSpan lldpdu() const;  ///< what follows the EtherType
};

/// Why the daemon would pass over a frame that has arrived, whatever is in it; nothing: it would
/// not.
[[nodiscard]] std::optional<std::string> why_ignored(const CapturedFrame& frame,
                                                     const core::Settings& settings);

/// That a capture has no LLDP frame, and how to make one that has.
[[nodiscard]] Error no_lldp(const std::string& file);

class CaptureReader {
 public:
  /// `file`: "-" is standard input. Link types are Ethernet and Linux cooked (`tcpdump -i any`).
  [[nodiscard]] static Result<CaptureReader> open(const std::string& file);
  /// The next LLDP frame; false at the end. Others are passed over.
  [[nodiscard]] Result<bool> next(CapturedFrame& frame);

 private:
  struct Close {
    void operator()(pcap* p) const;
  };
  CaptureReader(std::string file, pcap* handle, int link_type)
      : file_(std::move(file)), pcap_(handle), link_type_(link_type) {}

  std::string file_;
  std::unique_ptr<pcap, Close> pcap_;
  int link_type_;
  std::uint64_t read_ = 0;  ///< octets of packets and their headers
};

class CaptureWriter {
 public:
  /// Creates or empties `file`, which then is a capture without a frame; "-" is standard output.
  [[nodiscard]] static Result<CaptureWriter> open(const std::string& file);
  /// Appends a frame that begins with its destination address, and flushes it, so that a program
  /// that reads the file meanwhile sees whole frames.
  [[nodiscard]] Result<void> write(CaptureTime time, ByteSpan frame);

 private:
  struct Close {
    void operator()(pcap* p) const;
    void operator()(pcap_dumper* d) const;
  };
  CaptureWriter() = default;
  [[nodiscard]] Result<void> flush() const;

  std::string file_{};
  std::unique_ptr<pcap, Close> pcap_{};
  std::unique_ptr<pcap_dumper, Close> dumper_{};
};

}  // namespace lldp::cli
