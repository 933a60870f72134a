// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/oracle.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace lldp::lab::packets {
namespace {

/// The least to which the counters of a node must fall for a pause to end, when all but `kept`
/// octets have left its buffer. Under credits: which leaves enough of them for a frame.
std::uint64_t xon_of(const Network& n, std::uint32_t node, std::uint64_t kept) {
  if (n.settings.flow_control == FlowControlKind::kCbfc)
    return n.settings.cbfc.credit_limit - n.cost_of(n.frame_octets);
  const PfcSettings& pfc = n.settings.pfc;
  if (pfc.alpha_256 == 0) return pfc.xon_octets;
  const std::uint64_t free = n.buffers[node].shared - std::min(n.buffers[node].shared, kept);
  const std::uint64_t xoff = free * pfc.alpha_256 / 256;
  return xoff - std::min(xoff, std::uint64_t{2} * n.frame_octets);
}

/// What would be left if all went that can: of queues that are held, those of which that is not
/// enough are let go, one after the other, until none is.
class Holding {
 public:
  explicit Holding(const Network& n) : n_(n) {
    for (const Part* part : n.parts)
      for (const Arc a : part->paused) {
        const Port& p = n.ports[a];
        const unsigned stopped = n.settings.flow_control == FlowControlKind::kCbfc
                                     ? unsigned{n.lossless}
                                     : n.ingress[a].pausing;
        const unsigned held = p.forwards ? p.waiting & p.paused & stopped : 0U;
        for (unsigned mask = held; mask != 0; mask &= mask - 1)
          stuck_.push_back({a, static_cast<std::uint8_t>(std::countr_zero(mask))});
      }
    std::sort(stuck_.begin(), stuck_.end());
  }

  std::vector<Stuck> left() {
    if (stuck_.size() < 2) return {};
    count();
    for (std::size_t before = 0; stuck_.size() >= 2 && stuck_.size() != before;) {
      before = stuck_.size();
      std::erase_if(stuck_, [&](const Stuck& s) {
        const std::uint32_t node = n_.ports[reversed(s.arc)].node;
        const Kept* kept = kept_of(s.arc);
        std::int64_t cost = 0;
        for (unsigned mask = n_.together[s.priority]; kept != nullptr && mask != 0;
             mask &= mask - 1)
          cost += kept->cost[static_cast<std::size_t>(std::countr_zero(mask))];
        if (static_cast<std::uint64_t>(cost) > xon_of(n_, node, kept_at(node))) return false;
        add(s, -1);
        return true;
      });
    }
    if (stuck_.size() < 2) stuck_.clear();
    return std::move(stuck_);
  }

 private:
  /// Of what came by an arc, in queues that are held.
  struct Kept {
    Arc in = 0;
    std::array<std::int64_t, kPriorities> cost{};
  };
  struct AtNode {
    std::uint32_t node = 0;
    std::int64_t octets = 0;
  };

  Kept* kept_of(Arc in) {
    const auto at = std::lower_bound(kept_.begin(), kept_.end(), in,
                                     [](const Kept& k, Arc a) { return k.in < a; });
    return at != kept_.end() && at->in == in ? &*at : nullptr;
  }
  AtNode* node_of(std::uint32_t node) {
    const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), node,
                                     [](const AtNode& k, std::uint32_t v) { return k.node < v; });
    return at != nodes_.end() && at->node == node ? &*at : nullptr;
  }
  std::uint64_t kept_at(std::uint32_t node) {
    const AtNode* at = node_of(node);
    return at != nullptr ? static_cast<std::uint64_t>(at->octets) : 0;
  }

  /// Only counters matter that hold such a queue; those of a node without any keep nothing.
  void count() {
    for (const Stuck& s : stuck_) {
      if (kept_.empty() || kept_.back().in != s.arc) kept_.push_back({.in = s.arc});
      nodes_.push_back({.node = n_.ports[s.arc].node});
    }
    std::sort(nodes_.begin(), nodes_.end(),
              [](const AtNode& a, const AtNode& b) { return a.node < b.node; });
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end(),
                             [](const AtNode& a, const AtNode& b) { return a.node == b.node; }),
                 nodes_.end());
    for (const Stuck& s : stuck_) add(s, 1);
  }
  void add(const Stuck& s, std::int64_t times) {
    const Port& p = n_.ports[s.arc];
    if (AtNode* at = node_of(p.node); at != nullptr)
      at->octets += times * std::int64_t{n_.queue(s.arc, s.priority).octets};
    n_.for_each_wait(s.arc, s.priority, [&](Arc in, std::uint8_t arrival, std::uint32_t cost) {
      if (Kept* kept = kept_of(in); kept != nullptr)
        kept->cost[arrival] += times * std::int64_t{cost};
    });
  }

  const Network& n_;
  std::vector<Stuck> stuck_{};
  std::vector<Kept> kept_{};     ///< by arc
  std::vector<AtNode> nodes_{};  ///< by node
};

}  // namespace

std::vector<Stuck> stuck_queues(const Network& n) { return Holding(n).left(); }

}  // namespace lldp::lab::packets
