// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "sim/packets/plan.hpp"

namespace lldp::lab::packets {

/// Adds the traffic of a file that another simulator reads: flow.txt of HPCC's ns-3 simulation, a
/// connection matrix of htsim (.cm), or a GOAL trace of LogGOPSim in its textual form; which one,
/// its first word says. A number there is the host of that name, else the one of that index among
/// the fabric's. docs/research/sim.md tells what of them is taken and how. Errors name the line.
[[nodiscard]] Result<void> add_foreign_traffic(Plan& plan, std::string_view text,
                                               HostTransport transport);

}  // namespace lldp::lab::packets
