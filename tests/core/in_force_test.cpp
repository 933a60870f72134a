// SPDX-License-Identifier: Apache-2.0
// The seam to the data plane: orders are requested by number, and confirmed by it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

TEST(Request, RisesWithEachChangeOfTheOrderAndNotOtherwise) {
  Single s;
  EXPECT_EQ(s.agent.request(ifindex(1)), core::Request{});
  s.up(1);
  EXPECT_EQ(s.agent.request(ifindex(1)), core::Request{});
  s.hear(1, host());
  const core::Request first = s.agent.request(ifindex(1));
  EXPECT_EQ(first.order, Order::kDown);
  EXPECT_GT(first.generation, 0U);
  s.agent.in_force(ifindex(1), first.generation, s.now, s.out);
  s.hear(1, host());
  EXPECT_EQ(s.agent.request(ifindex(1)), first);
  s.down(1);
  EXPECT_GT(s.agent.request(ifindex(1)).generation, first.generation);
}

TEST(Request, AConfirmationOfWhatWasNotRequestedIsIgnored) {
  Single s;
  s.agent.in_force(ifindex(1), 7, s.now, s.out);  // no such port
  s.up(1);
  s.agent.in_force(ifindex(1), 7, s.now, s.out);
  EXPECT_TRUE(s.out.events.empty());
  EXPECT_EQ(s.agent.request(ifindex(1)), core::Request{});
}

Peer station(std::string name = "srv") {
  return {.name = std::move(name), .capabilities = tlv::Capabilities::kStationOnly};
}

// A packet of a spare class that leaves to a host leaves in its application class: where nothing
// forwards, and nowhere else.

TEST(Request, RestoresWhereAHostIsAndNotWhereItHasBecomeASwitch) {
  Single s;
  s.up(1, 3);
  s.hear(1, station());
  s.hear(2, a_switch("leaf2", 1));
  const core::Request to_host = s.agent.request(ifindex(1));
  EXPECT_TRUE(to_host.restore);
  EXPECT_FALSE(s.agent.request(ifindex(2)).restore);
  s.agent.in_force(ifindex(1), to_host.generation, s.now, s.out);
  // It forwards, and has no level yet: its order stays for now, and restoring ends.
  s.hear(3, station("srv3"));
  s.hear(1, a_switch("srv", std::nullopt));
  const core::Request to_switch = s.agent.request(ifindex(1));
  EXPECT_FALSE(to_switch.restore);
  EXPECT_GT(to_switch.generation, to_host.generation);
}

TEST(Request, RestoresAtAStationAndAtAHostPort) {
  Settings settings;
  settings.host_ports = {"swp2"};
  Single s(settings);
  s.up(1, 3);
  s.hear(1, station("stock"));
  EXPECT_TRUE(s.agent.request(ifindex(1)).restore);
  EXPECT_TRUE(s.agent.request(ifindex(2)).restore);
  EXPECT_FALSE(s.agent.request(ifindex(3)).restore);
  // One beside it that forwards: what leaves here may come to it.
  s.hear(1, {.name = "bridge", .capabilities = tlv::Capabilities::kBridge});
  EXPECT_FALSE(s.agent.request(ifindex(1)).restore);
}

// It may be a switch in the next moment.
TEST(Request, RestoresNothingAtAHostWithAnAgent) {
  Single s;
  s.up(1);
  s.hear(1, host());
  EXPECT_EQ(s.agent.request(ifindex(1)).order, Order::kDown);
  EXPECT_FALSE(s.agent.request(ifindex(1)).restore);
}

TEST(Request, RestoresNothingWhereThatIsSwitchedOff) {
  Settings settings;
  settings.restores = false;
  Single s(settings);
  s.up(1);
  s.hear(1, station());
  EXPECT_EQ(s.agent.request(ifindex(1)).order, Order::kDown);
  EXPECT_FALSE(s.agent.request(ifindex(1)).restore);
  settings.restores = true;
  s.events.clear();
  s.configure(settings);
  EXPECT_TRUE(s.agent.request(ifindex(1)).restore);
  const auto told = std::ranges::find(s.events, Event::Kind::kPort, &Event::kind);
  ASSERT_NE(told, s.events.end());
  EXPECT_EQ(told->text, "downlink, spare classes restored");
}

}  // namespace
}  // namespace lldp::test
