// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/core/deadline_queue.hpp"
#include "base/fabric.hpp"
#include "base/time.hpp"

namespace lldp::core {

/// The device's place in the order of devices: docs/rules.md O3. It falls at once and rises when
/// everybody knows, so that at every moment each neighbour holds the device for its place or
/// higher.
class Place {
 public:
  /// How often those who have not proved that they know are told again, while it rises.
  static constexpr std::chrono::seconds kTellAgain{5};
  /// However short the TTL is: so often, at least one of those who are told again hears it.
  static constexpr std::chrono::seconds kLeastWait = 12 * kTellAgain;
  /// What was sent before a fall may be under way for so long, and proves nothing.
  static constexpr std::chrono::seconds kUnderWay{5};
  enum class Step { kStays, kMoved, kRises };

  /// `restored`: from the state file. `known_at`: by then whoever knew us before this start has
  /// been heard, or has forgotten us.
  Place(std::optional<Position> restored, TimePoint known_at)
      : at_(std::move(restored)), known_at_(known_at) {}

  [[nodiscard]] const std::optional<Position>& at() const { return at_; }
  /// It waits below its target.
  [[nodiscard]] bool rises() const { return target_.has_value(); }

  /// The device is to stand at `target`; nullopt: it has no level, and its place stays. kRises: it
  /// begins to wait, for everybody.
  Step aim(std::optional<Position> target, TimePoint now, Duration ttl);
  /// By what is known it may stand at its target, if no port is silent. `proved`: every neighbour
  /// that claims to be a switch has told a port type that fits the level.
  [[nodiscard]] bool may_rise(TimePoint now, bool proved) const {
    return rises() && (now >= due_ || (provable_ && proved && now >= known_at_));
  }
  /// What is heard now was sent after the last fall.
  [[nodiscard]] bool heeds(TimePoint now) const { return now >= heeds_from_; }
  /// Before this, somebody may hold us for what we were who has not been heard.
  void prove_from(TimePoint t) { known_at_ = std::max(known_at_, t); }
  void rise() { at_ = std::exchange(target_, std::nullopt); }
  /// Somebody may still not know: it waits until they are told again, at least.
  void postpone(TimePoint now) { due_ = std::max(due_, now + kTellAgain); }
  /// Who was heard after this, and has not proved that it knows, has been told often enough.
  [[nodiscard]] TimePoint tried_by() const { return tried_by_; }
  /// No port is silent any more.
  void hear_all(TimePoint now, Duration ttl) {
    if (rises()) wait(now, ttl);
  }
  /// Those who have not proved are to be told again; true once each time.
  bool tell_again(TimePoint now);
  /// When rise() or tell_again() has something to do by time alone.
  [[nodiscard]] TimePoint deadline(bool silent, bool proved) const;

 private:
  void wait(TimePoint now, Duration ttl) {
    due_ = now + ttl;
    tried_by_ = now + ttl / 2;
  }

  std::optional<Position> at_;
  std::optional<Position> target_{};  ///< while it rises
  bool provable_ = false;             ///< no port type proves a chassis ID
  TimePoint known_at_;
  TimePoint heeds_from_{};
  TimePoint due_ = kNever;
  TimePoint tried_by_ = kNever;
  TimePoint again_at_ = kNever;
};

}  // namespace lldp::core
