// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "agent/core/statistics.hpp"
#include "base/rare.hpp"

namespace lldp::core {

/// The counters of a port. Where all goes well, only two of them ever count.
class PortStatistics {
 public:
  void count_sent() { ++sent_; }
  void count_received() { ++received_; }
  void add(std::uint64_t Statistics::*what, std::uint64_t times = 1) {
    if (times != 0) others_.alter().*what += times;
  }
  [[nodiscard]] Statistics all() const {
    Statistics all = *others_;
    all.statsFramesOutTotal = sent_;
    all.statsFramesInTotal = received_;
    return all;
  }

 private:
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  Rare<Statistics> others_{};
};

}  // namespace lldp::core
