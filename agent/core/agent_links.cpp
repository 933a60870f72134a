// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "agent/core/receiver.hpp"
#include "agent/core/sender.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::core {
namespace {
/// Ports that are gone and remembered: more come and go only where interfaces have names of their
/// own.
constexpr std::size_t kMostAbsent = 1024;
}  // namespace

void Agent::Impl::set_link(const Link& link, TimePoint now, Actions& out) {
  if (finished_) return;
  Port* port = find(link.ifindex);
  if (port != nullptr && port->link == link) return;
  // The first chassis ID of a device is told with its own change, below.
  note_state(std::exchange(not_told_, false) && !chassis_id_.octets.empty(), out);
  if (chassis_id_.octets.empty()) {
    take_chassis_id(chassis_id_from_mac(link.address), out);
    locate(now, out);
  }
  bool gained = port == nullptr && link.up;
  if (port == nullptr) {
    port = &add_port(link);
    set_scopes(*port, now, out);
    recall(*port, now, out);
  } else {
    const bool flapped =
        port->link.up && link.up && port->link.carrier_changes != link.carrier_changes;
    if (port->link.up && (flapped || !link.up)) lose_carrier(*port, now, out);
    const bool renamed = port->link.name != link.name;
    if (renamed || port->link.details->port_id != link.details->port_id) {  // a new MSAP
      retract(*port, out);
      set_alarms(*port, {}, now, out);
      if (settings_->expected) absent_due_ = now + standing().missing_grace;
    }
    if (link.up && !port->link.up && port->missing_at > now)
      port->missing_at = kNever;  // from here on it can be heard
    for (PortAgent& a : port->agents) a.tx.localChange = true;
    gained = link.up && !port->link.up;
    const bool heard = may_receive(port->link.adminStatus);
    const bool hears = may_receive(link.adminStatus);
    const bool set_anew = port->link.layers != link.layers;
    port->link = link;
    if (set_anew) note_state(forget_proof(*port), out);
    if (renamed) rename_memory(*port, now, out);
    if (gained) port->orders.gain_carrier(births_);
    if (gained || (link.up && hears && !heard)) begin_to_hear(*port, now);
    if (!hears) port->memory_until = kNever;
  }
  // A device that was moved does not tell the pod that it comes from as one that it stands in.
  if (gained && memories_moved_) {
    locate(now, out);
    locate_soon(now);  // the other ports are to tell it, too
  }
  name_host_port(*port, any_name_match(settings_->host_ports, link.name), now);
  clear(kAbsent, AlarmCode::kCabling, escape(link.name), out);
  enable(*port, now, out);
  linking_ = true;
  unsettle(*port);
  reconsider(*port, now, out);
  linked_at_ = now;
  set_level_alarms(now, out);  // whether any port is up
  due_.set(port->slot, now);
}

Port& Agent::Impl::add_port(const Link& link) {
  auto slot = static_cast<std::uint32_t>(ports_.size());
  if (free_slots_.empty()) {
    ports_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  ports_[slot] = std::make_unique<Port>();
  Port& port = *ports_[slot];
  port.link = link;
  port.slot = slot;
  port.orders.begin_session(new_session());
  port.orders.gain_carrier(births_);
  if (lost_ && !restored_) port.orders.requests = OrderRequests::found();
  by_ifindex_[link.ifindex] = &port;
  if (slot == 0) first_ifindex_ = link.ifindex.value();
  return port;
}

void Agent::Impl::remove_link(Ifindex ifindex, TimePoint now, Actions& out) {
  Port* port = find(ifindex);
  if (finished_ || port == nullptr) return;
  lose_carrier(*port, now, out);
  reconsider(*port, now, out);
  set_alarms(*port, {}, now, out);
  if (remembers(*port) && absent_.size() < kMostAbsent) {
    PortState state = port_state(*port);
    state.ifindex = {};
    state.in_force = Order::kUnknown;  // its rules go with it
    state.requested = 0;
    absent_.insert_or_assign(port->link.name, std::move(state));
    note_state(true, out);
  }
  due_.set(port->slot, kNever);
  if (std::exchange(port->unheard, false)) --unheard_;
  if (settings_->expected) absent_due_ = now + standing().missing_grace;
  tell_class_alarm(ifindex, {}, std::nullopt, now, out);
  classes_.remove_port(ifindex);
  touch_rails(now);
  by_ifindex_.erase(ifindex);
  free_slots_.push_back(port->slot);
  count(port->blocks, false, blocking_);
  count(port->by_others, false, by_others_);
  count_down(*port, false);
  stale_.erase(port->slot);
  ports_[port->slot].reset();
  set_level_alarms(now, out);
  unsettle_all();
  settle(now, out);
}

void Agent::Impl::leave_link(Ifindex ifindex, TimePoint now, Actions& out) {
  if (Port* port = find(ifindex); port != nullptr && !finished_) retract(*port, out);
  remove_link(ifindex, now, out);
}

void Agent::Impl::recall(Port& port, TimePoint now, Actions& out) {
  port.silent_at = now + ttl();
  const auto at = absent_.find(port.link.name);
  if (at == absent_.end()) return;
  doubt_beliefs();
  PortState& state = at->second;
  port.memory = std::move(state.memory);
  port.stock = port.memory.kind == PortMemory::Kind::kHost;
  const bool same = port.link.up && state.ifindex == port.link.ifindex &&
                    state.carrier_changes == port.link.carrier_changes;
  port.orders.restore(std::move(state.agents), std::move(state.others), state.ever_heard,
                      same ? state.born_before : births_);
  if (state.ifindex == port.link.ifindex) {
    port.orders.requests = OrderRequests(state.in_force, state.requested);
    port.order = state.in_force;
  }
  absent_.erase(at);
  if (port.memory.own_layers != port.link.layers) note_state(forget_proof(port), out);
  locate_soon(now);
  memories_moved_ = true;
  if (!same) {
    port.stock = false;
    note_state(forget_carrier(port), out);
    note_state(port.orders.lose_carrier(new_session()), out);
  }
  if (port.link.up) begin_to_hear(port, now);
}

void Agent::Impl::rename_memory(Port& port, TimePoint now, Actions& out) {
  const auto at = absent_.find(port.link.name);
  if (remembers(port)) {
    if (at != absent_.end()) absent_.erase(at);
    doubt_beliefs();
    note_state(true, out);
  } else if (at != absent_.end()) {
    recall(port, now, out);
  }
}

void Agent::Impl::lose_carrier(Port& port, TimePoint now, Actions& out) {
  port.link.up = false;
  port.hears_switch = false;  // it does not fall silent by that
  port.offered_pfc = 0;
  port.shared_until = kNever;
  enable(port, now, out);
  run(port, now, out);  // from the start, also if the carrier is back in the same moment
  note_forgotten(forget_carrier(port), now, out);
  note_state(port.orders.lose_carrier(new_session()), out);
  port.excused = false;
  port.first_told = port.repeat_at = port.stock_at = kNever;
  port.stock = false;
  unsettle(port);
}

void Agent::Impl::begin_to_hear(Port& port, TimePoint now) {
  port.silent_at = now + ttl();
  // A port that may not receive learns nothing from silence.
  const bool fades =
      port.memory.kind == PortMemory::Kind::kAbove && may_receive(port.link.adminStatus);
  port.memory_until = fades ? now + ttl() : kNever;
}

void Agent::Impl::set_scopes(Port& port, TimePoint now, Actions& out) {
  const auto& scopes = settings_->scopes;
  decltype(port.agents) agents;
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    const auto old = std::find_if(port.agents.begin(), port.agents.end(),
                                  [&](const PortAgent& a) { return a.scope == scopes[i]; });
    agents.push_back(old == port.agents.end() ? PortAgent{.scope = scopes[i]} : *old);
    if (old == port.agents.end()) {  // BEGIN
      enter(agents.back().tx_timer_state, agents.back().tx, *settings_, {}, now);
    }
    const auto sender = static_cast<std::uint32_t>(port.slot * scopes.size() + i);
    agents.back().phase = phase_of(sender, device_phase_);
    if (old != port.agents.end()) port.agents.erase(old);
  }
  for (PortAgent& gone : port.agents) {
    gone.tx.adminStatus = gone.rx.adminStatus = AdminStatus::disabled;
    Sender sender{*this, port, gone, now, out};
    step(gone.tx_timer_state, gone.tx_state, gone.tx, *settings_, gone.phase, now, sender);
    Receiver receiver{*this, port, gone, now, out};
    step(gone.rx_state, gone.rx, receiver);
  }
  port.agents = std::move(agents);
}

void Agent::Impl::enable(Port& port, TimePoint now, Actions& out) {
  for (PortAgent& a : port.agents) {
    a.tx.portEnabled = a.rx.portEnabled = port.link.up;
    a.tx.adminStatus = a.rx.adminStatus = port.link.adminStatus;
    // A link that is down has no neighbor: what was learned ages at once, not by its rxInfoTTL.
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
  mark_all();
  take_order_identity();
  device_phase_ = static_cast<std::uint32_t>(std::hash<std::string>{}(id.octets));
  out.save();
}

}  // namespace lldp::core
