// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "lab/live/place.hpp"
#include "sim/bounce/verdict.hpp"

namespace lldp::lab::bounce {

/// What the agents of a live fabric's switches say of the packets that bounced there (the method
/// Rules of org.lldplevel, `lldp-level rules`). Zeros are left out.
[[nodiscard]] Result<Bounces> counted_bounces(const live::FabricPlace& place, const Fabric& fabric);

}  // namespace lldp::lab::bounce
