// SPDX-License-Identifier: Apache-2.0
#include "agent/core/agent.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "agent/core/announcement.hpp"
#include "agent/core/receiver.hpp"
#include "base/text.hpp"

namespace lldp::core {
namespace {

constexpr std::size_t kEthernetHeader = 14;
/// Ports that are gone and remembered: more come and go only where interfaces have names of their
/// own.
constexpr std::size_t kMostAbsent = 1024;

std::string to_string(std::optional<Level> level) {
  return level ? std::to_string(level->value()) : "none";
}

}  // namespace

struct Agent::Impl::Sender {
  Impl& impl;
  Port& port;
  PortAgent& agent;
  Actions& out;
  void txInfoFrame() { impl.send(port, agent, false, out); }
  void txShutdownFrame() { impl.send(port, agent, true, out); }
};

Agent::Impl::Impl(Settings settings, State restored, TimePoint now)
    : settings_(std::move(settings)),
      inference_(rules(), {restored.level, restored.supported, restored.surroundings}),
      place_(std::move(restored.place), now + ttl()),
      started_(now) {
  Actions none;  // without ports there is nobody to tell
  for (PortState& port : restored.ports) absent_.insert_or_assign(port.name, std::move(port));
  const auto& id = settings_.chassis_id ? settings_.chassis_id : restored.chassis_id;
  if (id) take_chassis_id(*id, none);
  inference_.decide(now);
  aim(now, none);
  if (settings_.expected) absent_due_ = now + standing().missing_grace;
}

Inference::Rules Agent::Impl::rules() const {
  return {.role = settings_.role,
          .pinned = settings_.pinned_level,
          .max_level = settings_.max_level,
          .raise_hold = settings_.raise_hold,
          .lower_hold = settings_.lower_hold,
          .establish = settings_.establish,
          .withdraw_hold = settings_.withdraw_hold,
          .unsupported_after = settings_.unsupported_after};
}

Duration Agent::Impl::ttl() const {
  return std::max<Duration>(std::chrono::seconds(tx_ttl(settings_)), Place::kLeastWait);
}

Standing Agent::Impl::standing() const {
  return {.role = settings_.role,
          .level = inference_.level(),
          .pinned = settings_.pinned_level.has_value(),
          .expected = settings_.expected ? &*settings_.expected : nullptr,
          .lossless = settings_.lossless,
          .missing_grace = settings_.msgTxInterval + kMissingSlack};
}

tlv::Claim Agent::Impl::claim(const Port& port) const {
  return {.device = settings_.role == Role::kHost ? DeviceType::kHost : DeviceType::kSwitch,
          .level = inference_.level(),
          .port = port.type};
}

State Agent::Impl::state() const {
  State state{.place = place_.at(), .role = settings_.role};
  if (!chassis_id_.octets.empty()) state.chassis_id = chassis_id_;
  Inference::Kept kept = inference_.kept();
  state.level = kept.level;
  state.supported = kept.supported;
  state.surroundings = std::move(kept.surroundings);
  for (const auto& [name, port] : absent_) state.ports.push_back(port);
  for (const auto& port : ports_) {
    if (!port || port->memory.kind == PortMemory::Kind::kNobody) continue;
    state.ports.push_back({.name = port->link.name,
                           .memory = port->memory,
                           .ifindex = port->link.ifindex,
                           .carrier_changes = port->link.up
                                                  ? std::optional(port->link.carrier_changes)
                                                  : std::nullopt});
  }
  std::sort(state.ports.begin(), state.ports.end(),
            [](const PortState& a, const PortState& b) { return a.name < b.name; });
  return state;
}

Port* Agent::Impl::find(Ifindex ifindex) {
  const auto at = by_ifindex_.find(ifindex);
  return at == by_ifindex_.end() ? nullptr : at->second;
}
const Port* Agent::Impl::find(Ifindex ifindex) const {
  const auto at = by_ifindex_.find(ifindex);
  return at == by_ifindex_.end() ? nullptr : at->second;
}
const Port* Agent::Impl::find(std::string_view name) const {
  const auto at = std::find_if(ports_.begin(), ports_.end(),
                               [&](const auto& p) { return p && p->link.name == name; });
  return at == ports_.end() ? nullptr : at->get();
}

// Links

void Agent::Impl::set_link(const Link& link, TimePoint now, Actions& out) {
  frames_used_ = 0;
  if (finished_) return;
  Port* port = find(link.ifindex);
  if (port != nullptr && port->link == link) return;
  if (chassis_id_.octets.empty()) {
    take_chassis_id(chassis_id_from_mac(link.address), out);
    aim(now, out);
  }
  if (port == nullptr) {
    port = &add_port(link);
    set_scopes(*port, now, out);
    recall(*port, now, out);
  } else {
    const bool flapped =
        port->link.up && link.up && port->link.carrier_changes != link.carrier_changes;
    if (port->link.up && (flapped || !link.up)) lose_carrier(*port, now, out);
    if (port->link.name != link.name || port->link.port_id != link.port_id) {  // a new MSAP
      retract(*port, out);
      set_alarms(*port, 0, now, out);
      if (settings_.expected) absent_due_ = now + standing().missing_grace;
    }
    if (link.up && !port->link.up && !port->has(AlarmCode::kCabling))
      port->missing_at = kNever;  // from here on it can be heard
    for (PortAgent& a : port->agents) a.tx.localChange = true;
    const bool gained = link.up && !port->link.up;
    port->link = link;
    if (gained) gain_carrier(*port, now);
  }
  port->host_port = any_glob_match(settings_.host_ports, link.name);
  clear_alarm(AlarmCode::kCabling, escape(link.name), out);  // it was absent
  enable(*port, now, out);
  reconsider(*port, now, out);
  due_.set(port->slot, now);
}

Port& Agent::Impl::add_port(const Link& link) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(ports_.size()));
    ports_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  ports_[slot] = std::make_unique<Port>();
  Port& port = *ports_[slot];
  port.link = link;
  port.slot = slot;
  by_ifindex_[link.ifindex] = &port;
  return port;
}

void Agent::Impl::remove_link(Ifindex ifindex, TimePoint now, Actions& out) {
  frames_used_ = 0;
  Port* port = find(ifindex);
  if (finished_ || port == nullptr) return;
  lose_carrier(*port, now, out);
  reconsider(*port, now, out);
  set_alarms(*port, 0, now, out);
  if (port->memory.kind != PortMemory::Kind::kNobody && absent_.size() < kMostAbsent)
    absent_.insert_or_assign(port->link.name,
                             PortState{.name = port->link.name, .memory = port->memory});
  due_.set(port->slot, kNever);
  if (settings_.expected) absent_due_ = now + standing().missing_grace;
  by_ifindex_.erase(ifindex);
  free_slots_.push_back(port->slot);
  ports_[port->slot].reset();
}

void Agent::Impl::recall(Port& port, TimePoint now, Actions& out) {
  port.silent_at = now + ttl();
  const auto at = absent_.find(port.link.name);
  if (at == absent_.end()) return;
  port.memory = std::move(at->second.memory);
  const bool same = port.link.up && at->second.ifindex == port.link.ifindex &&
                    at->second.carrier_changes == port.link.carrier_changes;
  absent_.erase(at);
  if (same) return;
  note_state(forget_carrier(port), out);
  if (port.link.up) gain_carrier(port, now);
}

void Agent::Impl::lose_carrier(Port& port, TimePoint now, Actions& out) {
  port.link.up = false;
  port.hears_switch = false;  // it does not fall silent by that
  enable(port, now, out);
  run(port, now, out);  // from the start, also if the carrier is back in the same moment
  note_state(forget_carrier(port), out);
}

void Agent::Impl::gain_carrier(Port& port, TimePoint now) {
  port.silent_at = now + ttl();
  if (port.memory.kind == PortMemory::Kind::kAbove) port.memory_until = now + ttl();
}

void Agent::Impl::set_scopes(Port& port, TimePoint now, Actions& out) {
  const auto& scopes = settings_.scopes;
  std::vector<PortAgent> agents;
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    const auto old = std::find_if(port.agents.begin(), port.agents.end(),
                                  [&](const PortAgent& a) { return a.scope == scopes[i]; });
    agents.push_back(old == port.agents.end() ? PortAgent{.scope = scopes[i]} : *old);
    if (old == port.agents.end()) {  // BEGIN
      enter(agents.back().tx_timer_state, agents.back().tx, settings_, 0, now);
    }
    const auto sender = static_cast<std::uint32_t>(port.slot * scopes.size() + i);
    agents.back().phase = phase_of(sender, device_phase_);
    if (old != port.agents.end()) port.agents.erase(old);
  }
  for (PortAgent& gone : port.agents) {
    gone.tx.adminStatus = gone.rx.adminStatus = AdminStatus::disabled;
    Sender sender{*this, port, gone, out};
    step(gone.tx_timer_state, gone.tx_state, gone.tx, settings_, gone.phase, now, sender);
    Receiver receiver{*this, port, gone, now, out};
    step(gone.rx_state, gone.rx, receiver);
  }
  port.agents = std::move(agents);
}

void Agent::Impl::enable(Port& port, TimePoint now, Actions& out) {
  for (PortAgent& a : port.agents) {
    a.tx.portEnabled = a.rx.portEnabled = port.link.up;
    a.tx.adminStatus = a.rx.adminStatus = port.link.adminStatus;
    // A link that is down has no neighbour: what was learned ages at once, not by its rxInfoTTL.
    if (!port.link.up) {
      a.rx.rxInfoAge = true;
      a.tooManyNeighborsTimer = a.own_frame_forgotten = kNever;
    }
    Receiver receiver{*this, port, a, now, out};
    step(a.rx_state, a.rx, receiver);
  }
}

void Agent::Impl::take_chassis_id(const ChassisId& id, Actions& out) {
  if (id == chassis_id_) return;
  for (const auto& port : ports_) {
    if (port) retract(*port, out);
  }
  chassis_id_ = id;
  device_phase_ = static_cast<std::uint32_t>(std::hash<std::string>{}(id.octets));
  out.events.push_back({.kind = Event::Kind::kState});
}

// Frames

void Agent::Impl::receive(Ifindex ifindex, ByteSpan frame, TimePoint now, Actions& out) {
  frames_used_ = 0;
  Port* port = find(ifindex);
  if (finished_ || port == nullptr || frame.size() <= kEthernetHeader) return;
  if (frame[12] != tlv::kEtherType >> 8 || frame[13] != (tlv::kEtherType & 0xff)) return;
  for (PortAgent& a : port->agents) {
    if (a.rx_state != RxState::RX_WAIT_FOR_FRAME) continue;
    const MacAddress to = group_address(a.scope);
    if (!std::equal(to.begin(), to.end(), frame.begin())) continue;
    Frame taken{.lldpdu = frame.subspan(kEthernetHeader)};
    std::copy_n(frame.begin() + to.size(), taken.source.size(), taken.source.begin());
    return take(*port, a, taken, now, out);
  }
}

void Agent::Impl::take(Port& port, PortAgent& agent, const Frame& frame, TimePoint now,
                       Actions& out) {
  Receiver receiver{*this, port, agent, now, out, frame.lldpdu, frame.source};
  receiver.counted = frame.counted;
  agent.rx.rcvFrame = true;
  step(agent.rx_state, agent.rx, receiver);
  if (receiver.held_first) due_.set(port.slot, now);
  if (!receiver.table_changed) return;
  if (receiver.spoken) note_state(remember(port), out);
  reconsider(port, now, out, receiver.renounced);
  due_.set(port.slot, now);
}

void Agent::Impl::take_held(Port& port, TimePoint now, Actions& out) {
  while (!port.held.empty() && port.changes.opens_at() <= now) {
    const HeldFrame frame = std::move(port.held.front());
    port.held.erase(port.held.begin());
    for (PortAgent& a : port.agents)
      if (a.scope == frame.scope && a.rx_state == RxState::RX_WAIT_FOR_FRAME)
        take(port, a, {.lldpdu = frame.lldpdu, .source = frame.source, .counted = true}, now, out);
  }
}

void Agent::Impl::send(Port& port, PortAgent& agent, bool shutdown, Actions& out) {
  agent.tell_at = kNever;
  if (frames_used_ == frames_.size()) frames_.emplace_back();
  Bytes& frame = frames_[frames_used_++];
  if (shutdown) {
    write_shutdown_frame(frame, agent.scope, port.link, chassis_id_);
  } else {
    port.statistics.lldpduLengthErrors +=
        write_info_frame(frame, agent.scope, port.link, chassis_id_, claim(port), settings_);
  }
  ++port.statistics.statsFramesOutTotal;
  out.sends.push_back({.port = port.link.ifindex, .frame = frame});
}

void Agent::Impl::retract(Port& port, Actions& out) {
  for (PortAgent& a : port.agents) {
    if (a.tx_state == TxState::TX_IDLE) send(port, a, true, out);
  }
}

// Time

std::optional<TimePoint> Agent::Impl::next_deadline() const {
  if (finished_) return std::nullopt;
  const TimePoint due = std::min({due_.due(), place_.deadline(silent_ != 0, unproved_ == 0),
                                  inference_.deadline().value_or(kNever), absent_due_});
  return due == kNever ? std::nullopt : std::optional(due);
}

void Agent::Impl::advance(TimePoint now, Actions& out) {
  frames_used_ = 0;
  if (finished_) return;
  if (inference_.deadline().value_or(kNever) <= now) decide(now, out);
  if (rise(now, out)) label_all(now, out);
  if (place_.tell_again(now)) tell_again(now);
  if (absent_due_ <= now) look_for_absent_ports(now, out);
  while (due_.due() <= now) {
    Port& port = *ports_[due_.first()];
    age(port, now, out);
    take_held(port, now, out);
    run(port, now, out);
  }
}

void Agent::Impl::age(Port& port, TimePoint now, Actions& out) {
  bool changed = port.alarm_due() <= now;
  if (port.memory_until <= now) {
    watch_silence(port, port.hears_switch, now);  // it stays when the memory has gone
    note_state(forget_memory(port), out);
    changed = true;
  }
  for (PortAgent& a : port.agents) {
    for (TimePoint* timer : {&a.tooManyNeighborsTimer, &a.own_frame_forgotten}) {
      if (*timer > now) continue;
      *timer = kNever;
      changed = true;
    }
    a.rx.rxInfoAge =
        std::any_of(port.table.all().begin(), port.table.all().end(),
                    [&](const Neighbor& n) { return n.scope == a.scope && n.rxInfoTTL <= now; });
    if (!a.rx.rxInfoAge) continue;
    Receiver receiver{*this, port, a, now, out};
    step(a.rx_state, a.rx, receiver);
    changed |= receiver.table_changed;
  }
  for (Neighbor& n : port.table.all()) {
    if (!n.claim_stands || n.claim_until > now) continue;
    const Bytes lldpdu(n.lldpdu().begin(), n.lldpdu().end());
    const auto view = tlv::decode(lldpdu, {.contribution_ouis = settings_.accepted_ouis});
    if (!view) continue;  // it was taken once
    n.replace(lldpdu, *view, settings_);
    set_unproved(n, is_unproved(n));
    note_state(remember(port), out);
    changed = true;
  }
  if (changed) reconsider(port, now, out);
}

void Agent::Impl::run(Port& port, TimePoint now, Actions& out) {
  for (PortAgent& a : port.agents) {
    if (a.tell_at <= now) {
      a.tell_at = kNever;
      a.tx.localChange = true;
    }
    Sender sender{*this, port, a, out};
    step(a.tx_timer_state, a.tx_state, a.tx, settings_, a.phase, now, sender);
  }
  due_.set(port.slot, port.deadline());
}

// What the neighbours mean

void Agent::Impl::reconsider(Port& port, TimePoint now, Actions& out, bool renounced) {
  const Heard before = port.heard;
  summarize_port(port, now);
  if (port.heard != before) {
    inference_.update(before, port.heard);
    if (decide(now, out, renounced)) return;  // all ports were labelled
  }
  const PortType before_type = port.type;
  label(port, now, out);
  if (port.type != before_type) {
    for (PortAgent& a : port.agents) announce_type(a, now);
  }
  if (rise(now, out)) label_all(now, out);
}

void Agent::Impl::summarize_port(Port& port, TimePoint now) {
  const bool heard_switch = port.hears_switch;
  summarize(port);
  watch_silence(port, heard_switch, now);
}

void Agent::Impl::watch_silence(Port& port, bool heard_switch, TimePoint now) {
  const bool was_silent = port.silent;
  watch_for_silence(port, heard_switch, now);
  silent_ += static_cast<std::size_t>(port.silent);
  silent_ -= static_cast<std::size_t>(was_silent);
  if (was_silent && silent_ == 0) place_.hear_all(now, ttl());
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
  out.events.push_back({.kind = Event::Kind::kLevel,
                        .text = to_string(before) + " -> " + to_string(inference_.level())});
  note_state(true, out);
  announce_all(before, now, out);
}

void Agent::Impl::label_all(TimePoint now, Actions& out) {
  for (const auto& port : ports_) {
    if (port) label(*port, now, out);
  }
}

void Agent::Impl::aim(TimePoint now, Actions& out) {
  std::optional<Position> target;
  if (const auto level = inference_.level()) {
    target.emplace();  // a host is at the bottom, whatever its chassis ID
    if (*level > Level::of<0>()) *target = {.level = *level, .chassis = chassis_id_};
  }
  switch (place_.aim(std::move(target), now, ttl())) {
    case Place::Step::kStays:
      return;
    case Place::Step::kMoved:
      return note_state(true, out);
    case Place::Step::kRises:
      for (const auto& port : ports_) {
        if (!port) continue;
        for (Neighbor& n : port->table.all())
          set_unproved(n, n.speaks_for_itself() && !n.superseded);
      }
  }
}

bool Agent::Impl::rise(TimePoint now, Actions& out) {
  if (silent_ != 0 || !place_.may_rise(now, unproved_ == 0)) return false;
  for (const auto& port : ports_) {
    if (!port) continue;
    // Who falls silent in this very moment counts: both are over one TTL after a start.
    const bool was_silent = port->silent;
    watch_silence(*port, port->hears_switch, now);
    if (port->silent != was_silent) label(*port, now, out);
    if (port->has_not_heard_since(place_.tried_by())) place_.postpone(now);
  }
  if (silent_ != 0 || !place_.may_rise(now, unproved_ == 0)) return false;
  const auto before = place_.at();
  place_.rise();
  const auto level = [](const Position& p) { return std::to_string(p.level.value()); };
  out.events.push_back(
      {.kind = Event::Kind::kPlace, .text = level(*before) + " -> " + level(*place_.at())});
  note_state(true, out);
  return true;
}

void Agent::Impl::tell_again(TimePoint now) {
  for (const auto& port : ports_) {
    if (!port || std::none_of(port->table.all().begin(), port->table.all().end(),
                              [](const Neighbor& n) { return n.unproved; }))
      continue;
    for (PortAgent& a : port->agents) a.tx.localChange = true;
    due_.set(port->slot, now);
  }
}

bool Agent::Impl::is_unproved(const Neighbor& neighbor) const {
  // A host tells no port type; but it may become a switch any moment, and go by what it holds of
  // us.
  if (!place_.rises() || !neighbor.speaks_for_itself()) return false;
  // Uplink, crosslink and downlink each belong to one level of ours, but that hosts are below a
  // downlink too; unmarked belongs to many.
  return neighbor.port == PortType::kUnmarked ||
         (neighbor.port == PortType::kDownlink && place_.at()->level == Level::of<0>()) ||
         neighbor.port != type_of_port(neighbor.level, inference_.level());
}

void Agent::Impl::forget(std::optional<Ifindex> ifindex, TimePoint now, Actions& out) {
  frames_used_ = 0;
  if (finished_) return;
  if (!ifindex) {
    const auto before = inference_.level();
    const bool changed = inference_.forget(now);
    set_level_alarms(now, out);
    if (changed)
      follow_level(before, now, out);
    else
      note_state(true, out);
    return;
  }
  Port* port = find(*ifindex);
  if (port == nullptr) return;
  note_state(forget_memory(*port), out);
  remember(*port);  // whoever is still there
  if (std::exchange(port->silent, false) && --silent_ == 0) place_.hear_all(now, ttl());
  reconsider(*port, now, out);
  due_.set(port->slot, now);
}

void Agent::Impl::assume_rules(TimePoint now, Actions& out) {
  if (place_.at()) return;
  place_ = Place(Position{}, started_ + ttl());
  note_state(true, out);
  aim(now, out);
  label_all(now, out);
}

void Agent::Impl::announce_all(std::optional<Level> before, TimePoint now, Actions& out) {
  aim(now, out);
  rise(now, out);
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
  // What rises, or is given up, is unsafe until all have heard: docs/proof.md.
  const bool fell = level && (!before || *level < *before);
  for (PortAgent& a : port.agents) {
    if (!fell) {
      a.tx.localChange = true;
      if (!level && before) a.tx.txFast = settings_.txFastInit;  // L7: one that is lost is repeated
    } else if (port.table.size() == 0) {
      a.tell_at = std::min(a.tell_at, next_fast_moment(now, settings_, a.phase));
    } else if (!before || port.waits_for(*level)) {
      a.tx.localChange = true;
    } else {
      a.tell_at = std::min(a.tell_at, now + kLabelsCanWait);
    }
  }
}

void Agent::Impl::label(Port& port, TimePoint now, Actions& out) {
  const Standing own = standing();
  PortType type = PortType::kUnmarked;
  Order order = Order::kUnknown;
  if (own.role == Role::kSwitch) {
    // What an operator says of host-ports goes before what a neighbour says of itself; the order,
    // which errs towards up, goes by the memory all the same (docs/rules.md O2).
    type = type_of_port(own.level,
                        port.host_port && port.link.up ? Level::of<0>() : port.heard.lowest);
    order = order_of(port, place_.at());
  }
  if (type != port.type || order != port.order) {
    std::string text(lldp::to_string(type != port.type ? port.type : type));
    if (type != port.type) text.append(" -> ").append(lldp::to_string(type));
    if (order != port.order) {
      text.append(", order ").append(lldp::to_string(port.order));
      text.append(" -> ").append(lldp::to_string(order));
    }
    out.events.push_back(
        {.kind = Event::Kind::kPort, .port = port.link.ifindex, .text = std::move(text)});
    port.type = type;
    port.order = order;
  }
  watch_for_unordered(port, own, now);
  watch_for_conflict(port, own, now);
  watch_for_missing(port, own, now);
  set_alarms(port, alarms_of(port, own, now), now, out);
}

void Agent::Impl::announce_type(PortAgent& agent, TimePoint now) const {
  if (credit_at(agent.tx, settings_, now) >= settings_.txCreditMax) {
    agent.tx.localChange = true;
  } else {
    agent.tell_at = std::min(agent.tell_at, next_fast_moment(now, settings_, agent.phase));
  }
}

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
  const std::string level = to_string(inference_.level());
  if (code == AlarmCode::kUnsupported) {
    const auto supporting = inference_.supporting();
    return "level " + level + " stands on memory: no " +
           (supporting == Level::of<0>() ? "host" : "switch of level " + to_string(supporting)) +
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
                : "level " + to_string(port->heard.lowest) + ", ") +
           who + ", heard on " + where + "; level " + level + " has stood for " +
           duration_text(inference_.supported()) + "; `lldp-level forget` takes the lower one";
  return "level " + std::to_string(inference_.refused().value_or(0)) +
         " is above infer.max-level " + std::to_string(settings_.max_level.value()) +
         " and not taken: " + who + " at " + where + " has " + to_string(port->heard.lowest);
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

// Settings

void Agent::Impl::configure(Settings settings, TimePoint now, Actions& out) {
  frames_used_ = 0;
  if (finished_ || settings == settings_) return;
  const State before = state();
  const auto level_before = level();
  const auto expected_before = std::exchange(settings_, std::move(settings)).expected;
  inference_.set_rules(rules(), now);
  if (settings_.chassis_id) take_chassis_id(*settings_.chassis_id, out);
  for (const auto& p : ports_) {
    if (!p) continue;
    Port& port = *p;
    set_scopes(port, now, out);
    enable(port, now, out);
    port.host_port = any_glob_match(settings_.host_ports, port.link.name);
    for (Neighbor& n : port.table.all()) {  // what counts as a host or as our TLV may have changed
      const Bytes lldpdu(n.lldpdu().begin(), n.lldpdu().end());
      const auto view = tlv::decode(lldpdu, {.contribution_ouis = settings_.accepted_ouis});
      if (view) n.replace(lldpdu, *view, settings_);
    }
    remember(port);
    const Heard heard = port.heard;
    summarize_port(port, now);
    inference_.update(heard, port.heard);
    for (PortAgent& a : port.agents) a.tx.localChange = true;  // and txTTR by the new interval
  }
  if (settings_.expected != expected_before) {
    forget_absent_ports(out);
    if (settings_.expected) absent_due_ = now + standing().missing_grace;
  }
  inference_.decide(now);
  set_level_alarms(now, out);
  if (level() != level_before) {
    out.events.push_back({.kind = Event::Kind::kLevel,
                          .text = to_string(level_before) + " -> " + to_string(level())});
  }
  announce_all(level_before, now, out);
  note_state(state() != before, out);
}

Bytes Agent::Impl::announcement(Ifindex ifindex) const {
  Bytes frame;
  if (const Port* port = find(ifindex))
    write_info_frame(frame, settings_.scopes.front(), port->link, chassis_id_, claim(*port),
                     settings_);
  return frame;
}

void Agent::Impl::announce(TimePoint now) {
  for (const auto& port : ports_) {
    if (!port) continue;
    for (PortAgent& a : port->agents) a.tx.localChange = true;
    due_.set(port->slot, now);
  }
}

void Agent::Impl::shutdown(TimePoint now, Actions& out) {
  frames_used_ = 0;
  if (finished_) return;
  for (const auto& port : ports_) {
    if (!port) continue;
    for (PortAgent& a : port->agents) a.tx.adminStatus = AdminStatus::disabled;
    run(*port, now, out);
  }
  inference_.account(now);
  note_state(true, out);
  finished_ = true;
}

// The interface

Agent::Agent(Settings settings, State restored, TimePoint now)
    : impl_(std::make_unique<Impl>(std::move(settings), std::move(restored), now)) {}
Agent::Agent(Agent&&) noexcept = default;
Agent& Agent::operator=(Agent&&) noexcept = default;
Agent::~Agent() = default;

void Agent::set_link(const Link& link, TimePoint now, Actions& out) {
  impl_->set_link(link, now, out);
}
void Agent::remove_link(Ifindex port, TimePoint now, Actions& out) {
  impl_->remove_link(port, now, out);
}
void Agent::receive(Ifindex port, ByteSpan frame, TimePoint now, Actions& out) {
  impl_->receive(port, frame, now, out);
}
void Agent::advance(TimePoint now, Actions& out) { impl_->advance(now, out); }
std::optional<TimePoint> Agent::next_deadline() const { return impl_->next_deadline(); }
void Agent::configure(Settings settings, TimePoint now, Actions& out) {
  impl_->configure(std::move(settings), now, out);
}
Bytes Agent::announcement(Ifindex port) const { return impl_->announcement(port); }
void Agent::forget(std::optional<Ifindex> port, TimePoint now, Actions& out) {
  impl_->forget(port, now, out);
}
void Agent::assume_rules(TimePoint now, Actions& out) { impl_->assume_rules(now, out); }
void Agent::announce(TimePoint now) { impl_->announce(now); }
void Agent::shutdown(TimePoint now, Actions& out) { impl_->shutdown(now, out); }
void Agent::raise_alarm(AlarmCode code, std::string_view port, std::string text, TimePoint now,
                        Actions& out) {
  impl_->raise_alarm(code, port, std::move(text), now, out);
}
void Agent::clear_alarm(AlarmCode code, std::string_view port, Actions& out) {
  impl_->clear_alarm(code, port, out);
}
const Settings& Agent::settings() const { return impl_->settings(); }
State Agent::state() const { return impl_->state(); }
std::optional<Level> Agent::level() const { return impl_->level(); }
const ChassisId& Agent::chassis_id() const { return impl_->chassis_id(); }
Order Agent::order(Ifindex port) const {
  const Port* p = std::as_const(*impl_).find(port);
  return p != nullptr ? p->order : Order::kUnknown;
}
PortType Agent::type(Ifindex port) const {
  const Port* p = std::as_const(*impl_).find(port);
  return p != nullptr ? p->type : PortType::kUnmarked;
}
std::optional<Statistics> Agent::statistics(Ifindex port) const {
  const Port* p = std::as_const(*impl_).find(port);
  return p != nullptr ? std::optional(p->statistics) : std::nullopt;
}
std::size_t Agent::neighbor_count() const { return impl_->neighbor_count(); }
Snapshot Agent::snapshot(TimePoint now) const { return impl_->snapshot(now); }

}  // namespace lldp::core
