// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "agent/report/report.hpp"

namespace lldp::io {

/// What this process takes of the machine. It tells by itself: others cannot look where the service
/// hides the processes of /proc from whoever has fewer capabilities (ProtectProc=).
class Usage {
 public:
  [[nodiscard]] report::ProcessStatistics now() const;

 private:
  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
};

}  // namespace lldp::io
