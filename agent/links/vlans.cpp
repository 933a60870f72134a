// SPDX-License-Identifier: Apache-2.0
#include "agent/links/vlans.hpp"

#include <set>

namespace lldp::io {

BridgeVlans vlans_of(const Interface& port, const std::map<Ifindex, Interface>& interfaces,
                     const std::map<Ifindex, BridgeVlans>& bridged) {
  BridgeVlans out{.ifindex = port.ifindex};
  std::set<std::uint16_t> there;
  const auto bridge = interfaces.find(port.master);
  if (const auto own = bridged.find(port.ifindex);
      own != bridged.end() && bridge != interfaces.end() && bridge->second.vlan_filtering) {
    out.port_vlan = own->second.port_vlan;
    there.insert(own->second.vlans.begin(), own->second.vlans.end());
  }
  const bool aggregated = port.master_kind == "bond" || port.master_kind == "team";
  for (const auto& [ifindex, link] : interfaces)
    if (link.vlan != 0 && (link.lower == port.ifindex || (aggregated && link.lower == port.master)))
      there.insert(link.vlan);
  out.vlans.assign(there.begin(), there.end());
  return out;
}

}  // namespace lldp::io
