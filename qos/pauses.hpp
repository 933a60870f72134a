// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/bounded.hpp"

namespace lldp::qos {

/// PFC's pause frames of a port by priority, since whoever counts them began.
struct Pauses {
  using Counts = std::array<std::uint64_t, Priority::kMax + 1>;
  Counts received{};
  Counts sent{};
  friend bool operator==(const Pauses&, const Pauses&) = default;
};

}  // namespace lldp::qos
