// SPDX-License-Identifier: Apache-2.0
// The sai back end while the vendor's library hangs: how long the daemon's loop is held up by it
// (5 ms at most), and how long after a change the hang is told (2 s at most). The library is the
// tests' own.
#include <benchmark/benchmark.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "bench/bars.hpp"
#include "qos/policy.hpp"
#include "tests/dataplane/sai_box.hpp"

namespace lldp::dataplane {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

PortRef port_of(int i) {
  return {*Ifindex::make(7U + static_cast<unsigned>(i)), SaiBox::name_of(i)};
}
qos::Ruleset rules_of(Order order) { return qos::compile(qos::Policy(), {.order = order}); }

struct Hang {
  Seconds slowest{};  ///< of what the daemon's loop called meanwhile
  Seconds told{};
};

/// One change of a port, in whose middle the library hangs for 4 s.
std::optional<Hang> hang(SaiBox& box, Backend& backend, Order order) {
  const auto plan = backend.plan(port_of(1), rules_of(order));
  if (!plan) return std::nullopt;
  Hang out;
  box.chip().hang = 4000;
  const auto begun = Clock::now();
  const auto timed = [&](const auto& call) {
    const auto asked = Clock::now();
    call();
    out.slowest = std::max<Seconds>(out.slowest, Clock::now() - asked);
  };
  timed([&] { backend.apply({.ports = {*plan}}); });
  while (out.told == Seconds{} && Clock::now() < begun + std::chrono::seconds(10)) {
    pollfd ready{.fd = backend.events(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 10);
    timed([&] {
      if (!backend.take_events().outcomes.empty()) out.told = Clock::now() - begun;
    });
    timed([&] { (void)backend.verify(port_of(0), rules_of(Order::kUp)); });
  }
  while (backend.down() && Clock::now() < begun + std::chrono::seconds(60)) {
    pollfd ready{.fd = backend.events(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 10);
    (void)backend.take_events();
  }
  return out;
}

void measure(benchmark::State& state, Seconds Hang::*what) {
  SaiBox box;
  auto options = box.options();
  auto backend = options ? make_backend("sai", {.sai = *options}) : fail(options.error());
  if (!backend) return state.SkipWithError("no process with the library");
  bool up = false;
  for ([[maybe_unused]] auto _ : state) {
    const auto one = hang(box, **backend, (up = !up) ? Order::kUp : Order::kDown);
    if (!one || one->told == Seconds{}) return state.SkipWithError("the hang was not told");
    state.SetIterationTime(((*one).*what).count());
  }
}
void held_up_by_a_hang(benchmark::State& state) { measure(state, &Hang::slowest); }
void told_of_a_hang(benchmark::State& state) { measure(state, &Hang::told); }
BENCHMARK(held_up_by_a_hang)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(3);
BENCHMARK(told_of_a_hang)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(3);

}  // namespace
}  // namespace lldp::dataplane

int main(int argc, char** argv) {
  return lldp::bench::run(argc, argv, {{"held_up_by_a_hang", 5}, {"told_of_a_hang", 2000}});
}
