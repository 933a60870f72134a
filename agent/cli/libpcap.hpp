// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pcap/pcap.h>

#include "base/result.hpp"

namespace lldp::cli {

/// What we call of libpcap, by libpcap's names without `pcap_`. It is loaded when the first capture
/// file is opened and not linked: it brings D-Bus, libsystemd and libgcrypt along, which would more
/// than double the time that `show` and `wait` take to start.
struct Libpcap {
  decltype(&pcap_close) close = nullptr;
  decltype(&pcap_geterr) geterr = nullptr;
  decltype(&pcap_datalink) datalink = nullptr;
  decltype(&pcap_datalink_val_to_name) datalink_val_to_name = nullptr;
  decltype(&pcap_fopen_offline_with_tstamp_precision) fopen_offline_with_tstamp_precision = nullptr;
  decltype(&pcap_next_ex) next_ex = nullptr;
  decltype(&pcap_open_dead_with_tstamp_precision) open_dead_with_tstamp_precision = nullptr;
  decltype(&pcap_dump_fopen) dump_fopen = nullptr;
  decltype(&pcap_dump) dump = nullptr;
  decltype(&pcap_dump_flush) dump_flush = nullptr;
  decltype(&pcap_dump_close) dump_close = nullptr;
};

/// Loads it at the first call; stays loaded. An error: it is not installed.
[[nodiscard]] const Result<Libpcap>& libpcap();

}  // namespace lldp::cli
