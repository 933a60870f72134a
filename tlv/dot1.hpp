// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tlv/layout.hpp"
#include "tlv/text.hpp"

/// Organizational TLVs of IEEE 802.1 (OUI 00-80-C2): IEEE 802.1Q-2018 Annex D, 802.1AX-2014 Annex
/// F.
namespace lldp::tlv {

/// D.2.1
struct PortVlan {
  static constexpr Key kKey{kOrganizational, kDot1, 0x01};
  std::uint16_t vid = 0;
  static constexpr void layout(auto& io, auto& v) { io.field("vid", v.vid, 16); }
  friend bool operator==(const PortVlan&, const PortVlan&) = default;
};

/// D.2.2
struct PortProtocolVlan {
  static constexpr Key kKey{kOrganizational, kDot1, 0x02};
  bool enabled = false;
  bool supported = false;
  std::uint16_t vid = 0;
  static constexpr void layout(auto& io, auto& v) {
    io.reserved(5).field("enabled", v.enabled, 1).field("supported", v.supported, 1).reserved(1);
    io.field("vid", v.vid, 16);
  }
  friend bool operator==(const PortProtocolVlan&, const PortProtocolVlan&) = default;
};

/// D.2.3
struct VlanName {
  static constexpr Key kKey{kOrganizational, kDot1, 0x03};
  std::uint16_t vid = 0;
  std::string_view name{};
  static constexpr void layout(auto& io, auto& v) {
    io.field("vid", v.vid, 16).counted("vlan-name", v.name, 0, 32, show_text);
  }
  friend bool operator==(const VlanName&, const VlanName&) = default;
};

/// D.2.4
struct ProtocolIdentity {
  static constexpr Key kKey{kOrganizational, kDot1, 0x04};
  Octets identity{};
  static constexpr void layout(auto& io, auto& v) { io.counted("identity", v.identity, 0, 255); }
  friend bool operator==(const ProtocolIdentity&, const ProtocolIdentity&) = default;
};

/// D.2.5
struct VidUsageDigest {
  static constexpr Key kKey{kOrganizational, kDot1, 0x05};
  std::uint32_t digest = 0;
  static constexpr void layout(auto& io, auto& v) { io.field("digest", v.digest, 32); }
  friend bool operator==(const VidUsageDigest&, const VidUsageDigest&) = default;
};

/// D.2.6
struct ManagementVid {
  static constexpr Key kKey{kOrganizational, kDot1, 0x06};
  std::uint16_t vid = 0;
  static constexpr void layout(auto& io, auto& v) { io.field("vid", v.vid, 16); }
  friend bool operator==(const ManagementVid&, const ManagementVid&) = default;
};

/// 802.1AX-2014 F.1; IEEE 802.3 79.3.3 is the same under its own OUI.
template <std::uint32_t Organization, std::uint8_t Subtype>
struct LinkAggregationTlv {
  static constexpr Key kKey{kOrganizational, Organization, Subtype};
  std::uint8_t port_type = 0;
  bool enabled = false;
  bool capable = false;
  std::uint32_t port_id = 0;
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kPortTypes[] = {
        {0, "unspecified"}, {1, "aggregation-port"}, {2, "aggregator"}, {3, "single-aggregator"}};
    io.reserved(4).choice("port-type", v.port_type, 2, kPortTypes);
    io.field("enabled", v.enabled, 1).field("capable", v.capable, 1);
    io.field("port-id", v.port_id, 32);
  }
  friend bool operator==(const LinkAggregationTlv&, const LinkAggregationTlv&) = default;
};
using LinkAggregation = LinkAggregationTlv<kDot1, 0x07>;

/// D.2.7
struct CongestionNotification {
  static constexpr Key kKey{kOrganizational, kDot1, 0x08};
  std::uint8_t cnpv = 0;   ///< bit n = priority n
  std::uint8_t ready = 0;  ///< bit n = priority n
  static constexpr void layout(auto& io, auto& v) {
    io.flags("cnpv", v.cnpv, 8).flags("ready", v.ready, 8);
  }
  friend bool operator==(const CongestionNotification&, const CongestionNotification&) = default;
};

/// What ETS configuration and recommendation have in common: D.2.8.3 to D.2.8.6.
struct EtsTables {
  std::array<std::uint8_t, 8> traffic_class{};  ///< of priority 0..7
  std::array<std::uint8_t, 8> bandwidth{};      ///< percent, of traffic class 0..7
  std::array<std::uint8_t, 8> algorithm{};      ///< of traffic class 0..7
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kAlgorithms[] = {
        {0, "strict"}, {1, "credit-based"}, {2, "ets"}, {255, "vendor"}};
    io.array("traffic-class", v.traffic_class, 4)
        .array("bandwidth", v.bandwidth, 8)
        .array("algorithm", v.algorithm, 8, kAlgorithms);
  }
  friend bool operator==(const EtsTables&, const EtsTables&) = default;
};

/// D.2.8
struct EtsConfig {
  static constexpr Key kKey{kOrganizational, kDot1, 0x09};
  bool willing = false;
  bool credit_based_shaper = false;
  std::uint8_t max_classes = 0;  ///< 3..8, 0 stands for 8
  EtsTables tables{};
  static constexpr void layout(auto& io, auto& v) {
    io.field("willing", v.willing, 1).field("credit-based-shaper", v.credit_based_shaper, 1);
    io.reserved(3).field("max-classes", v.max_classes, 3);
    EtsTables::layout(io, v.tables);
  }
  friend bool operator==(const EtsConfig&, const EtsConfig&) = default;
};

/// D.2.9
struct EtsRecommendation {
  static constexpr Key kKey{kOrganizational, kDot1, 0x0a};
  EtsTables tables{};
  static constexpr void layout(auto& io, auto& v) {
    io.reserved(8);
    EtsTables::layout(io, v.tables);
  }
  friend bool operator==(const EtsRecommendation&, const EtsRecommendation&) = default;
};

/// D.2.10. Information string: W:1 MBC:1 reserved:2 cap:4 | enable:8.
struct PfcConfig {
  static constexpr Key kKey{kOrganizational, kDot1, 0x0b};
  bool willing = false;
  bool mbc = false;          ///< MACsec bypass capability
  std::uint8_t cap = 0;      ///< traffic classes that can do PFC at once, 0..15
  std::uint8_t enabled = 0;  ///< bit n = priority n
  static constexpr void layout(auto& io, auto& v) {
    io.field("willing", v.willing, 1).field("mbc", v.mbc, 1).reserved(2);
    io.field("cap", v.cap, 4).flags("enabled", v.enabled, 8);
  }
  friend bool operator==(const PfcConfig&, const PfcConfig&) = default;
};

/// D.2.11
struct ApplicationPriority {
  static constexpr Key kKey{kOrganizational, kDot1, 0x0c};
  struct Entry {
    std::uint8_t priority = 0;
    std::uint8_t selector = 0;
    std::uint16_t protocol = 0;  ///< EtherType, port number or DSCP, as the selector says
    static constexpr void layout(auto& io, auto& v) {
      constexpr Name kSelectors[] = {
          {1, "ethertype"}, {2, "tcp"}, {3, "udp"}, {4, "port"}, {5, "dscp"}};
      io.field("priority", v.priority, 3).reserved(2).choice("selector", v.selector, 3, kSelectors);
      io.field("protocol", v.protocol, 16);
    }
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  List<Entry, (kMaxInformation - 5) / 3> table{};
  static constexpr void layout(auto& io, auto& v) { io.reserved(8).list("table", v.table); }
  friend bool operator==(const ApplicationPriority&, const ApplicationPriority&) = default;
};

}  // namespace lldp::tlv
