// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/core/support/single.hpp"

namespace lldp::test {

/// At level 2 by a switch on port 1.
struct Remembering : testing::Test {
  static Settings settings() {
    Settings s;
    s.chassis_id = ChassisId{{ChassisId::kLocal, "m"}};
    return s;
  }
  explicit Remembering(const core::State& state = {}) : s(settings(), state) {
    s.up(1, 5);
    s.hear(1, a_switch("leaf", 1));
  }
  Single s;
};

}  // namespace lldp::test
