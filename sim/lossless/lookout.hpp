// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/result.hpp"
#include "sim/lossless/client.hpp"
#include "sim/packets/slot.hpp"

namespace lldp::lab::lossless {

using packets::Picoseconds;

/// What the switches of a fabric say: by node; nothing for one that is none.
using Views = std::map<std::size_t, dataplane::soft::View>;

/// How late processes were, of what each says now and then: for how long its time stood still.
class Lateness {
 public:
  void read(std::size_t process, Picoseconds behind);
  /// The most that one was late in all since it was first read. It adds up: a cycle of buffers in
  /// which nothing is to spare drains slowly.
  [[nodiscard]] Picoseconds most() const { return most_; }

 private:
  std::map<std::size_t, Picoseconds> first_{};
  Picoseconds most_ = 0;
};

/// Asks all switches what they have counted, round after round, and waits for none.
class Lookout {
 public:
  explicit Lookout(std::map<std::size_t, SwitchClient> switches) : switches_(std::move(switches)) {}

  [[nodiscard]] const std::map<std::size_t, SwitchClient>& switches() const { return switches_; }
  /// When it wants to be called.
  [[nodiscard]] Picoseconds due() const { return due_; }
  /// Asks, if it is time. Fails when a switch has not answered for long.
  [[nodiscard]] Result<void> run(Picoseconds now);
  /// A switch has answered. True: that was the last one of the round.
  [[nodiscard]] Result<bool> take(std::size_t node, Picoseconds now);

  [[nodiscard]] const Views& views() const { return views_; }
  [[nodiscard]] std::uint64_t sum(std::uint64_t dataplane::soft::Port::*what) const;
  /// Rounds in which no switch had sent a packet: nothing moves. Rounds, not time, for time also
  /// passes between two calls.
  [[nodiscard]] int still() const { return still_; }
  void forget_still() { still_ = 0; }
  /// When something moved last, and the PAUSE frames that were sent by then.
  [[nodiscard]] Picoseconds moved() const { return moved_; }
  [[nodiscard]] std::uint64_t pauses_when_moved() const { return pauses_; }

 private:
  std::map<std::size_t, SwitchClient> switches_;  ///< by node
  Views views_{};
  Picoseconds due_ = 0;
  std::set<std::size_t> unanswered_{};
  int still_ = 0;
  Picoseconds moved_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t pauses_ = 0;
};

}  // namespace lldp::lab::lossless
