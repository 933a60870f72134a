// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/dot.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/topology/from_drawing.hpp"

namespace lldp::lab {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string to_dot(const Fabric& fabric) {
  std::string out = fmt::format("graph {} {{\n", quoted(fabric.name));
  for (const Node& node : fabric.nodes) {
    out += fmt::format("  {} [role={}", quoted(node.name),
                       node.role == Role::kHost ? "host" : "switch");
    if (node.level) out += fmt::format(", level={}", node.level->value());
    if (node.relays) out += ", relays=true";
    out += fmt::format(", chassis=\"{}\"]\n", to_string(node.chassis));
  }
  const auto end = [&](const LinkEnd& e) {
    return quoted(fabric.nodes[e.node].name) + ":" + quoted(e.port);
  };
  for (const Link& link : fabric.links)
    out += fmt::format("  {} -- {} [rate_bps={}, delay_ns={}]\n", end(link.ends[0]),
                       end(link.ends[1]), link.rate_bps, link.delay_ns);
  return out + "}\n";
}

Result<Fabric> fabric_from_dot(std::string_view text) {
  return fabric_from(cabling::read_dot(text));
}

}  // namespace lldp::lab
