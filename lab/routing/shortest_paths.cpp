// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/shortest_paths.hpp"

#include <algorithm>

#include "lab/des/random.hpp"

namespace lldp::lab {
namespace {

/// Hops between any node and every node that is a target somewhere.
class Distances {
 public:
  Distances(const Graph& graph, std::span<const Demand> demands, std::size_t threads)
      : row_(graph.nodes(), kNone) {
    std::vector<std::uint32_t> targets;
    for (const Demand& d : demands)
      for (const std::uint32_t t : d.targets) {
        if (row_[t] != kNone) continue;
        row_[t] = targets.size();
        targets.push_back(t);
      }
    rows_.resize(targets.size());
    parallel_for(targets.size(), threads, [&](std::size_t i, std::size_t) {
      rows_[i] = graph.distances(std::span(&targets[i], 1));
    });
  }
  [[nodiscard]] std::span<const std::uint16_t> to(std::uint32_t target) const {
    return rows_[row_[target]];
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> row_;
  std::vector<std::vector<std::uint16_t>> rows_{};
};

/// Enumerates by length. What is shorter than the last length goes in whole; of the last length
/// every path has the same chance (reservoir sampling), so the choice needs no list of them all.
class Search {
 public:
  Search(const Graph& graph, const Distances& distances, const PathChoice& choice)
      : distances_(distances),
        choice_(choice),
        graph_(graph),
        walker_(graph),
        index_(graph.nodes(), kNone) {}

  SourcePaths run(const Demand& demand) {
    random_ = Random(Random(choice_.seed).next() ^ (demand.source * 0x9e37'79b9'7f4a'7c15));
    if (found_.size() < demand.targets.size()) found_.resize(demand.targets.size());
    for (std::size_t i = 0; i < demand.targets.size(); ++i) found_[i].clear();
    open_.clear();
    growth_ = static_cast<double>(graph_.arcs()) / static_cast<double>(graph_.nodes());
    expanded_ = 1;
    for (std::uint32_t i = 0; i < demand.targets.size(); ++i) {
      const std::uint32_t t = demand.targets[i];
      if (t != demand.source && distances_.to(t)[demand.source] != Graph::kFar) open_.push_back(t);
      index_[t] = i;
    }
    const std::size_t longest = std::min(choice_.max_hops, graph_.nodes() - 1);
    for (std::size_t hops = 1; hops <= longest && !open_.empty(); ++hops) extend(demand, hops);
    SourcePaths paths{.source = demand.source, .targets = demand.targets};
    paths.first.reserve(demand.targets.size() + 1);
    for (std::size_t i = 0; i < demand.targets.size(); ++i) {
      const Found& f = found_[i];
      paths.hops.insert(paths.hops.end(), f.hops.begin(), f.hops.end());
      paths.arcs.insert(paths.arcs.end(), f.arcs.begin(), f.arcs.end());
      paths.first.push_back(static_cast<std::uint32_t>(paths.hops.size()));
    }
    for (const std::uint32_t t : demand.targets) index_[t] = kNone;
    return paths;
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  struct Found {
    std::vector<std::uint8_t> hops{};
    std::vector<Arc> arcs{};
    std::size_t shorter = 0;  ///< paths that are shorter than those looked for now
    std::size_t octets = 0;   ///< where in `arcs` those looked for now begin
    std::size_t seen = 0;     ///< of those
    void clear() {            // and keep the memory: there are a million of these in a run
      hops.clear();
      arcs.clear();
    }
  };

  void extend(const Demand& demand, std::size_t hops) {
    for (const std::uint32_t t : open_) {
      Found& f = found_[index_[t]];
      f.shorter = f.hops.size();
      f.octets = f.arcs.size();
      f.seen = 0;
    }
    const auto keep = [&](std::uint32_t target, std::span<const Arc> path, std::size_t) {
      Found& f = found_[index_[target]];
      const std::size_t room = choice_.paths - f.shorter;
      std::size_t slot = f.seen++;
      if (slot < room) {
        f.hops.push_back(static_cast<std::uint8_t>(hops));
        f.arcs.insert(f.arcs.end(), path.begin(), path.end());
        return;
      }
      slot = random_.below(f.seen);
      if (slot < room)
        std::copy(path.begin(), path.end(),
                  f.arcs.begin() + static_cast<std::ptrdiff_t>(f.octets + slot * hops));
    };
    // One walk for all targets goes on from every path that is one hop shorter, one for a single
    // target from about as many as there are two hops shorter.
    if (static_cast<double>(open_.size()) > 2 * growth_) {
      walker_.walk(demand.source, hops, choice_.max_turns, graph_.distances(open_), keep);
      if (walker_.expanded() > kMeasurable)
        growth_ = static_cast<double>(walker_.expanded()) / static_cast<double>(expanded_);
      expanded_ = walker_.expanded();
    } else {
      for (const std::uint32_t t : open_)
        walker_.walk(demand.source, hops, choice_.max_turns, distances_.to(t), keep);
    }
    std::erase_if(open_,
                  [&](std::uint32_t t) { return found_[index_[t]].hops.size() >= choice_.paths; });
  }
  static constexpr std::size_t kMeasurable = 100;

  const Distances& distances_;
  const PathChoice& choice_;
  const Graph& graph_;
  PathWalker walker_;
  std::vector<std::uint32_t> index_;  ///< of a target that is open
  std::vector<std::uint32_t> open_{};
  std::vector<Found> found_{};
  double growth_ = 1;         ///< how many times as many paths there are of one more hop
  std::size_t expanded_ = 1;  ///< by the last walk for all targets
  Random random_{0};
};

}  // namespace

std::size_t turns_of(const Graph& graph, std::span<const Arc> path) {
  std::size_t turns = 0;
  for (std::size_t i = 1; i < path.size(); ++i)
    if (graph.turns(graph.in_class(path[i - 1]), graph.out_class(path[i]))) ++turns;
  return turns;
}

std::vector<Demand> all_pairs(std::span<const std::uint32_t> nodes) {
  std::vector<Demand> demands;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i)
    demands.push_back(
        {nodes[i], {nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1, nodes.end()}});
  return demands;
}

void for_each_source(const Graph& graph, std::span<const Demand> demands, const PathChoice& choice,
                     std::size_t threads,
                     const std::function<void(SourcePaths, std::size_t worker)>& use,
                     const Tell& tell) {
  const Distances distances(graph, demands, threads);
  std::vector<Search> searches;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, threads); ++i)
    searches.emplace_back(graph, distances, choice);
  parallel_for(
      demands.size(), threads,
      [&](std::size_t i, std::size_t worker) { use(searches[worker].run(demands[i]), worker); },
      tell);
}

void keep_shortest(std::vector<SourcePaths>& paths) {
  for (SourcePaths& s : paths) {
    SourcePaths kept{.source = s.source, .targets = s.targets};
    std::size_t last = s.targets.size();
    std::size_t least = 0;
    s.for_each([&](std::size_t t, std::span<const Arc> path) {
      if (t != last) least = path.size();
      last = t;
      while (kept.first.size() <= t)
        kept.first.push_back(static_cast<std::uint32_t>(kept.hops.size()));
      if (path.size() > least) return;
      kept.hops.push_back(static_cast<std::uint8_t>(path.size()));
      kept.arcs.insert(kept.arcs.end(), path.begin(), path.end());
    });
    while (kept.first.size() <= s.targets.size())
      kept.first.push_back(static_cast<std::uint32_t>(kept.hops.size()));
    s = std::move(kept);
  }
}

std::vector<SourcePaths> shortest_paths(const Graph& graph, std::span<const Demand> demands,
                                        const PathChoice& choice, std::size_t threads,
                                        const Tell& tell) {
  std::vector<std::uint32_t> place(graph.nodes());
  for (std::uint32_t i = 0; i < demands.size(); ++i) place[demands[i].source] = i;
  std::vector<SourcePaths> all(demands.size());
  for_each_source(
      graph, demands, choice, threads,
      [&](SourcePaths paths, std::size_t) { all[place[paths.source]] = std::move(paths); }, tell);
  return all;
}

}  // namespace lldp::lab
