// SPDX-License-Identifier: Apache-2.0
// What a device cannot know, and says so: ports on which nothing is heard, levels that hosts
// without LLDP have made uneven, devices that cannot be told apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "agent/core/port.hpp"
#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

using std::chrono::hours;

struct Truth : testing::Test {
  void up(std::size_t port, std::size_t ports = 1) {
    for (std::size_t i = port; i < port + ports; ++i) s.set({.ifindex = ifindex(i), .up = true});
  }
  void down(std::size_t port) { s.set({.ifindex = ifindex(port)}); }
  [[nodiscard]] auto alarm(AlarmCode code, std::size_t port) const {
    return s.alarm(code, "swp" + std::to_string(port));
  }
  [[nodiscard]] bool unheard(std::size_t port) const {
    return alarm(AlarmCode::kUnheard, port).has_value();
  }
  Single s{};
};

TEST_F(Truth, PortWithCarrierThatHearsNothingIsUnheardAfterFiveSeconds) {
  up(1, 3);
  s.hear(1, a_switch("spine", 2));
  s.hear(2, host());
  s.pass(milliseconds(4999));
  EXPECT_FALSE(unheard(3));
  s.pass(milliseconds(1));
  EXPECT_EQ(
      alarm(AlarmCode::kUnheard, 3),
      "carrier, and no LLDP frame was ever heard: if a switch is there, packets from it turn "
      "unchanged; run an LLDP agent there, name the port in host-ports if a host is there, or "
      "accept it: port.swp3.unheard = ok");
  EXPECT_FALSE(unheard(1));
  EXPECT_FALSE(unheard(2));
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 1U);
  s.pass(hours(1));
  EXPECT_TRUE(unheard(3));
  s.hear(3, a_switch("late", 2));
  EXPECT_FALSE(unheard(3));
  s.hear(3, {.name = "late", .ttl = 0});  // it was heard
  s.pass(hours(1));
  EXPECT_FALSE(unheard(3));
}

TEST_F(Truth, NeighborWithoutLevelIsHeard) {
  up(1, 2);
  s.hear(1, a_switch("spine", 2));
  s.hear(2, {.name = "phone", .capabilities = 1U << 5});
  s.pass(seconds(10));
  EXPECT_FALSE(unheard(2));
  s.hear(2, {.name = "phone", .ttl = 0});
  s.pass(seconds(10));
  EXPECT_FALSE(unheard(2)) << "something was heard on this carrier";
  down(2);
  up(2);
  s.pass(seconds(30));
  EXPECT_FALSE(unheard(2)) << "its agent may send every 30 s, whatever the carrier does";
  s.pass(seconds(3));
  EXPECT_TRUE(unheard(2));
}

TEST_F(Truth, UnheardWaitsForASwitchOnAnotherPort) {
  up(1, 2);
  s.hear(1, host());
  s.pass(hours(1));
  EXPECT_FALSE(unheard(2)) << "nothing turns here";
  up(3);
  s.hear(3, a_switch("spine", 2));
  EXPECT_TRUE(unheard(2));
  s.agent.remove_link(ifindex(3), s.now, s.out);
  s.take();
  down(2);
  EXPECT_FALSE(unheard(2));
}

// The operator has said that a fabric is here, and nothing of it is heard.
TEST_F(Truth, UnheardWaitsForNoSwitchWhereTheLevelIsPinned) {
  Settings settings;
  settings.pinned_level = Level::of<1>();
  s.configure(settings);
  up(1, 2);
  s.pass(seconds(10));
  EXPECT_TRUE(unheard(1));
  EXPECT_TRUE(unheard(2));
  s.hear(1, host());
  EXPECT_FALSE(unheard(1));
  EXPECT_TRUE(unheard(2));
}

TEST_F(Truth, UnheardIsQuietForHostPortsAndWhereItIsAccepted) {
  Settings settings;
  settings.host_ports = {"swp2"};
  s.configure(settings);
  up(1, 2);
  s.set({.ifindex = ifindex(3), .up = true, .may_be_unheard = true});
  s.hear(1, a_switch("spine", 2));
  s.pass(seconds(10));
  for (std::size_t port : {2U, 3U}) EXPECT_FALSE(unheard(port)) << port;
  s.set({.ifindex = ifindex(3), .up = true});
  s.pass(seconds(5));
  EXPECT_TRUE(unheard(3));
  s.set({.ifindex = ifindex(3), .up = true, .may_be_unheard = true});
  EXPECT_FALSE(unheard(3));
}

TEST_F(Truth, PortThatMayNotReceiveIsUnheardToo) {
  up(1);
  s.hear(1, a_switch("spine", 2));
  s.set({.ifindex = ifindex(2), .up = true, .adminStatus = core::AdminStatus::enabledTxOnly});
  s.set({.ifindex = ifindex(3), .up = true, .adminStatus = core::AdminStatus::disabled});
  s.pass(seconds(10));
  EXPECT_TRUE(unheard(3));
  EXPECT_EQ(alarm(AlarmCode::kUnheard, 2),
            "carrier, and the port may not receive LLDP: if a switch is there, packets from it "
            "turn unchanged; set port.swp2.admin = rxtx, name the port in host-ports if a host is "
            "there, or accept it: port.swp2.unheard = ok");
}

TEST_F(Truth, HostHasNoUnheardPort) {
  Settings settings;
  settings.role = Role::kHost;
  s.configure(settings);
  up(1, 2);
  s.hear(1, a_switch("leaf", 1));
  s.pass(seconds(10));
  EXPECT_FALSE(unheard(2));
}

// LLDP runs on the servers of one rack: its leaf is 1, the spines 2, the other leaves 3.
TEST_F(Truth, LeafWithSilentServersBesideALeafWithHostsIsUneven) {
  up(1, 4);
  s.hear(1, a_switch("spine1", 2));
  s.hear(2, a_switch("spine2", 2));
  EXPECT_EQ(s.agent.level(), level(3));
  EXPECT_EQ(s.alarm(AlarmCode::kUneven, ""), std::nullopt);
  s.pass(seconds(5));
  EXPECT_EQ(s.alarm(AlarmCode::kUneven, ""),
            "level 3 comes from switches alone, and on 2 ports with carrier nothing is heard: if "
            "hosts are there, this is a leaf, and every path to it turns; run LLDP on the hosts, "
            "name their ports in host-ports, or pin `level`");
  s.hear(3, host());
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.alarm(AlarmCode::kUneven, ""), std::nullopt);
}

TEST_F(Truth, TopOfThreeTiersIsEven) {
  up(1, 2);
  s.hear(1, a_switch("agg1", 2));
  s.hear(2, a_switch("agg2", 2));
  s.pass(seconds(10));
  EXPECT_EQ(s.agent.level(), level(3));
  EXPECT_EQ(s.alarm(AlarmCode::kUneven, ""), std::nullopt);
}

TEST_F(Truth, SwitchAboveMaxLevelIsUneven) {
  Settings settings;
  settings.max_level = level(2);
  s.configure(settings);
  up(1, 2);
  s.hear(1, a_switch("leaf1", 1));
  s.hear(2, a_switch("leaf2", 3));
  EXPECT_EQ(s.agent.level(), level(2));
  EXPECT_EQ(s.alarm(AlarmCode::kUneven, ""),
            "a switch of level 3 is heard on swp2, and infer.max-level is 2: its hosts speak no "
            "LLDP, so paths by it turn and end in the lossy class; run LLDP on its hosts, or name "
            "their ports in host-ports there");
  s.hear(2, a_switch("leaf2", 1));
  EXPECT_EQ(s.alarm(AlarmCode::kUneven, ""), std::nullopt);
}

TEST_F(Truth, ExpectedCrosslinkIsNoAlarm) {
  up(1, 2);
  s.set({.ifindex = ifindex(3), .up = true, .may_be_crosslink = true});
  s.hear(1, host());
  s.hear(2, a_switch("peer", 1));
  s.hear(3, a_switch("peer", 1));
  EXPECT_TRUE(alarm(AlarmCode::kCrosslink, 2));
  EXPECT_FALSE(alarm(AlarmCode::kCrosslink, 3));
  EXPECT_EQ(s.type(3), PortType::kCrosslink);
}

TEST_F(Truth, UnprotectedSpeaksOfHostPortsWhereTheNeighborRunsThisAgent) {
  up(1, 2);
  s.hear(1, a_switch("mute", std::nullopt));
  s.hear(2, {.name = "stock", .capabilities = tlv::Capabilities::kRouter});
  s.pass(seconds(2));
  EXPECT_EQ(
      alarm(AlarmCode::kUnprotected, 1),
      "switch mute runs an agent and tells no level, so packets between it and this port turn "
      "unchanged: there, name the ports of its hosts in host-ports, or pin `level`");
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 2),
            "switch stock tells no level: run lldp-leveld there, or leave the port out: `ports = "
            "...,-swp2`");
}

TEST_F(Truth, ReservedDeviceTypeHasNoLevel) {
  up(1);
  s.hear(1, {.name = "odd", .tr = Claim{.device = DeviceType::kUnknown, .level = level(4)}});
  EXPECT_EQ(s.agent.level(), std::nullopt);
  constexpr std::uint8_t kTr[] = {0x00, 0x80, 0xc2, 0x14};
  Bytes frame = frame_of(a_switch("odd2", 4));
  const auto tlv = std::search(frame.begin(), frame.end(), std::begin(kTr), std::end(kTr));
  ASSERT_NE(tlv, frame.end());
  *(tlv + 4) = 7;  // device type
  s.hear(1, frame);
  EXPECT_EQ(s.agent.level(), std::nullopt);
}

TEST_F(Truth, DevicesOfOneMsapOnOnePortAreManyNeighbors) {
  up(1);
  const auto from = [](std::size_t device) {
    Peer peer = a_switch("sonic", device + 1);
    peer.source = mac(9, device);
    return peer;
  };
  s.hear(1, from(1));
  s.pass(seconds(1));
  s.hear(1, from(2));
  EXPECT_FALSE(alarm(AlarmCode::kManyNeighbors, 1)) << "its address may have changed";
  s.pass(seconds(1));
  s.hear(1, from(3));
  s.pass(seconds(1));
  s.hear(1, from(1));
  EXPECT_EQ(
      alarm(AlarmCode::kManyNeighbors, 1),
      "several devices send as sonic, with one chassis ID and port ID and different "
      "addresses: the level and the order of the port are those of the last; give each device "
      "a chassis ID of its own");
  s.pass(seconds(118));
  EXPECT_TRUE(alarm(AlarmCode::kManyNeighbors, 1));
  s.hear(1, from(1));
  s.pass(seconds(2));
  EXPECT_FALSE(alarm(AlarmCode::kManyNeighbors, 1)) << "one alone is heard since";
}

}  // namespace
}  // namespace lldp::test
