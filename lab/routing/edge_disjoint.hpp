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

/// Average over all pairs (or over about `samples` of them, drawn by the seed) of the most up-down
/// paths that share no arc: a maximum flow of unit capacities through the up-down digraph, in which
/// every virtual switch stands twice, ascending and descending.
[[nodiscard]] double edge_disjoint_count(const Graph& graph, std::span<const std::uint32_t> nodes,
                                         std::size_t samples, std::uint64_t seed,
                                         std::size_t threads, const Tell& tell = {});

/// Such paths for every pair, as many as there are, and of those sets one of the fewest links in
/// all: the routing of FC.
[[nodiscard]] std::vector<SourcePaths> edge_disjoint_paths(const Graph& graph,
                                                           std::span<const Demand> demands,
                                                           std::size_t threads,
                                                           const Tell& tell = {});

}  // namespace lldp::lab
