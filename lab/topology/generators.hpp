// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "lab/topology/builder.hpp"

namespace lldp::lab {

/// A folded Clos of 2 to 5 switch levels. On every level but the top the switches stand in pods of
/// equal size, pods of one level nest in those of the next, and a switch is cabled to every switch
/// of the next level in its pod. Levels 1 and 2 share their pods; the top level has none.
struct ClosShape {
  std::vector<std::size_t> switches{4, 4, 2};  ///< on level 1, 2, ...
  /// How many pods on levels 1 and 2, on level 3, ... below the top: two fewer than levels.
  std::vector<std::size_t> pods{2};
  std::size_t hosts = 8;
  std::size_t links_per_host = 1;  ///< to as many neighboring switches of level 1
  LinkQuality quality{};
};
/// Nodes by level from the top down, hosts last; refuses what does not divide evenly.
[[nodiscard]] Result<Fabric> clos(const ClosShape& shape);

/// The k-ary fat-tree (Al-Fares et al. 2008): k pods of k/2 edge and k/2 aggregation switches,
/// (k/2)^2 cores, k^3/4 hosts. `k` even, 2 to 64.
[[nodiscard]] Result<Fabric> fat_tree(std::size_t k, const LinkQuality& quality = {});

}  // namespace lldp::lab
