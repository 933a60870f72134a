// SPDX-License-Identifier: Apache-2.0
// Packets under PFC with go-back-N, an ACK per frame, DCQCN and ECN, on one core: the three set-ups
// in which simulators of lossless Ethernet are compared (100 Gb/s, 1 us, 1000 octets of payload).
// The time is the engine's, from the first frame to the last flow's end; peak memory of the whole
// process stands beside it: run one case at a time (--benchmark_filter) to have it for that alone.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>

#include "lab/packets/detector/none.hpp"
#include "lab/packets/engine.hpp"
#include "lab/packets/flow_control/pfc.hpp"
#include "lab/packets/run.hpp"
#include "lab/packets/workload/traffic.hpp"
#include "lab/topology/generators.hpp"

namespace lldp::lab::packets {
namespace {

/// Of this process, so that what else the machine does is not counted.
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void simulate(benchmark::State& state, std::size_t k, const char* traffic, std::uint64_t octets) {
  Plan plan;
  plan.fabric = *fat_tree(k);
  plan.settings.ecn = {
      .on = true, .kmin_octets = 100'000, .kmax_octets = 400'000, .pmax_permille = 200};
  plan.settings.dcqcn.on = true;
  plan.settings.pfc.xoff_octets = 200'000;
  plan.settings.pfc.xon_octets = 197'000;
  if (const auto added = add_traffic(plan, {.kind = traffic, .octets = octets}); !added)
    return state.SkipWithError("the traffic cannot be");
  double hops = 0;
  double seconds = 0;
  for (auto _ : state) {
    auto prepared = prepare(plan);
    if (!prepared) return state.SkipWithError("the plan cannot be");
    Engine<Pfc, NoDetector> engine(std::move(prepared->network));
    const double begin = cpu_seconds();
    const auto& flows = engine.network().flows;
    while (
        std::any_of(flows.begin(), flows.end(), [](const Flow& f) { return f.finish == kNever; }))
      engine.run_until(engine.network().now + 100 * kMicrosecond);
    const double took = cpu_seconds() - begin;
    state.SetIterationTime(took);
    hops += static_cast<double>(engine.network().count.hops);
    seconds += took;
    state.counters["events"] = static_cast<double>(engine.network().count.events);
    state.counters["drops"] = static_cast<double>(engine.network().count.drops);
    state.counters["pauses"] = static_cast<double>(engine.network().count.pauses);
    state.counters["simulated_us"] = static_cast<double>(engine.network().now / kMicrosecond);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["hops_per_s"] = hops / seconds;
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
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

}  // namespace
}  // namespace lldp::lab::packets

BENCHMARK_MAIN();
