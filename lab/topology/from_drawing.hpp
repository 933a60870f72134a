// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "cabling/drawing.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// A fabric file as a whole fabric. Attributes taken: role, level, chassis, relays (nodes),
/// rate_bps, delay_ns, loss_ppb (links); others are passed over. A node's role is
/// `role=host|switch`, else `function=host` or level 0 makes a host, else it is a switch: PTM files
/// know no hosts. Errors name the node, or the link by its line or number.
[[nodiscard]] Result<Fabric> fabric_from(Result<cabling::Drawing> drawing);

}  // namespace lldp::lab
