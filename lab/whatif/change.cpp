// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif/change.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace lldp::lab::whatif {
namespace {

auto refuse(std::string_view text, std::string what) {
  return fail(Error{0, escape(text), std::move(what)});
}

/// `A-B`, where names may hold hyphens: whatever split gives two nodes.
Result<std::pair<std::size_t, std::size_t>> pair_from(const Fabric& fabric, std::string_view text) {
  const auto node = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find_if(fabric.nodes.begin(), fabric.nodes.end(),
                                                 [&](const Node& n) { return n.name == name; }) -
                                    fabric.nodes.begin());
  };
  for (std::size_t at = text.find('-'); at != std::string_view::npos; at = text.find('-', at + 1)) {
    const std::size_t a = node(text.substr(0, at));
    const std::size_t b = node(text.substr(at + 1));
    if (a < fabric.nodes.size() && b < fabric.nodes.size() && a != b) return std::pair(a, b);
  }
  return refuse(text, "name two nodes of the fabric, as `leaf1-spine2`");
}

bool joins(const Link& l, std::size_t a, std::size_t b) {
  return std::minmax(l.ends[0].node, l.ends[1].node) == std::minmax(a, b);
}

std::string free_port(const Fabric& fabric, std::size_t node) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(fabric.links.begin(), fabric.links.end(), [&](const Link& l) {
      return (l.ends[0].node == node && l.ends[0].port == name) ||
             (l.ends[1].node == node && l.ends[1].port == name);
    });
  };
  for (std::size_t n = 1;; ++n)
    if (std::string name = fmt::format("new{}", n); !taken(name)) return name;
}

}  // namespace

Result<FabricChange> change_from(const Fabric& fabric, std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::string_view verb = text.substr(0, space);
  const std::string_view what = space == std::string_view::npos ? "" : text.substr(space + 1);
  FabricChange change{.text = std::string(text)};
  if (verb == "drain") {
    const auto at = std::find_if(fabric.nodes.begin(), fabric.nodes.end(),
                                 [&](const Node& n) { return n.name == what; });
    if (at == fabric.nodes.end() || at->role != Role::kSwitch)
      return refuse(text, "the fabric has no such switch");
    change.a = static_cast<std::size_t>(at - fabric.nodes.begin());
    return change;
  }
  if (verb != "add" && verb != "remove")
    return refuse(text, "say `drain NODE`, `add A-B` or `remove A-B`");
  const auto nodes = pair_from(fabric, what);
  if (!nodes) return fail(nodes.error());
  change.kind = verb == "add" ? FabricChange::Kind::kAdd : FabricChange::Kind::kRemove;
  std::tie(change.a, change.b) = *nodes;
  if (change.kind == FabricChange::Kind::kRemove &&
      std::none_of(fabric.links.begin(), fabric.links.end(),
                   [&](const Link& l) { return joins(l, change.a, change.b); }))
    return refuse(text, "the fabric has no such link");
  return change;
}

Result<Fabric> changed(Fabric fabric, const std::vector<FabricChange>& changes) {
  for (const FabricChange& c : changes) {
    switch (c.kind) {
      case FabricChange::Kind::kDrain:
        std::erase_if(fabric.links, [&](const Link& l) {
          return l.ends[0].node == c.a || l.ends[1].node == c.a;
        });
        break;
      case FabricChange::Kind::kRemove:
        std::erase_if(fabric.links, [&](const Link& l) { return joins(l, c.a, c.b); });
        break;
      case FabricChange::Kind::kAdd: {
        Link link;
        link.ends[0] = {c.a, free_port(fabric, c.a)};
        link.ends[1] = {c.b, free_port(fabric, c.b)};
        fabric.links.push_back(std::move(link));
        break;
      }
    }
  }
  return complete(std::move(fabric));
}

}  // namespace lldp::lab::whatif
