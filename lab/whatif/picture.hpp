// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/whatif/failure.hpp"

namespace lldp::lab::whatif {

/// fabric_picture() of what a set of failed links does: these links, the cycle of one class, the
/// switches where packets turn. `set` and `cycle` by the numbers in Routes.
[[nodiscard]] std::string to_svg(const Fabric& fabric, const Routes& routes,
                                 const std::vector<std::uint32_t>& set, const Effect& effect,
                                 const std::vector<Arc>& cycle);

}  // namespace lldp::lab::whatif
