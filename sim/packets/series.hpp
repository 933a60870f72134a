// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/packets/network.hpp"
#include "sim/packets/plan.hpp"

namespace lldp::lab::packets {

/// What a run looks like over time, as CSV: `time_ns,what,name,value`, one line for everything that
/// is not zero or has just become so. throughput_bps of a flow since the sample before,
/// queue_octets and paused (bit n: priority n) of the ports of switches.
class Series {
 public:
  explicit Series(const Plan& plan) : plan_(plan) {}
  [[nodiscard]] static std::string header() { return "time_ns,what,name,value\n"; }
  [[nodiscard]] std::string sample(const Network& network);

 private:
  struct Last {
    std::uint64_t queue = 0;
    std::uint64_t paused = 0;
  };
  const Plan& plan_;
  Picoseconds before_ = 0;
  std::vector<std::uint64_t> received_{};
  std::vector<std::uint64_t> rates_{};
  std::vector<Last> ports_{};
};

}  // namespace lldp::lab::packets
