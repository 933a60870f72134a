// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/routing/local_reroute.hpp"
#include "qos/policy.hpp"
#include "sim/bounce/probe.hpp"

namespace lldp::lab::bounce {

enum class BounceMode : std::uint8_t { kRouted, kBridged };

/// A point of the fabric where packets are looked at: on a link, at one of its ends, one way.
struct Spot {
  std::size_t link = 0;
  std::size_t end = 0;
  bool leaves = false;  ///< out of the node there; else into it
  friend auto operator<=>(const Spot&, const Spot&) = default;
};
/// All that was seen of one probe.
using Track = std::multimap<Spot, Sighting>;

/// The spots that a packet passes on its path, in their order: out of one node, into the next.
[[nodiscard]] std::vector<Spot> spots_of(const Fabric& fabric, const Path& path);

/// What the packet is marked with on each link of its path, if each turn moves it from one lossless
/// class to the next, from the last to the lossy one, and nothing else does anything.
[[nodiscard]] std::vector<Marking> expected_markings(const Fabric& fabric, const Path& path,
                                                     const qos::Policy& policy, Marking sent);

/// Holds a track against all that must be so: seen once at every spot of the path and nowhere else,
/// marked as expected, checksums right, every other octet as sent. Empty: it is.
[[nodiscard]] std::string problem_of(const Fabric& fabric, const Path& path,
                                     const qos::Policy& policy, BounceMode mode,
                                     const ProbePacket& probe, const Track& track);

/// Packets that turned, by where they left the switch and the priority they came with.
using Bounces = std::map<std::pair<Spot, Priority>, std::uint64_t>;
/// Adds the turns that a probe makes on its path in a lossless class.
void count_turns(const Fabric& fabric, const Path& path, const qos::Policy& policy,
                 const Marking& sent, Bounces& bounces);
/// `Leaf3:swp3 priority 5: 7 packets, not 8` for everything that differs.
[[nodiscard]] std::vector<std::string> miscounts(const Fabric& fabric, const Bounces& counted,
                                                 const Bounces& expected);

/// A probe for a person: `IPv6 dscp43 ecn2 pcp5`.
[[nodiscard]] std::string to_string(const ProbePacket& probe);

}  // namespace lldp::lab::bounce
