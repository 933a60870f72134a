// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/fabric.hpp"

#include <fmt/format.h>

#include <deque>
#include <set>
#include <string_view>
#include <unordered_set>

#include "base/text.hpp"

namespace lldp::lab {
namespace {

MacAddress numbered(std::uint8_t first_octet, std::size_t n) {
  return {first_octet,
          0,
          static_cast<std::uint8_t>(n >> 24),
          static_cast<std::uint8_t>(n >> 16),
          static_cast<std::uint8_t>(n >> 8),
          static_cast<std::uint8_t>(n)};
}

Result<void> check_nodes(const Fabric& fabric) {
  std::unordered_set<std::string_view> names;
  for (const Node& node : fabric.nodes) {
    const std::string shown = escape(node.name);
    if (node.name.empty()) return fail(Error{0, "fabric", "a node has an empty name"});
    if (!names.insert(node.name).second) return fail(Error{0, shown, "two nodes have this name"});
    if (node.role == Role::kHost && node.level && node.level->value() != 0)
      return fail(Error{0, shown, fmt::format("a host on level {}", node.level->value())});
    if (node.role == Role::kSwitch && node.level && node.level->value() == 0)
      return fail(Error{0, shown, "a switch on level 0, where only hosts are"});
  }
  return {};
}

Result<void> check_links(const Fabric& fabric) {
  std::vector<std::unordered_set<std::string_view>> used(fabric.nodes.size());
  for (const Link& link : fabric.links) {
    if (link.loss_ppb >= 1'000'000'000)
      return fail(Error{0, fmt::format("links[{}]", &link - fabric.links.data()),
                        "an error rate of 1 or more: no frame would arrive: leave the link out"});
    for (const LinkEnd& end : link.ends) {
      if (end.node >= fabric.nodes.size())
        return fail(Error{0, "fabric",
                          fmt::format("a link to node {} of {}", end.node, fabric.nodes.size())});
      const std::string shown = escape(fabric.nodes[end.node].name);
      if (end.port.empty()) return fail(Error{0, shown, "a link without a port name"});
      if (!used[end.node].insert(end.port).second)
        return fail(
            Error{0, fmt::format("{}:{}", shown, escape(end.port)), "two links on one port"});
    }
  }
  return {};
}

Result<void> check_chassis(const Fabric& fabric) {
  std::set<ChassisId> seen;
  for (const Node& node : fabric.nodes)
    if (!seen.insert(node.chassis).second)
      return fail(Error{0, escape(node.name),
                        fmt::format("chassis ID {} is another node's", to_string(node.chassis))});
  return {};
}

}  // namespace

std::vector<std::vector<Adjacency>> adjacencies(const Fabric& fabric) {
  std::vector<std::vector<Adjacency>> of(fabric.nodes.size());
  for (std::size_t i = 0; i < fabric.links.size(); ++i) {
    const auto& ends = fabric.links[i].ends;
    for (std::size_t e = 0; e < 2; ++e) of[ends[e].node].push_back({i, e, ends[1 - e].node});
  }
  return of;
}

std::vector<std::optional<Level>> distances_to_hosts(const Fabric& fabric) {
  const auto links_of = adjacencies(fabric);
  std::vector<std::optional<Level>> distance(fabric.nodes.size());
  std::deque<std::size_t> next;
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    if (fabric.nodes[i].role != Role::kHost) continue;
    distance[i] = Level{};
    next.push_back(i);
  }
  for (; !next.empty(); next.pop_front()) {
    const auto one_more = Level::make(distance[next.front()]->value() + 1U);
    if (!one_more) continue;
    for (const Adjacency& a : links_of[next.front()]) {
      if (distance[a.peer]) continue;
      distance[a.peer] = one_more;
      next.push_back(a.peer);
    }
  }
  return distance;
}

std::optional<Position> position_of(const Node& node) {
  if (!node.level) return std::nullopt;
  return Position{*node.level, node.chassis};
}

Order true_order(const Fabric& fabric, const Link& link, std::size_t end) {
  return order_of_port(position_of(fabric.nodes[link.ends[end].node]),
                       position_of(fabric.nodes[link.ends[1 - end].node]));
}

PortType true_port_type(Role own_role, std::optional<Level> own, Role peer_role,
                        std::optional<Level> peer) {
  if (own_role == Role::kHost || !own || !peer) return PortType::kUnmarked;
  const int up = peer->value() - own->value();
  if (peer_role == Role::kHost || up == -1) return PortType::kDownlink;
  if (up == 1) return PortType::kUplink;
  return up == 0 ? PortType::kCrosslink : PortType::kUnmarked;
}

PortType true_port_type(const Fabric& fabric, const Link& link, std::size_t end) {
  const Node& own = fabric.nodes[link.ends[end].node];
  const Node& peer = fabric.nodes[link.ends[1 - end].node];
  if (&own == &peer) return PortType::kUnmarked;
  return true_port_type(own.role, own.level, peer.role, peer.level);
}

MacAddress port_address(std::size_t link, std::size_t end) {
  return numbered(0x06, 2 * link + end);
}

Result<Fabric> complete(Fabric fabric) {
  if (auto ok = check_nodes(fabric); !ok) return fail(ok.error());
  if (auto ok = check_links(fabric); !ok) return fail(ok.error());
  const auto distance = distances_to_hosts(fabric);
  std::set<ChassisId> given;
  for (const Node& node : fabric.nodes)
    if (!node.chassis.octets.empty()) given.insert(node.chassis);
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    Node& node = fabric.nodes[i];
    if (!node.level) node.level = distance[i];
    if (!node.chassis.octets.empty()) continue;
    std::size_t number = i + 1;
    do {
      node.chassis = chassis_id_from_mac(numbered(0x02, number));
      number += fabric.nodes.size();
    } while (!given.insert(node.chassis).second);
  }
  if (auto ok = check_chassis(fabric); !ok) return fail(ok.error());
  return fabric;
}

}  // namespace lldp::lab
