// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/dot.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "lab/topology/from_drawing.hpp"

namespace lldp::lab {
namespace {

/// What a terminal would obey is written as escape() does, which cabling::read_dot() reads.
/// Not `quoted`: for a std::string that would also name std::quoted where <iomanip> is included.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : escape(text)) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out + '"';
}

/// What not every link has; of its ends, in the order in which they are written.
std::string of_ends(const Link& link) {
  const auto& [a, b] = link.ends;
  const auto layer = [](const LinkEnd& e) {
    return e.layer ? std::to_string(e.layer->value()) : std::string();
  };
  const auto order = [](const LinkEnd& e) {
    return std::string(e.order ? to_string(*e.order) : std::string_view());
  };
  std::string out;
  if (link.loss_ppb != 0) out += fmt::format(", loss_ppb={}", link.loss_ppb);
  if (a.layer || b.layer) out += fmt::format(", layers=\"{}:{}\"", layer(a), layer(b));
  if (a.order || b.order) out += fmt::format(", orders=\"{}:{}\"", order(a), order(b));
  return out;
}

}  // namespace

std::string to_dot(const Fabric& fabric) {
  std::string out = fmt::format("graph {} {{\n", in_quotes(fabric.name));
  for (const Node& node : fabric.nodes) {
    out += fmt::format("  {} [role={}", in_quotes(node.name),
                       node.role == Role::kHost ? "host" : "switch");
    if (node.level) out += fmt::format(", level={}", node.level->value());
    if (node.relays) out += ", relays=true";
    out += fmt::format(", chassis=\"{}\"]\n", to_string(node.chassis));
  }
  const auto end = [&](const LinkEnd& e) {
    return in_quotes(fabric.nodes[e.node].name) + ":" + in_quotes(e.port);
  };
  for (const Link& link : fabric.links)
    out += fmt::format("  {} -- {} [rate_bps={}, delay_ns={}{}]\n", end(link.ends[0]),
                       end(link.ends[1]), link.rate_bps, link.delay_ns, of_ends(link));
  return out + "}\n";
}

Result<Fabric> fabric_from_dot(std::string_view text) {
  return fabric_from(cabling::read_dot(text));
}

}  // namespace lldp::lab
