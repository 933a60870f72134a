// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/topology/fabric.hpp"

namespace lldp::lab::whatif {

/// What is to be done to a fabric:
///   drain NODE     no link of the switch carries anything any more
///   remove A-B     the links between the two go
///   add A-B        one more link, on ports of its own; both are there already
struct FabricChange {
  enum class Kind : std::uint8_t { kDrain, kRemove, kAdd };
  Kind kind{};
  std::string text{};
  std::size_t a = 0;  ///< nodes
  std::size_t b = 0;
};

/// Fails for what is no change, or none of this fabric.
[[nodiscard]] Result<FabricChange> change_from(const Fabric& fabric, std::string_view text);

/// The fabric after the changes. Switches keep their levels: they are established
/// (docs/develop/rules.md L4).
[[nodiscard]] Result<Fabric> changed(Fabric fabric, const std::vector<FabricChange>& changes);

}  // namespace lldp::lab::whatif
