// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/split.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace lldp::lab::packets {
namespace {

constexpr std::uint64_t kEndless = 1U << 20;  ///< frames that a flow without an end counts for

/// Frames that each node has to move.
std::vector<std::uint64_t> loads(const Network& n) {
  std::vector<std::uint64_t> load(n.buffers.size());
  for (const Flow& f : n.flows) {
    const std::uint64_t frames = f.frames == kNone ? kEndless : f.frames;
    for (std::uint32_t step = f.route; n.routes[step] != kNone; ++step) {
      load[n.ports[n.routes[step]].node] += frames;
      if (n.routes[step + 1] == kNone) load[n.ports[reversed(n.routes[step])].node] += frames;
    }
  }
  return load;
}

/// Switches by their distance from hosts: those that have some, their neighbors, and so on;
/// switches that no host reaches come last. `home`: of a host its switch, of another node the node
/// itself.
std::vector<std::vector<std::uint32_t>> tiers_of(const Network& n,
                                                 const std::vector<std::uint32_t>& home) {
  std::vector<std::vector<std::uint32_t>> next(home.size());
  std::vector<bool> reached(home.size());
  for (Arc a = 0; a < n.arcs(); ++a)
    next[home[n.ports[a].node]].push_back(home[n.ports[reversed(a)].node]);
  std::vector<std::vector<std::uint32_t>> tiers(1);
  for (std::uint32_t node = 0; node < home.size(); ++node) {
    reached[node] = home[node] != node;
    if (reached[node]) tiers[0].push_back(home[node]);
  }
  while (!tiers.back().empty()) {
    auto& tier = tiers.back();
    std::sort(tier.begin(), tier.end());
    tier.erase(std::unique(tier.begin(), tier.end()), tier.end());
    for (const std::uint32_t node : tier) reached[node] = true;
    std::vector<std::uint32_t> above;
    for (const std::uint32_t node : tier)
      for (const std::uint32_t peer : next[node])
        if (!reached[peer]) above.push_back(peer);
    tiers.push_back(std::move(above));
  }
  for (std::uint32_t node = 0; node < home.size(); ++node)
    if (!reached[node]) tiers.back().push_back(node);
  return tiers;
}

}  // namespace

std::size_t split(Network& n, std::size_t parts) {
  std::vector<std::uint32_t> home(n.buffers.size());
  std::iota(home.begin(), home.end(), 0U);
  for (Arc a = 0; a < n.arcs(); ++a)
    if (const Port& peer = n.ports[reversed(a)]; !n.ports[a].forwards && peer.forwards)
      home[n.ports[a].node] = peer.node;
  std::vector<std::uint64_t> load = loads(n);
  std::size_t homes = 0;
  for (std::uint32_t node = 0; node < load.size(); ++node) {
    homes += home[node] == node ? 1U : 0U;
    if (home[node] != node) load[home[node]] += load[node];
  }
  parts = std::clamp<std::size_t>(parts, 1, std::min(kMostParts, homes));
  // Each tier is shared out by itself, in the order of the fabric, in which pods are together: so
  // that all parts have something to do at any time, and little to send to each other.
  n.part_of.assign(load.size(), 0);
  for (const auto& tier : tiers_of(n, home)) {
    std::uint64_t whole = 0;
    for (const std::uint32_t node : tier) whole += load[node] + 1;
    std::uint64_t before = 0;
    for (const std::uint32_t node : tier) {
      const std::uint64_t middle = before + (load[node] + 1) / 2;
      n.part_of[node] =
          static_cast<std::uint32_t>(static_cast<unsigned __int128>(middle) * parts / whole);
      before += load[node] + 1;
    }
  }
  for (std::uint32_t node = 0; node < load.size(); ++node) n.part_of[node] = n.part_of[home[node]];
  for (Arc a = 0; a < n.arcs(); ++a)
    n.ports[a].to_part = static_cast<std::uint8_t>(n.part_of[n.ports[reversed(a)].node]);
  return parts;
}

namespace {

Picoseconds least_delay(const Network& n, bool between_parts) {
  const std::uint32_t shortest =
      std::min<std::uint32_t>(kControlOctets, n.settings.header_octets + 1U);
  Picoseconds least = kNever;
  for (Arc a = 0; a < n.arcs(); ++a) {
    const Port& p = n.ports[a];
    if (!between_parts || p.to_part != n.part_at(p.node))
      least = std::min(least, p.delay + n.time_of(a, shortest));
  }
  return least;
}

}  // namespace

Picoseconds lookahead(const Network& n) { return least_delay(n, true); }
Picoseconds least_delay(const Network& n) { return least_delay(n, false); }

}  // namespace lldp::lab::packets
