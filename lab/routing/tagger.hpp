// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "lab/routing/shortest_paths.hpp"
#include "lab/topology/graph.hpp"

namespace lldp::lab {

/// How many lossless priorities Tagger (CoNEXT 2017, Algorithm 2) gives to a set of paths, used in
/// both directions: hop by hop, an ingress port stays in the priority of the hop before as long as
/// the ports of that priority do not wait for each other in a circle, else it gets the next one.
[[nodiscard]] std::size_t tagger_priorities(const Graph& graph, std::span<const SourcePaths> paths);

}  // namespace lldp::lab
