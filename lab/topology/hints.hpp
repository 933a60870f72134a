// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// What the user says of a file whose nodes say too little of themselves. Names such as leaf or
/// spine are not guessed from.
struct Hints {
  std::vector<std::string> hosts{};   ///< globs of names: these are hosts
  std::vector<std::string> levels{};  ///< `GLOB=N`: these switches stand on level N
};
/// The fabric with its roles and levels by the hints; a level that followed from the hosts before
/// follows from those that there are now. Refuses a hint that no node has the name of.
[[nodiscard]] Result<Fabric> with_hints(Fabric fabric, const Hints& hints);

/// Why levels say nothing of this fabric: no device is a host, and no switch has a level. nullopt:
/// they do.
[[nodiscard]] std::optional<std::string> why_no_levels(const Fabric& fabric);

}  // namespace lldp::lab
