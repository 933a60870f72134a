// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/locations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

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

/// Sets of nodes that are merged.
class Sets {
 public:
  explicit Sets(std::size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  void merge(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }

 private:
  std::vector<std::size_t> parent_;
};

std::string levels_text(const Groups& groups) {
  std::set<unsigned> levels;
  for (const auto& [level, group] : groups) levels.insert(level.value());
  return levels.empty() ? "none" : fmt::format("{}", fmt::join(levels, " "));
}

}  // namespace

std::vector<Groups> tiers_of_fabric(const Network& network, const Levels& levels, Named how) {
  const Neighbors neighbors = neighbors_of(network);
  const std::size_t nodes = levels.size();
  const auto level = [&](std::size_t n) { return levels[n] ? int{levels[n]->value()} : -2; };
  const auto is_switch = [&](std::size_t n) { return network.nodes[n].is_switch(); };
  int highest = 0;
  for (std::size_t n = 0; n < nodes; ++n)
    if (is_switch(n)) highest = std::max(highest, level(n));
  std::vector<bool> named(nodes);    // has an own tier: the names of tiers come from leaves below
  std::vector<bool> vouches(nodes);  // for it: a leaf is below, over such switches
  std::vector<Groups> out(nodes);
  for (int tier = 1; tier <= highest; ++tier) {
    std::vector<bool> has(nodes);
    for (std::size_t n = 0; n < nodes; ++n) {
      if (!is_switch(n) || level(n) != tier) continue;
      const auto is_above = [&](const std::vector<bool>& some) {
        return tier == 1 || std::ranges::any_of(neighbors[n], [&](std::size_t below) {
                 return some[below] && level(below) == tier - 1;
               });
      };
      has[n] = named[n] = is_above(named);
      vouches[n] = is_above(vouches);
    }
    // One that has no such leaf is told the name from below, by a switch that another one above
    // told.
    const auto is_below_it = [&](std::size_t n) {
      return is_switch(n) && level(n) == tier - 1 &&
             std::ranges::any_of(neighbors[n], [&](std::size_t above) {
               return has[above] && (vouches[above] || how == Named::kPerhaps);
             });
    };
    for (bool more = tier > 1; more;) {
      more = false;
      for (std::size_t n = 0; n < nodes; ++n)
        if (is_switch(n) && level(n) == tier && !has[n] &&
            std::ranges::any_of(neighbors[n], is_below_it))
          more = has[n] = named[n] = true;
    }
    Sets sets(nodes);
    for (int at = tier - 1; at >= 0; --at)
      for (std::size_t n = 0; n < nodes; ++n)
        if (level(n) == at)
          for (const std::size_t above : neighbors[n])
            if (is_switch(above) && level(above) == at + 1 && has[above]) {
              has[n] = true;
              if (is_switch(n)) sets.merge(n, above);
            }
    for (std::size_t n = 0; n < nodes; ++n) {
      if (!has[n]) continue;
      std::set<std::size_t> groups;
      if (is_switch(n)) groups.insert(sets.root(n));
      if (!is_switch(n))
        for (const std::size_t above : neighbors[n])
          if (is_switch(above) && level(above) == level(n) + 1 && has[above])
            groups.insert(sets.root(above));
      for (const std::size_t group : groups)
        out[n].emplace_back(*Level::make(static_cast<unsigned>(tier)),
                            static_cast<std::size_t>(tier - 1) * nodes + group);
    }
  }
  return out;
}

LocationTruth::LocationTruth(const Network& network, const Levels& levels)
    : network_(network),
      truth_(tiers_of_fabric(network, levels)),
      alone_(levels.size()),
      fits_(levels.size()),
      seen_(levels.size()),
      misfits_(levels.size()) {
  std::map<std::size_t, std::size_t> numbers;
  for (Groups& groups : truth_)
    for (auto& [level, group] : groups)
      group = numbers.emplace(group, numbers.size()).first->second;
  ids_.resize(numbers.size());
  const Neighbors neighbors = neighbors_of(network);
  for (std::size_t n = 0; n < alone_.size(); ++n) {
    alone_[n] = neighbors[n].empty();
    if (network.nodes[n].agent) check(n);
  }
}

void LocationTruth::stopped(std::size_t node) {
  count(node, seen_[node], false);
  seen_[node].clear();
  fit(node, false);
}

void LocationTruth::acted(std::size_t node, const core::Actions& actions) {
  const auto moved = [](const core::Event& e) { return e.kind == core::Event::Kind::kLocation; };
  if (std::ranges::any_of(actions.events, moved)) check(node);
}

void LocationTruth::check(std::size_t node) {
  count(node, seen_[node], false);
  seen_[node] = network_.nodes[node].agent->location();
  count(node, seen_[node], true);
  const Groups& groups = truth_[node];
  const bool fits =
      std::ranges::all_of(
          groups, [&](const auto& g) { return core::tier_at(seen_[node], g.first) != nullptr; }) &&
      std::ranges::all_of(seen_[node], [&](const Tier& t) {
        return std::ranges::find(groups, t.level, &Groups::value_type::first) != groups.end();
      });
  fit(node, alone_[node] || fits);
}

void LocationTruth::fit(std::size_t node, bool fits) {
  if (fits_[node] == fits) return;
  fits_[node] = fits;
  misfits_ += fits ? std::size_t(-1) : 1;
}

void LocationTruth::count(std::size_t node, const Tiers& tiers, bool in) {
  if (alone_[node]) return;
  for (const Tier& tier : tiers) {
    const auto is_it = [&](const auto& g) { return g.first == tier.level; };
    if (std::ranges::count_if(truth_[node], is_it) != 1) continue;  // none, or any of several
    auto& ids = ids_[std::ranges::find_if(truth_[node], is_it)->second];
    auto& groups = groups_[{tier.level, tier.id}];
    if (in && ++ids[tier.id] == 1) {
      if (ids.size() > 1) ++split_;
      if (++groups > 1) ++shared_;
    } else if (!in && --ids[tier.id] == 0) {
      ids.erase(tier.id);
      if (!ids.empty()) --split_;
      if (--groups > 0) --shared_;
    }
  }
}

std::vector<std::string> LocationTruth::list_wrong() const {
  std::vector<std::string> list;
  for (std::size_t n = 0; n < fits_.size(); ++n) {
    const Network::Node& node = network_.nodes[n];
    if (!node.agent)
      list.push_back(node.name() + ": stopped");
    else if (!fits_[n])
      list.push_back(fmt::format("{}: {}, not tiers {}", node.name(),
                                 core::location_text(node.agent->location()),
                                 levels_text(truth_[n])));
  }
  for (const auto& ids : ids_) {
    if (ids.size() < 2) continue;
    std::string text = "one tier has several IDs:";
    for (const auto& [id, nodes] : ids)
      text += fmt::format(" {} ({} devices)", to_string(id), nodes);
    list.push_back(std::move(text));
  }
  for (const auto& [id, groups] : groups_)
    if (groups > 1)
      list.push_back(fmt::format("{} tiers of level {} have the ID {}", groups, id.first.value(),
                                 to_string(id.second)));
  return list;
}

}  // namespace lldp::lab::agents
