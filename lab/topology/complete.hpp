// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// Where in its file a link stands, for errors.
using PlaceOfLink = std::function<std::string(std::size_t link)>;
/// complete(), where a file says what the fabric is.
[[nodiscard]] Result<Fabric> complete(Fabric fabric, const PlaceOfLink& place_of);

}  // namespace lldp::lab
