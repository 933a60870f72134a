// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/links/link_message.hpp"
#include "agent/links/machine.hpp"
#include "agent/wire/packet_io.hpp"
#include "base/names.hpp"

namespace lldp::io {

/// Whether it stands on other interfaces, or is made of them: a VLAN, bond, macvlan, bridge, VRF,
/// tunnel. Packets meet the rules of these other interfaces too.
[[nodiscard]] bool is_stacked(const Interface& link);

/// Whether an interface is a port to speak on. Always Ethernet. Where no pattern is given, those
/// that the machine has of its own. The pattern `*` takes all ends of cables: devices of their own
/// (no kind), DSA ports, and virtual cables' (veth, tap). Any other pattern takes what it matches
/// and is not stacked; a stacked interface is taken by its exact name alone.
[[nodiscard]] bool is_port(const Interface& link, const NameSelection& ports,
                           const Machine& machine);

/// Names of interfaces that would be ports by default, are up, and are none because no pattern of
/// `ports` takes them, where packets go between them and a port: by a bridge, or, if this machine
/// forwards IP, within a VRF. One that `ports` leaves out by a pattern of its own is none of them,
/// nor is one that a port stands on.
[[nodiscard]] std::vector<std::string> left_out(const std::map<Ifindex, Interface>& interfaces,
                                                const NameSelection& ports, const Machine& machine,
                                                bool forwards_ip);

/// Whether there is an interface for which a host forwards IP: of containers, virtual machines or a
/// VPN. None is a port, nor what only stands on ports, nor a tunnel that is down: of some kinds
/// Linux makes one by itself.
[[nodiscard]] bool forwards_for_guests(const std::map<Ifindex, Interface>& interfaces,
                                       const NameSelection& ports, const Machine& machine);

/// Of these ports those between which IP may go, the first of each cable: the most that one VRF
/// has. The members of a bond are one cable, and so is what stands on an interface. In the order of
/// ifindex.
[[nodiscard]] std::vector<Ifindex> routed_together(const std::map<Ifindex, Interface>& interfaces,
                                                   const std::vector<Ifindex>& ports);

/// How to hear on it, by what its master does with frames.
[[nodiscard]] Port port_of(const Interface& link);

/// Whether it is a port of a bridge.
[[nodiscard]] bool is_bridged(const Interface& link);

}  // namespace lldp::io
