// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/order_safety.hpp"

#include <utility>

namespace lldp::lab::agents {

Order OrderSafety::rule(std::size_t node, std::size_t slot) const {
  const auto& ports = network_.nodes[node].ports;
  return slot < ports.size() ? ports[slot].rule : Order::kUnknown;
}

void OrderSafety::ruled(std::size_t node, std::size_t slot, Order before) {
  // To take a port for up instead of down, or to shut it, only takes dependencies away. What was
  // asked for as the carrier came may let a link pass.
  const Order order = rule(node, slot);
  unproved_ |= order != Order::kShut && order != Order::kUnknown &&
               !(before == Order::kDown && order == Order::kUp);
  const std::uint32_t cable = network_.nodes[node].ports[slot].cable;
  unproved_ |= cable != Network::kNone && network_.came_to_pass(node, slot);
}

void OrderSafety::started(std::size_t /*node*/) { unproved_ = true; }

void OrderSafety::stopped(std::size_t /*node*/) { unproved_ = true; }

void OrderSafety::cable_changed(std::size_t cable) { unproved_ |= network_.cables[cable].up; }

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
    if (!network_.passes(c) || !counts(c.a) || !counts(c.b)) continue;
    const Order a = rule(c.a.node, c.a.slot());
    const Order b = rule(c.b.node, c.b.slot());
    if (a == Order::kUnknown || b == Order::kUnknown) continue;
    if (a == Order::kShut || b == Order::kShut) continue;
    disagreements_ += a == b && !with_dead;
    const auto port = [&](const Network::End& e, Order order) {
      return qos::PortClass{.order = order,
                            .restore = network_.nodes[e.node].ports[e.slot()].restores};
    };
    forwarding_.links.push_back({c.a.node, c.b.node, port(c.a, a), port(c.b, b)});
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
