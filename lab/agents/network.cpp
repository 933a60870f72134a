// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/core/settings.hpp"
#include "tlv/basic.hpp"
#include "tlv/topology.hpp"
#include "tlv/writer.hpp"

namespace lldp::lab::agents {
namespace {

constexpr std::size_t kEthernetHeader = 14;
/// A socket's buffer holds no more frames for a process that stands still.
constexpr std::size_t kMostBacklog = 256;
/// What was refused is tried again for so long, at most.
constexpr std::chrono::seconds kMostRefused{30};

/// The frame without TLVs of ours, as a neighbor without them would have sent it.
void make_stock(Bytes& frame) {
  const auto octet = [&](std::size_t at) { return std::size_t{frame[at]}; };
  for (std::size_t at = kEthernetHeader; at + 2 <= frame.size();) {
    const std::size_t octets = 2 + ((octet(at) & 1) << 8 | octet(at + 1));
    const bool organizational = octet(at) >> 1 == 127 && octets >= 6 && at + octets <= frame.size();
    const std::size_t oui =
        organizational ? octet(at + 2) << 16 | octet(at + 3) << 8 | octet(at + 4) : 0;
    const bool ours = oui == tlv::Contribution::kKey.oui ||
                      (oui == tlv::kDot1 && octet(at + 5) == tlv::Tr::kKey.subtype);
    const auto first = frame.begin() + static_cast<std::ptrdiff_t>(at);
    if (ours)
      frame.erase(first, first + static_cast<std::ptrdiff_t>(octets));
    else
      at += octets;
  }
}

}  // namespace

// The fabric

std::size_t Network::add(core::Settings settings) {
  return add(std::make_shared<const core::Settings>(std::move(settings)), {});
}

std::size_t Network::add(std::shared_ptr<const core::Settings> settings, core::Identity self) {
  nodes.emplace_back();
  nodes.back().settings = std::move(settings);
  nodes.back().self = std::move(self);
  return nodes.size() - 1;
}

Ifindex Network::add_port(std::size_t node) {
  const std::size_t number = nodes[node].ports.size() + 1;
  const auto octet = [](std::size_t v) { return static_cast<std::uint8_t>(v); };
  return add_port(node, fmt::format("p{}", number),
                  {0x02, 0, octet(node >> 8), octet(node), octet(number >> 8), octet(number)});
}

Ifindex Network::add_port(std::size_t node, std::string_view name, MacAddress address,
                          std::optional<Layers> layers) {
  auto& ports = nodes[node].ports;
  auto at = names_.find(name);
  if (at == names_.end()) at = names_.emplace(name).first;
  ports.push_back({.name = &*at, .address = address, .layers = layers});
  return *Ifindex::make(ports.size());
}

std::size_t Network::plug(End a, End b, Duration cable_delay) {
  cables.emplace_back();
  cables.back().a = a;
  cables.back().b = b;
  cables.back().delay = cable_delay;
  const std::size_t cable = cables.size() - 1;
  for (const End& e : {a, b})
    nodes[e.node].ports[e.slot()].cable = static_cast<std::uint32_t>(cable);
  carrier_changed(cable);
  return cable;
}

std::size_t Network::connect(std::size_t a, std::size_t b) {
  const End end{a, add_port(a)};
  return plug(end, {b, add_port(b)}, delay);
}

void Network::connect_by_hub(const std::vector<std::size_t>& members) {
  std::vector<End> ends;
  for (const std::size_t m : members) ends.push_back({m, add_port(m)});
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (std::size_t j = i + 1; j < ends.size(); ++j) {
      const auto cable = static_cast<std::uint32_t>(cables.size());
      cables.emplace_back();
      cables.back().a = ends[i];
      cables.back().b = ends[j];
      cables.back().delay = delay;
      cables.back().hub = true;
      for (const End& e : {ends[i], ends[j]}) {
        Port& port = nodes[e.node].ports[e.slot()];
        if (port.cable == kNone)
          port.cable = cable;
        else
          port.more.push_back(cable);
      }
    }
}

void Network::unplug(std::size_t cable) {
  if (!std::exchange(cables[cable].plugged, false)) return;
  set_cable(cable, false);
  for (const End& e : {cables[cable].a, cables[cable].b}) {
    nodes[e.node].ports[e.slot()].cable = kNone;
    // Of a dead agent the data plane drops `down` as the neighbor goes, of a switch without power
    // there are no rules.
    if (!nodes[e.node].runs() && nodes[e.node].ports[e.slot()].rule == Order::kDown)
      put_rule(e.node, e.slot(), Order::kUp);
  }
  for (Observer* o : observers_) o->cable_changed(cable);
}

void Network::set_cable(std::size_t cable, bool up) {
  if (std::exchange(cables[cable].up, up) != up) carrier_changed(cable);
}

void Network::carrier_changed(std::size_t cable) {
  if (!cables[cable].up) ++cables[cable].generation;
  for (Observer* o : observers_) o->cable_changed(cable);
  for (const End& e : {cables[cable].a, cables[cable].b}) {
    Port& port = nodes[e.node].ports[e.slot()];
    ++port.carrier_changes;
    port.unattended |= !nodes[e.node].runs();
    if (nodes[e.node].runs()) {
      report_link(e.node, e.slot());
      schedule(e.node);
    }
    Port& then = nodes[e.node].ports[e.slot()];
    then.at_carrier = then.asked;
  }
}

void Network::report_link(std::size_t node, std::size_t slot) {
  const Port& port = nodes[node].ports[slot];
  nodes[node].agent->set_link({.ifindex = *Ifindex::make(slot + 1),
                               .name = *port.name,
                               .address = port.address,
                               .up = port.cable != kNone && cables[port.cable].up,
                               .carrier_changes = port.carrier_changes,
                               .layers = port.layers,
                               .adminStatus = port.admin},
                              now, actions_);
  act(node);
}

// The agents' lives

void Network::start(std::size_t node) {
  Node& n = nodes[node];
  core::Identity self = n.self;
  self.entropy = random_.next();
  self.wall_clock = n.clock.value_or(static_cast<std::uint32_t>(
      std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count()));
  ++n.life;
  n.stale |= std::exchange(n.outdated, false);
  const bool lost = !n.state && std::ranges::any_of(n.ports, [](const Port& p) {
    return p.rule != Order::kUnknown;
  });
  for (Port& p : n.ports) p.generation = 0;
  n.agent.emplace(n.settings, std::move(self), n.state ? *n.state : core::State(), now);
  if (lost) n.agent->assume_rules(now, actions_), act(node);
  for (std::size_t slot = 0; slot < n.ports.size(); ++slot) report_link(node, slot);
  attend(node);
  for (Observer* o : observers_) o->started(node);
  schedule(node);
}

void Network::start_all() {
  for (std::size_t i = 0; i < nodes.size(); ++i) start(i);
}

void Network::stop(std::size_t node, bool orderly) {
  Node& n = nodes[node];
  orderly = orderly && !n.frozen_;
  if (orderly || n.unsaved || !saves_at_once) save(n);
  n.unsaved = false;
  n.crash.reset();
  if (orderly) {
    n.agent->shutdown(now, actions_);
    act(node);
  }
  die(node);
}

void Network::freeze(std::size_t node) {
  nodes[node].frozen_ = true;
  wakes_.remove(static_cast<std::uint32_t>(node));
  for (Observer* o : observers_) o->stopped(node);
}

void Network::thaw(std::size_t node) {
  if (!std::exchange(nodes[node].frozen_, false)) return;
  const auto frames = std::exchange(nodes[node].backlog, {});
  const auto unconfirmed = std::exchange(nodes[node].unconfirmed, {});
  const auto links = [&] {
    for (std::size_t slot = 0; slot < nodes[node].ports.size() && nodes[node].agent; ++slot)
      report_link(node, slot);
  };
  const bool links_first = random_.chance(0.5);
  if (links_first) links();
  for (const auto& [port, frame] : frames) {
    if (!nodes[node].agent) break;  // it died of what it did
    nodes[node].agent->receive(port, frame, now, actions_);
    act(node);
  }
  if (!links_first) links();
  for (const auto& [slot, generation] : unconfirmed) {
    if (!nodes[node].agent) break;
    nodes[node].agent->in_force(*Ifindex::make(slot + 1), generation, now, actions_);
    act(node);
  }
  if (!nodes[node].agent) return;
  attend(node);
  for (Observer* o : observers_) o->started(node);
  if (nodes[node].agent->settings() != *nodes[node].settings) configure(node);
  if (nodes[node].agent) wake(node);
}

void Network::attend(std::size_t node) {
  Node& n = nodes[node];
  for (std::size_t slot = 0; slot < n.ports.size() && n.agent; ++slot)
    if (n.agent->order(*Ifindex::make(slot + 1)) == n.ports[slot].rule)
      n.ports[slot].unattended = false;
}

void Network::set_admin(std::size_t node, std::size_t slot, core::AdminStatus admin) {
  if (std::exchange(nodes[node].ports[slot].admin, admin) == admin || !nodes[node].runs()) return;
  report_link(node, slot);
  schedule(node);
}

void Network::speak_as_lldpd(std::size_t node, const ChassisId& chassis, bool station) {
  using tlv::Capabilities;
  const std::uint16_t what =
      station ? Capabilities::kStationOnly : Capabilities::kBridge | Capabilities::kRouter;
  for (std::size_t slot = 0; slot < nodes[node].ports.size(); ++slot) {
    const Port& port = nodes[node].ports[slot];
    const MacAddress to = core::group_address(core::Scope::kNearestBridge);
    Bytes frame(to.begin(), to.end());
    frame.insert(frame.end(), port.address.begin(), port.address.end());
    frame.insert(frame.end(), {tlv::kEtherType >> 8, tlv::kEtherType & 0xff});
    tlv::LldpduWriter(frame, 1500)
        .add(tlv::ChassisIdTlv{chassis.subtype, as_octets(chassis.octets)})
        .add(tlv::PortIdTlv{PortId::kMacAddress, ByteSpan(port.address)})
        .add(tlv::Ttl{120})
        .add(Capabilities{what, what})
        .end();
    transmit(node, {.port = *Ifindex::make(slot + 1), .frame = frame});
  }
}

void Network::copy_state(std::size_t from, std::size_t to) {
  nodes[to].state = std::make_unique<core::State>(*nodes[from].state);
  for (core::PortState& port : nodes[to].state->ports) port.carrier_changes.reset();
  nodes[to].stale = true;
}

void Network::die(std::size_t node) {
  Node& n = nodes[node];
  n.agent.reset();
  n.frozen_ = false;
  n.backlog.clear();
  n.unconfirmed.clear();
  wakes_.remove(static_cast<std::uint32_t>(node));
  n.crash.reset();
  n.unsaved = false;
  for (Observer* o : observers_) o->stopped(node);
}

void Network::save(Node& node) {
  node.outdated = node.read_only;
  if (!node.read_only) node.state = std::make_unique<core::State>(node.agent->state());
}

core::Settings& Network::alter(std::size_t node) {
  auto settings = std::make_shared<core::Settings>(*nodes[node].settings);
  core::Settings& altered = *settings;
  nodes[node].settings = std::move(settings);
  return altered;
}

void Network::configure(std::size_t node) {
  if (nodes[node].frozen_) return;  // at its thaw
  nodes[node].agent->configure(*nodes[node].settings, now, actions_);
  act(node);
  schedule(node);
}

void Network::forget(std::size_t node, std::optional<Ifindex> port) {
  if (nodes[node].frozen_) return;
  nodes[node].agent->forget(port, now, actions_);
  act(node);
  schedule(node);
}
bool Network::renew_location(std::size_t node) {
  const bool renewed = nodes[node].agent->renew_location(now, actions_);
  act(node);
  schedule(node);
  return renewed;
}

// Time

void Network::at(TimePoint when, std::function<void()> what) {
  const std::uint32_t place = calls_.take();
  calls_[place] = std::move(what);
  queue_.push(when, {.kind = Event::Kind::kCall, .what = place});
}

void Network::run_until(TimePoint end) {
  while (!idle() && next_time() <= end) step();
  now = end;
}

void Network::step() {
  now = next_time();
  if (wakes_first()) {
    wake(wakes_.first());
  } else {
    const Event e = queue_.pop();
    switch (e.kind) {
      case Event::Kind::kDeliverToA:
        deliver(e, cables[e.cable].a);
        break;
      case Event::Kind::kDeliverToB:
        deliver(e, cables[e.cable].b);
        break;
      case Event::Kind::kCall:
        call(e.what);
        break;
    }
  }
  for (Observer* o : observers_) o->stepped();
}

void Network::deliver(const Event& e, const End& to) {
  Node& n = nodes[to.node];
  if (n.agent && cables[e.cable].up && cables[e.cable].generation == e.generation) {
    if (n.frozen_) {
      if (n.backlog.size() < kMostBacklog) n.backlog.emplace_back(to.port, frames_[e.what]);
      return frames_.release(e.what);
    }
    n.agent->receive(to.port, frames_[e.what], now, actions_);
    act(to.node);
    schedule(to.node);
  }
  frames_.release(e.what);
}

void Network::wake(std::size_t node) {
  wakes_.remove(static_cast<std::uint32_t>(node));
  nodes[node].agent->advance(now, actions_);
  act(node);
  schedule(node);
}

void Network::call(std::uint32_t what) {
  const auto f = std::exchange(calls_[what], nullptr);
  calls_.release(what);
  f();
}

/// A deadline that moved back is found out when the old one comes: nearly each frame moves one.
void Network::schedule(std::size_t node) {
  Node& n = nodes[node];
  if (!n.agent) return;  // it died of what it did
  const auto deadline = n.agent->next_deadline();
  if (!deadline) return;
  const TimePoint due = std::max(*deadline, now);  // one that is over means at once
  const auto slot = static_cast<std::uint32_t>(node);
  if (const auto* wakes = wakes_.find(slot); wakes != nullptr && wakes->first <= due) return;
  wakes_.set(slot, queue_.take_turn(due));
}

void Network::put_rule(std::size_t node, std::size_t slot, Order order, bool restores) {
  Port& port = nodes[node].ports[slot];
  const Order before = std::exchange(port.rule, order);
  if (std::exchange(port.restores, restores) == restores && before == order) return;
  for (Observer* o : observers_) o->ruled(node, slot, before);
}

void Network::cut_power(std::size_t node) {
  ++nodes[node].power;
  for (std::size_t slot = 0; slot < nodes[node].ports.size(); ++slot) {
    nodes[node].ports[slot].applied = nodes[node].ports[slot].asked;
    put_rule(node, slot, Order::kUnknown);
  }
}

bool Network::passes(const Cable& cable) const {
  const auto in_order = [this](const End& e) {
    const Port& port = nodes[e.node].ports[e.slot()];
    return port.applied >= port.at_carrier;
  };
  return cable.up && in_order(cable.a) && in_order(cable.b);
}

void Network::program(std::size_t node, bool safe_only) {
  for (const core::Event& e : actions_.events) {
    if (e.kind != core::Event::Kind::kPort) continue;
    const std::size_t slot = e.port.value() - 1;
    Port& port = nodes[node].ports[slot];
    const core::Request request = nodes[node].agent->request(e.port);
    const bool safe = request.order == Order::kUp || request.order == Order::kShut;
    if (request.generation == port.generation || (safe_only && !safe)) continue;
    port.generation = request.generation;
    const std::uint32_t turn = ++port.asked;
    const std::uint32_t life = nodes[node].life;
    const std::uint32_t power = nodes[node].power;
    const bool refused = refusal > 0 && random_.chance(refusal);
    if (rules_late <= Duration{} && !refused && port.applied + 1 == turn) {
      apply(node, slot, request, turn, life, power);
      continue;
    }
    const Duration most = refused ? rules_late + kMostRefused : rules_late;
    port.last = std::max(port.last, now + Duration(static_cast<Duration::rep>(random_.below(
                                              static_cast<std::uint64_t>(most.count()) + 1))));
    at(port.last, [this, node, slot, request, turn, life, power] {
      apply(node, slot, request, turn, life, power);
      if (!nodes[node].runs()) return confirmed_.clear();
      act(node);
      schedule(node);
    });
  }
}

void Network::apply(std::size_t node, std::size_t slot, const core::Request& request,
                    std::uint32_t turn, std::uint32_t life, std::uint32_t power) {
  if (nodes[node].power != power) return;
  nodes[node].ports[slot].applied = turn;
  if (nodes[node].life == life && nodes[node].runs()) nodes[node].ports[slot].unattended = false;
  put_rule(node, slot, request.order, request.restore);
  if (!nodes[node].agent || nodes[node].life != life) return;
  if (nodes[node].frozen_)
    nodes[node].unconfirmed.emplace_back(slot, request.generation);
  else
    confirmed_.emplace_back(node, slot, request.generation);
}

void Network::act(std::size_t node) {
  for (;;) {
    act_once(node);
    if (confirmed_.empty()) return;
    if (!nodes[node].agent) return confirmed_.clear();
    const auto confirmed = std::exchange(confirmed_, {});
    for (const auto& [which, slot, generation] : confirmed)
      nodes[which].agent->in_force(*Ifindex::make(slot + 1), generation, now, actions_);
  }
}

void Network::act_once(std::size_t node) {
  Node& n = nodes[node];
  n.unsaved |= std::any_of(actions_.events.begin(), actions_.events.end(),
                           [](const auto& e) { return e.kind == core::Event::Kind::kState; });
  const bool dies = n.crash && (n.unsaved || !actions_.sends.empty());
  const bool unsaved_death = dies && *n.crash == Crash::kBeforeSaving;
  if (n.unsaved && !unsaved_death) {
    if (saves_at_once) save(n);
    n.unsaved = false;
  }
  program(node, unsaved_death);
  if (!dies || *n.crash == Crash::kWhileSending) {
    const std::size_t out = dies ? random_.below(actions_.sends.size() + 1) : actions_.sends.size();
    for (Observer* o : observers_) o->acted(node, actions_);
    for (std::size_t i = 0; i < out; ++i) transmit(node, actions_.sends[i]);
    if (keep_events)
      for (core::Event& e : actions_.events) n.events.push_back(std::move(e));
  }
  actions_.clear();
  if (dies) die(node);
}

void Network::transmit(std::size_t node, const core::Send& send) {
  ++frames_sent;
  const Port& port = nodes[node].ports[send.port.value() - 1];
  if (port.cable == kNone || mute == node) return;
  transmit(node, send, port.cable);
  for (const std::uint32_t cable : port.more) transmit(node, send, cable);
}

void Network::transmit(std::size_t node, const core::Send& send, std::uint32_t at) {
  if (!cables[at].up) return;
  if (loss > 0 && random_.chance(loss)) {
    ++frames_lost;
    return;
  }
  Cable& cable = cables[at];
  const End& to = cable.far_end({node, send.port});
  const bool to_a = &to == &cable.a;
  if (cable.mute[to_a ? 1 : 0]) {
    ++frames_lost;
    return;
  }
  TimePoint& last = cable.last[to_a ? 0 : 1];
  for (int copies = duplication > 0 && random_.chance(duplication) ? 2 : 1; copies > 0; --copies) {
    Duration extra{};
    if (jitter > Duration{})
      extra = Duration(static_cast<Duration::rep>(
          random_.below(static_cast<std::uint64_t>(jitter.count()) + 1)));
    const TimePoint arrives = now + cable.delay + extra;
    last = reorders ? arrives : std::max(last, arrives);
    const std::uint32_t frame = frames_.take();
    frames_[frame].assign(send.frame.begin(), send.frame.end());
    if (nodes[node].stock) make_stock(frames_[frame]);
    queue_.push(last, {.kind = to_a ? Event::Kind::kDeliverToA : Event::Kind::kDeliverToB,
                       .cable = static_cast<std::uint32_t>(at),
                       .generation = cable.generation,
                       .what = frame});
  }
}

}  // namespace lldp::lab::agents
