// SPDX-License-Identifier: Apache-2.0
#include "sim/flow/throughput.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "lab/des/parallel.hpp"

namespace lldp::lab {
namespace {

/// A path of a pair without its ends' names: pairs with traffic, as the rounds want them.
struct Problem {
  std::vector<double> amount{};              ///< of each pair
  std::vector<std::uint32_t> first_path{0};  ///< of each pair, and the end
  std::vector<std::uint64_t> first_edge{0};  ///< of each pair's first path, and the end
  std::vector<std::uint8_t> hops{};          ///< of each path
  std::vector<std::uint32_t> edges{};        ///< of all paths: arcs, or links if symmetric
  std::size_t edge_count = 0;
  std::size_t without = 0;
};

std::uint64_t key(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32 | to; }

/// Where every pair sends as much one way as the other, a best flow is symmetric too (the mean of
/// any best flow and its mirror image): half the pairs and links describe it.
Problem problem_of(const Graph& graph, std::span<const SourcePaths> paths,
                   std::span<const TrafficMatrix> traffic) {
  std::unordered_map<std::uint64_t, double> amounts;
  amounts.reserve(traffic.size());
  for (const TrafficMatrix& t : traffic)
    if (t.amount > 0 && t.from != t.to) amounts[key(t.from, t.to)] += t.amount;
  const auto amount = [&](std::uint32_t from, std::uint32_t to) {
    const auto at = amounts.find(key(from, to));
    return at == amounts.end() ? 0 : at->second;
  };
  const bool symmetric = std::all_of(amounts.begin(), amounts.end(), [&](const auto& entry) {
    const auto from = static_cast<std::uint32_t>(entry.first >> 32);
    const auto to = static_cast<std::uint32_t>(entry.first);
    return std::abs(amount(to, from) - entry.second) <= 1e-12 * entry.second;
  });
  Problem p{.edge_count = symmetric ? graph.arcs() / 2 : graph.arcs()};
  std::size_t served = 0;
  for (const SourcePaths& s : paths) {
    std::size_t first_arc = 0;
    for (std::size_t t = 0; t < s.targets.size(); ++t) {
      std::size_t end_arc = first_arc;
      for (std::size_t i = s.first[t]; i < s.first[t + 1]; ++i) end_arc += s.hops[i];
      for (std::size_t back = 0; back < (symmetric ? 1 : 2); ++back) {
        const double a =
            back == 0 ? amount(s.source, s.targets[t]) : amount(s.targets[t], s.source);
        if (a <= 0 || s.first[t] == s.first[t + 1]) continue;
        served += symmetric ? 2 : 1;
        p.amount.push_back(a);
        p.hops.insert(p.hops.end(), s.hops.begin() + s.first[t], s.hops.begin() + s.first[t + 1]);
        for (std::size_t i = first_arc; i < end_arc; ++i)
          p.edges.push_back(symmetric   ? s.arcs[i] / 2
                            : back == 0 ? s.arcs[i]
                                        : reversed(s.arcs[i]));
        p.first_path.push_back(static_cast<std::uint32_t>(p.hops.size()));
        p.first_edge.push_back(p.edges.size());
      }
      first_arc = end_arc;
    }
  }
  p.without = amounts.size() - std::min(served, amounts.size());
  return p;
}

/// How fast the players move: by what was fastest on expanders of 120 to 2,000 switches and all
/// three kinds of traffic. Much faster, and they chase each other in circles.
constexpr double kPairsStep = 2;
constexpr double kEdgesStep = 0.3;
/// The game begins anew from the averages when their gap has come down to this share of what it was
/// at the last beginning, or when this share of all rounds has passed since: so the gap falls
/// geometrically, as linear programs allow (Applegate et al., "Faster first-order primal-dual
/// methods for linear programming using restarts and sharpness"). If it has hardly fallen, they
/// did chase each other: they slow down.
constexpr double kGapFallen = 0.4;
constexpr double kRoundsPassed = 0.5;
constexpr double kTooSlow = 0.8;

class Game {
 public:
  Game(const Problem& problem, std::size_t threads)
      : p_(problem),
        threads_(p_.edges.size() > kWorthThreads ? threads : 1),
        share_(p_.hops.size()),
        length_(p_.edge_count, 1 / static_cast<double>(p_.edge_count)),
        last_length_(length_),
        log_length_(p_.edge_count),
        load_(p_.edge_count) {
    since_.load.resize(p_.edge_count);
    since_.length.resize(p_.edge_count);
    since_.share.resize(p_.hops.size());
    double hops = 0;
    double all = 0;
    for (std::size_t c = 0; c < p_.amount.size(); ++c) {
      const std::uint32_t begin = p_.first_path[c];
      const std::uint32_t end = p_.first_path[c + 1];
      const auto nearest = *std::min_element(&p_.hops[begin], &p_.hops[begin] + (end - begin));
      double sum = 0;
      for (std::uint32_t i = begin; i < end; ++i)
        sum += std::exp(-kDetourAtFirst * (p_.hops[i] - nearest));
      for (std::uint32_t i = begin; i < end; ++i)
        share_[i] = static_cast<float>(std::exp(-kDetourAtFirst * (p_.hops[i] - nearest)) / sum);
      hops += p_.amount[c] * nearest;
      all += p_.amount[c];
    }
    mean_hops_ = hops / all;
    for (Chunk& chunk : chunks_) chunk.load.resize(p_.edge_count);
  }

  Throughput play(const ThroughputGoal& goal, const std::function<void(const Throughput&)>& tell) {
    Throughput best{.upper = 1e300, .paths = p_.hops.size()};
    double gap_at_restart = 1e300;
    for (best.rounds = 1; best.rounds <= goal.max_rounds; ++best.rounds) {
      const double dual = move_pairs();
      ++since_.rounds;
      since_.dual += dual;
      double fullest = 0;
      double fullest_sum = 0;
      for (std::size_t e = 0; e < p_.edge_count; ++e) {
        since_.load[e] += load_[e];
        since_.length[e] += length_[e];
        fullest = std::max(fullest, load_[e]);
        fullest_sum = std::max(fullest_sum, since_.load[e]);
      }
      // Loads of averages are averages of loads; the dual value of averages is no less than the
      // average of dual values.
      const auto rounds = static_cast<double>(since_.rounds);
      best.lower = std::max({best.lower, 1 / fullest, rounds / fullest_sum});
      best.upper = std::min({best.upper, 1 / dual, rounds / since_.dual});
      if (best.gap() <= goal.gap) break;
      if (tell) tell(best);
      const double gap = fullest_sum / since_.dual - 1;
      if ((since_.rounds > kFewRounds && gap < kGapFallen * gap_at_restart) ||
          rounds > std::max(kRoundsPassed * static_cast<double>(best.rounds), kFirstRestart)) {
        if (gap > kTooSlow * gap_at_restart) slow_down();
        gap_at_restart = gap;
        restart();
      } else {
        move_edges();
      }
    }
    best.rounds = std::min(best.rounds, goal.max_rounds);
    return best;
  }

 private:
  static constexpr std::size_t kWorthThreads = 400'000;  ///< edges of all paths
  static constexpr std::size_t kFewRounds = 10;
  static constexpr double kFirstRestart = 40;
  static constexpr double kDetourAtFirst = 3;
  /// Pairs are handled in this number of parts, whatever the number of threads: so sums do not
  /// depend on the threads.
  static constexpr std::size_t kChunks = 16;
  struct Chunk {
    std::vector<double> load{};
    double dual = 0;
    std::vector<float> lengths{};
  };

  /// Pairs move to what will be short; returns the dual value of the lengths they saw.
  double move_pairs() {
    use_.resize(p_.edge_count);
    const double scale = pairs_step_ * static_cast<double>(p_.edge_count) / mean_hops_;
    for (std::size_t e = 0; e < p_.edge_count; ++e)
      use_[e] = {static_cast<float>(scale * (2 * length_[e] - last_length_[e])),
                 static_cast<float>(length_[e])};
    parallel_for(kChunks, threads_, [&](std::size_t i, std::size_t) { move_chunk(i); });
    std::fill(load_.begin(), load_.end(), 0);
    double dual = 0;
    for (const Chunk& chunk : chunks_) {
      for (std::size_t e = 0; e < p_.edge_count; ++e) load_[e] += chunk.load[e];
      dual += chunk.dual;
    }
    return dual;
  }

  void move_chunk(std::size_t index) {
    Chunk& chunk = chunks_[index];
    std::fill(chunk.load.begin(), chunk.load.end(), 0);
    chunk.dual = 0;
    const std::size_t pairs = p_.amount.size();
    for (std::size_t c = pairs * index / kChunks; c < pairs * (index + 1) / kChunks; ++c) {
      const std::uint32_t begin = p_.first_path[c];
      const std::uint32_t count = p_.first_path[c + 1] - begin;
      chunk.lengths.resize(count);
      const std::uint32_t* edge = &p_.edges[p_.first_edge[c]];
      float least_seen = 1e30F;
      float least = 1e30F;
      for (std::uint32_t i = 0; i < count; ++i) {
        float seen = 0;
        float now = 0;
        for (const std::uint32_t* end = edge + p_.hops[begin + i]; edge != end; ++edge) {
          seen += use_[*edge].foreseen;
          now += use_[*edge].now;
        }
        chunk.lengths[i] = seen;
        least_seen = std::min(least_seen, seen);
        least = std::min(least, now);
      }
      chunk.dual += p_.amount[c] * static_cast<double>(least);
      float* share = &share_[begin];
      float sum = 0;
      for (std::uint32_t i = 0; i < count; ++i) {
        const float y = chunk.lengths[i] - least_seen;
        share[i] = share[i] / (1 + y + 0.5F * y * y) + kNeverGone;  // falls as exp(-y) does
        sum += share[i];
      }
      edge = &p_.edges[p_.first_edge[c]];
      for (std::uint32_t i = 0; i < count; ++i) {
        share[i] /= sum;
        since_.share[begin + i] += share[i];
        const double flow = p_.amount[c] * static_cast<double>(share[i]);
        for (const std::uint32_t* end = edge + p_.hops[begin + i]; edge != end; ++edge)
          chunk.load[*edge] += flow;
      }
    }
  }
  static constexpr float kNeverGone = 1e-12F;

  void move_edges() {
    const double mean =
        std::accumulate(load_.begin(), load_.end(), 0.0) / static_cast<double>(p_.edge_count);
    double longest = -1e300;
    for (std::size_t e = 0; e < p_.edge_count; ++e) {
      log_length_[e] += edges_step_ * load_[e] / mean;
      longest = std::max(longest, log_length_[e]);
    }
    last_length_.swap(length_);
    double sum = 0;
    for (std::size_t e = 0; e < p_.edge_count; ++e)
      sum += length_[e] = std::exp(log_length_[e] - longest);
    for (double& l : length_) l /= sum;
  }

  /// Starts again from the average of the rounds since the last restart.
  void restart() {
    const auto rounds = static_cast<double>(since_.rounds);
    for (std::size_t i = 0; i < share_.size(); ++i) {
      share_[i] = since_.share[i] / static_cast<float>(rounds);
      since_.share[i] = 0;
    }
    for (std::size_t e = 0; e < p_.edge_count; ++e) {
      length_[e] = last_length_[e] = since_.length[e] / rounds;
      log_length_[e] = std::log(std::max(length_[e], 1e-300));
      since_.length[e] = since_.load[e] = 0;
    }
    since_.dual = 0;
    since_.rounds = 0;
  }

  void slow_down() {
    pairs_step_ /= 1.5;
    edges_step_ /= 1.5;
  }

  struct Use {
    float foreseen = 0;  ///< scaled
    float now = 0;
  };
  const Problem& p_;
  std::size_t threads_;
  std::vector<float> share_;  ///< of a pair's traffic that each of its paths has
  std::vector<double> length_;
  std::vector<double> last_length_;
  std::vector<double> log_length_;
  std::vector<double> load_;
  struct {  ///< sums over the rounds since the last beginning
    std::size_t rounds = 0;
    double dual = 0;
    std::vector<double> load{};
    std::vector<double> length{};
    std::vector<float> share{};
  } since_{};
  std::vector<Use> use_{};
  std::array<Chunk, kChunks> chunks_{};
  double mean_hops_ = 1;
  double pairs_step_ = kPairsStep;
  double edges_step_ = kEdgesStep;
};

}  // namespace

Throughput throughput(const Graph& graph, std::span<const SourcePaths> paths,
                      std::span<const TrafficMatrix> traffic, const ThroughputGoal& goal,
                      std::size_t threads, const std::function<void(const Throughput&)>& tell) {
  const Problem problem = problem_of(graph, paths, traffic);
  if (problem.without != 0 || problem.amount.empty())
    return {.paths = problem.hops.size(), .without = problem.without};
  return Game(problem, threads).play(goal, tell);
}

double throughput_bound(const Graph& graph, std::span<const TrafficMatrix> traffic) {
  std::unordered_map<std::uint32_t, std::vector<const TrafficMatrix*>> by_source;
  for (const TrafficMatrix& t : traffic) by_source[t.from].push_back(&t);
  double taken = 0;
  for (const auto& [source, list] : by_source) {
    const auto distance = graph.distances(std::span(&source, 1));
    for (const TrafficMatrix* t : list) {
      if (distance[t->to] == Graph::kFar) return 0;
      taken += t->amount * distance[t->to];
    }
  }
  std::size_t capacity = 0;
  for (Arc arc = 0; arc < graph.arcs(); ++arc)
    if (graph.forwards(graph.tail(arc)) && graph.forwards(graph.head(arc))) ++capacity;
  return taken > 0 ? static_cast<double>(capacity) / taken : 0;
}

}  // namespace lldp::lab
