// SPDX-License-Identifier: Apache-2.0
// The alarms of one device.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/core/alarm.hpp"
#include "agent/core/port.hpp"
#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

using core::LevelSource;
using std::chrono::hours;
using std::chrono::minutes;

struct Alarms : testing::Test {
  Alarms() { s.up(1, 4); }
  Single s{};
  [[nodiscard]] auto alarm(AlarmCode code, std::size_t port) const {
    return s.alarm(code, "swp" + std::to_string(port));
  }
};

// L3 and L4: what the operator is told

TEST_F(Alarms, ALowerLevelThatIsNotTakenIsAnAlarmFromTheStart) {
  s.hear(1, a_switch("agg", 2));
  s.looks_at_what_is_saved = false;
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
            "level 1 has no support: no host heard for 10 min; `lldp-level forget` relearns");
  s.pass(hours(5));
  EXPECT_EQ(s.alarm(AlarmCode::kUnsupported, ""),
            "level 1 has no support: no host heard for 5 h; `lldp-level forget` relearns");
  s.forget();
  EXPECT_EQ(s.agent.level(), std::nullopt);
  EXPECT_TRUE(s.agent.snapshot(s.now).alarms.empty());
}

// Alarms

TEST_F(Alarms, Crosslink) {
  s.hear(1, host());
  s.hear(2, a_switch("leaf2", 1));
  EXPECT_EQ(alarm(AlarmCode::kCrosslink, 2), "leaf2 stands on our own level 1");
  s.hear(2, a_switch("leaf2", 2));
  EXPECT_EQ(alarm(AlarmCode::kCrosslink, 2), std::nullopt);
}
TEST_F(Alarms, LevelSkip) {
  s.hear(1, host());
  s.hear(2, a_switch("spine", 3));
  EXPECT_EQ(alarm(AlarmCode::kLevelSkip, 2), "spine has level 3, we have 1");
  s.hear(2, a_switch("spine", 2));
  EXPECT_EQ(alarm(AlarmCode::kLevelSkip, 2), std::nullopt);
}
// docs/develop/rules.md L4: by its new name it says that it has none; its old one would have stood
// for a TTL.
TEST(L4, WhoGivesUpItsLevelUnderANewNameIsFollowedAtOnce) {
  Single s;
  s.up(1, 2);
  const MacAddress source = mac(7, 7);
  s.hear(1, {.name = "leaf", .tr = switch_claim(1), .source = source});
  EXPECT_EQ(s.agent.level(), level(2));
  s.hear(1, {.name = "renamed", .tr = switch_claim({}), .source = source});
  EXPECT_EQ(s.agent.level(), std::nullopt);
}
TEST(PinnedLevel, ASwitchTwoLevelsBelowSkipsOneToo) {
  Settings settings;
  settings.pinned_level = level(4);
  Single s(settings);
  s.up(1);
  s.hear(1, a_switch("leaf", 2));
  EXPECT_EQ(s.alarm(AlarmCode::kLevelSkip, "swp1"), "leaf has level 2, we have 4");
  s.hear(1, a_switch("leaf", 3));
  EXPECT_EQ(s.alarm(AlarmCode::kLevelSkip, "swp1"), std::nullopt);
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
TEST_F(Alarms, ManyNeighborsAreNamedByChassisIdWhereTheyHaveNoName) {
  Bytes nameless = frame_of({.name = "x"});
  nameless.erase(nameless.end() - 3, nameless.end());  // the system name becomes the End TLV
  nameless[nameless.size() - 2] = nameless[nameless.size() - 1] = 0;
  s.hear(1, nameless);
  s.hear(1, {.name = "yy"});
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), "2 neighbors: x, yy");
  s.hear(1, {.name = "yy", .ttl = 0});
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), std::nullopt);
}
TEST_F(Alarms, TlvConflictAndTrWins) {
  s.hear(1, {.name = "odd", .tr = switch_claim(2), .contribution = switch_claim(4)});
  EXPECT_EQ(s.agent.level(), level(3));
  s.pass(core::kConflictGrace);
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1),
            "odd: tr and contribution TLV disagree; tr is taken");
  s.hear(1, {.name = "odd", .tr = switch_claim(4), .contribution = switch_claim(4)});
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1), std::nullopt);
}
TEST_F(Alarms, TlvConflictIsOneOfPortTypesTooButForWhatOneCannotSay) {
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
TEST_F(Alarms, TlvConflictOfAMomentIsNoAlarm) {
  for (std::size_t l = 2; l < 6; ++l) {  // lldpd sends after each TLV that it is given
    s.hear(1, {.name = "odd", .tr = switch_claim(l), .contribution = switch_claim(l + 1)});
    s.pass(milliseconds(900));
    EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1), std::nullopt);
    s.hear(1, {.name = "odd", .tr = switch_claim(l + 1), .contribution = switch_claim(l + 1)});
    s.pass(milliseconds(900));
  }
}
TEST_F(Alarms, WhatTheContributionTlvCannotSayIsNoConflict) {
  const Claim crosslink = switch_claim(2, PortType::kCrosslink);
  s.hear(1, {.tr = crosslink, .contribution = crosslink});
  const Claim unknown = switch_claim(std::nullopt);
  s.hear(2, {.tr = unknown, .contribution = unknown});
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 1), std::nullopt);
  EXPECT_EQ(alarm(AlarmCode::kTlvConflict, 2), std::nullopt);
}
TEST_F(Alarms, SelfLoopIsNoNeighborAndEndsWithItsTtl) {
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
TEST_F(Alarms, AHostThatTurnsOutToForwardIsUnprotected) {
  s.up(1);
  Peer peer{.name = "starts", .capabilities = tlv::Capabilities::kStationOnly};
  s.hear(1, peer);
  s.hear(2, host());
  peer.capabilities = tlv::Capabilities::kRouter;
  s.hear(1, peer);
  s.pass(seconds(3));
  EXPECT_EQ(s.info(1).order, Order::kUp);  // no host without our TLV: docs/develop/rules.md A3
  EXPECT_TRUE(s.info(1).unprotected);
  EXPECT_NE(alarm(AlarmCode::kUnprotected, 1), std::nullopt);
  peer.capabilities = tlv::Capabilities::kStationOnly;
  s.hear(1, peer);
  s.pass(seconds(1));
  EXPECT_FALSE(s.info(1).unprotected);
}

TEST_F(Alarms, ASilentSwitchIsProtectedAsOneAboveThoughItsCarrierWent) {
  s.hear(2, host());
  s.hear(1, a_switch("agg", 2));
  EXPECT_FALSE(s.info(1).unprotected);
  s.hear(1, {.name = "agg", .ttl = 0});
  s.down(1);
  s.up(1);
  s.pass(hours(1));
  EXPECT_EQ(s.info(1).order, Order::kUp);
  EXPECT_NE(alarm(AlarmCode::kSilent, 1), std::nullopt);
  EXPECT_FALSE(s.info(1).unprotected);
}

TEST_F(Alarms, WhatOnlyABridgeSendsIsASwitch) {
  for (const auto bit : {tlv::Capabilities::kCVlan, tlv::Capabilities::kSVlan,
                         tlv::Capabilities::kTwoPortMacRelay}) {
    s.up(1);
    s.hear(1, {.name = "vlan", .capabilities = bit});
    s.pass(seconds(3));
    EXPECT_TRUE(s.info(1).unprotected) << bit;
    s.down(1);
  }
}

TEST_F(Alarms, ASwitchThatTellsNoLevelIsUnprotected) {
  s.hear(1, a_switch("mute", std::nullopt));
  s.hear(2, {.name = "stock", .capabilities = tlv::Capabilities::kRouter});
  s.hear(3, {.name = "phone", .capabilities = 1U << 5});
  for (std::size_t port : {1U, 2U, 3U}) EXPECT_EQ(s.info(port).unprotected, port != 3);
  s.pass(seconds(2));
  EXPECT_EQ(
      alarm(AlarmCode::kUnprotected, 1),
      "switch mute runs an agent and tells no level, so packets between it and this port turn "
      "unchanged: there, name the ports of its hosts in host-ports, or pin `level`");
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 2),
            "switch stock tells no level: run lldp-leveld there, or leave the port out: `ports = "
            "...,-swp2`");
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 3), std::nullopt);
  s.hear(1, a_switch("mute", 2));
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1), std::nullopt);
  EXPECT_FALSE(s.info(1).unprotected);
}
TEST_F(Alarms, ASwitchThatHasJustStartedMayFindItsLevelFirst) {
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
TEST_F(Alarms, TheTextOfAnAlarmIsOfThePresent) {
  s.hear(1, a_switch("a", 3));
  s.hear(1, a_switch("b", 3));
  s.hear(1, a_switch("c", 3));
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 1U);
  EXPECT_EQ(alarm(AlarmCode::kManyNeighbors, 1), "3 neighbors: a, b, c");
}
TEST_F(Alarms, AnAlarmIsRaisedAndClearedOnceAndKeepsItsTime) {
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
TEST_F(Alarms, AnAlarmFollowsItsLinkToANewName) {
  s.hear(1, host());
  s.hear(2, a_switch("leaf2", 1));
  s.set({.ifindex = ifindex(2), .name = "up0", .up = true});
  EXPECT_EQ(alarm(AlarmCode::kCrosslink, 2), std::nullopt);
  EXPECT_TRUE(s.alarm(AlarmCode::kCrosslink, "up0").has_value());
  s.agent.remove_link(ifindex(2), s.now, s.out);
  EXPECT_TRUE(s.agent.snapshot(s.now).alarms.empty());
}
TEST_F(Alarms, TheOwnersAlarmsStandBesideTheAgents) {
  s.hear(1, a_switch("mute", std::nullopt));
  s.pass(seconds(2));
  s.agent.raise_alarm(AlarmCode::kUnprotected, "swp1", "no rules", s.now, s.out);
  s.agent.raise_alarm(AlarmCode::kUnprotected, "swp1", "no rules yet", s.now, s.out);
  s.agent.raise_alarm(AlarmCode::kDataplane, "", "no CAP_BPF", s.now, s.out);
  s.take();
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 2U);
  EXPECT_EQ(s.agent.snapshot(s.now).alarms.size(), 2U);  // two reasons, one alarm
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1),
            "no rules yet; switch mute runs an agent and tells no level, so packets between it and "
            "this port turn unchanged: there, name the ports of its hosts in host-ports, or pin "
            "`level`");
  s.agent.clear_alarm(AlarmCode::kUnprotected, "swp1", s.out);
  s.agent.clear_alarm(AlarmCode::kUnprotected, "swp1", s.out);
  s.take();
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 0U);
  EXPECT_EQ(
      alarm(AlarmCode::kUnprotected, 1),
      "switch mute runs an agent and tells no level, so packets between it and this port turn "
      "unchanged: there, name the ports of its hosts in host-ports, or pin `level`");
  s.agent.raise_alarm(AlarmCode::kUnprotected, "swp1", "no rules", s.now, s.out);
  s.hear(1, a_switch("mute", 2));
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 0U);
  EXPECT_EQ(alarm(AlarmCode::kUnprotected, 1), "no rules");
  s.agent.clear_alarm(AlarmCode::kUnprotected, "swp1", s.out);
  s.take();
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 1U);
}

std::string text_of(const std::vector<core::Alarm>& alarms) {
  std::string out;
  for (const core::Alarm& a : alarms)
    out += std::string(to_string(a.code)) + " " + a.port + " " +
           std::to_string(a.since.time_since_epoch() / seconds(1)) + ": " + a.text + "\n";
  return out;
}

TEST(DurationText, HasTwoDigitsOfItsUnitAtLeastWhereThereAreAny) {
  for (const auto& [time, text] :
       std::vector<std::pair<seconds, const char*>>{{seconds(0), "0 s"},
                                                    {seconds(119), "119 s"},
                                                    {seconds(120), "2 min"},
                                                    {minutes(120) - seconds(1), "119 min"},
                                                    {minutes(120), "2 h"},
                                                    {hours(48) - seconds(1), "47 h"},
                                                    {hours(48), "2 days"},
                                                    {hours(24 * 400), "400 days"}})
    EXPECT_EQ(core::duration_text(time), text);
}

TEST(AlarmStore, StandsInTheOrderOfCodeAndPort) {
  core::AlarmStore store;
  EXPECT_TRUE(store.raise({}, AlarmCode::kLevelSkip, "b", "1", TimePoint{}));
  EXPECT_TRUE(store.raise({}, AlarmCode::kCrosslink, "c", "2", TimePoint{}));
  EXPECT_TRUE(store.raise({}, AlarmCode::kLevelSkip, "a", "3", TimePoint{}));
  EXPECT_FALSE(store.raise({}, AlarmCode::kLevelSkip, "a", "4", TimePoint{seconds(1)}));
  EXPECT_EQ(text_of(store.standing({})),
            "crosslink c 0: 2\nlevel-skip a 0: 4\nlevel-skip b 0: 1\n");
  EXPECT_FALSE(store.clear({}, AlarmCode::kLevelSkip, "c"));
  EXPECT_TRUE(store.clear({}, AlarmCode::kLevelSkip, "a"));
  EXPECT_EQ(text_of(store.standing({})), "crosslink c 0: 2\nlevel-skip b 0: 1\n");
}
TEST(AlarmStore, OneOfSeveralReasonsStandsUntilTheLastIsGone) {
  using enum core::AlarmReason::Found;
  const core::AlarmReason heard{kByPort, ifindex(7)};
  const auto text = [](const core::Alarm& a, const core::AlarmReason& r) {
    return a.port + " of " + std::to_string(r.link.value());
  };
  core::AlarmStore store;
  core::AlarmSet both;
  both.put(AlarmCode::kUnprotected);
  both.put(AlarmCode::kSilent);
  EXPECT_EQ(store.set(heard, "a", both, TimePoint{seconds(1)}).size(), 2U);
  EXPECT_TRUE(store.set(heard, "a", both, TimePoint{seconds(2)}).empty());
  EXPECT_FALSE(store.raise({}, AlarmCode::kUnprotected, "a", "no rules", TimePoint{seconds(3)}));
  EXPECT_EQ(text_of(store.standing(text)),
            "unprotected a 1: no rules; a of 7\nsilent a 1: a of 7\n");
  // The reason that was first is gone, and what stood only for it.
  const auto changes = store.set(heard, "a", {}, TimePoint{seconds(4)});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].code, AlarmCode::kSilent);
  EXPECT_FALSE(changes[0].raised);
  EXPECT_EQ(text_of(store.standing(text)), "unprotected a 3: no rules\n");
  EXPECT_TRUE(store.clear({}, AlarmCode::kUnprotected, "a"));
  EXPECT_TRUE(store.standing(text).empty());
}
TEST(AlarmStore, TwoLinksOfOneNameKeepTheirReasonsApart) {
  using enum core::AlarmReason::Found;
  core::AlarmSet silent;
  silent.put(AlarmCode::kSilent);
  core::AlarmStore store;  // while two interfaces exchange their names
  EXPECT_EQ(store.set({kByPort, ifindex(1)}, "a", silent, TimePoint{}).size(), 1U);
  EXPECT_TRUE(store.set({kByPort, ifindex(2)}, "a", silent, TimePoint{}).empty());
  EXPECT_TRUE(store.set({kByPort, ifindex(2)}, "a", {}, TimePoint{}).empty());
  EXPECT_EQ(store.ports({kByPort, ifindex(1)}), std::vector<std::string>{"a"});
  EXPECT_TRUE(store.ports({kByPort, ifindex(2)}).empty());
}
TEST(AlarmStore, HasRoomForEveryCode) {
  core::AlarmSet all;
  for (std::size_t i = 0; i < core::kAlarmCodes; ++i) {
    const auto code = static_cast<AlarmCode>(i);
    EXPECT_FALSE(all.has(code));
    all.put(code);
    EXPECT_TRUE(all.has(code));
  }
  core::AlarmStore store;
  EXPECT_EQ(store.set({}, "a", all, TimePoint{}).size(), core::kAlarmCodes);
}

// A switch without a level

TEST_F(Alarms, ASwitchWithoutALevelIsAnAlarmOnceEverybodyWouldHaveBeenHeard) {
  const auto stands = [&] { return s.alarm(AlarmCode::kNoLevel, "").has_value(); };
  s.pass(seconds(120));
  EXPECT_FALSE(stands());
  s.pass(seconds(1));  // our own TTL
  EXPECT_TRUE(stands());
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 1U);
  EXPECT_GT(s.agent.next_deadline(), s.now);
  s.hear(1, host());
  EXPECT_FALSE(stands());
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 1U);
  s.forget();
  s.down(1);
  s.pass(seconds(60));
  EXPECT_FALSE(stands());
}
TEST(NoLevel, CountsFromWhenALinkIsUp) {
  Single s;
  s.set({.ifindex = ifindex(1)});
  s.pass(hours(1));
  EXPECT_EQ(s.alarm(AlarmCode::kNoLevel, ""), std::nullopt);
  s.up(1);
  s.pass(seconds(120));
  EXPECT_EQ(s.alarm(AlarmCode::kNoLevel, ""), std::nullopt);
  s.pass(seconds(1));
  EXPECT_NE(s.alarm(AlarmCode::kNoLevel, ""), std::nullopt);
  s.down(1);  // nobody could be heard
  EXPECT_EQ(s.alarm(AlarmCode::kNoLevel, ""), std::nullopt);
}
TEST(NoLevel, IsNoneOfAHostOrWhereAnotherAlarmSaysWhy) {
  Settings of_host;
  of_host.role = Role::kHost;
  Single a(of_host);
  Settings low;
  low.max_level = level(2);
  Single b(low);
  for (Single* s : {&a, &b}) s->up(1);
  b.hear(1, a_switch("high", 2));
  for (Single* s : {&a, &b}) {
    s->pass(seconds(119));
    EXPECT_EQ(s->alarm(AlarmCode::kNoLevel, ""), std::nullopt);
  }
  EXPECT_NE(b.alarm(AlarmCode::kMaxLevel, ""), std::nullopt);
  b.pass(seconds(60));  // it has aged out, and nothing says why any more
  EXPECT_EQ(b.alarm(AlarmCode::kMaxLevel, ""), std::nullopt);
  EXPECT_EQ(b.alarm(AlarmCode::kNoLevel, ""), std::nullopt);
  b.pass(seconds(121));
  EXPECT_NE(b.alarm(AlarmCode::kNoLevel, ""), std::nullopt);
}
TEST(OddNames, TheOwnersAlarmIsOfThePort) {
  Single s;
  s.set({.ifindex = ifindex(1), .name = "s\\p\x01", .up = true});
  s.agent.raise_alarm(AlarmCode::kDataplane, "s\\\\p\\x01", "no rules", s.now, s.out);
  ASSERT_EQ(s.out.events.size(), 1U);
  EXPECT_EQ(s.out.events[0].port, ifindex(1));
  s.take();
  s.hear(1, a_switch("mute", std::nullopt));
  s.pass(seconds(2));
  for (const auto& a : s.agent.snapshot(s.now).alarms) EXPECT_EQ(a.port, "s\\\\p\\x01");
}

TEST(Mtu, ThatLeavesNoRoomForTheLevelIsAnAlarmUntilItDoes) {
  Single leaf;
  leaf.set({.ifindex = ifindex(1), .up = true, .mtu = 68});
  leaf.hear(1, host());
  leaf.pass(seconds(2));
  EXPECT_TRUE(leaf.alarm(AlarmCode::kMtu, "swp1"));
  leaf.set({.ifindex = ifindex(1),
            .up = true,
            .mtu = 68,
            .adminStatus = core::AdminStatus::enabledRxOnly});
  leaf.pass(seconds(60));
  EXPECT_FALSE(leaf.alarm(AlarmCode::kMtu, "swp1")) << "nothing is sent";
  leaf.set({.ifindex = ifindex(1), .up = true, .mtu = 68});
  leaf.pass(seconds(60));
  EXPECT_TRUE(leaf.alarm(AlarmCode::kMtu, "swp1"));
  leaf.set({.ifindex = ifindex(1), .up = true, .mtu = 1500});
  leaf.pass(seconds(60));
  EXPECT_FALSE(leaf.alarm(AlarmCode::kMtu, "swp1"));
}

TEST(AlarmNames, AreEachItsOwnAndStayAsTheyAre) {
  // Monitors go by them.
  const char* const names[] = {"crosslink",
                               "level-skip",
                               "host-above-leaf",
                               "max-level",
                               "many-neighbors",
                               "tlv-conflict",
                               "self-loop",
                               "cabling",
                               "pfc-mismatch",
                               "unprotected",
                               "dataplane",
                               "lldpd",
                               "silent",
                               "unsupported",
                               "lower-level",
                               "no-port",
                               "no-level",
                               "state",
                               "paused",
                               "pfc-taken",
                               "class-mismatch",
                               "unclassed",
                               "port-missing",
                               "unheard",
                               "uneven",
                               "config-db",
                               "set",
                               "rail",
                               "mtu",
                               "left-out",
                               "forwards"};
  static_assert(std::size(names) == core::kAlarmCodes);
  for (std::size_t i = 0; i < core::kAlarmCodes; ++i)
    EXPECT_EQ(to_string(static_cast<AlarmCode>(i)), names[i]);
}

TEST(AlarmNames, LosslessPathsThatAreNotAreCritical) {
  for (std::size_t i = 0; i < core::kAlarmCodes; ++i) {
    const auto code = static_cast<AlarmCode>(i);
    const bool critical = code == AlarmCode::kPfcMismatch || code == AlarmCode::kClassMismatch ||
                          code == AlarmCode::kNoPort;
    EXPECT_EQ(to_string(severity_of(code)), critical ? "critical" : "warning") << to_string(code);
  }
}

TEST(DurationText, ChangesItsUnitAtTwoOfTheNext) {
  const auto text = [](std::int64_t s) { return core::duration_text(seconds(s)); };
  EXPECT_EQ(text(0), "0 s");
  EXPECT_EQ(text(119), "119 s");
  EXPECT_EQ(text(120), "2 min");
  EXPECT_EQ(text(7199), "119 min");
  EXPECT_EQ(text(7200), "2 h");
  EXPECT_EQ(text(172'799), "47 h");
  EXPECT_EQ(text(172'800), "2 days");
  EXPECT_EQ(text(100 * 86'400 - 1), "99 days");
}

TEST(LevelSources, HaveTheirNames) {
  const char* const names[] = {"none", "host", "neighbor", "pinned", "restored"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    EXPECT_EQ(to_string(static_cast<LevelSource>(i)), names[i]);
}

/// An alarm store with no thought of speed: each alarm with its reasons.
class PlainAlarms {
 public:
  bool raise(const core::AlarmReason& reason, AlarmCode code, const std::string& port,
             std::string text, TimePoint now) {
    auto& reasons = all_[{code, port}];
    const bool first = reasons.empty();
    const auto [at, is_new] = reasons.try_emplace(reason, now, text);
    if (!is_new) at->second.second = std::move(text);
    return first;
  }
  bool clear(const core::AlarmReason& reason, AlarmCode code, const std::string& port) {
    const auto at = all_.find({code, port});
    if (at == all_.end() || at->second.erase(reason) == 0 || !at->second.empty()) return false;
    all_.erase(at);
    return true;
  }
  std::vector<core::Alarm> standing() const {
    std::vector<core::Alarm> out;
    for (const auto& [key, reasons] : all_) {
      core::Alarm alarm{.code = key.first, .port = key.second, .since = TimePoint::max()};
      for (const auto& [reason, said] : reasons) {
        alarm.since = std::min(alarm.since, said.first);
        alarm.text +=
            (alarm.text.empty() ? "" : "; ") + (said.second.empty() ? "made" : said.second);
      }
      out.push_back(std::move(alarm));
    }
    return out;
  }
  std::vector<std::string> ports(const core::AlarmReason& reason) const {
    std::set<std::string> out;
    for (const auto& [key, reasons] : all_)
      if (reasons.contains(reason)) out.insert(key.second);
    return {out.begin(), out.end()};
  }
  core::AlarmSet of(const core::AlarmReason& reason, const std::string& port) const {
    core::AlarmSet codes;
    for (const auto& [key, reasons] : all_)
      if (key.second == port && reasons.contains(reason)) codes.put(key.first);
    return codes;
  }

 private:
  using Said = std::pair<TimePoint, std::string>;
  std::map<std::pair<AlarmCode, std::string>, std::map<core::AlarmReason, Said>> all_{};
};

TEST(AlarmStore, AgreesWithAPlainOneWhateverIsDone) {
  std::mt19937 random(1);
  const auto draw = [&](unsigned below) { return static_cast<std::size_t>(random() % below); };
  const std::string ports[] = {"", "swp1", "swp10", "swp2"};
  const AlarmCode codes[] = {AlarmCode::kCrosslink, AlarmCode::kSilent, AlarmCode::kSet};
  core::AlarmStore store;
  PlainAlarms plain;
  TimePoint now{};
  for (int i = 0; i < 1000; ++i) {
    now += seconds(1);
    using Found = core::AlarmReason::Found;
    const core::AlarmReason reason{static_cast<Found>(draw(4)), *Ifindex::make(draw(2))};
    const std::string& port = ports[draw(4)];
    const AlarmCode code = codes[draw(3)];
    switch (draw(3)) {
      case 0: {
        const std::string text = draw(2) == 0 ? "" : "text " + std::to_string(i);
        ASSERT_EQ(store.raise(reason, code, port, text, now),
                  plain.raise(reason, code, port, text, now));
        break;
      }
      case 1:
        ASSERT_EQ(store.clear(reason, code, port), plain.clear(reason, code, port));
        break;
      default: {
        core::AlarmSet wanted;
        for (const AlarmCode c : codes) wanted.put(c, draw(2) == 0);
        std::vector<std::pair<AlarmCode, bool>> changes;
        const core::AlarmSet before = plain.of(reason, port);
        for (const AlarmCode c : codes) {
          if (wanted.has(c) == before.has(c)) continue;
          const bool told =
              wanted.has(c) ? plain.raise(reason, c, port, "", now) : plain.clear(reason, c, port);
          if (told) changes.emplace_back(c, wanted.has(c));
        }
        std::vector<std::pair<AlarmCode, bool>> told;
        for (const auto& change : store.set(reason, port, wanted, now))
          told.emplace_back(change.code, change.raised);
        ASSERT_EQ(told, changes);
      }
    }
    ASSERT_EQ(store.ports(reason), plain.ports(reason));
    ASSERT_EQ(store.standing([](const auto&, const auto&) { return "made"; }), plain.standing());
  }
}

}  // namespace
}  // namespace lldp::test
