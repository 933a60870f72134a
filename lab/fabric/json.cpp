// SPDX-License-Identifier: Apache-2.0
#include "lab/fabric/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/text.hpp"

namespace lldp::lab {
namespace {

using nlohmann::ordered_json;
using Json = nlohmann::json;

auto refuse(std::string where, std::string what) {
  return fail(Error{0, std::move(where), std::move(what)});
}

/// A node's id as a name: networkx makes numbers of its own graphs' nodes.
std::optional<std::string> name_of(const Json& id) {
  if (id.is_string()) return id.get<std::string>();
  if (id.is_number_integer()) return id.dump();
  return std::nullopt;
}

const Json* find(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

Result<Node> read_node(const Json& j) {
  if (!j.is_object()) return refuse("nodes", "an entry is not an object");
  const Json* id = find(j, "id");
  const auto name = id ? name_of(*id) : std::nullopt;
  if (!name) return refuse("nodes", "an entry has no id (a string or a whole number)");
  Node node{.name = *name};
  const std::string shown = escape(*name);
  if (const Json* level = find(j, "level")) {
    node.level =
        level->is_number_unsigned() ? Level::make(level->get<std::uint64_t>()) : std::nullopt;
    if (!node.level) return refuse(shown, "level is not a whole number from 0 to 254");
  }
  if (const Json* role = find(j, "role")) {
    if (*role != "host" && *role != "switch") return refuse(shown, "role is not host or switch");
    node.role = *role == "host" ? core::Role::kHost : core::Role::kSwitch;
  } else if (node.level && node.level->value() == 0) {
    node.role = core::Role::kHost;
  }
  if (const Json* chassis = find(j, "chassis")) {
    const auto mac = chassis->is_string() ? parse_mac(chassis->get<std::string>()) : std::nullopt;
    if (!mac) return refuse(shown, "chassis is not a MAC address");
    node.chassis = chassis_id_from_mac(*mac);
  }
  return node;
}

Result<void> read_number(const Json& j, const char* key, std::uint64_t& into) {
  const Json* value = find(j, key);
  if (value == nullptr) return {};
  if (!value->is_number_unsigned())
    return refuse("links", fmt::format("{} is not a whole number", key));
  into = value->get<std::uint64_t>();
  return {};
}

using Index = std::unordered_map<std::string, std::size_t>;

Result<Link> read_link(const Json& j, const Index& index) {
  if (!j.is_object()) return refuse("links", "an entry is not an object");
  const Json* ports = find(j, "ports");
  const Json* layers = find(j, "layers");
  Link link;
  const char* keys[] = {"source", "target"};
  for (std::size_t e = 0; e < 2; ++e) {
    const Json* id = find(j, keys[e]);
    const auto name = id ? name_of(*id) : std::nullopt;
    if (!name) return refuse("links", fmt::format("an entry has no {}", keys[e]));
    const auto node = index.find(*name);
    if (node == index.end())
      return refuse("links", fmt::format("{} {} is no node", keys[e], escape(*name)));
    const Json* port = ports && ports->is_object() ? find(*ports, name->c_str()) : nullptr;
    if (!port || !port->is_string())
      return refuse("links", fmt::format("the port on {} is not in ports", escape(*name)));
    link.ends[e] = {node->second, port->get<std::string>()};
    if (const Json* n = layers && layers->is_object() ? find(*layers, name->c_str()) : nullptr) {
      link.ends[e].layer =
          n->is_number_unsigned() ? qos::Layer::make(n->get<std::uint64_t>()) : std::nullopt;
      if (!link.ends[e].layer)
        return refuse("links", fmt::format("the layer on {} is not a whole number from 0 to {}",
                                           escape(*name), qos::Layer::kMax));
    }
  }
  if (auto ok = read_number(j, "rate_bps", link.rate_bps); !ok) return fail(ok.error());
  if (auto ok = read_number(j, "delay_ns", link.delay_ns); !ok) return fail(ok.error());
  return link;
}

}  // namespace

std::string to_json(const Fabric& fabric) {
  ordered_json nodes = ordered_json::array();
  for (const Node& node : fabric.nodes) {
    nodes.push_back({{"id", node.name},
                     {"role", node.role == core::Role::kHost ? "host" : "switch"},
                     {"level", nullptr},
                     {"chassis", to_string(node.chassis)},
                     {"ports", ordered_json::array()}});
    if (node.level) nodes.back()["level"] = node.level->value();
  }
  ordered_json links = ordered_json::array();
  for (const Link& link : fabric.links) {
    ordered_json ports = ordered_json::object();
    ordered_json layers = ordered_json::object();
    for (const LinkEnd& end : link.ends) {
      ports[fabric.nodes[end.node].name] = end.port;
      if (end.layer) layers[fabric.nodes[end.node].name] = end.layer->value();
      nodes[end.node]["ports"].push_back(end.port);
    }
    links.push_back({{"source", fabric.nodes[link.ends[0].node].name},
                     {"target", fabric.nodes[link.ends[1].node].name},
                     {"ports", std::move(ports)},
                     {"rate_bps", link.rate_bps},
                     {"delay_ns", link.delay_ns}});
    if (!layers.empty()) links.back()["layers"] = std::move(layers);
  }
  // One node or link a line: a person can read it, and a diff shows what changed.
  const auto lines = [](const ordered_json& list) {
    std::string out;
    for (const auto& entry : list) {
      out += out.empty() ? "\n  " : ",\n  ";
      out += entry.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    return out;
  };
  return fmt::format(
      "{{\"directed\": false, \"multigraph\": true, \"graph\": {},\n\"nodes\": [{}\n],\n"
      "\"links\": [{}\n]}}\n",
      ordered_json{{"name", fabric.name}}.dump(-1, ' ', false, Json::error_handler_t::replace),
      lines(nodes), lines(links));
}

Result<Fabric> fabric_from_json(std::string_view text) {
  const Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded()) return refuse("fabric", "not JSON");
  if (!j.is_object()) return refuse("fabric", "not a node-link object");
  Fabric fabric;
  if (const Json* graph = find(j, "graph"); graph && graph->is_object())
    if (const Json* name = find(*graph, "name"); name && name->is_string())
      fabric.name = name->get<std::string>();
  const Json* nodes = find(j, "nodes");
  const Json* links = find(j, "links");
  if (!links) links = find(j, "edges");
  if (!nodes || !nodes->is_array()) return refuse("fabric", "no list of nodes");
  if (!links || !links->is_array()) return refuse("fabric", "no list of links");
  Index index;
  for (const Json& entry : *nodes) {
    auto node = read_node(entry);
    if (!node) return fail(node.error());
    index.emplace(node->name, fabric.nodes.size());
    fabric.nodes.push_back(std::move(*node));
  }
  for (const Json& entry : *links) {
    auto link = read_link(entry, index);
    if (!link) return fail(link.error());
    fabric.links.push_back(std::move(*link));
  }
  return complete(std::move(fabric));
}

}  // namespace lldp::lab
