// SPDX-License-Identifier: Apache-2.0
// What one LLDPDU costs to decode and validate, well-formed and broken, and to write. The floor is
// a walk over the TLVs' headers that looks at nothing else.
#include <benchmark/benchmark.h>

#include "tests/support/lldpdus.hpp"
#include "tlv/describe.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/table.hpp"

namespace lldp {
namespace {

constexpr tlv::Oui kOuis[] = {{0x02, 0x4c, 0x56}};
constexpr tlv::Dialect kDialect{kOuis};

std::size_t walk_headers(ByteSpan pdu) {
  std::size_t sum = 0;
  while (pdu.size() >= 2) {
    const std::size_t length = static_cast<std::size_t>(pdu[0] & 1) << 8 | pdu[1];
    if (length > pdu.size() - 2) break;
    sum += pdu[0] + length;
    if (pdu[0] >> 1 == 0) break;
    pdu = pdu.subspan(2 + length);
  }
  return sum;
}

void HeaderWalk(benchmark::State& state) {
  Bytes pdu = support::typical_lldpdu();
  for (auto _ : state) {
    benchmark::DoNotOptimize(pdu.data());
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(walk_headers(pdu));
  }
}
BENCHMARK(HeaderWalk);

void decode(benchmark::State& state, const Bytes& pdu) {
  for (auto _ : state) {
    const std::uint8_t* data = pdu.data();
    benchmark::DoNotOptimize(data);
    auto view = tlv::decode({data, pdu.size()}, kDialect);
    benchmark::DoNotOptimize(view);
  }
  state.counters["octets"] = static_cast<double>(pdu.size());
}

void DecodeTypical(benchmark::State& state) { decode(state, support::typical_lldpdu()); }
BENCHMARK(DecodeTypical);

void DecodeBroken(benchmark::State& state) {
  const auto how = static_cast<support::Broken>(state.range(0));
  decode(state, support::broken_lldpdu(how));
  state.SetLabel(support::name_of(how));
}
BENCHMARK(DecodeBroken)->DenseRange(0, support::kEveryBroken.size() - 1);

/// A thousand neighbors' frames in turn, so that no branch is learned from one frame alone.
void DecodeThousandNeighbors(benchmark::State& state) {
  std::vector<Bytes> pdus;
  for (std::uint16_t n = 0; n < 1000; ++n) pdus.push_back(support::typical_lldpdu(n, n));
  std::size_t i = 0;
  for (auto _ : state) {
    auto view = tlv::decode(pdus[i], kDialect);
    benchmark::DoNotOptimize(view);
    i = i + 1 == pdus.size() ? 0 : i + 1;
  }
}
BENCHMARK(DecodeThousandNeighbors);

void Encode(benchmark::State& state) {
  const MacAddress mac{2, 0, 0, 0, 0, 1};
  const tlv::Claim claim{DeviceType::kSwitch, Level::of<1>(), PortType::kUplink};
  Bytes out;
  for (auto _ : state) {
    out.clear();
    tlv::LldpduWriter(out, 1500)
        .add(tlv::ChassisIdTlv{ChassisId::kMacAddress, ByteSpan(mac)})
        .add(tlv::PortIdTlv{PortId::kInterfaceName, as_octets("swp1")})
        .add(tlv::Ttl{121})
        .add(tlv::SystemName{"leaf-001.dc1.example.net"})
        .add(tlv::SystemDescription{"Debian GNU/Linux 12 (bookworm)"})
        .add(tlv::Capabilities{.system = 0x14, .enabled = 0x14})
        .add(tlv::to_tr(claim))
        .add(tlv::to_contribution(claim), kOuis[0])
        .end();
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.counters["octets"] = static_cast<double>(out.size());
}
BENCHMARK(Encode);

void Describe(benchmark::State& state) {
  const Bytes pdu = support::typical_lldpdu();
  for (auto _ : state) {
    tlv::TlvWalk walk(pdu, kDialect);
    for (tlv::Tlv t; walk.next(t);) {
      auto fields = t.row()->describe(t.information);
      benchmark::DoNotOptimize(fields);
    }
  }
}
BENCHMARK(Describe);

}  // namespace
}  // namespace lldp

BENCHMARK_MAIN();
