// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/bounded.hpp"

namespace lldp::qos {

/// Frames of a port by priority, since whoever counts them began.
struct PriorityFrames {
  using Counts = std::array<std::uint64_t, Priority::kMax + 1>;
  Counts received{};
  Counts sent{};
  friend bool operator==(const PriorityFrames&, const PriorityFrames&) = default;
};
using Pauses = PriorityFrames;  ///< PFC's pause frames

}  // namespace lldp::qos
