// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/fabric_network.hpp"

#include "lab/topology/forwarding.hpp"

namespace lldp::lab::agents {

Network network_of(const Fabric& fabric, std::uint64_t seed,
                   const std::function<void(core::Settings&)>& adjust) {
  Network network(seed);
  network.nodes.reserve(fabric.nodes.size());
  network.cables.reserve(fabric.links.size());
  const bool layered = has_layers(fabric);
  const auto settings_of = [&](Role role) {
    core::Settings settings;
    settings.role = role;
    settings.layered = role == Role::kSwitch && layered;
    if (adjust) adjust(settings);
    return std::make_shared<const core::Settings>(std::move(settings));
  };
  const auto of_hosts = settings_of(Role::kHost);
  const auto of_switches = settings_of(Role::kSwitch);
  for (const Node& node : fabric.nodes)
    network.add(node.role == Role::kHost ? of_hosts : of_switches,
                {.chassis_id = node.chassis, .system_name = node.name});
  for (std::size_t l = 0; l < fabric.links.size(); ++l) {
    const auto end = [&](std::size_t e) {
      const LinkEnd& of = fabric.links[l].ends[e];
      const auto layers =
          forwards(fabric.nodes[of.node]) ? layers_of(fabric.links[l], e) : std::nullopt;
      return Network::End{of.node, network.add_port(of.node, of.port, port_address(l, e), layers)};
    };
    const Network::End a = end(0);
    network.plug(a, end(1), Duration(static_cast<Duration::rep>(fabric.links[l].delay_ns)));
  }
  return network;
}

}  // namespace lldp::lab::agents
