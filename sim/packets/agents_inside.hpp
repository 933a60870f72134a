// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/agents/fabric_network.hpp"
#include "sim/packets/slot.hpp"

namespace lldp::lab::packets {

/// The fabric's agents on virtual time, which find the levels and the orders of ports over the same
/// links that the packets take. A run of packets begins when they have agreed.
class AgentsInside {
 public:
  struct End {
    std::size_t link = 0;
    std::size_t end = 0;
  };

  /// Without `links_change` no link will fail or come any more: the agents rest as soon as every
  /// order is right, and their memory is free.
  AgentsInside(const Fabric& fabric, std::uint64_t seed, bool links_change);

  /// Every port between two devices that forward had the right order when packets began.
  [[nodiscard]] bool agreed() const { return agreed_; }
  [[nodiscard]] Order order(std::size_t link, std::size_t end) const {
    return orders_[2 * link + end];
  }
  void set_link(std::size_t link, bool up) { network_->set_cable(link, up); }
  /// When something next happens among the agents.
  [[nodiscard]] Picoseconds next() const;
  /// Lets the agents live until `now`; returns the ports whose orders have changed.
  std::vector<End> advance(Picoseconds now);
  /// Links that are up between devices that forward, and at an end of which the order is unknown.
  [[nodiscard]] std::size_t exposed() const;

 private:
  const Fabric& fabric_;
  std::optional<agents::Network> network_;  ///< none: they rest
  TimePoint begin_{};
  std::vector<Order> orders_;
  bool agreed_ = false;
};

}  // namespace lldp::lab::packets
