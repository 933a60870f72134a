// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/bounded.hpp"
#include "base/time.hpp"
#include "dataplane/backend.hpp"
#include "qos/policy.hpp"

namespace lldp::io {

/// Traffic that turned in no class and is lossless by a preset: packets of an application that is
/// not configured. Other lossy traffic turns with DSCPs of its own, and is not reported. Pure:
/// counts and the time come in as values.
class UnclassedTraffic {
 public:
  /// For so long after the last packet it is told.
  static constexpr std::chrono::minutes kCalm{10};

  /// What has turned and left by the port in all. What is read first is of before.
  void take(Ifindex port, const dataplane::Unclassed& counts, TimePoint now);
  void forget(Ifindex port) { counts_.erase(port); }
  /// What to tell of it where these classes are in force, with the line to write; nothing: no such
  /// packets turn.
  [[nodiscard]] std::optional<std::string> text(const qos::Policy& policy, TimePoint now) const;

 private:
  std::map<Ifindex, dataplane::Unclassed> counts_{};
  std::array<std::optional<TimePoint>, Dscp::kMax + 1> seen_{};  ///< last, by DSCP
};

}  // namespace lldp::io
