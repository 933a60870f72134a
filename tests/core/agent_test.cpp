// SPDX-License-Identifier: Apache-2.0
// The agent as a whole, agents wired to each other.
#include "agent/core/agent.hpp"

#include <gtest/gtest.h>

#include "tests/core/support/network.hpp"

namespace lldp::test {
namespace {

using core::LevelSource;
using core::Snapshot;

TEST(Agent, TwoWiredBackToBackKnowEachOther) {
  Network net;
  const auto host = net.add(Role::kHost);
  const auto leaf = net.add(Role::kSwitch);
  net.connect(host, leaf);
  net.start_all();
  net.run_for(milliseconds(10));

  const Snapshot s = net.agent(leaf).snapshot(net.now);
  EXPECT_EQ(s.level, level(1));
  EXPECT_EQ(s.level_source, LevelSource::kHost);
  ASSERT_EQ(s.ports.size(), 1U);
  EXPECT_EQ(s.ports[0].type, PortType::kDownlink);
  EXPECT_EQ(s.ports[0].order, Order::kDown);
  ASSERT_EQ(s.ports[0].neighbors.size(), 1U);
  const core::NeighborInfo& n = s.ports[0].neighbors[0];
  EXPECT_EQ(n.system_name, "host0");
  EXPECT_EQ(n.device_type, DeviceType::kHost);
  EXPECT_EQ(n.level, level(0));
  EXPECT_TRUE(n.tr && n.contribution && n.decisive);
  EXPECT_EQ(n.ttl, 121);
  EXPECT_EQ(n.expires_in, seconds(121));
  EXPECT_TRUE(s.alarms.empty());

  const Snapshot h = net.agent(host).snapshot(net.now);
  EXPECT_EQ(h.level, level(0));
  EXPECT_EQ(h.ports[0].type, PortType::kUnmarked);
  ASSERT_EQ(h.ports[0].neighbors.size(), 1U);
  EXPECT_EQ(h.ports[0].neighbors[0].level, level(1));
  EXPECT_EQ(h.ports[0].neighbors[0].port_type, PortType::kDownlink);
}

TEST(Agent, AChainOfSwitchesCountsTheLinksToTheHost) {
  Network net;
  net.add(Role::kHost);
  for (std::size_t i = 1; i <= 5; ++i) net.connect(i - 1, net.add(Role::kSwitch));
  net.start_all();
  net.run_for(milliseconds(20));
  for (std::size_t i = 0; i <= 5; ++i) EXPECT_EQ(net.level_of(i), level(i));
  EXPECT_EQ(net.agent(2).type(ifindex(1)), PortType::kDownlink);
  EXPECT_EQ(net.agent(2).type(ifindex(2)), PortType::kUplink);
  EXPECT_EQ(net.agent(2).order(ifindex(1)), Order::kDown);
  EXPECT_EQ(net.agent(2).order(ifindex(2)), Order::kUp);
}

TEST(Agent, ANewcomerKnowsARunningPeerWithinOneRoundTrip) {
  Network net;
  const auto a = net.add(Role::kSwitch);
  const auto b = net.add(Role::kSwitch);
  net.connect(a, b);
  net.start(a);
  net.run_for(seconds(100));
  net.start(b);
  net.run_for(2 * net.delay);
  EXPECT_EQ(net.agent(a).neighbor_count(), 1U);
  EXPECT_EQ(net.agent(b).neighbor_count(), 1U);
  EXPECT_TRUE(net.agent(a).hears(ifindex(1)));
  EXPECT_FALSE(net.agent(a).hears(ifindex(2))) << "no port";
}

}  // namespace
}  // namespace lldp::test
