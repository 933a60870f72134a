// SPDX-License-Identifier: Apache-2.0
#include "dataplane/soft/messages.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.hpp"

namespace lldp::dataplane::soft {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxText = 1024;
constexpr std::size_t kMaxPorts = 1024;
constexpr Order kOrders[] = {Order::kUnknown, Order::kDown, Order::kUp, Order::kShut};

std::string dump(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

json json_of(qos::Class c) { return {c.priority.value(), c.dscp.value()}; }
json json_of(const std::vector<qos::Remap>& rows) {
  json out = json::array();
  for (const qos::Remap& r : rows) out.push_back({json_of(r.from), json_of(r.to)});
  return out;
}
json json_of(const std::optional<qos::Ruleset>& rules) {
  if (!rules) return nullptr;
  json ingress = json::array();
  for (const qos::Class& c : rules->ingress) ingress.push_back(json_of(c));
  return {{"order", to_string(rules->port.order)},
          {"near", rules->port.near.value()},
          {"restore", rules->port.restore},
          {"not-crossing", rules->port.lossy},
          {"ingress", std::move(ingress)},
          {"entering", json_of(rules->entering)},
          {"tag", rules->tag.value()},
          {"turning-tags", rules->turning_tags},
          {"remaps", json_of(rules->remaps)},
          {"leaving", json_of(rules->leaving)},
          {"pfc", rules->pfc_enable},
          {"lossy", json_of(rules->lossy)},
          {"layered", rules->layered}};
}
json json_of(const Port& port) {
  return {{"rules", json_of(port.rules)},
          {"bounces", port.bounces},
          {"stopped", port.stopped},
          {"stopping", port.stopping},
          {"waiting", port.waiting},
          {"waiting-octets", port.waiting_octets},
          {"sent", port.sent},
          {"pauses-sent", port.pauses_sent},
          {"pauses-heard", port.pauses_heard},
          {"gone", port.gone}};
}

// Those that follow throw what json does where it is another thing; parse() catches it.

[[noreturn]] void reject() { throw json::other_error::create(0, "range", nullptr); }

std::uint64_t number(const json& value, std::uint64_t most = UINT64_MAX) {
  if (!value.is_number_unsigned()) reject();
  const auto n = value.get<std::uint64_t>();
  if (n > most) reject();
  return n;
}
std::uint8_t octet(const json& value) { return static_cast<std::uint8_t>(number(value, 255)); }
template <class Bounded>
Bounded bounded(const json& value) {
  const auto made = Bounded::make(number(value));
  if (!made) reject();
  return *made;
}
std::string text(const json& value) {
  auto out = value.get<std::string>();
  if (out.size() > kMaxText) reject();
  return out;
}
const json& list(const json& value, std::size_t most) {
  if (!value.is_array() || value.size() > most) reject();
  return value;
}
Order order(const json& value) {
  const auto name = value.get<std::string>();
  for (const Order o : kOrders)
    if (name == to_string(o)) return o;
  reject();
}
qos::Class class_of(const json& value) {
  const json& pair = list(value, 2);
  return {bounded<Priority>(pair.at(0)), bounded<Dscp>(pair.at(1))};
}
std::vector<qos::Remap> rows_of(const json& value) {
  std::vector<qos::Remap> rows;
  for (const json& one : list(value, Dscp::kMax + 1U))
    rows.push_back({class_of(list(one, 2).at(0)), class_of(one.at(1))});
  return rows;
}
std::optional<qos::Ruleset> rules_of(const json& value) {
  if (value.is_null()) return std::nullopt;
  qos::Ruleset rules{.port = {.order = order(value.at("order")),
                              .near = bounded<qos::Layer>(value.at("near")),
                              .restore = value.at("restore").get<bool>(),
                              .lossy = octet(value.at("not-crossing"))},
                     .tag = bounded<qos::Tag>(value.at("tag")),
                     .turning_tags = number(value.at("turning-tags")),
                     .pfc_enable = octet(value.at("pfc")),
                     .lossy = class_of(value.at("lossy")),
                     .layered = value.at("layered").get<bool>()};
  for (const json& one : list(value.at("ingress"), Dscp::kMax + 1U))
    rules.ingress.push_back(class_of(one));
  rules.entering = rows_of(value.at("entering"));
  rules.remaps = rows_of(value.at("remaps"));
  rules.leaving = rows_of(value.at("leaving"));
  return rules;
}
Port port_of(const json& value) {
  Port port{.rules = rules_of(value.at("rules")),
            .stopped = octet(value.at("stopped")),
            .stopping = octet(value.at("stopping")),
            .waiting = octet(value.at("waiting")),
            .waiting_octets = number(value.at("waiting-octets")),
            .sent = number(value.at("sent")),
            .pauses_sent = number(value.at("pauses-sent")),
            .pauses_heard = number(value.at("pauses-heard")),
            .gone = value.at("gone").get<bool>()};
  const json& bounces = list(value.at("bounces"), port.bounces.size());
  for (std::size_t i = 0; i < port.bounces.size(); ++i) port.bounces[i] = number(bounces.at(i));
  return port;
}
View view_of(const json& value) {
  View view{.name = text(value.at("name")),
            .lossless = octet(value.at("lossless")),
            .drops = number(value.at("drops")),
            .drops_lossy = number(value.at("drops-lossy")),
            .missed = number(value.at("missed")),
            .too_long = number(value.at("too-long")),
            .behind_us = number(value.at("behind-us"))};
  const json& ports = value.at("ports");
  if (!ports.is_object() || ports.size() > kMaxPorts) reject();
  for (const auto& [name, port] : ports.items()) view.ports.emplace(text(name), port_of(port));
  return view;
}

template <class Read>
auto parse(std::string_view message, Read read) -> Result<decltype(read(json()))> {
  try {
    if (message.size() <= kMaxMessage) return read(parse_json<json>(message));
  } catch (const json::exception&) {  // the text of the exception does not help here
  }
  return fail(Error{0, "backend soft", "a message that is none of ours"});
}

}  // namespace

std::string format(const Request& request) {
  if (const auto* set = std::get_if<Set>(&request))
    return dump({{"set", {{"id", set->id}, {"port", set->port}, {"rules", json_of(set->rules)}}}});
  return dump({{"read", true}});
}

std::string format(const Answer& answer) {
  if (const auto* done = std::get_if<Done>(&answer))
    return dump({{"done", {{"id", done->id}, {"code", done->code}, {"why", done->why}}}});
  const View& view = std::get<View>(answer);
  json ports = json::object();
  for (const auto& [name, port] : view.ports) ports[name] = json_of(port);
  return dump({{"view",
                {{"name", view.name},
                 {"lossless", view.lossless},
                 {"ports", std::move(ports)},
                 {"drops", view.drops},
                 {"drops-lossy", view.drops_lossy},
                 {"missed", view.missed},
                 {"too-long", view.too_long},
                 {"behind-us", view.behind_us}}}});
}

Result<Request> parse_request(std::string_view message) {
  return parse(message, [](const json& m) -> Request {
    if (!m.contains("set")) {
      if (!m.at("read").get<bool>()) reject();
      return Read{};
    }
    const json& set = m.at("set");
    return Set{.id = static_cast<std::uint32_t>(number(set.at("id"), UINT32_MAX)),
               .port = text(set.at("port")),
               .rules = rules_of(set.at("rules"))};
  });
}

Result<Answer> parse_answer(std::string_view message) {
  return parse(message, [](const json& m) -> Answer {
    if (!m.contains("done")) return view_of(m.at("view"));
    const json& done = m.at("done");
    return Done{.id = static_cast<std::uint32_t>(number(done.at("id"), UINT32_MAX)),
                .code = static_cast<int>(number(done.at("code"), 4095)),
                .why = text(done.at("why"))};
  });
}

}  // namespace lldp::dataplane::soft
