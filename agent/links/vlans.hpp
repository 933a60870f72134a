// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "agent/links/link_message.hpp"

namespace lldp::io {

/// The VLANs that pass at a port, as lldpd counts them: those that its bridge lets pass there, if
/// the bridge heeds VLANs, and those of the VLAN interfaces on the port or on the bond or team that
/// it is of.
[[nodiscard]] BridgeVlans vlans_of(const Interface& port,
                                   const std::map<Ifindex, Interface>& interfaces,
                                   const std::map<Ifindex, BridgeVlans>& bridged);

}  // namespace lldp::io
