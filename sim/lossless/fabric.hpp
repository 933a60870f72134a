// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "dataplane/soft/messages.hpp"
#include "lab/live/lossless.hpp"
#include "lab/live/place.hpp"
#include "lab/live/watcher.hpp"
#include "lab/routing/local_reroute.hpp"
#include "qos/policy.hpp"
#include "sim/lossless/frames.hpp"

/// What makes a live fabric lossless: the switches' files, agents that know them, hosts that know
/// each other.
namespace lldp::lab::lossless {

/// Packets to an address take this path.
struct Way {
  Ipv4 to{};
  Path path{};
};
/// The files of the switch processes, by node. Where two ways to one address part, the first holds.
/// `rules_late_ms`: as SwitchFile has it.
[[nodiscard]] std::map<std::string, std::string> switch_files(
    const live::FabricPlace& place, const Fabric& fabric, const std::vector<Way>& ways,
    const qos::Policy& policy, std::uint64_t rate_bps, std::uint32_t rules_late_ms = 0);

/// A way from every host to every other one. Refuses more than 250 hosts.
[[nodiscard]] Result<std::vector<Way>> ways_between_hosts(const Fabric& fabric);

/// Gives the first port of each host its address, 198.18.N.2 for the Nth host of the fabric, and a
/// neighbor entry for every other host; and what it sends leaves in frames as they would be on a
/// wire, with checksums.
[[nodiscard]] Result<void> address_hosts(const live::FabricPlace& place, const Fabric& fabric);

/// The agents that are not running: those of switches with the back end `soft`, those of hosts
/// without any. Returns how many were started.
[[nodiscard]] Result<std::size_t> start_agents(const live::FabricPlace& place, const Fabric& fabric,
                                               const std::string& agent, const qos::Policy& policy,
                                               const std::vector<std::string>& arguments);

/// Until every agent of a switch says that it is protected, or has nothing to protect, and its
/// switch has rules at every port that it protects; why it is not so by `deadline`.
[[nodiscard]] std::optional<Error> wait_for_rules(const live::FabricPlace& place,
                                                  const Fabric& fabric, live::Watcher& watcher,
                                                  live::Watcher::Clock::time_point deadline);

using live::LossCounts;
/// What one switch has counted, in addition.
void add(LossCounts& all, const dataplane::soft::View& view);
/// Of the switches that answer by `deadline`.
[[nodiscard]] LossCounts losses(const live::FabricPlace& place, const Fabric& fabric,
                                live::Watcher::Clock::time_point deadline);

}  // namespace lldp::lab::lossless
