// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/attack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "agent/core/location.hpp"
#include "lab/agents/blows.hpp"
#include "lab/agents/locations.hpp"
#include "lab/agents/truth.hpp"

namespace lldp::lab::agents {
namespace {

using core::AlarmCode;

constexpr minutes kRepaired{90};  ///< by then all is right
constexpr minutes kFollowed{5};   ///< after what an operator did, too

class Trial : Blows {
 public:
  using Blows::Blows;

  Ordeal go() {
    begin();
    for (auto blows = 5 + random_.below(25); blows > 0 && safe(); --blows) {
      befall();
      pass(pause());
    }
    if (safe()) repair();
    pass(kRepaired);
    for (int rounds = 3; rounds > 0 && safe() && follow_alarms(); --rounds) pass(kFollowed);
    if (safe()) look_at_the_end();
    if (const auto& c = safety_.cycle()) found(Finding::Kind::kCycle, *c);
    if (const auto& c = safety_.cycle_with_dead()) found(Finding::Kind::kDeadAgentCycle, *c);
    ordeal_.proofs = safety_.proofs();
    ordeal_.disagreements = safety_.disagreements();
    ordeal_.lasted = network_.now - Network::kBegin;
    return std::move(ordeal_);
  }

 private:
  // The end

  void repair() {
    pass(seconds(200));  // until the last cable is plugged in and no agent is about to die
    if (!safe()) return;
    repaired_ = true;
    tell("all is repaired");
    network_.loss = network_.duplication = 0;
    network_.jitter = milliseconds(1);
    network_.reorders = false;
    network_.refusal = 0;
    for (const std::size_t h : strays_) take_away(h);
    for (std::size_t c = 0; c < network_.cables.size(); ++c) {
      Network::Cable& cable = network_.cables[c];
      repair_cable(c);
      cable.mute[0] = cable.mute[1] = false;
      for (const Network::End& e : {cable.a, cable.b})
        network_.set_admin(e.node, e.slot(), core::AdminStatus::enabledRxTx);
    }
    for (const std::size_t n : switches_) {
      network_.nodes[n].read_only = false;
      if (network_.nodes[n].frozen()) network_.thaw(n);
      own_name(n);
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
    // Two devices with one agent ID are up towards each other for ever.
    for (const std::size_t n : clones_) {
      switch_off(n);
      network_.lose_state(n);
      const auto dark = darken(n);
      start(n);
      for (const std::size_t c : dark) repair_cable(c);
    }
  }

  /// Does as alarms of the order say: `forget` at both ends of a link. True if any said so. That is
  /// for agents that have gone: of one that is there, it is a fault that a rank waits for it.
  bool follow_alarms() {
    std::vector<std::pair<std::size_t, Ifindex>> to_forget;
    for (const std::size_t n : switches_) {
      const core::Snapshot s = network_.agent(n).snapshot(network_.now);
      for (const core::Alarm& a : s.alarms) {
        const auto port = std::ranges::find(s.ports, a.port, &core::PortInfo::name);
        if (port == s.ports.end()) continue;
        const bool waits = a.code == AlarmCode::kSilent && port->holds_since;
        const bool several = a.code == AlarmCode::kManyNeighbors && port->agents.size() > 1;
        if (!waits && !several && a.code != AlarmCode::kSelfLoop) continue;
        if (waits) look_for_one_that_is_there(n, *port);
        tell("{}: {}", name(n), a.text);
        to_forget.emplace_back(n, port->ifindex);
        for (const Network::Cable& c : network_.cables)
          if (c.up && c.plugged && (on(c.a, n, port->ifindex) || on(c.b, n, port->ifindex))) {
            const auto& [node, far] = c.far_end({n, port->ifindex});
            to_forget.emplace_back(node, far);
          }
      }
    }
    for (const auto& [n, port] : to_forget) network_.forget(n, port);
    ordeal_.forgotten += to_forget.size();
    return !to_forget.empty();
  }
  static bool on(const Network::End& end, std::size_t node, Ifindex port) {
    return end.node == node && end.port == port;
  }
  void look_for_one_that_is_there(std::size_t n, const core::PortInfo& port) {
    for (const Network::Cable& c : network_.cables) {
      if (!c.up || (!on(c.a, n, port.ifindex) && !on(c.b, n, port.ifindex))) continue;
      const std::size_t far = c.far_end({n, port.ifindex}).node;
      // Of two with one state a third one cannot tell the frames apart, also when one has gone.
      if (network_.nodes[far].stock || doubles_.contains(n) || doubles_.contains(far)) continue;
      const auto agent = network_.agent(far).state().agent;
      for (const core::AgentInfo& a : port.agents)
        if (a.agent == agent && a.heard && a.awaited)
          find(Finding::Kind::kOrder, "{} waits for {}, which is there; {}", name_of_cable(c),
               name(far), standing_of(n));
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
    // Where several neighbors are on one port, a location is that of any of them.
    if (std::ranges::none_of(network_.cables, &Network::Cable::hub)) look_at_the_locations();
  }
  /// By the levels as they are. Two tiers may have one ID here, for cables were moved: an ID stays
  /// with every part of what was one tier (docs/develop/rules.md P7). What no neighbor tells stays
  /// as known.
  void look_at_the_locations() {
    Levels levels(network_.nodes.size());
    for (std::size_t n = 0; n < levels.size(); ++n)
      if (runs(n)) levels[n] = network_.level_of(n);
    const std::vector<Groups> right = tiers_of_fabric(network_, levels);
    const std::vector<Groups> possible = tiers_of_fabric(network_, levels, Named::kPerhaps);
    std::map<std::size_t, std::pair<ChassisId, std::size_t>> ids;  // of a group, and at which node
    const auto has = [](const Groups& groups, Level level) {
      return std::ranges::count(groups, level, &Groups::value_type::first);
    };
    for (std::size_t n = 0; n < levels.size(); ++n) {
      if (!runs(n)) continue;
      const Tiers& is = network_.agent(n).location();
      const std::string at = core::location_text(is);
      const bool is_told = !right[n].empty() && right[n].back().first > levels[n];
      for (const Tier& tier : is)  // its own, which no switch below tells, stays (P4)
        if (is_told && tier.level != levels[n] && has(possible[n], tier.level) == 0 &&
            !is_remembered_above(n, tier))
          find(Finding::Kind::kLocation, "{} stands at {}, though there is no tier {}; {}", name(n),
               at, tier.level.value(), standing_of(n));
      for (const auto& [level, group] : right[n]) {
        const Tier* tier = core::tier_at(is, level);
        if (tier == nullptr) {
          find(Finding::Kind::kLocation, "{} stands at {}, without tier {}; {}", name(n), at,
               level.value(), standing_of(n));
        } else if (has(right[n], level) == 1) {
          const auto& [id, other] = ids.try_emplace(group, tier->id, n).first->second;
          if (id != tier->id)
            find(Finding::Kind::kLocation, "{} stands at {}, {} at {}", name(n), at, name(other),
                 core::location_text(network_.agent(other).location()));
        }
      }
    }
  }
  /// A switch above has it from a port that may have more to tell (P4), and tells it.
  [[nodiscard]] bool is_remembered_above(std::size_t n, const Tier& tier) {
    const auto level = network_.level_of(n);
    for (const Network::Cable& c : network_.cables) {
      if (!level || !c.up || !c.plugged || !c.joins(n)) continue;
      const std::size_t above = c.a.node == n ? c.b.node : c.a.node;
      if (!runs(above) || network_.level_of(above) != Level::make(level->value() + 1U)) continue;
      const Tier* its = core::tier_at(network_.agent(above).location(), tier.level);
      if (its == nullptr || its->id != tier.id) continue;
      if (network_.agent(above).state().location_until || is_remembered_above(above, tier))
        return true;
    }
    return false;
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
    // Two devices of one rank ID are up towards each other.
    const auto rank_id = [this](const Network::End& e) {
      return network_.agent(e.node).state().rank_id;
    };
    if (levels && switches && !shared && !c.hub && rank_id(c.a) != rank_id(c.b))
      find(Finding::Kind::kOrder, "{}: {} at one end, hears{}; {} at the other, hears{}; {}; {}",
           name_of_cable(c), to_string(a), agents_at(c.a), to_string(b), agents_at(c.b),
           standing_of(c.a.node), standing_of(c.b.node));
  }
  [[nodiscard]] std::string standing_of(std::size_t node) {
    const core::Snapshot s = network_.agent(node).snapshot(network_.now);
    const auto text = [](std::optional<Level> l) {
      return l ? std::to_string(l->value()) : "none";
    };
    std::string line = fmt::format("{} level {}, rank {}, bound {}", name(node), text(s.level),
                                   s.rank.level.value(), s.bound.level.value());
    for (const core::Alarm& a : s.alarms) line += fmt::format(", {} {}", to_string(a.code), a.port);
    for (const core::PortInfo& p : s.ports)
      if (p.holds_since)
        line += fmt::format("; {} ({}) holds:{}", p.name, to_string(p.order), text_of(p.agents));
    return line;
  }
  [[nodiscard]] std::string agents_at(const Network::End& end) {
    std::string text;
    const core::State state = network_.agent(end.node).state();
    for (const core::PortState& p : state.ports)
      for (const core::KnownAgent& v : p.agents)
        if (p.name == *network_.nodes[end.node].ports[end.slot()].name)
          text +=
              fmt::format(" {:08x} ({}{}{}{}bound {} belief {} chassis {}{})", v.agent >> 32,
                          v.host ? "host " : "", v.heard ? "heard " : "",
                          v.counted ? "counted " : "", v.more ? "more " : "", v.bound.level.value(),
                          v.belief.level.value(), v.chassis.octets, v.former != 0 ? " former" : "");
    return text;
  }
  [[nodiscard]] static std::string text_of(const std::vector<core::AgentInfo>& agents) {
    std::string text;
    for (const core::AgentInfo& a : agents)
      text +=
          fmt::format(" {:08x} ({}{}{}{} bound {} belief {})", a.agent >> 32, a.host ? "host " : "",
                      a.heard ? "heard " : "", a.counted ? "counted " : "",
                      a.awaited ? "awaited" : "", a.bound.level.value(), a.belief.level.value());
    return text;
  }
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
