// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "lab/packets/network.hpp"

namespace lldp::lab::packets {

/// Where things are in NDC(n, 1): nodes of two ports that relay, switches of n.
class NdcMap {
 public:
  explicit NdcMap(const Network& network);

  [[nodiscard]] std::uint32_t n() const { return n_; }
  [[nodiscard]] bool is_switch(Arc out) const { return switch_[out]; }
  /// The place of a port among its device's.
  [[nodiscard]] std::uint32_t index(Arc out) const { return index_[out]; }
  [[nodiscard]] const std::vector<Arc>& ports_of(std::uint32_t node) const { return ports_[node]; }
  /// A switch's port among those that are not `own`.
  [[nodiscard]] std::uint32_t rank(std::uint32_t port, Arc own) const {
    return port - (port > index_[own] ? 1U : 0U);
  }
  /// The queue in which a frame waits that goes on by `routes[step]`. Of a switch: 0 to n-2 by the
  /// next switch's egress port (IHFQ), n-1 where the next node is its goal (DDQ). Of a node: 0 to
  /// n-2 (a, four hops) and n-1 to 2n-3 (b, two) by the next switch's egress port for its own, 2n-2
  /// (c) for what it relays.
  [[nodiscard]] std::uint8_t queue_of(const Network& n, std::uint32_t step) const {
    const Arc out = n.routes[step];
    const std::uint32_t next = n.routes[step + 1];
    if (!switch_[out]) {
      if (n.routes[step - 1] != kNone) return static_cast<std::uint8_t>(2 * n_ - 2);
      const std::uint32_t to = rank(index_[next], reversed(out));
      return static_cast<std::uint8_t>(n.routes[step + 2] == kNone ? n_ - 1 + to : to);
    }
    if (next == kNone) return static_cast<std::uint8_t>(n_ - 1);
    return static_cast<std::uint8_t>(rank(index_[n.routes[step + 2]], reversed(next)));
  }

 private:
  std::uint32_t n_ = 0;
  std::vector<bool> switch_{};                       ///< by arc: it leaves a switch
  std::vector<std::uint32_t> index_{};               ///< by arc
  std::vector<std::vector<std::uint32_t>> ports_{};  ///< by node
};

/// Whether devices that are hosts pass on what is for others.
[[nodiscard]] bool has_relays(const Fabric& fabric);

/// What a scheme for NDC(n, 1) cannot do: another fabric, links that fail. `queues`: that a port
/// has for data and control.
[[nodiscard]] Result<void> check_ndc(const Fabric& fabric, std::size_t queues);

/// Gives a flow its way in NDC(n, 1), if it has none: over the one switch that both ends have, else
/// over one of the two nodes that share one with each, by its hash.
void give_way(const Fabric& fabric, lab::Flow& flow);

}  // namespace lldp::lab::packets
