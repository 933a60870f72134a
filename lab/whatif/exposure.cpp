// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif/exposure.hpp"

#include <algorithm>

#include "lab/agents/fabric_network.hpp"
#include "qos/policy.hpp"
#include "qos/proof.hpp"

namespace lldp::lab::whatif {
namespace {

using agents::Network;
using std::chrono::seconds;

constexpr seconds kEstablish{5};
constexpr seconds kQuiet{20};  ///< to converge, and to be established
constexpr seconds kOutage{60};
constexpr seconds kTtl{121};  ///< all that agents wait for is over after it

class Watcher : public agents::Observer {
 public:
  explicit Watcher(const Network& network) : network_(network) {
    for (const auto& n : network.nodes) forwarding_.switches.push_back(n.name());
  }

  void begin() {
    begun_ = last_look_ = network_.now;
    look();
  }
  /// Counts on from the last moment at which anything changed.
  void count() {
    const Duration passed = network_.now - last_look_;
    last_look_ = network_.now;
    if (unprotected_) exposure.unprotected += passed;
    if (cyclic_) exposure.cyclic += passed;
  }

  void acted(std::size_t /*node*/, const core::Actions& actions) override {
    for (const core::Event& e : actions.events) {
      if (e.kind != core::Event::Kind::kPort || begun_ == TimePoint{}) continue;
      dirty_ = true;
      ++exposure.orders_changed;
      exposure.reaction = network_.now - begun_;
    }
  }
  void cable_changed(std::size_t /*cable*/) override { dirty_ = true; }
  void stepped() override {
    if (!dirty_ || begun_ == TimePoint{}) return;
    dirty_ = false;
    look();
  }

  Exposure exposure{};

 private:
  void look() {
    count();
    unprotected_ = false;
    forwarding_.links.clear();
    for (const Network::Cable& c : network_.cables) {
      if (!c.up || !network_.nodes[c.a.node].is_switch() || !network_.nodes[c.b.node].is_switch())
        continue;
      const Order a = network_.nodes[c.a.node].agent->order(c.a.port);
      const Order b = network_.nodes[c.b.node].agent->order(c.b.port);
      if (a == Order::kUnknown || b == Order::kUnknown) {
        unprotected_ = true;
      } else {
        forwarding_.links.push_back({c.a.node, c.b.node, {a, qos::Layer{}}, {b, qos::Layer{}}});
      }
    }
    cyclic_ = !qos::prove(forwarding_, policy_).deadlock_free();
  }

  const Network& network_;
  qos::Forwarding forwarding_{};
  qos::Policy policy_{};
  TimePoint begun_{};
  TimePoint last_look_{};
  bool dirty_ = false;
  bool unprotected_ = false;
  bool cyclic_ = false;
};

/// A fabric whose agents have found their levels for good.
struct Running {
  Network network;
  Watcher watcher;

  explicit Running(const Fabric& fabric)
      : network(agents::network_of(fabric, 1, [](core::Settings& s) { s.establish = kEstablish; })),
        watcher(network) {
    network.watch(watcher);
    network.start_all();
    network.run_for(kQuiet);
    watcher.begin();
  }
  Exposure end() {
    network.run_for(kTtl);
    watcher.count();
    return watcher.exposure;
  }
};

}  // namespace

Exposure expose_failure(const Fabric& fabric, const std::vector<std::size_t>& links) {
  Running running(fabric);
  for (const std::size_t l : links) running.network.set_cable(l, false);
  running.watcher.stepped();
  running.network.run_for(kOutage);
  for (const std::size_t l : links) running.network.set_cable(l, true);
  running.watcher.stepped();
  return running.end();
}

Exposure expose_changes(const Fabric& fabric, const std::vector<FabricChange>& changes) {
  Running running(fabric);
  Network& network = running.network;
  for (const FabricChange& c : changes) {
    if (c.kind == FabricChange::Kind::kAdd) {
      const Network::End a{c.a, network.add_port(c.a)};
      network.plug(a, {c.b, network.add_port(c.b)}, std::chrono::microseconds(1));
      continue;
    }
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
      const Network::Cable& cable = network.cables[l];
      if (c.kind == FabricChange::Kind::kDrain ? cable.joins(c.a)
                                               : cable.joins(c.a) && cable.joins(c.b))
        network.set_cable(l, false);
    }
  }
  running.watcher.stepped();
  return running.end();
}

}  // namespace lldp::lab::whatif
