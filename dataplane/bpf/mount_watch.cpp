// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/mount_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "os/poll_set.hpp"

namespace lldp::dataplane::bpf {
namespace {

UniqueFd open_mounts() { return UniqueFd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Result<MountWatch> MountWatch::open(std::chrono::nanoseconds pause) {
  const auto refused = [] { return fail(Error{errno, "mounts", std::strerror(errno)}); };
  UniqueFd wakes = open_mounts();
  if (!wakes) return refused();
  UniqueFd asked = open_mounts();
  if (!asked) return refused();
  Timer timer;
  auto poll = make_poll_set("mounts", {{timer.fd()}});
  if (!poll) return fail(poll.error());
  MountWatch self(std::move(*poll), std::move(timer), std::move(wakes), std::move(asked), pause);
  if (!self.listen(true)) return refused();
  return self;
}

bool MountWatch::listen(bool on) {
  epoll_event interest{.events = EPOLLPRI, .data = {}};
  const int what = on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL;
  if (::epoll_ctl(poll_.get(), what, wakes_.get(), &interest) != 0) return false;
  listens_ = on;
  return true;
}

bool MountWatch::take() {
  // If it is refused it is tried again after the next pause.
  if (timer_.take() && !listens_ && !listen(true)) timer_.set(pause_);
  pollfd ready{.fd = asked_.get(), .events = POLLPRI, .revents = 0};
  if (::poll(&ready, 1, 0) != 1) return false;
  if (listens_) {
    (void)listen(false);
    timer_.set(pause_);
  }
  return true;
}

}  // namespace lldp::dataplane::bpf
