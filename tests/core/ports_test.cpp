// SPDX-License-Identifier: Apache-2.0
// Types, orders and alarms: the table of one device, frame by frame. docs/develop/rules.md A3, A8.
#include <gtest/gtest.h>

#include "agent/core/alarm.hpp"
#include "agent/core/port.hpp"
#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

using core::LevelSource;
using std::chrono::hours;

struct Ports : testing::Test {
  Ports() { s.up(1, 4); }
  Single s{};
  [[nodiscard]] auto alarm(AlarmCode code, std::size_t port) const {
    return s.alarm(code, "swp" + std::to_string(port));
  }
};

// Who is a host

TEST_F(Ports, AHostMakesALeafAndADownlink) {
  s.hear(1, host());
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST_F(Ports, AStockServerIsAHostByItsCapabilities) {
  s.hear(1, {.capabilities = tlv::Capabilities::kStationOnly});
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.info(1).neighbors[0].device_type, DeviceType::kHost);
  EXPECT_EQ(s.info(1).neighbors[0].level, level(0));
}
TEST_F(Ports, StationOnlyBesideAnythingElseIsNoHost) {
  s.hear(1, {.capabilities = tlv::Capabilities::kStationOnly | 1U << 5});
  s.hear(2, {.capabilities = tlv::Capabilities::kBridge});
  s.hear(3, {.capabilities = 0});
  s.hear(4, Peer{});
  EXPECT_EQ(s.agent.level(), std::nullopt);
}
TEST_F(Ports, ATlvOfOursSaysMoreThanCapabilities) {
  s.hear(1, {.tr = switch_claim(3), .capabilities = tlv::Capabilities::kStationOnly});
  EXPECT_EQ(s.agent.level(), level(4));
}
TEST(HostFromCapabilities, CanBeTurnedOffAndOnAgain) {
  Settings settings;
  settings.host_from_capabilities = false;
  Single s(settings);
  s.up(1);
  s.hear(1, {.capabilities = tlv::Capabilities::kStationOnly});
  EXPECT_EQ(s.agent.level(), std::nullopt);
  settings.host_from_capabilities = true;
  s.agent.configure(settings, s.now, s.out);
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
}

// Who has no level

TEST_F(Ports, AContributionSwitchWithoutALevelIsNoHost) {
  s.hear(1, {.contribution = switch_claim(std::nullopt)});
  EXPECT_EQ(s.agent.level(), std::nullopt);
  EXPECT_EQ(s.info(1).neighbors[0].device_type, DeviceType::kSwitch);
  EXPECT_EQ(s.info(1).neighbors[0].level, std::nullopt);
}
TEST_F(Ports, OneTlvOrTheOtherWillDo) {
  s.hear(1, {.contribution = switch_claim(2)});
  EXPECT_EQ(s.agent.level(), level(3));
}

// Types

TEST_F(Ports, EveryTypeFollowsFromTheTable) {
  s.hear(1, a_switch("below", 1));
  s.hear(2, a_switch("beside", 2));
  s.hear(3, a_switch("above", 3));
  s.hear(4, a_switch("far", 4));
  EXPECT_EQ(s.agent.level(), level(2));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.type(2), PortType::kCrosslink);
  EXPECT_EQ(s.type(3), PortType::kUplink);
  EXPECT_EQ(s.type(4), PortType::kUnmarked);
  EXPECT_EQ(s.info(4).order, Order::kUp);  // order needs no neighboring level
}
TEST_F(Ports, TypesChangeOnAllPortsWithTheLevel) {
  s.hear(1, a_switch("a", 3));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  s.hear(2, a_switch("b", 1));
  EXPECT_EQ(s.type(1), PortType::kUplink);
  s.hear(3, host());
  EXPECT_EQ(s.type(1), PortType::kUnmarked);
  EXPECT_EQ(s.type(2), PortType::kCrosslink);
}
TEST_F(Ports, APortWhoseNeighborIsGoneIsUnmarked) {
  s.hear(1, host());
  s.hear(2, a_switch("b", 2));
  s.hear(2, {.name = "b", .ttl = 0});
  EXPECT_EQ(s.type(2), PortType::kUnmarked);
}
TEST_F(Ports, ANeighborThatComesBackIsLabelledAgain) {
  s.hear(1, host());
  for (int i = 0; i < 3; ++i) {
    s.hear(2, a_switch("b", 2));
    EXPECT_EQ(s.type(2), PortType::kUplink);
    s.down(2);
    EXPECT_EQ(s.type(2), PortType::kUnmarked);
    s.up(2);
  }
}

// Several neighbors

TEST_F(Ports, AHostWinsAmongSeveralNeighbors) {
  s.hear(1, a_switch("z", 3));
  s.hear(1, host("srv"));
  s.hear(1, a_switch("a", 1));
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.order(1), Order::kUp);  // for one of them: the safe side
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), "3 neighbors: a, z, srv");
}
TEST_F(Ports, OfManyNeighborsTheFirstAreNamed) {
  for (const char* name : {"a", "b", "c", "d"}) s.hear(1, {.name = name});
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), "4 neighbors: a, b, c, d");
  for (std::size_t i = 10; i < 38; ++i) s.hear(1, {.name = "srv" + std::to_string(i)});
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), "32 neighbors: a, b, c, d and 28 more");
}
TEST_F(Ports, ElseTheLowestLevelWins) {
  s.hear(1, a_switch("c", 4));
  s.hear(1, a_switch("b", 2));
  s.hear(1, a_switch("a", std::nullopt));
  EXPECT_EQ(s.agent.level(), level(3));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  for (const auto& n : s.info(1).neighbors) EXPECT_EQ(n.decisive, n.system_name == "b");
}
TEST_F(Ports, TheArrivalOrderOfSeveralNeighborsIsOfNoAccount) {
  std::vector<Peer> peers{a_switch("a", 3), a_switch("b", 2), a_switch("c", 5), host("d")};
  std::vector<std::size_t> at{1, 1, 2, 2};
  std::vector<std::size_t> order{0, 1, 2, 3};
  std::optional<core::Snapshot> first;
  do {
    Single one;
    one.up(1, 2);
    for (std::size_t i : order) one.hear(at[i], peers[i]);
    const core::Snapshot snapshot = one.agent.snapshot(one.now);
    if (!first) first = snapshot;
    ASSERT_EQ(snapshot, *first);
  } while (std::next_permutation(order.begin(), order.end()));
}

// What a neighbor claimed, and its System Capabilities

Peer station(const char* name) {
  return {.name = name, .capabilities = tlv::Capabilities::kStationOnly};
}

TEST(Claims, OfASwitchStandAgainstItsCapabilitiesUntilTheyExpire) {
  Single s;
  s.up(1, 2);
  s.hear(1, host());
  s.hear(2, a_switch("spine", 2));
  ASSERT_EQ(s.type(2), PortType::kUplink);
  s.pass(seconds(60));
  s.hear(2, station("spine"));  // lldpd has taken over, and has not our TLVs yet
  EXPECT_EQ(s.info(2).neighbors[0].device_type, DeviceType::kSwitch);
  EXPECT_EQ(s.info(2).neighbors[0].level, level(2));
  EXPECT_EQ(s.type(2), PortType::kUplink);
  Peer renamed = station("spine");
  renamed.tail = {0x08, 0x01, 'x', 0, 0};  // a port description, and the end: another frame
  s.pass(seconds(30));
  s.hear(2, renamed);  // what it says is no new validity
  EXPECT_EQ(s.type(2), PortType::kUplink);
  s.pass(milliseconds(29'999));
  EXPECT_EQ(s.info(2).neighbors[0].device_type, DeviceType::kSwitch);
  s.pass(milliseconds(1));
  EXPECT_EQ(s.info(2).neighbors[0].device_type, DeviceType::kHost);
  EXPECT_EQ(s.type(2), PortType::kDownlink);
  s.restart();
  s.up(1, 2);
  EXPECT_EQ(s.order(2), Order::kDown) << "remembered is what it is now";
}
TEST(Claims, OfASwitchAreTakenBackByATlv) {
  Single s;
  s.up(1, 2);
  s.hear(1, host());
  s.hear(2, a_switch("spine", 2));
  s.hear(2, host("spine"));
  EXPECT_EQ(s.info(2).neighbors[0].device_type, DeviceType::kHost);
}
TEST(Claims, AreHeardAnewWhenTheTlvComesBack) {
  Single s;
  s.up(1, 2);
  s.hear(1, host());
  s.hear(2, a_switch("spine", 2));
  s.hear(2, station("spine"));
  s.hear(2, a_switch("spine", 2));
  s.pass(seconds(119));
  EXPECT_EQ(s.type(2), PortType::kUplink);
  s.pass(seconds(2));
  EXPECT_TRUE(s.info(2).neighbors.empty());
}

// Host ports

struct HostPorts : testing::Test {
  static Settings settings() {
    Settings s;
    s.host_ports = {"swp1", "lan*"};
    return s;
  }
  Single s{settings()};
};

TEST_F(HostPorts, ALevelWithoutASwitchDecidesNothing) {
  s.up(1);
  s.hear(1, {.tr = Claim{.device = DeviceType::kUnknown, .level = level(3)}});
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_FALSE(s.info(1).neighbors.at(0).decisive);
}
TEST_F(HostPorts, ALinkThatIsUpIsAHost) {
  s.down(1);
  EXPECT_EQ(s.agent.level(), std::nullopt);
  s.up(1);
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.agent.snapshot(s.now).level_source, LevelSource::kHost);
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST_F(HostPorts, OtherPortsAreNot) {
  s.up(2);
  EXPECT_EQ(s.agent.level(), std::nullopt);
  EXPECT_EQ(s.type(2), PortType::kUnmarked);
}
TEST_F(HostPorts, AHypervisorThatAdvertisesBridgeIsAHost) {
  s.up(1);
  s.hear(1, {.capabilities = tlv::Capabilities::kBridge});
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.alarm(AlarmCode::kCabling, "swp1"), std::nullopt);
}
TEST_F(HostPorts, ASwitchThereIsAMistakeInCablingAndThePortStaysADownlink) {
  s.up(1);
  s.hear(1, a_switch("spine", 2));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.order(1), Order::kUp);
  EXPECT_EQ(s.alarm(AlarmCode::kCabling, "swp1"), "switch spine where host-ports expects a host");
  s.hear(1, {.name = "spine", .ttl = 0});
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.order(1), Order::kUp);  // it is remembered, and no host
  EXPECT_EQ(s.alarm(AlarmCode::kCabling, "swp1"), std::nullopt);
  s.down(1);
  s.up(1);
  s.pass(seconds(121));
  EXPECT_EQ(s.type(1), PortType::kDownlink);  // now whoever it was may be gone
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST_F(HostPorts, ItTakesOurTlvToBeASwitchThere) {
  const Claim reserved{.device = DeviceType::kUnknown, .level = level(3)};
  s.up(1);
  s.hear(1, {.tr = reserved});
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST_F(HostPorts, GoByTheNameALinkHasNow) {
  s.up(2);
  s.set({.ifindex = ifindex(2), .name = "lan7", .up = true});
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.type(2), PortType::kDownlink);
}

// Hosts

TEST(HostAgent, KeepsItsPortsUnmarkedWhateverItHears) {
  Settings settings;
  settings.role = Role::kHost;
  Single s(settings);
  s.up(1);
  s.hear(1, a_switch("leaf", 1));
  s.hear(1, a_switch("untold", std::nullopt));
  EXPECT_EQ(s.agent.level(), level(0));
  EXPECT_EQ(s.type(1), PortType::kUnmarked);
  EXPECT_EQ(s.order(1), Order::kUnknown);
  EXPECT_EQ(s.info(1).neighbors.size(), 2U);
  EXPECT_TRUE(s.agent.snapshot(s.now).alarms.empty());
}
TEST(HostAgent, LosesNoLevelItHadAsASwitch) {
  Settings settings;
  settings.role = Role::kHost;
  Single s(settings, {.level = level(2)});
  EXPECT_EQ(s.agent.state().level, level(2));
}

// Snapshot

// Interfaces of containers come and go for years: each takes the place of one that went.
TEST(Snapshot, TakesNoRoomForPortsThatHaveGone) {
  Single s;
  s.up(1);
  for (std::size_t i = 2; i < 100; ++i) {
    s.up(i);
    s.agent.remove_link(ifindex(i), s.now, s.out);
    s.take();
  }
  const auto ports = s.agent.snapshot(s.now).ports;
  EXPECT_EQ(ports.size(), 1U);
  EXPECT_LE(ports.capacity(), 2U);
}

TEST(Snapshot, PortsStandInTheOrderAPersonExpects) {
  Single s;
  std::size_t n = 0;
  for (const char* name : {"swp10", "swp2", "eth0", "swp2s1", "swp02", "swp"}) {
    s.set({.ifindex = ifindex(++n), .name = name, .up = true});
  }
  std::string names;
  for (const auto& p : s.agent.snapshot(s.now).ports) names += p.name + " ";
  EXPECT_EQ(names, "eth0 swp swp02 swp2 swp2s1 swp10 ");
}

}  // namespace
}  // namespace lldp::test
