// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

// What a switch leaves to chance.

/// The way that a frame takes which has come to its first switch.
[[nodiscard, gnu::noinline]] inline std::uint32_t way_for(Network& n, const Slot& f,
                                                          Picoseconds now) {
  const Flow& w = n.flows[f.flow];
  if (w.ways < 2) return f.route;
  Random& random = n.random[reversed(f.arc)];  // of a port of this node
  std::uint32_t best = f.route;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < w.ways; ++i) {
    const std::uint32_t way = n.ways[w.extras->first_way + i];
    if (n.routes[way] != f.arc || n.ports[n.routes[way + 1]].down) continue;
    std::uint64_t weight = random.below(1U << 20);  // among equals, chance
    if (n.settings.spread == Spread::kAdaptive) {
      const Arc out = n.routes[way + 1];
      const Port& p = n.ports[out];
      std::uint64_t octets = p.free_at > now ? 1 : 0;
      for (unsigned mask = p.waiting; mask != 0; mask &= mask - 1)
        octets += n.queue(out, static_cast<std::uint8_t>(std::countr_zero(mask))).octets;
      weight += octets << 20;
    }
    if (weight >= least) continue;
    least = weight;
    best = way;
  }
  return best;
}

/// Whether a frame that finds so much in its queue is marked (ECN).
[[nodiscard, gnu::noinline]] inline bool marks(Network& n, std::uint32_t queued, Arc out) {
  const EcnSettings& ecn = n.settings.ecn;
  if (queued >= ecn.kmax_octets) return true;
  const std::uint64_t part = std::uint64_t{queued - ecn.kmin_octets} * ecn.pmax_permille;
  const std::uint64_t whole = std::uint64_t{ecn.kmax_octets - ecn.kmin_octets} * 1000;
  return n.random[out].below(whole) < part;
}

}  // namespace lldp::lab::packets
