// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/hash_index.hpp"
#include "base/text.hpp"
#include "lab/topology/complete.hpp"

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
  names.reserve(fabric.nodes.size());
  for (const Node& node : fabric.nodes) {
    const auto shown = [&] { return escape(node.name); };
    if (node.name.empty()) return fail(Error{0, "fabric", "a node has an empty name"});
    if (!names.insert(node.name).second) return fail(Error{0, shown(), "two nodes have this name"});
    if (node.role == Role::kHost && node.level && node.level->value() != 0)
      return fail(Error{0, shown(), fmt::format("a host on level {}", node.level->value())});
    if (node.role == Role::kSwitch && node.level && node.level->value() == 0)
      return fail(Error{0, shown(), "a switch on level 0, where only hosts are"});
  }
  return {};
}

Result<void> check_links(const Fabric& fabric, const PlaceOfLink& place_of) {
  HashIndex taken(2 * fabric.links.size());  // ends of links, by node and port
  for (std::size_t i = 0; i < fabric.links.size(); ++i) {
    const Link& link = fabric.links[i];
    if (link.loss_ppb >= 1'000'000'000)
      return fail(Error{0, fmt::format("links[{}]", i),
                        "an error rate of 1 or more: no frame would arrive: leave the link out"});
    for (std::size_t e = 0; e < 2; ++e) {
      const LinkEnd& end = link.ends[e];
      if (end.node >= fabric.nodes.size())
        return fail(Error{0, "fabric",
                          fmt::format("a link to node {} of {}", end.node, fabric.nodes.size())});
      const auto shown = [&] { return escape(fabric.nodes[end.node].name); };
      if (end.port.empty()) return fail(Error{0, shown(), "a link without a port name"});
      const auto other =
          taken.insert(std::hash<std::string_view>{}(end.port) + end.node * 0x9e37'79b9'7f4a'7c15U,
                       static_cast<std::uint32_t>(2 * i + e), [&](std::uint32_t n) {
                         const LinkEnd& taker = fabric.links[n / 2].ends[n % 2];
                         return taker.node == end.node && taker.port == end.port;
                       });
      if (!other) continue;
      const std::string port = fmt::format("{}:{}", shown(), escape(end.port));
      if (!place_of) return fail(Error{0, port, "two links on one port"});
      return fail(Error{0, place_of(i),
                        fmt::format("{} has a link already ({}): give each its own port", port,
                                    place_of(*other / 2))});
    }
  }
  return {};
}

struct HashOfChassis {
  std::size_t operator()(const ChassisId& id) const {
    return std::hash<std::string_view>{}(id.octets);
  }
};
using ChassisIds = std::unordered_set<ChassisId, HashOfChassis>;

Result<void> check_chassis(const Fabric& fabric) {
  ChassisIds seen;
  seen.reserve(fabric.nodes.size());
  for (const Node& node : fabric.nodes)
    if (!seen.insert(node.chassis).second)
      return fail(Error{0, escape(node.name),
                        fmt::format("chassis ID {} is another node's", to_string(node.chassis))});
  return {};
}

/// Levels and chassis IDs of nodes that have none.
void fill_in(Fabric& fabric) {
  const auto open = [](const Node& node) { return !node.level || node.chassis.octets.empty(); };
  if (std::ranges::none_of(fabric.nodes, open)) return;
  const auto distance = distances_to_hosts(fabric);
  ChassisIds given;
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

Result<Fabric> complete(Fabric fabric) { return complete(std::move(fabric), {}); }

Result<Fabric> complete(Fabric fabric, const PlaceOfLink& place_of) {
  if (auto ok = check_nodes(fabric); !ok) return fail(ok.error());
  if (auto ok = check_links(fabric, place_of); !ok) return fail(ok.error());
  fill_in(fabric);
  if (auto ok = check_chassis(fabric); !ok) return fail(ok.error());
  return fabric;
}

}  // namespace lldp::lab
