// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bounded.hpp"
#include "base/bytes.hpp"

namespace lldp::io {

/// An interface as the kernel describes it: what of RTM_NEWLINK concerns us.
struct Interface {
  Ifindex ifindex{};
  Ifindex master{};  ///< 0: none
  Ifindex lower{};   ///< IFLA_LINK: what a VLAN stands on; 0: none
  std::string name{};
  std::string kind{};           ///< IFLA_INFO_KIND: veth, bridge, ...; empty: a device of its own
  std::string master_kind{};    ///< IFLA_INFO_SLAVE_KIND: bridge, bond, team, openvswitch, ...
  std::string switch_id{};      ///< IFLA_PHYS_SWITCH_ID, octets: the ASIC it is a port of
  std::string alias{};          ///< IFLA_IFALIAS: what the operator calls it
  std::string port_name{};      ///< IFLA_PHYS_PORT_NAME: what the driver calls it
  std::string pci{};            ///< its device's address on the PCI bus, if it is on one
  std::uint16_t vlan = 0;       ///< IFLA_VLAN_ID, of kind vlan
  bool vlan_filtering = false;  ///< IFLA_BR_VLAN_FILTERING, of kind bridge
  MacAddress address{};
  std::uint32_t mtu = 0;
  std::uint32_t carrier_changes = 0;  ///< IFLA_CARRIER_CHANGES
  bool ethernet = false;              ///< ARPHRD_ETHER, no loopback, with an address of six octets
  std::uint32_t xdp = 0;              ///< the XDP program attached, by its id; 0: none
  /// Hardware of its own, as far as the message tells: no kind, but a device or a permanent
  /// address; no representor of a virtual function, no subfunction, no virtual machine's other end.
  bool physical = false;
  bool up = false;  ///< administratively, and with carrier: frames pass
  friend bool operator==(const Interface&, const Interface&) = default;
};
struct InterfaceGone {
  Ifindex ifindex{};
  friend bool operator==(const InterfaceGone&, const InterfaceGone&) = default;
};
/// The VLANs of a bridge's port, as the bridge has them.
struct BridgeVlans {
  Ifindex ifindex{};
  std::uint16_t port_vlan = 0;         ///< of untagged frames; 0: none
  std::vector<std::uint16_t> vlans{};  ///< rising
  friend bool operator==(const BridgeVlans&, const BridgeVlans&) = default;
};
/// Whether all interfaces of an address family forward (net.ipv4.conf.all.forwarding and its like),
/// or one, which counts for IPv4 alone: IPv6 forwards nothing without all.
struct Forwarding {
  enum class Family : std::uint8_t { kIpv4, kIpv6 };
  Family family{};
  bool enabled = false;
  Ifindex ifindex{};  ///< 0: all
  friend bool operator==(const Forwarding&, const Forwarding&) = default;
};
/// An address that lasts: no temporary or secondary one, and none that is still being looked for.
struct InterfaceAddress {
  Ifindex ifindex{};
  std::string address{};  ///< IANA address family number in one octet, then the address
  friend auto operator<=>(const InterfaceAddress&, const InterfaceAddress&) = default;
};
struct AddressChange {
  InterfaceAddress address{};
  bool there = false;
  friend bool operator==(const AddressChange&, const AddressChange&) = default;
};
using LinkMessage = std::variant<Interface, InterfaceGone, BridgeVlans, Forwarding, AddressChange>;

/// One rtnetlink message, its header in front, rtnetlink(7). nullopt: it is none of those five, or
/// malformed. RTM_DELLINK of family AF_BRIDGE says that a port left its bridge: it has no VLANs
/// then.
[[nodiscard]] std::optional<LinkMessage> parse_link_message(ByteSpan message);

}  // namespace lldp::io
