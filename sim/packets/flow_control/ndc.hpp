// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// Where things are in NDC(n, k): nodes of k + 1 ports that relay, switches of n.
class NdcMap {
 public:
  explicit NdcMap(const Network& network);

  [[nodiscard]] std::uint32_t n() const { return n_; }
  [[nodiscard]] std::uint32_t k() const { return k_; }
  [[nodiscard]] bool is_switch(Arc out) const { return switch_[out]; }
  /// The place of a port among its device's.
  [[nodiscard]] std::uint32_t index(Arc out) const { return index_[out]; }
  [[nodiscard]] const std::vector<Arc>& ports_of(std::uint32_t node) const { return ports_[node]; }
  /// A switch's port among those that are not `own`.
  [[nodiscard]] std::uint32_t rank(std::uint32_t port, Arc own) const {
    return port - (port > index_[own] ? 1U : 0U);
  }
  /// The queue in which a frame waits that goes on by `routes[step]`. Of a switch: 0 to n-2 by the
  /// next switch's egress port (IHFQ), n-1 where the next node is its goal (DDQ). Of a node, for
  /// its own: n-1 queues by the next switch's egress port for each number of switches on the way,
  /// most first (of k = 1: a, four hops, then b, two); then one (c) for what it relays.
  [[nodiscard]] std::uint8_t queue_of(const Network& n, std::uint32_t step) const {
    const Arc out = n.routes[step];
    const std::uint32_t next = n.routes[step + 1];
    if (switch_[out]) {
      if (next == kNone) return static_cast<std::uint8_t>(n_ - 1);
      return static_cast<std::uint8_t>(rank(index_[n.routes[step + 2]], reversed(next)));
    }
    if (n.routes[step - 1] != kNone) return static_cast<std::uint8_t>((k_ + 1) * (n_ - 1));
    std::uint32_t others = 0;  // switches on the way, but for the next one
    while (n.routes[step + 2 + 2 * others] != kNone) ++others;
    return static_cast<std::uint8_t>((k_ - std::min(k_, others)) * (n_ - 1) +
                                     rank(index_[next], reversed(out)));
  }

 private:
  std::uint32_t n_ = 0;
  std::uint32_t k_ = 0;
  std::vector<bool> switch_{};                       ///< by arc: it leaves a switch
  std::vector<std::uint32_t> index_{};               ///< by arc
  std::vector<std::vector<std::uint32_t>> ports_{};  ///< by node
};

/// Whether devices that are hosts pass on what is for others.
[[nodiscard]] bool has_relays(const Fabric& fabric);

/// Refuses what is no NDC(n, k) with k up to `most_k`, and one for which a port has too few queues:
/// `queues` for data and control.
[[nodiscard]] Result<void> check_ndc(const Fabric& fabric, std::size_t queues, std::size_t most_k);

/// The ways in NDC(n, 1) from one node to another: over the one switch that both have, else over
/// each of the two nodes that share one with each, in the order of the first node's links. `links`:
/// adjacencies() of the fabric.
[[nodiscard]] std::vector<std::vector<std::size_t>> ndc_ways(
    const Fabric& fabric, const std::vector<std::vector<Adjacency>>& links, std::size_t from,
    std::size_t to);
/// Gives a flow its way in NDC(n, 1), if it has none: one of ndc_ways(), by its hash.
void give_way(const Fabric& fabric, const std::vector<std::vector<Adjacency>>& links,
              lab::FlowPath& flow);

}  // namespace lldp::lab::packets
