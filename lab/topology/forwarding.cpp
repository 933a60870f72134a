// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/forwarding.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace lldp::lab {
Result<SwitchGraph> switch_graph(const Fabric& fabric, Span span) {
  SwitchGraph graph;
  std::vector<std::size_t> index(fabric.nodes.size());
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    if (fabric.nodes[i].role == Role::kHost) continue;
    index[i] = graph.forwarding.switches.size();
    graph.forwarding.switches.push_back(fabric.nodes[i].name);
  }
  for (std::size_t i = 0; i < fabric.links.size(); ++i) {
    const auto& ends = fabric.links[i].ends;
    const std::array<const Node*, 2> nodes{&fabric.nodes[ends[0].node],
                                           &fabric.nodes[ends[1].node]};
    if (nodes[0]->role == Role::kHost || nodes[1]->role == Role::kHost) continue;
    std::array<qos::PortClass, 2> classes{};
    for (std::size_t e = 0; e < 2; ++e) {
      const LinkEnd& near = ends[e];
      const LinkEnd& far = ends[1 - e];
      if (span == Span::kLevels) {
        classes[e].order = true_order(fabric, fabric.links[i], e);
      } else if (span == Span::kAsSet) {
        classes[e].order = near.order.value_or(Order::kUnknown);
      } else if (near.layer && far.layer) {
        classes[e] =
            qos::class_of_span(*near.layer, nodes[e]->chassis, *far.layer, nodes[1 - e]->chassis);
      } else {
        return fail(
            Error{0, fmt::format("{}:{}", escape(nodes[e]->name), escape(near.port)),
                  "the link has no layers: rules by spans need them on both ends of every link"});
      }
    }
    graph.forwarding.links.push_back(
        {index[ends[0].node], index[ends[1].node], classes[0], classes[1]});
    graph.links.push_back(i);
  }
  return graph;
}

}  // namespace lldp::lab
