// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.hpp"
#include "tlv/layout.hpp"
#include "tlv/text.hpp"

/// The TLVs of LLDP-MED (OUI 00-12-BB, ANSI/TIA-1057).
namespace lldp::tlv {

/// 10.2.2
struct MedCapabilities {
  static constexpr Key kKey{kOrganizational, kTia, 0x01};
  static constexpr std::uint8_t kNetworkConnectivity = 4;
  std::uint16_t capabilities = 0;
  std::uint8_t device_class = 0;
  /// Classes I to III: what stands at the edge of the network. 10.2.2.2.
  [[nodiscard]] constexpr bool is_endpoint() const {
    return device_class >= 1 && device_class < kNetworkConnectivity;
  }
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kCapabilities[] = {{0, "capabilities"}, {1, "network-policy"}, {2, "location"},
                                      {3, "power-pse"},    {4, "power-pd"},       {5, "inventory"}};
    constexpr Name kClasses[] = {{1, "endpoint-1"},
                                 {2, "endpoint-2"},
                                 {3, "endpoint-3"},
                                 {kNetworkConnectivity, "network-connectivity"}};
    io.flags("capabilities", v.capabilities, 16, kCapabilities);
    io.choice("class", v.device_class, 8, kClasses);
  }
  friend bool operator==(const MedCapabilities&, const MedCapabilities&) = default;
};

/// 10.2.3
struct MedPolicy {
  static constexpr Key kKey{kOrganizational, kTia, 0x02};
  std::uint8_t application = 0;
  bool unknown = false;  ///< the endpoint wants one, and knows none
  bool tagged = false;
  std::uint16_t vid = 0;
  std::uint8_t priority = 0;
  std::uint8_t dscp = 0;
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kApplications[] = {{1, "voice"},           {2, "voice-signaling"},
                                      {3, "guest-voice"},     {4, "guest-voice-signaling"},
                                      {5, "softphone-voice"}, {6, "video-conferencing"},
                                      {7, "streaming-video"}, {8, "video-signaling"}};
    io.choice("application", v.application, 8, kApplications);
    io.field("unknown", v.unknown, 1).field("tagged", v.tagged, 1).reserved(1);
    io.field("vid", v.vid, 12).field("priority", v.priority, 3).field("dscp", v.dscp, 6);
  }
  friend bool operator==(const MedPolicy&, const MedPolicy&) = default;
};

/// 10.2.4
struct MedLocation {
  static constexpr Key kKey{kOrganizational, kTia, 0x03};
  static constexpr std::uint8_t kCoordinates = 1;
  static constexpr std::uint8_t kCivic = 2;
  static constexpr std::uint8_t kElin = 3;  ///< a number for emergency calls, as text
  std::uint8_t format = 0;
  Octets location{};
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kFormats[] = {{kCoordinates, "coordinates"}, {kCivic, "civic"}, {kElin, "elin"}};
    io.choice("format", v.format, 8, kFormats)
        .rest("location", v.location, 0, kMaxInformation, [&v](ByteSpan octets) {
          return v.format == kElin ? show_text(as_text(octets)) : to_hex(octets);
        });
  }
  friend bool operator==(const MedLocation&, const MedLocation&) = default;
};

/// 10.2.5
struct MedPower {
  static constexpr Key kKey{kOrganizational, kTia, 0x04};
  static constexpr std::uint8_t kPd = 1;
  std::uint8_t type = 0;
  std::uint8_t source = 0;  ///< of a PSE: primary, backup; of a PD: PSE, local, both
  std::uint8_t priority = 0;
  std::uint16_t watts = 0;  ///< units of 0.1 W
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kTypes[] = {{0, "pse"}, {kPd, "pd"}};
    constexpr Name kPriorities[] = {{0, "unknown"}, {1, "critical"}, {2, "high"}, {3, "low"}};
    io.choice("type", v.type, 2, kTypes).field("source", v.source, 2);
    io.choice("priority", v.priority, 4, kPriorities).tenths("watts", v.watts, 16);
  }
  friend bool operator==(const MedPower&, const MedPower&) = default;
};

/// 10.2.6: what the inventory consists of differs in the subtype alone.
template <std::uint8_t Subtype>
struct MedInventory {
  static constexpr Key kKey{kOrganizational, kTia, Subtype};
  std::string_view text{};
  static constexpr void layout(auto& io, auto& v) { io.rest("text", v.text, 0, 255, show_text); }
  friend bool operator==(const MedInventory&, const MedInventory&) = default;
};
using MedHardware = MedInventory<0x05>;
using MedFirmware = MedInventory<0x06>;
using MedSoftware = MedInventory<0x07>;
using MedSerial = MedInventory<0x08>;
using MedManufacturer = MedInventory<0x09>;
using MedModel = MedInventory<0x0a>;
using MedAsset = MedInventory<0x0b>;

}  // namespace lldp::tlv
