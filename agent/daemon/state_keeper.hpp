// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "agent/core/agent.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// The state file over a daemon's life: whose it is, when it is written, and what became of that.
class StateKeeper {
 public:
  explicit StateKeeper(std::string path) : path_(std::move(path)) {}

  /// The sole right to the file, until the process ends: two daemons would overwrite each other's
  /// state. Fails if another process has it. A disk that takes no lock file is no reason to leave
  /// the fabric without an agent: the state is written at the next turn, which shows what is wrong.
  [[nodiscard]] Result<void> open();
  /// state_file.hpp's load_state().
  [[nodiscard]] Result<core::State> load() const;

  /// The agent has something else to keep.
  void note_change() { changed_ = true; }
  /// If it has: before a frame tells of it (docs/rules.md O5).
  void write(const core::Agent& agent);
  /// The same and, after the frames, for good; but the disk is waited for once in kCommitInterval
  /// at most, for a neighbour may give cause to write with every frame.
  void save(const core::Agent& agent, TimePoint now);
  /// When save() has something to do though nothing changes.
  [[nodiscard]] std::optional<TimePoint> next_deadline() const {
    return written_ ? std::optional(next_commit_) : std::nullopt;
  }
  /// The last save(), and the last try where the disk had refused: for good, now.
  void finish(const core::Agent& agent);
  /// The disk refused; save() after retry() tries again.
  [[nodiscard]] bool unsaved() const { return trouble_.has_value(); }
  void retry() { changed_ |= unsaved(); }
  /// Raises or clears the alarm `state` for what has happened since this was last called.
  void tell(core::Agent& agent, TimePoint now, core::Actions& out);

  static constexpr Duration kCommitInterval = std::chrono::seconds(1);

 private:
  [[nodiscard]] Result<void> take_right();
  void commit();
  void note(const Result<void>& saved);

  std::string path_;
  UniqueFd right_{};
  bool changed_ = false;
  bool written_ = false;  ///< and not durable yet
  TimePoint next_commit_{};
  std::optional<std::string> trouble_{};
  std::optional<std::string> told_{};
};

}  // namespace lldp::io
