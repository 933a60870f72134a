// SPDX-License-Identifier: Apache-2.0
#include "agent/core/announcement.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "tlv/dot1.hpp"
#include "tlv/dot3.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/location.hpp"
#include "tlv/order.hpp"
#include "tlv/writer.hpp"

namespace lldp::core {
namespace {

constexpr std::uint8_t kIfIndex = 2;        ///< interface numbering, 8.5.9.5
constexpr std::uint32_t kFrameHeader = 14;  ///< what the kernel's MTU leaves out

/// What follows OUI and subtype, as it is.
struct Raw {
  tlv::Octets octets{};
  static constexpr void layout(auto& io, auto& v) {
    io.rest("octets", v.octets, 0, tlv::kMaxInformation - 4);  // OUI and subtype
  }
};

std::uint32_t oui_number(const Oui& oui) {
  return static_cast<std::uint32_t>(oui[0] << 16 | oui[1] << 8 | oui[2]);
}

/// What lldpd calls a VLAN too.
constexpr const char* kVlanPrefix = "vlan";

/// The Ethernet header and the three mandatory TLVs.
tlv::LldpduWriter begin(Bytes& frame, Scope scope, const Link& link, const ChassisId& chassis,
                        std::uint16_t ttl) {
  const MacAddress to = group_address(scope);
  std::array<std::uint8_t, 14> header{};
  std::copy(to.begin(), to.end(), header.begin());
  std::copy(link.address.begin(), link.address.end(), header.begin() + to.size());
  header[12] = tlv::kEtherType >> 8;
  header[13] = tlv::kEtherType & 0xff;
  frame.assign(header.begin(), header.end());
  tlv::LldpduWriter writer(frame, link.mtu);
  writer.add(tlv::ChassisIdTlv{chassis.subtype, as_octets(chassis.octets)});
  if (const auto& id = link.details->port_id)
    writer.add(tlv::PortIdTlv{id->subtype, as_octets(id->octets)});
  else
    writer.add(tlv::PortIdTlv{PortId::kInterfaceName, as_octets(link.name)});
  writer.add(tlv::Ttl{ttl});
  return writer;
}

}  // namespace

std::uint16_t tx_ttl(const Settings& settings) {
  return static_cast<std::uint16_t>(std::min<std::chrono::seconds::rep>(
      65535, settings.msgTxInterval.count() * settings.msgTxHold + 1));
}

MissingTlvs write_info_frame(Bytes& frame, Scope scope, const Link& link, const Self& self,
                             const Settings& settings) {
  tlv::LldpduWriter writer = begin(frame, scope, link, self.chassis_id, tx_ttl(settings));
  const tlv::Claim& claim = self.claim;
  const LinkDetails& details = *link.details;
  tlv::Capabilities capabilities{tlv::Capabilities::kStationOnly, tlv::Capabilities::kStationOnly};
  if (claim.device != DeviceType::kHost) {
    capabilities = {tlv::Capabilities::kBridge | tlv::Capabilities::kRouter,
                    tlv::Capabilities::kBridge};
    if (settings.router) capabilities.enabled |= tlv::Capabilities::kRouter;
  }
  // What the fabric goes by comes first, should the MTU be small, and the order before all.
  if (!self.order.empty()) {
    tlv::Key key = tlv::OrderTlv::kKey;
    key.oui = oui_number(settings.contribution_oui);
    writer.add(Raw{ByteSpan(self.order.data(), self.order.size())}, key);
  }
  if (settings.send_tr) writer.add(tlv::to_tr(claim));
  if (settings.send_contribution) {
    writer.add(tlv::to_contribution(claim), settings.contribution_oui);
  }
  if (link.layers && claim.device == DeviceType::kSwitch)
    writer.add(tlv::to_layers_tlv(*link.layers), settings.contribution_oui);
  if (self.classes != nullptr) writer.add(*self.classes, settings.contribution_oui);
  if (settings.send_pfc && link.pfc) {
    // Not willing: what is configured here is not for a neighbor to change.
    writer.add(tlv::PfcConfig{.willing = false,
                              .mbc = link.pfc->mbc,
                              .cap = static_cast<std::uint8_t>(link.pfc->cap & 0x0f),
                              .enabled = link.pfc->enabled});
  }
  const std::size_t of_fabric = writer.left_out();
  writer.add(capabilities);
  if (!self.location.empty()) {
    tlv::Key key = tlv::LocationTlv::kKey;
    key.oui = oui_number(settings.contribution_oui);
    writer.add(Raw{as_octets(self.location)}, key);
  }
  if (!self.system_name.empty()) writer.add(tlv::SystemName{self.system_name});
  writer.add(tlv::PortDescription{details.description.empty() ? link.name : details.description});
  for (const ManagementAddress& m : settings.management_addresses)
    writer.add(tlv::ManagementAddress{.address = as_octets(m.address),
                                      .interface_subtype = kIfIndex,
                                      .interface_number = m.interface.value()});
  writer.add(tlv::Dot3LinkAggregation{.enabled = details.aggregate != Ifindex(),
                                      .capable = true,
                                      .port_id = details.aggregate.value()});
  writer.add(tlv::MaxFrameSize{
      static_cast<std::uint16_t>(std::min<std::uint32_t>(link.mtu + kFrameHeader, 0xffff))});
  if (details.mac_phy)
    writer.add(tlv::MacPhy{.autoneg_enabled = details.mac_phy->autoneg_enabled,
                           .autoneg_supported = details.mac_phy->autoneg_supported,
                           .advertised = details.mac_phy->advertised,
                           .mau_type = details.mac_phy->mau_type});
  if (details.port_vlan != 0) writer.add(tlv::PortVlan{details.port_vlan});
  if (!settings.system_description.empty()) {
    writer.add(tlv::SystemDescription{settings.system_description});
  }
  for (const CustomTlv& custom : settings.custom_tlvs)
    writer.add(
        Raw{custom.information},
        {.type = tlv::kOrganizational, .oui = oui_number(custom.oui), .subtype = custom.subtype});
  for (const std::uint16_t vid : details.vlans)
    writer.add(tlv::VlanName{vid, kVlanPrefix + std::to_string(vid)});
  writer.end();
  return {writer.left_out(), of_fabric};
}

void write_shutdown_frame(Bytes& frame, Scope scope, const Link& link, const ChassisId& chassis) {
  begin(frame, scope, link, chassis, 0).end();
}

}  // namespace lldp::core
