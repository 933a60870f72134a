// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "agent/core/event.hpp"
#include "base/count.hpp"
#include "base/text.hpp"

namespace lldp::core {

void Agent::Impl::look_for_absent_ports(TimePoint now, Actions& out) {
  absent_due_ = kNever;
  std::vector<std::string> present;
  for (const auto& port : ports_)
    if (port) present.push_back(escape(port->link.name));
  std::sort(present.begin(), present.end());
  for (const cabling::Finding& silent : settings_->expected->silence()) {
    if (std::binary_search(present.begin(), present.end(), silent.port)) continue;
    raise(kAbsent, AlarmCode::kCabling, silent.port,
          "expected " + silent.expected + ", but there is no port " + silent.port, now, out);
  }
}

void Agent::Impl::forget_absent_ports(Actions& out) {
  absent_due_ = kNever;
  for (const std::string& port : alarms_.ports(kAbsent))
    clear(kAbsent, AlarmCode::kCabling, port, out);
}

void Agent::Impl::set_alarms(const Port& port, AlarmSet wanted, TimePoint now, Actions& out) {
  const AlarmReason reason{AlarmReason::Found::kByPort, port.link.ifindex};
  for (const auto& [code, raised] : alarms_.set(reason, escape(port.link.name), wanted, now))
    tell(port.link.ifindex, code,
         raised ? std::optional(alarm_text(code, port, standing())) : std::nullopt, out);
}

void Agent::Impl::tell(Ifindex port, AlarmCode code, std::optional<std::string> raised,
                       Actions& out) {
  using enum Event::Kind;
  out.events.push_back({.kind = raised ? kAlarmRaised : kAlarmCleared,
                        .port = port,
                        .alarm = code,
                        .text = std::move(raised).value_or(std::string())});
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
  watch_for_no_level(now);
  AlarmSet stands;
  stands.put(AlarmCode::kMaxLevel, inference_.refused().has_value());
  stands.put(AlarmCode::kUnsupported, inference_.unsupported().has_value());
  stands.put(AlarmCode::kLowerLevel, inference_.lower().has_value());
  stands.put(AlarmCode::kNoLevel, no_level_at_ <= now);
  stands.put(AlarmCode::kUneven, !uneven_text().empty());
  no_level_told_ = no_level_at_ <= now;
  for (const auto& [code, raised] : alarms_.set(kOfLevel, {}, stands, now))
    tell({}, code, raised ? std::optional(level_alarm_text(code, now)) : std::nullopt, out);
}

void Agent::Impl::watch_for_no_level(TimePoint now) {
  // One that is refused has an alarm of its own.
  const bool lacks_one =
      settings_->role == Role::kSwitch && !inference_.level() && !inference_.refused() &&
      std::any_of(ports_.begin(), ports_.end(), [](const auto& p) { return p && p->link.up; });
  if (!lacks_one)
    no_level_at_ = kNever;
  else if (no_level_at_ == kNever)
    no_level_at_ = now + ttl();
}

std::string Agent::Impl::uneven_text() const {
  const auto level = inference_.level();
  if (settings_->role != Role::kSwitch || !level) return {};
  const auto highest = inference_.highest_heard();
  if (highest && *highest > settings_->max_level) {
    const auto tells = std::ranges::find_if(ports_, [&](const auto& port) {
      return port && std::ranges::any_of(port->heard.switches,
                                         [&](const HeardSwitch& s) { return s.level == *highest; });
    });
    return "a switch of level " + level_text(highest) +
           (tells == ports_.end() ? "" : " is heard on " + escape((*tells)->link.name)) +
           ", and infer.max-level is " + level_text(settings_->max_level) +
           ": its hosts speak no LLDP, so paths by it turn and end in the lossy class; run LLDP on "
           "its hosts, or name their ports in host-ports there";
  }
  // A leaf whose hosts are silent stands above the spines that another leaf has brought to 2: with
  // nothing above it, and with ports on which nothing is heard.
  constexpr Level kAboveSpines = Level::of<3>();
  const bool top = !highest || *highest <= *level;
  if (unheard_ == 0 || !top || *level < kAboveSpines || settings_->pinned_level) return {};
  return "level " + level_text(level) + " comes from switches alone, and on " +
         count_text(unheard_, "port") +
         " with carrier nothing is heard: if hosts are there, this is a leaf, and every path to it "
         "turns; run LLDP on the hosts, name their ports in host-ports, or pin `level`";
}

std::string Agent::Impl::level_alarm_text(AlarmCode code, TimePoint now) const {
  if (code == AlarmCode::kUneven) return uneven_text();
  const std::string level = level_text(inference_.level());
  if (code == AlarmCode::kUnsupported) {
    const auto supporting = inference_.supporting();
    return "level " + level + " has no support: no " +
           (supporting == Level::of<0>() ? "host" : "switch of level " + level_text(supporting)) +
           " heard for " + duration_text(now - inference_.unsupported().value_or(now)) +
           "; `lldp-level forget` relearns";
  }
  if (code == AlarmCode::kNoLevel)
    return "no level, so nothing here is protected: neither a host nor a switch that has one is "
           "heard; name the ports of silent hosts in host-ports, or pin `level`";
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
         " is above infer.max-level " + std::to_string(settings_->max_level.value()) +
         " and not taken: " + who + " at " + where + " has " + level_text(port->heard.lowest);
}

void Agent::Impl::raise(const AlarmReason& reason, AlarmCode code, std::string_view name,
                        std::string text, TimePoint now, Actions& out) {
  if (!alarms_.raise(reason, code, name, text, now)) return;
  const Port* port = find(name);
  tell(port == nullptr ? Ifindex{} : port->link.ifindex, code, std::move(text), out);
}

void Agent::Impl::clear(const AlarmReason& reason, AlarmCode code, std::string_view name,
                        Actions& out) {
  if (!alarms_.clear(reason, code, name)) return;
  const Port* port = find(name);
  tell(port == nullptr ? Ifindex{} : port->link.ifindex, code, std::nullopt, out);
}

std::vector<Alarm> Agent::Impl::alarms(TimePoint now) const {
  return alarms_.standing([&](const Alarm& alarm, const AlarmReason& reason) {
    if (reason == kOfLevel) return level_alarm_text(alarm.code, now);
    const Port* port = find(reason.link);
    return port != nullptr ? alarm_text(alarm.code, *port, standing()) : std::string();
  });
}

}  // namespace lldp::core
