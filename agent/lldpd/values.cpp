// SPDX-License-Identifier: Apache-2.0
#include "agent/lldpd/values.hpp"

#include <algorithm>

#include "tlv/dot1.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/writer.hpp"

namespace lldp::lldpd {
namespace {

constexpr std::size_t kEthernetHeader = 14;
/// More than any link carries: nothing that lldpd heard is left out.
constexpr std::size_t kLimit = 9216;

/// The information string of any TLV.
struct Raw {
  ByteSpan octets{};
  static constexpr void layout(auto& io, auto& v) {
    io.rest("information", v.octets, 0, tlv::kMaxInformation);
  }
};

}  // namespace

Bytes frame_of(const Neighbor& neighbor, const MacAddress& group) {
  Bytes frame(group.begin(), group.end());
  frame.resize(kEthernetHeader - 2);
  frame.push_back(tlv::kEtherType >> 8);
  frame.push_back(tlv::kEtherType & 0xff);
  tlv::LldpduWriter writer(frame, kLimit);
  writer.add(tlv::ChassisIdTlv{neighbor.chassis_id.subtype, as_octets(neighbor.chassis_id.octets)});
  writer.add(tlv::PortIdTlv{neighbor.port_id.subtype, as_octets(neighbor.port_id.octets)});
  writer.add(tlv::Ttl{neighbor.ttl});
  if (neighbor.ttl != 0) {
    if (!neighbor.port_description.empty())
      writer.add(tlv::PortDescription{neighbor.port_description});
    if (!neighbor.system_name.empty()) writer.add(tlv::SystemName{neighbor.system_name});
    if (neighbor.capabilities != tlv::Capabilities{}) writer.add(neighbor.capabilities);
    for (const CustomTlv& custom : neighbor.custom) writer.add(Raw{custom.information}, custom.key);
  }
  writer.end();
  return frame;
}

std::optional<std::vector<CustomTlv>> custom_tlvs_of(ByteSpan frame) {
  std::vector<CustomTlv> out;
  tlv::TlvWalk walk(frame.subspan(kEthernetHeader), {});
  for (tlv::Tlv tlv; walk.next(tlv);) {
    if (tlv.key == tlv::Ttl::kKey && tlv::decode_as<tlv::Ttl>(tlv.information) == tlv::Ttl{0})
      return std::nullopt;
    // Of a port's hardware and VLANs lldpd tells itself.
    if (tlv.key.type != tlv::kOrganizational || tlv.key.oui == tlv::kDot3 ||
        tlv.key == tlv::PortVlan::kKey || tlv.key == tlv::VlanName::kKey)
      continue;
    out.push_back({tlv.key, Bytes(tlv.information.begin(), tlv.information.end())});
  }
  return out;
}

std::vector<Change> changes(std::span<const CustomTlv> present, std::span<const CustomTlv> wanted,
                            std::span<const tlv::Key> ours) {
  std::vector<Change> out;
  const auto has = [](std::span<const CustomTlv> tlvs, const tlv::Key& key) {
    return std::ranges::count(tlvs, key, &CustomTlv::key);
  };
  for (const CustomTlv& want : wanted) {
    if (has(present, want.key) == 1 && std::ranges::count(present, want) == 1) continue;
    out.push_back({Change::Operation::kReplace, want});
  }
  for (const tlv::Key& key : ours) {
    if (has(present, key) == 0 || has(wanted, key) != 0) continue;
    out.push_back({Change::Operation::kRemove, {.key = key}});
  }
  return out;
}

}  // namespace lldp::lldpd
