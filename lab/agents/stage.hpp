// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "lab/agents/attack.hpp"
#include "lab/agents/network.hpp"
#include "lab/agents/order_safety.hpp"
#include "lab/topology/generators.hpp"

/// Inside of attack(): the fabric that is drawn, and its time.
namespace lldp::lab::agents {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class Stage {
 public:
  Stage(std::uint64_t seed, bool long_ago, Duration rules_late)
      : long_ago_(long_ago), network_(seed) {
    network_.rules_late = rules_late;
    ordeal_.seed = seed;
    network_.watch(safety_);
    build();
  }

 protected:
  // The fabric

  std::size_t add(Role role, std::string name) {
    core::Settings s;
    s.role = role;
    s.system_name = std::move(name);
    s.chassis_id = new_chassis_id();
    s.max_level = Level::of<20>();
    s.establish = establish_;
    return network_.add(std::move(s));
  }
  ChassisId new_chassis_id() {
    return ChassisId{{ChassisId::kLocal, fmt::format("{:08x}", random_.next() >> 32)}};
  }

  void build() {
    const seconds lives[] = {minutes(5), hours(1), hours(24)};
    establish_ = lives[random_.below(long_ago_ ? 3 : 2)];
    const auto shape = random_.below(5);
    const auto fabric = shape == 0   ? fat_tree(4)
                        : shape == 1 ? two_levels()
                        : shape == 2 ? three_levels()
                                     : any_cabling();
    for (const Node& n : fabric->nodes) {
      (n.role == Role::kSwitch ? switches_ : hosts_).push_back(add(n.role, n.name));
    }
    for (const Link& l : fabric->links) network_.connect(l.ends[0].node, l.ends[1].node);
    if (random_.chance(0.5)) add_odd_cables();
    const bool hub = random_.chance(0.15);
    if (hub) add_hub();
    const bool stock = random_.chance(0.3);
    for (const std::size_t h : hosts_)
      if (stock) network_.nodes[h].stock = random_.chance(0.5);
    ordeal_.fabric =
        fmt::format("{}: {} devices, {} cables{}{}, levels established after {} s", fabric->name,
                    network_.nodes.size(), network_.cables.size(), hub ? " (a hub)" : "",
                    stock ? ", hosts without TLVs of ours" : "", establish_.count());
  }
  Result<Fabric> two_levels() {
    const std::size_t leaves = 2 + random_.below(6);
    return clos({.switches = {leaves, 1 + random_.below(4)},
                 .pods = {},
                 .hosts = leaves * (1 + random_.below(2))});
  }
  Result<Fabric> three_levels() {
    const std::size_t pods = 2 + random_.below(2);
    const std::size_t tors = pods * (1 + random_.below(3));
    return clos({.switches = {tors, pods * (1 + random_.below(2)), 1 + random_.below(3)},
                 .pods = {pods},
                 .hosts = tors * (1 + random_.below(2))});
  }
  Result<Fabric> any_cabling() {
    Fabric f{.name = "any cabling"};
    std::vector<std::size_t> used;
    const auto node = [&](Role role) {
      const std::size_t n = used.size();
      f.nodes.push_back(
          {.name = fmt::format("{}{}", role == Role::kHost ? "host" : "switch", n), .role = role});
      used.push_back(0);
      return n;
    };
    const auto cable = [&](std::size_t a, std::size_t b) {
      const auto end = [&](std::size_t n) { return LinkEnd{n, fmt::format("p{}", ++used[n])}; };
      f.links.push_back({.ends = {end(a), end(b)}});
    };
    const std::size_t switches = 3 + random_.below(10);
    for (std::size_t i = 0; i < switches; ++i) {
      node(Role::kSwitch);
      if (i > 0) cable(i, random_.below(i));
    }
    for (auto more = random_.below(2 * switches); more > 0; --more) {
      const std::size_t a = random_.below(switches);
      cable(a, (a + 1 + random_.below(switches - 1)) % switches);
    }
    for (auto hosts = 1 + random_.below(5); hosts > 0; --hosts)
      cable(node(Role::kHost), random_.below(switches));
    return complete(std::move(f));
  }
  /// Peer links, and cables that skip a level.
  void add_odd_cables() {
    for (auto more = 1 + random_.below(3); more > 0; --more) {
      const std::size_t a = random_.below(switches_.size());
      const std::size_t b = (a + 1 + random_.below(switches_.size() - 1)) % switches_.size();
      network_.connect(switches_[a], switches_[b]);
    }
  }
  /// Three switches on one port each of a hub, or of a bridge that passes LLDP on.
  void add_hub() {
    const std::size_t first = random_.below(switches_.size());
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, switches_.size()); ++i)
      members.push_back(switches_[(first + i) % switches_.size()]);
    network_.connect_by_hub(members);
  }

  // Time

  [[nodiscard]] bool safe() const { return !safety_.cycle() && !safety_.cycle_with_dead(); }
  void pass(Duration d) {
    const TimePoint end = network_.now + d;
    while (safe() && !network_.idle() && network_.next_time() <= end) {
      network_.step();
      ++ordeal_.events;
    }
    if (safe()) network_.now = end;
  }
  /// Evenly from nothing to `most`.
  Duration up_to(Duration most) {
    return Duration(
        static_cast<Duration::rep>(random_.below(static_cast<std::uint64_t>(most.count()) + 1)));
  }
  Duration pause() {
    const Duration most[] = {Duration{},  milliseconds(10), seconds(3),   seconds(3),
                             seconds(70), seconds(70),      seconds(300), long_time()};
    return up_to(most[random_.below(std::size(most))]);
  }
  /// How long something stands that went wrong.
  Duration while_wrong() {
    const Duration most[] = {milliseconds(200), seconds(5), minutes(5), long_time()};
    return up_to(most[random_.below(std::size(most))]);
  }
  Duration long_time() {
    const bool ages = establish_ <= minutes(5) || random_.chance(long_ago_ ? 0.2 : 0.02);
    return ages ? 3 * Duration(establish_) : minutes(20);
  }
  /// Calls `f` later, unless all is repaired by then.
  void later(Duration d, std::function<void()> f) {
    network_.at(network_.now + d, [this, f = std::move(f)] {
      if (!repaired_) f();
    });
  }

  template <class... T>
  void tell(fmt::format_string<T...> format, T&&... values) {
    ordeal_.story.push_back(fmt::format("{:>14.6f} s  ", since_begin(network_.now)) +
                            fmt::format(format, std::forward<T>(values)...));
  }
  static double since_begin(TimePoint t) {
    return std::chrono::duration<double>(t - Network::kBegin).count();
  }
  [[nodiscard]] const std::string& name(std::size_t node) const {
    return network_.nodes[node].name();
  }
  [[nodiscard]] std::string name_of_cable(const Network::Cable& cable) const {
    return fmt::format("{}:p{} - {}:p{}", name(cable.a.node), cable.a.port.value(),
                       name(cable.b.node), cable.b.port.value());
  }

  bool long_ago_;
  Network network_;
  Random& random_ = network_.random();
  OrderSafety safety_{network_};
  seconds establish_{};
  std::vector<std::size_t> switches_{};
  std::vector<std::size_t> hosts_{};
  bool repaired_ = false;
  Ordeal ordeal_{};
};

}  // namespace lldp::lab::agents
