// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.hpp"
#include "tlv/layout.hpp"
#include "tlv/text.hpp"

/// The basic management TLVs of IEEE 802.1AB-2016 8.5.
namespace lldp::tlv {

struct ChassisIdTlv {
  static constexpr Key kKey{.type = 1};
  std::uint8_t subtype = 0;
  Octets octets{};
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kSubtypes[] = {
        {1, "chassis-component"}, {2, "interface-alias"}, {3, "port-component"}, {4, "mac-address"},
        {5, "network-address"},   {6, "interface-name"},  {7, "local"}};
    io.choice("subtype", v.subtype, 8, kSubtypes).rest("id", v.octets, 1, 255, [&v](ByteSpan) {
      return to_string(ChassisId{{v.subtype, std::string(as_text(v.octets))}});
    });
  }
  friend bool operator==(const ChassisIdTlv&, const ChassisIdTlv&) = default;
};

struct PortIdTlv {
  static constexpr Key kKey{.type = 2};
  std::uint8_t subtype = 0;
  Octets octets{};
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kSubtypes[] = {
        {1, "interface-alias"}, {2, "port-component"},   {3, "mac-address"}, {4, "network-address"},
        {5, "interface-name"},  {6, "agent-circuit-id"}, {7, "local"}};
    io.choice("subtype", v.subtype, 8, kSubtypes).rest("id", v.octets, 1, 255, [&v](ByteSpan) {
      return to_string(PortId{{v.subtype, std::string(as_text(v.octets))}});
    });
  }
  friend bool operator==(const PortIdTlv&, const PortIdTlv&) = default;
};

/// IEEE 802.1AB-2016 8.5.4. Octets after the two are ignored on receipt (9.2.7.7.1).
struct Ttl {
  static constexpr Key kKey{.type = 3};
  std::uint16_t seconds = 0;
  static constexpr void layout(auto& io, auto& v) { io.field("seconds", v.seconds, 16).surplus(); }
  friend bool operator==(const Ttl&, const Ttl&) = default;
};

/// Port Description, System Name and System Description differ in their type alone.
template <std::uint8_t Type>
struct Text {
  static constexpr Key kKey{.type = Type};
  std::string_view text{};
  static constexpr void layout(auto& io, auto& v) { io.rest("text", v.text, 0, 255, show_text); }
  friend bool operator==(const Text&, const Text&) = default;
};
using PortDescription = Text<4>;
using SystemName = Text<5>;
using SystemDescription = Text<6>;

/// Bits as in IEEE 802.1AB-2016 Table 8-4 (bit 0 = Other).
struct Capabilities {
  static constexpr Key kKey{.type = 7};
  static constexpr std::uint16_t kBridge = 1U << 2;
  static constexpr std::uint16_t kRouter = 1U << 4;
  static constexpr std::uint16_t kStationOnly = 1U << 7;
  static constexpr std::uint16_t kCVlan = 1U << 8;
  static constexpr std::uint16_t kSVlan = 1U << 9;
  static constexpr std::uint16_t kTwoPortMacRelay = 1U << 10;
  std::uint16_t system = 0;
  std::uint16_t enabled = 0;
  /// A capability that is enabled but not available is an error, 8.5.8.3. Station Only together
  /// with others is kept as received: code that looks for a host checks for Station Only and
  /// nothing else.
  [[nodiscard]] constexpr bool consistent() const { return (enabled & ~system) == 0; }
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kNames[] = {{0, "other"},  {1, "repeater"},  {2, "bridge"}, {3, "wlan-ap"},
                               {4, "router"}, {5, "telephone"}, {6, "docsis"}, {7, "station"},
                               {8, "c-vlan"}, {9, "s-vlan"},    {10, "tpmr"}};
    io.flags("system", v.system, 16, kNames).flags("enabled", v.enabled, 16, kNames);
  }
  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

/// IEEE 802.1AB-2016 8.5.9; several are legal.
struct ManagementAddress {
  static constexpr Key kKey{.type = 8};
  Octets address{};  ///< IANA address family number, then the address: 2 to 32 octets
  std::uint8_t interface_subtype = 1;
  std::uint32_t interface_number = 0;
  Octets object_id{};
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kNumberings[] = {{1, "unknown"}, {2, "ifindex"}, {3, "system-port"}};
    io.counted("address", v.address, 2, 32, network_address_to_string)
        .choice("interface-subtype", v.interface_subtype, 8, kNumberings)
        .field("interface-number", v.interface_number, 32)
        .counted("object-id", v.object_id, 0, 128, object_identifier_to_string);
  }
  friend bool operator==(const ManagementAddress&, const ManagementAddress&) = default;
};

}  // namespace lldp::tlv
