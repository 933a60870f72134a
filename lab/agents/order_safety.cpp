// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/order_safety.hpp"

#include <utility>

namespace lldp::lab::agents {

OrderSafety::Rule& OrderSafety::rule_of(std::size_t node, std::size_t slot) {
  if (rules_.size() <= node) rules_.resize(network_.nodes.size());
  if (rules_[node].size() <= slot) rules_[node].resize(network_.nodes[node].ports.size());
  return rules_[node][slot];
}

Order OrderSafety::rule(std::size_t node, std::size_t slot) const {
  if (rules_.size() <= node || rules_[node].size() <= slot) return Order::kUnknown;
  const Rule& r = rules_[node][slot];
  const bool forgotten = r.found_until != TimePoint{} && r.found_until <= network_.now;
  return forgotten ? Order::kUnknown : r.order;
}

void OrderSafety::put(std::size_t node, std::size_t slot, Order order) {
  Rule& r = rule_of(node, slot);
  const Order before = std::exchange(r.order, order);
  r.found_until = {};
  // To take a port for up instead of down, or for unknown, only takes dependencies away.
  unproved_ |= before != order && order != Order::kUnknown &&
               !(before == Order::kDown && order == Order::kUp);
}

void OrderSafety::flush(std::size_t node) {
  if (node < rules_.size()) rules_[node].clear();
}

void OrderSafety::program(std::size_t node, std::size_t slot) {
  put(node, slot, network_.nodes[node].agent->order(*Ifindex::make(slot + 1)));
}

void OrderSafety::started(std::size_t node) {
  constexpr std::chrono::seconds kForgotten{121};  // the TTL of all that was said before
  const Network::Node& n = network_.nodes[node];
  for (std::size_t slot = 0; slot < n.ports.size(); ++slot) {
    Rule& r = rule_of(node, slot);
    if (n.agent->order(*Ifindex::make(slot + 1)) != Order::kUnknown || !n.is_switch()) {
      program(node, slot);
    } else if (n.agent->ports_restored()) {
      r = {};  // what its file does not remember had lost its carrier
    } else if (r.order != Order::kUnknown) {
      r = {Order::kUp, network_.now + kForgotten};
    }
  }
  unproved_ = true;
}

void OrderSafety::stopped(std::size_t /*node*/) { unproved_ = true; }

void OrderSafety::acted(std::size_t node, const core::Actions& actions) {
  for (const core::Event& e : actions.events) {
    const bool heard = e.kind == core::Event::Kind::kNeighborAdded;
    if (e.kind == core::Event::Kind::kPort || heard) program(node, e.port.value() - 1);
  }
}

void OrderSafety::cable_changed(std::size_t cable) {
  const Network::Cable& c = network_.cables[cable];
  unproved_ |= c.up;
  if (c.plugged) return;
  for (const auto& e : {c.a, c.b})
    if (!network_.nodes[e.node].agent) rule_of(e.node, e.slot()) = {};
}

void OrderSafety::stepped() {
  if (!std::exchange(unproved_, false)) return;
  dead_ = 0;
  for (const Network::Node& n : network_.nodes) dead_ += !n.agent;
  ++proofs_;
  if (prove(false, cycle_) && dead_ > 0) (void)prove(true, cycle_with_dead_);
}

bool OrderSafety::prove(bool with_dead, std::optional<Cycle>& cycle) {
  forwarding_.links.clear();
  const auto counts = [&](const Network::End& e) {
    return (with_dead || network_.nodes[e.node].agent) && network_.nodes[e.node].is_switch();
  };
  for (const Network::Cable& c : network_.cables) {
    if (!c.up || !counts(c.a) || !counts(c.b)) continue;
    const Order a = rule(c.a.node, c.a.slot());
    const Order b = rule(c.b.node, c.b.slot());
    if (a == Order::kUnknown || b == Order::kUnknown) continue;
    disagreements_ += a == b && !with_dead;
    forwarding_.links.push_back({c.a.node, c.b.node, {a, qos::Layer{}}, {b, qos::Layer{}}});
  }
  for (std::size_t i = forwarding_.switches.size(); i < network_.nodes.size(); ++i)
    forwarding_.switches.push_back(network_.nodes[i].name());
  static const qos::Policy policy;
  const qos::Proof proof = qos::prove(forwarding_, policy);
  if (proof.deadlock_free()) return true;
  if (!cycle) cycle = {network_.now, with_dead, to_string(proof.cycle, forwarding_)};
  return false;
}

}  // namespace lldp::lab::agents
