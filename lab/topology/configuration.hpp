// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// What lldp-leveld has to be told on a switch of a layered expander, as a configuration file: a
/// key `port.NAME.layers` for each port, with where it leads; names are spelled as
/// base/spelling.hpp has it. Refuses other fabrics and nodes.
[[nodiscard]] Result<std::string> configuration_of(const Fabric& fabric, std::size_t node);

}  // namespace lldp::lab
