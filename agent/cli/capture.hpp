// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

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
  Bytes octets{};                         ///< from the destination address on, without VLAN tags
  std::size_t missing = 0;                ///< octets that were on the wire and not captured
  [[nodiscard]] ByteSpan lldpdu() const;  ///< what follows the EtherType
};

class CaptureReader {
 public:
  /// `file`: "-" is standard input.
  [[nodiscard]] static Result<CaptureReader> open(const std::string& file);
  /// The next LLDP frame; false at the end. Others are passed over.
  [[nodiscard]] Result<bool> next(CapturedFrame& frame);

 private:
  struct Close {
    void operator()(pcap* p) const;
  };
  CaptureReader(std::string file, pcap* handle) : file_(std::move(file)), pcap_(handle) {}

  std::string file_;
  std::unique_ptr<pcap, Close> pcap_;
};

class CaptureWriter {
 public:
  /// Creates or empties `file`; "-" is standard output.
  [[nodiscard]] static Result<CaptureWriter> open(const std::string& file);
  /// Appends a frame that begins with its destination address, and flushes it, so that who looks
  /// at the file meanwhile sees whole frames.
  [[nodiscard]] Result<void> write(CaptureTime time, ByteSpan frame);

 private:
  struct Close {
    void operator()(pcap* p) const;
    void operator()(pcap_dumper* d) const;
  };
  CaptureWriter() = default;

  std::string file_{};
  std::unique_ptr<pcap, Close> pcap_{};
  std::unique_ptr<pcap_dumper, Close> dumper_{};
};

}  // namespace lldp::cli
