// SPDX-License-Identifier: Apache-2.0
#include "tlv/topology.hpp"

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
  } else if (level != 0) {
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

}  // namespace

Claim claim_of(const Tr& tlv) {
  const DeviceType device = tlv.device_type == 0                           ? DeviceType::kHost
                            : tlv.device_type == 1 || tlv.device_type == 2 ? DeviceType::kSwitch
                                                                           : DeviceType::kUnknown;
  const PortType port = tlv.orientation == 0   ? PortType::kUplink
                        : tlv.orientation == 1 ? PortType::kDownlink
                        : tlv.orientation == 2 ? PortType::kCrosslink
                                               : PortType::kUnmarked;
  return claim(device, tlv.level, port);
}

Claim claim_of(const Contribution& tlv) {
  const DeviceType device = tlv.device_type == 0   ? DeviceType::kHost
                            : tlv.device_type == 1 ? DeviceType::kSwitch
                                                   : DeviceType::kUnknown;
  const PortType port = tlv.port == 1   ? PortType::kUplink
                        : tlv.port == 2 ? PortType::kDownlink
                                        : PortType::kUnmarked;
  return claim(device, tlv.level, port);
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
  switch (claim.port) {
    case PortType::kUplink:
      tlv.orientation = 0;
      break;
    case PortType::kDownlink:
      tlv.orientation = 1;
      break;
    case PortType::kCrosslink:
      tlv.orientation = 2;
      break;
    case PortType::kUnmarked:
      break;
  }
  return tlv;
}

Contribution to_contribution(const Claim& claim) {
  Contribution tlv;
  tlv.device_type =
      number_of(claim.device).value_or(kUnknown);  // reserved, so nobody takes it for a host
  if (claim.level) tlv.level = claim.level->value();
  switch (claim.port) {
    case PortType::kUplink:
      tlv.port = 1;
      break;
    case PortType::kDownlink:
      tlv.port = 2;
      break;
    case PortType::kCrosslink:
    case PortType::kUnmarked:
      break;
  }
  return tlv;
}

}  // namespace lldp::tlv
