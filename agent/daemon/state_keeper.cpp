// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/state_keeper.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "agent/process/log.hpp"
#include "os/file_kind.hpp"

namespace lldp::io {
namespace {

constexpr std::string_view kLostAtARestart = "what changes meanwhile is lost at a restart";
constexpr std::string_view kLostWithThePower = "what changes meanwhile is lost if the power goes";

std::string lock_name(const std::string& path) { return path + ".lock"; }

}  // namespace

Result<void> StateKeeper::take_right() {
  if (right_) return {};
  // A file beside it, for the state file itself is replaced at every change.
  const std::string name = lock_name(path_);
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd)
    return fail(Error{errno, name, "cannot be opened: " + std::string(std::strerror(errno))});
  struct flock all {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  // Of the process, not of the descriptor: the kernel can then say whose it is.
  if (::fcntl(fd.get(), F_SETLK, &all) == 0) {
    struct stat status {};
    if (::fstat(fd.get(), &status) == 0) lock_ = {status.st_dev, status.st_ino};
    right_ = std::move(fd);
    return {};
  }
  if (errno != EAGAIN && errno != EACCES)
    return fail(Error{errno, name, "cannot be locked: " + std::string(std::strerror(errno))});
  std::string who = "another process";
  if (::fcntl(fd.get(), F_GETLK, &all) == 0 && all.l_type != F_UNLCK && all.l_pid > 0)
    who = "process " + std::to_string(all.l_pid);
  return fail(Error{EBUSY, path_,
                    who + " keeps its state here: stop it, or give this daemon its own "
                          "--state-file and --socket"});
}

namespace {

/// What is replaced at every change has to be a file: a device, a pipe, a directory or a link would
/// be gone.
Result<void> check_kind(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return {};
  return fail(Error{EEXIST, path,
                    "is " + std::string(kind_of_file(status.st_mode)) +
                        ", and would be replaced by the state file: name a file in state-file"});
}

}  // namespace

Result<void> StateKeeper::open() {
  if (auto fits = check_kind(path_); !fits) return fits;
  auto right = take_right();
  if (!right && right.error().code == EBUSY) return right;
  changed_ |= !right.has_value();
  return {};
}

Result<core::State> StateKeeper::load() {
  auto state = load_state(path_);
  damaged_ = !is_gone(damaged_name(path_));
  stored_ = !is_state_gone(path_);
  return state;
}

void StateKeeper::write(const core::Agent& agent, TimePoint now) {
  if (writing_) take_written(writer_->take());
  if (!changed_ || writing_) return;
  changed_ = false;
  begin_write(agent, now);
  if (writing_) take_written(writer_->wait(kWritePatience));
}

void StateKeeper::begin_write(const core::Agent& agent, TimePoint now) {
  // At the start there may have been no directory to hold the lock.
  if (auto right = take_right(); !right && right.error().code == EBUSY)
    return note(not_written_, right);
  auto text = state_text(agent.state());
  if (!text) return note(not_written_, fail(std::move(text.error())));
  writing_ = now;
  may_be_kept_ |= committing_ && !sight_;
  writer_->start([path = path_, text = std::move(*text)] { return write_state(path, text); });
}

void StateKeeper::take_written(std::optional<Result<void>> outcome) {
  if (!outcome) return;
  writing_.reset();
  written_ |= outcome->has_value();  // else what was written before still waits for the disk
  note(not_written_, *outcome);
}

void StateKeeper::save(const core::Agent& agent, TimePoint now) {
  if (committing_) take_kept(disk_->take());  // first, for a look may have found what to write
  write(agent, now);
  if (!committing_ && written_ && now >= begun_ + kCommitInterval) {
    begin_commit(now);
    take_kept(disk_->take());
  }
  if (!looked_) looked_ = now;
  if (committing_ || now < *looked_ + kLook) return;
  look(now);
  take_kept(disk_->take());
}

void StateKeeper::look_at(const std::string& path, Sight& sight) {
  struct stat status {};
  const bool there = ::stat(lock_name(path).c_str(), &status) == 0;
  sight.locked = there ? Inode(status.st_dev, status.st_ino) == sight.lock : errno != ENOENT;
  sight.stored = !is_state_gone(path);
  sight.damaged = !is_gone(damaged_name(path));
}

void StateKeeper::look(TimePoint now) {
  looked_ = now;
  committing_ = now;
  sight_ = std::make_shared<Sight>(Sight{.lock = lock_});
  disk_->start([path = path_, sight = sight_] {
    look_at(path, *sight);
    return Result<void>();
  });
}

void StateKeeper::take_sight(const Sight& sight) {
  damaged_ = sight.damaged;
  if (right_ && !sight.locked && sight.lock == lock_) {
    log(Severity::kWarning,
        fmt::format("{}: was removed by another program; made again", lock_name(path_)));
    right_ = UniqueFd();  // begin_write() takes it again, unless another daemon has it
    changed_ = true;
  }
  const bool settled = stored_ && !changed_ && !writing_ && !written_ && !unsaved();
  if (settled && !sight.stored) {
    log(Severity::kWarning, fmt::format("{}: was removed by another program; written again (to "
                                        "drop what is remembered: `lldp-level forget`)",
                                        path_));
    changed_ = true;
  }
}

void StateKeeper::begin_commit(TimePoint now) {
  written_ = false;
  begun_ = now;
  committing_ = now;
  const bool may_be_kept = std::exchange(may_be_kept_, writing_.has_value());
  disk_->start([path = path_, may_be_kept] { return commit_state(path, may_be_kept); });
}

void StateKeeper::take_kept(std::optional<Result<void>> outcome) {
  if (!outcome) return;
  committing_.reset();
  if (const auto sight = std::exchange(sight_, nullptr)) return take_sight(*sight);
  if (*outcome)
    stored_ = true;
  else
    may_be_kept_ = false;  // what it had taken is gone
  note(not_kept_, *outcome);
}

std::optional<TimePoint> StateKeeper::next_deadline() const {
  std::optional<TimePoint> next;
  const auto take = [&next](TimePoint due) {
    if (!next || due < *next) next = due;
  };
  if (!slow_ && writing_) take(*writing_ + kPatience);
  if (!slow_ && committing_) take(*committing_ + kPatience);
  if (!committing_ && written_) take(begun_ + kCommitInterval);
  return next;
}

Result<void> StateKeeper::finish(const core::Agent& agent, TimePoint now) {
  using std::chrono::duration_cast;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  const auto left = [until] {
    return std::max(
        duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()),
        std::chrono::milliseconds(0));
  };
  retry();
  if (sight_) take_kept(disk_->wait(left()));  // it may have found what to write
  if (writing_) take_written(writer_->wait(left()));
  write(agent, now);
  if (writing_) take_written(writer_->wait(left()));
  if (committing_) take_kept(disk_->wait(left()));
  if (!committing_ && written_) {
    begin_commit(now);
    take_kept(disk_->wait(left()));
  }
  right_ = UniqueFd();  // not with the process, which may have to wait for the disk, too
  if (changed_ || writing_) return fail(Error{.what = late(kLostAtARestart)});
  if (committing_) return fail(Error{.what = late(kLostWithThePower)});
  if (unsaved()) return fail(Error{.what = not_written_ ? *not_written_ : *not_kept_});
  return {};
}

std::string StateKeeper::late(std::string_view then) const {
  return fmt::format("{}: the disk has not answered for {} s; {}", path_, kPatience.count(), then);
}

void StateKeeper::note(std::optional<std::string>& trouble, const Result<void>& saved) {
  trouble.reset();
  if (!saved) trouble = fmt::format("{}; {}", to_string(saved.error()), kLostAtARestart);
}

void StateKeeper::tell(core::Agent& agent, TimePoint now, core::Actions& out) {
  const auto is_late = [now](const std::optional<TimePoint>& begun) {
    return begun && now >= *begun + kPatience;
  };
  slow_ = is_late(writing_) || is_late(committing_);
  std::optional<std::string> trouble = not_written_ ? not_written_ : not_kept_;
  if (is_late(writing_))
    trouble = late(kLostAtARestart);
  else if (!trouble && slow_)
    trouble = late(kLostWithThePower);
  else if (!trouble && damaged_)
    trouble = fmt::format(
        "{}: was damaged or could not be read, and was set aside as {}: a switch that was silent "
        "at the start is not known; remove that file when all neighbors are heard again",
        path_, damaged_name(path_));
  if (trouble == told_) return;
  told_ = std::move(trouble);
  if (told_)
    agent.raise_alarm(core::AlarmCode::kState, {}, *told_, now, out);
  else
    agent.clear_alarm(core::AlarmCode::kState, {}, out);
}

}  // namespace lldp::io
