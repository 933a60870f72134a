// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/core/agent.hpp"
#include "agent/daemon/state_file.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"
#include "os/file_sync.hpp"

namespace lldp::io {

/// The state file over a daemon's life: whose it is, when it is written, and what became of that.
class StateKeeper {
 public:
  explicit StateKeeper(std::string path, std::unique_ptr<FileSync> disk = make_file_sync())
      : path_(std::move(path)), disk_(std::move(disk)) {}

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
  /// The same and, after the frames, has the disk keep it for good: nobody waits for that, and it
  /// is asked once in kCommitInterval at most, for a neighbour may give cause to write with every
  /// frame.
  void save(const core::Agent& agent, TimePoint now);
  /// Readable when the disk has answered, and save() has something to do; or negative.
  [[nodiscard]] int fd() const { return disk_->fd(); }
  /// When save() or tell() has something to do though nothing changes.
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;
  /// The last save(), and the last try where the disk had refused: waits until it is for good.
  void finish(const core::Agent& agent);
  /// The disk refused; save() after retry() tries again.
  [[nodiscard]] bool unsaved() const { return not_written_ || not_kept_; }
  void retry() { changed_ |= unsaved(); }
  /// Raises or clears the alarm `state` for what has happened since this was last called, also
  /// for a disk that has not answered for kPatience.
  void tell(core::Agent& agent, TimePoint now, core::Actions& out);

  static constexpr Duration kCommitInterval = std::chrono::seconds(1);
  static constexpr std::chrono::seconds kPatience{10};

 private:
  [[nodiscard]] Result<void> take_right();
  void begin_commit(TimePoint now);
  /// After the disk's answer to the step that is under way.
  void go_on(int code);
  static void note(std::optional<std::string>& trouble, const Result<void>& saved);

  std::string path_;
  UniqueFd right_{};
  bool changed_ = false;
  std::unique_ptr<FileSync> disk_;
  bool written_ = false;                      ///< and no commit of it has begun
  std::optional<StateCommit> commit_{};       ///< under way
  TimePoint begun_{};                         ///< the last commit
  bool slow_ = false;                         ///< told that the disk does not answer
  std::optional<std::string> not_written_{};  ///< why not, the last time
  std::optional<std::string> not_kept_{};     ///< what was written, by the disk
  std::optional<std::string> told_{};
};

}  // namespace lldp::io
