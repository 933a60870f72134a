// SPDX-License-Identifier: Apache-2.0
// A switch that comes to others which have their ranks, and is deaf there for longer than a
// newcomer waits: docs/develop/rules.md A2.
#include <gtest/gtest.h>

#include "lab/agents/order_safety.hpp"
#include "tests/core/support/network.hpp"

namespace lldp::test {
namespace {

/// `spine` is down to `leaf` on a hub, to which `top` comes, and to which it has a cable besides.
struct Hub : testing::Test {
  void SetUp() override {
    net.connect_by_hub({spine, leaf, top});
    beside = net.connect(spine, top);
    net.watch(safety);
    net.start(spine);
    net.start(leaf);
    net.run_for(seconds(20));
    ASSERT_EQ(rule(spine), Order::kDown);
    mute({leaf, spine, top});
    net.start(top);
    net.run_for(seconds(20));
    ASSERT_EQ(net.nodes[top].ports[net.port_at(beside, top).value() - 1].rule, Order::kDown);
    ASSERT_EQ(rule(top), Order::kUnknown);
  }
  /// Of the hub's port.
  [[nodiscard]] Order rule(std::size_t node) const { return net.nodes[node].ports[0].rule; }
  /// What these send on the hub does not reach `top`, or is lost if it is `top` itself.
  void mute(std::set<std::size_t> senders) {
    for (auto& c : net.cables) {
      if (!c.hub || !c.joins(top)) continue;
      c.mute[0] = senders.contains(c.a.node);
      c.mute[1] = senders.contains(c.b.node);
    }
  }

  Network net;
  lab::agents::OrderSafety safety{net};
  std::size_t spine = net.add(Role::kSwitch, pinned_to(2));
  std::size_t leaf = net.add(Role::kSwitch, pinned_to(1));
  std::size_t top = net.add(Role::kSwitch, pinned_to(3));
  std::size_t beside = 0;
};

TEST_F(Hub, WhoIsDownForAnotherThereHasToAcknowledge) {
  mute({leaf, top});
  net.run_for(seconds(40));
  EXPECT_EQ(rule(top), Order::kShut);
  EXPECT_EQ(rule(spine), Order::kDown);
  EXPECT_FALSE(safety.cycle()) << safety.cycle()->text;
  mute({});
  net.run_for(seconds(40));
  EXPECT_EQ(rule(top), Order::kUp);
  EXPECT_EQ(rule(spine), Order::kUp);
  EXPECT_FALSE(safety.cycle()) << safety.cycle()->text;
}
TEST_F(Hub, SoHasWhoIsOnlyListed) {
  mute({spine, top});
  net.run_for(seconds(40));
  EXPECT_EQ(rule(top), Order::kShut);
  mute({top});
  net.run_for(seconds(40));
  EXPECT_EQ(rule(top), Order::kShut);
  mute({});
  net.run_for(seconds(40));
  EXPECT_EQ(rule(top), Order::kUp);
  EXPECT_FALSE(safety.cycle()) << safety.cycle()->text;
}

/// Two devices with one state take each other for themselves, and start anew each time they hear
/// of a newer start: as often as their txCredit lets them, for as long as both are there.
TEST(CopiedState, WhatItTellsLeavesCreditForWhoIsNew) {
  Network net;
  const std::size_t leaf = net.add(Role::kSwitch, pinned_to(1));
  const std::size_t one = net.add(Role::kSwitch, pinned_to(2));
  const std::size_t other = net.add(Role::kSwitch, pinned_to(2));
  const std::size_t late = net.add(Role::kSwitch, pinned_to(1));
  net.connect_by_hub({leaf, one, other, late});
  net.start(leaf);
  net.start(one);
  net.run_for(seconds(20));
  net.copy_state(one, other);
  net.start(other);
  net.run_for(std::chrono::minutes(10));

  std::size_t starts = 0;
  std::size_t answers = 0;
  net.on_send = [&](TimePoint, std::size_t node, const core::Send&) {
    starts += node == one || node == other ? 1U : 0U;
    answers += node == leaf ? 1U : 0U;
  };
  for (int moment = 0; moment < 20; ++moment) {
    starts = 0;
    net.run_for(seconds(10) + moment * milliseconds(50));
    EXPECT_GE(starts, 10U);
    answers = 0;
    net.start(late);
    net.run_for(milliseconds(10));
    EXPECT_GE(answers, 1U) << moment;
    net.stop(late, false);
    net.lose_state(late);
  }
}

}  // namespace
}  // namespace lldp::test
