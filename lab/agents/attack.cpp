// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/attack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "agent/core/location.hpp"
#include "lab/agents/locations.hpp"
#include "lab/agents/network.hpp"
#include "lab/agents/order_safety.hpp"
#include "lab/agents/truth.hpp"
#include "lab/topology/generators.hpp"

namespace lldp::lab::agents {
namespace {

using core::AlarmCode;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr minutes kRepaired{30};  ///< by then all is right

class Trial {
 public:
  Trial(std::uint64_t seed, bool long_ago, Duration rules_late)
      : long_ago_(long_ago), network_(seed) {
    network_.rules_late = rules_late;
    ordeal_.seed = seed;
    network_.watch(safety_);
    build();
  }

  Ordeal go() {
    begin();
    for (auto blows = 5 + random_.below(25); blows > 0 && safe(); --blows) {
      befall();
      pass(pause());
    }
    if (safe()) repair();
    pass(kRepaired);
    if (safe()) look_at_the_end();
    if (const auto& c = safety_.cycle()) found(Finding::Kind::kCycle, *c);
    if (const auto& c = safety_.cycle_with_dead()) found(Finding::Kind::kDeadAgentCycle, *c);
    ordeal_.proofs = safety_.proofs();
    ordeal_.disagreements = safety_.disagreements();
    ordeal_.lasted = network_.now - Network::kBegin;
    return std::move(ordeal_);
  }

 private:
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
    ordeal_.fabric =
        fmt::format("{}: {} devices, {} cables, levels established after {} s", fabric->name,
                    network_.nodes.size(), network_.cables.size(), establish_.count());
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

  // What befalls it

  void begin() {
    const Duration spreads[] = {Duration{}, milliseconds(30), seconds(1), seconds(30), minutes(5)};
    const Duration spread = spreads[random_.below(std::size(spreads))];
    make_noise();
    tell("all start within {} ms", spread / milliseconds(1));
    for (std::size_t i = 0; i < network_.nodes.size(); ++i)
      network_.at(network_.now + up_to(spread), [this, i] { network_.start(i); });
    pass(spread);
    const Duration first[] = {seconds(1), seconds(70), minutes(10), long_time()};
    pass(first[random_.below(std::size(first))]);
  }

  void befall() {
    using Blow = void (Trial::*)();
    static constexpr Blow kBlows[] = {
        &Trial::make_noise,  &Trial::flap,         &Trial::flap,          &Trial::restart,
        &Trial::restart,     &Trial::restart,      &Trial::reboot,        &Trial::toggle_role,
        &Trial::toggle_role, &Trial::pin,          &Trial::misplace_host, &Trial::misplace_host,
        &Trial::swap_places, &Trial::recable,      &Trial::new_identity,  &Trial::servers_off,
        &Trial::all_silent,  &Trial::die_for_long, &Trial::forget};
    (this->*kBlows[random_.below(std::size(kBlows))])();
  }

  std::size_t any_switch() { return switches_[random_.below(switches_.size())]; }
  [[nodiscard]] bool runs(std::size_t node) const { return network_.nodes[node].agent.has_value(); }

  void make_noise() {
    const double losses[] = {0, 0.05, 0.2, 0.4};
    const Duration jitters[] = {Duration{}, milliseconds(5), milliseconds(300), seconds(2)};
    network_.loss = losses[random_.below(std::size(losses))];
    network_.duplication = random_.chance(0.3) ? 0.2 : 0;
    network_.jitter = jitters[random_.below(std::size(jitters))];
    tell("loss {}, repeated {}, late by up to {} ms", network_.loss, network_.duplication,
         network_.jitter / milliseconds(1));
  }
  void all_silent() {
    const double before = network_.loss;
    if (before == 1) return;
    const Duration d = up_to(seconds(200));
    tell("no frame passes for {} s", d / seconds(1));
    network_.loss = 1;
    later(d, [this, before] { network_.loss = before; });
  }

  void flap() {
    for (auto n = 1 + random_.below(3); n > 0; --n) {
      const std::size_t c = random_.below(network_.cables.size());
      const Duration d = while_wrong();
      if (!network_.cables[c].up) continue;
      tell("{} loses its carrier for {} ms", name_of_cable(network_.cables[c]),
           d / milliseconds(1));
      network_.set_cable(c, false);
      later(d, [this, c] { repair_cable(c); });
    }
  }
  void repair_cable(std::size_t c) {
    if (network_.cables[c].plugged) network_.set_cable(c, true);
  }

  void start(std::size_t node) {
    if (runs(node)) return;
    tell("{} starts", name(node));
    network_.start(node);
  }
  void stop(std::size_t node) {
    if (!runs(node)) return;
    const auto how = random_.below(4);
    if (how >= 2) {
      tell("{} dies when it next {}", name(node), how == 2 ? "saves" : "sends");
      network_.crash_soon(node, how == 2 ? Crash::kBeforeSaving : Crash::kWhileSending);
    } else {
      tell("{} {}", name(node), how == 0 ? "stops" : "dies");
      network_.stop(node, how == 0);
    }
  }
  void restart() {
    const std::size_t node = random_.chance(0.9) ? any_switch() : hosts_[0];
    stop(node);
    later(up_to(random_.chance(0.5) ? Duration(seconds(2)) : minutes(4)),
          [this, node] { start(node); });
  }
  void die_for_long() {
    const std::size_t node = any_switch();
    stop(node);
    later(while_wrong(), [this, node] { start(node); });
  }
  void switch_off(std::size_t node) {
    if (runs(node)) network_.stop(node, random_.chance(0.5));
    network_.cut_power(node);
  }
  /// Its links are down too, and come up before or after its agent.
  void reboot() {
    const std::size_t node = any_switch();
    const Duration off = up_to(minutes(3));
    tell("{} is without power for {} s", name(node), off / seconds(1));
    switch_off(node);
    later(off + up_to(seconds(20)), [this, node] { start(node); });
    for (std::size_t c = 0; c < network_.cables.size(); ++c) {
      if (!network_.cables[c].up || !network_.cables[c].joins(node)) continue;
      network_.set_cable(c, false);
      later(off + up_to(seconds(20)), [this, c] { repair_cable(c); });
    }
  }

  void set_role(std::size_t node, Role role) {
    if (std::exchange(network_.alter(node).role, role) == role) return;
    tell("{} is a {}", name(node), to_string(role));
    if (runs(node)) network_.configure(node);
  }
  void toggle_role() {
    const std::size_t node = any_switch();
    set_role(node, Role::kHost);
    later(while_wrong(), [this, node] { set_role(node, Role::kSwitch); });
  }

  void misplace_host() {
    const std::size_t node = any_switch();
    const std::size_t host = add(Role::kHost, fmt::format("stray{}", strays_.size()));
    strays_.push_back(host);
    const Duration d = while_wrong();
    tell("{} is plugged into {} for {} ms", name(host), name(node), d / milliseconds(1));
    network_.plug({host, network_.add_port(host)}, free_port(node), network_.delay);
    network_.start(host);
    later(d, [this, host] { take_away(host); });
  }
  void take_away(std::size_t host) {
    if (const std::size_t c = network_.nodes[host].ports[0].cable; c != Network::kNone) {
      tell("{} is taken away", name(host));
      network_.unplug(c);
    }
  }

  void pin() {
    const std::size_t node = any_switch();
    const std::size_t level = 1 + random_.below(5);
    tell("{} is pinned to {}", name(node), level);
    network_.alter(node).pinned_level = Level::make(level);
    if (runs(node)) network_.configure(node);
    later(while_wrong(), [this, node] { unpin(node); });
  }
  void unpin(std::size_t node) {
    if (!std::exchange(network_.alter(node).pinned_level, std::nullopt)) return;
    tell("{} is not pinned any more", name(node));
    if (runs(node)) network_.configure(node);
  }

  void new_identity() {
    const std::size_t node = any_switch();
    const ChassisId id = new_chassis_id();
    tell("{} gets chassis ID {}", name(node), id.octets);
    network_.alter(node).chassis_id = id;
    if (runs(node) && random_.chance(0.5)) return network_.configure(node);
    stop(node);
    later(up_to(seconds(2)), [this, node] { start(node); });
  }

  void servers_off() {
    const Duration d = while_wrong();
    tell("all servers are off for {} s", d / seconds(1));
    for (const std::size_t h : hosts_) {
      if (runs(h)) network_.stop(h, random_.chance(0.5));
      later(d, [this, h] { start(h); });
    }
  }

  Network::End free_port(std::size_t node) {
    const auto& ports = network_.nodes[node].ports;
    for (std::size_t slot = 0; slot < ports.size(); ++slot)
      if (ports[slot].cable == Network::kNone) return {node, *Ifindex::make(slot + 1)};
    return {node, network_.add_port(node)};
  }
  void replug(std::size_t from, std::size_t to, Duration delay) {
    network_.plug(free_port(from), free_port(to), delay);
  }
  /// Two switches change places: each takes over the other's cables.
  void swap_places() {
    const std::size_t a = any_switch();
    const std::size_t b = any_switch();
    if (a == b) return;
    const bool off = random_.chance(0.5);
    const Duration d = up_to(random_.chance(0.5) ? Duration(seconds(1)) : minutes(3));
    tell("{} and {} change places{} within {} ms", name(a), name(b), off ? ", switched off," : "",
         d / milliseconds(1));
    for (const std::size_t n : {a, b}) {
      if (!off) break;
      switch_off(n);
      later(d + up_to(seconds(30)), [this, n] { start(n); });
    }
    for (std::size_t c = 0, all = network_.cables.size(); c < all; ++c) {
      const Network::Cable& cable = network_.cables[c];
      if (!cable.plugged || cable.joins(a) == cable.joins(b)) continue;
      const auto to = [a, b](std::size_t n) { return n == a ? b : n == b ? a : n; };
      network_.at(network_.now + d, [this, from = to(cable.a.node), to = to(cable.b.node),
                                     delay = cable.delay] { replug(from, to, delay); });
      network_.unplug(c);
    }
  }
  /// One end of a cable goes into another switch.
  void recable() {
    const std::size_t c = random_.below(network_.cables.size());
    const std::size_t to = any_switch();
    const Network::Cable& cable = network_.cables[c];
    const std::size_t stays =
        network_.nodes[cable.a.node].is_switch() ? cable.b.node : cable.a.node;
    if (!cable.plugged || cable.joins(to)) return;
    tell("{} moves to {}", name_of_cable(cable), name(to));
    network_.at(network_.now + up_to(seconds(20)),
                [this, stays, to, delay = cable.delay] { replug(stays, to, delay); });
    network_.unplug(c);
  }

  void forget() {
    const std::size_t node = any_switch();
    if (!runs(node)) return;
    tell("{} is to forget its level", name(node));
    network_.forget(node, std::nullopt);
  }

  // The end

  void repair() {
    pass(seconds(200));  // until the last cable is plugged in and nobody is about to die
    if (!safe()) return;
    repaired_ = true;
    tell("all is repaired");
    network_.loss = network_.duplication = 0;
    network_.jitter = milliseconds(1);
    for (const std::size_t h : strays_) take_away(h);
    for (std::size_t c = 0; c < network_.cables.size(); ++c) repair_cable(c);
    for (const std::size_t n : switches_) {
      set_role(n, Role::kSwitch);
      unpin(n);
      network_.crash_soon(n, std::nullopt);
      start(n);
      // What was to come with a death that did not come.
      if (network_.agent(n).settings() != *network_.nodes[n].settings) network_.configure(n);
    }
    for (const std::size_t h : hosts_) {
      network_.crash_soon(h, std::nullopt);
      start(h);
    }
  }

  template <class... T>
  void find(Finding::Kind kind, fmt::format_string<T...> format, T&&... values) {
    ordeal_.findings.push_back({kind, fmt::format(format, std::forward<T>(values)...)});
  }
  void found(Finding::Kind kind, const OrderSafety::Cycle& cycle) {
    find(kind, "{} at {:.6f} s: {}",
         kind == Finding::Kind::kCycle ? "cycle" : "cycle through rules of the dead",
         since_begin(cycle.at), cycle.text);
    for (const std::size_t n : switches_)
      if (runs(n))
        ordeal_.story.push_back(standing_of(n) + " id " +
                                network_.nodes[n].settings->chassis_id->octets);
    for (auto& c : network_.cables)
      if (c.up)
        ordeal_.story.push_back(name_of_cable(c) +
                                fmt::format(" {} {}", to_string(safety_.rule(c.a.node, c.a.slot())),
                                            to_string(safety_.rule(c.b.node, c.b.slot()))));
  }

  void look_at_the_end() {
    const auto text = [](std::optional<Level> l) {
      return l ? std::to_string(l->value()) : "none";
    };
    const Levels right = distances_to_hosts(network_);
    const Levels explained = explained_levels();
    for (const std::size_t n : switches_) {
      if (network_.level_of(n) != explained[n])
        find(Finding::Kind::kLevel, "{} has level {}, not {}; {} by the cables", name(n),
             text(network_.level_of(n)), text(explained[n]), text(right[n]));
    }
    for (const Network::Cable& c : network_.cables)
      if (c.up) look_at_the_orders(c);
    look_at_the_locations();
  }
  /// By the levels as they are; what nobody tells of stays as it is known.
  void look_at_the_locations() {
    Levels levels(network_.nodes.size());
    std::vector<Tiers> known(levels.size());
    for (std::size_t n = 0; n < levels.size(); ++n) {
      if (!runs(n)) continue;
      levels[n] = network_.level_of(n);
      known[n] = network_.agent(n).location();
    }
    const auto right = locations_of(network_, levels, known);
    for (std::size_t n = 0; n < levels.size(); ++n)
      if (known[n] != right[n])
        find(Finding::Kind::kLocation, "{} stands at {}, not at {}; {}", name(n),
             core::location_text(known[n]), core::location_text(right[n]), standing_of(n));
  }
  /// What the levels are to be, given those of hosts and of the switches whose alarm says that
  /// their level stands on memory, or above what is heard.
  Levels explained_levels() {
    Levels levels(network_.nodes.size());
    std::vector<bool> given(levels.size());
    for (const std::size_t h : hosts_) levels[h] = Level{}, given[h] = true;
    for (const std::size_t n : switches_) {
      const auto alarms = network_.agent(n).snapshot(network_.now).alarms;
      given[n] = std::any_of(alarms.begin(), alarms.end(), [](const core::Alarm& a) {
        return a.code == AlarmCode::kUnsupported || a.code == AlarmCode::kLowerLevel;
      });
      if (!given[n]) continue;
      levels[n] = network_.level_of(n);
      ++ordeal_.on_memory;
    }
    for (bool changed = true; changed;) {
      changed = false;
      const auto spread = [&](std::size_t from, std::size_t to) {
        if (given[to] || !levels[from]) return;
        const auto next = Level::make(levels[from]->value() + 1U);
        if (levels[to] && *levels[to] <= *next) return;
        levels[to] = next;
        changed = true;
      };
      for (const Network::Cable& c : network_.cables) {
        if (!c.up) continue;
        spread(c.a.node, c.b.node);
        spread(c.b.node, c.a.node);
      }
    }
    return levels;
  }
  void look_at_the_orders(const Network::Cable& c) {
    const Order a = network_.agent(c.a.node).order(c.a.port);
    const Order b = network_.agent(c.b.node).order(c.b.port);
    if (safety_.rule(c.a.node, c.a.slot()) != a || safety_.rule(c.b.node, c.b.slot()) != b)
      find(Finding::Kind::kOrder, "{}: an order has changed without an event", name_of_cable(c));
    const bool levels = network_.level_of(c.a.node) && network_.level_of(c.b.node);
    const bool switches =
        network_.nodes[c.a.node].is_switch() && network_.nodes[c.b.node].is_switch();
    const bool shared =
        (a == Order::kUp && b == Order::kDown) || (a == Order::kDown && b == Order::kUp);
    if (levels && switches && !shared)
      find(Finding::Kind::kOrder, "{}: {} at one end, {} at the other; {}; {}", name_of_cable(c),
           to_string(a), to_string(b), standing_of(c.a.node), standing_of(c.b.node));
  }
  [[nodiscard]] std::string standing_of(std::size_t node) {
    const core::Snapshot s = network_.agent(node).snapshot(network_.now);
    const auto text = [](std::optional<Level> l) {
      return l ? std::to_string(l->value()) : "none";
    };
    std::string line = fmt::format("{} level {}, rank {}, bound {}", name(node), text(s.level),
                                   s.rank.level.value(), s.bound.level.value());
    for (const core::Alarm& a : s.alarms) line += fmt::format(", {} {}", to_string(a.code), a.port);
    for (const core::PortInfo& p : s.ports) {
      if (!p.holds_since) continue;
      line += fmt::format("; {} ({}) holds:", p.name, to_string(p.order));
      for (const core::AgentInfo& a : p.agents)
        line +=
            fmt::format(" {:08x} ({}{}{}{} bound {} belief {})", a.agent >> 32,
                        a.host ? "host " : "", a.heard ? "heard " : "", a.counted ? "counted " : "",
                        a.awaited ? "awaited" : "", a.bound.level.value(), a.belief.level.value());
    }
    return line;
  }

  bool long_ago_;
  Network network_;
  Random& random_ = network_.random();
  OrderSafety safety_{network_};
  seconds establish_{};
  std::vector<std::size_t> switches_{};
  std::vector<std::size_t> hosts_{};
  std::vector<std::size_t> strays_{};  ///< hosts that do not belong here
  bool repaired_ = false;
  Ordeal ordeal_{};
};

}  // namespace

Ordeal attack(std::uint64_t seed, bool long_ago, Duration rules_late) {
  return Trial(seed, long_ago, rules_late).go();
}

std::string to_text(const Ordeal& o) {
  std::string text = fmt::format("seed {}: {}\n", o.seed, o.fabric);
  for (const std::string& line : o.story) text += line + "\n";
  for (const Finding& finding : o.findings) text += "  FOUND " + finding.text + "\n";
  return text;
}

}  // namespace lldp::lab::agents
