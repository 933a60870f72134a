// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

#include "base/result.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"

namespace lldp::dataplane::bpf {

/// Reports that a file system came or went in the mount namespace of the thread that opens this.
/// On a host of containers they do all the time, so after a report none wakes for some seconds.
class MountWatch {
 public:
  static constexpr std::chrono::seconds kPause{5};

  /// Fails where /proc cannot be seen.
  [[nodiscard]] static Result<MountWatch> open(std::chrono::nanoseconds pause = kPause);
  /// Readable when there is something to take(), but for what comes within the pause: then when it
  /// is over.
  [[nodiscard]] int fd() const { return poll_.get(); }
  /// True once after any have come or gone, within the pause too.
  [[nodiscard]] bool take();

 private:
  MountWatch(UniqueFd poll, Timer timer, UniqueFd wakes, UniqueFd asked,
             std::chrono::nanoseconds pause)
      : poll_(std::move(poll)),
        timer_(std::move(timer)),
        wakes_(std::move(wakes)),
        asked_(std::move(asked)),
        pause_(pause) {}
  [[nodiscard]] bool listen(bool on);

  UniqueFd poll_;  ///< epoll: timer_, and wakes_ outside a pause
  Timer timer_;
  // Of what one of these has been told the other has not: a wake-up by epoll is the end of it.
  UniqueFd wakes_;
  UniqueFd asked_;
  std::chrono::nanoseconds pause_;
  bool listens_ = false;
};

}  // namespace lldp::dataplane::bpf
