// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "agent/report/report.hpp"

namespace lldp::io {

/// What this process uses of the machine. It reports by itself: where the service hides the
/// processes of /proc (ProtectProc=), processes with fewer capabilities cannot look.
class Usage {
 public:
  [[nodiscard]] report::ProcessStatistics now() const;

 private:
  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
};

}  // namespace lldp::io
