// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/state_keeper.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/daemon/state_file.hpp"

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
  if (!written) note(written);  // else when it is durable
}

void StateKeeper::save(const core::Agent& agent, TimePoint now) {
  write(agent);
  if (!written_ || now < next_commit_) return;
  next_commit_ = now + kCommitInterval;
  commit();
}

void StateKeeper::finish(const core::Agent& agent) {
  retry();
  write(agent);
  if (written_) commit();
}

void StateKeeper::commit() {
  written_ = false;
  note(commit_state(path_));
}

void StateKeeper::note(const Result<void>& saved) {
  trouble_.reset();
  if (!saved) trouble_ = to_string(saved.error()) + "; what changes meanwhile is lost at a restart";
}

void StateKeeper::tell(core::Agent& agent, TimePoint now, core::Actions& out) {
  if (trouble_ == told_) return;
  told_ = trouble_;
  if (trouble_)
    agent.raise_alarm(core::AlarmCode::kState, {}, *trouble_, now, out);
  else
    agent.clear_alarm(core::AlarmCode::kState, {}, out);
}

}  // namespace lldp::io
