// SPDX-License-Identifier: Apache-2.0
// The proof on a fat-tree k = 32 and on 2,000-switch random expanders of degree 24, for every kind
// of rules. Peak memory of the whole process, fabric included, stands beside each time; run one
// case at a time (--benchmark_filter) to have it for that case alone.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/topology/forwarding.hpp"
#include "lab/topology/generators.hpp"
#include "qos/proof.hpp"

namespace lldp {
namespace {

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void prove_it(benchmark::State& state, const qos::Forwarding& fabric, qos::OnTurn on_turn) {
  const qos::Policy policy;
  qos::Proof proof;
  for (auto _ : state) proof = prove(fabric, policy, on_turn);
  state.counters["buffers"] = static_cast<double>(proof.buffers);
  state.counters["dependencies"] = static_cast<double>(proof.dependencies);
  state.counters["cycle"] = static_cast<double>(proof.cycle.size());
  state.counters["peak_MB"] = peak_memory_mb();
}

/// All that `prove FABRIC` does after reading the file, with hosts and names.
void fat_tree(benchmark::State& state, qos::OnTurn on_turn) {
  const auto fabric = lab::fat_tree(32);
  const auto graph = lab::switch_graph(*fabric, lab::Span::kLevels);
  prove_it(state, graph->forwarding, on_turn);
}

/// Random regular graph by the configuration model, without self-links and parallel links: stubs
/// that collide are swapped with others. Levels 1 to `levels` at random.
qos::Forwarding expander(std::size_t switches, std::size_t degree, std::size_t levels) {
  std::mt19937 random(1);
  std::vector<Position> positions;
  qos::Forwarding fabric;
  for (std::size_t i = 0; i < switches; ++i) {
    fabric.switches.push_back("s" + std::to_string(i));
    positions.push_back({*Level::make(1 + random() % levels),
                         chassis_id_from_mac({2, 0, 0, 0, static_cast<std::uint8_t>(i >> 8),
                                              static_cast<std::uint8_t>(i)})});
  }
  std::vector<std::size_t> stubs;
  for (std::size_t i = 0; i < switches * degree; ++i) stubs.push_back(i % switches);
  std::shuffle(stubs.begin(), stubs.end(), random);
  std::set<std::pair<std::size_t, std::size_t>> cabled;
  while (stubs.size() >= 2) {
    const std::size_t a = stubs.back();
    const std::size_t b = stubs[stubs.size() - 2];
    if (a == b || !cabled.insert(std::minmax(a, b)).second) {
      if (stubs.size() < degree) break;  // what is left over stays without a cable
      std::swap(stubs[stubs.size() - 2], stubs[random() % (stubs.size() - 2)]);
      continue;
    }
    stubs.resize(stubs.size() - 2);
    fabric.links.push_back({a,
                            b,
                            {order_of_port(positions[a], positions[b]), qos::Layer{}},
                            {order_of_port(positions[b], positions[a]), qos::Layer{}}});
  }
  return fabric;
}

void random_expander(benchmark::State& state, std::size_t levels, qos::OnTurn on_turn) {
  prove_it(state, expander(2000, 24, levels), on_turn);
}

using enum qos::OnTurn;
BENCHMARK_CAPTURE(fat_tree, k32_down_up, kChangesClass)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fat_tree, k32_none, kStays)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fat_tree, k32_stay_in_last, kStaysInLastClass)->Unit(benchmark::kMillisecond);
// One level, as where every switch has hosts: the chassis IDs alone make the order.
BENCHMARK_CAPTURE(random_expander, level_1_down_up, 1, kChangesClass)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(random_expander, levels_8_down_up, 8, kChangesClass)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(random_expander, levels_8_none, 8, kStays)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(random_expander, levels_8_stay_in_last, 8, kStaysInLastClass)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lldp

BENCHMARK_MAIN();
