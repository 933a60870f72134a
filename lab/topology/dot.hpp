// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// Graphviz as the Prescriptive Topology Manager (PTM) takes it: `"leaf1":"swp1" --
/// "spine1":"swp3"`, with role and level on nodes, rate_bps and delay_ns on links; and, where ports
/// have any, layers="1:2" and orders="up:down" of a link's two ends as they are written.
[[nodiscard]] std::string to_dot(const Fabric& fabric);

/// Reads what to_dot() writes, and what else cabling::read_dot() and fabric_from() take.
[[nodiscard]] Result<Fabric> fabric_from_dot(std::string_view text);

}  // namespace lldp::lab
