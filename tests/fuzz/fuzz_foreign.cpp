// SPDX-License-Identifier: Apache-2.0
// Files of other simulators: HPCC's topology and flows, htsim's connection matrices, GOAL traces.
// What is taken can be run: every flow has two ends, and begins by its time or by the program.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lab/topology/hpcc.hpp"
#include "sim/packets/workload/foreign.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp;
  using namespace lldp::lab::packets;
  static const lab::Fabric fabric = *lab::fabric_from_hpcc(
      "6 2 5\n4 5\n0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 5 1Gbps 1us 0\n4 5 1Gbps "
      "1us 0\n");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto one_line = [](const Error& e) {
    if (to_string(e).find('\n') != std::string::npos) std::abort();
  };
  if (const auto made = lab::fabric_from_hpcc(text); !made) one_line(made.error());
  Plan plan{.fabric = fabric};
  if (const auto added = add_foreign_traffic(plan, text, HostTransport::kGoBackN); !added) {
    one_line(added.error());
    return 0;
  }
  std::vector<bool> begun(plan.flows.size());
  for (std::size_t f = 0; f < plan.flows.size(); ++f) {
    const PlannedFlow& flow = plan.flows[f];
    if (flow.spec.octets == 0 || flow.way.from == flow.way.to) std::abort();
    begun[f] = flow.spec.start != kNever;
  }
  for (const Program::Operation& o : plan.program.operations) {
    if (o.kind == Program::Kind::kSend) begun.at(o.flow) = true;
    if (o.kind == Program::Kind::kReceive && o.channel >= plan.program.channels) std::abort();
    if (o.kind == Program::Kind::kCompute && o.lane >= plan.program.lanes) std::abort();
    for (const auto* list : {&o.after, &o.with_start})
      for (const std::uint32_t next : *list)
        if (next >= plan.program.operations.size()) std::abort();
  }
  for (const bool b : begun)
    if (!b) std::abort();
  return 0;
}
