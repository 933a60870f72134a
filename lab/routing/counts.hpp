// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/des/parallel.hpp"
#include "lab/routing/shortest_paths.hpp"
#include "lab/topology/graph.hpp"

namespace lldp::lab {

/// Averages over all pairs of nodes.
struct UpDownCounts {
  double all = 0;       ///< up-down paths
  double within_6 = 0;  ///< of at most 6 hops
  double within_4 = 0;
};
/// Counts all up-down paths between `nodes` (T_du = 0) of at most `max_hops`. `at_most` of a pair,
/// if not 0: what a pair has beyond, shortest first, does not count.
[[nodiscard]] UpDownCounts count_updown_paths(const Graph& graph,
                                              std::span<const std::uint32_t> nodes,
                                              std::size_t max_hops, std::size_t at_most,
                                              std::size_t threads, const Tell& tell = {});

/// Average over all pairs: how many shortest paths have to be looked at, in a random order of those
/// equally long, until K of them turn at most `max_turns` times (K2).
[[nodiscard]] double paths_to_look_at(const Graph& graph, std::span<const std::uint32_t> nodes,
                                      std::size_t k, std::size_t max_turns, std::size_t threads,
                                      const Tell& tell = {});

/// Of the first `paths` paths of each pair: their average length; the longest and shortest such
/// average, and the average over all pairs. Pairs without a path are left out, and counted.
struct PathLengths {
  double longest = 0;
  double shortest = 0;
  double average = 0;
  std::size_t without = 0;  ///< pairs
};
[[nodiscard]] PathLengths path_lengths(std::span<const SourcePaths> paths, std::size_t first);

}  // namespace lldp::lab
