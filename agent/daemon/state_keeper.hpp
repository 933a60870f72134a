// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/core/agent.hpp"
#include "agent/daemon/state_file.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "os/async_writer.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// The state file over a daemon's life: whose it is, when it is written, and what became of that.
class StateKeeper {
 public:
  /// `writer`: writes before a frame is sent, with a short wait; `disk`: syncs, without a wait.
  explicit StateKeeper(std::string path, std::unique_ptr<AsyncWriter> writer = make_async_writer(),
                       std::unique_ptr<AsyncWriter> disk = make_async_writer())
      : path_(std::move(path)), writer_(std::move(writer)), disk_(std::move(disk)) {}

  /// The sole right to the file, until the process ends: two daemons would overwrite each other's
  /// state. Fails if another process has it. A disk that takes no lock file is no reason to leave
  /// the fabric without an agent: the state is written at the next turn, which shows what is wrong.
  [[nodiscard]] Result<void> open();
  /// state_file.hpp's load_state().
  [[nodiscard]] Result<core::State> load();

  /// The agent has something else to keep.
  void note_change() { changed_ = true; }
  /// If it has: before a frame tells of it (docs/develop/rules.md, Terms: saved first). A file
  /// system that does not take it for kWritePatience, as one that is frozen, holds up no other
  /// frame: save() sees to the rest.
  void write(const core::Agent& agent, TimePoint now);
  /// The same and, after the frames, has the disk sync it without waiting, once in kCommitInterval
  /// at most, for a neighbor may give cause to write with every frame. Checks once in kLook at most
  /// whether other programs have left file and lock alone: a removed file is made again, with a
  /// line in the log. This causes no wake-up.
  void save(const core::Agent& agent, TimePoint now);
  /// Readable when the disk has answered, and save() has something to do; or negative.
  [[nodiscard]] std::array<int, 2> fds() const { return {writer_->fd(), disk_->fd()}; }
  /// When save() or tell() has something to do though nothing changes.
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;
  /// The last save(), and the last try where the disk had refused: waits until it is for good, or
  /// kPatience; the error says what was not. Then the right to the file is another's.
  [[nodiscard]] Result<void> finish(const core::Agent& agent, TimePoint now);
  /// The disk refused; save() after retry() tries again.
  [[nodiscard]] bool unsaved() const { return not_written_ || not_kept_; }
  void retry() { changed_ |= unsaved(); }
  /// Raises or clears the alarm `state` for what has happened since this was last called, also
  /// for a disk that has not answered for kPatience.
  void tell(core::Agent& agent, TimePoint now, core::Actions& out);

  static constexpr Duration kCommitInterval = std::chrono::seconds(1);
  static constexpr Duration kLook = std::chrono::seconds(60);
  static constexpr std::chrono::milliseconds kWritePatience{250};
  static constexpr std::chrono::seconds kPatience{10};

 private:
  using Inode = std::pair<dev_t, ino_t>;
  /// What is found where our files should be.
  struct Sight {
    Inode lock{};          ///< what was looked for
    bool locked = true;    ///< it is there
    bool stored = true;    ///< a state
    bool damaged = false;  ///< one that was set aside
  };

  [[nodiscard]] Result<void> take_right();
  static void look_at(const std::string& path, Sight& sight);
  void look(TimePoint now);
  void take_sight(const Sight& sight);
  void begin_write(const core::Agent& agent, TimePoint now);
  void begin_commit(TimePoint now);
  void take_written(std::optional<Result<void>> outcome);
  void take_kept(std::optional<Result<void>> outcome);
  [[nodiscard]] std::string late(std::string_view then) const;
  static void note(std::optional<std::string>& trouble, const Result<void>& saved);

  std::string path_;
  UniqueFd right_{};
  Inode lock_{};  ///< what right_ is open on: to open it once more, and close that, gives it up
  std::unique_ptr<AsyncWriter> writer_;
  std::unique_ptr<AsyncWriter> disk_;
  bool changed_ = false;
  bool written_ = false;                   ///< and no commit of it has begun
  bool stored_ = false;                    ///< there was a file, or has been since
  bool may_be_kept_ = false;               ///< or one that had begun has taken that, too
  std::optional<TimePoint> writing_{};     ///< since when it is under way
  std::optional<TimePoint> committing_{};  ///< likewise; or a look is
  std::shared_ptr<Sight> sight_{};         ///< then what it finds: the thread may outlive us
  std::optional<TimePoint> looked_{};      ///< the last look, or the first save()
  bool damaged_ = false;  ///< a damaged file was set aside and has not been removed
  TimePoint begun_{};     ///< the last commit
  bool slow_ = false;     ///< told that the disk does not answer
  std::optional<std::string> not_written_{};  ///< why not, the last time
  std::optional<std::string> not_kept_{};     ///< what was written, by the disk
  std::optional<std::string> told_{};
};

}  // namespace lldp::io
