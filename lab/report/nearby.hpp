// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "lab/report/fabric_picture.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// A picture of so many nodes can be read as a whole.
inline constexpr std::size_t kReadable = 60;

/// Nodes of Fabric::nodes that a picture has: all of a small fabric; of a larger one its hosts only
/// where they are few, or what is set off and what is next to it, kReadable at most.
[[nodiscard]] std::vector<bool> nodes_to_draw(const Fabric& fabric, const Marks& marks);

}  // namespace lldp::lab
