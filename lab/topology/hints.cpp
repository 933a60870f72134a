// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace lldp::lab {

Result<Fabric> with_hints(Fabric fabric, const Hints& hints) {
  if (hints.hosts.empty() && hints.levels.empty()) return fabric;
  const auto before = distances_to_hosts(fabric);
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n)
    if (fabric.nodes[n].level == before[n]) fabric.nodes[n].level.reset();
  for (const std::string& glob : hints.hosts) {
    bool found = false;
    for (Node& node : fabric.nodes) {
      if (!glob_match(glob, node.name)) continue;
      found = true;
      node.role = Role::kHost;
      node.level.reset();
    }
    if (!found)
      return fail(Error{0, "--hosts", fmt::format("no node has a name like `{}`", escape(glob))});
  }
  for (const std::string& hint : hints.levels) {
    const auto equals = hint.rfind('=');
    unsigned number = 0;
    const char* const end = hint.data() + hint.size();
    const bool whole = equals != hint.npos && equals + 1 < hint.size() &&
                       std::from_chars(hint.data() + equals + 1, end, number).ptr == end;
    if (!whole || number == 0 || !Level::make(number))
      return fail(
          Error{0, "--level", fmt::format("`{}`: give NODE=N, N from 1 to 254", escape(hint))});
    const std::string glob = hint.substr(0, equals);
    bool found = false;
    for (Node& node : fabric.nodes) {
      if (!glob_match(glob, node.name)) continue;
      found = true;
      if (node.role == Role::kHost)
        return fail(Error{0, "--level", fmt::format("`{}` is a host", escape(node.name))});
      node.level = Level::make(number);
    }
    if (!found)
      return fail(Error{0, "--level", fmt::format("no node has a name like `{}`", escape(glob))});
  }
  return complete(std::move(fabric));
}

std::optional<std::string> why_no_levels(const Fabric& fabric) {
  const bool some = std::any_of(fabric.nodes.begin(), fabric.nodes.end(),
                                [](const Node& n) { return n.role == Role::kHost || n.level; });
  if (some) return std::nullopt;
  return "no device is a host and no switch has a level, so there is no order of the ports to go "
         "by: name the hosts with --hosts GLOB, or the switches' levels with --level NODE=N (a "
         "GLOB "
         "as well), or give the nodes in the file role=\"host\" or level=N";
}

}  // namespace lldp::lab
