// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/bounded.hpp"

namespace lldp::qos {

/// Frames of a port by priority, since whoever counts them began; nothing: they are not counted.
struct PriorityFrames {
  using Counts = std::array<std::optional<std::uint64_t>, Priority::kMax + 1>;
  Counts received{};
  Counts sent{};
  [[nodiscard]] bool told() const {
    const auto any = [](const Counts& counts) {
      return std::ranges::any_of(counts, [](const auto& count) { return count.has_value(); });
    };
    return any(received) || any(sent);
  }
  friend bool operator==(const PriorityFrames&, const PriorityFrames&) = default;
};

/// What a port has carried.
struct Carried {
  PriorityFrames frames{};  ///< of all kinds
  PriorityFrames pauses{};  ///< PFC's
  /// With what another tells, where this says nothing.
  [[nodiscard]] Carried or_else(const Carried& other) const {
    return {frames.told() ? frames : other.frames, pauses.told() ? pauses : other.pauses};
  }
  friend bool operator==(const Carried&, const Carried&) = default;
};

}  // namespace lldp::qos
