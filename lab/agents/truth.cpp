// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/truth.hpp"

#include <fmt/format.h>

#include <deque>

#include "lab/topology/fabric.hpp"
#include "qos/ruleset.hpp"

namespace lldp::lab::agents {
namespace {

std::string to_text(const std::optional<Level>& level) {
  return level ? std::to_string(level->value()) : "none";
}

void count(bool& flag, bool right, std::size_t& wrong) {
  if (flag == right) return;
  flag = right;
  wrong += right ? std::size_t(-1) : 1;
}

}  // namespace

Levels distances_to_hosts(const Network& network) {
  Levels distance(network.nodes.size());
  std::deque<std::size_t> next;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    if (network.nodes[i].is_switch()) continue;
    distance[i] = Level{};
    next.push_back(i);
  }
  for (; !next.empty(); next.pop_front()) {
    const std::size_t node = next.front();
    const auto one_more = Level::make(distance[node]->value() + 1U);
    if (!one_more) continue;
    for (std::size_t slot = 0; slot < network.nodes[node].ports.size(); ++slot) {
      const std::size_t cable = network.nodes[node].ports[slot].cable;
      if (cable == Network::kNone || !network.cables[cable].up) continue;
      const std::size_t peer = network.cables[cable].far_end({node, *Ifindex::make(slot + 1)}).node;
      if (distance[peer]) continue;
      distance[peer] = one_more;
      next.push_back(peer);
    }
  }
  return distance;
}

Truth::Truth(const Network& network, Levels right) : network_(network), nodes_(right.size()) {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    nodes_[n].truth = right[n];
    const auto& ports = network.nodes[n].ports;
    nodes_[n].first_port = static_cast<std::uint32_t>(ports_.size());
    nodes_[n].ports = static_cast<std::uint32_t>(ports.size());
    ports_.resize(ports_.size() + ports.size());
    for (std::size_t slot = 0; slot < ports.size(); ++slot) {
      if (ports[slot].cable == Network::kNone) continue;
      const Network::Cable& cable = network.cables[ports[slot].cable];
      const std::size_t peer = cable.far_end({n, *Ifindex::make(slot + 1)}).node;
      Port& port = ports_[nodes_[n].first_port + slot];
      if (const auto& layers = ports[slot].layers)
        port.order = qos::class_of_span(layers->near, {}, layers->far, {}).order;
      port.truth = true_port_type(
          network.nodes[n].settings->role, right[n], network.nodes[peer].settings->role,
          cable.up && peer != n ? right[peer] : std::nullopt);  // a loop: unmarked
    }
    wrong_ports_ += ports.size();
  }
  wrong_levels_ = nodes_.size();
  total_ = wrong_levels_ + wrong_ports_;
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    if (network.nodes[n].agent) started(n);
}

void Truth::started(std::size_t node) {
  check_level(node);
  for (std::size_t slot = 0; slot < nodes_[node].ports; ++slot) check_port(node, slot);
}

void Truth::stopped(std::size_t node) {
  count(nodes_[node].right, false, wrong_levels_);
  for (Port& p : ports_of(node)) count(p.right, false, wrong_ports_);
}

void Truth::acted(std::size_t node, const core::Actions& actions) {
  for (const core::Event& event : actions.events) {
    if (event.kind == core::Event::Kind::kLevel) check_level(node);
    if (event.kind == core::Event::Kind::kPort) check_port(node, event.port.value() - 1);
  }
}

void Truth::check_level(std::size_t node) {
  count(nodes_[node].right, network_.nodes[node].agent->level() == nodes_[node].truth,
        wrong_levels_);
}

void Truth::check_port(std::size_t node, std::size_t slot) {
  Port& port = ports_of(node)[slot];
  count(port.right,
        network_.nodes[node].agent->type(*Ifindex::make(slot + 1)) == port.truth &&
            is_ordered(node, slot),
        wrong_ports_);
}

bool Truth::is_ordered(std::size_t node, std::size_t slot) const {
  const Order order = ports_[nodes_[node].first_port + slot].order;
  return order == Order::kUnknown ||
         network_.nodes[node].agent->order(*Ifindex::make(slot + 1)) == order;
}

std::vector<std::string> Truth::list_wrong_levels() const {
  std::vector<std::string> list;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Network::Node& node = network_.nodes[n];
    const std::string& name = node.name();
    if (!node.agent) {
      list.push_back(name + ": stopped");
    } else if (!nodes_[n].right) {
      list.push_back(fmt::format("{}: {}, not {}", name, to_text(node.agent->level()),
                                 to_text(nodes_[n].truth)));
    }
  }
  return list;
}

std::vector<std::string> Truth::list_wrong_ports() const {
  std::vector<std::string> list;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Network::Node& node = network_.nodes[n];
    if (!node.agent) continue;
    for (std::size_t slot = 0; slot < nodes_[n].ports; ++slot) {
      const Port& port = ports_[nodes_[n].first_port + slot];
      if (port.right) continue;
      const auto tell = [&](std::string_view is, std::string_view truth) {
        list.push_back(
            fmt::format("{}:{}: {}, not {}", node.name(), *node.ports[slot].name, is, truth));
      };
      const auto at = *Ifindex::make(slot + 1);
      if (node.agent->type(at) != port.truth)
        tell(to_string(node.agent->type(at)), to_string(port.truth));
      if (!is_ordered(n, slot))
        tell(to_string(node.agent->order(at)),
             fmt::format("{} by its layers", to_string(port.order)));
    }
  }
  return list;
}

}  // namespace lldp::lab::agents
