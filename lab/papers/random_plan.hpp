// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/packets/plan.hpp"

namespace lldp::lab {

/// The switches of case 1 or case 2 with more hosts on the lowest, and other links that fail, at
/// once or again and again. Hosts send at line rate for as long as it runs, and some send a little
/// now and then: these are who may suffer.
[[nodiscard]] packets::Plan random_plan(std::uint64_t seed, bool flaps);

}  // namespace lldp::lab
