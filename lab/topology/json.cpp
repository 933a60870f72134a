// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lab/topology/from_drawing.hpp"

namespace lldp::lab {
namespace {

using nlohmann::ordered_json;
constexpr auto kReplace = ordered_json::error_handler_t::replace;

}  // namespace

std::string to_json(const Fabric& fabric) {
  ordered_json nodes = ordered_json::array();
  for (const Node& node : fabric.nodes) {
    nodes.push_back({{"id", node.name},
                     {"role", node.role == Role::kHost ? "host" : "switch"},
                     {"level", nullptr},
                     {"chassis", to_string(node.chassis)},
                     {"ports", ordered_json::array()}});
    if (node.level) nodes.back()["level"] = node.level->value();
    if (node.relays) nodes.back()["relays"] = true;
  }
  ordered_json links = ordered_json::array();
  for (const Link& link : fabric.links) {
    ordered_json ports = ordered_json::object();
    ordered_json layers = ordered_json::object();
    ordered_json orders = ordered_json::object();
    ordered_json aliases = ordered_json::object();
    const bool loop = link.ends[0].node == link.ends[1].node;
    for (std::size_t e = 0; e < 2; ++e) {
      const LinkEnd& end = link.ends[e];
      const std::string& name = fabric.nodes[end.node].name;
      const auto set = [&](ordered_json& all, ordered_json value) {
        if (!loop)
          all[name] = std::move(value);
        else if (ordered_json& both = all[name]; both.is_null())  // one name for both ends
          (both = ordered_json::array({nullptr, nullptr}))[e] = std::move(value);
        else
          both[e] = std::move(value);
      };
      set(ports, end.port);
      if (end.layer) set(layers, end.layer->value());
      if (end.order) set(orders, to_string(*end.order));
      if (!end.aliases.empty()) set(aliases, end.aliases);
      nodes[end.node]["ports"].push_back(end.port);
    }
    links.push_back({{"source", fabric.nodes[link.ends[0].node].name},
                     {"target", fabric.nodes[link.ends[1].node].name},
                     {"ports", std::move(ports)},
                     {"rate_bps", link.rate_bps},
                     {"delay_ns", link.delay_ns}});
    if (link.loss_ppb != 0) links.back()["loss_ppb"] = link.loss_ppb;
    if (!layers.empty()) links.back()["layers"] = std::move(layers);
    if (!orders.empty()) links.back()["orders"] = std::move(orders);
    if (!aliases.empty()) links.back()["aliases"] = std::move(aliases);
  }
  // One node or link a line: a person can read it, and a diff shows what changed.
  const auto lines = [](const ordered_json& list) {
    std::string out;
    for (const auto& entry : list) {
      out += out.empty() ? "\n  " : ",\n  ";
      out += entry.dump(-1, ' ', false, kReplace);
    }
    return out;
  };
  return fmt::format(
      "{{\"directed\": false, \"multigraph\": true, \"graph\": {},\n\"nodes\": [{}\n],\n"
      "\"links\": [{}\n]}}\n",
      ordered_json{{"name", fabric.name}}.dump(-1, ' ', false, kReplace), lines(nodes),
      lines(links));
}

Result<Fabric> fabric_from_json(std::string_view text) {
  return fabric_from(cabling::read_json(text));
}

}  // namespace lldp::lab
