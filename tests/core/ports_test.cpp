// SPDX-License-Identifier: Apache-2.0
// Rules 4, 7 and 9, the order of ports, and alarms: the table of one device, frame by frame.
#include <gtest/gtest.h>

#include "agent/core/alarm.hpp"
#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

using core::LevelSource;

struct Ports : testing::Test {
  Ports() { s.up(1, 4); }
  Single s{};
  [[nodiscard]] auto alarm(AlarmCode code, std::size_t port) const {
    return s.alarm(code, "swp" + std::to_string(port));
  }
};

// Rule 1

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

// Rule 2

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

// Rule 4

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
  EXPECT_EQ(s.order(2), Order::kUnknown);
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

// Rule 7

TEST_F(Ports, AHostWinsAmongSeveralNeighbors) {
  s.hear(1, a_switch("z", 3));
  s.hear(1, host("srv"));
  s.hear(1, a_switch("a", 1));
  EXPECT_EQ(s.agent.level(), level(1));
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.order(1), Order::kDown);
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), "3 neighbors: a, z, srv");
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

// Rule 9

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
TEST_F(HostPorts, ASwitchThereIsASwitchAndAMistakeInCabling) {
  s.up(1);
  s.hear(1, a_switch("spine", 2));
  EXPECT_EQ(s.type(1), PortType::kUplink);
  EXPECT_EQ(s.alarm(AlarmCode::kCabling, "swp1"), "switch spine where host-ports expects a host");
  s.hear(1, {.name = "spine", .ttl = 0});
  EXPECT_EQ(s.type(1), PortType::kDownlink);
  EXPECT_EQ(s.alarm(AlarmCode::kCabling, "swp1"), std::nullopt);
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
  EXPECT_EQ(s.order(1), Order::kDown);
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.order(3), Order::kUp);
  EXPECT_EQ(s.order(4), Order::kUnknown);
  EXPECT_EQ(s.type(2), PortType::kCrosslink);
}
TEST(PortOrder, WithoutOwnLevelThereIsNone) {
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
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1),
            "odd: tr and contribution TLV disagree; tr is taken");
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
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1), "switch mute tells no level");
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 2), "switch stock tells no level");
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
  s.hear(1, a_switch("young", std::nullopt));  // and it has as long again
  s.pass(milliseconds(1999));
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 0U);
  s.hear(1, {.name = "young", .ttl = 99, .tr = switch_claim(std::nullopt)});  // as before
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
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1), "no rules yet; switch mute tells no level");
  s.agent.clear_alarm(AlarmCode::kUnprotected, "swp1", s.out);
  s.agent.clear_alarm(AlarmCode::kUnprotected, "swp1", s.out);
  s.take();
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 0U);
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1), "switch mute tells no level");
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
