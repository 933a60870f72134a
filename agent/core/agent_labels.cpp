// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "agent/core/event.hpp"
#include "agent/core/location.hpp"

namespace lldp::core {

void Agent::Impl::reconsider(Port& port, TimePoint now, Actions& out, bool renounced) {
  mark(port);
  touch_classes(port, now);
  touch_rails(now);
  const Heard before = port.heard;
  const bool heard_switch = port.hears_switch;
  summarize_port(port, now);
  if (port.hears_switch != heard_switch) label_unheard(port, now, out);
  if (port.heard != before) {
    inference_.update(before, port.heard);
    if (decide(now, out, renounced)) return;  // all ports were labeled
  }
  const PortType before_type = port.type;
  label(port, standing(), now, out);
  if (port.type != before_type) {
    for (PortAgent& a : port.agents) announce_type(a, now);
  }
  settle(now, out);
}

void Agent::Impl::summarize_port(Port& port, TimePoint now) {
  const bool heard_switch = port.hears_switch;
  summarize(port);
  watch_for_silence(port, heard_switch, now);
  watch_for_stock_host(port, now);
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
  location_ = {};  // of another tier
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
  memories_moved_ = false;
  tell_own_.final = tell_all_.final = true;
  const Tiers before = location_.tiers;
  Survey::Found found;
  Survey::Heard members;
  if (const auto level = inference_.level()) {
    const Survey survey = take_survey(now);
    // P7: what was named by a wrong member is named anew.
    if (const Tier* own = tier_at(location_.tiers, *level);
        own != nullptr && *level > Level::of<1>() &&
        (survey.is_no_leaf(own->id) ||
         (!Location::is_settled(*own) && survey.has_misled(location_.witnesses))))
      if (const auto id = survey.new_name()) location_.renew(*level, *id, now);
    location_.restore(survey, now);
    members = survey.members();
    found = survey.find(location_.tiers, misses_switch() && now < memory_until_,
                        location_.ripe(now), location_.renewed);
    // So it may be with what is taken now: the next time is soon, then.
    const Tier* taken = tier_at(found.tiers, *level);
    const Tier* known = tier_at(location_.tiers, *level);
    if (taken != nullptr && (known == nullptr || known->id != taken->id) &&
        survey.is_no_leaf(taken->id))
      locate_soon(now);
    tell_own_.final = survey.own_is_final();
    tell_all_.final = survey.all_is_final();
  }
  const bool remembers = std::ranges::any_of(found.tiers, [&](const Tier& t) {
    return t.level == inference_.level() ? !found.own_told : !found.above_told;
  });
  const TimePoint until = remembers ? std::min(memory_until_, now + settings_->establish) : kNever;
  note_state(std::exchange(memory_until_, until) != until, out);
  location_.follow(std::move(found), inference_.level().value_or(Level()), members, now);
  if (location_.tiers != before) {
    note_state(true, out);
    if (!are_same_tiers(location_.tiers, before))
      out.events.push_back(
          {.kind = Event::Kind::kLocation, .text = location_text(location_.tiers)});
  }
  word_location(now, anew);
}

Survey Agent::Impl::take_survey(TimePoint now) const {
  Survey survey(inference_.level().value_or(Level()), chassis_id_);
  for (const auto& port : ports_)
    if (port && !port->host_port) survey.add(port->memory, port->is_young(now));
  return survey;
}

void Agent::Impl::word_location(TimePoint now, bool anew) {
  std::span<const Tier> tell;
  if (settings_->role == Role::kSwitch) tell = location_.told;
  const bool has_own = !tell.empty() && tell.front().level == inference_.level();
  const auto set = [now](Telling& telling, std::span<const Tier> tiers) {
    std::string octets = octets_of(tiers);
    if (octets == telling.octets) return;
    telling.octets = std::move(octets);
    Tiers ageless(tiers.begin(), tiers.end());
    for (Tier& tier : ageless) tier.age = std::min(tier.age, 1U);
    const std::uint32_t version = Telling::version_of(octets_of(ageless));
    if (std::exchange(telling.version, version) != version) telling.since = now;
  };
  const bool waited = tell_by_ <= now;
  const std::span<const Tier> own = tell.first(has_own ? 1 : 0);
  // What was told of another level is void.
  const bool own_now = tell_own_.final || waited;
  // So is, at once, that a neighbor tells a tier that is only remembered.
  const auto fades = [&](const Tier& t) {
    const Tier* is = tier_at(tell, t.level);
    return t.age > 0 && is != nullptr && is->id == t.id && is->age == 0;
  };
  const bool all_now =
      tell_all_.final || waited || std::ranges::any_of(tiers_of(tell_all_.octets), fades);
  if (own_now || anew) set(tell_own_, own_now ? own : tell.first(0));
  if (all_now || anew) set(tell_all_, all_now ? tell : own_now ? own : tell.first(0));
  const bool all_said = tell_own_.octets == octets_of(own) && tell_all_.octets == octets_of(tell);
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

void Agent::Impl::announce_location(Port& port, TimePoint now) {
  if (port.table.size() == 0) return;  // a newcomer is answered anyway
  for (PortAgent& a : port.agents) {
    if (a.told_location == location_for(port).version) continue;
    due_.set(port.slot, now);
    // The last of the credit is for a level, but where all is new. While a rank waits at the port,
    // so is one for a fast transmission and one for an acknowledgement: the location goes with
    // these.
    const int kept = port.orders.waits(rank_.bound()) ? 3 : port.is_young(now) ? 0 : 1;
    // Devices above take from below the own tier, and all others as hints, which can wait.
    const bool hints = port.type == PortType::kUplink && a.told_own_tier == tell_own_.version;
    const Telling& telling = port.type == PortType::kUplink ? tell_own_ : tell_all_;
    if (telling.final && !hints && credit_at(a.tx, *settings_, now) > kept)
      a.tx.localChange = true;
    else
      a.tell_at = std::min(a.tell_at, next_fast_moment(now, *settings_, a.phase));
  }
}

void Agent::Impl::label_all(TimePoint now, Actions& out) {
  const Standing own = standing();
  for (const auto& port : ports_) {
    if (port) label(*port, own, now, out);
  }
}

void Agent::Impl::forget(std::optional<Ifindex> ifindex, TimePoint now, Actions& out) {
  if (finished_) return;
  if (!ifindex) {
    const auto before = inference_.level();
    const bool changed = inference_.forget(now);
    set_level_alarms(now, out);
    location_ = {};
    if (changed) return follow_level(before, now, out);
    relocate(now, out);
    note_state(true, out);
    return;
  }
  Port* port = find(*ifindex);
  if (port == nullptr) return;
  note_forgotten(forget_memory(*port), now, out);
  note_state(port->orders.forget(), out);
  port->excused = true;
  unsettle(*port);
  doubt_beliefs();
  // The neighbors that are still there: a host was none while a switch was heard beside it.
  for (Neighbor& n : port->table.all()) read_order(*port, n, now, out);
  for (Neighbor& n : port->table.all()) read_anew(*port, n, now, out);
  remember(*port);
  port->switch_left = port->silent = false;
  reconsider(*port, now, out);
  due_.set(port->slot, now);
}

bool Agent::Impl::renew_location(TimePoint now, Actions& out) {
  const auto level = inference_.level();
  if (finished_ || !level || *level <= Level::of<1>()) return false;
  const auto own = std::ranges::find(location_.tiers, *level, &Tier::level);
  if (own == location_.tiers.end()) return false;
  const auto id = take_survey(now).new_name(own->id);
  if (!id) return false;
  location_.renew(*level, *id, now);
  out.events.push_back({.kind = Event::Kind::kLocation, .text = location_text(location_.tiers)});
  note_state(true, out);
  relocate(now, out);
  return true;
}

void Agent::Impl::assume_rules(TimePoint now, Actions& out) {
  if (restored_ || lost_) return;
  for (const auto& port : ports_) {
    if (!port) continue;
    port->orders.requests = OrderRequests::found();
    count_down(*port, true);
  }
  lose_state(boot_, now, out);
  settle(now, out);
}

void Agent::Impl::announce_all(std::optional<Level> before, TimePoint now, Actions& out) {
  unsettled_ = true;
  settle(now, out);
  const Standing own = standing();
  for (const auto& port : ports_) {
    if (!port) continue;
    label(*port, own, now, out);
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
  const Standing own = standing();
  for (const auto& port : ports_)
    if (port && port->unheard && port.get() != &changed) label(*port, own, now, out);
}

void Agent::Impl::label(Port& port, Standing own, TimePoint now, Actions& out) {
  if (is_stale(port)) follow_labels(port, target(), out);  // else it has
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
  if (credit_at(agent.tx, *settings_, now) + agent.tx.txKept >= settings_->txCreditMax) {
    agent.tx.localChange = true;
  } else {
    agent.tell_at = std::min(agent.tell_at, next_fast_moment(now, *settings_, agent.phase));
  }
}

}  // namespace lldp::core
