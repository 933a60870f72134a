// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/packets/network.hpp"
#include "sim/packets/plan.hpp"
#include "sim/packets/run.hpp"

namespace lldp::lab::packets {

/// What a run looks like over time, for its page: curves of a bounded number of moments (where a
/// run has more, those of equal distance are kept), and the changes of what is paused, up to a
/// number that can be watched.
class Recording {
 public:
  explicit Recording(const Plan& plan);
  /// Every microsecond, or as often as it can be.
  void sample(const Network& network);

 private:
  friend std::string to_html(const Plan& plan, const Outcome& outcome, const Recording& recording,
                             const std::string& command);

  enum State : std::uint8_t { kGoes, kPaused, kDeadlocked };
  struct Change {
    std::uint32_t which = 0;  ///< arc, or node
    std::uint32_t is = 0;     ///< State, or what it holds, in 8 KiB
  };
  struct Frame {
    Picoseconds at = 0;
    std::vector<Change> arcs{};
    std::vector<Change> nodes{};
  };
  struct Moment {
    Picoseconds at = 0;
    std::uint64_t received = 0;           ///< of all flows, since the start
    std::vector<std::uint64_t> flows{};   ///< of each, where they are few
    std::vector<std::uint32_t> queues{};  ///< octets, by arc
    std::size_t paused = 0;               ///< arcs
    std::size_t deadlocked = 0;
  };
  void frame(const Network& network);
  void moment(const Network& network);

  std::vector<State> state_{};         ///< by arc
  std::vector<std::uint32_t> held_{};  ///< by node, in 8 KiB
  std::vector<Frame> frames_{};
  std::size_t changes_ = 0;           ///< in frames_
  Picoseconds shown_until_ = kNever;  ///< later changes are not kept
  std::size_t most_ = 0;              ///< moments
  Picoseconds every_ = 0;             ///< one moment
  Picoseconds next_ = 0;
  std::vector<Moment> moments_{};
};

/// One self-contained page: what came of it, throughputs, queues and pauses over time, and the
/// fabric, in which pauses spread. `command` made it.
[[nodiscard]] std::string to_html(const Plan& plan, const Outcome& outcome,
                                  const Recording& recording, const std::string& command);

}  // namespace lldp::lab::packets
