// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "agent/core/event.hpp"
#include "agent/core/location.hpp"

namespace lldp::core {

void Agent::Impl::reconsider(Port& port, TimePoint now, Actions& out, bool renounced) {
  touch_classes(port, now);
  const Heard before = port.heard;
  const bool heard_switch = port.hears_switch;
  summarize_port(port, now);
  if (port.hears_switch != heard_switch) label_unheard(port, now, out);
  if (port.heard != before) {
    inference_.update(before, port.heard);
    if (decide(now, out, renounced)) return;  // all ports were labelled
  }
  const PortType before_type = port.type;
  label(port, now, out);
  if (port.type != before_type) {
    for (PortAgent& a : port.agents) announce_type(a, now);
  }
  settle(now, out);
}

void Agent::Impl::summarize_port(Port& port, TimePoint now) {
  const bool heard_switch = port.hears_switch;
  summarize(port);
  watch_for_silence(port, heard_switch, now);
}

bool Agent::Impl::decide(TimePoint now, Actions& out, bool renounced) {
  const auto before = inference_.level();
  const bool changed = inference_.decide(now, renounced);
  set_level_alarms(now, out);
  note_state(inference_.take_milestone(), out);
  if (changed) follow_level(before, now, out);
  return changed;
}

void Agent::Impl::follow_level(std::optional<Level> before, TimePoint now, Actions& out) {
  out.events.push_back(
      {.kind = Event::Kind::kLevel, .text = level_change_text(before, inference_.level())});
  note_state(true, out);
  location_.clear();  // of another tier
  locate(now, out, true);
  announce_all(before, now, out);
}

void Agent::Impl::note_memory(bool changed, TimePoint now, Actions& out) {
  note_state(changed, out);
  if (changed) locate_soon(now);
}

void Agent::Impl::locate_soon(TimePoint now) {
  // Where many are heard one after another, only the first and the least of them are told.
  constexpr std::chrono::milliseconds kTogether{40};
  locate_at_ = std::min(locate_at_, std::max(now, located_at_ + kTogether));
}

void Agent::Impl::locate(TimePoint now, Actions& out, bool anew) {
  locate_at_ = kNever;
  tell_own_.final = tell_all_.final = true;
  Tiers told;
  Tiers after;
  if (const auto level = inference_.level()) {
    Survey survey(*level, chassis_id_);
    for (const auto& port : ports_)
      if (port && !port->host_port) survey.add(port->memory, port->is_young(now));
    told = survey.tiers({});
    after = survey.tiers(misses_switch() && now < memory_until_ ? location_ : Tiers());
    tell_own_.final = survey.own_is_final();
    tell_all_.final = survey.all_is_final();
  }
  const TimePoint until =
      after == told ? kNever : std::min(memory_until_, now + settings_->establish);
  note_state(std::exchange(memory_until_, until) != until, out);
  if (after != location_) {
    out.events.push_back({.kind = Event::Kind::kLocation, .text = location_text(after)});
    note_state(true, out);
    location_ = std::move(after);
  }
  word_location(now, anew);
}

void Agent::Impl::word_location(TimePoint now, bool anew) {
  std::span<const Tier> tell;
  if (settings_->role == Role::kSwitch) tell = location_;
  const bool has_own = !tell.empty() && tell.front().level == inference_.level();
  const std::string all = octets_of(tell);
  const std::string own = octets_of(tell.first(has_own ? 1 : 0));
  const auto set = [now](Telling& telling, const std::string& octets) {
    if (telling.octets == octets) return;
    telling.octets = octets;
    telling.version = std::hash<std::string>{}(octets);
    telling.since = now;
  };
  const bool waited = tell_by_ <= now;
  // What was told of another level is void.
  if (tell_own_.final || waited || anew) set(tell_own_, tell_own_.final || waited ? own : "");
  if (tell_all_.final || waited || anew)
    set(tell_all_, tell_all_.final || waited ? all : tell_own_.octets);
  const bool all_said = tell_own_.octets == own && tell_all_.octets == all;
  tell_by_ =
      all_said ? kNever : std::min(waited ? kNever : tell_by_, now + 2 * settings_->msgFastTx);
}

bool Agent::Impl::misses_switch() const {
  return std::ranges::any_of(absent_, [](const auto& p) { return p.second.memory.is_switch(); }) ||
         std::ranges::any_of(ports_, [](const auto& port) {
           return port && port->memory.kind == PortMemory::Kind::kAbove && !port->silent;
         });
}

void Agent::Impl::relocate(TimePoint now, Actions& out) {
  located_at_ = now;
  locate(now, out);
  for (const auto& port : ports_)
    if (port) announce_location(*port, now);
}

const Agent::Impl::Telling& Agent::Impl::location_for(const Port& port) const {
  return port.type == PortType::kUplink ? tell_own_ : tell_all_;
}

void Agent::Impl::announce_location(Port& port, TimePoint now) {
  // The last of the credit is for a level, but where all is new.
  const int kept = port.is_young(now) ? 0 : 1;
  if (port.table.size() == 0) return;  // a newcomer is answered anyway
  for (PortAgent& a : port.agents) {
    if (a.told_location == location_for(port).version) continue;
    due_.set(port.slot, now);
    if (location_for(port).final && credit_at(a.tx, *settings_, now) > kept)
      a.tx.localChange = true;
    else
      a.tell_at = std::min(a.tell_at, next_fast_moment(now, *settings_, a.phase));
  }
}

void Agent::Impl::label_all(TimePoint now, Actions& out) {
  for (const auto& port : ports_) {
    if (port) label(*port, now, out);
  }
}

void Agent::Impl::forget(std::optional<Ifindex> ifindex, TimePoint now, Actions& out) {
  if (finished_) return;
  if (!ifindex) {
    const auto before = inference_.level();
    const bool changed = inference_.forget(now);
    set_level_alarms(now, out);
    location_.clear();
    if (changed) return follow_level(before, now, out);
    relocate(now, out);
    note_state(true, out);
    return;
  }
  Port* port = find(*ifindex);
  if (port == nullptr) return;
  note_memory(forget_memory(*port), now, out);
  note_state(port->orders.forget(), out);
  port->excused = true;
  unsettled_ = true;
  remember(*port);  // the neighbors that are still there
  for (Neighbor& n : port->table.all()) read_order(*port, n, now, out);
  port->switch_left = port->silent = false;
  reconsider(*port, now, out);
  due_.set(port->slot, now);
}

void Agent::Impl::assume_rules(TimePoint now, Actions& out) {
  if (restored_ || lost_) return;
  for (const auto& port : ports_)
    if (port) port->orders.requests = OrderRequests::found();
  lose_state(boot_, now, out);
  settle(now, out);
}

void Agent::Impl::announce_all(std::optional<Level> before, TimePoint now, Actions& out) {
  unsettled_ = true;
  settle(now, out);
  for (const auto& port : ports_) {
    if (!port) continue;
    label(*port, now, out);
    announce_level(*port, before, now);
    due_.set(port->slot, now);
  }
}

void Agent::Impl::announce_level(Port& port, std::optional<Level> before, TimePoint now) const {
  constexpr std::chrono::milliseconds kLabelsCanWait{50};
  const auto level = inference_.level();
  // What rises, or is given up, is unsafe until all have heard: docs/develop/proof.md.
  const bool fell = level && (!before || *level < *before);
  for (PortAgent& a : port.agents) {
    if (!fell) {
      a.tx.localChange = true;
      if (!level && before)
        a.tx.txFast = settings_->txFastInit;  // L7: one that is lost is repeated
    } else if (port.table.size() == 0) {
      a.tell_at = std::min(a.tell_at, next_fast_moment(now, *settings_, a.phase));
    } else if (!before || port.waits_for(*level)) {
      a.tx.localChange = true;
    } else {
      a.tell_at = std::min(a.tell_at, now + kLabelsCanWait);
    }
  }
}

bool Agent::Impl::has_switch_port() const {
  return std::ranges::any_of(ports_, [](const auto& port) {
    return port && (port->hears_switch || port->memory.misses_switch());
  });
}

void Agent::Impl::label_unheard(const Port& changed, TimePoint now, Actions& out) {
  if (unheard_ == 0) return;
  for (const auto& port : ports_)
    if (port && port->unheard && port.get() != &changed) label(*port, now, out);
}

void Agent::Impl::label(Port& port, TimePoint now, Actions& out) {
  Standing own = standing();
  follow_labels(port, target(), out);
  note_state(remember_silence(port), out);
  watch_for_unordered(port, own, now);
  watch_for_conflict(port, own, now);
  watch_for_missing(port, own, now);
  const bool was_unheard = port.unheard;
  watch_for_unheard(port, own, now);
  own.has_switch_port = port.unheard && has_switch_port();
  port.labelled_at = now;
  set_alarms(port, alarms_of(port, own, now), now, out);
  if (port.unheard != was_unheard) {
    port.unheard ? ++unheard_ : --unheard_;
    set_level_alarms(now, out);
  }
}

void Agent::Impl::announce_type(PortAgent& agent, TimePoint now) const {
  if (credit_at(agent.tx, *settings_, now) >= settings_->txCreditMax) {
    agent.tx.localChange = true;
  } else {
    agent.tell_at = std::min(agent.tell_at, next_fast_moment(now, *settings_, agent.phase));
  }
}

}  // namespace lldp::core
