// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lldp::lab::agents {

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

void Network::unplug(std::size_t cable) {
  if (!std::exchange(cables[cable].plugged, false)) return;
  set_cable(cable, false);
  for (const End& e : {cables[cable].a, cables[cable].b}) {
    nodes[e.node].ports[e.slot()].cable = kNone;
    // Of a dead agent the data plane drops what was for the neighbor that is gone.
    if (!nodes[e.node].agent) put_rule(e.node, e.slot(), Order::kUnknown);
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
    if (nodes[e.node].agent) {
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
                               .layers = port.layers},
                              now, actions_);
  act(node);
}

// The agents' lives

void Network::start(std::size_t node) {
  Node& n = nodes[node];
  core::Identity self = n.self;
  self.entropy = random_.next();
  self.wall_clock = static_cast<std::uint32_t>(
      std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count());
  ++n.life;
  const bool lost = !n.state && std::ranges::any_of(n.ports, [](const Port& p) {
    return p.rule != Order::kUnknown;
  });
  for (Port& p : n.ports) p.generation = 0;
  n.agent.emplace(n.settings, std::move(self), n.state ? *n.state : core::State(), now);
  if (lost) n.agent->assume_rules(now, actions_), act(node);
  for (std::size_t slot = 0; slot < n.ports.size(); ++slot) report_link(node, slot);
  for (Observer* o : observers_) o->started(node);
  schedule(node);
}

void Network::start_all() {
  for (std::size_t i = 0; i < nodes.size(); ++i) start(i);
}

void Network::stop(std::size_t node, bool orderly) {
  Node& n = nodes[node];
  if (orderly || n.unsaved || !saves_at_once) save(n);
  n.unsaved = false;
  n.crash.reset();
  if (orderly) {
    n.agent->shutdown(now, actions_);
    act(node);
  }
  die(node);
}

void Network::die(std::size_t node) {
  Node& n = nodes[node];
  n.agent.reset();
  wakes_.remove(static_cast<std::uint32_t>(node));
  n.crash.reset();
  n.unsaved = false;
  for (Observer* o : observers_) o->stopped(node);
}

void Network::save(Node& node) { node.state = std::make_unique<core::State>(node.agent->state()); }

core::Settings& Network::alter(std::size_t node) {
  auto settings = std::make_shared<core::Settings>(*nodes[node].settings);
  core::Settings& altered = *settings;
  nodes[node].settings = std::move(settings);
  return altered;
}

void Network::configure(std::size_t node) {
  nodes[node].agent->configure(*nodes[node].settings, now, actions_);
  act(node);
  schedule(node);
}

void Network::forget(std::size_t node, std::optional<Ifindex> port) {
  nodes[node].agent->forget(port, now, actions_);
  act(node);
  schedule(node);
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
    if (rules_late <= Duration{} && port.applied + 1 == turn) {
      apply(node, slot, request, turn, life, power);
      continue;
    }
    port.last = std::max(
        port.last, now + Duration(static_cast<Duration::rep>(
                             random_.below(static_cast<std::uint64_t>(rules_late.count()) + 1))));
    at(port.last, [this, node, slot, request, turn, life, power] {
      apply(node, slot, request, turn, life, power);
      if (!nodes[node].agent) return confirmed_.clear();
      act(node);
      schedule(node);
    });
  }
}

void Network::apply(std::size_t node, std::size_t slot, const core::Request& request,
                    std::uint32_t turn, std::uint32_t life, std::uint32_t power) {
  if (nodes[node].power != power) return;
  nodes[node].ports[slot].applied = turn;
  put_rule(node, slot, request.order, request.restore);
  if (nodes[node].agent && nodes[node].life == life)
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
  const std::size_t at = nodes[node].ports[send.port.value() - 1].cable;
  if (at == kNone || !cables[at].up || mute == node) return;
  if (loss > 0 && random_.chance(loss)) {
    ++frames_lost;
    return;
  }
  Cable& cable = cables[at];
  const End& to = cable.far_end({node, send.port});
  const bool to_a = &to == &cable.a;
  TimePoint& last = cable.last[to_a ? 0 : 1];
  for (int copies = duplication > 0 && random_.chance(duplication) ? 2 : 1; copies > 0; --copies) {
    Duration extra{};
    if (jitter > Duration{})
      extra = Duration(static_cast<Duration::rep>(
          random_.below(static_cast<std::uint64_t>(jitter.count()) + 1)));
    last = std::max(last, now + cable.delay + extra);  // none overtakes another on a cable
    const std::uint32_t frame = frames_.take();
    frames_[frame].assign(send.frame.begin(), send.frame.end());
    queue_.push(last, {.kind = to_a ? Event::Kind::kDeliverToA : Event::Kind::kDeliverToB,
                       .cable = static_cast<std::uint32_t>(at),
                       .generation = cable.generation,
                       .what = frame});
  }
}

}  // namespace lldp::lab::agents
