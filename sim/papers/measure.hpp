// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <utility>

#include "sim/packets/run.hpp"

namespace lldp::lab {

/// In place of a value that was not measured: no statement holds of it, and no published number
/// matches it.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// Runs a plan to its end. Nothing: the plan was refused, or memory ran out, so what was seen until
/// then is no measurement.
[[nodiscard]] inline std::optional<packets::Outcome> measure(const packets::Plan& plan,
                                                             const packets::Hooks& hooks = {}) {
  auto outcome = packets::run(plan, hooks);
  if (!outcome || outcome->memory_ran_out) return std::nullopt;
  return std::move(*outcome);
}

}  // namespace lldp::lab
