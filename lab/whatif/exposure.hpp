// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "lab/topology/fabric.hpp"
#include "lab/whatif/change.hpp"

namespace lldp::lab::whatif {

/// What agents on virtual time make of a disturbance, all levels being established before.
struct Exposure {
  /// In which a link between switches had carrier, and one of its ends did not know its order.
  Duration unprotected{};
  /// In which the orders that were known left a cycle of buffers.
  Duration cyclic{};
  /// From the disturbance to the last change of an order.
  Duration reaction{};
  std::size_t orders_changed = 0;
  [[nodiscard]] Duration whole() const { return unprotected + cyclic; }
};

/// Links of the fabric that lose their carrier together, and get it back a minute later.
[[nodiscard]] Exposure expose_failure(const Fabric& fabric, const std::vector<std::size_t>& links);

/// The changes, all at once; what they take away stays away.
[[nodiscard]] Exposure expose_changes(const Fabric& fabric,
                                      const std::vector<FabricChange>& changes);

}  // namespace lldp::lab::whatif
