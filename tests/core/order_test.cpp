// SPDX-License-Identifier: Apache-2.0
// The order of a port, and what it remembers: docs/develop/rules.md A3, A8 of neighbors that tell
// their level by TR alone, and of hosts.
#include <gtest/gtest.h>

#include "agent/core/alarm.hpp"
#include "agent/core/port.hpp"
#include "tests/core/support/remembering.hpp"

namespace lldp::test {
namespace {

using core::LevelSource;
using std::chrono::hours;

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
  EXPECT_EQ(s.order(4), Order::kUp);  // heard, and of no level
  EXPECT_EQ(s.type(2), PortType::kCrosslink);
}
TEST(PortOrder, AtTheBottomEveryNeighborIsAbove) {
  Settings settings;
  settings.max_level = Level::of<1>();
  Single s(settings);
  s.up(1);
  EXPECT_EQ(s.order(1), Order::kUnknown);
  s.hear(1, a_switch("a", 1));
  EXPECT_EQ(s.order(1), Order::kUp);
}
TEST(PortOrder, OfAPortNobodyKnowsThereIsNone) {
  EXPECT_EQ(Single().order(7), Order::kUnknown);
  EXPECT_EQ(Single().type(7), PortType::kUnmarked);
}

// A3: the order of a port

TEST_F(Remembering, GoesByThePlaceAndNotByTheLevel) {
  s.hear(2, a_switch("b", 2));
  s.hear(3, a_switch("z", 2));
  s.hear(4, host());
  EXPECT_EQ(s.agent.level(), level(1));
  s.hear(4, {.name = "srv", .tr = switch_claim(std::nullopt)});  // L4: the level is withdrawn
  ASSERT_EQ(s.agent.level(), std::nullopt);
  EXPECT_EQ(s.order(2), Order::kUp);  // the place is still level 1
  EXPECT_EQ(s.order(3), Order::kUp);
  EXPECT_EQ(s.order(4), Order::kUp);  // no host any more
  EXPECT_EQ(s.order(5), Order::kUnknown);
}
// A3: what a port remembers of neighbors without the order TLV

TEST_F(Remembering, ANeighborThatLeavesOrAgesOutChangesNothing) {
  s.hear(2, a_switch("up", 3));
  s.hear(2, {.name = "up", .ttl = 0});
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.type(2), PortType::kUnmarked);
  s.pass(seconds(1000));
  EXPECT_EQ(s.order(1), Order::kDown);
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.agent.neighbor_count(), 0U);
}
TEST_F(Remembering, ANeighborThatTellsNoLevelChangesNothingAndIsNotUnprotected) {
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
TEST_F(Remembering, OfSeveralSwitchesTheHighestThatWasToldIsRemembered) {
  s.hear(2, a_switch("low", 1));
  EXPECT_EQ(s.order(2), Order::kDown);
  s.hear(2, a_switch("up", 3));
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, a_switch("up", std::nullopt));  // what it told last stays
  s.hear(2, a_switch("low", 1, PortType::kUplink));
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "up", .ttl = 0});
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, a_switch("low", 1));  // a frame that says something new
  EXPECT_EQ(s.order(2), Order::kDown);
}
TEST_F(Remembering, AHostIsRememberedOnlyWhereThereIsNoSwitch) {
  s.hear(2, a_switch("up", 3));
  s.hear(2, host());
  EXPECT_EQ(s.type(2), PortType::kDownlink);
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "up", .ttl = 0});
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, host("another"));
  EXPECT_EQ(s.order(2), Order::kDown);
}
TEST_F(Remembering, ASwitchWhoseCarrierWentMayComeBackAbove) {
  s.down(1);
  s.up(1);
  EXPECT_EQ(s.order(1), Order::kUp);
  s.hear(1, a_switch("leaf", 1));
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST_F(Remembering, AHostWhoseCarrierWentLeavesThePortUp) {
  s.hear(2, host());
  s.down(2);
  EXPECT_EQ(s.order(2), Order::kUp);
}
TEST_F(Remembering, ACarrierThatCameAndWentBetweenTwoReportsIsSeen) {
  s.hear(2, host());
  s.hear(3, a_switch("up", 3));
  s.sent.clear();
  for (std::size_t port : {1U, 2U, 3U})
    s.set({.ifindex = ifindex(port), .up = true, .carrier_changes = 2});
  EXPECT_EQ(s.order(1), Order::kUp);
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.agent.neighbor_count(), 0U);
  EXPECT_EQ(s.sent.size(), 3U);  // as on any link that comes up
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.hear(1, a_switch("leaf", 1));
  EXPECT_EQ(s.type(1), PortType::kCrosslink);
}
TEST_F(Remembering, WhoWasHeardSinceIsNotForgotten) {
  s.down(1);
  s.up(1);
  s.hear(1, a_switch("leaf", 1));
  s.pass(seconds(1000));
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST_F(Remembering, APortRemembersAcrossARestart) {
  s.hear(2, host());
  s.hear(3, a_switch("up", 3));
  s.restart();
  s.up(1, 4);
  EXPECT_EQ(s.order(1), Order::kDown);
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.order(3), Order::kUp);
  EXPECT_EQ(s.order(4), Order::kUnknown);
}
TEST_F(Remembering, ItGoesByTheNameAndHoldsIfTheCarrierDid) {
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
  EXPECT_EQ(with({.ifindex = ifindex(3)}), Order::kUp);
  EXPECT_EQ(with({.ifindex = ifindex(9), .name = "swp1", .up = true}), Order::kUp);  // another one
}
TEST_F(Remembering, PortsThatAreNotThereYetAreNotForgotten) {
  s.hear(2, host());
  s.restart();
  s.up(1);
  s.restart();
  s.up(1, 2);
  EXPECT_EQ(s.order(2), Order::kDown);
}
TEST_F(Remembering, AnInterfaceThatComesBackIsAsOneWhoseCarrierWent) {
  s.agent.remove_link(ifindex(1), s.now, s.out);
  s.take();
  s.set({.ifindex = ifindex(21), .name = "swp1", .up = true});
  EXPECT_EQ(s.order(21), Order::kUp);
  s.hear(21, {.name = "phone", .ttl = 3600});
  s.pass(seconds(121));
  EXPECT_EQ(s.order(21), Order::kUp);
}
// As when its driver is loaded anew: the kernel's name first, and then the one that it is to have.
TEST_F(Remembering, AnInterfaceThatComesBackAndIsNamedThenIsToo) {
  s.agent.remove_link(ifindex(1), s.now, s.out);
  s.take();
  s.set({.ifindex = ifindex(21), .name = "eth0"});
  EXPECT_EQ(s.order(21), Order::kUnknown);
  s.set({.ifindex = ifindex(21), .name = "swp1", .up = true});
  EXPECT_EQ(s.order(21), Order::kUp);
  s.restart();
  s.set({.ifindex = ifindex(21), .name = "swp1", .up = true});
  EXPECT_EQ(s.order(21), Order::kUp);
}
TEST_F(Remembering, AMemoryGoesWithItsPortToANewName) {
  s.agent.remove_link(ifindex(1), s.now, s.out);
  s.take();
  s.hear(2, host());
  s.set({.ifindex = ifindex(2), .name = "swp1", .up = true});
  EXPECT_EQ(s.order(2), Order::kDown) << "and what another port of that name heard is over";
  ASSERT_EQ(s.agent.state().ports.size(), 1U);
  EXPECT_EQ(s.agent.state().ports.front().name, "swp1");
  s.restart();
  s.set({.ifindex = ifindex(2), .name = "swp1", .up = true});
  EXPECT_EQ(s.order(2), Order::kDown);
}
TEST_F(Remembering, SlotsAreUsedAgainAfterChurn) {
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
TEST_F(Remembering, EveryChangeOfAMemoryIsToBeSaved) {
  const auto states = [&] {
    const auto n = s.count(Event::Kind::kState);
    s.events.clear();
    return n;
  };
  s.events.clear();
  s.hear(2, a_switch("low", 1));
  EXPECT_GE(states(), 1U);
  s.hear(2, {.name = "low", .ttl = 99, .tr = switch_claim(1)});  // nothing that a memory holds
  EXPECT_EQ(states(), 0U);
  s.down(2);
  EXPECT_GE(states(), 1U);
  s.up(2);
  s.pass(seconds(130));
  EXPECT_LE(states(), 1U);  // no neighbor was heard; the location grew older
  s.hear(2, {.name = "phone"});
  EXPECT_EQ(states(), 1U);
}

// Silence

TEST_F(Remembering, ASwitchThatLeavesIsSilentAtOnce) {
  s.hear(1, {.name = "leaf", .ttl = 0});
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"),
            "no LLDP from switch leaf; the port keeps its order; if the switch was removed: "
            "`lldp-level forget swp1`");
  s.hear(1, a_switch("leaf", std::nullopt));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(Remembering, AndSoIsOneThatToldNoLevel) {
  s.up(2);
  s.hear(2, a_switch("new", std::nullopt));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  s.hear(2, {.name = "new", .ttl = 0});
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp2"));
  s.hear(2, host());
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  s.hear(2, {.name = "srv", .ttl = 0});  // a host may go
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
}
TEST_F(Remembering, AndSoIsOneThatAgesOut) {
  s.pass(milliseconds(119'999));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.pass(milliseconds(1));
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp1"));
}
TEST_F(Remembering, AfterAStartItHasOneTtlToBeHeard) {
  s.restart();
  s.up(1);
  s.pass(milliseconds(120'999));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.pass(milliseconds(1));
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp1"));
}
TEST_F(Remembering, AfterTheCarrierTooAndSoIsTheOrderUntilSomebodyIsHeard) {
  s.down(1);
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.up(1);
  s.pass(milliseconds(120'999));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.pass(seconds(1000));
  EXPECT_EQ(s.order(1), Order::kUp) << "its agent may be dead, and its rules there";
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"),
            "no LLDP from the switch; the port is up, which is safe; if the switch was removed: "
            "`lldp-level forget swp1`");
  s.hear(1, {.name = "phone"});
  EXPECT_EQ(s.order(1), Order::kUp);
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(Remembering, OnAPortOfHostPortsASwitchThatIsNotHeardAgainIsNoneAfterOneTtl) {
  s.agent.configure({.host_ports = {"swp1"}}, s.now, s.out);
  s.take();
  s.down(1);
  s.up(1);
  s.pass(milliseconds(120'999));
  EXPECT_EQ(s.order(1), Order::kUp);
  s.pass(milliseconds(1));
  EXPECT_EQ(s.order(1), Order::kDown);
}
TEST_F(Remembering, AndSoOnAPortThatIsNamedAmongThemLater) {
  s.down(1);
  s.up(1);
  s.pass(seconds(300));
  EXPECT_EQ(s.order(1), Order::kUp);
  s.agent.configure({.host_ports = {"swp1"}}, s.now, s.out);
  s.take();
  s.pass(seconds(1));
  EXPECT_EQ(s.order(1), Order::kDown);
}
// It says that it has no level yet, each time.
TEST_F(Remembering, AboveOutlivesAnAgentThatStartsTwiceWithinOneTtl) {
  s.down(1);
  s.up(1);
  s.hear(1, a_switch("leaf", std::nullopt));
  s.hear(1, {.name = "leaf", .ttl = 0});
  s.hear(1, a_switch("leaf", std::nullopt));
  EXPECT_EQ(s.order(1), Order::kUp);
}
// Whoever killed us or pulled the cable once more brought nobody back.
TEST_F(Remembering, TheAlarmOutlivesARestartAndTheNextLossOfTheCarrier) {
  const std::string silent =
      "no LLDP from the switch; the port is up, which is safe; if the switch was removed: "
      "`lldp-level forget swp1`";
  s.down(1);
  s.up(1);
  s.pass(seconds(300));
  ASSERT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), silent);
  s.restart();
  s.up(1);
  EXPECT_EQ(s.order(1), Order::kUp);
  s.pass(milliseconds(120'999));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.pass(milliseconds(1));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), silent);
  s.down(1);
  s.up(1);
  s.pass(seconds(300));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), silent);
  s.hear(1, {.name = "phone"});  // tells no level: no memory, and no silence
  s.hear(1, {.name = "phone", .ttl = 0});
  s.restart();
  s.up(1);
  s.pass(seconds(300));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  EXPECT_FALSE(s.info(1).unprotected);
}
TEST_F(Remembering, TheAlarmOfASwitchThatToldNoLevelOutlivesARestartToo) {
  s.hear(2, a_switch("n", std::nullopt));
  s.hear(2, {.name = "n", .ttl = 0});
  ASSERT_NE(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  s.restart();
  s.up(2);
  EXPECT_TRUE(s.info(2).unprotected);
  s.pass(seconds(121));
  EXPECT_NE(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  s.hear(2, host());
  s.restart();
  s.up(2);
  s.pass(seconds(121));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
}
// Who was there all the while has not come in the place of who left.
TEST_F(Remembering, OnlyWhoIsHeardAnewEndsTheSilenceOfASwitchThatToldNoLevel) {
  s.hear(2, {.name = "phone"});
  s.hear(2, a_switch("n", std::nullopt));
  s.hear(2, {.name = "n", .ttl = 0});
  EXPECT_NE(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  EXPECT_TRUE(s.info(2).unprotected);
  s.hear(2, {.name = "phone"});  // as before
  EXPECT_NE(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  s.hear(2, {.name = "printer"});
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  EXPECT_FALSE(s.info(2).unprotected);
}
// It is there, and heard. What it says of itself keeps no place from rising.
TEST_F(Remembering, WhoSaysThatItIsAHostNowHasNotLeft) {
  s.hear(2, a_switch("n", 1));
  s.hear(2, host("n"));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  EXPECT_EQ(s.order(2), Order::kDown);
  s.hear(2, {.name = "n", .ttl = 0});
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt) << "a host may go";
  s.hear(2, a_switch("n", std::nullopt));
  s.hear(2, host("n"));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  s.hear(2, a_switch("n", 1));
  s.hear(2, {.name = "n", .ttl = 0});
  EXPECT_NE(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
}
// A switch is remembered, and none is heard.
TEST_F(Remembering, ASwitchIsMissedThoughItsNeighborSaysThatItIsNoneNow) {
  s.hear(2, a_switch("n", 1));
  s.hear(2, {.name = "n"});
  s.pass(seconds(120));
  EXPECT_NE(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
}
// Another device came with the carrier: what is said of the port is the same before and after a
// restart.
TEST_F(Remembering, WhereSomebodyElseIsHeardAfterTheCarrierNoSwitchIsMissed) {
  s.down(1);
  s.up(1);
  s.hear(1, {.name = "phone", .ttl = 3600});
  s.pass(seconds(300));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.restart();
  s.up(1);
  EXPECT_FALSE(s.info(1).unprotected);
  s.pass(seconds(300));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(Remembering, ForgettingAPortEndsItsSilenceForGood) {
  s.down(1);
  s.up(1);
  s.pass(seconds(300));
  s.forget(1);
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.restart();
  s.up(1);
  s.pass(seconds(300));
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(Remembering, WhereThereIsNoCarrierNobodyIsSilent) {
  s.hear(1, {.name = "leaf", .ttl = 0});
  s.down(1);
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(Remembering, AHostInItsPlaceEndsTheSilenceAndAPhoneDoesNot) {
  s.hear(1, {.name = "leaf", .ttl = 0});
  s.hear(1, {.name = "phone"});
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp1"));
  s.hear(1, host());
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
}
TEST_F(Remembering, AnOperatorMayForgetAPort) {
  s.hear(1, {.name = "leaf", .ttl = 0});
  s.forget(1);
  EXPECT_EQ(s.order(1), Order::kUnknown);
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp1"), std::nullopt);
  s.hear(2, a_switch("up", 3));
  s.forget(2);
  EXPECT_EQ(s.order(2), Order::kUp);  // it is still there
  s.forget(77);                       // of which there is none
}

// An address of ours that changes, or a reload, is nothing that a neighbor says.
TEST_F(Remembering, ASwitchWhoseTlvsAreLostForAWhileIsNoHostByANewConfiguration) {
  s.up(2);
  s.hear(2, a_switch("up", 3));
  s.hear(2, {.name = "up", .capabilities = tlv::Capabilities::kStationOnly});
  ASSERT_EQ(s.order(2), Order::kUp);
  Settings changed = s.agent.settings();
  changed.router = !changed.router;
  s.agent.configure(changed, s.now, s.out);
  s.take();
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.type(2), PortType::kUplink);
  s.pass(seconds(121));  // what it said is over
  s.hear(2, {.name = "up", .capabilities = tlv::Capabilities::kStationOnly});
  EXPECT_EQ(s.order(2), Order::kDown);
}

// A memory is set only by a frame.

TEST_F(Remembering, ForHowLongAFrameIsValidIsNothingNew) {
  s.hear(2, host("srv"));
  s.hear(2, {.name = "z", .ttl = 60, .tr = switch_claim(3)});
  s.pass(seconds(60));
  ASSERT_TRUE(s.alarm(AlarmCode::kSilent, "swp2"));
  s.hear(2, {.name = "srv", .ttl = 119, .tr = host_claim()});
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp2"));
  EXPECT_EQ(s.order(2), Order::kUp);
}
TEST_F(Remembering, AChangeOfSettingsDoesNotSetWhatIsRemembered) {
  s.hear(2, {.name = "z", .ttl = 60, .tr = switch_claim(2)});
  s.hear(2, {.name = "phone", .ttl = 900, .capabilities = tlv::Capabilities::kStationOnly});
  s.pass(seconds(61));
  const auto order = s.order(2);
  const auto ports = s.agent.state().ports;
  Settings other = settings();
  other.system_description = "another";
  s.agent.configure(other, s.now, s.out);
  s.take();
  EXPECT_EQ(s.order(2), order);
  EXPECT_EQ(order, Order::kUp);
  EXPECT_EQ(s.agent.state().ports, ports);
}
TEST_F(Remembering, SettingsThatReadAFrameOtherwiseDo) {
  Settings other = settings();
  other.accepted_ouis = {};
  s.agent.configure(other, s.now, s.out);
  s.take();
  s.hear(2, {.name = "z", .contribution = switch_claim(2)});
  EXPECT_EQ(s.order(2), Order::kUp);  // heard, and of no level
  s.agent.configure(settings(), s.now, s.out);
  s.take();
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "z", .ttl = 0});
  EXPECT_EQ(s.order(2), Order::kUp);
}

// Our own name

TEST_F(Remembering, OurOwnNameHeardIsAbove) {
  s.hear(2, {.name = "m", .port = "x", .tr = switch_claim(1), .source = mac(9, 9)});
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_TRUE(s.alarm(AlarmCode::kSelfLoop, "swp2"));
  s.pass(seconds(120));
  EXPECT_EQ(s.order(2), Order::kUnknown);
}
TEST(Stop, AnOrderlyStopSavesTheSupportUpToIt) {
  Single s;
  s.up(1);
  s.hear(1, host());
  s.pass(seconds(100));
  s.agent.shutdown(s.now, s.out);
  EXPECT_EQ(s.agent.state().supported, Duration(seconds(100)));
}
}  // namespace
}  // namespace lldp::test
