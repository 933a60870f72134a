// SPDX-License-Identifier: Apache-2.0
#include "base/fabric.hpp"

#include <charconv>

#include "base/text.hpp"

namespace lldp {

std::string_view to_string(Role r) { return r == Role::kHost ? "host" : "switch"; }

std::string_view to_string(DeviceType t) {
  switch (t) {
    case DeviceType::kHost:
      return "host";
    case DeviceType::kSwitch:
      return "switch";
    case DeviceType::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view to_string(PortType t) {
  switch (t) {
    case PortType::kUplink:
      return "uplink";
    case PortType::kDownlink:
      return "downlink";
    case PortType::kCrosslink:
      return "crosslink";
    case PortType::kUnmarked:
      break;
  }
  return "unmarked";
}

std::string_view to_string(Order o) {
  switch (o) {
    case Order::kDown:
      return "down";
    case Order::kUp:
      return "up";
    case Order::kShut:
      return "shut";
    case Order::kUnknown:
      break;
  }
  return "unknown";
}

std::string to_string(Layers layers) {
  return std::to_string(layers.near.value()) + ":" + std::to_string(layers.far.value());
}

std::optional<Layers> parse_layers(std::string_view text) {
  const auto layer = [](std::string_view digits) -> std::optional<Layer> {
    std::uint32_t v = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), v);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return Layer::make(v);
  };
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const auto near = layer(text.substr(0, colon));
  const auto far = layer(text.substr(colon + 1));
  if (!near || !far) return std::nullopt;
  return Layers{*near, *far};
}

ChassisId chassis_id_from_mac(const MacAddress& mac) {
  ChassisId id;
  id.subtype = ChassisId::kMacAddress;
  id.octets = as_text(mac);
  return id;
}

Order order_of_port(const std::optional<Position>& self, const std::optional<Position>& neighbor) {
  if (!self || !neighbor) return Order::kUnknown;
  if (neighbor->level.value() == 0) return Order::kDown;
  if (*neighbor == *self) return Order::kUnknown;
  return *neighbor > *self ? Order::kUp : Order::kDown;
}

}  // namespace lldp
