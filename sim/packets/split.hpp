// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// Says which part of a network each node is in, so that each part has about as many frames to move
/// by the flows that are planned; hosts are with their switch. Returns how many parts there are, no
/// more than `parts`.
std::size_t split(Network& network, std::size_t parts);

/// What a part sends to another arrives so much later, at least; kNever: none sends to another.
[[nodiscard]] Picoseconds lookahead(const Network& network);

/// The same of what any node sends to another.
[[nodiscard]] Picoseconds least_delay(const Network& network);

}  // namespace lldp::lab::packets
