// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/hex.hpp"
#include "base/text.hpp"
#include "lab/collect/dialects.hpp"
#include "qos/policy.hpp"
#include "tlv/port_facts.hpp"

namespace lldp::lab::collect {
namespace {

/// Where nothing is told of protection, rules that were read back still tell.
constexpr const char* kNotTold = "protection not told";

/// Agents escape what they print; another program in an agent's place may not. Backslashes stay as
/// they are, so that an agent's own text is not changed.
std::string shown(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find('\\');
    out += escape(text.substr(0, end));
    if (end == text.npos) return out;
    out += '\\';
    text.remove_prefix(end + 1);
  }
}
std::string shown_at(const Json& object, const char* key) { return shown(text_at(object, key)); }

std::optional<Role> role_from(std::string_view text) {
  if (text == "host") return Role::kHost;
  if (text == "switch") return Role::kSwitch;
  return std::nullopt;
}

Order order_from(std::string_view text) {
  for (const Order order : {Order::kDown, Order::kUp, Order::kShut})
    if (text == to_string(order)) return order;
  return Order::kUnknown;
}

/// `5,6`
std::string priorities(const Json* lossless) {
  std::string text;
  if (lossless == nullptr || !lossless->is_array()) return text;
  for (const Json& p : *lossless)
    if (p.is_number_unsigned())
      text += fmt::format("{}{}", text.empty() ? "" : ",", p.get<std::uint64_t>());
  return text;
}

Result<HeardNeighbor> heard_from(const Json& neighbor, const std::string& where) {
  HeardNeighbor heard{.chassis = shown_at(neighbor, "chassis_id"),
                      .name = shown_at(neighbor, "system_name"),
                      .port = shown_at(neighbor, "port_id"),
                      .description = shown_at(neighbor, "port_description"),
                      .role = role_from(shown_at(neighbor, "device_type")),
                      .level = level_at(neighbor, "level"),
                      .layers = layers_at(neighbor, "layers")};
  if (heard.chassis.empty()) return refuse(where, "a neighbor without a chassis_id");
  if (const auto octets = from_hex(text_at(neighbor, "lldpdu"))) {
    const tlv::PortFacts facts = tlv::port_facts(*octets);
    heard.speed_mbps = facts.speed_mbps;
    heard.frame_octets = facts.frame_octets;
  }
  return heard;
}

/// Why the ports that `show` names are not protected, or all of them.
struct Complaints {
  std::unordered_map<std::string, std::string> by_port{};
  std::string all{};

  Complaints(const Json& show, const Json& ports) {
    const Json* protection = find(show, "protection");
    const std::string state = protection != nullptr ? shown_at(*protection, "state") : "";
    if (state.empty()) {
      all = kNotTold;
      return;
    }
    std::unordered_set<std::string> names;
    for (const Json& port : ports) names.insert(shown_at(port, "name"));
    const Json* reasons = find(*protection, "reasons");
    bool all_known = reasons != nullptr && reasons->is_array() && !reasons->empty();
    if (reasons != nullptr)
      for (const Json& r : *reasons) {
        const std::string port = shown_at(r, "port");
        all_known = all_known && names.contains(port);
        by_port.emplace(port, fmt::format("{} {}", shown_at(r, "part"), shown_at(r, "state")));
      }
    // What is known to be well; whatever else there may be one day is not.
    if (state != "active" && !(state == "partial" && all_known)) all = "protection is " + state;
  }
  [[nodiscard]] std::string of(const std::string& port) const {
    const auto it = by_port.find(port);
    return it != by_port.end() ? it->second : all;
  }
};

/// The alarms that say that a port leads to a device and hears none, in the agent's words.
std::unordered_map<std::string, std::string> unheard_by_port(const Json& show) {
  std::unordered_map<std::string, std::string> by_port;
  const Json* alarms = find(show, "alarms");
  if (alarms == nullptr || !alarms->is_array()) return by_port;
  for (const Json& alarm : *alarms) {
    const std::string code = shown_at(alarm, "code");
    if (code != "silent" && code != "paused") continue;
    std::string& all = by_port[shown_at(alarm, "port")];
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", code, shown_at(alarm, "text"));
  }
  return by_port;
}

bool is_empty_list(const Json& object, const char* key) {
  const Json* list = find(object, key);
  return list == nullptr || !list->is_array() || list->empty();
}

std::optional<qos::Class> class_from(const Json* value) {
  const auto number = [&](const char* key) -> std::optional<std::uint64_t> {
    const Json* found = value != nullptr ? find(*value, key) : nullptr;
    return found != nullptr && found->is_number_unsigned()
               ? std::optional(found->get<std::uint64_t>())
               : std::nullopt;
  };
  const auto priority = Priority::make(number("priority").value_or(256));
  const auto dscp = Dscp::make(number("dscp").value_or(256));
  return priority && dscp ? std::optional(qos::Class{*priority, *dscp}) : std::nullopt;
}

/// A class of a chain, with its DSCPs as `chains` has them: the one that marks it first.
std::optional<qos::LosslessClass> lossless_class_from(const Json& value) {
  const Json* priority = find(value, "priority");
  const Json* dscps = find(value, "dscps");
  if (priority == nullptr || !priority->is_number_unsigned() || dscps == nullptr ||
      !dscps->is_array() || dscps->empty())
    return std::nullopt;
  const auto p = Priority::make(priority->get<std::uint64_t>());
  if (!p) return std::nullopt;
  qos::LosslessClass c{.priority = *p};
  for (const Json& one : *dscps) {
    const auto dscp =
        one.is_number_unsigned() ? Dscp::make(one.get<std::uint64_t>()) : std::nullopt;
    if (!dscp) return std::nullopt;
    if (c.dscps.empty()) c.dscp = *dscp;
    c.dscps.insert(*dscp);
  }
  return c;
}

/// The chains that `rules` goes by; of one that tells none the chain of `lossless`.
std::optional<qos::Chains> chains_from(const Json& rules) {
  qos::Chains chains;
  if (const Json* told = find(rules, "chains"); told != nullptr) {
    if (!told->is_array()) return std::nullopt;
    for (const Json& one : *told) {
      qos::Chain chain;
      if (!one.is_array() || one.empty()) return std::nullopt;
      for (const Json& step : one) {
        const auto c = lossless_class_from(step);
        if (!c) return std::nullopt;
        chain.classes.push_back(*c);
      }
      chains.push_back(std::move(chain));
    }
    return chains;
  }
  const Json* lossless = find(rules, "lossless");
  if (lossless == nullptr || !lossless->is_array() || lossless->empty()) return std::nullopt;
  qos::Chain chain;
  for (const Json& one : *lossless) {
    const auto c = class_from(&one);
    if (!c) return std::nullopt;
    chain.classes.push_back(qos::lossless_class(*c));
  }
  chains.push_back(std::move(chain));
  return chains;
}

/// A number of 32 bits; 0 where there is none.
std::uint32_t count_at(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr || !value->is_number_unsigned()) return 0;
  const auto number = value->get<std::uint64_t>();
  return number <= ~std::uint32_t{} ? static_cast<std::uint32_t>(number) : 0;
}

/// The classes that `rules` goes by; nothing where they are not told, or make no policy.
std::optional<qos::Policy> policy_from(const Json& rules) {
  const auto chains = chains_from(rules);
  const auto lossy = class_from(find(rules, "lossy"));
  if (!chains || !lossy) return std::nullopt;
  auto policy = qos::Policy::parse(qos::to_string(*chains), qos::to_string(*lossy));
  return policy ? std::optional(std::move(*policy)) : std::nullopt;
}

/// What is wrong with a port's rules for packets that turn; empty: nothing. Only a class that goes
/// forward breaks a cycle (docs/develop/proof.md): any other rule is as bad as none.
std::string misturned(const Json& port, const std::optional<qos::Policy>& policy) {
  const bool up = shown_at(port, "order") == "up";
  // What leaves an up port may have come in by another one.
  if (is_empty_list(port, "turns")) return up ? "no rule for a packet that turns" : "";
  if (!policy) return "rules for packets that turn, of classes that are not told";
  std::vector<qos::Remap> turns;
  for (const Json& turn : *find(port, "turns")) {
    const auto from = class_from(find(turn, "from"));
    const auto to = class_from(find(turn, "to"));
    if (!from || !to) return "a rule for packets that turn that is not understood";
    turns.push_back({*from, *to});
  }
  const auto wanted = policy->turns();
  for (const qos::Remap& turn : turns)
    if (std::find(wanted.begin(), wanted.end(), turn) == wanted.end())
      return fmt::format("a packet that turns goes from {} to {}, not to {}",
                         qos::to_string(turn.from), qos::to_string(turn.to),
                         qos::to_string(policy->after_turn(turn.from)));
  for (const qos::Remap& turn : wanted)
    if (const auto n = std::count(turns.begin(), turns.end(), turn); n != 1)
      return fmt::format("{} for a packet that turns in {}", n == 0 ? "no rule" : "two rules",
                         qos::to_string(turn.from));
  return {};
}

/// What of a port's rules as they were read back leaves it unprotected; empty: nothing.
std::string missing_of(const Json& port, const std::optional<qos::Policy>& policy) {
  if (const Json* error = find(port, "error"); error != nullptr)
    return "rules: " +
           (error->is_string() ? shown(error->get<std::string>()) : std::string("an error"));
  if (const std::string installed = shown_at(port, "installed"); installed != "yes")
    return "rules installed: " + installed;
  if (is_empty_list(port, "parts")) return "no part of the rules was read back";
  // What every port has, whatever there is of queues and PFC.
  std::array told{std::pair("classify", false), std::pair("remap", false)};
  for (const Json& part : *find(port, "parts")) {
    const std::string name = shown_at(part, "part");
    const std::string state = shown_at(part, "state");
    const bool not_told = name == "pfc" && state == "unsupported";  // where no driver tells
    if (state != "done" && !not_told) return name + " " + state;
    for (auto& [wanted, is_told] : told) is_told |= name == wanted;
  }
  for (const auto& [wanted, is_told] : told)
    if (!is_told) return std::string(wanted) + " not told";
  return misturned(port, policy);
}

}  // namespace

Result<void> add_show(const Json& show, Device& device) {
  if (!device.ports.empty() || !device.chassis.empty())
    return refuse("show", "the device is told of twice in one text");
  const Json* told = find(show, "device");
  const Json* ports = find(show, "ports");
  if (!told->is_object() || !ports->is_array()) return refuse("show", "no device, or no ports");
  device.dialect = AgentKind::kAgent;
  device.chassis = shown_at(*told, "chassis_id");
  device.name = shown_at(*told, "system_name");
  device.role = role_from(shown_at(*told, "role"));
  device.level = level_at(*told, "level");
  if (device.chassis.empty()) return refuse("device", "no chassis_id");
  if (!device.role) return refuse("device", "role is not host or switch");
  if (const Json* protection = find(show, "protection"); protection != nullptr)
    device.lossless = priorities(find(*protection, "lossless"));
  const Complaints complaints(show, *ports);
  const auto unheard = unheard_by_port(show);
  for (const Json& entry : *ports) {
    Port port{.name = shown_at(entry, "name"), .order = order_from(shown_at(entry, "order"))};
    if (port.name.empty()) return refuse("ports", "a port without a name");
    port.layers = layers_at(entry, "layers");
    if (find(entry, "layers") != nullptr && !port.layers)
      return refuse(port.name, "its layers are not two numbers from 0 to 31");
    port.unprotected = complaints.of(port.name);
    if (const Json* up = find(entry, "up"); up != nullptr) port.up = *up == true;
    port.speed_mbps = count_at(entry, "speed_mbps");
    port.mtu = count_at(entry, "mtu");
    port.rail = shown_at(entry, "rail");
    if (const auto alarm = unheard.find(port.name); alarm != unheard.end())
      port.unheard = alarm->second;
    if (const Json* neighbors = find(entry, "neighbors"); neighbors != nullptr)
      for (const Json& n : *neighbors) {
        auto heard = heard_from(n, port.name);
        if (!heard) return fail(heard.error());
        port.heard.push_back(std::move(*heard));
      }
    device.ports.push_back(std::move(port));
  }
  return {};
}

Result<void> add_rules(const Json& rules, Device& device) {
  if (device.dialect != AgentKind::kAgent || device.chassis.empty())
    return refuse("rules", "without the `show --json` of the same device");
  const Json* ports = find(rules, "ports");
  if (!ports->is_array()) return refuse("rules", "no ports");
  std::unordered_map<std::string, const Json*> by_name;
  for (const Json& entry : *ports) {
    const std::string name = shown_at(entry, "name");
    if (name.empty()) return refuse("rules", "a port without a name");
    const std::string order = shown_at(entry, "order");
    if (order_from(order) == Order::kUnknown && order != to_string(Order::kUnknown))
      return refuse("rules", name + " without an order");
    if (!by_name.emplace(name, &entry).second) return refuse("rules", name + " is there twice");
  }
  const Json* error = find(rules, "error");
  const std::string all = error == nullptr     ? std::string()
                          : error->is_string() ? "rules: " + shown(error->get<std::string>())
                                               : std::string("rules: an error");
  const auto policy = policy_from(rules);
  for (Port& port : device.ports) {
    const auto it = by_name.find(port.name);
    // By these orders packets are treated, whatever the daemon says that it wishes.
    if (it != by_name.end()) port.order = order_from(shown_at(*it->second, "order"));
    std::string missing = it == by_name.end() ? "no rules" : missing_of(*it->second, policy);
    if (missing.empty()) missing = all;
    if (port.unprotected == kNotTold || port.unprotected.empty() || !missing.empty())
      port.unprotected = std::move(missing);
  }
  if (const Json* lossless = find(rules, "lossless"); lossless != nullptr && lossless->is_array()) {
    device.lossless.clear();
    for (const Json& c : *lossless) {
      const Json* priority = find(c, "priority");
      const Json* dscp = find(c, "dscp");
      if (priority == nullptr || dscp == nullptr) continue;
      device.lossless += fmt::format("{}{}:dscp{}", device.lossless.empty() ? "" : ",",
                                     shown(priority->dump()), shown(dscp->dump()));
    }
  }
  return {};
}

}  // namespace lldp::lab::collect
