// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lab/routing/shortest_paths.hpp"
#include "lab/topology/graph.hpp"
#include "sim/flow/traffic.hpp"

namespace lldp::lab {

/// A maximum concurrent flow: every pair sends the same share of its traffic, over the paths it has
/// and no others, and no direction of a link carries more than its capacity 1.
struct Throughput {
  double lower = 0;  ///< the share that the flow found carries: a flow exists
  double upper = 0;  ///< no flow carries more: by the lengths of links found (linear programming
                     ///< duality)
  std::size_t rounds = 0;
  std::size_t paths = 0;
  std::size_t without = 0;  ///< pairs with traffic and without a path; then nothing can be carried
  [[nodiscard]] double gap() const { return lower > 0 ? upper / lower - 1 : 1e300; }
};

struct ThroughputGoal {
  double gap = 0.01;  ///< of upper to lower bound, at which the search ends
  std::size_t max_rounds = 20'000;
};

/// Two players that learn by multiplicative weights: every pair moves its traffic to shorter paths,
/// links that are full become longer; each move is corrected by what the last round got wrong
/// (optimism). The averages of their moves approach flow and lengths that prove each other best.
/// `paths` have each pair once, in either direction (all_pairs()). The result does not depend on
/// the number of threads.
[[nodiscard]] Throughput throughput(const Graph& graph, std::span<const SourcePaths> paths,
                                    std::span<const TrafficMatrix> traffic,
                                    const ThroughputGoal& goal, std::size_t threads,
                                    const std::function<void(const Throughput&)>& tell = {});

/// Whatever the routing: all capacity there is, over what the shortest paths take of it (Eq. 6 of
/// FC+).
[[nodiscard]] double throughput_bound(const Graph& graph, std::span<const TrafficMatrix> traffic);

}  // namespace lldp::lab
