// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/bounded.hpp"

namespace lldp::qos {

/// Something of each direction and priority of a port; nothing where it is not told.
template <class T>
struct ByPriority {
  using Values = std::array<std::optional<T>, Priority::kMax + 1>;
  Values received{};
  Values sent{};
  [[nodiscard]] bool told() const {
    const auto any = [](const Values& values) {
      return std::ranges::any_of(values, [](const auto& value) { return value.has_value(); });
    };
    return any(received) || any(sent);
  }
  friend bool operator==(const ByPriority&, const ByPriority&) = default;
};

/// Frames since the counter began.
using PriorityFrames = ByPriority<std::uint64_t>;

/// Frames that were dropped: on arrival, and in the queue that they were to be sent from.
struct Lost {
  PriorityFrames frames{};
  /// Time since the count last grew; nothing: not since the counts are read.
  ByPriority<std::chrono::seconds> ago{};
  friend bool operator==(const Lost&, const Lost&) = default;
};

/// What a port has carried, and what it has not.
struct Carried {
  PriorityFrames frames{};  ///< of all kinds
  PriorityFrames pauses{};  ///< PFC's
  /// Time for which PFC paused: received, the port by its neighbor; sent, the neighbor by the port.
  ByPriority<std::uint64_t> paused_microseconds{};
  /// When the last of these began, since 1970, by the clock of the device.
  ByPriority<std::uint64_t> last_pause_microseconds{};
  Lost lost{};
  /// With what another tells, where this says nothing.
  [[nodiscard]] Carried or_else(const Carried& other) const {
    const auto told = [&](auto member) {
      return (this->*member).told() ? this->*member : other.*member;
    };
    return {told(&Carried::frames), told(&Carried::pauses), told(&Carried::paused_microseconds),
            told(&Carried::last_pause_microseconds), lost.frames.told() ? lost : other.lost};
  }
  friend bool operator==(const Carried&, const Carried&) = default;
};

}  // namespace lldp::qos
