// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/fabric_network.hpp"

namespace lldp::lab::agents {

Network network_of(const Fabric& fabric, std::uint64_t seed,
                   const std::function<void(core::Settings&)>& adjust) {
  Network network(seed);
  network.nodes.reserve(fabric.nodes.size());
  network.cables.reserve(fabric.links.size());
  for (const Node& node : fabric.nodes) {
    core::Settings settings;
    settings.role = node.role;
    settings.chassis_id = node.chassis;
    settings.system_name = node.name;
    if (adjust) adjust(settings);
    network.add(std::move(settings));
  }
  for (std::size_t l = 0; l < fabric.links.size(); ++l) {
    const auto end = [&](std::size_t e) {
      const LinkEnd& of = fabric.links[l].ends[e];
      return Network::End{of.node, network.add_port(of.node, of.port, port_address(l, e))};
    };
    const Network::End a = end(0);
    network.plug(a, end(1), Duration(static_cast<Duration::rep>(fabric.links[l].delay_ns)));
  }
  return network;
}

}  // namespace lldp::lab::agents
