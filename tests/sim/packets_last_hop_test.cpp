// SPDX-License-Identifier: Apache-2.0
// The NICs of hosts, and the class in which packets that turned come to them.
#include <gmock/gmock.h>

#include "tests/sim/packets_plans.hpp"

namespace lldp::lab::packets {
namespace {

/// Eight flows that all turn at one leaf, to one host whose NIC pauses priority 3 alone. Of 10
/// million turned packets: `lldp-level-lab sim last-hop --flows 8+0 --duration 1100`.
Outcome last_hop(bool restore, Picoseconds duration = 4 * kMillisecond) {
  Plan plan = of_case("last-hop", 8, 0, ProtectionScheme::kDownUp, duration);
  plan.settings.restore = restore;
  return outcome_of(plan);
}

TEST(LastHop, TurnedPacketsAreLostAtNicsThatCannotPauseTheirClass) {
  const Outcome o = last_hop(false);
  EXPECT_GT(o.count.turned, 20'000U);
  EXPECT_EQ(o.count.turned_lossy, 0U);
  EXPECT_EQ(o.count.drops, 0U) << "switches lose none";
  EXPECT_EQ(o.count.nic_drops, o.count.nic_drops_turned);
  // The NIC takes 80 of 100 Gb/s.
  EXPECT_GT(o.count.nic_drops, o.count.turned / 8);
  EXPECT_LT(o.count.nic_drops, o.count.turned / 4);
}

TEST(LastHop, RestoredToTheirClassNoneIsLost) {
  const Outcome o = last_hop(true);
  EXPECT_GT(o.count.turned, 20'000U);
  EXPECT_EQ(o.count.nic_drops, 0U);
  EXPECT_EQ(o.count.drops + o.count.drops_lossy, 0U);
  EXPECT_FALSE(o.deadlocked_at);
  // What the NIC takes is what arrives.
  std::uint64_t bps = 0;
  for (const FlowResult& f : o.flows) bps += f.throughput_bps;
  EXPECT_NEAR(static_cast<double>(bps), 80e9 * 1000 / 1048, 1e9);
}

TEST(LastHop, NicThatPausesTheSpareTooNeedsNoRestoring) {
  Plan plan = of_case("last-hop", 8, 0, ProtectionScheme::kDownUp, kMillisecond);
  plan.settings.restore = false;
  plan.settings.nic.pfc = 1U << 3 | 1U << 2;
  EXPECT_EQ(outcome_of(plan).count.nic_drops, 0U);
}

TEST(LastHop, IsTheSameOnAnyNumberOfThreads) {
  const Plan plan = of_case("last-hop", 8, 0, ProtectionScheme::kDownUp, 500 * kMicrosecond);
  const auto one = run(plan), two = run(plan, {}, 2);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->count.digest, two->count.digest);
  EXPECT_EQ(one->count.pauses, two->count.pauses);
}

TEST(LastHop, NicWithoutRoomForItsHeadroomIsRefused) {
  Plan plan = of_case("last-hop", 1, 0, ProtectionScheme::kDownUp, kMillisecond);
  plan.settings.nic.buffer_octets = 10'000;
  const auto refused = run(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "settings.nic.buffer_octets");
  plan.settings.nic.buffer_octets = 512'000;
  plan.settings.flow_control = FlowControlKind::kCbfc;
  EXPECT_FALSE(run(plan));
}

}  // namespace
}  // namespace lldp::lab::packets
