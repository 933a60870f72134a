// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/live/place.hpp"
#include "os/fd.hpp"
#include "sim/bounce/verdict.hpp"

namespace lldp::lab::bounce {

/// Sees every probe on every port of a live fabric, in and out. What leaves is seen after the
/// egress hook, what enters before the ingress hook.
class Capture {
 public:
  [[nodiscard]] static Result<Capture> open(const live::FabricPlace& place, const Fabric& fabric);

  /// Until `count` sightings are there, or none has come for a while; and a little longer, for what
  /// should not come. Returns what was seen since the last call, by serial number.
  [[nodiscard]] std::map<std::uint32_t, Track> take(std::size_t count);

 private:
  explicit Capture(const Fabric& fabric) : fabric_(&fabric) {}
  /// Reads what has come to one node's socket; returns how many were probes.
  std::size_t drain(std::size_t node, std::map<std::uint32_t, Track>& tracks);

  const Fabric* fabric_;
  std::vector<UniqueFd> sockets_{};  ///< by node
};

/// Sends frames out of a node's only port.
class PacketSender {
 public:
  [[nodiscard]] static Result<PacketSender> open(const live::FabricPlace& place,
                                                 const Fabric& fabric, std::size_t node);
  [[nodiscard]] Result<void> send(ByteSpan frame) const;
  /// Copies of one frame, `per_second` of them, until `stop` says so; returns how many were sent.
  [[nodiscard]] std::uint64_t blast(ByteSpan frame, double per_second,
                                    const std::atomic<bool>& stop) const;

 private:
  std::string port_{};
  UniqueFd socket_{};
};

/// Counts in the kernel, without reading them, the IPv4 packets of a flow that enter a node: those
/// with a certain DSCP, or those without it.
class PacketCounter {
 public:
  [[nodiscard]] static Result<PacketCounter> open(const live::FabricPlace& place,
                                                  const Fabric& fabric, std::size_t node,
                                                  std::size_t flow, Dscp dscp, bool with_it);
  [[nodiscard]] std::uint64_t take() const;  ///< since the last call

 private:
  UniqueFd socket_{};
};

}  // namespace lldp::lab::bounce
