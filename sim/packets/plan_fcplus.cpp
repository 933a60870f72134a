// SPDX-License-Identifier: Apache-2.0
// FC+ as its paper routes it: shortest paths that turn once at most, for which two lossless
// priorities are enough ("FC+: Near-optimal Deadlock-free Expander Data Center Networks").
#include <utility>

#include "lab/des/random.hpp"
#include "lab/routing/shortest_paths.hpp"
#include "lab/topology/expanders.hpp"
#include "sim/packets/plan.hpp"

namespace lldp::lab::packets {
namespace {

constexpr PathChoice kPaths{.paths = 32, .max_turns = 1, .seed = 1};

}  // namespace

Result<Plan> plan_of_fcplus() {
  auto fabric = fcplus({.switches = 40, .ports = 12, .hosts_per_switch = 4});
  if (!fabric) return fail(fabric.error());
  Plan plan{.name = "fcplus", .fabric = std::move(*fabric)};
  plan.failed.resize(plan.fabric.links.size());
  const Graph graph = Graph::of(plan.fabric);
  std::vector<std::vector<std::size_t>> hosts(plan.fabric.nodes.size());  // by switch
  for (const Link& link : plan.fabric.links)
    for (const std::size_t end : {0U, 1U})
      if (plan.fabric.nodes[link.ends[end].node].role == Role::kHost)
        hosts[link.ends[1 - end].node].push_back(link.ends[end].node);
  // A permutation of the switches: the hosts of each send to those of the next.
  std::vector<std::uint32_t> ring;
  for (std::uint32_t node = 0; node < hosts.size(); ++node)
    if (!hosts[node].empty()) ring.push_back(node);
  Random random(1);
  for (std::size_t i = ring.size(); i > 1; --i) std::swap(ring[i - 1], ring[random.below(i)]);
  std::vector<Demand> demands;
  for (std::size_t i = 0; i < ring.size(); ++i)
    demands.push_back({ring[i], {ring[(i + 1) % ring.size()]}});
  for (const SourcePaths& source : shortest_paths(graph, demands, kPaths, 1)) {
    std::vector<std::vector<std::size_t>> ways;
    source.for_each([&](std::size_t, std::span<const Arc> arcs) {
      ways.push_back({source.source});
      for (const Arc arc : arcs) ways.back().push_back(graph.head(arc));
    });
    const auto& from = hosts[source.source];
    const auto& to = hosts[source.targets.front()];
    for (std::size_t i = 0; i < from.size(); ++i) {
      lab::FlowPath way{.name = plan.fabric.nodes[from[i]].name,
                        .from = from[i],
                        .to = to[i],
                        .via = ways[i * ways.size() / from.size()]};
      plan.flows.push_back({.way = way});
    }
  }
  return plan;
}

}  // namespace lldp::lab::packets
