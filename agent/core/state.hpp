// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/fabric.hpp"

namespace lldp::core {

/// What outlives a restart: the content of the state file as a value.
struct State {
  std::optional<ChassisId> chassis_id{};
  std::optional<Level> level{};
  friend bool operator==(const State&, const State&) = default;
};

}  // namespace lldp::core
