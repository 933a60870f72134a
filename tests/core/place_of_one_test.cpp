// SPDX-License-Identifier: Apache-2.0
// The place of a device that rises and falls: docs/rules.md O3. In networks: place_test.cpp.
#include <gtest/gtest.h>

#include "agent/core/alarm.hpp"
#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

using std::chrono::hours;

const ChassisId own = chassis_id_from_mac({2, 0, 0, 0, 0, 1});

/// It stood at level 1, and heard a switch of level 2 on port 1.
core::State below() {
  const ChassisId other = chassis_id_from_mac({2, 0, 0, 0, 0, 2});
  return {.chassis_id = own,
          .level = level(1),
          .place = Position{level(1), own},
          .ports = {{.name = "swp1",
                     .memory = {core::PortMemory::Kind::kSwitch, {level(2), other}},
                     .ifindex = ifindex(1),
                     .carrier_changes = 0}}};
}

// O5: what the start itself changes is told before the first frame
TEST(O5, AStartThatChangesTheChassisIdOrThePlaceTellsSo) {
  const auto tells = [](const Settings& settings, const core::State& file) {
    core::Actions out;
    TimePoint now{hours(1)};
    core::Agent agent(settings, file, now);
    agent.set_link({.ifindex = ifindex(1), .name = "swp1", .address = mac(0xff, 1), .up = true},
                   now, out);
    return std::ranges::any_of(out.events,
                               [](const Event& e) { return e.kind == Event::Kind::kState; });
  };
  Settings settings;
  const core::State file = core::Agent(settings, below(), TimePoint{hours(1)}).state();
  EXPECT_FALSE(tells(settings, file));  // it stands there
  settings.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 0});
  EXPECT_TRUE(tells(settings, file));  // and falls
  settings.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 9});
  EXPECT_TRUE(tells(settings, file));  // and rises
  settings.chassis_id.reset();
  settings.role = Role::kHost;
  EXPECT_TRUE(tells(settings, file));
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

// Nor when that ends: its kernel may go by what it heard of us before.
TEST(O3, AFrameThatSaysNothingOfTheLevelProvesNothing) {
  Single s{Settings{.pinned_level = level(3)}};
  s.up(1);
  s.hear(1, {.name = "a", .ttl = 60, .tr = switch_claim(2, PortType::kUplink)});
  s.pass(seconds(55));
  s.pin(1);
  Peer station{.name = "a", .ttl = 900, .capabilities = tlv::Capabilities::kStationOnly};
  s.hear(1, station);
  s.pin(3);
  s.pass(seconds(4));
  station.capabilities = *station.capabilities | 1U;  // something else, and no word of us
  s.hear(1, station);
  station.capabilities = tlv::Capabilities::kStationOnly;
  s.hear(1, station);
  s.pass(seconds(10));  // its claim is over
  EXPECT_EQ(s.agent.state().place->level, level(1));
  s.pin(4);
  s.pass(seconds(1));
  EXPECT_EQ(s.agent.state().place->level, level(1)) << "to wherever it rises";
  s.pin(3);
  for (int i = 0; i < 4; ++i) {
    s.pass(seconds(30));
    s.hear(1, station);
  }
  EXPECT_EQ(s.agent.state().place->level, level(1));
  s.pass(seconds(1));
  EXPECT_EQ(s.agent.state().place->level, level(3)) << "one TTL";
}
/// At level 1 for one TTL, and then pinned to 3: the place rises.
struct Rising : testing::Test {
  Rising() {
    s.up(1);
    s.hear(1, unmarked);
    s.pass(seconds(122));
    s.hear(1, unmarked);
  }
  void rise() { s.pin(3); }
  [[nodiscard]] std::optional<Level> place() const { return s.agent.state().place->level; }
  const Peer unmarked{.name = "a", .ttl = 900, .tr = switch_claim(2)};
  const Peer uplink{.name = "a", .ttl = 900, .tr = switch_claim(2, PortType::kUplink)};
  Single s{Settings{.pinned_level = level(1)}};
};
// It was dead meanwhile, and remembers what it heard before.
TEST_F(Rising, WhoIsHeardAgainAtTheEndOfTheWaitIsToldForHalfATtl) {
  rise();
  s.pass(seconds(5));
  s.hear(1, unmarked);
  s.pass(seconds(110));
  s.hear(1, unmarked);
  s.pass(seconds(30));
  s.hear(1, unmarked);
  s.pass(seconds(29));
  EXPECT_EQ(place(), level(1));
  s.pass(seconds(10));
  EXPECT_EQ(place(), level(3));
}
// Both were hosts, and hold each other for one.
TEST(O3, AHostThatIsNotHeardHoldsUpWhatAllHaveProvedToOneThatWasAHost) {
  for (const bool gone : {true, false}) {
    Single s{Settings{.role = Role::kHost}};
    s.up(1, 2);
    s.hear(1,
           {.name = "srv", .ttl = static_cast<std::uint16_t>(gone ? 60 : 900), .tr = host_claim()});
    s.hear(2, {.name = "a", .ttl = 900, .tr = switch_claim(1)});
    s.pass(seconds(122));
    Settings settings = s.agent.settings();
    settings.role = Role::kSwitch;
    settings.pinned_level = level(1);
    s.configure(settings);
    if (!gone) s.hear(1, {.name = "srv", .ttl = 899, .tr = switch_claim(1, PortType::kCrosslink)});
    s.hear(2, {.name = "a", .ttl = 900, .tr = switch_claim(1, PortType::kCrosslink)});
    s.pass(seconds(60));
    EXPECT_EQ(s.agent.state().place->level, gone ? Level::of<0>() : Level::of<1>());
    s.hear(2, {.name = "a", .ttl = 899, .tr = switch_claim(1, PortType::kCrosslink)});
    s.pass(seconds(61));
    EXPECT_EQ(s.agent.state().place->level, Level::of<1>()) << "one TTL";
  }
}
// Somebody may be there who heard us, and whose frames are lost.
TEST_F(Rising, APortThatHasHeardNobodySinceItsCarrierHoldsUpWhatAllHaveProved) {
  s.up(2);
  rise();
  s.hear(1, uplink);
  for (int i = 0; i < 4; ++i) {
    s.pass(seconds(30));
    s.hear(1, uplink);
  }
  EXPECT_EQ(place(), level(1));
  s.pass(seconds(1));
  EXPECT_EQ(place(), level(3));
}

TEST(O3, APlaceThatRisesWaitsForOneTtlWhereNobodyProves) {
  const core::State low{.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 1}),
                        .level = level(1),
                        .place = Position{level(1), chassis_id_from_mac({2, 0, 0, 0, 0, 1})}};
  Settings settings;
  settings.pinned_level = level(3);
  Single s(settings, low);
  s.up(1);
  EXPECT_EQ(s.agent.snapshot(s.now).place, level(1));
  s.pass(seconds(120));
  EXPECT_EQ(s.agent.snapshot(s.now).place, level(1));
  s.pass(seconds(1));  // our own TTL after the start
  EXPECT_EQ(s.agent.snapshot(s.now).place, level(3));
}

// It may have heard what we were, and none of what we are.
TEST(O3, ASwitchWhoseCarrierCameBackIsWaitedForThoughAllOthersHaveProved) {
  Settings settings;
  settings.pinned_level = level(2);
  Single s(settings);
  s.up(1, 2);
  s.hear(1, {.name = "a", .ttl = 900, .tr = switch_claim(3, PortType::kDownlink)});
  s.hear(2, {.name = "b", .ttl = 900, .tr = switch_claim(3, PortType::kDownlink)});
  s.pass(seconds(122));
  s.down(2);
  s.up(2);
  settings.pinned_level = level(4);
  s.agent.configure(settings, s.now, s.out);
  s.take();
  s.hear(1, {.name = "a", .ttl = 900, .tr = switch_claim(3, PortType::kUplink)});
  EXPECT_EQ(s.agent.state().place->level, level(2));
  s.pass(seconds(500));  // it is silent by now, and waited for all the same
  EXPECT_EQ(s.agent.state().place->level, level(2));
  s.hear(1, {.name = "a", .ttl = 900, .tr = switch_claim(3, PortType::kUplink)});
  s.hear(2, {.name = "b", .ttl = 900, .tr = switch_claim(3, PortType::kUplink)});
  EXPECT_EQ(s.agent.state().place->level, level(4));
}

TEST(O3, ASilentPortIsWaitedForWithoutLimit) {
  Settings settings;
  settings.pinned_level = level(3);
  Single s(settings, below());
  s.up(1, 2);
  s.pass(hours(2));
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp1"));
  EXPECT_EQ(s.agent.snapshot(s.now).place, level(1));
  s.down(1);  // dark: it forwards nothing, and nobody else has anything to prove
  EXPECT_EQ(s.agent.snapshot(s.now).place, level(3));
}

// Its agent may be dead, and rank us in its rules by what it heard before the cable went dark.
TEST(O3, APlaceThatRoseWhileACableWasDarkFallsWhenThatComesBack) {
  Settings settings;
  settings.pinned_level = level(3);
  for (const bool restarts : {false, true}) {
    Single s(settings, below());
    s.up(1, 2);
    s.hear(2, {.name = "b", .ttl = 3600, .tr = switch_claim(3, PortType::kDownlink)});
    EXPECT_EQ(s.order(2), Order::kUp);
    s.pass(seconds(200));
    s.hear(2, {.name = "b", .ttl = 3600, .tr = switch_claim(2, PortType::kUplink)});
    s.down(1);
    ASSERT_EQ(s.agent.snapshot(s.now).place, level(3));
    EXPECT_EQ(s.order(2), Order::kDown);
    if (restarts) {
      s.restart();
      s.up(2);
      s.hear(2, {.name = "b", .ttl = 3600, .tr = switch_claim(2, PortType::kUplink)});
      s.down(1);
    }
    EXPECT_EQ(s.agent.snapshot(s.now).place, level(3));
    s.up(1);
    EXPECT_EQ(s.agent.snapshot(s.now).place, level(1)) << "restarts: " << restarts;
    EXPECT_EQ(s.order(1), Order::kUp);
    EXPECT_EQ(s.order(2), Order::kUp);
    EXPECT_EQ(s.agent.state().place->level, level(1)) << "it is saved, too";
    s.pass(seconds(1000));
    EXPECT_EQ(s.agent.snapshot(s.now).place, level(1)) << "silent, it is waited for";
    s.down(1);
    s.up(1);  // once more, with nothing new
    EXPECT_EQ(s.agent.snapshot(s.now).place, level(1));
    s.hear(1, {.name = "a", .tr = switch_claim(2, PortType::kUplink)});
    s.hear(2, {.name = "b", .ttl = 3600, .tr = switch_claim(2, PortType::kUplink)});
    s.pass(seconds(60));
    s.hear(1, {.name = "a", .ttl = 300, .tr = switch_claim(2, PortType::kUplink)});
    s.hear(2, {.name = "b", .ttl = 3000, .tr = switch_claim(2, PortType::kUplink)});
    EXPECT_EQ(s.agent.snapshot(s.now).place, level(3)) << "both know";
    EXPECT_EQ(s.order(2), Order::kDown);
  }
}
// Its agent may be dead: a driver that is loaded late is a cable that was dark.
TEST(O3, APortThatComesAfterTheRiseMakesThePlaceFall) {
  Settings settings;
  settings.pinned_level = level(3);
  for (const std::size_t index : {1U, 21U}) {
    for (const auto kind : {core::PortMemory::Kind::kSwitch, core::PortMemory::Kind::kLeft}) {
      core::State state = below();
      if (kind == core::PortMemory::Kind::kLeft) state.ports[0].memory = {.kind = kind};
      Single s(settings, state);
      s.up(2);
      s.hear(2, {.name = "b", .ttl = 3600, .tr = switch_claim(2, PortType::kUplink)});
      s.pass(seconds(200));
      ASSERT_EQ(s.agent.snapshot(s.now).place, level(3));
      s.set({.ifindex = ifindex(index), .name = "swp1", .up = true});
      EXPECT_EQ(s.agent.snapshot(s.now).place, level(1)) << index;
    }
  }
}
TEST(O3, ADarkCableOfASwitchThatToldNoLevelIsNoOther) {
  Settings settings;
  settings.pinned_level = level(3);
  core::State state = below();
  state.ports[0].memory = {.kind = core::PortMemory::Kind::kLeft};
  Single s(settings, state);
  s.up(1);
  s.pass(seconds(300));
  ASSERT_EQ(s.agent.snapshot(s.now).place, level(1)) << "silent, it is waited for";
  s.down(1);
  s.pass(seconds(300));
  ASSERT_EQ(s.agent.snapshot(s.now).place, level(3));
  s.up(1);
  EXPECT_EQ(s.agent.snapshot(s.now).place, level(1));
}
// What it sent before we fell was true of the life before.
TEST(O3, WhatWasUnderWayWhenThePlaceFellProvesNothing) {
  Settings settings;
  settings.pinned_level = level(3);
  Single s(settings);
  s.up(1);
  s.hear(1, {.name = "a", .ttl = 900, .tr = switch_claim(2, PortType::kUplink)});
  s.pass(seconds(122));
  const auto pin = [&](unsigned to) {
    settings.pinned_level = level(to);
    s.agent.configure(settings, s.now, s.out);
    s.take();
  };
  pin(1);
  pin(3);
  s.hear(1, {.name = "a", .ttl = 899, .tr = switch_claim(2, PortType::kUplink)});  // late
  EXPECT_EQ(s.agent.state().place->level, level(1));
  s.hear(1, {.name = "a", .ttl = 900, .tr = switch_claim(2, PortType::kDownlink)});
  s.pass(seconds(6));
  EXPECT_EQ(s.agent.state().place->level, level(1));
  s.hear(1, {.name = "a", .ttl = 900, .tr = switch_claim(2, PortType::kUplink)});
  EXPECT_EQ(s.agent.state().place->level, level(3));
  pin(1);
  pin(3);
  s.hear(1, {.name = "a", .ttl = 899, .tr = switch_claim(2, PortType::kUplink)});
  s.pass(milliseconds(4999));
  s.hear(1, {.name = "b", .ttl = 900, .tr = switch_claim(2, PortType::kUplink)});
  s.pass(milliseconds(1));  // whatever they said meanwhile would be here
  EXPECT_EQ(s.agent.state().place->level, level(1));
  s.hear(1, {.name = "a", .ttl = 900, .tr = switch_claim(2, PortType::kUplink)});
  EXPECT_EQ(s.agent.state().place->level, level(1)) << "b is new, and may be late, too";
  s.hear(1, {.name = "b", .ttl = 899, .tr = switch_claim(2, PortType::kUplink)});
  EXPECT_EQ(s.agent.state().place->level, level(3));
}
TEST(O3, APortThatFlapsAndTakesANameThatMakesThePlaceFall) {
  Settings settings;
  settings.pinned_level = level(3);
  Single s(settings, {.chassis_id = own,
                      .level = level(3),
                      .place = Position{level(3), own},
                      .ports = {{.name = "swp9",
                                 .memory = {.kind = core::PortMemory::Kind::kAbove,
                                            .place = Position{level(1), own}}}}});
  s.set({.ifindex = ifindex(5), .name = "eth5", .up = true});
  s.hear(5, host());  // an alarm stands that names it
  s.set({.ifindex = ifindex(5), .name = "swp9", .up = true, .carrier_changes = 2});
  EXPECT_EQ(s.order(5), Order::kUp);
  EXPECT_EQ(s.agent.snapshot(s.now).place, level(1));
}
TEST(O3, ACableThatWasDarkWhileThePlaceStayedChangesNothing) {
  Settings settings;
  settings.pinned_level = level(2);
  Single s(settings);
  s.up(1, 2);
  s.hear(1, a_switch("a", 3));
  s.hear(2, a_switch("b", 1));
  s.down(2);
  s.pass(seconds(500));
  s.up(2);
  EXPECT_EQ(s.agent.snapshot(s.now).place, level(2));
  settings.pinned_level = level(1);  // it falls, and what is higher is no reason to rise
  s.down(1);
  s.agent.configure(settings, s.now, s.out);
  s.take();
  s.up(1);
  EXPECT_EQ(s.agent.snapshot(s.now).place, level(1));
}

}  // namespace
}  // namespace lldp::test
