// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/edge_disjoint.hpp"

#include <algorithm>
#include <array>

#include "lab/des/random.hpp"

namespace lldp::lab {
namespace {

/// The up-down digraph: a vertex per switch, layer and phase. Ascending vertices lead up, to the
/// next layer of the same switch, and over into descending; those lead down.
class UpDownDigraph {
 public:
  explicit UpDownDigraph(const Graph& graph) {
    std::vector<std::array<std::uint32_t, 32>> vertex(graph.nodes());
    std::uint32_t vertices = 0;
    first_.resize(graph.nodes());
    for (std::uint32_t n = 0; n < graph.nodes(); ++n) {
      std::uint32_t layers = 0;
      for (const auto& hop : graph.hops(n)) layers |= 1U << graph.port_class(hop.out).near.value();
      first_[n] = vertices;
      for (std::uint32_t l = 0; l < 32; ++l)
        if ((layers >> l & 1U) != 0) {
          vertex[n][l] = vertices;
          vertices += 2;
        }
      for (std::uint32_t v = first_[n]; v + 2 < vertices; v += 2) {
        edges_.push_back({v, v + 2, kMany});
        edges_.push_back({v + 3, v + 1, kMany});
      }
      for (std::uint32_t v = first_[n]; v < vertices; v += 2) edges_.push_back({v, v + 1, kMany});
    }
    for (Arc arc = 0; arc < graph.arcs(); ++arc) {
      const auto near = graph.port_class(graph.out_class(arc));
      const auto far = graph.port_class(graph.in_class(arc));
      if (near.order == Order::kUnknown) continue;
      const std::uint32_t phase = near.order == Order::kUp ? 0 : 1;
      edges_.push_back({vertex[graph.tail(arc)][near.near.value()] + phase,
                        vertex[graph.head(arc)][far.near.value()] + phase, 1, arc});
    }
    begin_.resize(vertices + 1);
    for (const Edge& e : edges_) {
      ++begin_[e.from + 1];
      ++begin_[e.to + 1];
    }
    for (std::size_t v = 0; v < vertices; ++v) begin_[v + 1] += begin_[v];
    sides_.resize(2 * edges_.size());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      sides_[next[edges_[e].from]++] = {edges_[e].to, 2 * e};
      sides_[next[edges_[e].to]++] = {edges_[e].from, 2 * e + 1};
    }
  }

  static constexpr std::int32_t kMany = 1 << 20;
  static constexpr Arc kNoArc = ~Arc{0};
  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::int32_t capacity = 0;
    Arc arc = kNoArc;  ///< that it stands for; none inside a switch
  };
  struct Side {
    std::uint32_t peer = 0;
    std::uint32_t side = 0;  ///< 2 * edge, and 1 more against it
  };
  [[nodiscard]] std::size_t vertices() const { return begin_.size() - 1; }
  [[nodiscard]] std::span<const Side> sides(std::uint32_t v) const {
    return {sides_.data() + begin_[v], sides_.data() + begin_[v + 1]};
  }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  /// A path begins at the lowest ascending vertex of its source...
  [[nodiscard]] std::uint32_t begin_of(std::uint32_t node) const { return first_[node]; }
  /// ...and ends at the lowest descending one of its target.
  [[nodiscard]] std::uint32_t end_of(std::uint32_t node) const { return first_[node] + 1; }

 private:
  std::vector<std::uint32_t> first_{};
  std::vector<Edge> edges_{};
  std::vector<std::uint32_t> begin_{};
  std::vector<Side> sides_{};
};

/// Augments until there is no way on: along a way of fewest edges if only the number counts, else
/// along one that adds fewest links to the flow, which leaves the fewest in all.
class MaximumFlow {
 public:
  explicit MaximumFlow(const UpDownDigraph& digraph)
      : digraph_(digraph),
        left_(2 * digraph.edges().size()),
        came_by_(digraph.vertices()),
        mark_(digraph.vertices()),
        distance_(digraph.vertices(), kFar),
        potential_(digraph.vertices()) {
    for (std::size_t e = 0; e < digraph.edges().size(); ++e)
      left_[2 * e] = digraph.edges()[e].capacity;
  }

  /// How many paths there are; appends their arcs and lengths to `paths`, if there is one.
  std::size_t run(std::uint32_t from, std::uint32_t to, SourcePaths* paths = nullptr) {
    std::size_t flow = 0;
    while (paths == nullptr ? augment(from, to) : augment_shortest(from, to)) ++flow;
    if (paths != nullptr) take_apart(from, to, flow, *paths);
    for (const std::uint32_t v : moved_) potential_[v] = 0;
    moved_.clear();
    for (const std::uint32_t side : changed_) {
      left_[side] = (side & 1U) != 0 ? 0 : digraph_.edges()[side / 2].capacity;
      left_[side ^ 1U] = (side & 1U) == 0 ? 0 : digraph_.edges()[side / 2].capacity;
    }
    changed_.clear();
    return flow;
  }

 private:
  bool augment(std::uint32_t from, std::uint32_t to) {
    ++stamp_;
    queue_.assign(1, from);
    mark_[from] = stamp_;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      for (const auto& [peer, side] : digraph_.sides(queue_[i])) {
        if (left_[side] == 0 || mark_[peer] == stamp_) continue;
        mark_[peer] = stamp_;
        came_by_[peer] = side;
        if (peer == to) {
          send(from, to);
          return true;
        }
        queue_.push_back(peer);
      }
    }
    return false;
  }

  /// Dijkstra, by a bucket for each length. A link costs 1, and gives 1 back when it is left;
  /// potentials keep every length 0 or more.
  bool augment_shortest(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> reached;
    const auto reach = [&](std::uint32_t v, std::uint32_t at) {
      if (distance_[v] == kFar) reached.push_back(v);
      distance_[v] = at;
      if (buckets_.size() <= at) buckets_.resize(at + 1);
      buckets_[at].push_back(v);
    };
    reach(from, 0);
    for (std::uint32_t at = 0; at < buckets_.size() && distance_[to] >= at; ++at) {
      for (std::size_t i = 0; i < buckets_[at].size(); ++i) {
        const std::uint32_t v = buckets_[at][i];
        if (distance_[v] != at) continue;
        for (const auto& [peer, side] : digraph_.sides(v)) {
          if (left_[side] == 0) continue;
          const bool link = digraph_.edges()[side / 2].arc != UpDownDigraph::kNoArc;
          const std::int32_t cost = !link ? 0 : (side & 1U) != 0 ? -1 : 1;
          const auto next =
              at + static_cast<std::uint32_t>(cost + potential_[v] - potential_[peer]);
          if (next >= distance_[peer]) continue;
          reach(peer, next);
          came_by_[peer] = side;
        }
      }
    }
    const std::uint32_t end = distance_[to];
    for (const std::uint32_t v : reached) {
      if (distance_[v] < end && end != kFar) {
        potential_[v] -= static_cast<std::int32_t>(end - distance_[v]);
        moved_.push_back(v);
      }
      distance_[v] = kFar;
    }
    for (auto& bucket : buckets_) bucket.clear();
    if (end == kFar) return false;
    send(from, to);
    return true;
  }

  /// One path more, by the way that was found.
  void send(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t v = to; v != from;) {
      const std::uint32_t s = came_by_[v];
      --left_[s];
      ++left_[s ^ 1U];
      changed_.push_back(s);
      const auto& e = digraph_.edges()[s / 2];
      v = (s & 1U) != 0 ? e.to : e.from;
    }
  }

  /// The flow as paths, shortest first. The digraph has no cycles.
  void take_apart(std::uint32_t from, std::uint32_t to, std::size_t flow, SourcePaths& paths) {
    std::vector<std::vector<Arc>> found(flow);
    for (auto& path : found) {
      for (std::uint32_t v = from; v != to;) {
        for (const auto& [peer, side] : digraph_.sides(v)) {
          const auto& edge = digraph_.edges()[side / 2];
          if ((side & 1U) != 0 || left_[side] == edge.capacity) continue;
          ++left_[side];
          --left_[side ^ 1U];
          if (edge.arc != UpDownDigraph::kNoArc) path.push_back(edge.arc);
          v = peer;
          break;
        }
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (const auto& path : found) {
      paths.hops.push_back(static_cast<std::uint8_t>(path.size()));
      paths.arcs.insert(paths.arcs.end(), path.begin(), path.end());
    }
  }

  static constexpr std::uint32_t kFar = ~0U;
  const UpDownDigraph& digraph_;
  std::vector<std::int32_t> left_;
  std::vector<std::uint32_t> came_by_;
  std::vector<std::uint32_t> mark_;
  std::vector<std::uint32_t> distance_;
  std::vector<std::int32_t> potential_;
  std::vector<std::uint32_t> moved_{};  ///< vertices that have a potential
  std::vector<std::vector<std::uint32_t>> buckets_{};
  std::uint32_t stamp_ = 0;
  std::vector<std::uint32_t> queue_{};
  std::vector<std::uint32_t> changed_{};
};

}  // namespace

double edge_disjoint_count(const Graph& graph, std::span<const std::uint32_t> nodes,
                           std::size_t samples, std::uint64_t seed, std::size_t threads,
                           const Tell& tell) {
  const UpDownDigraph digraph(graph);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  Random random(seed);
  const double share = static_cast<double>(samples) / pairs_of(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t j = i + 1; j < nodes.size(); ++j)
      if (share >= 1 || random.chance(share)) pairs.emplace_back(nodes[i], nodes[j]);
  if (pairs.empty()) return 0;
  constexpr std::size_t kBatch = 64;
  const std::size_t batches = (pairs.size() + kBatch - 1) / kBatch;
  std::vector<std::uint64_t> sums(batches);
  std::vector<MaximumFlow> flows(std::max<std::size_t>(1, threads), MaximumFlow(digraph));
  parallel_for(
      batches, threads,
      [&](std::size_t b, std::size_t worker) {
        for (std::size_t p = b * kBatch; p < std::min(pairs.size(), (b + 1) * kBatch); ++p)
          sums[b] +=
              flows[worker].run(digraph.begin_of(pairs[p].first), digraph.end_of(pairs[p].second));
      },
      tell);
  std::uint64_t total = 0;
  for (const std::uint64_t s : sums) total += s;
  return static_cast<double>(total) / static_cast<double>(pairs.size());
}

std::vector<SourcePaths> edge_disjoint_paths(const Graph& graph, std::span<const Demand> demands,
                                             std::size_t threads, const Tell& tell) {
  const UpDownDigraph digraph(graph);
  std::vector<MaximumFlow> flows(std::max<std::size_t>(1, threads), MaximumFlow(digraph));
  std::vector<SourcePaths> all(demands.size());
  parallel_for(
      demands.size(), threads,
      [&](std::size_t i, std::size_t worker) {
        all[i].source = demands[i].source;
        all[i].targets = demands[i].targets;
        for (const std::uint32_t target : demands[i].targets) {
          flows[worker].run(digraph.begin_of(demands[i].source), digraph.end_of(target), &all[i]);
          all[i].first.push_back(static_cast<std::uint32_t>(all[i].hops.size()));
        }
      },
      tell);
  return all;
}

}  // namespace lldp::lab
