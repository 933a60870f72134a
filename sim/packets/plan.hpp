// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/routing/local_reroute.hpp"
#include "sim/packets/host/flow.hpp"
#include "sim/packets/settings.hpp"
#include "sim/packets/workload/program.hpp"

namespace lldp::lab::packets {

/// A link's carrier goes or comes.
struct LinkEvent {
  Picoseconds at = 0;
  std::size_t link = 0;
  bool up = false;
};

/// A host that does not do its part: it stops its switch for a while, again and again.
struct Storm {
  std::size_t host = 0;
  Picoseconds from = 0;
  Picoseconds until = kNever;
  Picoseconds pause = 90 * kMicrosecond;   ///< of every
  Picoseconds every = 100 * kMicrosecond;  ///< such time
};

/// What is sent, and where. A flow without a name is called by its two ends.
struct PlannedFlow {
  FlowSpec spec{};
  lab::FlowPath way{};
};
static_assert(sizeof(PlannedFlow) <= 88);  // there may be a million

/// All that a run is made from.
struct Plan {
  std::string name{};
  Fabric fabric{};
  FailedLinks failed{};             ///< from the start
  std::vector<LinkEvent> events{};  ///< by time
  std::vector<Storm> storms{};
  std::vector<PlannedFlow> flows{};  ///< one that starts at kNever is begun by `program`
  /// By flow: those before it in `flows` that must have arrived where it begins.
  std::map<std::uint32_t, std::vector<std::uint32_t>> after{};
  Program program{};
  Settings settings{};
  Picoseconds duration = 5 * kMillisecond;
};

[[nodiscard]] std::string flow_name(const Plan& plan, const PlannedFlow& flow);

inline constexpr std::string_view kCases[] = {"case1",
                                              "case2",
                                              "dualtor",
                                              "fcplus",
                                              "flap",
                                              "itsy-fig2",
                                              "itsy-fig3",
                                              "itsy-fig4",
                                              "itsy-fig5",
                                              "itsy-fattree",
                                              "itsy-fattree-storm",
                                              "last-hop",
                                              "ndc-loop"};
/// Those of them that have flows in two directions, X and Y.
inline constexpr std::string_view kCasesOfTwoWays[] = {"case1", "case2", "dualtor", "flap",
                                                       "last-hop"};

/// A deadlock case of the IEEE 802.1 proposal, with so many flows X and Y at line rate, each from a
/// host of its own that comes into the cycle by a port of its own (in case 2 and dualtor, on a ToR
/// of its own).
/// flap: case 1, where the links fail for 1 ms and come back for 1 ms, again and
/// again. last-hop: case 1, with hosts whose NICs take 80 Gb/s and have PFC for priority 3 alone.
/// fcplus, itsy-fig2, 3 and 4, ndc-loop: docs/research/sim.md; x and y do not matter there.
[[nodiscard]] Result<Plan> plan_of_case(std::string_view name, std::size_t x, std::size_t y);
/// The deadlocks that ITSY's paper draws, and those of its testbed: itsy-....
[[nodiscard]] Result<Plan> plan_of_figure(std::string_view name);
/// An FC+ of 40 switches, with its paper's routing.
[[nodiscard]] Result<Plan> plan_of_fcplus();

}  // namespace lldp::lab::packets
