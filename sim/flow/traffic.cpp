// SPDX-License-Identifier: Apache-2.0
#include "sim/flow/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "lab/des/parallel.hpp"
#include "lab/des/random.hpp"

namespace lldp::lab {
namespace {

constexpr std::uint32_t kNobody = ~0U;

/// A perfect matching of rows with columns of the greatest weight (Kuhn and Munkres, in the phases
/// of Hopcroft and Karp): rows and columns have prices whose sum is never below the weight; only
/// where it is equal may they be matched; where nothing is left to match, prices fall. Weights are
/// small whole numbers, so there are few falls.
class Matching {
 public:
  using Weight = std::int16_t;
  Matching(std::size_t n, std::vector<Weight> weights)
      : n_(n),
        weight_(std::move(weights)),
        row_price_(n),
        column_price_(n),
        of_row_(n, kNobody),
        of_column_(n, kNobody) {}

  std::vector<std::uint32_t> run() {
    for (std::size_t r = 0; r < n_; ++r)
      row_price_[r] = *std::max_element(&weight_[r * n_], &weight_[r * n_] + n_);
    std::size_t matched = 0;
    while (matched < n_) {
      const std::size_t more = match_more();
      matched += more;
      if (more == 0) fall();
    }
    return of_row_;
  }

 private:
  [[nodiscard]] int slack(std::size_t r, std::size_t c) const {
    return row_price_[r] + column_price_[c] - weight_[r * n_ + c];
  }

  /// Finds disjoint shortest alternating paths from free rows to free columns.
  std::size_t match_more() {
    depth_.assign(n_, -1);
    std::vector<std::uint32_t> queue;
    for (std::uint32_t r = 0; r < n_; ++r)
      if (of_row_[r] == kNobody) {
        depth_[r] = 0;
        queue.push_back(r);
      }
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (std::uint32_t c = 0; c < n_; ++c) {
        const std::uint32_t next = of_column_[c];
        if (next == kNobody || depth_[next] >= 0 || slack(queue[i], c) != 0) continue;
        depth_[next] = depth_[queue[i]] + 1;
        queue.push_back(next);
      }
    tried_.assign(n_, 0);
    std::size_t more = 0;
    for (std::uint32_t r = 0; r < n_; ++r)
      if (of_row_[r] == kNobody && augment(r)) ++more;
    return more;
  }

  bool augment(std::uint32_t row) {
    for (std::uint32_t& c = tried_[row]; c < n_; ++c) {
      if (slack(row, c) != 0) continue;
      const std::uint32_t next = of_column_[c];
      if (next != kNobody && (depth_[next] != depth_[row] + 1 || !augment(next))) continue;
      of_row_[row] = c;
      of_column_[c] = row;
      ++c;
      return true;
    }
    return false;
  }

  /// After match_more() found nothing: `depth_` marks the rows that alternating paths reach.
  void fall() {
    std::vector<bool> reached(n_);
    for (std::uint32_t c = 0; c < n_; ++c)
      reached[c] = of_column_[c] != kNobody && depth_[of_column_[c]] >= 0;
    int by = std::numeric_limits<int>::max();
    for (std::uint32_t r = 0; r < n_; ++r)
      if (depth_[r] >= 0)
        for (std::uint32_t c = 0; c < n_; ++c)
          if (!reached[c]) by = std::min(by, slack(r, c));
    for (std::uint32_t i = 0; i < n_; ++i) {
      if (depth_[i] >= 0) row_price_[i] -= by;
      if (reached[i]) column_price_[i] += by;
    }
  }

  std::size_t n_;
  std::vector<Weight> weight_;
  std::vector<int> row_price_;
  std::vector<int> column_price_;
  std::vector<std::uint32_t> of_row_;
  std::vector<std::uint32_t> of_column_;
  std::vector<int> depth_{};
  std::vector<std::uint32_t> tried_{};
};

std::vector<std::uint32_t> shuffled(std::size_t n, Random& random) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

bool has_one_rate(const Fabric& fabric) {
  std::set<std::uint64_t> rates;
  for (const Link& link : fabric.links)
    if (forwards(fabric.nodes[link.ends[0].node]) && forwards(fabric.nodes[link.ends[1].node]))
      rates.insert(link.rate_bps);
  return rates.size() <= 1;
}

std::vector<Sender> senders_of(const Fabric& fabric) {
  std::vector<double> amount(fabric.nodes.size());
  std::uint64_t unit = 0;  // the rate of a link between switches
  for (const Link& link : fabric.links)
    if (forwards(fabric.nodes[link.ends[0].node]) && forwards(fabric.nodes[link.ends[1].node]))
      unit = std::max(unit, link.rate_bps);
  for (const Link& link : fabric.links)
    for (std::size_t e = 0; e < 2; ++e)
      if (!forwards(fabric.nodes[link.ends[1 - e].node]) && unit != 0)
        amount[link.ends[e].node] += static_cast<double>(link.rate_bps) / static_cast<double>(unit);
  std::vector<Sender> senders;
  for (std::uint32_t i = 0; i < amount.size(); ++i)
    if (amount[i] > 0 && forwards(fabric.nodes[i])) senders.push_back({i, amount[i]});
  return senders;
}

std::vector<TrafficMatrix> all_to_all(std::span<const Sender> senders) {
  double all = 0;
  for (const Sender& s : senders) all += s.amount;
  std::vector<TrafficMatrix> traffic;
  traffic.reserve(senders.size() * senders.size());
  for (const Sender& a : senders)
    for (const Sender& b : senders)
      if (a.node != b.node)
        traffic.push_back({a.node, b.node, a.amount * b.amount / (all - a.amount)});
  return traffic;
}

std::vector<TrafficMatrix> uniform_random(std::span<const Sender> senders, double share,
                                          std::uint64_t seed) {
  Random random(seed);
  const std::size_t n = senders.size();
  if (n < 2) return {};
  const auto wanted = static_cast<std::size_t>(std::lround(share * static_cast<double>(n)));
  const std::size_t targets = std::clamp<std::size_t>(wanted, 1, n - 1);
  std::vector<TrafficMatrix> traffic;
  for (std::size_t i = 0; i < n; ++i) {
    auto order = shuffled(n, random);
    std::erase(order, i);
    for (std::size_t t = 0; t < targets; ++t)
      traffic.push_back({senders[i].node, senders[order[t]].node,
                         senders[i].amount / static_cast<double>(targets)});
  }
  return traffic;
}

std::vector<TrafficMatrix> near_worst(const Graph& graph, std::span<const Sender> senders,
                                      std::uint64_t seed, std::size_t threads) {
  const std::size_t n = senders.size();
  if (n < 2) return {};
  Random random(seed);
  const auto rows = shuffled(n, random);
  const auto columns = shuffled(n, random);
  std::vector<Matching::Weight> weights(n * n);
  parallel_for(n, threads, [&](std::size_t r, std::size_t) {
    const auto distance = graph.distances(std::span(&senders[rows[r]].node, 1));
    for (std::size_t c = 0; c < n; ++c) {
      const std::uint16_t hops = distance[senders[columns[c]].node];
      // No node sends to itself: that would cost more than any exchange of two gains.
      weights[r * n + c] = rows[r] == columns[c] ? Matching::Weight{-1000}
                           : hops == Graph::kFar ? Matching::Weight{0}
                                                 : static_cast<Matching::Weight>(hops);
    }
  });
  const auto column_of = Matching(n, std::move(weights)).run();
  std::vector<TrafficMatrix> traffic(n);
  for (std::size_t r = 0; r < n; ++r) {
    const Sender& from = senders[rows[r]];
    traffic[rows[r]] = {from.node, senders[columns[column_of[r]]].node, from.amount};
  }
  return traffic;
}

std::vector<Demand> pairs_of(const Graph& graph, std::span<const TrafficMatrix> traffic) {
  std::vector<std::vector<std::uint32_t>> targets(graph.nodes());
  for (const TrafficMatrix& t : traffic)
    if (t.from != t.to) targets[std::min(t.from, t.to)].push_back(std::max(t.from, t.to));
  std::vector<Demand> demands;
  for (std::uint32_t source = 0; source < targets.size(); ++source) {
    auto& list = targets[source];
    if (list.empty()) continue;
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    demands.push_back({source, std::move(list)});
  }
  return demands;
}

}  // namespace lldp::lab
