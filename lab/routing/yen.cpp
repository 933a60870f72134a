// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/yen.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace lldp::lab {
namespace {

using Arcs = std::vector<Arc>;

class Yen {
 public:
  Yen(const Graph& graph, const PathChoice& choice)
      : graph_(graph),
        choice_(choice),
        came_by_(graph.arcs()),
        arc_mark_(graph.arcs()),
        node_mark_(graph.nodes()),
        root_mark_(graph.nodes()) {}

  std::vector<Arcs> run(std::uint32_t from, std::uint32_t to) {
    candidates_.clear();
    known_.clear();
    std::vector<Arcs> looked_at;
    std::vector<Arcs> kept;
    add(way_on({}, {}, from, to));
    std::vector<Arc> taken;
    while (kept.size() < choice_.paths && !candidates_.empty()) {
      const auto shortest = candidates_.begin();
      Arcs path = std::move(shortest->second.front());
      shortest->second.pop_front();
      if (shortest->second.empty()) candidates_.erase(shortest);
      for (std::size_t i = 0; i < path.size(); ++i) {
        const std::span<const Arc> root(path.data(), i);
        taken.assign(1, path[i]);
        for (const Arcs& p : looked_at)
          if (p.size() > i && std::equal(root.begin(), root.end(), p.begin()))
            taken.push_back(p[i]);
        add(way_on(root, taken, from, to));
      }
      if (fits(path)) kept.push_back(path);
      looked_at.push_back(std::move(path));
    }
    return kept;
  }

 private:
  static constexpr Arc kNoArc = ~Arc{0};

  [[nodiscard]] bool up_down_only() const { return choice_.max_turns == 0; }

  void add(Arcs path) {
    if (path.empty() || path.size() > choice_.max_hops || !known_.insert(path).second) return;
    candidates_[path.size()].push_back(std::move(path));
  }

  /// Few enough turns, and no node twice, which an up-down path can go through up and down again.
  [[nodiscard]] bool fits(const Arcs& path) {
    if (choice_.max_turns != kAnyTurns && turns_of(graph_, path) > choice_.max_turns) return false;
    ++stamp_;
    root_mark_[graph_.tail(path.front())] = stamp_;
    return std::all_of(path.begin(), path.end(), [&](Arc a) {
      return std::exchange(root_mark_[graph_.head(a)], stamp_) != stamp_;
    });
  }

  /// `root`, and the shortest way on that begins with none of `taken` and visits no node of it.
  Arcs way_on(std::span<const Arc> root, const std::vector<Arc>& taken, std::uint32_t from,
              std::uint32_t to) {
    ++stamp_;
    queue_.clear();
    std::uint32_t at = from;
    root_mark_[at] = stamp_;
    for (const Arc a : root) root_mark_[at = graph_.head(a)] = stamp_;
    const Arc last = root.empty() ? kNoArc : root.back();
    const auto reach = [&](Arc by, std::uint32_t node) {
      const Arc before = by == kNoArc ? last : by;
      for (const Graph::Hop& hop : graph_.hops(node)) {
        if (root_mark_[hop.peer] == stamp_ || (hop.peer != to && !graph_.forwards(hop.peer)))
          continue;
        if (by == kNoArc && std::find(taken.begin(), taken.end(), hop.arc) != taken.end()) continue;
        if (up_down_only()) {  // what can follow depends on the arc
          if (arc_mark_[hop.arc] == stamp_ ||
              (before != kNoArc && graph_.turns(graph_.in_class(before), hop.out)))
            continue;
          arc_mark_[hop.arc] = stamp_;
        } else if (std::exchange(node_mark_[hop.peer], stamp_) == stamp_) {
          continue;
        }
        came_by_[hop.arc] = by;
        queue_.push_back(hop.arc);
        if (hop.peer == to) return true;
      }
      return false;
    };
    bool found = reach(kNoArc, at);
    for (std::size_t i = 0; !found && i < queue_.size(); ++i)
      found = reach(queue_[i], graph_.head(queue_[i]));
    if (!found) return {};
    Arcs path;
    for (Arc a = queue_.back(); a != kNoArc; a = came_by_[a]) path.push_back(a);
    path.insert(path.end(), root.rbegin(), root.rend());
    std::reverse(path.begin(), path.end());
    return path;
  }

  const Graph& graph_;
  const PathChoice& choice_;
  std::uint32_t stamp_ = 0;
  std::vector<Arc> came_by_;
  std::vector<std::uint32_t> arc_mark_;
  std::vector<std::uint32_t> node_mark_;
  std::vector<std::uint32_t> root_mark_;
  std::vector<Arc> queue_{};
  std::map<std::size_t, std::deque<Arcs>> candidates_{};  ///< by length, in the order found
  std::set<Arcs> known_{};
};

}  // namespace

std::vector<SourcePaths> yen_paths(const Graph& graph, std::span<const Demand> demands,
                                   const PathChoice& choice, std::size_t threads,
                                   const Tell& tell) {
  std::vector<Yen> searches(std::max<std::size_t>(1, threads), Yen(graph, choice));
  std::vector<SourcePaths> all(demands.size());
  parallel_for(
      demands.size(), threads,
      [&](std::size_t i, std::size_t worker) {
        SourcePaths& s = all[i];
        s.source = demands[i].source;
        s.targets = demands[i].targets;
        for (const std::uint32_t target : s.targets) {
          for (const Arcs& path : searches[worker].run(s.source, target)) {
            s.hops.push_back(static_cast<std::uint8_t>(path.size()));
            s.arcs.insert(s.arcs.end(), path.begin(), path.end());
          }
          s.first.push_back(static_cast<std::uint32_t>(s.hops.size()));
        }
      },
      tell);
  return all;
}

}  // namespace lldp::lab
