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
  ++proofs_;
  left_out_ = false;
  if (prove(false, cycle_) && left_out_) (void)prove(true, cycle_with_dead_);
}

bool OrderSafety::prove(bool with_dead, std::optional<Cycle>& cycle) {
  forwarding_.links.clear();
  const auto counts = [&](const Network::End& e) {
    const Network::Node& n = network_.nodes[e.node];
    const Network::Port& port = n.ports[e.slot()];
    // It restores spare classes: it takes the switch at the other end for a station.
    return n.runs() && !n.stale && !port.unattended && !port.restores;
  };
  for (const Network::Cable& c : network_.cables) {
    const Order a = rule(c.a.node, c.a.slot());
    const Order b = rule(c.b.node, c.b.slot());
    if (a == Order::kUnknown || b == Order::kUnknown) continue;
    if (a == Order::kShut || b == Order::kShut) continue;
    const bool forward =
        network_.nodes[c.a.node].is_switch() && network_.nodes[c.b.node].is_switch();
    if (!forward || !network_.passes(c)) continue;
    if (!with_dead && (!counts(c.a) || !counts(c.b))) {
      left_out_ = true;
      continue;
    }
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
