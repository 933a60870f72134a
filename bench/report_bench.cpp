// SPDX-License-Identifier: Apache-2.0
// What an answer of the control socket costs: in the daemon as JSON, in the client as text.
#include <benchmark/benchmark.h>

#include "agent/report/report.hpp"
#include "agent/report/text.hpp"

namespace {

using namespace lldp;

/// A switch with a neighbor on every port.
core::Snapshot device(std::int64_t ports) {
  core::Snapshot s{.level = Level::of<1>(),
                   .level_source = core::LevelSource::kHost,
                   .chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 1}),
                   .system_name = "leaf-01.pod-3.example.net"};
  for (std::int64_t i = 1; i <= ports; ++i) {
    const auto high = static_cast<std::uint8_t>(i >> 8);
    const auto low = static_cast<std::uint8_t>(i);
    core::NeighborInfo neighbor{.chassis_id = chassis_id_from_mac({2, 0, 0, 1, high, low}),
                                .system_name = "spine-07.pod-3.example.net",
                                .device_type = DeviceType::kSwitch,
                                .level = Level::of<2>(),
                                .port_type = PortType::kDownlink,
                                .tr = true,
                                .contribution = true,
                                .ttl = 121,
                                .expires_in = std::chrono::seconds(97)};
    neighbor.port_id.subtype = PortId::kInterfaceName;
    neighbor.port_id.octets = "swp" + std::to_string(i);
    s.ports.push_back({.name = "swp" + std::to_string(i),
                       .ifindex = *Ifindex::make(static_cast<std::uint64_t>(i)),
                       .up = true,
                       .type = PortType::kUplink,
                       .order = Order::kUp,
                       .neighbors = {neighbor}});
  }
  return s;
}

const report::Protection kProtection{.backend = "bpf",
                                     .state = report::Protection::State::kActive,
                                     .lossless = {Priority::of<5>(), Priority::of<6>()}};

void ShowJson(benchmark::State& state) {
  const core::Snapshot snapshot = device(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(report::show_json(snapshot, kProtection, {}));
}
BENCHMARK(ShowJson)->Arg(2)->Arg(512)->Unit(benchmark::kMicrosecond);

/// While somebody watches one port of many.
void ShowJsonOfOnePort(benchmark::State& state) {
  const core::Snapshot snapshot = device(state.range(0));
  const std::vector<std::string> port{"swp1"};
  for (auto _ : state) benchmark::DoNotOptimize(report::show_json(snapshot, kProtection, {}, port));
}
BENCHMARK(ShowJsonOfOnePort)->Arg(512)->Unit(benchmark::kMicrosecond);

void ShowText(benchmark::State& state) {
  const std::string json = report::show_json(device(state.range(0)), kProtection, {});
  for (auto _ : state) benchmark::DoNotOptimize(report::show_text(json, {}));
}
BENCHMARK(ShowText)->Arg(2)->Arg(512)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
