// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "lab/des/parallel.hpp"
#include "lab/routing/shortest_paths.hpp"
#include "lab/topology/graph.hpp"

namespace lldp::lab {

/// The same number of paths of the same lengths as shortest_paths() gives, by Yen's algorithm: each
/// leaves an earlier one at some node and is the shortest way on from there, and of those that are
/// equally long the one that was found first is taken. So the paths of a pair share more links than
/// an even choice has them share. Without turns the search is among up-down paths only; else among
/// all, and those that turn too often are dropped. PathChoice::seed chooses nothing here.
[[nodiscard]] std::vector<SourcePaths> yen_paths(const Graph& graph,
                                                 std::span<const Demand> demands,
                                                 const PathChoice& choice, std::size_t threads,
                                                 const Tell& tell = {});

}  // namespace lldp::lab
