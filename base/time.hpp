// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace lldp {

/// The time base of the agent: CLOCK_BOOTTIME, which goes on while the machine sleeps, so that what
/// was learned before a suspend is aged after it. It has no now(): pure code is given the time.
struct BootTime {
  using rep = std::chrono::nanoseconds::rep;
  using period = std::chrono::nanoseconds::period;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<BootTime>;
  static constexpr bool is_steady = true;
};

using Duration = BootTime::duration;
using TimePoint = BootTime::time_point;

}  // namespace lldp
