// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/counts.hpp"

#include <algorithm>
#include <array>

namespace lldp::lab {
namespace {

/// What a walk is to look for, if anything will do.
std::vector<std::uint16_t> anywhere(const Graph& graph) {
  std::vector<std::uint16_t> least(graph.nodes());
  return least;
}

/// Positions in `nodes`, by node; those not in it have none.
std::vector<std::uint32_t> positions(const Graph& graph, std::span<const std::uint32_t> nodes) {
  std::vector<std::uint32_t> at(graph.nodes(), ~0U);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) at[nodes[i]] = i;
  return at;
}

}  // namespace

UpDownCounts count_updown_paths(const Graph& graph, std::span<const std::uint32_t> nodes,
                                std::size_t max_hops, std::size_t at_most, std::size_t threads,
                                const Tell& tell) {
  const auto at = positions(graph, nodes);
  const auto near = anywhere(graph);
  const std::size_t most = at_most == 0 ? ~std::size_t{0} : at_most;
  std::vector<std::array<std::uint64_t, 3>> sums(nodes.size());
  parallel_for(
      nodes.size(), threads,
      [&](std::size_t i, std::size_t) {
        PathWalker walker(graph);
        std::vector<std::size_t> count(nodes.size());
        for (std::size_t hops = 1; hops <= max_hops; ++hops) {
          std::uint64_t seen = 0;
          std::uint64_t counted = 0;
          walker.walk(nodes[i], hops, 0, near,
                      [&](std::uint32_t target, std::span<const Arc>, std::size_t) {
                        ++seen;
                        const std::uint32_t t = at[target];
                        if (t == ~0U || t < i || count[t] >= most) return;
                        ++count[t];
                        ++counted;
                      });
          if (seen == 0) break;
          sums[i][0] += counted;
          if (hops <= 6) sums[i][1] += counted;
          if (hops <= 4) sums[i][2] += counted;
        }
      },
      tell);
  std::array<std::uint64_t, 3> total{};
  for (const auto& s : sums)
    for (std::size_t j = 0; j < 3; ++j) total[j] += s[j];
  const double pairs = pairs_of(nodes.size());
  return {static_cast<double>(total[0]) / pairs, static_cast<double>(total[1]) / pairs,
          static_cast<double>(total[2]) / pairs};
}

double paths_to_look_at(const Graph& graph, std::span<const std::uint32_t> nodes, std::size_t k,
                        std::size_t max_turns, std::size_t threads, const Tell& tell) {
  const auto at = positions(graph, nodes);
  std::vector<double> sums(nodes.size());
  parallel_for(
      nodes.size(), threads,
      [&](std::size_t i, std::size_t) {
        PathWalker walker(graph);
        struct Count {
          std::uint64_t all = 0;
          std::uint64_t good = 0;
        };
        std::vector<Count> shorter(nodes.size());
        std::vector<std::uint32_t> open(nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                        nodes.end());
        for (std::size_t hops = 1; hops < graph.nodes() && !open.empty(); ++hops) {
          std::vector<Count> count(nodes.size());
          walker.walk(nodes[i], hops, kAnyTurns, graph.distances(open),
                      [&](std::uint32_t target, std::span<const Arc>, std::size_t turns) {
                        Count& c = count[at[target]];
                        ++c.all;
                        if (turns <= max_turns) ++c.good;
                      });
          std::erase_if(open, [&](std::uint32_t t) {
            Count& before = shorter[at[t]];
            const Count& c = count[at[t]];
            if (before.good + c.good < k) {
              before.all += c.all;
              before.good += c.good;
              return false;
            }
            // Where the one that completes K stands on average in a random order.
            sums[i] += static_cast<double>(before.all) + static_cast<double>(k - before.good) *
                                                             static_cast<double>(c.all + 1) /
                                                             static_cast<double>(c.good + 1);
            return true;
          });
        }
      },
      tell);
  double total = 0;
  for (const double s : sums) total += s;
  return total / pairs_of(nodes.size());
}

PathLengths path_lengths(std::span<const SourcePaths> paths, std::size_t first) {
  PathLengths lengths{.shortest = 1e300};
  double sum = 0;
  std::size_t pairs = 0;
  for (const SourcePaths& s : paths) {
    for (std::size_t t = 0; t < s.targets.size(); ++t) {
      const std::size_t n = std::min<std::size_t>(first, s.first[t + 1] - s.first[t]);
      if (n == 0) {
        ++lengths.without;
        continue;
      }
      double hops = 0;
      for (std::size_t p = s.first[t]; p < s.first[t] + n; ++p) hops += s.hops[p];
      const double average = hops / static_cast<double>(n);
      lengths.longest = std::max(lengths.longest, average);
      lengths.shortest = std::min(lengths.shortest, average);
      sum += average;
      ++pairs;
    }
  }
  if (pairs == 0) return {.without = lengths.without};
  lengths.average = sum / static_cast<double>(pairs);
  return lengths;
}

}  // namespace lldp::lab
