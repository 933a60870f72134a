// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "lab/fabric/fabric.hpp"

namespace lldp::lab {

/// Graphviz as the Prescriptive Topology Manager (PTM) takes it: `"leaf1":"swp1" --
/// "spine1":"swp3"`, with role and level on nodes, rate_bps and delay_ns on links.
[[nodiscard]] std::string to_dot(const Fabric& fabric);

/// Reads graph and digraph files: node and edge statements, chains of edges, defaults by `node
/// [..]` and `edge [..]`, subgraphs (as if their statements stood outside), comments. Attributes
/// taken: role, level, chassis (nodes), rate_bps, delay_ns (links); others are passed over. A
/// node's role is `role=host|switch`, else `function=host` or level 0 makes a host, else it is a
/// switch: PTM files know no hosts. Errors name the line.
[[nodiscard]] Result<Fabric> fabric_from_dot(std::string_view text);

}  // namespace lldp::lab
