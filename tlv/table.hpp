// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <iterator>
#include <string_view>

#include "tlv/basic.hpp"
#include "tlv/classes.hpp"
#include "tlv/dcbx.hpp"
#include "tlv/describe.hpp"
#include "tlv/dot1.hpp"
#include "tlv/dot3.hpp"
#include "tlv/location.hpp"
#include "tlv/med.hpp"
#include "tlv/order.hpp"
#include "tlv/topology.hpp"

/// Every TLV we know. Framing, duplicates, printing and the manual all go by this table.
namespace lldp::tlv {

struct Row {
  Key key{};
  std::string_view name{};    ///< in output
  std::uint8_t at_most = 0;   ///< per LLDPDU; 0: any number
  std::string_view clause{};  ///< where it is defined
  /// The least and the greatest length of the information string (for type 127: of what follows OUI
  /// and subtype), both by its layout.
  std::uint16_t least = 0;
  std::uint16_t most = 0;
  bool by_length = false;  ///< such a length alone makes it valid
  /// Whether an information string has the TLV's length and shape.
  bool (*well_formed)(ByteSpan information) = nullptr;
  Fields (*describe)(ByteSpan information) = nullptr;  ///< of a valid one
};

/// With all that decode_as() calls inlined: the compiler stops short of that in a large file.
template <class T>
[[gnu::flatten]] bool is_well_formed(ByteSpan information) {
  return decode_as<T>(information).has_value();
}

template <class T>
constexpr Row row(std::string_view name, std::uint8_t at_most, std::string_view clause) {
  constexpr Measurer length = Measurer::of<T>();
  constexpr std::size_t room =
      kMaxInformation - (T::kKey.type == kOrganizational ? 4 : 0);  // OUI and subtype
  constexpr bool by_length = length.length_is_all() && !requires(T v) { v.consistent(); };
  return {T::kKey,        name,
          at_most,        clause,
          length.least(), static_cast<std::uint16_t>(std::min<std::size_t>(length.most(), room)),
          by_length,      is_well_formed<T>,
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
    row<MedCapabilities>("med-capabilities", 1, "ANSI/TIA-1057 10.2.2"),
    row<MedPolicy>("med-policy", 0, "ANSI/TIA-1057 10.2.3"),
    row<MedLocation>("med-location", 0, "ANSI/TIA-1057 10.2.4"),
    row<MedPower>("med-power", 1, "ANSI/TIA-1057 10.2.5"),
    row<MedHardware>("med-hardware", 1, "ANSI/TIA-1057 10.2.6"),
    row<MedFirmware>("med-firmware", 1, "ANSI/TIA-1057 10.2.6"),
    row<MedSoftware>("med-software", 1, "ANSI/TIA-1057 10.2.6"),
    row<MedSerial>("med-serial", 1, "ANSI/TIA-1057 10.2.6"),
    row<MedManufacturer>("med-manufacturer", 1, "ANSI/TIA-1057 10.2.6"),
    row<MedModel>("med-model", 1, "ANSI/TIA-1057 10.2.6"),
    row<MedAsset>("med-asset", 1, "ANSI/TIA-1057 10.2.6"),
    row<DcbxCin>("dcbx-cin", 1, "DCBX Rev 1.0"),
    row<DcbxCee>("dcbx-cee", 1, "DCB Capability Exchange Protocol Rev 1.01"),
    row<Contribution>("contribution", 1, "lldp-level-tlv(7)"),
    row<LocationTlv>("location", 1, "lldp-level-tlv(7)"),
    row<LayersTlv>("layers", 1, "lldp-level-tlv(7)"),
    row<ClassesTlv>("classes", 1, "lldp-level-tlv(7)"),
    row<OrderTlv>("order", 1, "lldp-level-tlv(7)"),
};
static_assert(std::size(kRows) <= 64, "TlvWalk marks the rows it has seen in 64 bits");

inline constexpr std::uint8_t kNoRow = std::size(kRows);
/// The row of a struct.
template <class T>
inline constexpr std::uint8_t kRow = [] {
  std::uint8_t row = 0;
  while (kRows[row].key != T::kKey) ++row;
  return row;
}();

/// What the receive path asks of a row, in one word.
struct Check {
  std::uint64_t mark = 0;  ///< a bit of its own if an LLDPDU may have it once, else none
  std::uint16_t least = 0;
  std::uint16_t span = 0;  ///< from the least to the greatest length
  std::uint8_t row = kNoRow;
  bool by_length = false;  ///< no well_formed() to call
};
constexpr Check check_of(std::uint8_t row) {
  const Row& r = kRows[row];
  return {.mark = r.at_most == 1 ? std::uint64_t{1} << row : 0,
          .least = r.least,
          .span = static_cast<std::uint16_t>(r.most - r.least),
          .row = row,
          .by_length = r.by_length};
}
inline constexpr Check kUnrecognizedCheck{};
/// These are found by their subtype under the OUIs of a Dialect.
inline constexpr Check kContributionCheck = check_of(kRow<Contribution>);
inline constexpr Check kLocationCheck = check_of(kRow<LocationTlv>);
inline constexpr Check kLayersCheck = check_of(kRow<LayersTlv>);
inline constexpr Check kClassesCheck = check_of(kRow<ClassesTlv>);
inline constexpr Check kOrderCheck = check_of(kRow<OrderTlv>);

/// Checks by type, or under one OUI by subtype: a look-up costs no search.
class Slots {
 public:
  constexpr Slots(bool organizational, std::uint32_t oui) {
    for (std::uint8_t row = 0; row < kNoRow; ++row) {
      const Key& key = kRows[row].key;
      if ((key.type == kOrganizational) != organizational || key.oui != oui) continue;
      slots_.at(organizational ? key.subtype : key.type) = check_of(row);
    }
  }
  [[nodiscard]] constexpr const Check& operator[](std::uint8_t i) const {
    return i < slots_.size() ? slots_[i] : kUnrecognizedCheck;
  }

 private:
  std::array<Check, 0x20> slots_{};
};
inline constexpr Slots kBasicSlots(false, 0);
inline constexpr Slots kDot1Slots(true, kDot1);
inline constexpr Slots kDot3Slots(true, kDot3);
inline constexpr Slots kTiaSlots(true, kTia);
inline constexpr Slots kIntelSlots(true, kIntel);

}  // namespace lldp::tlv
