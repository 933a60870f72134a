// SPDX-License-Identifier: Apache-2.0
// Digests of runs, as they were when they were written down: a change that only makes a run faster
// or smaller leaves every frame where and when it was. A change of the model on purpose says so in
// the commit, and writes the new ones.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lab/topology/generators.hpp"
#include "sim/packets/run.hpp"
#include "sim/packets/workload/traffic.hpp"

namespace lldp::lab::packets {
namespace {

std::string digest_of(const Plan& plan) {
  const auto o = run(plan);
  return o ? fmt::format("{:016x}", o->count.digest) : to_string(o.error());
}

struct Kept {
  std::string_view name{};
  Picoseconds duration = 0;
  ProtectionScheme protection = ProtectionScheme::kDownUp;
  FlowControlKind flow_control = FlowControlKind::kPfc;
  std::string_view digest{};
};
constexpr Kept kKept[] = {
    {"case1", 2 * kMillisecond, ProtectionScheme::kDownUp, FlowControlKind::kPfc,
     "d00336f736963e07"},
    {"case1", 2 * kMillisecond, ProtectionScheme::kOff, FlowControlKind::kPfc, "c54248e6bffc0825"},
    {"case1", 2 * kMillisecond, ProtectionScheme::kWatchdog, FlowControlKind::kPfc,
     "0f08a487ea4ecca1"},
    {"case1", 2 * kMillisecond, ProtectionScheme::kItsy, FlowControlKind::kPfc, "177053d112a5b5f2"},
    {"case1", kMillisecond, ProtectionScheme::kDownUp, FlowControlKind::kCbfc, "37cd6941c9b509f4"},
    {"case1", kMillisecond, ProtectionScheme::kDownUp, FlowControlKind::kOff, "70c57eb90a03a7e0"},
    {"case2", 2 * kMillisecond, ProtectionScheme::kDownUp, FlowControlKind::kPfc,
     "51dc3559731642da"},
    {"flap", 2 * kMillisecond, ProtectionScheme::kDownUp, FlowControlKind::kPfc,
     "085c8f84f8455b95"},
    {"ndc-loop", kMillisecond, ProtectionScheme::kOff, FlowControlKind::kPortFc,
     "7257714d8e45afff"},
    {"ndc-loop", kMillisecond, ProtectionScheme::kOff, FlowControlKind::kPfcStar,
     "14b409780f057645"},
};

TEST(Digest, OfACaseStaysAsItWas) {
  for (const Kept& kept : kKept) {
    auto plan = plan_of_case(kept.name, 2, 1);
    ASSERT_TRUE(plan);
    plan->duration = kept.duration;
    plan->settings.protection = kept.protection;
    plan->settings.flow_control = kept.flow_control;
    EXPECT_EQ(digest_of(*plan), kept.digest) << kept.name;
  }
}

/// Every host sends to another one, by go-back-N.
Plan permutation(std::size_t k, std::uint64_t octets, bool dcqcn) {
  Plan plan;
  plan.fabric = *fat_tree(k);
  plan.settings.pfc.xoff_octets = 200'000;
  plan.settings.pfc.xon_octets = 197'000;
  if (dcqcn) {
    plan.settings.ecn = {
        .on = true, .kmin_octets = 100'000, .kmax_octets = 400'000, .pmax_permille = 200};
    plan.settings.dcqcn.on = true;
  }
  EXPECT_TRUE(add_traffic(
      plan, {.kind = "permutation", .octets = octets, .transport = HostTransport::kGoBackN}));
  return plan;
}

TEST(Digest, OfAPermutationStaysAsItWas) {
  EXPECT_EQ(digest_of(permutation(4, 1'000'000, true)), "d47450a2fd067a55");
  EXPECT_EQ(digest_of(permutation(16, 2'000, false)), "96a972aab94c20bc");  // events stand in piles
}

}  // namespace
}  // namespace lldp::lab::packets
