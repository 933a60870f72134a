// SPDX-License-Identifier: Apache-2.0
// Path searches against searches too simple to be wrong.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "lab/routing/counts.hpp"
#include "lab/routing/edge_disjoint.hpp"
#include "lab/routing/shortest_paths.hpp"
#include "lab/routing/yen.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/generators.hpp"

namespace lldp::lab {
namespace {

std::vector<std::uint32_t> first(std::uint32_t n) {
  std::vector<std::uint32_t> nodes(n);
  std::iota(nodes.begin(), nodes.end(), 0U);
  return nodes;
}

Graph graph_of(const Result<Fabric>& fabric) {
  EXPECT_TRUE(fabric) << to_string(fabric.error());
  return Graph::of(*fabric);
}

/// T_du as the paper counts it: by the index of each link, and whether it goes up.
std::size_t down_up_times(const Fabric& fabric, const std::vector<Arc>& path) {
  struct Move {
    bool up = false;
    unsigned index = 0;
  };
  const auto move = [&](Arc arc) {
    const auto& ends = fabric.links[arc / 2].ends;
    const unsigned from = ends[arc % 2].layer->value();
    const unsigned to = ends[1 - arc % 2].layer->value();
    return Move{to > from, std::min(from, to)};
  };
  std::size_t times = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const Move last = move(path[i - 1]);
    const Move next = move(path[i]);
    if (next.up ? !last.up || next.index <= last.index : !last.up && next.index >= last.index)
      ++times;
  }
  return times;
}

/// Every path without a repeated node, from one node to another, by depth first search.
void every_path(const Graph& graph, std::uint32_t to, std::vector<std::uint32_t>& nodes,
                std::vector<Arc>& arcs, std::size_t max_hops, std::set<std::vector<Arc>>& out) {
  if (nodes.back() == to) {
    out.insert(arcs);
    return;
  }
  if (arcs.size() == max_hops) return;
  for (const auto& hop : graph.hops(nodes.back())) {
    if (std::find(nodes.begin(), nodes.end(), hop.peer) != nodes.end()) continue;
    nodes.push_back(hop.peer);
    arcs.push_back(hop.arc);
    every_path(graph, to, nodes, arcs, max_hops, out);
    nodes.pop_back();
    arcs.pop_back();
  }
}

std::set<std::vector<Arc>> every_path(const Graph& graph, std::uint32_t from, std::uint32_t to,
                                      std::size_t max_hops) {
  std::vector<std::uint32_t> nodes{from};
  std::vector<Arc> arcs;
  std::set<std::vector<Arc>> out;
  every_path(graph, to, nodes, arcs, max_hops, out);
  return out;
}

void expect_the_shortest(std::size_t turns, decltype(shortest_paths)& search) {
  const auto fabric = fcplus({.switches = 16, .ports = 6, .hosts_per_switch = 0, .seed = 3});
  const Graph graph = graph_of(fabric);
  const PathChoice choice{.paths = 12, .max_turns = turns, .max_hops = 5};
  const auto nodes = first(16);
  const auto found = search(graph, all_pairs(nodes), choice, 2, {});
  ASSERT_EQ(found.size(), 15);
  for (const SourcePaths& s : found) {
    std::map<std::uint32_t, std::vector<std::vector<Arc>>> by_target;
    s.for_each([&](std::size_t t, std::span<const Arc> path) {
      by_target[s.targets[t]].emplace_back(path.begin(), path.end());
    });
    for (const std::uint32_t t : s.targets) {
      std::vector<std::size_t> lengths;
      std::set<std::vector<Arc>> allowed;
      for (const auto& path : every_path(graph, s.source, t, 5))
        if (down_up_times(*fabric, path) <= turns) {
          allowed.insert(path);
          lengths.push_back(path.size());
        }
      std::sort(lengths.begin(), lengths.end());
      lengths.resize(std::min<std::size_t>(lengths.size(), 12));
      std::vector<std::size_t> got;
      for (const auto& path : by_target[t]) {
        EXPECT_EQ(allowed.erase(path), 1) << "not allowed, or given twice";
        got.push_back(path.size());
      }
      EXPECT_EQ(got, lengths);
    }
  }
}
class ShortestPaths : public testing::TestWithParam<std::size_t> {};  // turns that are allowed
TEST_P(ShortestPaths, AreTheShortestThereAre) { expect_the_shortest(GetParam(), shortest_paths); }
TEST_P(ShortestPaths, ByYensAlgorithmAreAsShort) { expect_the_shortest(GetParam(), yen_paths); }
INSTANTIATE_TEST_SUITE_P(Turns, ShortestPaths, testing::Values(0, 1, 2, 99));

TEST(Turns, AreTheDownUpTimesOfThePaperOnEveryPath) {
  const auto fabric = fcplus({.switches = 16, .ports = 6, .hosts_per_switch = 0});
  const Graph graph = graph_of(fabric);
  for (const auto& path : every_path(graph, 0, 9, 5)) {
    EXPECT_EQ(turns_of(graph, path), down_up_times(*fabric, path));
    std::vector<Arc> back;
    for (auto a = path.rbegin(); a != path.rend(); ++a) back.push_back(reversed(*a));
    EXPECT_EQ(turns_of(graph, back), turns_of(graph, path));
  }
}

/// The toy of Figure 2(a): six switches split in four, on six layers; blue and red path. (The green
/// one, as it is printed, goes down and up again and so would need the second priority.)
TEST(Turns, OfTheToyExample) {
  Fabric toy;
  for (int i = 1; i <= 6; ++i) toy.nodes.push_back({.name = "S" + std::to_string(i)});
  std::size_t port = 0;
  const auto link = [&](std::size_t a, unsigned layer_a, std::size_t b, unsigned layer_b) {
    const auto end = [&](std::size_t node, unsigned layer) {
      return LinkEnd{node - 1, std::to_string(++port), qos::Layer::make(layer)};
    };
    toy.links.push_back({.ends = {end(a, layer_a), end(b, layer_b)}});
  };
  link(1, 2, 5, 1);  // blue
  link(1, 6, 2, 5);  // red
  link(2, 5, 5, 6);
  link(1, 4, 2, 3);  // green
  link(2, 3, 5, 4);
  const Graph graph = graph_of(complete(toy));
  EXPECT_EQ(turns_of(graph, std::vector<Arc>{0}), 0);
  EXPECT_EQ(turns_of(graph, std::vector<Arc>{2, 4}), 1);
  EXPECT_EQ(turns_of(graph, std::vector<Arc>{6, 8}), 1);
}

TEST(ShortestPaths, DoNotDependOnTheThreads) {
  const Graph graph = graph_of(fcplus({.switches = 40, .ports = 10, .hosts_per_switch = 0}));
  const auto nodes = first(40);
  const PathChoice choice{.paths = 8, .max_turns = 1, .seed = 5};
  const auto one = shortest_paths(graph, all_pairs(nodes), choice, 1);
  const auto four = shortest_paths(graph, all_pairs(nodes), choice, 4);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].arcs, four[i].arcs);
    EXPECT_EQ(one[i].first, four[i].first);
  }
}

TEST(ShortestPaths, OfEquallyLongOnesEachHasItsChance) {
  // Between two leaves below eight spines one path of eight is asked for.
  const auto fabric = clos({.switches = {2, 8}, .pods = {}, .hosts = 2});
  const Graph graph = graph_of(fabric);
  std::map<Arc, int> chosen;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    const Demand demand{8, {9}};
    const auto found = shortest_paths(graph, std::span(&demand, 1), {.paths = 1, .seed = seed}, 1);
    ++chosen[found[0].arcs.at(0)];
  }
  EXPECT_EQ(chosen.size(), 8);
  for (const auto& [arc, times] : chosen) EXPECT_NEAR(times, 100, 40);
}

TEST(ShortestPaths, GoThroughNoHost) {
  const auto fabric = clos({.switches = {2, 1}, .pods = {}, .hosts = 2, .links_per_host = 2});
  const Graph graph = graph_of(fabric);
  const Demand demand{1, {2}};  // the leaves, which share both hosts
  const auto found = shortest_paths(graph, std::span(&demand, 1), {.paths = 9}, 1);
  EXPECT_EQ(found[0].hops, std::vector<std::uint8_t>{2});
}

TEST(ShortestPaths, OfEcmpAreThoseOfEqualLength) {
  const Graph graph = graph_of(fcplus({.switches = 16, .ports = 6, .hosts_per_switch = 0}));
  const auto nodes = first(16);
  const auto all = shortest_paths(graph, all_pairs(nodes), {.paths = 12, .max_turns = 1}, 1);
  auto kept = all;
  keep_shortest(kept);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t t = 0; t < all[i].targets.size(); ++t) {
      const auto hops = [&](const SourcePaths& s) {
        return std::vector<std::uint8_t>(s.hops.begin() + s.first[t],
                                         s.hops.begin() + s.first[t + 1]);
      };
      auto expected = hops(all[i]);
      std::erase_if(expected, [&](std::uint8_t h) { return h > hops(all[i]).front(); });
      EXPECT_EQ(hops(kept[i]), expected);
    }
}

TEST(Counts, OfUpDownPathsAreThoseOfEveryPath) {
  const auto fabric = fcplus({.switches = 16, .ports = 6, .hosts_per_switch = 0});
  const Graph graph = graph_of(fabric);
  double all = 0;
  double within_4 = 0;
  for (std::uint32_t a = 0; a < 16; ++a)
    for (std::uint32_t b = a + 1; b < 16; ++b)
      for (const auto& path : every_path(graph, a, b, 6))
        if (down_up_times(*fabric, path) == 0) {
          ++all;
          if (path.size() <= 4) ++within_4;
        }
  const auto nodes = first(16);
  const auto counts = count_updown_paths(graph, nodes, 6, 0, 2);
  EXPECT_NEAR(counts.all, all / 120, 1e-9);
  EXPECT_NEAR(counts.within_6, all / 120, 1e-9);  // three layers up and three down
  EXPECT_NEAR(counts.within_4, within_4 / 120, 1e-9);
}

TEST(Counts, ComeCloseToTheClosedForm) {
  const std::vector<std::size_t> degrees{3, 3, 3};
  const Graph graph = graph_of(fc({.switches = 200, .ports = 18, .hosts_per_switch = 0}, degrees));
  const auto nodes = first(200);
  const auto counts = count_updown_paths(graph, nodes, 20, 0, 2);
  EXPECT_NEAR(counts.all, 16.07, 0.16);  // published
  EXPECT_NEAR(counts.all, expected_updown_paths(200, degrees), 0.05 * counts.all);
}

/// Most paths of which no two share an arc, by trying all sets.
std::size_t most_disjoint(const std::vector<std::vector<Arc>>& paths, std::size_t from,
                          const std::set<Arc>& used) {
  std::size_t best = 0;
  for (std::size_t i = from; i < paths.size(); ++i) {
    if (std::any_of(paths[i].begin(), paths[i].end(), [&](Arc a) { return used.contains(a); }))
      continue;
    auto more = used;
    more.insert(paths[i].begin(), paths[i].end());
    best = std::max(best, 1 + most_disjoint(paths, i + 1, more));
  }
  return best;
}

TEST(EdgeDisjoint, AreAsManyAsCanBeAndShareNoArc) {
  const auto fabric = fc({.switches = 14, .ports = 6, .hosts_per_switch = 0}, {1, 1, 1});
  const Graph graph = graph_of(fabric);
  const auto nodes = first(14);
  const auto found = edge_disjoint_paths(graph, all_pairs(nodes), 2);
  double sum = 0;
  for (const SourcePaths& s : found) {
    for (std::size_t t = 0; t < s.targets.size(); ++t) {
      std::vector<std::vector<Arc>> allowed;
      for (const auto& path : every_path(graph, s.source, s.targets[t], 6))
        if (down_up_times(*fabric, path) == 0) allowed.push_back(path);
      EXPECT_EQ(s.first[t + 1] - s.first[t], most_disjoint(allowed, 0, {}));
      sum += s.first[t + 1] - s.first[t];
    }
    std::set<std::pair<std::size_t, Arc>> used;
    std::map<std::size_t, std::size_t> longest;  // so far, by target: the shortest comes first
    s.for_each([&](std::size_t t, std::span<const Arc> path) {
      EXPECT_GE(path.size(), longest[t]);
      longest[t] = path.size();
      EXPECT_EQ(turns_of(graph, path), 0);
      EXPECT_EQ(graph.tail(path.front()), s.source);
      EXPECT_EQ(graph.head(path.back()), s.targets[t]);
      for (const Arc a : path) EXPECT_TRUE(used.insert({t, a}).second);
    });
  }
  EXPECT_NEAR(edge_disjoint_count(graph, nodes, 1000, 1, 2), sum / 91, 1e-9);
}

/// Of sets of as many paths one that has the fewest links in all.
TEST(EdgeDisjoint, AreAsShortInAllAsSoManyCanBe) {
  const auto fabric = fc({.switches = 14, .ports = 6, .hosts_per_switch = 0}, {1, 1, 1});
  const Graph graph = graph_of(fabric);
  const std::function<std::size_t(const std::vector<std::vector<Arc>>&, std::size_t, std::size_t,
                                  const std::set<Arc>&)>
      fewest = [&](const auto& paths, std::size_t from, std::size_t count, const auto& used) {
        std::size_t best = count == 0 ? 0 : 1000;
        for (std::size_t i = from; i < paths.size() && count > 0; ++i) {
          auto more = used;
          if (!std::all_of(paths[i].begin(), paths[i].end(),
                           [&](Arc a) { return more.insert(a).second; }))
            continue;
          best = std::min(best, paths[i].size() + fewest(paths, i + 1, count - 1, more));
        }
        return best;
      };
  for (const SourcePaths& s : edge_disjoint_paths(graph, all_pairs(first(14)), 2)) {
    std::vector<std::size_t> links(s.targets.size());
    s.for_each([&](std::size_t t, std::span<const Arc> path) { links[t] += path.size(); });
    for (std::size_t t = 0; t < s.targets.size(); ++t) {
      std::vector<std::vector<Arc>> allowed;
      for (const auto& path : every_path(graph, s.source, s.targets[t], 6))
        if (down_up_times(*fabric, path) == 0) allowed.push_back(path);
      EXPECT_LE(links[t], fewest(allowed, 0, s.first[t + 1] - s.first[t], {}));
    }
  }
}

TEST(PathsToLookAt, IsKWhereEveryPathWillDo) {
  const Graph graph = graph_of(fcplus({.switches = 40, .ports = 10, .hosts_per_switch = 0}));
  const auto nodes = first(40);
  EXPECT_NEAR(paths_to_look_at(graph, nodes, 10, kAnyTurns, 2), 10, 1e-9);
  EXPECT_GT(paths_to_look_at(graph, nodes, 10, 1, 2), 10);
}

}  // namespace
}  // namespace lldp::lab
