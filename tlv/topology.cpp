// SPDX-License-Identifier: Apache-2.0
#include "tlv/topology.hpp"

#include <algorithm>
#include <span>

namespace lldp::tlv {
namespace {

constexpr std::uint8_t kUnknown = 255;

Claim claim(DeviceType device, std::uint8_t level, PortType port) {
  Claim c{.device = device, .port = port};
  const bool unknown = level == kUnknown;
  if (device == DeviceType::kHost) {
    if (level == 0 || unknown) {
      c.level = Level::of<0>();
    } else {
      c.device = DeviceType::kUnknown;
    }
  } else if (level != 0 && device != DeviceType::kUnknown) {
    c.level = Level::make(level);
  }
  return c;
}

/// Of a device type where both TLVs have the same.
std::optional<std::uint8_t> number_of(DeviceType device) {
  switch (device) {
    case DeviceType::kHost:
      return 0;
    case DeviceType::kSwitch:
      return 1;
    case DeviceType::kUnknown:
      break;
  }
  return std::nullopt;
}

/// What a TLV says of a port, by its number for that; any other number says nothing.
using PortTypes = std::span<const PortType>;
constexpr PortType kOrientations[] = {PortType::kUplink, PortType::kDownlink, PortType::kCrosslink};
constexpr PortType kContributions[] = {PortType::kUnmarked, PortType::kUplink, PortType::kDownlink};

PortType type_of(std::uint8_t number, PortTypes types) {
  return number < types.size() ? types[number] : PortType::kUnmarked;
}

/// A type without a number leaves the one that is there.
void put_type(std::uint8_t& number, PortType type, PortTypes types) {
  const auto at = std::ranges::find(types, type);
  if (at != types.end()) number = static_cast<std::uint8_t>(at - types.begin());
}

}  // namespace

Claim claim_of(const Tr& tlv) {
  const DeviceType device = tlv.device_type == 0                           ? DeviceType::kHost
                            : tlv.device_type == 1 || tlv.device_type == 2 ? DeviceType::kSwitch
                                                                           : DeviceType::kUnknown;
  return claim(device, tlv.level, type_of(tlv.orientation, kOrientations));
}

Claim claim_of(const Contribution& tlv) {
  const DeviceType device = tlv.device_type == 0   ? DeviceType::kHost
                            : tlv.device_type == 1 ? DeviceType::kSwitch
                                                   : DeviceType::kUnknown;
  return claim(device, tlv.level, type_of(tlv.port, kContributions));
}

std::optional<Layers> layers_of(const LayersTlv& tlv) {
  const auto near = Layer::make(tlv.near);
  const auto far = Layer::make(tlv.far);
  if (!near || !far) return std::nullopt;
  return Layers{*near, *far};
}

LayersTlv to_layers_tlv(Layers layers) { return {layers.near.value(), layers.far.value()}; }

Tr to_tr(const Claim& claim) {
  Tr tlv;
  if (const auto device = number_of(claim.device)) tlv.device_type = *device;
  if (claim.level) tlv.level = claim.level->value();
  put_type(tlv.orientation, claim.port, kOrientations);
  return tlv;
}

Contribution to_contribution(const Claim& claim) {
  Contribution tlv;
  tlv.device_type =
      number_of(claim.device).value_or(kUnknown);  // reserved, so no reader takes it for a host
  if (claim.level) tlv.level = claim.level->value();
  put_type(tlv.port, claim.port, kContributions);
  return tlv;
}

}  // namespace lldp::tlv
