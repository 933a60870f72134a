// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/lossless/stage.hpp"

namespace lldp::lab::lossless {

/// What happened, for a person: a line per flow, the deadlock or none, then the verdict.
[[nodiscard]] std::string to_text(const packets::Plan& plan, const Settings& settings,
                                  const Outcome& outcome);
/// The same as one JSON object.
[[nodiscard]] std::string to_json(const packets::Plan& plan, const Settings& settings,
                                  const Outcome& outcome);

}  // namespace lldp::lab::lossless
