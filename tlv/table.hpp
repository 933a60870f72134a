// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <iterator>
#include <string_view>

#include "tlv/basic.hpp"
#include "tlv/describe.hpp"
#include "tlv/dot1.hpp"
#include "tlv/dot3.hpp"
#include "tlv/topology.hpp"

/// Every TLV we know. Framing, duplicates, printing and the manual all go by this table.
namespace lldp::tlv {

struct Row {
  Key key{};
  std::string_view name{};    ///< in output
  std::uint8_t at_most = 0;   ///< per LLDPDU; 0: any number
  std::string_view clause{};  ///< where it is defined
  /// Whether an information string (for type 127: what follows OUI and subtype) has the TLV's
  /// length and shape.
  bool (*valid)(ByteSpan information) = nullptr;
  Fields (*describe)(ByteSpan information) = nullptr;  ///< of a valid one
};

template <class T>
constexpr Row row(std::string_view name, std::uint8_t at_most, std::string_view clause) {
  return {T::kKey,
          name,
          at_most,
          clause,
          [](ByteSpan information) { return decode_as<T>(information).has_value(); },
          describe_as<T>};
}

inline constexpr Row kRows[] = {
    row<ChassisIdTlv>("chassis-id", 1, "IEEE 802.1AB-2016 8.5.2"),
    row<PortIdTlv>("port-id", 1, "IEEE 802.1AB-2016 8.5.3"),
    row<Ttl>("ttl", 1, "IEEE 802.1AB-2016 8.5.4"),
    row<PortDescription>("port-description", 1, "IEEE 802.1AB-2016 8.5.5"),
    row<SystemName>("system-name", 1, "IEEE 802.1AB-2016 8.5.6"),
    row<SystemDescription>("system-description", 1, "IEEE 802.1AB-2016 8.5.7"),
    row<Capabilities>("system-capabilities", 1, "IEEE 802.1AB-2016 8.5.8"),
    row<ManagementAddress>("management-address", 0, "IEEE 802.1AB-2016 8.5.9"),
    row<PortVlan>("port-vlan", 1, "IEEE 802.1Q-2018 D.2.1"),
    row<PortProtocolVlan>("port-protocol-vlan", 0, "IEEE 802.1Q-2018 D.2.2"),
    row<VlanName>("vlan-name", 0, "IEEE 802.1Q-2018 D.2.3"),
    row<ProtocolIdentity>("protocol-identity", 0, "IEEE 802.1Q-2018 D.2.4"),
    row<VidUsageDigest>("vid-usage-digest", 1, "IEEE 802.1Q-2018 D.2.5"),
    row<ManagementVid>("management-vid", 1, "IEEE 802.1Q-2018 D.2.6"),
    row<LinkAggregation>("link-aggregation", 1, "IEEE 802.1AX-2014 F.1"),
    row<CongestionNotification>("congestion-notification", 1, "IEEE 802.1Q-2018 D.2.7"),
    row<EtsConfig>("ets-config", 1, "IEEE 802.1Q-2018 D.2.8"),
    row<EtsRecommendation>("ets-recommendation", 1, "IEEE 802.1Q-2018 D.2.9"),
    row<PfcConfig>("pfc-config", 1, "IEEE 802.1Q-2018 D.2.10"),
    row<ApplicationPriority>("application-priority", 1, "IEEE 802.1Q-2018 D.2.11"),
    row<Tr>("tr", 1, "IEEE 802.1Qcz-2023 D.2.16"),
    row<MacPhy>("mac-phy", 1, "IEEE 802.3-2018 79.3.1"),
    row<PowerViaMdi>("power-via-mdi", 1, "IEEE 802.3-2018 79.3.2"),
    row<Dot3LinkAggregation>("dot3-link-aggregation", 1, "IEEE 802.3-2018 79.3.3"),
    row<MaxFrameSize>("max-frame-size", 1, "IEEE 802.3-2018 79.3.4"),
    row<Contribution>("contribution", 1, "lldp-level-tlv(7)"),
};
static_assert(std::size(kRows) <= 64, "TlvWalk marks the rows it has seen in 64 bits");

namespace detail {

/// Rows by type, or under one OUI by subtype, so that a look-up costs no search.
inline constexpr std::size_t kSlots = 0x20;
using Slots = std::array<const Row*, kSlots>;
constexpr Slots slots(std::uint8_t type, std::uint32_t oui) {
  Slots table{};
  for (const Row& r : kRows) {
    const bool organizational = r.key.type == kOrganizational;
    if (organizational != (type == kOrganizational) || r.key.oui != oui) continue;
    table.at(organizational ? r.key.subtype : r.key.type) = &r;
  }
  return table;
}
inline constexpr Slots kBasicSlots = slots(0, 0);
inline constexpr Slots kDot1Slots = slots(kOrganizational, kDot1);
inline constexpr Slots kDot3Slots = slots(kOrganizational, kDot3);

}  // namespace detail

inline constexpr const Row& kContributionRow = std::end(kRows)[-1];
static_assert(kContributionRow.key == Contribution::kKey);

/// The row of a TLV of the standards, or nullptr. Under which OUIs a TLV is a contribution is the
/// receiver's to know: see Dialect.
[[nodiscard]] constexpr const Row* find_row(const Key& key) {
  const auto at = [](const detail::Slots& slots, std::uint8_t i) {
    return i < slots.size() ? slots[i] : nullptr;
  };
  if (key.type != kOrganizational) return at(detail::kBasicSlots, key.type);
  if (key.oui == kDot1) return at(detail::kDot1Slots, key.subtype);
  if (key.oui == kDot3) return at(detail::kDot3Slots, key.subtype);
  return nullptr;
}

}  // namespace lldp::tlv
