// SPDX-License-Identifier: Apache-2.0
// The sonic back end beside hiredis alone: 64 ports in one transaction, and what one port costs.
// Starts a redis-server of its own in a temporary directory.
#include <benchmark/benchmark.h>

#include <memory>

#include "bench/bars.hpp"
#include "qos/policy.hpp"
#include "tests/dataplane/sonic_box.hpp"

namespace lldp::dataplane {
namespace {

constexpr int kPorts = 64;

PortRef port_of(int i) { return {*Ifindex::make(7U + static_cast<unsigned>(i)), Box::name_of(i)}; }
qos::Ruleset rules_of(int i, bool turned) {
  const bool up = (i % 2 == 0) != turned;
  return qos::compile(qos::Policy(), {.order = up ? Order::kUp : Order::kDown});
}

std::unique_ptr<Backend> open(benchmark::State& state, const Box& box) {
  auto backend = box.runs() ? make_backend("sonic", {.sonic = box.options()})
                            : Result<std::unique_ptr<Backend>>(fail(Error{}));
  if (!backend) state.SkipWithError("needs redis-server");
  return backend ? std::move(*backend) : nullptr;
}

/// From the plan of the device to the outcomes of all ports, read back.
void change(benchmark::State& state, int ports, bool from_nothing) {
  const Box box(kPorts);
  const auto backend = open(state, box);
  if (!backend) return;
  bool turned = false;
  for ([[maybe_unused]] auto _ : state) {
    Plan plan;
    for (int i = 0; i < ports; ++i) {
      auto one = backend->plan(port_of(i), rules_of(i, turned));
      if (!one || one->empty()) return state.SkipWithError("nothing to change");
      plan.ports.push_back(std::move(*one));
    }
    if (!finish(*backend, plan)) return state.SkipWithError("refused");
    turned = !turned;
    if (!from_nothing) continue;
    state.PauseTiming();
    turned = false;
    Plan removal;
    for (int i = 0; i < ports; ++i) removal.ports.push_back(*backend->plan_removal(port_of(i)));
    if (!finish(*backend, removal)) return state.SkipWithError("not removed");
    state.ResumeTiming();
  }
}
void from_nothing(benchmark::State& state) { change(state, kPorts, true); }
void all_turn(benchmark::State& state) { change(state, kPorts, false); }
void one_turns(benchmark::State& state) { change(state, 1, false); }
BENCHMARK(from_nothing)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(all_turn)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(one_turns)->Unit(benchmark::kMillisecond)->UseRealTime();

/// What was read back: nothing changes.
void verify_all(benchmark::State& state) {
  Box box(kPorts);
  const auto backend = open(state, box);
  if (!backend) return;
  Plan plan;
  for (int i = 0; i < kPorts; ++i)
    plan.ports.push_back(*backend->plan(port_of(i), rules_of(i, false)));
  if (!finish(*backend, plan)) return state.SkipWithError("refused");
  for ([[maybe_unused]] auto _ : state)
    for (int i = 0; i < kPorts; ++i)
      benchmark::DoNotOptimize(backend->verify(port_of(i), rules_of(i, false)));
}
BENCHMARK(verify_all)->Unit(benchmark::kMillisecond);

/// The rows that the back end writes for 64 ports, by a pipeline of hiredis and nothing else: one
/// transaction, and all of the tables read once.
void raw_pipeline(benchmark::State& state) {
  Box box(kPorts);
  const auto backend = open(state, box);
  if (!backend) return;
  Plan plan;
  for (int i = 0; i < kPorts; ++i)
    plan.ports.push_back(*backend->plan(port_of(i), rules_of(i, false)));
  if (!finish(*backend, plan)) return state.SkipWithError("refused");
  std::vector<std::vector<std::string>> commands{{"SELECT", std::to_string(kConfig)}, {"MULTI"}};
  for (const char* pattern : {"LLDP_LEVEL|*", "*_MAP|LLDP_LEVEL*", "PORT_QOS_MAP|*"})
    for (const std::string& key : box.keys(kConfig, pattern)) {
      std::vector<std::string> set{"HSET", key};
      for (const auto& [name, value] : box.row(kConfig, key)) set.insert(set.end(), {name, value});
      commands.push_back(std::move(set));
    }
  commands.push_back({"EXEC"});
  for (const char* pattern : {"PORT|*", "PORT_QOS_MAP|*", "LLDP_LEVEL|*", "*_MAP|*"})
    for (const std::string& key : box.keys(kConfig, pattern)) commands.push_back({"HGETALL", key});
  redisContext* context = ::redisConnectUnix(box.socket().c_str());
  for ([[maybe_unused]] auto _ : state) {
    for (const auto& command : commands) {
      std::vector<const char*> at;
      std::vector<std::size_t> sizes;
      for (const std::string& word : command) {
        at.push_back(word.data());
        sizes.push_back(word.size());
      }
      ::redisAppendCommandArgv(context, static_cast<int>(at.size()), at.data(), sizes.data());
    }
    for (std::size_t i = 0; i < commands.size(); ++i) {
      void* reply = nullptr;
      if (::redisGetReply(context, &reply) != REDIS_OK) return state.SkipWithError("lost");
      ::freeReplyObject(reply);
    }
  }
  ::redisFree(context);
}
BENCHMARK(raw_pipeline)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace lldp::dataplane

int main(int argc, char** argv) {
  return lldp::bench::run(argc, argv, {{"from_nothing", 20}, {"all_turn", 20}});
}
