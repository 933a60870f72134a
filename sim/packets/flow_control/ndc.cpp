// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/flow_control/ndc.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lldp::lab::packets {

NdcMap::NdcMap(const Network& network)
    : switch_(network.arcs()), index_(network.arcs()), ports_(network.buffers.size()) {
  for (Arc a = 0; a < network.arcs(); ++a) {
    auto& own = ports_[network.ports[a].node];
    index_[a] = static_cast<std::uint32_t>(own.size());
    own.push_back(a);
    switch_[a] = !network.ports[a].relays;
    if (switch_[a])
      n_ = std::max(n_, index_[a] + 1);
    else
      k_ = std::max(k_, index_[a]);
  }
}

bool has_relays(const Fabric& fabric) {
  return std::any_of(fabric.nodes.begin(), fabric.nodes.end(),
                     [](const Node& n) { return n.relays; });
}

Result<void> check_ndc(const Fabric& fabric, std::size_t queues, std::size_t most_k) {
  const auto refuse = [](std::string what) {
    return fail(Error{0, "settings.flow_control", std::move(what)});
  };
  const auto links = adjacencies(fabric);
  std::size_t n = 0;
  std::size_t ports = 0;  // of a node
  std::size_t switches = 0;
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    const bool is_switch = fabric.nodes[i].role == Role::kSwitch;
    switches += is_switch ? 1U : 0U;
    (is_switch ? n : ports) = std::max(is_switch ? n : ports, links[i].size());
  }
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    const bool is_switch = fabric.nodes[i].role == Role::kSwitch;
    if (links[i].size() != (is_switch ? n : ports) || is_switch == fabric.nodes[i].relays)
      return refuse("for NDC(n, 1) alone: nodes of two ports that relay, switches of n");
  }
  for (const Link& l : fabric.links)
    if (fabric.nodes[l.ends[0].node].role == fabric.nodes[l.ends[1].node].role)
      return refuse("for NDC(n, 1) alone: nodes are cabled to switches");
  const std::size_t k = ports - std::min<std::size_t>(ports, 1);
  if (k > most_k)
    return refuse(
        fmt::format("for NDC(n, 1) alone: nodes have {} ports, and nothing stops what is relayed "
                    "from one node to another that relays it again",
                    ports));
  std::size_t per_layer = 1;
  for (std::size_t i = 0; i < k && per_layer <= fabric.nodes.size(); ++i) per_layer *= n;
  if (n < 2 || k < 1 || switches != (k + 1) * per_layer ||
      fabric.nodes.size() - switches != n * per_layer)
    return refuse("for NDC(n, 1) alone: n^2 nodes and 2 n switches");
  const std::size_t needed = (k + 1) * (n - 1) + 2;
  if (needed > queues)
    return refuse(
        fmt::format("NDC({}, {}) needs {} queues a port, there are {}", n, k, needed, queues));
  return {};
}

std::vector<std::vector<std::size_t>> ndc_ways(const Fabric& fabric,
                                               const std::vector<std::vector<Adjacency>>& links,
                                               std::size_t from, std::size_t to) {
  const auto at_goal = [&](std::size_t device) {
    return std::any_of(links[to].begin(), links[to].end(),
                       [&](const Adjacency& a) { return a.peer == device; });
  };
  std::vector<std::vector<std::size_t>> ways;
  for (const Adjacency& first : links[from]) {
    if (at_goal(first.peer)) return {{first.peer}};
    for (const Adjacency& relay : links[first.peer]) {
      if (!fabric.nodes[relay.peer].relays || relay.peer == from) continue;
      for (const Adjacency& second : links[relay.peer])
        if (at_goal(second.peer)) ways.push_back({first.peer, relay.peer, second.peer});
    }
  }
  return ways;
}

void give_way(const Fabric& fabric, const std::vector<std::vector<Adjacency>>& links,
              lab::FlowPath& flow) {
  if (!flow.via.empty()) return;
  const auto ways = ndc_ways(fabric, links, flow.from, flow.to);
  if (!ways.empty()) flow.via = ways[(flow.hash >> 1) % ways.size()];
}

}  // namespace lldp::lab::packets
