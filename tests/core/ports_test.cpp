// SPDX-License-Identifier: Apache-2.0
// Types, orders and alarms: the table of one device, frame by frame. docs/rules.md O1, O2, O4.
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
  EXPECT_EQ(s.info(4).order, Order::kUp);  // order needs no neighbouring level
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

// Several neighbours

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

// What a neighbour claimed, and its System Capabilities

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

// Order

TEST(PortOrder, BetweenEqualLevelsTheChassisIdDecides) {
  Settings settings;
  settings.chassis_id = ChassisId{{ChassisId::kLocal, "m"}};
  Single s(settings);
  s.up(1, 4);
  s.hear(1, host());
  s.hear(2, a_switch("a", 1));
  s.hear(3, a_switch("z", 1));
  s.hear(4, a_switch("n", std::nullopt));
  s.up(5);
  s.hear(5, {.name = "m", .port = "x", .tr = switch_claim(1), .source = mac(9, 9)});
  EXPECT_EQ(s.order(5), Order::kUp);  // ourselves, or somebody of our name: the safe side
  EXPECT_EQ(s.order(1), Order::kDown);
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.order(3), Order::kUp);
  EXPECT_EQ(s.order(4), Order::kUnknown);
  EXPECT_EQ(s.type(2), PortType::kCrosslink);
}
TEST(PortOrder, WithoutAPlaceThereIsNone) {
  Settings settings;
  settings.max_level = Level::of<1>();
  Single s(settings);
  s.up(1);
  s.hear(1, a_switch("a", 1));
  EXPECT_EQ(s.order(1), Order::kUnknown);
}
TEST(PortOrder, OfAPortNobodyKnowsThereIsNone) {
  EXPECT_EQ(Single().order(7), Order::kUnknown);
  EXPECT_EQ(Single().type(7), PortType::kUnmarked);
}

// O1: the order of a port

/// At level 2 by a switch on port 1.
struct O1 : testing::Test {
  static Settings settings() {
    Settings s;
    s.chassis_id = ChassisId{{ChassisId::kLocal, "m"}};
    return s;
  }
  explicit O1(const core::State& state = {}) : s(settings(), state) {
    s.up(1, 5);
    s.hear(1, a_switch("leaf", 1));
  }
  Single s;
};
TEST_F(O1, GoesByThePlaceAndNotByTheLevel) {
  s.hear(2, a_switch("b", 2));
  s.hear(3, a_switch("z", 2));
  s.hear(4, host());
  EXPECT_EQ(s.agent.level(), level(1));
  s.hear(4, {.name = "srv", .tr = switch_claim(std::nullopt)});  // L4: the level is withdrawn
  ASSERT_EQ(s.agent.level(), std::nullopt);
  EXPECT_EQ(s.order(2), Order::kUp);  // the place is still level 1
  EXPECT_EQ(s.order(3), Order::kUp);
  EXPECT_EQ(s.order(4), Order::kDown);
  EXPECT_EQ(s.order(5), Order::kUnknown);
}
struct O1AtTheBottom : O1 {
  O1AtTheBottom() : O1({.place = Position{}}) {}
};
TEST_F(O1AtTheBottom, EverybodyIsAbove) {
  s.hear(2, host());
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.order(1), Order::kUp);
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.order(3), Order::kUnknown);
}

// O2: what a port remembers

TEST_F(O1, ANeighborThatLeavesOrAgesOutChangesNothing) {
  s.hear(2, a_switch("up", 3));
  s.hear(2, {.name = "up", .ttl = 0});
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.type(2), PortType::kUnmarked);
  s.pass(seconds(1000));
  EXPECT_EQ(s.order(1), Order::kDown);
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.agent.neighbor_count(), 0U);
}
TEST_F(O1, ANeighborThatTellsNoLevelChangesNothingAndIsNotUnprotected) {
  s.hear(2, a_switch("up", 3));
  s.hear(2, a_switch("up", std::nullopt));
  s.pass(seconds(5));
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_FALSE(s.info(2).unprotected);
  EXPECT_EQ(s.alarm(AlarmCode::kUnprotected, "swp2"), std::nullopt);
  s.hear(3, a_switch("new", std::nullopt));
  s.pass(seconds(5));
  EXPECT_TRUE(s.info(3).unprotected);
}
TEST_F(O1, OfSeveralSwitchesTheHighestThatWasToldIsRemembered) {
  s.hear(2, a_switch("low", 1));
  EXPECT_EQ(s.order(2), Order::kDown);
  s.hear(2, a_switch("up", 3));
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, a_switch("up", std::nullopt));  // what it told last stays
  s.hear(2, {.name = "low", .ttl = 99, .tr = switch_claim(1)});
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "up", .ttl = 0});
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "low", .tr = switch_claim(1)});  // a frame that says something new
  EXPECT_EQ(s.order(2), Order::kDown);
}
TEST_F(O1, AHostIsRememberedOnlyWhereThereIsNoSwitch) {
  s.hear(2, a_switch("up", 3));
  s.hear(2, host());
  EXPECT_EQ(s.type(2), PortType::kDownlink);
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "up", .ttl = 0});
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, host("another"));
  EXPECT_EQ(s.order(2), Order::kDown);
}
TEST_F(O1, ASwitchWhoseCarrierWentMayComeBackAbove) {
  s.down(1);
  s.up(1);
  EXPECT_EQ(s.order(1), Order::kUp);
  s.hear(1, a_switch("leaf", 1));
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST_F(O1, AHostWhoseCarrierWentIsForgotten) {
  s.hear(2, host());
  s.down(2);
  EXPECT_EQ(s.order(2), Order::kUnknown);
}
TEST_F(O1, ACarrierThatCameAndWentBetweenTwoReportsIsSeen) {
  s.hear(2, host());
  s.hear(3, a_switch("up", 3));
  s.sent.clear();
  for (std::size_t port : {1U, 2U, 3U})
    s.set({.ifindex = ifindex(port), .up = true, .carrier_changes = 2});
  EXPECT_EQ(s.order(1), Order::kUp);
  EXPECT_EQ(s.order(2), Order::kUnknown);
  EXPECT_EQ(s.agent.neighbor_count(), 0U);
  EXPECT_EQ(s.sent.size(), 3U);  // as on any link that comes up
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.hear(1, a_switch("leaf", 1));
  EXPECT_EQ(s.type(1), PortType::kCrosslink);
}
TEST_F(O1, WhoMayBeAboveIsForgottenOneTtlAfterTheCarrierIsBack) {
  s.down(1);
  s.pass(seconds(1000));
  EXPECT_EQ(s.order(1), Order::kUp);
  s.up(1);
  s.pass(milliseconds(120'999));
  EXPECT_EQ(s.order(1), Order::kUp);
  s.hear(1, {.name = "phone"});  // nobody with a level
  s.pass(milliseconds(1));
  EXPECT_EQ(s.order(1), Order::kUnknown);
}
TEST_F(O1, WhoWasHeardSinceIsNotForgotten) {
  s.down(1);
  s.up(1);
  s.hear(1, a_switch("leaf", 1));
  s.pass(seconds(1000));
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST_F(O1, APortRemembersAcrossARestart) {
  s.hear(2, host());
  s.hear(3, a_switch("up", 3));
  s.restart();
  s.up(1, 4);
  EXPECT_EQ(s.order(1), Order::kDown);
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.order(3), Order::kUp);
  EXPECT_EQ(s.order(4), Order::kUnknown);
}
TEST_F(O1, ItGoesByTheNameAndHoldsIfTheCarrierDid) {
  s.set({.ifindex = ifindex(2), .up = true, .carrier_changes = 4});
  s.hear(2, a_switch("low", 1));
  s.hear(3, host());
  const auto with = [&](Link link) {
    s.restart();
    s.set(std::move(link));
    return s.order(link.ifindex.value());
  };
  EXPECT_EQ(with({.ifindex = ifindex(2), .up = true, .carrier_changes = 4}), Order::kDown);
  EXPECT_EQ(with({.ifindex = ifindex(2), .up = true, .carrier_changes = 6}), Order::kUp);
  EXPECT_EQ(with({.ifindex = ifindex(3)}), Order::kUnknown);
  EXPECT_EQ(with({.ifindex = ifindex(9), .name = "swp1", .up = true}), Order::kUp);  // another one
}
TEST_F(O1, PortsThatAreNotThereYetAreNotForgotten) {
  s.hear(2, host());
  s.restart();
  s.up(1);
  s.restart();
  s.up(1, 2);
  EXPECT_EQ(s.order(2), Order::kDown);
}
TEST_F(O1, AnInterfaceThatComesBackIsAsOneWhoseCarrierWent) {
  s.agent.remove_link(ifindex(1), s.now, s.out);
  s.take();
  s.set({.ifindex = ifindex(21), .name = "swp1", .up = true});
  EXPECT_EQ(s.order(21), Order::kUp);
  s.pass(seconds(121));
  EXPECT_EQ(s.order(21), Order::kUnknown);
}
TEST_F(O1, SlotsAreUsedAgainAfterChurn) {
  for (int i = 0; i < 20; ++i) {
    s.agent.remove_link(ifindex(2), s.now, s.out);
    s.agent.remove_link(ifindex(3), s.now, s.out);
    s.take();
    s.up(2, 2);
    s.hear(2, host());
    s.hear(3, a_switch("up", 3));
    EXPECT_EQ(s.order(2), Order::kDown);
    EXPECT_EQ(s.order(3), Order::kUp);
  }
  EXPECT_EQ(s.agent.snapshot(s.now).ports.size(), 5U);
}
TEST_F(O1, EveryChangeOfAMemoryIsToBeSaved) {
  const auto states = [&] {
    const auto n = s.count(Event::Kind::kState);
    s.events.clear();
    return n;
  };
  s.events.clear();
  s.hear(2, a_switch("low", 1));
  EXPECT_EQ(states(), 1U);
  s.hear(2, {.name = "low", .ttl = 99, .tr = switch_claim(1)});  // nothing that a memory holds
  EXPECT_EQ(states(), 0U);
  s.down(2);
  EXPECT_EQ(states(), 1U);
  s.up(2);
  s.pass(seconds(130));
  EXPECT_EQ(states(), 1U);
}

// O2: silence

TEST_F(O1, ASwitchThatLeavesIsSilentAtOnce) {
  s.hear(1, {.name = "leaf", .ttl = 0});
  EXPECT_EQ(
      s.alarm(AlarmCode::kSilent, "swp1"),
      "switch leaf that was heard here is silent; its order is kept; `lldp-level forget swp1` "
      "if it is gone for good");
  s.hear(1, a_switch("leaf", std::nullopt));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(O1, AndSoIsOneThatAgesOut) {
  s.pass(milliseconds(119'999));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.pass(milliseconds(1));
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp1"));
}
TEST_F(O1, AfterAStartItHasOneTtlToBeHeard) {
  s.restart();
  s.up(1);
  s.pass(milliseconds(120'999));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.pass(milliseconds(1));
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp1"));
}
TEST_F(O1, AfterTheCarrierTooAndTheAlarmOutlivesTheMemory) {
  s.down(1);
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.up(1);
  s.pass(milliseconds(120'999));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.pass(seconds(1000));
  EXPECT_EQ(s.order(1), Order::kUnknown);
  EXPECT_EQ(
      s.alarm(AlarmCode::kSilent, "swp1"),
      "the switch that was heard here is silent; `lldp-level forget swp1` if it is gone for good");
  s.hear(1, {.name = "phone"});
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(O1, WhereThereIsNoCarrierNobodyIsSilent) {
  s.hear(1, {.name = "leaf", .ttl = 0});
  s.down(1);
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(O1, AHostInItsPlaceEndsTheSilenceAndAPhoneDoesNot) {
  s.hear(1, {.name = "leaf", .ttl = 0});
  s.hear(1, {.name = "phone"});
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp1"));
  s.hear(1, host());
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(O1, AnOperatorMayForgetAPort) {
  s.hear(1, {.name = "leaf", .ttl = 0});
  s.forget(1);
  EXPECT_EQ(s.order(1), Order::kUnknown);
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.hear(2, a_switch("up", 3));
  s.forget(2);
  EXPECT_EQ(s.order(2), Order::kUp);  // it is still there
  s.forget(77);                       // of which there is none
}

// O3: whose claim stands though its frames say nothing of it has proved nothing
TEST(O3, ANeighborWhoseClaimStandsIsWaitedFor) {
  Settings settings;
  settings.pinned_level = level(2);
  Single s(settings);
  s.up(1);
  s.hear(1, {.name = "a", .ttl = 900, .tr = switch_claim(3, PortType::kDownlink)});
  s.pass(seconds(122));
  settings.pinned_level = level(4);
  s.agent.configure(settings, s.now, s.out);
  s.take();
  s.hear(1, {.name = "a", .ttl = 900, .capabilities = tlv::Capabilities::kStationOnly});
  EXPECT_EQ(s.agent.state().place->level, level(2));
  s.hear(1, {.name = "a", .ttl = 900, .tr = switch_claim(3, PortType::kUplink)});
  EXPECT_EQ(s.agent.state().place->level, level(4));
}

// The same device under another name

TEST_F(O1, OfTwoNamesOfOneDeviceTheOneThatSpokeLastCounts) {
  const MacAddress one = mac(7, 7);
  s.hear(2, {.name = "z", .tr = switch_claim(2), .source = one});
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "a", .tr = switch_claim(2), .source = one});  // its farewell was lost
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.alarm(AlarmCode::kManyNeighbors, "swp2"), std::nullopt);
  s.hear(2, {.name = "z", .tr = switch_claim(2), .source = one});
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "a", .tr = switch_claim(2), .source = one});
  EXPECT_EQ(s.order(2), Order::kDown);
  s.hear(2, {.name = "z", .ttl = 0, .source = one});
  EXPECT_EQ(s.order(2), Order::kDown);
}
TEST_F(O1, AnAgentInTheNetworkCardDoesNotSpeakForTheDevice) {
  const MacAddress one = mac(7, 7);
  s.hear(2, {.name = "b", .tr = switch_claim(3), .source = one});
  s.hear(2, {.name = "nic", .source = one});
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.type(2), PortType::kUplink);
  EXPECT_TRUE(s.alarm(AlarmCode::kManyNeighbors, "swp2"));
}

// O1, O4: our own name, and rules of an earlier life

TEST_F(O1, OurOwnNameHeardIsAbove) {
  s.hear(2, {.name = "m", .port = "x", .tr = switch_claim(1), .source = mac(9, 9)});
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_TRUE(s.alarm(AlarmCode::kSelfLoop, "swp2"));
  s.pass(seconds(120));
  EXPECT_EQ(s.order(2), Order::kUnknown);
}
TEST(O4, RulesWithoutAPlaceAreThoseOfADeviceAtTheBottom) {
  Single s;
  s.agent.assume_rules(s.now, s.out);
  s.up(1, 2);
  s.hear(1, host());
  s.hear(2, a_switch("up", 2));
  EXPECT_EQ(s.order(1), Order::kUp);
  EXPECT_EQ(s.order(2), Order::kUp);
  s.pass(seconds(70));  // in the second half of the wait
  s.hear(1, {.name = "srv", .ttl = 121, .tr = host_claim()});
  s.hear(2, {.name = "up", .ttl = 121, .tr = switch_claim(2)});
  s.pass(seconds(60));
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST(O4, APlaceThatIsKnownStays) {
  Single s({}, {.level = level(2), .place = Position{Level::of<2>(), {}}});
  s.agent.assume_rules(s.now, s.out);
  EXPECT_EQ(s.agent.state().place->level, Level::of<2>());
}

// L3 and L4: what the operator is told

TEST_F(Ports, ALowerLevelThatIsNotTakenIsAnAlarmFromTheStart) {
  s.hear(1, a_switch("agg", 2));
  for (int hour = 0; hour < 24 * 12; ++hour) {
    s.pass(hours(1) - seconds(1));
    s.hear(1, a_switch("agg", 2));
    s.hear(1, {.name = "agg", .ttl = 65535, .tr = switch_claim(2)});
    s.pass(seconds(1));
  }
  s.hear(2, host("laptop"));
  EXPECT_EQ(s.agent.level(), level(3));
  EXPECT_EQ(
      s.alarm(AlarmCode::kLowerLevel, ""),
      "host laptop, heard on swp2; level 3 has stood for 11 days; `lldp-level forget` takes the "
      "lower one");
  s.hear(2, {.name = "laptop", .ttl = 0});
  EXPECT_EQ(s.alarm(AlarmCode::kLowerLevel, ""), std::nullopt);
}
TEST(Unsupported, IsAnAlarmAfterTenMinutes) {
  Single s({}, {.level = level(1), .supported = hours(24)});
  s.up(1);
  s.pass(seconds(599));
  EXPECT_TRUE(s.agent.snapshot(s.now).alarms.empty());
  s.pass(seconds(1));
  EXPECT_EQ(s.alarm(AlarmCode::kUnsupported, ""),
            "level 1 stands on memory: no host heard for 10 min; `lldp-level forget` relearns");
  s.pass(hours(5));
  EXPECT_EQ(s.alarm(AlarmCode::kUnsupported, ""),
            "level 1 stands on memory: no host heard for 5 h; `lldp-level forget` relearns");
  s.forget();
  EXPECT_EQ(s.agent.level(), std::nullopt);
  EXPECT_TRUE(s.agent.snapshot(s.now).alarms.empty());
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

// Alarms

TEST_F(Ports, Crosslink) {
  s.hear(1, host());
  s.hear(2, a_switch("leaf2", 1));
  EXPECT_EQ(alarm(AlarmCode::kCrosslink, 2), "leaf2 stands on our own level 1");
  s.hear(2, a_switch("leaf2", 2));
  EXPECT_EQ(alarm(AlarmCode::kCrosslink, 2), std::nullopt);
}
TEST_F(Ports, LevelSkip) {
  s.hear(1, host());
  s.hear(2, a_switch("spine", 3));
  EXPECT_EQ(alarm(AlarmCode::kLevelSkip, 2), "spine has level 3, we have 1");
  s.hear(2, a_switch("spine", 2));
  EXPECT_EQ(alarm(AlarmCode::kLevelSkip, 2), std::nullopt);
}
TEST(PinnedLevel, AHostAboveTheLeavesIsAnAlarm) {
  Settings settings;
  settings.pinned_level = level(3);
  Single s(settings);
  s.up(1);
  s.hear(1, host("srv9"));
  EXPECT_EQ(s.agent.level(), level(3));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.alarm(AlarmCode::kHostAboveLeaf, "swp1"), "host srv9 where the level is pinned to 3");
  EXPECT_EQ(s.alarm(AlarmCode::kLevelSkip, "swp1"), std::nullopt);
}
TEST(PinnedLevel, AHostOfALeafIsNone) {
  Settings settings;
  settings.pinned_level = level(1);
  Single s(settings);
  s.up(1);
  s.hear(1, host());
  EXPECT_TRUE(s.agent.snapshot(s.now).alarms.empty());
}
TEST(MaxLevel, IsNotPassed) {
  Settings settings;
  settings.max_level = level(2);
  Single s(settings);
  s.up(1, 2);
  s.hear(1, a_switch("deep", 2));
  EXPECT_EQ(s.agent.level(), std::nullopt);
  EXPECT_EQ(s.alarm(AlarmCode::kMaxLevel, ""),
            "level 3 is above infer.max-level 2 and not taken: deep at swp1 has 2");
  s.hear(2, a_switch("leaf", 1));
  EXPECT_EQ(s.alarm(AlarmCode::kMaxLevel, ""), std::nullopt);
}
TEST_F(Ports, ManyNeighborsAreNamedByChassisIdWhereTheyHaveNoName) {
  Bytes nameless = frame_of({.name = "x"});
  nameless.erase(nameless.end() - 3, nameless.end());  // the system name becomes the End TLV
  nameless[nameless.size() - 2] = nameless[nameless.size() - 1] = 0;
  s.hear(1, nameless);
  s.hear(1, {.name = "yy"});
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), "2 neighbors: x, yy");
  s.hear(1, {.name = "yy", .ttl = 0});
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), std::nullopt);
}
TEST_F(Ports, TlvConflictAndTrWins) {
  s.hear(1, {.name = "odd", .tr = switch_claim(2), .contribution = switch_claim(4)});
  EXPECT_EQ(s.agent.level(), level(3));
  s.pass(core::kConflictGrace);
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1),
            "odd: tr and contribution TLV disagree; tr is taken");
  s.hear(1, {.name = "odd", .tr = switch_claim(4), .contribution = switch_claim(4)});
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1), std::nullopt);
}
TEST_F(Ports, TlvConflictIsOneOfPortTypesTooButForWhatOneCannotSay) {
  auto tr = switch_claim(2);
  auto contribution = tr;
  tr.port = PortType::kUplink;
  contribution.port = PortType::kDownlink;
  s.hear(1, {.name = "odd", .tr = tr, .contribution = contribution});
  s.pass(core::kConflictGrace);
  EXPECT_TRUE(alarm(AlarmCode::kTlvConflict, 1));
  tr.port = PortType::kCrosslink;  // the contribution TLV has no word for it
  contribution.port = PortType::kUnmarked;
  s.hear(1, {.name = "odd", .tr = tr, .contribution = contribution});
  s.pass(core::kConflictGrace);
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1), std::nullopt);
}
TEST_F(Ports, TlvConflictOfAMomentIsNoAlarm) {
  for (std::size_t l = 2; l < 6; ++l) {  // lldpd sends after each TLV that it is given
    s.hear(1, {.name = "odd", .tr = switch_claim(l), .contribution = switch_claim(l + 1)});
    s.pass(milliseconds(900));
    EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1), std::nullopt);
    s.hear(1, {.name = "odd", .tr = switch_claim(l + 1), .contribution = switch_claim(l + 1)});
    s.pass(milliseconds(900));
  }
}
TEST_F(Ports, WhatTheContributionTlvCannotSayIsNoConflict) {
  const Claim crosslink = switch_claim(2, PortType::kCrosslink);
  s.hear(1, {.tr = crosslink, .contribution = crosslink});
  const Claim unknown = switch_claim(std::nullopt);
  s.hear(2, {.tr = unknown, .contribution = unknown});
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1), std::nullopt);
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 2), std::nullopt);
}
TEST_F(Ports, SelfLoopIsNoNeighborAndEndsWithItsTtl) {
  const Bytes own = s.sends(2).at(0).frame;
  s.hear(1, own);
  EXPECT_EQ(s.agent.neighbor_count(), 0U);
  EXPECT_EQ(s.agent.level(), std::nullopt);
  EXPECT_TRUE(alarm(AlarmCode::kSelfLoop, 1).has_value());
  EXPECT_EQ(alarm(AlarmCode::kSelfLoop, 2), std::nullopt);
  s.pass(milliseconds(120999));
  EXPECT_TRUE(alarm(AlarmCode::kSelfLoop, 1).has_value());
  s.pass(milliseconds(1));
  EXPECT_EQ(alarm(AlarmCode::kSelfLoop, 1), std::nullopt);
  s.hear(1, own);
  s.down(1);
  EXPECT_EQ(alarm(AlarmCode::kSelfLoop, 1), std::nullopt);
}
TEST_F(Ports, ASwitchThatTellsNoLevelIsUnprotected) {
  s.hear(1, a_switch("mute", std::nullopt));
  s.hear(2, {.name = "stock", .capabilities = tlv::Capabilities::kRouter});
  s.hear(3, {.name = "phone", .capabilities = 1U << 5});
  for (std::size_t port : {1U, 2U, 3U}) EXPECT_EQ(s.info(port).unprotected, port != 3);
  s.pass(seconds(2));
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1),
            "switch mute tells no level: run lldp-leveld there, or leave the port out: `ports = "
            "...,-swp1`");
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 2),
            "switch stock tells no level: run lldp-leveld there, or leave the port out: `ports = "
            "...,-swp2`");
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 3), std::nullopt);
  s.hear(1, a_switch("mute", 2));
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1), std::nullopt);
  EXPECT_FALSE(s.info(1).unprotected);
}
TEST_F(Ports, ASwitchThatHasJustStartedMayFindItsLevelFirst) {
  s.hear(1, a_switch("young", std::nullopt));
  s.pass(milliseconds(1999));
  s.hear(1, a_switch("young", 2));
  s.pass(seconds(1));
  s.hear(1, a_switch("young", std::nullopt));  // its order is known
  s.pass(seconds(10));
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 0U);
  s.hear(2, a_switch("mute", std::nullopt));
  s.pass(milliseconds(1999));
  s.hear(2, {.name = "mute", .ttl = 99, .tr = switch_claim(std::nullopt)});  // as before
  s.pass(milliseconds(1));
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 1U);
  EXPECT_EQ(s.agent.snapshot(s.now).alarms.at(0).since, s.now);
}
TEST_F(Ports, TheTextOfAnAlarmIsOfThePresent) {
  s.hear(1, a_switch("a", 3));
  s.hear(1, a_switch("b", 3));
  s.hear(1, a_switch("c", 3));
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 1U);
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), "3 neighbors: a, b, c");
}
TEST_F(Ports, AnAlarmIsRaisedAndClearedOnceAndKeepsItsTime) {
  s.hear(1, host());
  const TimePoint raised = s.now;
  s.hear(2, a_switch("leaf2", 1));
  s.pass(seconds(5));
  s.hear(2, {.name = "leaf2", .ttl = 99, .tr = switch_claim(1)});
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 1U);
  EXPECT_EQ(s.agent.snapshot(s.now).alarms.at(0).since, raised);
  s.down(2);
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 1U);
}
TEST_F(Ports, AnAlarmFollowsItsLinkToANewName) {
  s.hear(1, host());
  s.hear(2, a_switch("leaf2", 1));
  s.set({.ifindex = ifindex(2), .name = "up0", .up = true});
  EXPECT_EQ(alarm(AlarmCode::kCrosslink, 2), std::nullopt);
  EXPECT_TRUE(s.alarm(AlarmCode::kCrosslink, "up0").has_value());
  s.agent.remove_link(ifindex(2), s.now, s.out);
  EXPECT_TRUE(s.agent.snapshot(s.now).alarms.empty());
}
TEST_F(Ports, TheOwnersAlarmsStandBesideTheAgents) {
  s.hear(1, a_switch("mute", std::nullopt));
  s.pass(seconds(2));
  s.agent.raise_alarm(AlarmCode::kUnprotected, "swp1", "no rules", s.now, s.out);
  s.agent.raise_alarm(AlarmCode::kUnprotected, "swp1", "no rules yet", s.now, s.out);
  s.agent.raise_alarm(AlarmCode::kDataplane, "", "no CAP_BPF", s.now, s.out);
  s.take();
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 2U);
  EXPECT_EQ(s.agent.snapshot(s.now).alarms.size(), 2U);  // two reasons, one alarm
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1),
            "no rules yet; switch mute tells no level: run lldp-leveld there, or leave the port "
            "out: `ports = ...,-swp1`");
  s.agent.clear_alarm(AlarmCode::kUnprotected, "swp1", s.out);
  s.agent.clear_alarm(AlarmCode::kUnprotected, "swp1", s.out);
  s.take();
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 0U);
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1),
            "switch mute tells no level: run lldp-leveld there, or leave the port out: `ports = "
            "...,-swp1`");
  s.agent.raise_alarm(AlarmCode::kUnprotected, "swp1", "no rules", s.now, s.out);
  s.hear(1, a_switch("mute", 2));
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 0U);
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1), "no rules");
  s.agent.clear_alarm(AlarmCode::kUnprotected, "swp1", s.out);
  s.take();
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 1U);
}

TEST(AlarmBook, StandsInTheOrderOfCodeAndPort) {
  core::AlarmBook book;
  EXPECT_TRUE(book.raise(AlarmCode::kLevelSkip, "b", "1", TimePoint{}));
  EXPECT_TRUE(book.raise(AlarmCode::kCrosslink, "c", "2", TimePoint{}));
  EXPECT_TRUE(book.raise(AlarmCode::kLevelSkip, "a", "3", TimePoint{}));
  EXPECT_FALSE(book.raise(AlarmCode::kLevelSkip, "a", "4", TimePoint{seconds(1)}));
  std::string order;
  for (const auto& a : book.standing()) order += a.text;
  EXPECT_EQ(order, "241");
  EXPECT_EQ(book.find(AlarmCode::kLevelSkip, "a")->since, TimePoint{});
  EXPECT_EQ(book.find(AlarmCode::kLevelSkip, "c"), nullptr);
  EXPECT_FALSE(book.clear(AlarmCode::kLevelSkip, "c"));
  EXPECT_TRUE(book.clear(AlarmCode::kLevelSkip, "a"));
  EXPECT_EQ(book.find(AlarmCode::kLevelSkip, "a"), nullptr);
}

// Snapshot

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
