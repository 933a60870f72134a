// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "agent/core/inference.hpp"

namespace lldp::core::test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};
constexpr Duration kDay = hours(24);

inline std::optional<Level> at(std::optional<unsigned> level) {
  return level ? Level::make(*level) : std::nullopt;
}

/// An inference and what its ports hear.
struct Device {
  explicit Device(Inference::Rules r = {}, const Inference::Kept& restored = {})
      : rules(with_defaults(r)), inference(rules, restored) {
    inference.decide(now);
  }
  static Inference::Rules with_defaults(Inference::Rules r) {
    if (r.max_level == Level{}) r.max_level = Level::of<8>();
    r.raise_hold = seconds(60);
    r.lower_hold = seconds(60);
    r.establish = kDay;
    r.withdraw_hold = seconds(5);
    r.unsupported_after = minutes(10);
    return r;
  }
  bool hear(int port, const Heard& what, bool renounced = false) {
    inference.update(ports[port], what);
    ports[port] = what;
    return inference.decide(now, renounced);
  }
  /// One switch with this level; each port has another one unless `id` says who.
  bool hear(int port, unsigned level, std::uint64_t id = 0, bool renounced = false) {
    Heard h{.lowest = at(level)};
    if (level > 0)
      h.switches = {{*h.lowest, id != 0 ? id : static_cast<std::uint64_t>(1000 + port)}};
    return hear(port, h, renounced);
  }
  bool host(int port) { return hear(port, 0); }
  bool silence(int port) { return hear(port, Heard{}); }
  /// What gave support says in a frame that it has another level now, or none.
  bool renounce(int port, std::optional<unsigned> level = {}) {
    return level ? hear(port, *level, 0, true) : hear(port, Heard{}, true);
  }
  /// Lets time go by, deciding whenever it is due; how often the level changed.
  int pass(Duration d) {
    int changes = 0;
    const TimePoint end = now + d;
    for (auto due = inference.deadline(); due && *due <= end; due = inference.deadline()) {
      now = std::max(now, *due);
      changes += inference.decide(now);
    }
    now = end;
    return changes;
  }
  void set(const std::function<void(Inference::Rules&)>& change) {
    change(rules);
    inference.set_rules(rules, now);
    inference.decide(now);
  }
  [[nodiscard]] std::optional<unsigned> level() const {
    return inference.level() ? std::optional<unsigned>(inference.level()->value()) : std::nullopt;
  }
  [[nodiscard]] bool unsupported() const { return inference.unsupported().has_value(); }
  [[nodiscard]] Inference::Kept kept() const { return inference.kept(); }

  TimePoint now = kStart;
  Inference::Rules rules;
  Inference inference;
  std::map<int, Heard> ports{};
};

}  // namespace lldp::core::test
