// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/forwarding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"

namespace lldp::lab {

Result<qos::PortClass> port_class_of(const Fabric& fabric, const Link& link, std::size_t end,
                                     Span span) {
  const LinkEnd& near = link.ends[end];
  const LinkEnd& far = link.ends[1 - end];
  const Node& self = fabric.nodes[near.node];
  const Node& peer = fabric.nodes[far.node];
  if (span == Span::kAsSet)
    return qos::PortClass{.order = near.order.value_or(Order::kUnknown),
                          .near = near.layer.value_or(qos::Layer{})};
  // The agent of a host gives its ports no order. Where nothing passes through, the true one says
  // which way a packet starts.
  if (self.role == Role::kHost && self.relays) return qos::PortClass{};
  if (span == Span::kLevels && near.node == far.node)  // docs/develop/rules.md A3
    return qos::PortClass{.order = Order::kUp};
  if (span == Span::kLevels) return qos::PortClass{.order = true_order(fabric, link, end)};
  if (near.layer && far.layer)
    return qos::class_of_span(*near.layer, self.chassis, *far.layer, peer.chassis);
  if (!forwards(self) || !forwards(peer)) return qos::PortClass{};
  return fail(Error{0, fmt::format("{}:{}", escape(self.name), escape(near.port)),
                    "the link has no layers: rules by spans need them on both ends of every link"});
}

qos::PortClass true_class(const Fabric& fabric, const Link& link, std::size_t end) {
  const Span span = layers_of(link, end) ? Span::kLayers : Span::kLevels;
  return port_class_of(fabric, link, end, span).value_or(qos::PortClass{});
}

std::optional<Layers> layers_of(const Link& link, std::size_t end) {
  const auto& near = link.ends[end].layer;
  const auto& far = link.ends[1 - end].layer;
  if (!near || !far) return std::nullopt;
  return Layers{*near, *far};
}

bool has_layers(const Fabric& fabric) {
  return std::any_of(fabric.links.begin(), fabric.links.end(),
                     [](const Link& l) { return l.ends[0].layer || l.ends[1].layer; });
}

std::optional<Error> not_layered(const Fabric& fabric) {
  for (const Link& link : fabric.links) {
    const auto& ends = link.ends;
    if (!forwards(fabric.nodes[ends[0].node]) || !forwards(fabric.nodes[ends[1].node])) continue;
    const auto refuse = [&](std::string what) {
      return Error{
          0, fmt::format("{}:{}", escape(fabric.nodes[ends[0].node].name), escape(ends[0].port)),
          std::move(what)};
    };
    const auto layers = layers_of(link, 0);
    if (!layers)
      return refuse("the link has no layers: this is not a fabric of `topo fcplus` or `topo fc`");
    if (std::abs(layers->near.value() - layers->far.value()) != 1)
      return refuse(fmt::format("layers {} do not stand next to each other", to_string(*layers)));
  }
  return std::nullopt;
}

Result<SwitchGraph> switch_graph(const Fabric& fabric, Span span) {
  SwitchGraph graph;
  std::vector<std::size_t> index(fabric.nodes.size());
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    if (!forwards(fabric.nodes[i])) continue;
    index[i] = graph.forwarding.switches.size();
    graph.forwarding.switches.push_back(fabric.nodes[i].name);
  }
  for (std::size_t i = 0; i < fabric.links.size(); ++i) {
    const Link& link = fabric.links[i];
    const auto& ends = link.ends;
    if (!forwards(fabric.nodes[ends[0].node]) || !forwards(fabric.nodes[ends[1].node])) continue;
    std::array<qos::PortClass, 2> classes{};
    for (std::size_t e = 0; e < 2; ++e) {
      const auto port_class = port_class_of(fabric, link, e, span);
      if (!port_class) return fail(port_class.error());
      classes[e] = *port_class;
    }
    graph.forwarding.links.push_back(
        {index[ends[0].node], index[ends[1].node], classes[0], classes[1]});
    graph.links.push_back(i);
  }
  return graph;
}

}  // namespace lldp::lab
