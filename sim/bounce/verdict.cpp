// SPDX-License-Identifier: Apache-2.0
#include "sim/bounce/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lldp::lab::bounce {
namespace {

std::string to_string(const Marking& m) {
  return fmt::format("dscp{} ecn{}{}", m.dscp.value(), m.ecn,
                     m.pcp ? fmt::format(" pcp{}", m.pcp->value()) : "");
}

std::string to_string(const Fabric& fabric, const Spot& spot) {
  const LinkEnd& end = fabric.links[spot.link].ends[spot.end];
  return fmt::format("{} {} by {}", spot.leaves ? "leaving" : "entering",
                     fabric.nodes[end.node].name, end.port);
}

std::optional<qos::Class> after_turn(const qos::Policy& policy, Dscp dscp) {
  for (const qos::Remap& turn : policy.turns())
    if (turn.from.dscp == dscp) return turn.to;
  return std::nullopt;
}

}  // namespace

std::vector<Spot> spots_of(const Fabric& fabric, const Path& path) {
  std::vector<Spot> spots;
  for (std::size_t i = 0; i < path.links.size(); ++i) {
    const std::size_t link = path.links[i];
    const std::size_t near = fabric.links[link].ends[0].node == path.nodes[i] ? 0 : 1;
    spots.push_back({link, near, true});
    spots.push_back({link, 1 - near, false});
  }
  return spots;
}

std::vector<Marking> expected_markings(const Fabric& fabric, const Path& path,
                                       const qos::Policy& policy, Marking sent) {
  const auto turns = turns_of(fabric, path);
  std::vector<Marking> markings;
  for (std::size_t i = 0; i < path.links.size(); ++i) {
    if (std::find(turns.begin(), turns.end(), i) != turns.end())
      if (const auto next = after_turn(policy, sent.dscp)) {
        sent.dscp = next->dscp;
        if (sent.pcp) sent.pcp = next->priority;
      }
    markings.push_back(sent);
  }
  return markings;
}

std::string problem_of(const Fabric& fabric, const Path& path, const qos::Policy& policy,
                       BounceMode mode, const ProbePacket& probe, const Track& track) {
  const auto spots = spots_of(fabric, path);
  const auto markings = expected_markings(fabric, path, policy, probe.marking);
  const auto sent = recognise(frame_of(probe, mac_of(probe.flow, true)));
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const auto at = [&] { return to_string(fabric, spots[i]); };
    const auto [first, last] = track.equal_range(spots[i]);
    if (first == last) return "not seen " + at();
    if (std::next(first) != last) return "seen twice " + at();
    const Sighting& seen = first->second;
    if (seen.marking != markings[i / 2])
      return fmt::format("{} {}, not {}", to_string(seen.marking), at(),
                         to_string(markings[i / 2]));
    if (!seen.checksums_right) return "wrong checksum " + at();
    const std::size_t hops = mode == BounceMode::kRouted ? i / 2 : 0;
    if (seen.hop_limit != kHopLimit - hops)
      return fmt::format("hop limit {} {}", seen.hop_limit, at());
    if (seen.rest != sent->rest ||
        (mode == BounceMode::kBridged && (seen.to != sent->to || seen.from != sent->from)))
      return "other octets changed " + at();
  }
  for (const auto& [spot, seen] : track)
    if (std::find(spots.begin(), spots.end(), spot) == spots.end())
      return "off its path: " + to_string(fabric, spot);
  return {};
}

void count_turns(const Fabric& fabric, const Path& path, const qos::Policy& policy,
                 const Marking& sent, Bounces& bounces) {
  const auto spots = spots_of(fabric, path);
  const auto markings = expected_markings(fabric, path, policy, sent);
  for (const std::size_t turn : turns_of(fabric, path))
    for (const qos::LosslessClass& c : policy.classes())
      if (c.dscps.contains(markings[turn - 1].dscp)) ++bounces[{spots[2 * turn], c.priority}];
}

std::vector<std::string> miscounts(const Fabric& fabric, const Bounces& counted,
                                   const Bounces& expected) {
  Bounces both = counted;
  both.insert(expected.begin(), expected.end());
  const auto in = [](const Bounces& bounces, const auto& key) {
    const auto at = bounces.find(key);
    return at == bounces.end() ? 0 : at->second;
  };
  std::vector<std::string> texts;
  for (const auto& entry : both) {
    const auto& [spot, priority] = entry.first;
    const LinkEnd& end = fabric.links[spot.link].ends[spot.end];
    const std::uint64_t is = in(counted, entry.first);
    const std::uint64_t must = in(expected, entry.first);
    if (is != must)
      texts.push_back(fmt::format("{}:{} priority {}: {} packets, not {}",
                                  fabric.nodes[end.node].name, end.port, priority.value(), is,
                                  must));
  }
  return texts;
}

std::string to_string(const ProbePacket& probe) {
  return fmt::format("{} {}", probe.v6 ? "IPv6" : "IPv4", to_string(probe.marking));
}

}  // namespace lldp::lab::bounce
