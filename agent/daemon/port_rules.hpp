// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/core/deadline_queue.hpp"
#include "base/fabric.hpp"
#include "base/time.hpp"
#include "dataplane/backend.hpp"

namespace lldp::io {

using core::kNever;

/// Where a port's rules stand in their life.
enum class RulesState : std::uint8_t {
  kNone,       ///< no rules of ours are known there
  kFound,      ///< an earlier daemon left rules there, and the port is not ours
  kQueued,     ///< ours: its rules wait for a turn, for credit, or for the back end
  kApplying,   ///< ours: a change is under way, and its outcome is not known
  kInstalled,  ///< ours: the last change succeeded
  kRefused,    ///< ours: the last change failed, or the rules cannot be read
  kLeaving,    ///< not ours any more: its rules are to be removed
};
enum class RulesEvent : std::uint8_t {
  kFound,    ///< the back end has rules of ours there
  kAdded,    ///< the port becomes ours
  kRemoved,  ///< the port is ours no more; rules that were found go
  kWanted,   ///< rules are wanted other than those of the last change that succeeded
  kAsked,    ///< the back end is asked for a change
  kDone,     ///< the rules wanted are there; of a port that leaves: they are removed
  kRefused,  ///< the change failed, or the rules could not be read
  kGone,     ///< the port, or what was known of it, is no more
};

/// The state machine of one port's rules: each state, each event. What does not concern a state
/// leaves it.
[[nodiscard]] constexpr RulesState next(RulesState s, RulesEvent e) {
  using enum RulesState;
  using E = RulesEvent;
  if (e == E::kGone) return kNone;  // from any state
  switch (s) {
    case kNone:
      return e == E::kFound ? kFound : e == E::kAdded ? kQueued : s;
    case kFound:
      return e == E::kAdded ? kQueued : e == E::kRemoved ? kLeaving : s;
    case kQueued:  // a refusal is noted, and the turn still comes
      return e == E::kAsked     ? kApplying
             : e == E::kDone    ? kInstalled
             : e == E::kRemoved ? kLeaving
                                : s;
    case kApplying:
      return e == E::kDone      ? kInstalled
             : e == E::kRefused ? kRefused
             : e == E::kRemoved ? kLeaving
                                : s;
    case kInstalled:
    case kRefused:
      return e == E::kWanted    ? kQueued
             : e == E::kAsked   ? kApplying
             : e == E::kRefused ? kRefused
             : e == E::kRemoved ? kLeaving
                                : s;
    case kLeaving:
      return e == E::kAdded ? kQueued : e == E::kDone ? kNone : s;
  }
  return s;
}
[[nodiscard]] constexpr bool is_ours(RulesState s) {
  using enum RulesState;
  return s == kQueued || s == kApplying || s == kInstalled || s == kRefused;
}

/// How often a port's rules may be rewritten: five times at once, then once a second, as txCredit
/// does for frames (IEEE 802.1AB-2016 9.2.5.17).
class RewriteCredit {
 public:
  [[nodiscard]] bool take(TimePoint now) {
    const auto earned = std::chrono::floor<std::chrono::seconds>(now - counted_);
    if (earned.count() > 0) {
      left_ = static_cast<int>(std::min<std::int64_t>(kMost, left_ + earned.count()));
      counted_ += earned;
    }
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  static constexpr std::int64_t kMost = 5;
  int left_ = kMost;
  TimePoint counted_{};
};

/// Repeated removal of rules by another program. After the first removal they are reinstalled at
/// once, then after 1 s, 2 s and so on, at last after 8 s; a minute without a loss ends it.
class Losses {
 public:
  static constexpr std::chrono::seconds kLongest{8};
  static constexpr std::chrono::minutes kCalm{1};
  static constexpr unsigned kFight = 3;  ///< so many in a row are worth an alarm

  /// When what is lost may be put back.
  [[nodiscard]] TimePoint next() const {
    if (in_a_row_ == 0) return TimePoint::min();
    const auto pause = std::chrono::seconds(1) * (1 << std::min(in_a_row_ - 1, 4U));
    return last_ + std::min<Duration>(pause, kLongest);
  }
  void put_back(TimePoint now) {
    in_a_row_ = calm(now) ? 1 : in_a_row_ + 1;
    last_ = now;
    ++total_;
  }
  [[nodiscard]] unsigned in_a_row(TimePoint now) const { return calm(now) ? 0 : in_a_row_; }
  [[nodiscard]] bool fight(TimePoint now) const { return in_a_row(now) >= kFight; }
  [[nodiscard]] TimePoint calm_at() const { return last_ + kCalm; }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  [[nodiscard]] bool calm(TimePoint now) const { return in_a_row_ == 0 || now >= calm_at(); }
  unsigned in_a_row_ = 0;
  std::uint64_t total_ = 0;
  TimePoint last_{};
};

/// Rules that were reinstalled without an error and are not there: removed again meanwhile, with
/// the event among those of our own change, or accepted and not done. They are reinstalled after 1
/// s, 2 s and so on, at last after 8 s.
class Attempts {
 public:
  [[nodiscard]] TimePoint next() const { return next_; }
  void made(TimePoint now) {
    next_ = now + pause_;
    pause_ = std::min<Duration>(2 * pause_, Losses::kLongest);
  }

 private:
  TimePoint next_ = TimePoint::min();
  Duration pause_ = std::chrono::seconds(1);
};

/// Rules for this order are safe whatever neighbors believe.
[[nodiscard]] constexpr bool is_safe(Order order) {
  return order == Order::kUp || order == Order::kShut;
}

/// Why a port's rules, or the back end as a whole, could not be had, and when to try again: after
/// 1 s, 2 s and so on, at last every 30 s.
struct Failure {
  dataplane::Outcome outcome{};
  TimePoint tried{};
  Duration wait{};
  TimePoint due{};

  static constexpr std::chrono::seconds kFirstRetry{1};
  static constexpr std::chrono::seconds kLastRetry{30};
  void again(const dataplane::Outcome& what, TimePoint now) {
    outcome = what;
    tried = now;
    wait = std::clamp<Duration>(wait * 2, kFirstRetry, kLastRetry);
    due = now + wait;
  }
};

/// All that is known of one port's rules.
struct PortRules {
  /// A change under way. Until its outcome is known the port gets no other.
  struct Change {
    std::optional<qos::PortClass> target{};  ///< nothing: for nothing that is wanted any more
    bool removal = false;          ///< the port leaves, and this change takes its rules off
    bool again = false;            ///< another change was asked for meanwhile
    std::uint32_t generation = 0;  ///< of the request of the agent that the target is for
  };

  dataplane::PortRef port{};
  RulesState state = RulesState::kNone;
  bool stacked = false;  ///< qos::PortClass::stacked
  /// An earlier daemon left rules on this port of ours, and no neighbor was heard there yet: its
  /// rules are those for `up`.
  bool assumed_up = false;
  std::optional<Change> change{};
  std::optional<qos::PortClass> programmed{};  ///< what our last change, which succeeded, was for
  bool in_force = false;                       ///< and packets meet these rules
  std::uint32_t generation = 0;                ///< the request that they are for
  std::uint32_t confirmed = 0;                 ///< the last that the agent was told to be in force
  std::optional<Failure> failure{};
  TimePoint turn = kNever;     ///< while queued: when its rules are brought
  TimePoint look_at = kNever;  ///< when it is read back

  std::vector<dataplane::PartReading> parts{};  ///< as last read back; empty: not yet
  std::string displaced{};  ///< what another program had set and has not, as last read
  TimePoint read_at{};
  std::string lost{};  ///< parts that other programs removed and that are not back yet
  Attempts attempts{};
  RewriteCredit credit{};
  Losses losses{};

  /// The names under which alarms of ours stand.
  std::optional<std::string> told_dataplane{};
  std::optional<std::string> told_displaced{};
  bool complains = false;  ///< the first of the two is of a port of ours

  /// When this port has something to do by time alone.
  [[nodiscard]] TimePoint due() const {
    TimePoint due = is_ours(state) ? look_at : kNever;
    if (change) return due;
    if (state == RulesState::kQueued) due = std::min(due, turn);
    if (failure) due = std::min(due, failure->due);
    return due;
  }
};

/// When each port has its next turn.
class Turns {
 public:
  /// `due`: kNever: the port has none.
  void set(Ifindex port, TimePoint due) {
    const auto [at, fresh] = due_.try_emplace(port, due);
    if (!fresh) {
      if (at->second == due) return;
      queue_.erase({at->second, port});
      at->second = due;
    }
    if (due == kNever)
      due_.erase(at);
    else
      queue_.emplace(due, port);
  }
  [[nodiscard]] TimePoint first() const { return queue_.empty() ? kNever : queue_.begin()->first; }
  /// Those whose turn has come, the earliest first.
  [[nodiscard]] std::vector<Ifindex> due(TimePoint now) const {
    std::vector<Ifindex> ports;
    for (auto at = queue_.begin(); at != queue_.end() && at->first <= now; ++at)
      ports.push_back(at->second);
    return ports;
  }

 private:
  std::set<std::pair<TimePoint, Ifindex>> queue_{};
  std::map<Ifindex, TimePoint> due_{};
};

}  // namespace lldp::io
