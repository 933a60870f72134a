// SPDX-License-Identifier: Apache-2.0
#include "sim/flow/throughput.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "lab/topology/expanders.hpp"
#include "lab/topology/generators.hpp"
#ifdef LLDP_WITH_CLP
#include <coin/Clp_C_Interface.h>
#endif

namespace lldp::lab {
namespace {

struct Case {
  Graph graph;
  std::vector<Sender> senders{};
};

Case expander(std::size_t switches, std::size_t ports, double hosts) {
  const auto fabric = fcplus({.switches = switches, .ports = ports, .hosts_per_switch = 0});
  EXPECT_TRUE(fabric) << to_string(fabric.error());
  Case c{Graph::of(*fabric)};
  for (std::uint32_t i = 0; i < switches; ++i) c.senders.push_back({i, hosts});
  return c;
}

std::vector<SourcePaths> paths_for(const Case& c, const std::vector<TrafficMatrix>& traffic,
                                   std::size_t turns) {
  return shortest_paths(c.graph, pairs_of(c.graph, traffic), {.paths = 8, .max_turns = turns}, 2);
}

TEST(TrafficMatrix, SendsWhatTheHostsCan) {
  const Case c = expander(16, 6, 3);
  for (const auto& traffic : {all_to_all(c.senders), uniform_random(c.senders, 0.125, 1),
                              near_worst(c.graph, c.senders, 1, 2)}) {
    std::map<std::uint32_t, double> sent;
    for (const TrafficMatrix& t : traffic) {
      EXPECT_NE(t.from, t.to);
      sent[t.from] += t.amount;
    }
    ASSERT_EQ(sent.size(), 16);
    for (const auto& [node, amount] : sent) EXPECT_NEAR(amount, 3, 1e-9);
  }
  EXPECT_EQ(uniform_random(c.senders, 0.125, 1).size(), 16 * 2);
}

/// The greatest sum of hops by which each sends to one and gets from one: of every set of
/// receivers, the most that as many first senders can make of it.
std::size_t furthest_matching(const std::vector<std::vector<std::uint16_t>>& hops) {
  std::vector<std::optional<std::size_t>> most(std::size_t{1} << hops.size());
  most[0] = 0;
  for (std::size_t set = 0; set < most.size(); ++set) {
    if (!most[set]) continue;
    const auto sender = static_cast<std::size_t>(std::popcount(set));
    for (std::size_t to = 0; to < hops.size(); ++to) {
      if (to == sender || (set >> to & 1) != 0) continue;
      auto& more = most[set | std::size_t{1} << to];
      more = std::max(more.value_or(0), *most[set] + hops[sender][to]);
    }
  }
  return most.back().value();
}
std::size_t hops_of(const Graph& graph, const std::vector<TrafficMatrix>& traffic) {
  std::size_t sum = 0;
  for (const TrafficMatrix& t : traffic) sum += graph.distances(std::span(&t.from, 1))[t.to];
  return sum;
}

Graph graph_of(const std::vector<std::pair<std::size_t, std::size_t>>& pairs, std::size_t nodes) {
  Fabric fabric;
  for (std::size_t i = 0; i < nodes; ++i)
    fabric.nodes.push_back({.name = std::to_string(i), .role = Role::kSwitch});
  for (const auto& [a, b] : pairs)
    fabric.links.push_back(
        {.ends = {LinkEnd{a, std::to_string(b)}, LinkEnd{b, std::to_string(a)}}});
  return Graph::of(fabric);
}

TEST(TrafficMatrix, NearWorstIsAsFarAsCanBe) {
  std::mt19937 chance(1);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    // By turns expanders, and trees, some with a link more, whose ways are of all lengths, and
    // where not all may send.
    std::size_t nodes = 8;
    Graph graph =
        Graph::of(*jellyfish({.switches = nodes, .ports = 4, .hosts_per_switch = 0, .seed = seed}));
    if (seed % 4 != 0) {
      nodes = 3 + chance() % 30;
      std::set<std::pair<std::size_t, std::size_t>> pairs;
      for (std::size_t i = 1; i < nodes; ++i)
        pairs.emplace(i - 1 - chance() % std::min<std::size_t>(i, seed % 4), i);
      if (seed % 2 == 0) pairs.emplace(0, nodes - 1);
      graph = graph_of({pairs.begin(), pairs.end()}, nodes);
    }
    std::vector<Sender> senders;
    for (std::uint32_t i = 0; i < nodes; ++i) senders.push_back({i, 1});
    std::shuffle(senders.begin(), senders.end(), chance);
    senders.resize(std::min<std::size_t>(nodes, 2 + chance() % 8));
    std::vector<std::vector<std::uint16_t>> hops;
    for (const Sender& from : senders) {
      const auto all = graph.distances(std::span(&from.node, 1));
      for (auto& row = hops.emplace_back(); const Sender& to : senders) row.push_back(all[to.node]);
    }
    std::set<std::uint32_t> received;
    const auto traffic = near_worst(graph, senders, seed, 1);
    for (const TrafficMatrix& t : traffic) EXPECT_TRUE(received.insert(t.to).second) << seed;
    EXPECT_EQ(received.size(), senders.size()) << seed;
    EXPECT_EQ(hops_of(graph, traffic), furthest_matching(hops)) << seed;
  }
}

// In a star or a line as much way is made where somebody stays at home: that is no traffic.
TEST(TrafficMatrix, NearWorstSendsNobodyToItself) {
  const Graph star = graph_of({{0, 1}, {0, 2}, {0, 3}}, 4);
  const Graph line = graph_of({{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 5);
  for (const Graph* graph : {&star, &line}) {
    std::vector<Sender> senders;
    for (std::uint32_t i = 0; i < graph->nodes(); ++i) senders.push_back({i, 1});
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      for (const TrafficMatrix& t : near_worst(*graph, senders, seed, 1))
        EXPECT_NE(t.from, t.to) << seed;
  }
}

TEST(TrafficMatrix, CountsTheHostsOfASwitchByTheirRate) {
  auto fabric = clos({.switches = {2, 2}, .pods = {}, .hosts = 4});
  ASSERT_TRUE(fabric);
  const auto senders = senders_of(*fabric);
  ASSERT_EQ(senders.size(), 2);
  EXPECT_DOUBLE_EQ(senders[0].amount, 2);
}

TEST(Throughput, OfAClosIsItsOversubscription) {
  // Four hosts and two uplinks a leaf.
  const auto fabric = clos({.switches = {4, 2}, .pods = {}, .hosts = 16});
  ASSERT_TRUE(fabric);
  const Case c{Graph::of(*fabric), senders_of(*fabric)};
  for (const auto& traffic : {all_to_all(c.senders), near_worst(c.graph, c.senders, 1, 1)}) {
    const auto result = throughput(c.graph, paths_for(c, traffic, 0), traffic, {.gap = 0.001}, 1);
    EXPECT_LE(result.gap(), 0.001);
    EXPECT_NEAR(result.lower, 0.5, 0.001);
    EXPECT_NEAR(throughput_bound(c.graph, traffic), 0.5, 1e-9);
  }
}

TEST(Throughput, IsNothingWhereAPairHasNoPath) {
  const Case c = expander(16, 6, 1);
  const auto traffic = all_to_all(c.senders);
  auto paths = paths_for(c, traffic, 1);
  paths[0].targets.pop_back();
  paths[0].first.pop_back();
  const auto result = throughput(c.graph, paths, traffic, {}, 1);
  EXPECT_EQ(result.without, 2);
  EXPECT_EQ(result.lower, 0);
}

TEST(Throughput, DoesNotDependOnTheThreads) {
  const Case c = expander(80, 10, 4);
  const auto traffic = all_to_all(c.senders);
  const auto paths =
      shortest_paths(c.graph, pairs_of(c.graph, traffic), {.paths = 40, .max_turns = 1}, 2);
  const auto one = throughput(c.graph, paths, traffic, {.gap = 0.05}, 1);
  const auto three = throughput(c.graph, paths, traffic, {.gap = 0.05}, 3);
  EXPECT_EQ(one.lower, three.lower);
  EXPECT_EQ(one.upper, three.upper);
}

TEST(Rates, CountOnlyBetweenSwitches) {
  Fabric fabric = *fat_tree(4);
  EXPECT_TRUE(has_one_rate(fabric));
  const auto is_host = [&](const LinkEnd& e) { return fabric.nodes[e.node].role == Role::kHost; };
  for (Link& link : fabric.links)
    if (is_host(link.ends[0]) || is_host(link.ends[1])) link.rate_bps = 25'000'000'000;
  EXPECT_TRUE(has_one_rate(fabric));
  for (Link& link : fabric.links) link.rate_bps = 25'000'000'000;
  EXPECT_TRUE(has_one_rate(fabric));
  for (Link& link : fabric.links)
    if (!is_host(link.ends[0]) && !is_host(link.ends[1])) {
      link.rate_bps = 100'000'000'000;
      break;
    }
  EXPECT_FALSE(has_one_rate(fabric));
}

#ifdef LLDP_WITH_CLP
/// The same by linear programming: most theta such that flows of theta times the traffic fit.
double by_simplex(const Graph& graph, const std::vector<SourcePaths>& paths,
                  const std::vector<TrafficMatrix>& traffic) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> row_of;
  for (const TrafficMatrix& t : traffic)
    row_of.emplace(std::pair{t.from, t.to}, static_cast<int>(row_of.size()));
  const int pairs = static_cast<int>(row_of.size());
  std::vector<CoinBigIndex> start{0};
  std::vector<int> index;
  std::vector<double> value;
  for (const TrafficMatrix& t : traffic) {  // column 0: theta
    index.push_back(row_of.at({t.from, t.to}));
    value.push_back(-t.amount);
  }
  start.push_back(static_cast<CoinBigIndex>(index.size()));
  for (const SourcePaths& s : paths)
    s.for_each([&](std::size_t t, std::span<const Arc> path) {
      for (const bool back : {false, true}) {
        const auto ends =
            back ? std::pair{s.targets[t], s.source} : std::pair{s.source, s.targets[t]};
        const auto row = row_of.find(ends);
        if (row == row_of.end()) continue;
        index.push_back(row->second);
        for (const Arc a : path) index.push_back(pairs + static_cast<int>(back ? reversed(a) : a));
        value.resize(index.size(), 1);
        start.push_back(static_cast<CoinBigIndex>(index.size()));
      }
    });
  const int columns = static_cast<int>(start.size()) - 1;
  const int rows = pairs + static_cast<int>(graph.arcs());
  std::vector<double> objective(static_cast<std::size_t>(columns));
  objective[0] = -1;
  std::vector<double> row_low(static_cast<std::size_t>(rows), -1e300);
  std::vector<double> row_high(static_cast<std::size_t>(rows), 1);
  for (std::size_t r = 0; r < static_cast<std::size_t>(pairs); ++r) row_low[r] = row_high[r] = 0;
  Clp_Simplex* model = Clp_newModel();
  Clp_setLogLevel(model, 0);
  Clp_loadProblem(model, columns, rows, start.data(), index.data(), value.data(), nullptr, nullptr,
                  objective.data(), row_low.data(), row_high.data());
  Clp_dual(model, 0);
  const double theta = -Clp_objectiveValue(model);
  Clp_deleteModel(model);
  return theta;
}

TEST(Throughput, IsBetweenItsBoundsByLinearProgramming) {
  for (const std::size_t turns : {std::size_t{1}, std::size_t{2}}) {
    const Case c = expander(24, 6, 3);
    for (const auto& traffic : {all_to_all(c.senders), uniform_random(c.senders, 0.125, 2),
                                near_worst(c.graph, c.senders, 3, 1)}) {
      const auto paths = paths_for(c, traffic, turns);
      const double best = by_simplex(c.graph, paths, traffic);
      const auto result = throughput(c.graph, paths, traffic, {.gap = 0.01}, 2);
      EXPECT_LE(result.gap(), 0.01);
      EXPECT_LE(result.lower, best * (1 + 1e-6));
      EXPECT_GE(result.upper, best * (1 - 1e-6));
      EXPECT_GE(throughput_bound(c.graph, traffic), best * (1 - 1e-6));
    }
  }
}
#endif

}  // namespace
}  // namespace lldp::lab
