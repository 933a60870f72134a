// SPDX-License-Identifier: Apache-2.0
#include "base/fabric.hpp"

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
    case Order::kUnknown:
      break;
  }
  return "unknown";
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
