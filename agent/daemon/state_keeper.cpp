// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/state_keeper.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lldp::io {

Result<void> StateKeeper::take_right() {
  if (right_) return {};
  // A file beside it, for the state file itself is replaced at every change.
  const std::string name = path_ + ".lock";
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd)
    return fail(Error{errno, name, "cannot be opened: " + std::string(std::strerror(errno))});
  struct flock all {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  // Of the process, not of the descriptor: the kernel can then say whose it is.
  if (::fcntl(fd.get(), F_SETLK, &all) == 0) {
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

Result<void> StateKeeper::open() {
  auto right = take_right();
  if (!right && right.error().code == EBUSY) return right;
  changed_ |= !right.has_value();
  return {};
}

Result<core::State> StateKeeper::load() const { return load_state(path_); }

void StateKeeper::write(const core::Agent& agent) {
  if (!std::exchange(changed_, false)) return;
  // At the start there may have been no directory to hold the lock.
  auto written = take_right();
  if (written || written.error().code != EBUSY) written = write_state(path_, agent.state());
  written_ = written.has_value();
  note(not_written_, written);
}

void StateKeeper::save(const core::Agent& agent, TimePoint now) {
  write(agent);
  while (commit_ || (written_ && now >= begun_ + kCommitInterval)) {
    if (!commit_)
      begin_commit(now);
    else if (const auto answer = disk_->take())
      go_on(*answer);
    else
      return;
  }
}

std::optional<TimePoint> StateKeeper::next_deadline() const {
  if (commit_) return slow_ ? std::nullopt : std::optional(begun_ + kPatience);
  return written_ ? std::optional(begun_ + kCommitInterval) : std::nullopt;
}

void StateKeeper::finish(const core::Agent& agent) {
  retry();
  write(agent);
  while (commit_ || written_) {
    if (commit_)
      go_on(disk_->wait());
    else
      begin_commit(begun_);
  }
}

void StateKeeper::begin_commit(TimePoint now) {
  written_ = false;
  begun_ = now;
  auto begun = StateCommit::begin(path_);
  if (!begun) return note(not_kept_, fail(begun.error()));
  disk_->start(commit_.emplace(std::move(*begun)).fd());
}

void StateKeeper::go_on(int code) {
  const auto done = commit_->synced(code);
  if (done && !*done) return disk_->start(commit_->fd());
  commit_.reset();
  note(not_kept_, done ? Result<void>() : fail(done.error()));
}

void StateKeeper::note(std::optional<std::string>& trouble, const Result<void>& saved) {
  trouble.reset();
  if (!saved) trouble = to_string(saved.error()) + "; what changes meanwhile is lost at a restart";
}

void StateKeeper::tell(core::Agent& agent, TimePoint now, core::Actions& out) {
  slow_ = commit_ && now >= begun_ + kPatience;
  std::optional<std::string> trouble = not_written_ ? not_written_ : not_kept_;
  if (!trouble && slow_)
    trouble = fmt::format(
        "{}: the disk has not answered for {} s; what changes meanwhile is lost "
        "if the power goes",
        path_, kPatience.count());
  if (trouble == told_) return;
  told_ = std::move(trouble);
  if (told_)
    agent.raise_alarm(core::AlarmCode::kState, {}, *told_, now, out);
  else
    agent.clear_alarm(core::AlarmCode::kState, {}, out);
}

}  // namespace lldp::io
