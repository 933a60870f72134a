// SPDX-License-Identifier: Apache-2.0
#include "lab/packets/oracle.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace lldp::lab::packets {
namespace {

/// The least to which the counters of a node must fall for a pause to end, when all but `kept`
/// octets have left its buffer.
std::uint64_t xon_of(const Network& n, std::uint32_t node, std::uint64_t kept) {
  const PfcSettings& pfc = n.settings.pfc;
  if (pfc.alpha_256 == 0) return pfc.xon_octets;
  const std::uint64_t free = n.buffers[node].shared - std::min(n.buffers[node].shared, kept);
  const std::uint64_t xoff = free * pfc.alpha_256 / 256;
  return xoff - std::min(xoff, std::uint64_t{2} * n.frame_octets);
}

}  // namespace

std::vector<Stuck> stuck_queues(const Network& n) {
  std::vector<Stuck> stuck;
  for (Arc a = 0; a < n.arcs(); ++a) {
    const Port& p = n.ports[a];
    const unsigned held = p.forwards ? p.waiting & p.paused & n.ingress[a].pausing : 0U;
    for (unsigned mask = held; mask != 0; mask &= mask - 1)
      stuck.push_back({a, static_cast<std::uint8_t>(std::countr_zero(mask))});
  }
  std::vector<std::array<std::uint64_t, kPriorities>> kept;
  std::vector<std::uint64_t> kept_at_node;
  for (std::size_t before = 0; stuck.size() >= 2 && stuck.size() != before;) {
    before = stuck.size();
    kept.assign(n.arcs(), {});
    kept_at_node.assign(n.buffers.size(), 0);
    for (const Stuck& s : stuck) {
      const Pool& pool = n.pool_of(n.ports[s.arc]);
      for (std::uint32_t f = n.ports[s.arc].queues[s.priority].first; f != kNone;
           f = pool[f].next) {
        const Slot& frame = pool[f];
        const std::uint32_t octets = frame.kind == Kind::kData ? frame.octets : kControlOctets;
        kept[frame.arc][frame.arrival] += octets;
        kept_at_node[n.ports[s.arc].node] += octets;
      }
    }
    std::erase_if(stuck, [&](const Stuck& s) {
      const std::uint32_t node = n.ports[reversed(s.arc)].node;
      return kept[s.arc][s.priority] <= xon_of(n, node, kept_at_node[node]);
    });
  }
  if (stuck.size() < 2) stuck.clear();
  return stuck;
}

}  // namespace lldp::lab::packets
