// SPDX-License-Identifier: Apache-2.0
// What a received frame, a change of level and a snapshot cost in the core.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <memory>
#include <vector>

#include "agent/core/agent.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/writer.hpp"

namespace {

using namespace lldp;
using std::chrono::milliseconds;

/// As a switch sends it: about 200 octets.
Bytes frame(std::uint8_t chassis, std::uint8_t level, std::uint8_t variant = 0) {
  Bytes out{0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 1, 0x88, 0xcc};
  const MacAddress mac{2, 0, 0, 0, 1, chassis};
  tlv::LldpduWriter(out, 1500)
      .add(tlv::ChassisIdTlv{ChassisId::kMacAddress, ByteSpan(mac)})
      .add(tlv::PortIdTlv{PortId::kInterfaceName, as_octets("swp12")})
      .add(tlv::Ttl{121})
      .add(tlv::Tr{1, level, 255})
      .add(tlv::Contribution{1, level, 0}, tlv::Oui{0x02, 0x4c, 0x56})
      .add(tlv::Capabilities{4, 4})
      .add(tlv::SystemName{"spine-07.pod-3.example.net"})
      .add(tlv::SystemDescription{"Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64 #1 SMP "
                                  "PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) x86_64"})
      .end();
  out[out.size() - 3] = static_cast<std::uint8_t>('0' + variant);
  return out;
}

struct Device {
  explicit Device(unsigned of_ports) : ports(of_ports), agent({}, {}, now) {
    for (unsigned i = 1; i <= ports; ++i) {
      agent.set_link({.ifindex = *Ifindex::make(i),
                      .name = "swp" + std::to_string(i),
                      .address = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(i)},
                      .up = true},
                     now, out);
      agent.receive(*Ifindex::make(i), frame(static_cast<std::uint8_t>(i), 3), now, out);
      out.clear();
    }
    agent.advance(now, out);
    out.clear();
  }
  /// Lets a newcomer's four seconds go by, and its rules come into force.
  void settle() {
    for (int turn = 0; turn < 3; ++turn) {
      agent.advance(now += std::chrono::seconds(2), out);
      confirm();
    }
  }
  /// The data plane has in force what it is asked for.
  void confirm() {
    for (unsigned i = 1; i <= ports; ++i)
      agent.in_force(*Ifindex::make(i), agent.request(*Ifindex::make(i)).generation, now, out);
    out.clear();
  }
  /// Lets time go by, and does what is due when it is due; how many frames went out.
  std::size_t pass(Duration time) {
    std::size_t sent = 0;
    for (const TimePoint end = now + time;;) {
      now = std::min(agent.next_deadline().value_or(end), end);
      if (now == end) return sent;
      agent.advance(now, out);
      sent += out.sends.size();
      out.clear();
    }
  }
  void receive(unsigned port, const Bytes& f) {
    agent.receive(*Ifindex::make(port), f, now += milliseconds(1), out);
    out.clear();
  }
  unsigned ports;
  TimePoint now{std::chrono::seconds(1000)};
  core::Agent agent;
  core::Actions out{};
};

struct SettledDevice : Device {
  explicit SettledDevice(unsigned of_ports) : Device(of_ports) { settle(); }
};

void ReceiveSame(benchmark::State& state) {
  SettledDevice d(512);
  const Bytes f = frame(7, 3);
  for (auto _ : state) d.receive(7, f);
}
BENCHMARK(ReceiveSame);

void ReceiveChanging(benchmark::State& state) {
  SettledDevice d(512);
  const Bytes f[] = {frame(7, 3, 0), frame(7, 3, 1)};
  std::size_t i = 0;
  for (auto _ : state) d.receive(7, f[i++ % 2]);
}
BENCHMARK(ReceiveChanging);

/// Thirty neighbors on one port, each changing what it says of itself (0) or of its level (1).
void ReceiveManyNeighbors(benchmark::State& state) {
  SettledDevice d(512);
  std::vector<Bytes> frames;
  for (std::uint8_t variant = 0; variant < 2; ++variant) {
    for (std::uint8_t i = 0; i < 30; ++i) {
      frames.push_back(state.range(0) == 0 ? frame(i, 3, variant)
                                           : frame(i, static_cast<std::uint8_t>(3 + variant)));
    }
  }
  std::size_t i = 0;
  for (auto _ : state) d.receive(7, frames[i++ % frames.size()]);
}
BENCHMARK(ReceiveManyNeighbors)->ArgName("level")->Arg(0)->Arg(1);

void ReceiveMalformed(benchmark::State& state) {
  SettledDevice d(512);
  Bytes f = frame(7, 3);
  f[14 + 2 + 7 + 2 + 6] = 8;  // no Time To Live in the third place
  for (auto _ : state) d.receive(7, f);
}
BENCHMARK(ReceiveMalformed);

/// A newcomer on a port that is full.
void ReceiveRefused(benchmark::State& state) {
  SettledDevice d(1);
  for (std::uint8_t i = 0; i < 40; ++i) d.receive(1, frame(i, 3));
  const Bytes f = frame(99, 3);
  for (auto _ : state) d.receive(1, f);
}
BENCHMARK(ReceiveRefused);

/// One frame that takes the level from 4 to 2: all ports turn from downlinks into uplinks, their
/// new rules come into force, and each tells its neighbor, which some do a moment later. `frames`:
/// as many as there are ports, or this measures another thing.
void LevelChangeTold(benchmark::State& state) {
  const Bytes f = frame(1, 1);
  std::size_t sent = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto d = std::make_unique<SettledDevice>(static_cast<unsigned>(state.range(0)));
    d->pass(std::chrono::minutes(1));  // the credit is full again
    state.ResumeTiming();
    d->receive(1, f);
    d->confirm();
    sent += d->pass(std::chrono::seconds(1));
    state.PauseTiming();
    d.reset();
    state.ResumeTiming();
  }
  state.counters["frames"] =
      benchmark::Counter(static_cast<double>(sent), benchmark::Counter::kAvgIterations);
}
BENCHMARK(LevelChangeTold)->Arg(512)->Iterations(200)->Unit(benchmark::kMicrosecond);

void TakeSnapshot(benchmark::State& state) {
  SettledDevice d(512);
  for (auto _ : state) benchmark::DoNotOptimize(d.agent.snapshot(d.now));
}
BENCHMARK(TakeSnapshot)->Unit(benchmark::kMicrosecond);

/// The time is that of a start: links, what is heard and sent first. The memory is what a port with
/// its neighbor takes of the heap once its rules are in force.
void Memory(benchmark::State& state) {
  const auto ports = static_cast<unsigned>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Device(ports));
  constexpr std::size_t kDevices = 16;  // beside these, what free() keeps for the next is little
  std::vector<SettledDevice> devices;
  devices.reserve(kDevices);
  const std::size_t before = mallinfo2().uordblks;
  while (devices.size() < kDevices) {
    devices.emplace_back(ports);
    devices.back().out = {};  // the owner's: it has one for all that it does
  }
  state.counters["octets/port"] =
      static_cast<double>(mallinfo2().uordblks - before) / kDevices / ports;
}
BENCHMARK(Memory)->Arg(2)->Arg(512)->Unit(benchmark::kMicrosecond);

/// A minute of virtual time in which nothing happens: 512 ports send every 30 s.
void IdleMinute(benchmark::State& state) {
  SettledDevice d(512);
  for (auto _ : state) d.pass(std::chrono::minutes(1));
}
BENCHMARK(IdleMinute)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
