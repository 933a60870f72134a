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

}  // namespace
}  // namespace lldp::test
