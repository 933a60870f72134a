// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tlv/dot1.hpp"
#include "tlv/layout.hpp"
#include "tlv/mau.hpp"

/// Organizational TLVs of IEEE 802.3 (OUI 00-12-0F): IEEE 802.3-2018 79.3.
namespace lldp::tlv {

/// 79.3.1
struct MacPhy {
  static constexpr Key kKey{kOrganizational, kDot3, 0x01};
  bool autoneg_enabled = false;
  bool autoneg_supported = false;
  std::uint16_t advertised = 0;  ///< ifMauAutoNegCapAdvertisedBits, RFC 4836
  std::uint16_t mau_type = 0;    ///< dot3MauType, RFC 4836
  static constexpr void layout(auto& io, auto& v) {
    io.reserved(6).field("autoneg-enabled", v.autoneg_enabled, 1);
    io.field("autoneg-supported", v.autoneg_supported, 1);
    io.field("advertised", v.advertised, 16).choice("mau-type", v.mau_type, 16, kMauTypes);
  }
  friend bool operator==(const MacPhy&, const MacPhy&) = default;
};

/// What type 3 and 4 devices add to PowerViaMdi (802.3bt). Powers are in units of 0.1 W.
struct FourPairPower {
  std::uint16_t requested_a = 0;
  std::uint16_t requested_b = 0;
  std::uint16_t allocated_a = 0;
  std::uint16_t allocated_b = 0;
  std::uint16_t status = 0;
  std::uint8_t setup = 0;
  std::uint16_t available = 0;
  std::uint8_t autoclass = 0;
  std::uint32_t power_down = 0;
  static constexpr void layout(auto& io, auto& v) {
    io.tenths("requested-a-watts", v.requested_a, 16);
    io.tenths("requested-b-watts", v.requested_b, 16);
    io.tenths("allocated-a-watts", v.allocated_a, 16);
    io.tenths("allocated-b-watts", v.allocated_b, 16);
    io.field("status", v.status, 16).field("setup", v.setup, 8);
    io.tenths("available-watts", v.available, 16).field("autoclass", v.autoclass, 8);
    io.field("power-down", v.power_down, 24);
  }
  friend bool operator==(const FourPairPower&, const FourPairPower&) = default;
};

/// What data link layer classification adds to PowerViaMdi (802.3at).
struct PowerNegotiation {
  std::uint8_t type = 0;
  std::uint8_t source = 0;
  bool four_pair_id = false;
  std::uint8_t priority = 0;
  std::uint16_t requested = 0;  ///< units of 0.1 W
  std::uint16_t allocated = 0;  ///< units of 0.1 W
  std::optional<FourPairPower> four_pair{};
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kTypes[] = {
        {0, "type-2-pse"}, {1, "type-2-pd"}, {2, "type-1-pse"}, {3, "type-1-pd"}};
    constexpr Name kPriorities[] = {{0, "unknown"}, {1, "critical"}, {2, "high"}, {3, "low"}};
    io.choice("type", v.type, 2, kTypes).field("source", v.source, 2).reserved(1);
    io.field("four-pair-id", v.four_pair_id, 1).choice("priority", v.priority, 2, kPriorities);
    io.tenths("requested-watts", v.requested, 16).tenths("allocated-watts", v.allocated, 16);
    io.optional(v.four_pair);
  }
  friend bool operator==(const PowerNegotiation&, const PowerNegotiation&) = default;
};

/// 79.3.2: 3, 8 or 25 octets.
struct PowerViaMdi {
  static constexpr Key kKey{kOrganizational, kDot3, 0x02};
  bool pair_control = false;
  bool enabled = false;
  bool supported = false;
  bool pse = false;  ///< port class: power sourcing equipment, else powered device
  std::uint8_t pair = 0;
  std::uint8_t power_class = 0;  ///< pethPsePortPowerClassifications, RFC 3621: one more
  std::optional<PowerNegotiation> negotiation{};
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kPairs[] = {{1, "signal"}, {2, "spare"}};
    constexpr Name kClasses[] = {
        {1, "class-0"}, {2, "class-1"}, {3, "class-2"}, {4, "class-3"}, {5, "class-4"}};
    io.reserved(4).field("pair-control", v.pair_control, 1).field("enabled", v.enabled, 1);
    io.field("supported", v.supported, 1).field("pse", v.pse, 1);
    io.choice("pair", v.pair, 8, kPairs).choice("class", v.power_class, 8, kClasses);
    io.optional(v.negotiation);
  }
  friend bool operator==(const PowerViaMdi&, const PowerViaMdi&) = default;
};

/// 79.3.3, replaced by the one of 802.1AX.
using Dot3LinkAggregation = LinkAggregationTlv<kDot3, 0x03>;

/// 79.3.4
struct MaxFrameSize {
  static constexpr Key kKey{kOrganizational, kDot3, 0x04};
  std::uint16_t octets = 0;
  static constexpr void layout(auto& io, auto& v) { io.field("octets", v.octets, 16); }
  friend bool operator==(const MaxFrameSize&, const MaxFrameSize&) = default;
};

}  // namespace lldp::tlv
