// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.hpp"

namespace lldp::core {

/// How often what a port's known neighbors say may change: kBurst times at once, then once every
/// kEvery. An agent that keeps to the standard stays far below that, even where several share the
/// link: after five frames its credit is one frame a second (IEEE 802.1AB-2016 9.2.5.17). One that
/// does not would otherwise have the levels, the rules and every other port's frames wait for it.
class ChangeGate {
 public:
  static constexpr int kBurst = 16;
  static constexpr std::chrono::milliseconds kEvery{100};

  /// Whether one more may pass now; takes its place then.
  [[nodiscard]] bool admit(TimePoint now) {
    if (now < opens_at()) return false;
    all_used_ = std::max(all_used_, now) + kEvery;
    return true;
  }
  [[nodiscard]] TimePoint opens_at() const { return all_used_ - (kBurst - 1) * kEvery; }

 private:
  TimePoint all_used_{};  ///< when all that have passed will have had their share of time
};

}  // namespace lldp::core
