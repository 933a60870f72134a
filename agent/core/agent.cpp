// SPDX-License-Identifier: Apache-2.0
#include "agent/core/agent.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "agent/core/announcement.hpp"
#include "agent/core/event.hpp"
#include "agent/core/receiver.hpp"
#include "agent/core/sender.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::core {
namespace {
constexpr std::size_t kEthernetHeader = 14;
}  // namespace

Agent::Impl::Impl(std::shared_ptr<const Settings> settings, Identity self, const State& restored,
                  TimePoint now)
    : settings_(std::move(settings)),
      system_name_(std::move(self.system_name)),
      inference_(rules(), {restored.level, restored.supported, restored.surroundings}),
      restored_(restored.agent != 0),
      agent_id_(restored.boot == kLastBoot ? AgentId{} : restored.agent),
      rank_id_(restored.rank_id.value_or(ChassisId())),
      saved_boot_(restored.boot),
      first_boot_(std::max(restored.boot == kLastBoot ? 1U : restored.boot + 1, self.wall_clock)),
      boot_(first_boot_),
      role_(restored_ ? restored.role.value_or(settings_->role) : settings_->role),
      rank_(restored.rank, restored.bound),
      lost_(restored.lost),
      newcomer_(restored.rank == Position{}),
      births_(restored.births),
      random_(self.entropy),
      started_(now),
      classes_(restored.classes) {
  location_.tiers = restored.location;
  Actions none;  // without ports there is no neighbor to tell
  for (const PortState& port : restored.ports) absent_.insert_or_assign(port.name, port);
  const auto& id = settings_->chassis_id ? settings_->chassis_id
                   : self.chassis_id     ? self.chassis_id
                                         : restored.chassis_id;
  if (id) take_chassis_id(*id, none);
  inference_.decide(now);
  if (level() != (restored.role == Role::kHost ? Level::of<0>() : restored.level)) location_ = {};
  memory_until_ = restored.location_until.value_or(kNever);
  const TimePoint until = memory_until_;
  locate(now, none);
  memory_until_ = until;  // set, and kept, when the ports are there
  if (!location_.tiers.empty()) locate_soon(now);
  if (settings_->expected) absent_due_ = now + standing().missing_grace;
  set_own_classes(now);
  if (has_classes()) static_cast<void>(classes_.decide(now));
  not_told_ = state() != restored;
}

Inference::Rules Agent::Impl::rules() const {
  return {.role = settings_->role,
          .pinned = settings_->pinned_level,
          .max_level = settings_->max_level,
          .raise_hold = settings_->raise_hold,
          .lower_hold = settings_->lower_hold,
          .establish = settings_->establish,
          .withdraw_hold = settings_->withdraw_hold,
          .unsupported_after = settings_->unsupported_after};
}

Duration Agent::Impl::ttl() const {
  return std::max<Duration>(std::chrono::seconds(tx_ttl(*settings_)), kLeastPatience);
}

Standing Agent::Impl::standing() const {
  const std::uint8_t lossless =
      has_classes() ? priorities_of(classes_.chains()) : settings_->lossless;
  return {.role = settings_->role,
          .level = inference_.level(),
          .pinned = settings_->pinned_level.has_value(),
          .expected = settings_->expected ? &*settings_->expected : nullptr,
          .lossless = lossless,
          .lossless_at_hosts =
              has_classes() && settings_->restores ? applications_of(classes_.chains()) : lossless,
          .chains = has_classes() ? &classes_.chains() : nullptr,
          .layered = settings_->layered,
          .missing_grace = settings_->msgTxInterval + kMissingSlack};
}

tlv::Claim Agent::Impl::claim(const Port& port) const {
  return {.device = settings_->role == Role::kHost ? DeviceType::kHost : DeviceType::kSwitch,
          .level = inference_.level(),
          .port = port.type};
}

Self Agent::Impl::self(const Port& port, std::string_view location) const {
  return {.chassis_id = chassis_id_,
          .order = order_octets(port),
          .system_name = system_name(),
          .claim = claim(port),
          .location = location,
          .classes = has_classes() && classes_.told() ? &*classes_.told() : nullptr};
}

State Agent::Impl::state() const {
  State state{.agent = agent_id_,
              .boot = boot_,
              .rank = rank_.acting(),
              .bound = rank_.bound(),
              .lost = lost_,
              .births = births_,
              .role = role_,
              .location = location_.tiers,
              .classes = classes_.kept()};
  if (!rank_id_.octets.empty()) state.rank_id = rank_id_;
  if (memory_until_ != kNever) state.location_until = memory_until_;
  if (!chassis_id_.octets.empty()) state.chassis_id = chassis_id_;
  Inference::Kept kept = inference_.kept();
  state.level = kept.level;
  state.supported = kept.supported;
  state.surroundings = std::move(kept.surroundings);
  std::vector<const Port*> present;
  for (const auto& port : ports_)
    if (port && remembers(*port)) present.push_back(port.get());
  std::ranges::sort(
      present, {}, [](const Port* port) -> auto& { return port->link.name; });
  state.ports.reserve(absent_.size() + present.size());
  auto absent = absent_.begin();
  for (const Port* port : present) {
    for (; absent != absent_.end() && absent->first < port->link.name; ++absent)
      state.ports.push_back(absent->second);
    state.ports.push_back(port_state(*port));
  }
  for (; absent != absent_.end(); ++absent) state.ports.push_back(absent->second);
  return state;
}

bool Agent::Impl::remembers(const Port& port) {
  return port.memory != PortMemory{} || port.orders.ever_heard() ||
         !port.orders.requests.is_only(Order::kUnknown);
}

PortState Agent::Impl::port_state(const Port& port) {
  const Link& link = port.link;
  const PortOrder& orders = port.orders;
  PortState state{.name = link.name,
                  .memory = port.memory,
                  .ifindex = link.ifindex,
                  .carrier_changes = link.up ? std::optional(link.carrier_changes) : std::nullopt,
                  .agents = {orders.agents().begin(), orders.agents().end()},
                  .others = orders.others(),
                  .ever_heard = orders.ever_heard(),
                  .born_before = orders.born_before(),
                  .in_force = orders.requests.in_force(),
                  .requested = orders.requests.mask()};
  for (KnownAgent& v : state.agents) v.asks = v.more = false, v.former = 0;
  return state;
}

Port* Agent::Impl::look_up(Ifindex ifindex) const {
  // Most interfaces' numbers follow each other, and so do their slots: then it takes no search.
  const std::size_t guess = ifindex.value() - first_ifindex_;
  if (guess < ports_.size() && ports_[guess] && ports_[guess]->link.ifindex == ifindex)
    return ports_[guess].get();
  const auto at = by_ifindex_.find(ifindex);
  return at == by_ifindex_.end() ? nullptr : at->second;
}

Port* Agent::Impl::find(Ifindex ifindex) { return look_up(ifindex); }
const Port* Agent::Impl::find(Ifindex ifindex) const { return look_up(ifindex); }
const Port* Agent::Impl::find(std::string_view escaped_name) const {
  if (escaped_name.empty()) return nullptr;
  const auto at = std::find_if(ports_.begin(), ports_.end(), [&](const auto& p) {
    return p && escape(p->link.name) == escaped_name;
  });
  return at == ports_.end() ? nullptr : at->get();
}

// Frames

void Agent::Impl::receive(Ifindex ifindex, ByteSpan frame, TimePoint now, Actions& out) {
  Port* port = find(ifindex);
  if (finished_ || port == nullptr || frame.size() <= kEthernetHeader) return;
  if (frame[12] != tlv::kEtherType >> 8 || frame[13] != (tlv::kEtherType & 0xff)) return;
  for (PortAgent& a : port->agents) {
    if (a.rx_state != RxState::RX_WAIT_FOR_FRAME) continue;
    const MacAddress to = group_address(a.scope);
    if (!begins_with(frame.data(), to)) continue;
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
  const std::size_t told = out.events.size();
  step(agent.rx_state, agent.rx, receiver);
  if (out.events.size() != told) touch_classes(port, now);  // also where that is all that is new
  if (receiver.held_first) due_.set(port.slot, now);
  if (!receiver.table_changed) return settle(now, out);
  if (receiver.spoken) note_memory(hear_news(port, *receiver.known), now, out);
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

void Agent::Impl::send(Port& port, PortAgent& agent, bool shutdown, TimePoint now, Actions& out) {
  agent.tell_at = kNever;
  agent.greets = false;
  Bytes& frame = out.new_frame();
  if (shutdown) {
    write_shutdown_frame(frame, agent.scope, port.link, chassis_id_);
  } else {
    note_told(port, now, out);
    const Telling& location = location_for(port);
    agent.told_location = location.version;
    agent.told_own_tier = tell_own_.version;
    const MissingTlvs left_out =
        write_info_frame(frame, agent.scope, port.link, self(port, location.octets), *settings_);
    port.statistics.add(&Statistics::lldpduLengthErrors, left_out.all);
    port.relabel |= port.cut_short != (left_out.of_fabric != 0);
    port.cut_short = left_out.of_fabric != 0;
  }
  if (settings_->send_pfc && port.link.pfc && !shutdown)
    port.offered_pfc = static_cast<std::uint8_t>(port.offered_pfc | port.link.pfc->enabled);
  port.statistics.count_sent();
  out.sends.push_back({.port = port.link.ifindex, .frame = frame});
}

void Agent::Impl::retract(Port& port, Actions& out) {
  for (PortAgent& a : port.agents) {
    if (a.tx_state == TxState::TX_IDLE) send(port, a, true, {}, out);
  }
}

// Time

std::optional<TimePoint> Agent::Impl::next_deadline() const {
  if (finished_) return std::nullopt;
  const TimePoint due =
      earliest(due_.due(), settled_at_, linked_at_, inference_.deadline().value_or(kNever),
               absent_due_, locate_at_, tell_by_, memory_until_, location_.due(), classes_at_,
               rails_at_, no_level_told_ ? kNever : no_level_at_);
  return due == kNever ? std::nullopt : std::optional(due);
}

void Agent::Impl::advance(TimePoint now, Actions& out) {
  if (finished_) return;
  if (inference_.deadline().value_or(kNever) <= now) decide(now, out);
  if (no_level_at_ <= now && !no_level_told_) set_level_alarms(now, out);
  look_for_readiness(now);
  settle(now, out);
  if (absent_due_ <= now) look_for_absent_ports(now, out);
  if (classes_at_ <= now) follow_classes(now, out);
  run_due(now, out);
  if (look_for_readiness(now)) {  // by the first frames, which have just gone out
    settle(now, out);
    run_due(now, out);
  }
  // What the ports forgot or took may have moved the location, and a new one is told by them.
  while (earliest(locate_at_, tell_by_, memory_until_, location_.due()) <= now) {
    relocate(now, out);
    run_due(now, out);
  }
  settle(now, out);
  if (rails_at_ <= now) follow_rails(now, out);
}

void Agent::Impl::run_due(TimePoint now, Actions& out) {
  while (due_.due() <= now) {
    Port& port = *ports_[due_.first()];
    age(port, now, out);
    take_held(port, now, out);
    run(port, now, out);
  }
}

void Agent::Impl::age(Port& port, TimePoint now, Actions& out) {
  bool changed = port.alarm_due() <= now || std::exchange(port.relabel, false);
  if (port.shared_until <= now) {
    port.shared_until = kNever;
    changed = true;
  }
  if (port.stock_at <= now) {
    port.stock_at = kNever;
    port.stock = true;
    unsettle(port);
  }
  if (port.memory_until <= now) {
    watch_for_silence(port, port.hears_switch, now);  // it stays when the memory has gone
    note_forgotten(fade_memory(port), now, out);
    locate_soon(now);  // a neighbor that is silent by now is not waited for there
    changed = true;
  }
  // Before neighbors age out: one of them may be the switch that is missed then.
  for (Neighbor& n : port.table.all()) {
    const bool ends = n.claim_stands && n.claim_until <= now && n.claim_until < n.rxInfoTTL;
    if (!ends || !read_anew(port, n, now, out)) continue;
    if (!n.superseded) note_memory(hear_news(port, n), now, out);
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
  if (changed) reconsider(port, now, out);
}

bool Agent::Impl::read_anew(Port& port, Neighbor& neighbor, TimePoint now, Actions& out) {
  Event event{.kind = Event::Kind::kNeighborChanged, .port = port.link.ifindex, .was = neighbor};
  const ByteSpan octets = neighbor.lldpdu();
  event.lldpdu.assign(octets.begin(), octets.end());
  const auto view = tlv::decode(event.lldpdu, {.contribution_ouis = settings_->accepted_ouis});
  if (!view) return false;  // it was taken once
  const auto last_level = neighbor.last_level;
  neighbor.replace(event.lldpdu, *view, *settings_);
  neighbor.uphold(last_level, now);
  doubt(port, neighbor);
  if (event.was == static_cast<const Told&>(neighbor)) return false;
  event.before = event.lldpdu;
  event.is = neighbor;
  out.events.push_back(std::move(event));
  return true;
}

void Agent::Impl::doubt(const Port& port, Neighbor& neighbor) {
  if (neighbor.device != DeviceType::kHost || neighbor.tr || neighbor.contribution ||
      !port.orders.knows_switch(neighbor.chassis_id()))
    return;
  neighbor.device = DeviceType::kUnknown;
  neighbor.level.reset();
}

void Agent::Impl::read_order(Port& port, Neighbor& neighbor, TimePoint now, Actions& out) {
  const ByteSpan octets = neighbor.lldpdu();
  const auto view = tlv::decode(octets, {.contribution_ouis = settings_->accepted_ouis});
  if (!view || port.agents.empty()) return;
  if (view->order.empty()) hear_other(port, out);
  hear_order(port, port.agents.front(), view->order, neighbor.chassis_id(), &neighbor, now, out);
}

void Agent::Impl::run(Port& port, TimePoint now, Actions& out) {
  if (port.repeat_at <= now) {
    port.repeat_at = kNever;
    if (port.orders.waits(rank_.bound())) {
      port.orders.nag();
      for (PortAgent& a : port.agents) a.tx.localChange = true;
    }
  }
  for (PortAgent& a : port.agents) {
    if (a.tell_at <= now) {
      a.tell_at = kNever;
      a.tx.localChange = true;
    }
    // The last of the credit is for an agent that was never heard (docs/develop/rules.md A13).
    a.tx.txKept = a.greets || settings_->txCreditMax == 1 ? 0 : 1;
    Sender sender{*this, port, a, now, out};
    step(a.tx_timer_state, a.tx_state, a.tx, *settings_, a.phase, now, sender);
  }
  if (port.repeat_at == kNever && port.link.up && !port.agents.empty() &&
      port.orders.waits(rank_.bound()))
    port.repeat_at = next_fast_moment(now, *settings_, port.agents.front().phase);
  due_.set(port.slot, port.deadline());
}

// Settings

void Agent::Impl::configure(Settings settings, TimePoint now, Actions& out) {
  if (finished_ || settings == *settings_) return;
  const State before = state();
  const auto level_before = level();
  const auto settings_before =
      std::exchange(settings_, std::make_shared<const Settings>(std::move(settings)));
  inference_.set_rules(rules(), now);
  set_own_classes(now);
  touch_rails(now);
  if (settings_->chassis_id) take_chassis_id(*settings_->chassis_id, out);
  for (const auto& p : ports_) {
    if (!p) continue;
    Port& port = *p;
    set_scopes(port, now, out);
    enable(port, now, out);
    touch_classes(port, now);
    const bool was_host_port = port.host_port;
    name_host_port(port, any_name_match(settings_->host_ports, port.link.name), now);
    bool reads_otherwise = port.host_port != was_host_port;
    for (Neighbor& n : port.table.all()) {  // what counts as a host or as our TLV may have changed
      if (!read_anew(port, n, now, out)) continue;
      note_host(port, n);
      reads_otherwise = true;
    }
    // Else a frame alone sets what is remembered: it outlives the neighbor that told it (A3).
    if (reads_otherwise) remember(port);
    const Heard heard = port.heard;
    summarize_port(port, now);
    inference_.update(heard, port.heard);
    for (PortAgent& a : port.agents) a.tx.localChange = true;  // and txTTR by the new interval
  }
  if (settings_->expected != settings_before->expected) {
    forget_absent_ports(out);
    if (settings_->expected) absent_due_ = now + standing().missing_grace;
  }
  inference_.decide(now);
  set_level_alarms(now, out);
  if (level() != level_before) {
    out.events.push_back(
        {.kind = Event::Kind::kLevel, .text = level_change_text(level_before, level())});
    location_ = {};
  }
  unsettle_all();
  locate(now, out, level() != level_before);
  announce_all(level_before, now, out);
  if (settings_->classes) follow_classes(now, out);
  note_state(state() != before, out);
}

Bytes Agent::Impl::announcement(Ifindex ifindex) const {
  Bytes frame;
  if (const Port* port = find(ifindex); port != nullptr && may_send(port->link.adminStatus))
    write_info_frame(frame, settings_->scopes.front(), port->link,
                     self(*port, location_for(*port).octets), *settings_);
  return frame;
}

void Agent::Impl::announce(Port& port, TimePoint now) {
  for (PortAgent& a : port.agents) a.tx.localChange = true;
  due_.set(port.slot, now);
}

void Agent::Impl::announce(TimePoint now) {
  for (const auto& port : ports_)
    if (port) announce(*port, now);
}

bool Agent::Impl::announce(Ifindex ifindex, TimePoint now) {
  Port* port = find(ifindex);
  if (finished_ || port == nullptr || !port->link.up || !may_send(port->link.adminStatus))
    return false;
  announce(*port, now);
  return true;
}

void Agent::Impl::shutdown(TimePoint now, Actions& out) {
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

Agent::Agent(Settings settings, const State& restored, TimePoint now)
    : Agent(std::make_shared<const Settings>(std::move(settings)), {}, restored, now) {}
Agent::Agent(std::shared_ptr<const Settings> settings, Identity self, const State& restored,
             TimePoint now)
    : impl_(std::make_unique<Impl>(std::move(settings), std::move(self), restored, now)) {}
Agent::Agent(Agent&&) noexcept = default;
Agent& Agent::operator=(Agent&&) noexcept = default;
Agent::~Agent() = default;

void Agent::set_link(const Link& link, TimePoint now, Actions& out) {
  impl_->set_link(link, now, out);
}
void Agent::remove_link(Ifindex port, TimePoint now, Actions& out) {
  impl_->remove_link(port, now, out);
}
void Agent::leave_link(Ifindex port, TimePoint now, Actions& out) {
  impl_->leave_link(port, now, out);
}
void Agent::receive(Ifindex port, ByteSpan frame, TimePoint now, Actions& out) {
  impl_->receive(port, frame, now, out);
}
void Agent::in_force(Ifindex port, std::uint32_t generation, TimePoint now, Actions& out) {
  impl_->in_force(port, generation, now, out);
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
void Agent::forget_classes(TimePoint now, Actions& out) { impl_->forget_classes(now, out); }
bool Agent::renew_location(TimePoint now, Actions& out) { return impl_->renew_location(now, out); }
void Agent::assume_rules(TimePoint now, Actions& out) { impl_->assume_rules(now, out); }
void Agent::announce(TimePoint now) { impl_->announce(now); }
bool Agent::announce(Ifindex port, TimePoint now) { return impl_->announce(port, now); }
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
const Tiers& Agent::location() const { return impl_->location(); }
const Classes& Agent::classes() const { return impl_->classes(); }
const ChassisId& Agent::chassis_id() const { return impl_->chassis_id(); }
bool Agent::ports_restored() const { return impl_->ports_restored(); }
Order Agent::order(Ifindex port) const {
  const Port* p = std::as_const(*impl_).find(port);
  return p != nullptr ? p->order : Order::kUnknown;
}
Request Agent::request(Ifindex port) const {
  const Port* p = std::as_const(*impl_).find(port);
  return p != nullptr ? Request{p->order, p->orders.requests.generation(), p->restores} : Request{};
}
std::optional<Layers> Agent::layers(Ifindex port) const {
  const Port* p = std::as_const(*impl_).find(port);
  return p != nullptr ? p->link.layers : std::nullopt;
}
PortType Agent::type(Ifindex port) const {
  const Port* p = std::as_const(*impl_).find(port);
  return p != nullptr ? p->type : PortType::kUnmarked;
}
bool Agent::hears(Ifindex port) const {
  const Port* p = std::as_const(*impl_).find(port);
  return p != nullptr && p->link.up && p->table.size() != 0;
}
std::optional<Statistics> Agent::statistics(Ifindex port) const {
  const Port* p = std::as_const(*impl_).find(port);
  return p != nullptr ? std::optional(p->statistics.all()) : std::nullopt;
}
std::size_t Agent::neighbor_count() const { return impl_->neighbor_count(); }
Snapshot Agent::snapshot(TimePoint now, Depth depth) const { return impl_->snapshot(now, depth); }

}  // namespace lldp::core
