// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lab/des/parallel.hpp"
#include "lab/routing/path_walker.hpp"
#include "lab/topology/graph.hpp"

namespace lldp::lab {

/// Of `n` nodes, each two once.
[[nodiscard]] constexpr double pairs_of(std::size_t n) {
  return static_cast<double>(n) * (static_cast<double>(n) - 1) / 2;
}

/// Which paths a pair of nodes gets: the `paths` shortest that visit no node twice and turn at most
/// `max_turns` times. Of those that are equally long, a random choice, by the seed.
struct PathChoice {
  std::size_t paths = 32;             ///< K
  std::size_t max_turns = kAnyTurns;  ///< one less than there are lossless priorities
  std::size_t max_hops = 16;          ///< longer ones are not looked for
  std::uint64_t seed = 1;
};

/// The paths from one source to some targets, shortest first.
struct SourcePaths {
  std::uint32_t source = 0;
  std::vector<std::uint32_t> targets{};
  std::vector<std::uint32_t> first{0};  ///< of target i: paths first[i] to first[i + 1] - 1
  std::vector<std::uint8_t> hops{};     ///< of every path
  std::vector<Arc> arcs{};              ///< of all paths, one after the other

  /// Calls use(target index, path) for every path.
  template <class Use>
  void for_each(Use&& use) const {
    const Arc* at = arcs.data();
    for (std::size_t t = 0; t < targets.size(); ++t)
      for (std::size_t p = first[t]; p < first[t + 1]; at += hops[p], ++p)
        use(t, std::span<const Arc>(at, hops[p]));
  }
};

/// A source and its targets.
struct Demand {
  std::uint32_t source = 0;
  std::vector<std::uint32_t> targets{};
};

/// Every pair of `nodes` once: from the one that comes first in the list to the other. A path
/// serves its pair in both directions, for what turns one way turns the other way too.
[[nodiscard]] std::vector<Demand> all_pairs(std::span<const std::uint32_t> nodes);

/// Calls use(paths, worker) for each source as soon as it is done, in no order, from several
/// threads. What it gets depends on the graph, the choice and the source alone.
void for_each_source(const Graph& graph, std::span<const Demand> demands, const PathChoice& choice,
                     std::size_t threads,
                     const std::function<void(SourcePaths, std::size_t worker)>& use,
                     const Tell& tell = {});

/// Leaves of each pair's paths those that are as short as its shortest: what ECMP uses.
void keep_shortest(std::vector<SourcePaths>& paths);

/// All of them, in the order of the demands.
[[nodiscard]] std::vector<SourcePaths> shortest_paths(const Graph& graph,
                                                      std::span<const Demand> demands,
                                                      const PathChoice& choice, std::size_t threads,
                                                      const Tell& tell = {});

}  // namespace lldp::lab
