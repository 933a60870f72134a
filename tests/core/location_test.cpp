// SPDX-License-Identifier: Apache-2.0
// Where one device stands by what its ports hear, and hard inputs: docs/develop/rules.md P1 to P6.
#include "agent/core/location.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "tests/core/support/single.hpp"
#include "tlv/location.hpp"

namespace lldp::test {
namespace {

using core::location_text;
using std::chrono::hours;
using std::chrono::minutes;

Tier tier(std::size_t l, std::string name, std::uint32_t age = 1) {
  return {level(l), {{ChassisId::kLocal, std::move(name)}}, age};
}

Bytes location_of(std::initializer_list<Tier> tiers) {
  const std::string octets = core::octets_of(std::vector<Tier>(tiers));
  return {octets.begin(), octets.end()};
}
Peer telling(Peer peer, Bytes location) {
  peer.location = std::move(location);
  return peer;
}
std::string location_at(const Single& s) { return location_text(s.agent.snapshot(s.now).location); }
Settings a_host() {
  Settings s;
  s.role = Role::kHost;
  return s;
}
std::string told(const Bytes& frame) {
  return location_text(core::tiers_of(as_text(read(frame).location)));
}

TEST(P3, AHostOnSeveralLeavesIsToldTheLeast) {
  Single host(a_host());
  host.up(1, 2);
  host.hear(1, telling(a_switch("y", 1), location_of({tier(1, "y"), tier(2, "y"), tier(4, "t")})));
  EXPECT_EQ(location_at(host), "1 y, 2 y, 4 t");
  host.hear(2, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "z")})));
  host.pass(milliseconds(40));
  EXPECT_EQ(location_at(host), "1 x, 2 y, 4 t");
  EXPECT_EQ(told(host.sends(1).back().frame), "none");
}

TEST(P3, FromBelowComesNoTierThatIsNotAbove) {
  Single agg;
  agg.up(1, 2);
  agg.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a"), tier(3, "a")})));
  EXPECT_EQ(location_at(agg), "2 a");
}

TEST(P1, ALeafThatTellsNoLocationIsOneAllTheSame) {
  Single host(a_host());
  host.up(1);
  host.hear(1, a_switch("old", 1));
  EXPECT_EQ(location_at(host), "1 old");
}

TEST(P4, WhatEndsWithAPortsMemoryEndsInTheSameTurn) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.down(1), host.up(1);
  host.pass(seconds(60));
  EXPECT_EQ(location_at(host), "1 x, 2 a");
  host.pass(seconds(62));  // Single holds that each turn leaves nothing due
  EXPECT_EQ(location_at(host), "none");
}

TEST(P3, WithoutAnAgentNearbyNothingIsKnown) {
  Single host(a_host());
  host.up(1);
  host.hear(1, {.name = "stock", .capabilities = tlv::Capabilities::kBridge});
  EXPECT_EQ(location_at(host), "none");
}

TEST(P5, AnUplinkIsToldTheTiersAboveWithoutHurry) {
  Single leaf;
  leaf.up(1, 2);
  leaf.hear(1, host());
  leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, "a"), tier(3, "a")})));
  leaf.pass(seconds(2));
  const std::string all = "1 " + to_string(leaf.agent.chassis_id()) + ", 2 a, 3 a";
  EXPECT_EQ(told(leaf.sends(1).back().frame), all);
  EXPECT_EQ(told(leaf.sends(2).back().frame), all);
  leaf.pass(seconds(8));  // newcomers have been answered
  leaf.sends(1), leaf.sends(2);
  leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, "a"), tier(3, "b")})));
  leaf.pass(milliseconds(100));
  EXPECT_EQ(leaf.sends(1).size(), 1U);
  EXPECT_EQ(leaf.sends(2).size(), 0U);
  leaf.pass(milliseconds(1500));
  EXPECT_EQ(leaf.sends(2).size(), 1U);
}

TEST(P5, ABurstIsToldAtItsBeginningAndItsEnd) {
  Single leaf;
  leaf.up(1, 2);
  leaf.hear(1, host());
  const auto say = [&](const char* name) {
    leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, name)})));
  };
  say("z");
  leaf.pass(seconds(65));
  leaf.sends(1);
  for (const char* name : {"y", "x", "w", "v"}) say(name), leaf.pass(milliseconds(1));
  leaf.pass(seconds(1));
  const auto sent = leaf.sends(1);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_THAT(told(sent[0].frame), testing::EndsWith("2 y"));
  EXPECT_THAT(told(sent[1].frame), testing::EndsWith("2 v"));
  EXPECT_LE(sent[1].time - sent[0].time, milliseconds(40));
}

TEST(P5, WhatIsForgottenInABurstIsToldThoughALinkComesUp) {
  Single leaf;
  leaf.up(1, 2);
  leaf.hear(1, host());
  leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, "a")})));
  leaf.pass(seconds(65));
  leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, "b")})));
  leaf.pass(milliseconds(1));
  leaf.down(2);  // told with what follows soon
  leaf.sends(1);
  leaf.up(3);
  leaf.pass(seconds(2));
  EXPECT_EQ(leaf.sends(1).size(), 1U);
}

/// An aggregation switch: leaves on ports 1 and 2, a spine on 3.
struct HeldBack : testing::Test {
  void SetUp() override {
    agg.up(1, 3);
    agg.hear(3, a_switch("spine", 3));
  }
  void leaf(std::size_t port, const char* name) {
    agg.hear(port, telling(a_switch(name, 1), location_of({tier(1, name)})));
  }
  void spine(const char* name) {
    agg.hear(3, telling(a_switch("spine", 3), location_of({tier(3, name)})));
  }
  /// What the port has told since last asked, and how often.
  std::pair<std::string, std::size_t> last(std::size_t port) {
    const auto sent = agg.sends(port);
    return {sent.empty() ? "-" : told(sent.back().frame), sent.size()};
  }
  using Last = std::pair<std::string, std::size_t>;
  Single agg;
};

TEST_F(HeldBack, TheOwnTierWaitsForEveryPortAndThoseAboveForTheSwitchesAbove) {
  leaf(1, "y");
  agg.pass(milliseconds(100));
  EXPECT_EQ(location_at(agg), "2 y");
  EXPECT_EQ(last(3).first, "none");
  leaf(2, "x");
  agg.pass(milliseconds(100));
  EXPECT_EQ(last(3), Last("2 x", 1));
  EXPECT_EQ(last(1).first, "none");
  spine("x");
  agg.pass(milliseconds(100));
  EXPECT_EQ(last(1), Last("2 x, 3 x", 1));
  EXPECT_EQ(last(3).second, 0U);  // what the spine told can wait
}

TEST_F(HeldBack, WhoIsSilentIsWaitedForAMoment) {
  leaf(1, "y");
  agg.pass(seconds(2));
  EXPECT_EQ(last(3).first, "none");
  agg.pass(milliseconds(1500));
  EXPECT_EQ(last(3).first, "2 y");
}

TEST_F(HeldBack, AndOneTtlAfterACarrierNoMore) {
  leaf(1, "y");
  spine("y");
  agg.pass(seconds(122));
  spine("y");
  agg.pass(seconds(10));
  last(3);
  leaf(1, "x");
  agg.pass(milliseconds(100));
  EXPECT_EQ(last(3), Last("2 x, 3 y", 1));  // port 2 is silent
  agg.down(2), agg.up(2);
  leaf(1, "w");
  agg.pass(milliseconds(100));
  EXPECT_EQ(last(3).second, 0U);
}

TEST(P5, AHostThatWasDownWhenItWasToldIsToldAgain) {
  Single leaf;
  leaf.up(1, 2);
  leaf.hear(1, host());
  const auto say = [&](const char* name) {
    leaf.hear(2, telling(a_switch("agg", 2), location_of({tier(2, name)})));
  };
  say("z");
  leaf.pass(seconds(40));
  leaf.sends(1);
  say("y");
  leaf.pass(milliseconds(100));
  EXPECT_EQ(leaf.sends(1).size(), 1U);  // nobody may have heard it
  leaf.hear(1, host());
  leaf.pass(milliseconds(1500));
  ASSERT_EQ(leaf.sends(1).size(), 1U);
  leaf.hear(1, host());
  leaf.pass(milliseconds(1500));
  EXPECT_EQ(leaf.sends(1).size(), 0U);
}

TEST(P5, AListThatIsTooLongIsCutAtItsUpperEnd) {
  std::vector<Tier> tiers;
  for (std::size_t l = 1; l <= 40; ++l) tiers.push_back(tier(l, "leaf"));
  EXPECT_EQ(core::tiers_of(core::octets_of(tiers)).size(), 32U);
  for (Tier& t : tiers) t.id.octets.assign(100, 'x');
  const std::string octets = core::octets_of(tiers);
  EXPECT_EQ(core::tiers_of(octets).size(), 4U);
  EXPECT_LE(octets.size(), 507U);
  tiers.front().id.octets.assign(255, 'x');
  EXPECT_EQ(core::octets_of(tiers), "");
}

TEST(P5, OfALinkWithASmallMtuItIsLeftOutAndCounted) {
  Single leaf;
  leaf.set({.ifindex = ifindex(1), .up = true, .mtu = 50});
  leaf.hear(1, host());
  leaf.pass(seconds(2));
  EXPECT_EQ(told(leaf.sends(1).back().frame), "none");
  EXPECT_GT(leaf.statistics(1).lldpduLengthErrors, 0U);
}

TEST(P6, WhatCannotBeIsDiscardedAndCounted) {
  const Bytes wrong[] = {
      {1},                                                   // cut in an entry's head
      {1, 4, 7, 'x', 'y'},                                   // cut in its identifier
      {1, 2, 7, 'x', 0, 0, 0},                               // cut in its age
      {1, 0, 0, 0, 0, 0},                                    // an empty identifier
      {1, 1, 7, 0, 0, 0, 0},                                 // a subtype alone
      {0, 2, 7, 'x', 0, 0, 0, 0},                            // a level that no switch has
      {255, 2, 7, 'x', 0, 0, 0, 0},                          //
      {2, 2, 7, 'x', 0, 0, 0, 1, 1, 2, 7, 'x', 0, 0, 0, 1},  // not sorted
      {1, 2, 7, 'x', 0, 0, 0, 1, 1, 2, 7, 'y', 0, 0, 0, 1},  // twice
      Bytes(8 * 33, 0),                                      // too many, below
  };
  for (Bytes octets : wrong) {
    if (octets.size() == 8 * 33)
      for (std::uint8_t l = 0; l < 33; ++l) {
        const Bytes entry{static_cast<std::uint8_t>(l + 1), 2, 7, 'x'};
        std::ranges::copy(entry, octets.begin() + 8 * l);
      }
    Single host(a_host());
    host.up(1);
    host.hear(1, telling(a_switch("x", 2), octets));
    host.pass(seconds(2));
    EXPECT_EQ(location_at(host), "none");
    EXPECT_EQ(host.statistics(1).statsTLVsDiscardedTotal, 1U) << to_hex(octets);
    EXPECT_EQ(host.alarm(AlarmCode::kTlvConflict, "swp1"), std::nullopt);
  }
}

TEST(P6, WhatContradictsItsSenderIsNotTakenAndAnAlarm) {
  struct Case {
    const char* name;
    Peer peer;
  };
  const Case cases[] = {
      {"below its level", telling(a_switch("x", 2), location_of({tier(1, "x"), tier(2, "x")}))},
      {"a leaf that is another",
       telling(a_switch("x", 1), location_of({tier(1, "a"), tier(2, "a")}))},
      {"a leaf that is no leaf", telling(a_switch("x", 1), location_of({tier(2, "a")}))},
      {"no level", telling(a_switch("x", {}), location_of({tier(1, "x")}))},
      {"a host", telling(test::host("x"), location_of({tier(1, "x")}))},
  };
  for (const Role role : {Role::kHost, Role::kSwitch})
    for (const Case& c : cases) {
      Settings settings;
      settings.role = role;
      Single s(settings);
      s.up(1);
      s.hear(1, c.peer);
      s.pass(milliseconds(900));  // lldpd's TLVs are set one by one
      EXPECT_EQ(s.alarm(AlarmCode::kTlvConflict, "swp1"), std::nullopt) << c.name;
      s.pass(seconds(1));
      EXPECT_EQ(s.alarm(AlarmCode::kTlvConflict, "swp1"),
                "x: location TLV contradicts level or chassis ID; it is not taken")
          << c.name;
      EXPECT_THAT(location_at(s), testing::Not(testing::HasSubstr("a"))) << c.name;
      Peer right = c.peer;
      right.location.clear();
      s.hear(1, right);
      s.pass(seconds(2));
      EXPECT_EQ(s.alarm(AlarmCode::kTlvConflict, "swp1"), std::nullopt) << c.name;
    }
}

TEST(P4, WhatIsKnownGoesWithWhoToldItAndStandsElsewhereNow) {
  for (const bool moved : {true, false}) {
    Single host(a_host());
    host.up(1);
    host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
    EXPECT_EQ(location_at(host), "1 x, 2 a");
    if (moved)
      host.hear(1, telling(a_switch("x", 2), location_of({tier(2, "x")})));
    else
      host.down(1);
    host.pass(seconds(1));
    EXPECT_EQ(location_at(host), moved ? "none" : "1 x, 2 a");
  }
}

// As behind a cable that has moved while the process stood still.
TEST(P4, WhatADeviceToldUnderAnotherPortIdEndsWithThat) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a"), tier(3, "b")})));
  Peer here = telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")}));
  here.port = "p6";
  here.source = mac(6, 6);
  host.hear(1, here);
  host.pass(seconds(100));
  host.hear(1, here);
  EXPECT_EQ(location_at(host), "1 x, 2 a, 3 b");
  host.pass(seconds(30));
  EXPECT_EQ(location_at(host), "1 x, 2 a");
}

TEST(P4, WhatNobodyTellsLastsForADay) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.pass(hours(48));  // silent, and the carrier is there
  EXPECT_EQ(location_at(host), "1 x, 2 a");
  host.down(1);
  host.pass(hours(23));
  EXPECT_EQ(location_at(host), "1 x, 2 a");
  host.pass(hours(2));
  EXPECT_EQ(location_at(host), "none");
}

TEST(P4, RestartsDoNotMakeThatDayLonger) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.down(1);
  host.pass(seconds(1));
  for (int i = 0; i < 23; ++i) {
    host.pass(hours(1));
    host.restart(i % 2 == 0);
    host.set({.ifindex = ifindex(1)});
    host.pass(seconds(1));
    EXPECT_EQ(location_at(host), "1 x, 2 a") << i;
  }
  host.pass(hours(1));
  EXPECT_EQ(location_at(host), "none");
}

// What was known of the other tier is void, but not what the port remembers.
TEST(P4, WhoStartsAnewAtAnotherLevelStandsWhereItsPortsRemember) {
  Settings settings;
  settings.pinned_level = level(1);
  Single before(settings);
  before.up(1);
  before.hear(1, telling(a_switch("agg", 2), location_of({tier(2, "a"), tier(3, "b")})));
  EXPECT_THAT(location_at(before), testing::EndsWith(", 2 a, 3 b"));
  settings.pinned_level = level(3);
  Single after(settings, before.agent.state());
  EXPECT_EQ(location_at(after), "none");
  after.up(1);
  EXPECT_EQ(location_at(after), "3 b");
}

TEST(P4, OfAFileThatDoesNotSayWhenItLastsForADayFromTheStart) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.down(1);
  host.pass(seconds(1));
  core::State state = host.agent.state();
  ASSERT_TRUE(state.location_until);
  state.location_until.reset();
  Single again(a_host(), state);
  again.set({.ifindex = ifindex(1)});
  again.pass(seconds(1));
  EXPECT_GE(again.count(Event::Kind::kState), 1U);  // it does now
  EXPECT_TRUE(again.agent.state().location_until);
  state.location_until = again.now - seconds(1);
  Single late(a_host(), state);
  late.set({.ifindex = ifindex(1)});
  EXPECT_EQ(location_at(late), "none");
}

TEST(P4, WhoIsOnAHostPortTellsNothing) {
  Settings settings;
  settings.host_ports = {"swp1"};
  Single leaf(settings);
  leaf.up(1);
  leaf.hear(1, telling(a_switch("evil", 2), location_of({tier(2, "a")})));
  EXPECT_EQ(location_at(leaf), "1 " + to_string(leaf.agent.chassis_id()));
}

TEST(P4, WhatAStockLldpdSaysInItsPlaceDoesNotTakeItAway) {
  Single host(a_host());
  host.up(1);
  host.hear(1, telling(a_switch("x", 1), location_of({tier(1, "x"), tier(2, "a")})));
  host.hear(1, {.name = "x", .capabilities = tlv::Capabilities::kStationOnly});
  host.pass(seconds(1));
  EXPECT_EQ(location_at(host), "1 x, 2 a");
}

TEST(P4, WhatStandsInTheFileIsToldAtOnceUnlessTheLevelIsAnother) {
  core::State state{
      .level = level(2),
      .role = Role::kSwitch,
      .location = {tier(2, "a"), tier(3, "a")},
      .ports = {{.name = "swp1", .memory = {.kind = core::PortMemory::Kind::kAbove}}}};
  state.chassis_id = {{ChassisId::kLocal, "me"}};
  Single agg({}, state);
  agg.up(1);
  EXPECT_EQ(told(agg.sends(1).front().frame), "2 a, 3 a");
  Settings pinned;
  pinned.pinned_level = level(3);
  Single moved(pinned, state);
  moved.up(1);
  EXPECT_EQ(told(moved.sends(1).front().frame), "none");
}

TEST(P7, TheIdOfADeviceThatIsNoLeafIsReplacedWhenItIsTaken) {
  Single spine;
  spine.up(1, 2);
  spine.hear(1, telling(a_switch("m", 2), location_of({tier(2, "y"), tier(3, "y", 4)})));
  spine.hear(2, telling(a_switch("n", 2), location_of({tier(2, "y"), tier(3, "y", 4)})));
  EXPECT_EQ(location_at(spine), "3 y");
  spine.hear(2, telling(a_switch("n", 2), location_of({tier(2, "y"), tier(3, "m", 16)})));
  spine.pass(seconds(1));
  EXPECT_EQ(location_at(spine), "3 y");
  EXPECT_EQ(spine.agent.location().front().age, 64U);  // so that others take it
}

}  // namespace
}  // namespace lldp::test
