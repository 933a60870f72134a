// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"

namespace lldp::lab::converge {
namespace {

bool is_switch(const Node& n) { return n.role == Role::kSwitch; }

unsigned level_of(const Node& n) { return n.level ? n.level->value() : 0; }

}  // namespace

std::vector<std::size_t> Script::leaves(const Fabric& fabric) {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n)
    if (is_switch(fabric.nodes[n]) && level_of(fabric.nodes[n]) == 1) all.push_back(n);
  return all;
}

std::vector<std::size_t> Script::top(const Fabric& fabric) {
  unsigned most = 0;
  for (const Node& n : fabric.nodes) most = std::max(most, level_of(n));
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < fabric.nodes.size() && most > 1; ++n)
    if (is_switch(fabric.nodes[n]) && level_of(fabric.nodes[n]) == most) all.push_back(n);
  return all;
}

Result<void> Script::check(const Fabric& fabric, std::string_view name) {
  if (std::find(std::begin(kScripts), std::end(kScripts), name) == std::end(kScripts))
    return fail(Error{0, "--script",
                      fmt::format("`{}` is none of {}", escape(name), fmt::join(kScripts, ", "))});
  if (leaves(fabric).size() >= 2 && top(fabric).size() >= 2) return {};
  return fail(Error{0, "--script", "needs two leaves and two switches above them"});
}

Script::Script(const Fabric& fabric, std::string_view name, agents::Network& network)
    : name_(name), network_(network) {
  for (const Node& node : fabric.nodes) levels_.push_back(node.level);
  late_.resize(fabric.nodes.size());
  const std::size_t leaf = name.empty() ? 0 : leaves(fabric).front();
  if (name == "late-pod") find_pod(fabric, leaf);
  if (name == "miswired") find_cables_to_cross(fabric);
  if (name == "moved") lay_out_move(leaf, top(fabric).front());
  if (name == "empty-racks") {
    std::vector<bool> empty(fabric.nodes.size());
    for (std::size_t i = 0; const std::size_t l : leaves(fabric)) empty[l] = i++ % 2 != 0;
    for (const Link& l : fabric.links)
      for (std::size_t e = 0; e < 2; ++e)
        if (!is_switch(fabric.nodes[l.ends[e].node]) && empty[l.ends[1 - e].node])
          late_[l.ends[e].node] = true;
  }
  if (name == "hosts-on-spine") {
    core::Settings host;
    host.role = Role::kHost;
    host.system_name = "stray";
    host.chassis_id = ChassisId{{ChassisId::kLocal, "stray"}};
    stray_ = network.add(std::move(host));
    network.add_port(stray_);
    const std::size_t spine = top(fabric).front();
    stray_port_ = {spine, network.add_port(spine)};
    levels_.emplace_back(Level{});
    late_.push_back(false);
  }
}

/// A leaf, and what hangs together with it when the top switches are taken away.
void Script::find_pod(const Fabric& fabric, std::size_t leaf) {
  std::vector<bool> above(fabric.nodes.size());
  for (const std::size_t t : top(fabric)) above[t] = true;
  const auto links_of = adjacencies(fabric);
  std::vector<std::size_t> queue{leaf};
  late_[leaf] = true;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const Adjacency& a : links_of[queue[i]]) {
      if (late_[a.peer] || above[a.peer]) continue;
      late_[a.peer] = true;
      queue.push_back(a.peer);
    }
}

/// Leaf A - X and leaf B - Y become A - B and X - Y.
void Script::find_cables_to_cross(const Fabric& fabric) {
  const auto ends = leaves(fabric);
  std::vector<std::size_t> found;
  std::vector<std::size_t> upper;
  for (const std::size_t leaf : {ends[0], ends.back()})
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
      const auto& of = fabric.links[l].ends;
      if (of[0].node != leaf && of[1].node != leaf) continue;
      const std::size_t peer = of[0].node == leaf ? of[1].node : of[0].node;
      if (level_of(fabric.nodes[peer]) != 2 ||
          std::find(upper.begin(), upper.end(), peer) != upper.end())
        continue;
      found.push_back(l);
      upper.push_back(peer);
      break;
    }
  if (found.size() < 2)
    return;  // both leaves have one and the same switch above: nothing to confuse
  const auto lower = [&](std::size_t i) {
    const Network::Cable& c = network_.cables[found[i]];
    return c.a.node == upper[i] ? c.b : c.a;
  };
  const auto higher = [&](std::size_t i) {
    const Network::Cable& c = network_.cables[found[i]];
    return c.a.node == upper[i] ? c.a : c.b;
  };
  const Duration delay = network_.cables[found[0]].delay;
  moves_.push_back({found[0], lower(0), lower(1), lower(0), higher(0), delay});
  moves_.push_back({found[1], higher(0), higher(1), lower(1), higher(1), delay});
  moved_cables_ = found;
}

/// All cables of each of the two go to ports of its own at the other.
void Script::lay_out_move(std::size_t leaf, std::size_t spine) {
  std::swap(levels_[leaf], levels_[spine]);
  for (std::size_t c = 0, all = network_.cables.size(); c < all; ++c) {
    const Network::Cable cable = network_.cables[c];
    if (cable.joins(leaf) == cable.joins(spine)) continue;
    const auto then = [&](const Network::End& e) {
      const std::size_t to = e.node == leaf ? spine : e.node == spine ? leaf : e.node;
      return to == e.node ? e : Network::End{to, network_.add_port(to)};
    };
    moves_.push_back({c, cable.a, cable.b, then(cable.a), then(cable.b), cable.delay});
    moved_cables_.push_back(c);
  }
  replug(moved_cables_, true);
}

void Script::replug(std::vector<std::size_t>& cables, bool then) {
  for (const std::size_t c : cables) network_.unplug(c);
  cables.clear();
  for (const Move& m : moves_)
    cables.push_back(network_.plug(then ? m.a_then : m.a, then ? m.b_then : m.b, m.delay));
}

void Script::set_back() {
  if (!moves_.empty()) replug(moved_cables_, false);
}

void Script::play(TimePoint from, Duration span) {
  for (std::size_t n = 0; n < late_.size(); ++n)
    if (late_[n]) network_.at(from + span, [this, n] { network_.start(n); });
  if (!moves_.empty()) network_.at(from + span, [this] { replug(moved_cables_, true); });
  if (name_ == "hosts-on-spine") {
    network_.at(from, [this] {
      network_.plug({stray_, *Ifindex::make(1)}, stray_port_, network_.delay);
    });
    network_.at(from + span, [this] { network_.unplug(network_.nodes[stray_].ports[0].cable); });
  }
  if (name_ == "rolling-upgrade") {
    std::vector<std::size_t> switches;
    for (std::size_t n = 0; n < network_.nodes.size(); ++n)
      if (network_.nodes[n].is_switch()) switches.push_back(n);
    const Duration each = span / static_cast<Duration::rep>(switches.size());
    for (std::size_t i = 0; i < switches.size(); ++i) {
      const TimePoint at = from + each * static_cast<Duration::rep>(i);
      network_.at(at, [this, n = switches[i]] {
        if (network_.nodes[n].agent) network_.stop(n, true);
      });
      network_.at(at + each / 2, [this, n = switches[i]] {
        if (!network_.nodes[n].agent) network_.start(n);
      });
    }
  }
}

}  // namespace lldp::lab::converge
