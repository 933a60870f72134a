// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/report/report.hpp"
#include "os/clock.hpp"

namespace lldp::io {

/// What this process uses of the machine. It reports by itself: where the service hides the
/// processes of /proc (ProtectProc=), processes with fewer capabilities cannot look.
class Usage {
 public:
  /// The start as the wall clock has it now: a switch without a battery starts the daemon in 1970.
  [[nodiscard]] report::ProcessStatistics now(const report::WallClock& clock) const;

 private:
  TimePoint started_ = boot_time();
};

}  // namespace lldp::io
