// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include "base/time.hpp"

namespace lldp {

/// The time that the pure rooms are given.
[[nodiscard]] inline TimePoint boot_time() {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return TimePoint(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

}  // namespace lldp
