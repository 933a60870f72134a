// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.hpp"
#include "tlv/layout.hpp"

/// Where its sender stands in the fabric: a TLV of ours, subtype 2 under the OUI of the
/// contribution TLV. docs/develop/rules.md P1 to P7 say what it means.
namespace lldp::tlv {

/// Of one tier, what it is called: chassis ID subtype and chassis ID of one of its leaves, as in
/// the Chassis ID TLV.
struct TierTlv {
  static constexpr std::size_t kLeast = 2;  ///< octets: a subtype, and an identifier of one
  static constexpr std::size_t kMost = 255;
  std::uint8_t level = 0;
  Octets chassis{};
  std::uint32_t age = 0;  ///< minutes: base/fabric.hpp, Tier
  static constexpr void layout(auto& io, auto& v) {
    io.field("level", v.level, 8)
        .counted("id", v.chassis, kLeast, kMost,
                 [](ByteSpan id) {
                   return to_string(ChassisId{{id[0], std::string(as_text(id.subspan(1)))}});
                 })
        .field("age", v.age, 32);
  }
  friend bool operator==(const TierTlv&, const TierTlv&) = default;
};

/// Information string: for each tier, the lowest first, level:8 | length:8 | so many octets |
/// age:32.
struct LocationTlv {
  static constexpr Key kKey{kOrganizational, 0x024c56, 0x02};  ///< the default OUI
  static constexpr std::size_t kMostTiers = 32;
  static constexpr std::size_t kMostOctets = kMaxInformation - 4;  ///< OUI and subtype
  List<TierTlv, kMostTiers> tiers{};
  /// Levels of switches, rising.
  [[nodiscard]] bool consistent() const {
    unsigned last = 0;
    for (const TierTlv& tier : tiers.view()) {
      if (tier.level <= last || tier.level > Level::kMax) return false;
      last = tier.level;
    }
    return tiers.count > 0;
  }
  static constexpr void layout(auto& io, auto& v) { io.list("tiers", v.tiers); }
  friend bool operator==(const LocationTlv&, const LocationTlv&) = default;
};

}  // namespace lldp::tlv
