// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

#include "os/fd.hpp"

namespace lldp {

/// Makes a descriptor readable when a time has come; once for each time that it is set.
class Timer {
 public:
  /// False in a condition, with errno, where none can be had.
  explicit Timer(clockid_t clock = CLOCK_MONOTONIC)
      : fd_(::timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK)) {}
  [[nodiscard]] int fd() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }

  /// After this time, instead of when it was set for before; zero or less: at once.
  void set(std::chrono::nanoseconds after) const { arm(0, after); }
  /// At this time of its clock; one that is over: at once.
  void set_at(std::chrono::nanoseconds at) const { arm(TFD_TIMER_ABSTIME, at); }
  void stop() const {
    const itimerspec never{};
    ::timerfd_settime(fd(), 0, &never, nullptr);
  }
  /// True once after the time has come.
  [[nodiscard]] bool take() const {
    std::uint64_t expirations = 0;
    return ::read(fd(), &expirations, sizeof expirations) == sizeof expirations;
  }

 private:
  void arm(int flags, std::chrono::nanoseconds when) const {
    const auto ns = std::max<std::int64_t>(when.count(), 1);  // 0 would stop it
    itimerspec spec{};
    spec.it_value = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    ::timerfd_settime(fd(), flags, &spec, nullptr);
  }
  UniqueFd fd_;
};

}  // namespace lldp
