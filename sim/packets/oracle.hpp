// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// An egress queue that will never send again.
struct Stuck {
  Arc arc = 0;
  std::uint8_t priority = 0;
  friend auto operator<=>(const Stuck&, const Stuck&) = default;
};

/// Looks at the whole network at once, as no node can, and tells whether it is deadlocked: the
/// largest set of queues each of which is paused by an ingress counter that stays above XON even
/// after everything that can leave its node has left. None of these queues sends again without
/// intervention; every other queue does. Empty: no deadlock.
[[nodiscard]] std::vector<Stuck> stuck_queues(const Network& network);

}  // namespace lldp::lab::packets
