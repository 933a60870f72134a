// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "agent/core/event.hpp"
#include "base/text.hpp"

namespace lldp::core {

void Agent::Impl::look_for_absent_ports(TimePoint now, Actions& out) {
  absent_due_ = kNever;
  std::vector<std::string> present;
  for (const auto& port : ports_)
    if (port) present.push_back(escape(port->link.name));
  std::sort(present.begin(), present.end());
  for (const cabling::Finding& silent : settings_.expected->silence()) {
    if (std::binary_search(present.begin(), present.end(), silent.port)) continue;
    raise_alarm(AlarmCode::kCabling, silent.port,
                "expected " + silent.expected + ", but there is no port " + silent.port, now, out);
  }
}

void Agent::Impl::forget_absent_ports(Actions& out) {
  absent_due_ = kNever;
  std::vector<std::string> absent;
  for (const Alarm& a : alarms_.standing())
    if (a.code == AlarmCode::kCabling && !a.port.empty()) absent.push_back(a.port);
  for (const std::string& port : absent) clear_alarm(AlarmCode::kCabling, port, out);
}

void Agent::Impl::set_alarms(Port& port, std::uint16_t wanted, TimePoint now, Actions& out) {
  const auto changed = static_cast<std::uint16_t>(wanted ^ port.alarms);
  port.alarms = wanted;
  for (std::size_t i = 0; changed >> i != 0; ++i) {
    const auto code = static_cast<AlarmCode>(i);
    if ((changed & alarm_bit(code)) == 0) continue;
    port.alarm_since[i] = now;
    if (alarms_.find(code, port.link.name) != nullptr) continue;  // stands for the owner's reason
    Event event{.kind = Event::Kind::kAlarmCleared, .port = port.link.ifindex, .alarm = code};
    if (port.has(code)) {
      event.kind = Event::Kind::kAlarmRaised;
      event.text = alarm_text(code, port, standing());
    }
    out.events.push_back(std::move(event));
  }
}

const Port* Agent::Impl::lowest_port() const {
  const Port* lowest = nullptr;
  for (const auto& port : ports_) {
    if (port && port->heard.lowest &&
        (lowest == nullptr || *port->heard.lowest < *lowest->heard.lowest))
      lowest = port.get();
  }
  return lowest;
}

void Agent::Impl::set_level_alarms(TimePoint now, Actions& out) {
  const std::pair<AlarmCode, bool> stands[] = {
      {AlarmCode::kMaxLevel, inference_.refused().has_value()},
      {AlarmCode::kUnsupported, inference_.unsupported().has_value()},
      {AlarmCode::kLowerLevel, inference_.lower().has_value()}};
  for (const auto& [code, wanted] : stands) {
    if (wanted == ((level_alarms_ & alarm_bit(code)) != 0)) continue;
    level_alarms_ ^= alarm_bit(code);
    level_alarm_since_[static_cast<std::size_t>(code)] = now;
    out.events.push_back({.kind = wanted ? Event::Kind::kAlarmRaised : Event::Kind::kAlarmCleared,
                          .alarm = code,
                          .text = wanted ? level_alarm_text(code, now) : std::string()});
  }
}

std::string Agent::Impl::level_alarm_text(AlarmCode code, TimePoint now) const {
  const std::string level = level_text(inference_.level());
  if (code == AlarmCode::kUnsupported) {
    const auto supporting = inference_.supporting();
    return "level " + level + " stands on memory: no " +
           (supporting == Level::of<0>() ? "host" : "switch of level " + level_text(supporting)) +
           " heard for " + duration_text(now - inference_.unsupported().value_or(now)) +
           "; `lldp-level forget` relearns";
  }
  const Port* port = lowest_port();
  if (port == nullptr) return {};
  const Neighbor* n = port->decisive_neighbor();
  const std::string who = n != nullptr ? name_of(*n) : "a silent host";
  const std::string where = escape(port->link.name);
  if (code == AlarmCode::kLowerLevel)
    return (inference_.lower() == Level::of<1>()
                ? "host "
                : "level " + level_text(port->heard.lowest) + ", ") +
           who + ", heard on " + where + "; level " + level + " has stood for " +
           duration_text(inference_.supported()) + "; `lldp-level forget` takes the lower one";
  return "level " + std::to_string(inference_.refused().value_or(0)) +
         " is above infer.max-level " + std::to_string(settings_.max_level.value()) +
         " and not taken: " + who + " at " + where + " has " + level_text(port->heard.lowest);
}

void Agent::Impl::raise_alarm(AlarmCode code, std::string_view name, std::string text,
                              TimePoint now, Actions& out) {
  const Port* port = find(name);
  if (!alarms_.raise(code, name, text, now) || (port != nullptr && port->has(code))) return;
  out.events.push_back({.kind = Event::Kind::kAlarmRaised,
                        .port = port == nullptr ? Ifindex{} : port->link.ifindex,
                        .alarm = code,
                        .text = std::move(text)});
}

void Agent::Impl::clear_alarm(AlarmCode code, std::string_view name, Actions& out) {
  const Port* port = find(name);
  if (!alarms_.clear(code, name) || (port != nullptr && port->has(code))) return;
  out.events.push_back({.kind = Event::Kind::kAlarmCleared,
                        .port = port == nullptr ? Ifindex{} : port->link.ifindex,
                        .alarm = code});
}

}  // namespace lldp::core
