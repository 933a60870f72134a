// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// networkx node-link JSON. Nodes: id, role, level, chassis, ports (for readers; not read back),
/// relays (only where a host does). Links: source, target, ports, layers and orders (only where
/// ports have any), rate_bps, delay_ns. `ports`, `layers` and `orders` map the node's name to its
/// port and what that port has, for networkx exchanges source and target of an undirected link as
/// it likes.
[[nodiscard]] std::string to_json(const Fabric& fabric);

/// Reads what to_json() writes, and what else cabling::read_json() and fabric_from() take.
[[nodiscard]] Result<Fabric> fabric_from_json(std::string_view text);

}  // namespace lldp::lab
