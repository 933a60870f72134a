// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/tagger.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "lab/topology/expanders.hpp"
#include "lab/topology/generators.hpp"

namespace lldp::lab {
namespace {

/// Four switches in a ring.
Fabric ring() {
  Fabric fabric;
  for (const char* name : {"a", "b", "c", "d"}) fabric.nodes.push_back({.name = name});
  for (std::size_t i = 0; i < 4; ++i)
    fabric.links.push_back({.ends = {LinkEnd{i, "right"}, LinkEnd{(i + 1) % 4, "left"}}});
  return *complete(fabric);
}

TEST(Tagger, LeavesOnePriorityWhereNothingWaitsInACircle) {
  const auto fabric = clos({.switches = {4, 2}, .pods = {}, .hosts = 4});
  const Graph graph = Graph::of(*fabric);
  const std::vector<std::uint32_t> leaves{2, 3, 4, 5};
  const auto paths = shortest_paths(graph, all_pairs(leaves), {.paths = 8, .max_turns = 0}, 1);
  EXPECT_EQ(tagger_priorities(graph, paths), 1);
}

TEST(Tagger, TakesASecondPriorityForACircle) {
  const Graph graph = Graph::of(ring());
  // a to c, b to d, c to a and d to b, all clockwise: links 0, 1, 2, 3, each from its first end.
  const auto path = [](std::uint32_t from, std::uint32_t to, Arc first, Arc second) {
    return SourcePaths{from, {to}, {0, 1}, {2}, {first, second}};
  };
  std::vector<SourcePaths> paths{path(0, 2, 0, 2), path(1, 3, 2, 4)};
  EXPECT_EQ(tagger_priorities(graph, paths), 1);
  paths.push_back(path(2, 0, 4, 6));
  paths.push_back(path(3, 1, 6, 0));
  EXPECT_EQ(tagger_priorities(graph, paths), 2);
}

TEST(Tagger, NeedsNoMoreThanThePathsHops) {
  const auto fabric = fcplus({.switches = 40, .ports = 10, .hosts_per_switch = 0});
  const Graph graph = Graph::of(*fabric);
  std::vector<std::uint32_t> nodes(40);
  std::iota(nodes.begin(), nodes.end(), 0U);
  const auto paths = shortest_paths(graph, all_pairs(nodes), {.paths = 16}, 1);
  const std::size_t priorities = tagger_priorities(graph, paths);
  EXPECT_GE(priorities, 2);
  EXPECT_LE(priorities, *std::max_element(paths[0].hops.begin(), paths[0].hops.end()));
}

}  // namespace
}  // namespace lldp::lab
