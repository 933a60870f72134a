// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/whatif/failure.hpp"

namespace lldp::lab::whatif {

/// The switches that a set of failed links concerns, by level, as SVG: failed links dashed red, the
/// cycle of one class in orange with its direction, switches where packets turn marked. Of a large
/// fabric only what is near; `set` and `cycle` by the numbers in Routes.
[[nodiscard]] std::string to_svg(const Fabric& fabric, const Routes& routes,
                                 const std::vector<std::uint32_t>& set, const Effect& effect,
                                 const std::vector<Arc>& cycle);

}  // namespace lldp::lab::whatif
