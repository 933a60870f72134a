// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tlv/describe.hpp"
#include "tlv/layout.hpp"

/// DCBX as it was before IEEE 802.1Qaz, which converged Ethernet adapters and the switches that
/// they were made for still speak: one TLV under Intel's OUI (00-1B-21) that holds TLVs of its own,
/// by the DCB Capability Exchange Protocol Base Specification 1.01 ("CEE"), and before it 1.0
/// ("CIN").
namespace lldp::tlv {

/// What every feature begins with.
struct DcbxHeader {
  std::uint8_t version = 0;
  std::uint8_t max_version = 0;
  bool enabled = false;
  bool willing = false;
  bool error = false;  ///< the two ends disagree, and so the feature is off
  std::uint8_t subtype = 0;
  static constexpr void layout(auto& io, auto& v) {
    io.field("version", v.version, 8).field("max-version", v.max_version, 8);
    io.field("enabled", v.enabled, 1).field("willing", v.willing, 1).field("error", v.error, 1);
    io.reserved(5).field("subtype", v.subtype, 8);
  }
  friend bool operator==(const DcbxHeader&, const DcbxHeader&) = default;
};

struct DcbxControl {
  std::uint8_t version = 0;
  std::uint8_t max_version = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  static constexpr void layout(auto& io, auto& v) {
    io.field("version", v.version, 8).field("max-version", v.max_version, 8);
    io.field("sequence", v.sequence, 32).field("acknowledged", v.acknowledged, 32);
  }
  friend bool operator==(const DcbxControl&, const DcbxControl&) = default;
};

/// Of 1.01; those of 1.0 are of another shape.
struct DcbxPriorityGroups {
  DcbxHeader header{};
  std::array<std::uint8_t, 8> group{};      ///< of priority 0..7; 15: without a limit
  std::array<std::uint8_t, 8> bandwidth{};  ///< percent, of group 0..7
  std::uint8_t classes = 0;
  static constexpr void layout(auto& io, auto& v) {
    DcbxHeader::layout(io, v.header);
    io.array("group", v.group, 4).array("bandwidth", v.bandwidth, 8);
    io.field("classes", v.classes, 8);
  }
  friend bool operator==(const DcbxPriorityGroups&, const DcbxPriorityGroups&) = default;
};

/// How many classes can do PFC at once.
struct DcbxPfcCapability {
  std::uint8_t classes = 0;
  static constexpr void layout(auto& io, auto& v) { io.field("classes", v.classes, 8); }
  friend bool operator==(const DcbxPfcCapability&, const DcbxPfcCapability&) = default;
};

struct DcbxPfc {
  DcbxHeader header{};
  std::uint8_t priorities = 0;                    ///< bit n = priority n
  std::optional<DcbxPfcCapability> capability{};  ///< 1.0 does not say
  static constexpr void layout(auto& io, auto& v) {
    DcbxHeader::layout(io, v.header);
    io.flags("priorities", v.priorities, 8).optional(v.capability);
  }
  friend bool operator==(const DcbxPfc&, const DcbxPfc&) = default;
};

/// One of 1.01.
struct DcbxApplication {
  std::uint16_t protocol = 0;  ///< EtherType or port number, as the selector says
  std::uint8_t oui_high = 0;   ///< its uppermost six bits
  std::uint8_t selector = 0;
  std::uint16_t oui_low = 0;
  std::uint8_t priorities = 0;  ///< bit n = priority n
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kSelectors[] = {{0, "ethertype"}, {1, "port"}};
    io.field("protocol", v.protocol, 16).field("oui-high", v.oui_high, 6);
    io.choice("selector", v.selector, 2, kSelectors).field("oui-low", v.oui_low, 16);
    io.flags("priorities", v.priorities, 8);
  }
  friend bool operator==(const DcbxApplication&, const DcbxApplication&) = default;
};
struct DcbxApplications {
  DcbxHeader header{};
  List<DcbxApplication, kMaxInformation / 6> table{};
  static constexpr void layout(auto& io, auto& v) {
    DcbxHeader::layout(io, v.header);
    io.list("table", v.table);
  }
  friend bool operator==(const DcbxApplications&, const DcbxApplications&) = default;
};

/// One of the TLVs within.
struct DcbxFeature {
  static constexpr std::uint8_t kControl = 1;
  static constexpr std::uint8_t kPriorityGroups = 2;
  static constexpr std::uint8_t kPfc = 3;
  static constexpr std::uint8_t kApplications = 4;  ///< of 1.01
  static constexpr std::uint8_t kLogicalLink = 6;   ///< of 1.0
  std::uint8_t type = 0;
  Octets value{};
  [[nodiscard]] Fields described() const {
    Fields out;
    if (type == kControl) out = describe_as<DcbxControl>(value);
    if (type == kPriorityGroups) out = describe_as<DcbxPriorityGroups>(value);
    if (type == kPfc) out = describe_as<DcbxPfc>(value);
    if (type == kApplications) out = describe_as<DcbxApplications>(value);
    if (out.empty()) out.push_back(Field::of("octets", to_hex(value)));
    return out;
  }
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kTypes[] = {{kControl, "control"},
                               {kPriorityGroups, "priority-groups"},
                               {kPfc, "pfc"},
                               {kApplications, "applications"},
                               {kLogicalLink, "logical-link"}};
    io.choice("feature", v.type, 7, kTypes);
    io.sized("value", v.value, 9, 0, kMaxInformation, [&v](ByteSpan) { return v.described(); });
  }
  friend bool operator==(const DcbxFeature&, const DcbxFeature&) = default;
};

template <std::uint8_t Version>
struct DcbxTlv {
  static constexpr Key kKey{kOrganizational, kIntel, Version};
  List<DcbxFeature, 16> features{};
  [[nodiscard]] constexpr bool consistent() const { return features.count > 0; }
  /// The priorities for which the device has PFC by its own word; nullopt: it does not say.
  [[nodiscard]] std::optional<std::uint8_t> pfc_enabled() const {
    for (const DcbxFeature& feature : features.view()) {
      const auto pfc =
          feature.type == DcbxFeature::kPfc ? decode_as<DcbxPfc>(feature.value) : std::nullopt;
      if (!pfc) continue;
      return pfc->header.enabled && !pfc->header.error ? pfc->priorities : std::uint8_t{0};
    }
    return std::nullopt;
  }
  static constexpr void layout(auto& io, auto& v) { io.list("features", v.features); }
  friend bool operator==(const DcbxTlv&, const DcbxTlv&) = default;
};
using DcbxCin = DcbxTlv<1>;
using DcbxCee = DcbxTlv<2>;

}  // namespace lldp::tlv
