// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// The topology file of HPCC's ns-3 simulation and of what has been made from it: how many nodes,
/// switches and links there are; the switches' numbers; of each link two nodes, rate, delay and
/// error rate, as `0 16 100Gbps 0.001ms 0`. Nodes are named by their numbers. Errors name the line.
[[nodiscard]] Result<Fabric> fabric_from_hpcc(std::string_view text);

}  // namespace lldp::lab
