// SPDX-License-Identifier: Apache-2.0
// A start has its ports told one after another, and those of the state file that are told last
// count from the first one on: docs/develop/rules.md A7, A9, A12. And by what clock it starts.
#include <gtest/gtest.h>

#include <functional>

#include "tests/core/support/network.hpp"

namespace lldp::test {
namespace {

/// `device` stands between `high`, on the port that is told first, and `low`.
struct Start : testing::Test {
  void SetUp() override {
    net.start_all();
    net.run_for(seconds(20));
    ASSERT_EQ(rule(to_high), Order::kUp);
    ASSERT_EQ(rule(to_low), Order::kDown);
  }
  [[nodiscard]] Order rule(std::size_t cable) const {
    return net.nodes[device].ports[net.port_at(cable, device).value() - 1].rule;
  }
  [[nodiscard]] core::State state() { return net.agent(device).state(); }
  /// Until nothing is down to `low`; `holds` up to there.
  void run_while_down(const std::function<void()>& holds) {
    ASSERT_EQ(rule(to_low), Order::kDown);
    const TimePoint end = net.now + seconds(40);
    while (rule(to_low) == Order::kDown && net.now < end) {
      holds();
      net.step();
    }
    EXPECT_NE(rule(to_low), Order::kDown);
  }

  Network net;
  std::size_t high = net.add(Role::kSwitch, pinned_to(5));
  std::size_t device = net.add(Role::kSwitch, pinned_to(3));
  std::size_t low = net.add(Role::kSwitch, pinned_to(2));
  std::size_t to_high = net.connect(device, high);
  std::size_t to_low = net.connect(device, low);
};

// A7
TEST_F(Start, FallsWhenThePortThatIsToldLastIsUpInForce) {
  net.stop(device, false);
  net.alter(device).pinned_level = level(1);
  net.rules_late = seconds(1);
  net.start(device);
  run_while_down([&] { EXPECT_EQ(state().rank.level, level(3)); });
  net.run_for(seconds(3));
  EXPECT_EQ(state().rank.level, level(1));
}
// A12
TEST_F(Start, IsAHostWhenThePortThatIsToldLastIsUpInForce) {
  net.stop(device, false);
  net.alter(device).role = Role::kHost;
  net.rules_late = seconds(1);
  net.start(device);
  run_while_down([&] { EXPECT_EQ(state().role, Role::kSwitch); });
  net.run_for(seconds(3));
  EXPECT_EQ(state().role, Role::kHost);
}
/// Starts by clocks that are wrong: the boot is to rise all the same, or a neighbor has to name it.
struct Clock : Start {
  static constexpr std::uint32_t kRight = 1'700'000'000;
  void start_at(std::uint32_t clock) {
    net.nodes[device].clock = clock;
    net.start(device);
    net.run_for(seconds(20));
  }
  void restart_at(std::uint32_t clock) {
    net.stop(device, false);
    start_at(clock);
  }
  void expect_orders() {
    EXPECT_EQ(rule(to_high), Order::kUp);
    EXPECT_EQ(rule(to_low), Order::kDown);
    EXPECT_FALSE(state().lost);
  }
  /// Both neighbors acknowledge what it tells: its rank rises and falls again with its level.
  void expect_rank_follows() {
    for (const std::size_t to : {4U, 3U}) {
      net.alter(device).pinned_level = level(to);
      net.configure(device);
      net.run_for(seconds(20));
      EXPECT_EQ(state().rank.level, level(to));
    }
    expect_orders();
  }
};
TEST_F(Clock, Of1970HasAHigherBootThanTheStateFile) {
  restart_at(kRight);
  ASSERT_EQ(state().boot, kRight);
  restart_at(0);
  EXPECT_EQ(state().boot, kRight + 1);
  expect_orders();
  expect_rank_follows();
}
// A9
TEST_F(Clock, Of1970WithAnOldStateHasAHigherBootOnceANeighborNamesIt) {
  net.stop(device, false);
  const core::State old = *net.nodes[device].state;
  start_at(kRight);
  net.stop(device, false);
  *net.nodes[device].state = old;
  net.mute = device;  // its neighbors speak first, and name the later boot
  net.nodes[device].clock = 0;
  net.start(device);
  ASSERT_LT(state().boot, kRight);
  net.run_for(seconds(40));
  net.mute = {};
  net.run_for(seconds(40));
  EXPECT_EQ(state().boot, kRight + 1);
  expect_rank_follows();
}
TEST_F(Clock, Of1970WithoutAStateFileIsANewAgent) {
  net.stop(device, false);
  net.lose_state(device);
  start_at(0);
  net.run_for(seconds(40));
  EXPECT_EQ(state().boot, 1U);
  expect_rank_follows();
}
// It would be 0, which is older than every boot that a neighbor knows.
TEST_F(Clock, BehindTheLastBootBeginsAnotherAgentID) {
  restart_at(core::kLastBoot - 1);
  const core::AgentId agent = state().agent;
  restart_at(core::kLastBoot - 1);
  ASSERT_EQ(state().boot, core::kLastBoot);
  ASSERT_EQ(state().agent, agent);
  restart_at(kRight);
  EXPECT_EQ(state().boot, kRight);
  EXPECT_NE(state().agent, agent);
  expect_rank_follows();
}
TEST_F(Clock, NeighborThatNamesTheLastBootHasItBeginAnotherAgentID) {
  restart_at(core::kLastBoot);
  const core::AgentId agent = state().agent;
  net.stop(device, false);
  net.nodes[device].state->boot = 5;  // of an old backup
  net.mute = device;
  net.nodes[device].clock = 0;
  net.start(device);
  net.run_for(seconds(40));
  net.mute = {};
  net.run_for(seconds(40));
  EXPECT_NE(state().agent, agent);
  EXPECT_LT(state().boot, 5U);
  expect_rank_follows();
}
// A9
TEST_F(Start, AfterALostStateOpensWhatWasShutAfterThePortThatIsToldLast) {
  net.stop(high, false);
  net.set_cable(to_high, false);
  net.alter(device).pinned_level = level(6);
  net.configure(device);
  net.run_for(seconds(1));
  net.set_cable(to_high, true);
  net.run_for(seconds(1));
  ASSERT_EQ(rule(to_high), Order::kShut);
  net.stop(device, false);
  const core::State old = *net.nodes[device].state;
  net.start(device);
  net.run_for(seconds(3));
  net.stop(device, false);
  *net.nodes[device].state = old;
  net.mute = device;  // its neighbor speaks first, and names the later boot
  net.rules_late = seconds(1);
  net.start(device);
  const TimePoint end = net.now + seconds(40);
  while (!state().lost && net.now < end) net.step();
  ASSERT_TRUE(state().lost);
  net.stop(device, false);
  net.start(device);
  run_while_down([&] { EXPECT_EQ(rule(to_high), Order::kShut); });
  net.run_for(seconds(3));
  EXPECT_EQ(rule(to_high), Order::kUp);
}

}  // namespace
}  // namespace lldp::test
