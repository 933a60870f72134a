// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/locations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "agent/core/location.hpp"

namespace lldp::lab::agents {
namespace {

using Neighbors = std::vector<std::vector<std::size_t>>;  ///< of each node, over cables that are up

Neighbors neighbors_of(const Network& network) {
  Neighbors out(network.nodes.size());
  for (const Network::Cable& c : network.cables) {
    if (!c.up || !c.plugged) continue;
    out[c.a.node].push_back(c.b.node);
    out[c.b.node].push_back(c.a.node);
  }
  return out;
}

/// As its agent has it from its first start on.
ChassisId chassis_of(const Network::Node& node) {
  if (node.settings->chassis_id) return *node.settings->chassis_id;
  if (node.self.chassis_id) return *node.self.chassis_id;
  if (node.agent && !node.agent->chassis_id().octets.empty()) return node.agent->chassis_id();
  if (node.state && node.state->chassis_id) return *node.state->chassis_id;
  return node.ports.empty() ? ChassisId() : chassis_id_from_mac(node.ports.front().address);
}

const ChassisId* id_in(const Tiers& tiers, Level level) {
  const auto at = std::ranges::find(tiers, level, &Tier::level);
  return at == tiers.end() ? nullptr : &at->id;
}

void lower(Tiers& tiers, const Tier& tier) {
  const auto at = std::ranges::lower_bound(tiers, tier.level, {}, &Tier::level);
  if (at == tiers.end() || at->level != tier.level)
    tiers.insert(at, tier);
  else
    at->id = std::min(at->id, tier.id);
}

}  // namespace

std::vector<Tiers> locations_of(const Network& network, const Levels& levels,
                                const std::vector<Tiers>& known) {
  const Neighbors neighbors = neighbors_of(network);
  std::vector<Tiers> out(levels.size());
  std::vector<std::size_t> order(levels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t n) { return !levels[n]; });
  std::ranges::stable_sort(order, {}, [&](std::size_t n) { return *levels[n]; });

  for (const std::size_t n : order) {  // own tiers, from below
    const Level own = *levels[n];
    if (!network.nodes[n].is_switch()) continue;
    if (own == Level::of<1>()) out[n].push_back({own, chassis_of(network.nodes[n])});
    for (const std::size_t below : neighbors[n]) {
      if (!levels[below] || levels[below]->value() + 1 != own.value() || own == Level::of<1>())
        continue;
      if (const ChassisId* id = id_in(out[below], *levels[below])) lower(out[n], {own, *id});
    }
    if (out[n].empty() && !known.empty())
      if (const ChassisId* id = id_in(known[n], own)) out[n].push_back({own, *id});
  }
  for (std::size_t i = order.size(); i-- > 0;) {  // those above, from there
    const std::size_t n = order[i];
    const Level own = *levels[n];
    const std::size_t before = out[n].size();
    for (const std::size_t above : neighbors[n]) {
      if (!levels[above] || levels[above]->value() != own.value() + 1) continue;
      for (const Tier& tier : out[above]) lower(out[n], tier);
    }
    if (out[n].size() == before && !known.empty())
      for (const Tier& tier : known[n])
        if (tier.level > own) out[n].push_back(tier);
  }
  return out;
}

LocationTruth::LocationTruth(const Network& network, const Levels& levels)
    : network_(network), alone_(levels.size()), right_(levels.size()), wrong_(levels.size()) {
  for (Tiers& tiers : locations_of(network, levels))
    truth_.push_back(&*places_.insert(std::move(tiers)).first);
  const Neighbors neighbors = neighbors_of(network);
  for (std::size_t n = 0; n < right_.size(); ++n) {
    alone_[n] = neighbors[n].empty();
    if (network.nodes[n].agent) check(n);
  }
}

void LocationTruth::acted(std::size_t node, const core::Actions& actions) {
  const auto moved = [](const core::Event& e) { return e.kind == core::Event::Kind::kLocation; };
  if (std::ranges::any_of(actions.events, moved)) check(node);
}

void LocationTruth::check(std::size_t node) {
  set(node, alone_[node] || network_.nodes[node].agent->location() == *truth_[node]);
}

void LocationTruth::set(std::size_t node, bool right) {
  if (right_[node] == right) return;
  right_[node] = right;
  wrong_ += right ? std::size_t(-1) : 1;
}

std::vector<std::string> LocationTruth::list_wrong() const {
  std::vector<std::string> list;
  for (std::size_t n = 0; n < right_.size(); ++n) {
    const Network::Node& node = network_.nodes[n];
    if (!node.agent)
      list.push_back(node.name() + ": stopped");
    else if (!right_[n])
      list.push_back(fmt::format("{}: {}, not {}", node.name(),
                                 core::location_text(node.agent->location()),
                                 core::location_text(*truth_[n])));
  }
  return list;
}

}  // namespace lldp::lab::agents
