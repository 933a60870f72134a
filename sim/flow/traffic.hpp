// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/routing/shortest_paths.hpp"
#include "lab/topology/graph.hpp"

namespace lldp::lab {

/// What one switch sends to another, in units of the rate of a link.
struct TrafficMatrix {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double amount = 0;
};

/// Whether all links between devices that forward have the same rate: each counts as one unit here.
[[nodiscard]] bool has_one_rate(const Fabric& fabric);

/// A switch that sends, and what its hosts send in all, in units of the rate of a link.
struct Sender {
  std::uint32_t node = 0;
  double amount = 0;
};

/// The switches that have hosts, each with as much as all its hosts' links carry.
[[nodiscard]] std::vector<Sender> senders_of(const Fabric& fabric);

/// Every host sends to every other host, as much as there are hosts.
[[nodiscard]] std::vector<TrafficMatrix> all_to_all(std::span<const Sender> senders);
/// Each to `share` of the others, drawn at random, evenly.
[[nodiscard]] std::vector<TrafficMatrix> uniform_random(std::span<const Sender> senders,
                                                        double share, std::uint64_t seed);
/// Each to one other, no two to the same, as far away in all as can be: a maximum-weight perfect
/// matching by the hops of the shortest paths. Which of the best ones, the seed says.
[[nodiscard]] std::vector<TrafficMatrix> near_worst(const Graph& graph,
                                                    std::span<const Sender> senders,
                                                    std::uint64_t seed, std::size_t threads);

/// The pairs that send, each once, whichever way: what paths are needed for.
[[nodiscard]] std::vector<Demand> pairs_of(const Graph& graph,
                                           std::span<const TrafficMatrix> traffic);

}  // namespace lldp::lab
