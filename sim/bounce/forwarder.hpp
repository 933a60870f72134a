// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "base/result.hpp"
#include "lab/live/place.hpp"
#include "lab/live/route_socket.hpp"
#include "sim/bounce/verdict.hpp"

namespace lldp::lab::bounce {

/// The forwarding of a live fabric, as its routing would set it: by host routes in every switch, or
/// by a bridge in every switch that learns and floods nothing and so has no loops.
class Forwarder {
 public:
  [[nodiscard]] static Result<Forwarder> open(const live::FabricPlace& place, const Fabric& fabric,
                                              BounceMode mode);
  /// Sends a flow along a path from now on.
  [[nodiscard]] Result<void> lay(std::size_t flow, const Path& path);
  /// Takes links down, at both ends.
  [[nodiscard]] Result<void> cut(const FailedLinks& failed);
  /// Where a host's frame of a flow on a path goes to.
  [[nodiscard]] MacAddress first_hop(std::size_t flow, const Path& path) const;

 private:
  Forwarder(const Fabric& fabric, BounceMode mode);
  [[nodiscard]] Result<void> prepare(std::size_t node);
  [[nodiscard]] Result<void> commit();

  const Fabric* fabric_;
  BounceMode mode_;
  std::vector<std::array<MacAddress, 2>> addresses_;  ///< of the ports, by link
  std::vector<live::RouteBatch> batches_{};           ///< by node
};

}  // namespace lldp::lab::bounce
