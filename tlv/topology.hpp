// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tlv/claim.hpp"
#include "tlv/layout.hpp"

/// The two TLVs that carry a Claim. They share its meaning and no number; each keeps the numbers
/// it came with, and says what they mean.
///
/// A claim's level is 0 exactly if its device is a host. So these contradictions count as unknown:
/// a host with another level is neither a host nor on a level (a wrong host would make its
/// neighbor a leaf), and whatever is no host and says level 0 has no level.
namespace lldp::tlv {

/// Topology Recognition TLV, IEEE 802.1Qcz-2023 D.2.16.
/// Information string: device type:8 | topology level:8 | port orientation:8.
struct Tr {
  static constexpr Key kKey{kOrganizational, kDot1, 0x14};
  std::uint8_t device_type = 255;
  std::uint8_t level = 255;
  std::uint8_t orientation = 255;
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kDevices[] = {
        {0, "end-station"}, {1, "bridge"}, {2, "router"}, {255, "unknown"}};
    constexpr Name kLevels[] = {{255, "unknown"}};
    constexpr Name kOrientations[] = {
        {0, "uplink"}, {1, "downlink"}, {2, "crosslink"}, {255, "unknown"}};
    io.choice("device-type", v.device_type, 8, kDevices)
        .choice("level", v.level, 8, kLevels)
        .choice("orientation", v.orientation, 8, kOrientations);
  }
  friend bool operator==(const Tr&, const Tr&) = default;
};

/// The 802.1 proposal's TLV of 2019: subtype 1 under an OUI that the operator chooses.
/// Information string: device type:8 | level:8 | port:8.
struct Contribution {
  static constexpr Key kKey{kOrganizational, 0x024c56, 0x01};  ///< the default OUI
  std::uint8_t device_type = 0;
  std::uint8_t level = 0;
  std::uint8_t port = 0;
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kDevices[] = {{0, "host"}, {1, "switch"}};
    constexpr Name kPorts[] = {{0, "unmarked"}, {1, "uplink"}, {2, "downlink"}};
    io.choice("device-type", v.device_type, 8, kDevices)
        .field("level", v.level, 8)
        .choice("port", v.port, 8, kPorts);
  }
  friend bool operator==(const Contribution&, const Contribution&) = default;
};

/// What the sender's end of a link joins, in a layered expander: a TLV of ours, subtype 3 under the
/// OUI of the contribution TLV. Information string: near layer:8 | far layer:8.
struct LayersTlv {
  static constexpr Key kKey{kOrganizational, 0x024c56, 0x03};  ///< the default OUI
  std::uint8_t near = 0;  ///< of the virtual switch that owns the port
  std::uint8_t far = 0;   ///< where the sender takes the link to lead
  static constexpr void layout(auto& io, auto& v) {
    io.field("near-layer", v.near, 8).field("far-layer", v.far, 8);
  }
  friend bool operator==(const LayersTlv&, const LayersTlv&) = default;
};
/// nullopt: there is no such layer.
[[nodiscard]] std::optional<Layers> layers_of(const LayersTlv& tlv);
[[nodiscard]] LayersTlv to_layers_tlv(Layers layers);

[[nodiscard]] Claim claim_of(const Tr& tlv);
[[nodiscard]] Claim claim_of(const Contribution& tlv);
[[nodiscard]] Tr to_tr(const Claim& claim);
/// Cannot say "unknown level": a switch without one goes out as level 0; a crosslink as unmarked.
[[nodiscard]] Contribution to_contribution(const Claim& claim);

}  // namespace lldp::tlv
