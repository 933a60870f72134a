// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/packets/plan.hpp"

namespace lldp::lab {

/// The switches of case 1 or case 2 with more hosts on the lowest, and other links that fail, once
/// or repeatedly. Hosts send at line rate throughout; some send a little now and then, and these
/// are the possible victims.
[[nodiscard]] packets::Plan random_plan(std::uint64_t seed, bool flaps);

}  // namespace lldp::lab
