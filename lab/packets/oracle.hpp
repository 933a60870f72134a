// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "lab/packets/network.hpp"

namespace lldp::lab::packets {

/// An egress queue that will never send again.
struct Stuck {
  Arc arc = 0;
  std::uint8_t priority = 0;
  friend auto operator<=>(const Stuck&, const Stuck&) = default;
};

/// Looks at the whole network at once, as nobody in it can, and tells whether it is deadlocked: the
/// largest set of queues each of which is paused by an ingress counter that stays above XON even
/// when all that can still leave its node has left. None of them sends again unless somebody breaks
/// in; every other queue does. Empty: no deadlock.
[[nodiscard]] std::vector<Stuck> stuck_queues(const Network& network);

}  // namespace lldp::lab::packets
