// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/graph.hpp"

#include <algorithm>

namespace lldp::lab {
namespace {

constexpr ClassIndex kUnknownClass = 64;

ClassIndex index_of(qos::PortClass c) {
  return c.order == Order::kUnknown ? kUnknownClass : qos::tag_of(c).value();
}

}  // namespace

qos::PortClass Graph::port_class(ClassIndex c) const {
  if (c == kUnknownClass) return {};
  return {(c & 1U) != 0 ? Order::kUp : Order::kDown, *qos::Layer::make(c / 2U)};
}

Result<Graph> Graph::of(const Fabric& fabric, Span span) {
  Graph g;
  g.tail_.resize(2 * fabric.links.size());
  g.class_.resize(2 * fabric.links.size());
  g.forwards_.resize(fabric.nodes.size());
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i)
    g.forwards_[i] = lab::forwards(fabric.nodes[i]) ? 1 : 0;
  g.begin_.resize(fabric.nodes.size() + 1);
  for (Arc arc = 0; arc < g.tail_.size(); ++arc) {
    const Link& link = fabric.links[arc / 2];
    const auto port_class = port_class_of(fabric, link, arc % 2, span);
    if (!port_class) return fail(port_class.error());
    g.class_[arc] = index_of(*port_class);
    g.tail_[arc] = static_cast<std::uint32_t>(link.ends[arc % 2].node);
    ++g.begin_[g.tail_[arc] + 1];
  }
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) g.begin_[i + 1] += g.begin_[i];
  g.hops_.resize(g.tail_.size());
  std::vector<std::uint32_t> next(g.begin_.begin(), g.begin_.end() - 1);
  for (Arc arc = 0; arc < g.tail_.size(); ++arc)
    g.hops_[next[g.tail_[arc]]++] = {g.head(arc), arc, g.out_class(arc), g.in_class(arc)};
  for (ClassIndex in = 0; in < kUnknownClass; ++in)
    for (ClassIndex out = 0; out < kUnknownClass; ++out)
      g.turns_[in][out] = qos::turns(g.port_class(in), g.port_class(out));
  return g;
}

Graph Graph::of(const Fabric& fabric) {
  const bool layered = std::any_of(fabric.links.begin(), fabric.links.end(),
                                   [](const Link& l) { return l.ends[0].layer.has_value(); });
  if (layered)
    if (auto graph = of(fabric, Span::kLayers)) return std::move(*graph);
  return *of(fabric, Span::kLevels);
}

std::vector<std::uint16_t> Graph::distances(std::span<const std::uint32_t> targets) const {
  std::vector<std::uint16_t> distance(nodes(), kFar);
  std::vector<std::uint32_t> queue(targets.begin(), targets.end());
  for (const std::uint32_t t : targets) distance[t] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (distance[queue[i]] != 0 && !forwards(queue[i])) continue;
    for (const Hop& hop : hops(queue[i])) {
      if (distance[hop.peer] != kFar) continue;
      distance[hop.peer] = static_cast<std::uint16_t>(distance[queue[i]] + 1);
      queue.push_back(hop.peer);
    }
  }
  return distance;
}

}  // namespace lldp::lab
