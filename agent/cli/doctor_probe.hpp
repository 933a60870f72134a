// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agent/cli/doctor.hpp"
#include "base/result.hpp"
#include "os/dcbnl_socket.hpp"
#include "os/ethtool.hpp"

namespace lldp::cli {

/// Asks the kernel and the drivers of this network namespace; needs no privilege. What a driver
/// does not say is left out.
class Probe {
 public:
  [[nodiscard]] static Result<Probe> open();
  [[nodiscard]] LocalPort look_at(const std::string& port, unsigned ifindex);

 private:
  Probe(ethtool::Ask ask, dcbnl::Socket dcb)
      : ask_(std::move(ask)), counters_(ask_), dcb_(std::move(dcb)) {}
  ethtool::Ask ask_;
  ethtool::PriorityCounters counters_;
  dcbnl::Socket dcb_;
};

}  // namespace lldp::cli
