// SPDX-License-Identifier: Apache-2.0
// Packets under PFC with go-back-N, an ACK per frame, DCQCN and ECN, on one core: the three set-ups
// in which simulators of lossless Ethernet are compared (100 Gb/s, 1 us, 1000 octets of payload).
// The CPU time is the engine's, from the first frame to the last flow's end; peak memory of the
// whole process stands beside it: run one case at a time (--benchmark_filter) to have it for that
// alone.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>

#include "lab/topology/generators.hpp"
#include "sim/packets/detector/none.hpp"
#include "sim/packets/engine.hpp"
#include "sim/packets/flow_control/pfc.hpp"
#include "sim/packets/run.hpp"
#include "sim/packets/workload/traffic.hpp"

namespace lldp::lab::packets {
namespace {

/// Of this process, so that what else the machine does is not counted.
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double wall_seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

Result<Plan> plan_of(std::size_t k, const char* traffic, std::uint64_t octets) {
  Plan plan;
  plan.fabric = *fat_tree(k);
  plan.settings.ecn = {
      .on = true, .kmin_octets = 100'000, .kmax_octets = 400'000, .pmax_permille = 200};
  plan.settings.dcqcn.on = true;
  plan.settings.pfc.xoff_octets = 200'000;
  plan.settings.pfc.xon_octets = 197'000;
  if (auto added = add_traffic(plan, {.kind = traffic, .octets = octets}); !added)
    return fail(added.error());
  return plan;
}

struct Took {
  double wall = 0;
  double cpu = 0;
  Counters count{};
  Picoseconds simulated = 0;
};
/// Until all has arrived.
Took run_once(const Plan& plan, std::size_t threads) {
  auto prepared = prepare(plan);
  if (!prepared) return {};
  Engine<Pfc, NoDetector> engine(std::move(prepared->network), threads, false);
  const double wall = wall_seconds();
  const double cpu = cpu_seconds();
  while (engine.network().unfinished != 0)
    engine.run_until(engine.network().now + 100 * kMicrosecond);
  return {wall_seconds() - wall, cpu_seconds() - cpu, engine.network().count, engine.network().now};
}

void simulate(benchmark::State& state, std::size_t k, const char* traffic, std::uint64_t octets) {
  const auto plan = plan_of(k, traffic, octets);
  if (!plan) return state.SkipWithError("the traffic cannot be");
  double hops = 0;
  double seconds = 0;
  for (auto _ : state) {
    const Took took = run_once(*plan, 1);
    if (took.simulated == 0) return state.SkipWithError("the plan cannot be");
    state.SetIterationTime(took.cpu);
    hops += static_cast<double>(took.count.hops);
    seconds += took.cpu;
    state.counters["events"] = static_cast<double>(took.count.events);
    state.counters["drops"] = static_cast<double>(took.count.drops);
    state.counters["pauses"] = static_cast<double>(took.count.pauses);
    state.counters["simulated_us"] = static_cast<double>(took.simulated / kMicrosecond);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["hops_per_s"] = hops / seconds;
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

/// The same on one thread and on two, in turn, by the clock on the wall: the best of each. It takes
/// two processors that nobody else wants; who else runs is said by `load`.
void two_threads(benchmark::State& state, std::size_t k, const char* traffic,
                 std::uint64_t octets) {
  const auto plan = plan_of(k, traffic, octets);
  if (!plan) return state.SkipWithError("the traffic cannot be");
  Took best[2] = {{.wall = 1e9}, {.wall = 1e9}};
  for (auto _ : state) {
    for (const std::size_t threads : {1U, 2U}) {
      const Took took = run_once(*plan, threads);
      if (took.simulated == 0) return state.SkipWithError("the plan cannot be");
      if (took.wall < best[threads - 1].wall) best[threads - 1] = took;
      if (threads == 2) state.SetIterationTime(took.wall);
    }
    if (best[0].count.digest != best[1].count.digest)
      return state.SkipWithError("two threads have another result");
  }
  double load = 0;
  getloadavg(&load, 1);
  state.counters["wall_1"] = best[0].wall;
  state.counters["wall_2"] = best[1].wall;
  state.counters["cpu_1"] = best[0].cpu;
  state.counters["cpu_2"] = best[1].cpu;
  state.counters["ratio"] = best[0].wall / best[1].wall;
  state.counters["load"] = load;
}

BENCHMARK_CAPTURE(simulate, k4_all_to_all_240x1MB, 4, "all-to-all", 1'000'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, k8_permutation_128x1MB, 8, "permutation", 1'000'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, k8_all_to_all_16256x100KB, 8, "all-to-all", 100'000)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(two_threads, k4_all_to_all_240x1MB, 4, "all-to-all", 1'000'000)
    ->UseManualTime()
    ->Iterations(5)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(two_threads, k8_permutation_128x1MB, 8, "permutation", 1'000'000)
    ->UseManualTime()
    ->Iterations(8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(two_threads, k8_all_to_all_16256x100KB, 8, "all-to-all", 100'000)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lldp::lab::packets

BENCHMARK_MAIN();
