// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rare.hpp"
#include "base/result.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// The way of a packet: `links[i]` joins `nodes[i]` and `nodes[i + 1]`.
struct Path {
  std::vector<std::size_t> nodes{};
  std::vector<std::size_t> links{};
  friend bool operator==(const Path&, const Path&) = default;
};

/// Which links are down, by index into Fabric::links.
using FailedLinks = std::vector<bool>;

/// From one node to another. Where several next hops are as good, a packet takes the first of `via`
/// that is among them, else the one that a hash of `hash` and the switch gives; without a hash, the
/// node that comes first in the fabric.
struct FlowPath {
  Rare<std::string> name{};
  std::size_t from = 0;
  std::size_t to = 0;
  std::vector<std::size_t> via{};
  std::uint64_t hash = 0;  ///< 0: none
};

/// A shortest path that never goes up after it went down, in the order of (level, chassis ID).
/// Hosts are only ever ends.
[[nodiscard]] Result<Path> updown_path(const Fabric& fabric, const FlowPath& flow);

/// Where a packet goes between a failure and the convergence of the routing. Every switch forwards
/// as by updown_path() in the whole fabric. Only one whose own links to all these next hops are
/// down forwards to another neighbor that can still reach the destination: to one above it, as by
/// a default route, else to one below, which then sends the packet up again. No packet visits a
/// switch twice.
[[nodiscard]] Result<Path> local_reroute(const Fabric& fabric, const FailedLinks& failed,
                                         const FlowPath& flow);

/// Along all of `via`, each linked to the next: as a controller lays the paths that it has
/// computed.
[[nodiscard]] Result<Path> laid_path(const Fabric& fabric, const FailedLinks& failed,
                                     const FlowPath& flow);
/// In a layered expander, which is not routed by levels, laid_path(); else local_reroute().
[[nodiscard]] Result<Path> path_of(const Fabric& fabric, const FailedLinks& failed,
                                   const FlowPath& flow);

/// path_of() for many flows of one fabric, which outlives it: what the failed links do not change
/// is worked out once for each destination.
class Ways {
 public:
  explicit Ways(const Fabric& fabric);
  Ways(Ways&& other) noexcept;
  ~Ways();
  [[nodiscard]] Result<Path> path_of(const FailedLinks& failed, const FlowPath& flow);

 private:
  struct Known;
  const Fabric* fabric_;
  std::unique_ptr<Known> known_;
};

/// The switches at which a path turns, as indices into `path.nodes`: by the layers of its links, or
/// where they have none by levels, so that it comes from above and leaves upwards.
[[nodiscard]] std::vector<std::size_t> turns_of(const Fabric& fabric, const Path& path);

/// `Leaf2, Spine1, Leaf3`, without the hosts at the ends.
[[nodiscard]] std::string switches_of(const Fabric& fabric, const Path& path);

/// Links by the names of their ends: `Spine1-Leaf4`. All of a pair's parallel links are meant.
[[nodiscard]] Result<FailedLinks> failed_links(const Fabric& fabric,
                                               std::span<const std::string> pairs);
/// `FROM-TO` or `FROM-VIA-...-TO`, by names.
[[nodiscard]] Result<FlowPath> flow_between(const Fabric& fabric, std::string name,
                                            std::string_view nodes);

}  // namespace lldp::lab
