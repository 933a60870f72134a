// SPDX-License-Identifier: Apache-2.0
// lldpcli's JSON comes in two shapes: `json0` has a list for everything that may be repeated and
// its names as members; `json` leaves lists of one away and makes names the keys of objects.
#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.hpp"
#include "lab/collect/dialects.hpp"

namespace lldp::lab::collect {
namespace {

/// A list's entries, or the one that is no list.
std::vector<const Json*> entries(const Json* value) {
  std::vector<const Json*> all;
  if (value == nullptr) return all;
  if (!value->is_array()) return {value};
  for (const Json& entry : *value) all.push_back(&entry);
  return all;
}

/// "x", {"value": "x"}, [{"value": "x"}, ...] or ["x", ...], escaped.
std::string value_of(const Json* value) {
  const auto all = entries(value);
  if (all.empty()) return {};
  if (all[0]->is_string()) return escape(all[0]->get<std::string>());
  return escape(text_at(*all[0], "value"));
}

/// What stands under names: {"a0": {...}, "a1": {...}}, a list of such, or {"name": "a0", ...}.
using Named = std::vector<std::pair<std::string, const Json*>>;
Named named(const Json* value) {
  Named all;
  for (const Json* entry : entries(value)) {
    if (!entry->is_object()) continue;
    if (const Json* name = find(*entry, "name"); name != nullptr && name->is_string()) {
      all.emplace_back(escape(name->get<std::string>()), entry);
      continue;
    }
    for (const auto& [name, object] : entry->items())
      if (object.is_object()) all.emplace_back(escape(name), &object);
  }
  return all;
}

struct Chassis {
  std::string id{};
  std::string name{};
  std::optional<Role> role{};
};

/// An identifier has a type and a value; a system called "id" has not.
bool is_identifier(const Json* id) {
  const auto all = entries(id);
  return !all.empty() && find(*all[0], "type") != nullptr && find(*all[0], "value") != nullptr;
}

Chassis chassis_from(const Json* value) {
  Chassis chassis;
  const auto all = entries(value);
  if (all.empty() || !all[0]->is_object()) return chassis;
  const Json* body = all[0];
  if (is_identifier(find(*body, "id"))) {
    chassis.name = value_of(find(*body, "name"));
  } else if (!body->empty()) {
    chassis.name = escape(body->begin().key());
    body = &body->begin().value();
  }
  chassis.id = value_of(find(*body, "id"));
  for (const Json* c : entries(find(*body, "capability"))) {
    const Json* enabled = find(*c, "enabled");
    const std::string type = text_at(*c, "type");
    if (enabled == nullptr || *enabled != true) continue;
    if (type == "Bridge" || type == "Router") chassis.role = Role::kSwitch;
    if (!chassis.role) chassis.role = Role::kHost;
  }
  return chassis;
}

/// In Mb/s; 0: not told. Only `details` tell it.
std::uint32_t speed_from(const Json* port) {
  const auto negotiation = entries(port == nullptr ? nullptr : find(*port, "auto-negotiation"));
  if (negotiation.empty() || !negotiation[0]->is_object()) return 0;
  return tlv::speed_of_mau(value_of(find(*negotiation[0], "current")));
}

/// The Maximum Frame Size, the same way.
std::uint32_t frame_octets_from(const Json* port) {
  const std::string text = port == nullptr ? std::string() : value_of(find(*port, "mfs"));
  std::uint32_t octets = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), octets);
  return error == std::errc() && end == text.data() + text.size() ? octets : 0;
}

void take_self(const Chassis& self, Device& device) {
  if (!self.id.empty()) device.chassis = self.id;
  if (!self.name.empty()) device.name = self.name;
  if (self.role) device.role = self.role;
}

Port& port_of(Device& device, const std::string& name) {
  const auto at = std::find_if(device.ports.begin(), device.ports.end(),
                               [&](const Port& p) { return p.name == name; });
  if (at != device.ports.end()) return *at;
  device.ports.push_back({.name = name});
  return device.ports.back();
}

}  // namespace

bool is_lldpcli(const Json& answer) {
  return answer.is_object() && (answer.contains("lldp") || answer.contains("local-chassis")) &&
         !answer.contains("ports");
}

Result<void> add_lldpcli(const Json& answer, Device& device) {
  device.dialect = AgentKind::kLldpcli;
  for (const Json* local : entries(find(answer, "local-chassis")))
    take_self(chassis_from(find(*local, "chassis")), device);
  for (const Json* lldp : entries(find(answer, "lldp"))) {
    for (const auto& [name, interface] : named(find(*lldp, "interface"))) {
      if (name.empty()) {
        device.left_out.push_back({"", "an interface without a name"});
        continue;
      }
      const Chassis chassis = chassis_from(find(*interface, "chassis"));
      const auto ports = entries(find(*interface, "port"));
      const std::string id = ports.empty() ? "" : value_of(find(*ports[0], "id"));
      Port& port = port_of(device, name);
      if (find(*interface, "status") != nullptr) {  // `show interfaces`: of ourselves
        take_self(chassis, device);
        port.port_id = id;
        port.speed_mbps = speed_from(ports.empty() ? nullptr : ports[0]);
        continue;
      }
      const std::string via = text_at(*interface, "via");
      if (!via.empty() && via != "LLDP") continue;  // CDP and others: another protocol's names
      HeardNeighbor heard{.chassis = chassis.id,
                          .name = chassis.name,
                          .port = id,
                          .description = ports.empty() ? "" : value_of(find(*ports[0], "descr")),
                          .role = chassis.role,
                          .speed_mbps = speed_from(ports.empty() ? nullptr : ports[0]),
                          .frame_octets = frame_octets_from(ports.empty() ? nullptr : ports[0])};
      if (heard.chassis.empty() && heard.name.empty())
        device.left_out.push_back({name, "a neighbor without a chassis"});
      else
        port.heard.push_back(std::move(heard));
    }
  }
  return {};
}

}  // namespace lldp::lab::collect
