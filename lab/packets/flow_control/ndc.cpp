// SPDX-License-Identifier: Apache-2.0
#include "lab/packets/flow_control/ndc.hpp"

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
    if (switch_[a]) n_ = std::max(n_, index_[a] + 1);
  }
}

bool has_relays(const Fabric& fabric) {
  return std::any_of(fabric.nodes.begin(), fabric.nodes.end(),
                     [](const Node& n) { return n.relays; });
}

Result<void> check_ndc(const Fabric& fabric, std::size_t queues) {
  const auto refuse = [](std::string what) {
    return fail(Error{0, "settings.flow_control", std::move(what)});
  };
  const auto links = adjacencies(fabric);
  std::size_t n = 0;
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i)
    if (fabric.nodes[i].role == Role::kSwitch) n = std::max(n, links[i].size());
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    const bool is_switch = fabric.nodes[i].role == Role::kSwitch;
    if (links[i].size() != (is_switch ? n : 2) || is_switch == fabric.nodes[i].relays)
      return refuse("for NDC(n, 1) alone: nodes of two ports that relay, switches of n");
  }
  for (const Link& l : fabric.links)
    if (fabric.nodes[l.ends[0].node].role == fabric.nodes[l.ends[1].node].role)
      return refuse("for NDC(n, 1) alone: nodes are cabled to switches");
  if (n < 2 || fabric.nodes.size() != n * n + 2 * n)
    return refuse("for NDC(n, 1) alone: n^2 nodes and 2 n switches");
  if (2 * (n - 1) + 2 > queues)
    return refuse(
        fmt::format("NDC({}, 1) needs {} queues a port, there are {}", n, 2 * (n - 1) + 2, queues));
  return {};
}

void give_way(const Fabric& fabric, lab::Flow& flow) {
  if (!flow.via.empty()) return;
  const auto links = adjacencies(fabric);
  const auto peers = [&](std::size_t node) {
    std::vector<std::size_t> all;
    for (const Adjacency& a : links[node]) all.push_back(a.peer);
    return all;
  };
  const auto to = peers(flow.to);
  std::vector<std::vector<std::size_t>> ways;
  for (const std::size_t first : peers(flow.from)) {
    if (std::find(to.begin(), to.end(), first) != to.end()) {
      flow.via = {first};
      return;
    }
    for (const std::size_t relay : peers(first)) {
      if (!fabric.nodes[relay].relays || relay == flow.from) continue;
      for (const std::size_t second : peers(relay))
        if (std::find(to.begin(), to.end(), second) != to.end())
          ways.push_back({first, relay, second});
    }
  }
  if (!ways.empty()) flow.via = ways[(flow.hash >> 1) % ways.size()];
}

}  // namespace lldp::lab::packets
