// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/spelling.hpp"
#include "base/text.hpp"
#include "lab/topology/forwarding.hpp"

namespace lldp::lab {
Result<std::string> configuration_of(const Fabric& fabric, std::size_t node) {
  const Node& self = fabric.nodes[node];
  if (!forwards(self))
    return fail(Error{0, escape(self.name), "is a host: it forwards nothing, and has no layers"});
  if (auto why = not_layered(fabric)) return fail(std::move(*why));
  unsigned layers = 0;
  std::set<Layer> own;
  std::string keys;
  for (const Link& link : fabric.links)
    for (std::size_t e = 0; e < 2; ++e) {
      const auto joins = layers_of(link, e);
      if (!joins) continue;
      layers = std::max<unsigned>(layers, joins->near.value());
      if (link.ends[e].node != node) continue;
      own.insert(joins->near);
      const LinkEnd& far = link.ends[1 - e];
      keys += fmt::format("port.{}.layers = {}  # link index {}, to {} port {}\n",
                          spell(link.ends[e].port), to_string(*joins),
                          std::min(joins->near, joins->far).value(),
                          escape(fabric.nodes[far.node].name), escape(far.port));
    }
  return fmt::format(
      "# {} of {}: {} virtual switches on {} layers. For lldp-level.conf(5); all switches of the\n"
      "# fabric need theirs, from the same file.\n{}",
      escape(self.name), escape(fabric.name), own.size(), layers, keys);
}

}  // namespace lldp::lab
