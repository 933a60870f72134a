// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "agent/core/actions.hpp"
#include "agent/report/report.hpp"
#include "base/fabric.hpp"

/// How a change is told: a line for the log and for `replay`, an object for `on-change`
/// (packaging/schema/change.schema.json).
namespace lldp::report {

/// Without the port, which the event has as a number. Empty for kState.
[[nodiscard]] std::string change_line(const core::Event& event);

/// neighbor-added, level, alarm-raised, ...; empty for kState.
[[nodiscard]] std::string_view to_string(core::Event::Kind kind);

/// How things stand after a change.
struct Circumstances {
  WallClock clock{};
  std::string_view system_name{};
  std::optional<Level> level{};
  Tiers location{};
  std::string_view port{};  ///< escaped; empty: the change is the device's
  PortType type = PortType::kUnmarked;
  Order order = Order::kUnknown;
};

/// One JSON object, `left_out` still missing. The event is any but kState.
[[nodiscard]] std::string change_json(const core::Event& event, const Circumstances& now);

/// Changes that wait to be told. Of more than it holds the oldest go, for the latest say how things
/// stand; the next one told says how many that were.
class ChangeQueue {
 public:
  explicit ChangeQueue(std::size_t capacity);
  void push(std::string change);
  [[nodiscard]] bool empty() const { return changes_.empty(); }
  /// The next, with `left_out`: how many went before it untold.
  [[nodiscard]] std::string pop();
  void clear() {
    changes_.clear();
    left_out_ = 0;
  }

 private:
  std::size_t capacity_;
  std::deque<std::string> changes_;
  std::uint64_t left_out_ = 0;
};

}  // namespace lldp::report
