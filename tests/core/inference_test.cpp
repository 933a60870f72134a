// SPDX-License-Identifier: Apache-2.0
// The level inference by itself, rule by rule: docs/develop/rules.md L1 to L6.
#include "agent/core/inference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/core/support/device.hpp"

namespace lldp::core {
namespace {

using namespace test;

Inference::Kept established(unsigned level, std::vector<std::uint64_t> surroundings = {}) {
  return {.level = at(level), .supported = kDay, .surroundings = std::move(surroundings)};
}

TEST(TypeOfPort, FollowsFromTheTwoLevels) {
  EXPECT_EQ(type_of_port(at(2), at(0)), PortType::kDownlink);  // a host, whatever our level
  EXPECT_EQ(type_of_port(std::nullopt, at(0)), PortType::kDownlink);
  EXPECT_EQ(type_of_port(at(2), at(1)), PortType::kDownlink);
  EXPECT_EQ(type_of_port(at(2), at(3)), PortType::kUplink);
  EXPECT_EQ(type_of_port(at(2), at(2)), PortType::kCrosslink);
  EXPECT_EQ(type_of_port(at(2), at(4)), PortType::kUnmarked);
  EXPECT_EQ(type_of_port(at(4), at(2)), PortType::kUnmarked);
  EXPECT_EQ(type_of_port(at(2), std::nullopt), PortType::kUnmarked);
  EXPECT_EQ(type_of_port(std::nullopt, at(2)), PortType::kUnmarked);
}

// L1: without a level

TEST(L1, AHostMakesALeaf) {
  Device d;
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.inference.source(), LevelSource::kNone);
  EXPECT_TRUE(d.host(1));
  EXPECT_EQ(d.level(), 1);
  EXPECT_EQ(d.inference.source(), LevelSource::kHost);
}
TEST(L1, TheLowestNeighborCounts) {
  Device d;
  EXPECT_TRUE(d.hear(1, 2));
  EXPECT_EQ(d.level(), 3);
  EXPECT_EQ(d.inference.source(), LevelSource::kNeighbor);
}
TEST(L1, NeighborsWithoutALevelSayNothing) {
  Device d;
  EXPECT_FALSE(d.silence(1));
  EXPECT_EQ(d.level(), std::nullopt);
}
TEST(L1, ALevelAboveTheLimitIsNotAdopted) {
  Device d({.max_level = Level::of<2>()});
  EXPECT_FALSE(d.hear(1, 2));
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.inference.refused(), 3U);
  EXPECT_TRUE(d.hear(2, 1));
  EXPECT_EQ(d.level(), 2);
  EXPECT_EQ(d.inference.refused(), std::nullopt);
}
TEST(L1, TheHighestLevelThereIsHasNoneAbove) {
  Device d({.max_level = Level::of<254>()});
  EXPECT_FALSE(d.hear(1, 254));
  EXPECT_EQ(d.inference.refused(), 255U);
}
/// A leaf whose host has just become a switch.
struct Withdrawn : testing::Test {
  Withdrawn() {
    d.host(1);
    d.renounce(1);
    EXPECT_EQ(d.level(), std::nullopt);
  }
  Device d{};
};
using L1AfterWithdrawal = Withdrawn;
TEST_F(L1AfterWithdrawal, AHigherLevelIsAdoptedOnlyAfterTheHold) {
  EXPECT_FALSE(d.hear(2, 2));
  EXPECT_EQ(d.pass(milliseconds(4999)), 0);
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.pass(milliseconds(1)), 1);
  EXPECT_EQ(d.level(), 3);
}
TEST_F(L1AfterWithdrawal, OneNoHigherThanWhatWasWithdrawnIsAdoptedAtOnce) {
  EXPECT_TRUE(d.host(2));
  EXPECT_EQ(d.level(), 1);
}
TEST_F(L1AfterWithdrawal, TheHoldIsOver) {
  d.pass(seconds(5));
  EXPECT_TRUE(d.hear(2, 2));
  EXPECT_EQ(d.level(), 3);
}

// L2: support

TEST(L2, SupportCountsUp) {
  Device d;
  d.host(1);
  d.pass(hours(3));
  d.silence(1);
  d.pass(hours(30));
  d.host(1);
  d.pass(hours(2));
  d.inference.decide(d.now);
  EXPECT_EQ(d.kept().supported, Duration(hours(5)));
}
TEST(L2, SupportDoesNotCountWhileALowerLevelIsResisted) {
  Device d;
  d.hear(1, 2);
  d.pass(hours(30));
  ASSERT_EQ(d.level(), 3);
  d.hear(2, 1);  // established: it stays
  d.pass(hours(7));
  d.inference.decide(d.now);
  ASSERT_EQ(d.level(), 3);
  EXPECT_EQ(d.kept().supported, Duration(hours(30)));
}
TEST(L2, OthersThatAreHeardBelongToTheSurroundings) {
  Device d;
  d.host(1);
  d.hear(2, 2, 77);
  d.hear(3, 5, 66);
  EXPECT_EQ(d.kept().surroundings, (std::vector<std::uint64_t>{66, 77}));
  d.silence(2);
  EXPECT_EQ(d.kept().surroundings.size(), 2U);  // who leaves still belongs to them
  d.silence(1);
  d.hear(4, 2, 55);
  EXPECT_EQ(d.kept().surroundings.size(), 2U);  // not without support
}
TEST(L2, TheSurroundingsAreBoundedAndThoseWhoAreHeardStay) {
  Device d;
  d.host(1);
  constexpr int kStay = 20;
  for (int i = 1; i <= kStay; ++i) d.hear(1 + i, 2, static_cast<std::uint64_t>(i));
  for (std::uint64_t id = 100; id < 100 + 3 * Surroundings::kMost; ++id) {
    d.hear(2 + kStay, 2, id);
    const auto kept = d.kept().surroundings;
    ASSERT_LE(kept.size(), Surroundings::kMost);
    for (std::uint64_t i = 1; i <= kStay; ++i)
      ASSERT_TRUE(std::binary_search(kept.begin(), kept.end(), i))
          << i << " when " << id << " came";
  }
}
TEST(L2, AllTimersAreOff) {
  Device d({}, established(2));
  d.hear(1, 1);
  EXPECT_FALSE(d.hear(2, 5));
  EXPECT_EQ(d.pass(hours(100)), 0);
  EXPECT_EQ(d.level(), 2);
  EXPECT_FALSE(d.unsupported());
}

// L3: a lower level

TEST(L3, IsAdoptedAtOnceByALevelThatIsNotEstablished) {
  Device d;
  d.hear(1, 3);
  EXPECT_TRUE(d.hear(2, 1));
  EXPECT_EQ(d.level(), 2);
  d.pass(kDay - milliseconds(1));
  EXPECT_TRUE(d.host(3));
  EXPECT_EQ(d.level(), 1);
}
struct L3Established : testing::Test {
  L3Established() {
    d.hear(1, 2);
    d.hear(2, 4);
    d.pass(kDay);
    EXPECT_EQ(d.level(), 3);
  }
  Device d{};
};
TEST_F(L3Established, OneHostChangesNothingForHoweverLong) {
  EXPECT_FALSE(d.host(3));
  EXPECT_EQ(d.inference.lower(), at(1));
  EXPECT_EQ(d.pass(30 * kDay), 0);
  EXPECT_EQ(d.level(), 3);
  EXPECT_EQ(d.inference.lower(), at(1));
  d.silence(3);
  EXPECT_EQ(d.inference.lower(), std::nullopt);
}
TEST_F(L3Established, NotEvenWhenItsSupportIsOff) {
  d.host(3);
  d.silence(1);
  d.silence(2);
  EXPECT_EQ(d.pass(30 * kDay), 0);
  EXPECT_EQ(d.level(), 3);
}
TEST_F(L3Established, HostsOnTwoPortsDoAfterTheHold) {
  d.host(3);
  d.pass(seconds(50));
  d.host(4);
  EXPECT_EQ(d.pass(milliseconds(59'999)), 0);
  EXPECT_EQ(d.pass(milliseconds(1)), 1);
  EXPECT_EQ(d.level(), 1);
  EXPECT_EQ(d.inference.lower(), std::nullopt);
}
TEST_F(L3Established, ABreakBeginsTheHoldAnew) {
  d.host(3);
  d.host(4);
  d.pass(seconds(59));
  d.silence(4);
  d.host(4);
  EXPECT_EQ(d.pass(milliseconds(59'999)), 0);
  EXPECT_EQ(d.pass(milliseconds(1)), 1);
}
TEST_F(L3Established, TwoOnOnePortAreOnePort) {
  d.hear(3, {.lowest = at(0), .switches = {{Level::of<1>(), 5}}});
  EXPECT_EQ(d.pass(kDay), 0);
}
TEST_F(L3Established, AHostAndALowSwitchAreTwoPorts) {
  d.host(3);
  d.hear(4, 1);
  EXPECT_EQ(d.pass(seconds(60)), 1);
  EXPECT_EQ(d.level(), 1);
}
TEST_F(L3Established, WhereItWasMovedToOneLowerNeighborWillDo) {
  d.silence(1);
  d.silence(2);
  d.hear(3, 1, 9);  // a stranger, and nobody else
  EXPECT_EQ(d.pass(milliseconds(59'999)), 0);
  EXPECT_EQ(d.pass(milliseconds(1)), 1);
  EXPECT_EQ(d.level(), 2);
}
TEST_F(L3Established, AmongItsOldNeighborsItWasNotMoved) {
  d.silence(1);
  d.hear(3, 1, 9);  // half of two is not more than half
  d.hear(4, 6, 8);
  EXPECT_EQ(d.level(), 3);
  d.hear(5, 6, 7);
  d.silence(4);
  d.silence(5);
  d.hear(1, 4);  // 1001 and 1002 are known
  EXPECT_EQ(d.pass(kDay), 0);
  EXPECT_EQ(d.level(), 3);
}
TEST_F(L3Established, WithItsSupportAroundItIsNotMovedAndLearnsWhoElseIsThere) {
  d.silence(2);
  d.host(3);
  d.hear(4, 4, 9);
  d.hear(5, 4, 8);
  EXPECT_EQ(d.pass(kDay), 0);
  EXPECT_EQ(d.kept().surroundings, (std::vector<std::uint64_t>{8, 9, 1001, 1002}));
}

// L4: without support

TEST(L4, EstablishedItStaysForEverAndTheOperatorIsTold) {
  Device d;
  d.host(1);
  d.hear(2, 2);
  d.pass(kDay);
  d.silence(1);
  EXPECT_EQ(d.pass(minutes(10) - milliseconds(1)), 0);
  EXPECT_FALSE(d.unsupported());
  EXPECT_EQ(d.pass(milliseconds(1)), 0);
  EXPECT_TRUE(d.unsupported());
  EXPECT_EQ(d.pass(365 * kDay), 0);
  EXPECT_EQ(d.level(), 1);
  d.host(1);
  EXPECT_FALSE(d.unsupported());
}
TEST(L4, NobodyHeardIsNoReasonToWithdraw) {
  Device d;
  d.host(1);
  d.silence(1);
  EXPECT_EQ(d.pass(365 * kDay), 0);
  EXPECT_EQ(d.level(), 1);
  EXPECT_TRUE(d.unsupported());
}
TEST(L4, NotEstablishedItIsWithdrawnAfterTheHoldOfHearingOthers) {
  Device d;
  d.host(1);
  d.hear(2, 2);
  d.silence(1);
  EXPECT_EQ(d.pass(milliseconds(59'999)), 0);
  EXPECT_EQ(d.level(), 1);
  EXPECT_EQ(d.pass(milliseconds(1)), 1);
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.pass(seconds(5)), 1);
  EXPECT_EQ(d.level(), 3);
}
TEST(L4, AnyBreakBeginsTheHoldAnew) {
  Device d;
  d.host(1);
  d.hear(2, 2);
  d.silence(1);
  d.pass(seconds(50));
  d.host(1);
  d.silence(1);
  d.pass(seconds(50));
  EXPECT_EQ(d.level(), 1);
  d.silence(2);
  d.hear(2, 2);
  EXPECT_EQ(d.pass(milliseconds(59'999)), 0);
  EXPECT_EQ(d.pass(milliseconds(1)), 1);
}
TEST(L4, WhoeverElseIsHeardMeanwhileIsNoBreak) {
  Device d;
  d.host(1);
  d.hear(2, 2);
  d.silence(1);
  d.pass(seconds(40));
  d.hear(3, 4);
  d.silence(2);
  EXPECT_EQ(d.pass(seconds(20)), 1);
}
TEST(L4, ARenouncedSupportWithdrawsAtOnce) {
  for (const auto& to : {std::optional<unsigned>(), std::optional<unsigned>(3)}) {
    Device d;
    d.hear(1, 1);
    d.hear(2, 2);
    EXPECT_TRUE(d.renounce(1, to));
    EXPECT_EQ(d.level(), std::nullopt);
  }
}
TEST(L4, AlsoWhenNobodyElseHasALevel) {
  Device d;
  d.hear(1, 1);
  EXPECT_TRUE(d.renounce(1));
  EXPECT_EQ(d.level(), std::nullopt);
}
TEST(L4, NotWhileOthersGiveSupport) {
  Device d;
  d.hear(1, 1);
  d.hear(2, 1);
  EXPECT_FALSE(d.renounce(1));
  EXPECT_EQ(d.level(), 2);
}
TEST(L4, NotWhereSupportHadGoneBefore) {
  Device d;
  d.hear(1, 1);
  d.hear(2, 2);
  d.silence(1);
  EXPECT_FALSE(d.renounce(2));
  EXPECT_EQ(d.level(), 2);
}
TEST(L4, NotOnceItIsEstablished) {
  Device d;
  d.hear(1, 1);
  d.pass(kDay);
  EXPECT_FALSE(d.renounce(1));
  EXPECT_EQ(d.level(), 2);
}
TEST(L4, EstablishedAndMovedItFindsItsNewPlace) {
  Device d({}, established(1, {1, 2, 3, 4}));
  d.hear(1, 1, 100);  // a leaf in a spine's place
  d.hear(2, 1, 101);
  EXPECT_EQ(d.pass(milliseconds(59'999)), 0);
  EXPECT_EQ(d.pass(milliseconds(1)), 1);
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.pass(seconds(5)), 1);
  EXPECT_EQ(d.level(), 2);
}
TEST(L4, HalfOfTheOldNeighborsIsMovedAndOneMoreIsNot) {
  Device d({}, established(1, {1, 2, 3, 4}));
  d.hear(1, 2, 1);
  d.hear(2, 2, 2);
  d.hear(3, 2, 100);
  EXPECT_EQ(d.pass(hours(1)), 0);
  EXPECT_EQ(d.level(), 1);
  EXPECT_TRUE(d.unsupported());
  d.hear(4, 2, 101);  // two of four
  EXPECT_EQ(d.pass(seconds(60)), 1);
  EXPECT_EQ(d.level(), std::nullopt);
}
TEST(L4, TheSameSwitchOnTwoPortsIsOne) {
  Device d({}, established(1, {1, 2}));
  d.hear(1, 2, 1);
  d.hear(2, 2, 2);
  d.hear(3, 2, 100);
  d.hear(4, 2, 100);
  d.hear(5, 2, 100);
  EXPECT_EQ(d.pass(hours(1)), 0);
  d.silence(3);
  d.silence(4);
  d.hear(6, 2, 101);
  EXPECT_EQ(d.pass(seconds(60)), 1);
}
TEST(L1, ALevelAboveTheLimitDoesNotOutliveThePinThatAllowedIt) {
  Device d({.pinned = at(9), .max_level = Level::of<8>()});
  d.hear(1, 8);
  EXPECT_EQ(d.level(), 9);
  d.set([](Inference::Rules& r) { r.pinned = std::nullopt; });
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.inference.refused(), 9U);
}
TEST(L1, ALimitThatIsLoweredTakesTheLevelsAboveIt) {
  Device d({}, established(3));
  d.set([](Inference::Rules& r) { r.max_level = Level::of<2>(); });
  EXPECT_EQ(d.level(), std::nullopt);
}
TEST(L4, WithdrawnAboveTheLimitItHasNoLevel) {
  Device d({.max_level = Level::of<2>()});
  d.hear(1, 1);
  d.silence(1);
  d.hear(2, 2);
  EXPECT_EQ(d.pass(seconds(65)), 1);
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.inference.refused(), 3U);
}

// L5: what a change takes along; pins; forget

TEST(L5, AnyChangeBeginsAnew) {
  Device d;
  d.hear(1, 2);
  d.pass(hours(20));
  d.hear(2, 1);
  EXPECT_EQ(d.kept().supported, Duration::zero());
  EXPECT_EQ(d.kept().surroundings, (std::vector<std::uint64_t>{1001, 1002}));  // of those heard now
  d.pass(hours(20));
  EXPECT_TRUE(d.host(3));  // not established
}
TEST(L5, APinMovesTheLevelAndFreezesTheRest) {
  Device d;
  d.hear(1, 2);
  d.set([](auto& r) { r.pinned = at(5); });
  EXPECT_EQ(d.level(), 5);
  EXPECT_EQ(d.inference.source(), LevelSource::kPinned);
  d.hear(2, 4, 44);
  EXPECT_EQ(d.pass(30 * kDay), 0);
  EXPECT_EQ(d.kept().supported, Duration::zero());
  EXPECT_TRUE(d.kept().surroundings.empty());
  EXPECT_FALSE(d.host(3));
  d.silence(1);
  d.silence(2);
  d.silence(3);
  EXPECT_EQ(d.pass(30 * kDay), 0);
  EXPECT_FALSE(d.unsupported());
}
TEST(L5, WhenAPinGoesItsValueStaysAndIsNotEstablished) {
  Device d;
  d.hear(1, 2);
  d.pass(kDay);
  d.set([](auto& r) { r.pinned = at(5); });
  d.pass(2 * kDay);
  d.set([](auto& r) { r.pinned.reset(); });
  EXPECT_EQ(d.level(), 3);  // heard, and not established at 5
  EXPECT_EQ(d.kept().supported, Duration::zero());
  Device e({.pinned = at(3)});
  e.hear(1, 4);
  e.set([](auto& r) { r.pinned.reset(); });
  EXPECT_EQ(e.level(), 3);
  EXPECT_EQ(e.inference.source(), LevelSource::kRestored);
  EXPECT_EQ(e.pass(seconds(65)), 2);
  EXPECT_EQ(e.level(), 5);
}
TEST(L5, OnlyAPinThatGoesChangesWhereALevelIsSaidToBeFrom) {
  const auto lower_the_limit = [](auto& r) { r.max_level = Level::of<9>(); };
  Device d;
  d.hear(1, 2);
  d.set(lower_the_limit);
  EXPECT_EQ(d.inference.source(), LevelSource::kNeighbor);
  Device none;
  none.set(lower_the_limit);
  EXPECT_EQ(none.inference.source(), LevelSource::kNone);
}
TEST(L5, APinToTheSameLevelTakesNothing) {
  Device d;
  d.hear(1, 2, 7);
  d.pass(kDay);
  d.set([](auto& r) { r.pinned = at(3); });
  d.pass(kDay);
  d.set([](auto& r) { r.pinned.reset(); });
  EXPECT_EQ(d.kept().supported, kDay);
  EXPECT_EQ(d.kept().surroundings, (std::vector<std::uint64_t>{7}));
  EXPECT_FALSE(d.host(3));
}
TEST(L5, APinnedLevelMayBeAboveTheLimit) { EXPECT_EQ(Device({.pinned = at(12)}).level(), 12); }
TEST(L5, ForgetWithdrawsWhatIsEstablished) {
  Device d({}, established(1, {1, 2}));
  d.hear(1, 2, 1);
  EXPECT_TRUE(d.inference.forget(d.now));
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.pass(seconds(5)), 1);
  EXPECT_EQ(d.level(), 3);
  EXPECT_EQ(d.kept().supported, Duration::zero());
}
TEST(L5, ForgetTakesALowerLevelAtOnce) {
  Device d({}, established(3));
  d.hear(1, 2);
  d.host(2);
  EXPECT_TRUE(d.inference.forget(d.now));
  EXPECT_EQ(d.level(), 1);
}
TEST(L5, ForgetOfALevelWithSupportOnlyBeginsAnew) {
  Device d({}, established(1));
  d.host(1);
  EXPECT_FALSE(d.inference.forget(d.now));
  EXPECT_EQ(d.level(), 1);
  EXPECT_EQ(d.kept().supported, Duration::zero());
}
TEST(L5, ThereIsNothingToForgetOfAPinOrAHost) {
  Device d({.pinned = at(2)});
  EXPECT_FALSE(d.inference.forget(d.now));
  Device e({.role = Role::kHost}, established(2));
  EXPECT_FALSE(e.inference.forget(e.now));
  EXPECT_EQ(e.kept().level, at(2));
}

// L6: restart

TEST(L6, TheLevelIsThereAtOnceWithWhatItStandsOn) {
  Device d({}, established(2, {5, 6}));
  EXPECT_EQ(d.level(), 2);
  EXPECT_EQ(d.inference.source(), LevelSource::kRestored);
  EXPECT_EQ(d.kept().supported, kDay);
  EXPECT_EQ(d.kept().surroundings, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_FALSE(d.host(1));
}
TEST(L6, SupportConfirmsIt) {
  Device d({}, {.level = at(2)});
  EXPECT_FALSE(d.hear(1, 1));
  EXPECT_EQ(d.inference.source(), LevelSource::kNeighbor);
  Device leaf({}, {.level = at(1)});
  leaf.host(1);
  EXPECT_EQ(leaf.inference.source(), LevelSource::kHost);
}
TEST(L6, ThereAreNoSpecialWaits) {
  Device d({}, {.level = at(1)});
  d.hear(1, 3);
  EXPECT_EQ(d.pass(milliseconds(59'999)), 0);
  EXPECT_EQ(d.pass(milliseconds(1)), 1);
}
TEST(L6, TheHighestLevelThatIsAllowedIsRestoredAndNoneAbove) {
  EXPECT_EQ(Device({.max_level = Level::of<3>()}, {.level = at(3)}).level(), 3);
  EXPECT_EQ(Device({.max_level = Level::of<2>()}, {.level = at(3)}).level(), std::nullopt);
  EXPECT_EQ(Device({}, {.level = at(0)}).level(), std::nullopt);
}

// docs/develop/rules.md, "Order": when it is worth saving

TEST(Saving, SupportIsSavedEveryTenMinutesAndWhenTheLevelIsEstablished) {
  Device d;
  d.rules.establish = minutes(25);
  d.inference.set_rules(d.rules, d.now);
  d.host(1);
  std::vector<Duration> saved;
  for (int minute = 0; minute < 200; ++minute) {
    d.pass(minutes(1));
    if (d.inference.take_milestone()) saved.push_back(d.kept().supported);
  }
  EXPECT_EQ(saved, (std::vector<Duration>{minutes(10), minutes(20), minutes(25), minutes(35),
                                          minutes(45), minutes(55)}));
}

// Hosts

TEST(HostRole, HasLevelNoughtAndIgnoresWhatItHears) {
  Device d({.role = Role::kHost}, established(2, {1}));
  EXPECT_EQ(d.level(), 0);
  EXPECT_FALSE(d.hear(1, 3));
  EXPECT_EQ(d.pass(30 * kDay), 0);
  EXPECT_EQ(d.level(), 0);
  EXPECT_EQ(d.kept().level, at(2));  // for the day it is a switch again
  EXPECT_EQ(d.kept().supported, kDay);
}
TEST(HostRole, AsASwitchItGoesByWhatItHears) {
  Device d({.role = Role::kHost});
  d.hear(1, 2);
  d.set([](auto& r) { r.role = Role::kSwitch; });
  EXPECT_EQ(d.level(), 3);
}

// As a whole

TEST(LevelCount, KnowsTheLowest) {
  LevelCount c;
  EXPECT_EQ(c.lowest(), std::nullopt);
  for (unsigned l : {254U, 64U, 63U, 64U, 0U}) c.add(at(l));
  EXPECT_EQ(c.lowest(), at(0));
  c.remove(at(0));
  EXPECT_EQ(c.lowest(), at(63));
  c.remove(at(63));
  c.remove(at(64));
  EXPECT_EQ(c.lowest(), at(64));
  c.remove(at(64));
  EXPECT_EQ(c.lowest(), at(254));
  c.remove(at(254));
  EXPECT_EQ(c.lowest(), std::nullopt);
}

TEST(HashOfAChassisId, IsTheSameInEveryVersion) {
  const auto id = [](std::uint8_t subtype, std::string octets) {
    return ChassisId{{subtype, std::move(octets)}};
  };
  EXPECT_EQ(hash_of(id(0x61, "bc")), 0xe71fa2190541574bU);  // FNV-1a of "abc"
  EXPECT_NE(hash_of(id(4, "x")), hash_of(id(7, "x")));
}

TEST(Inference, DoesNotDependOnTheOrderOfArrival) {
  std::vector<unsigned> levels{5, 2, 7, 3, 2};
  std::sort(levels.begin(), levels.end());
  do {
    Device d;
    for (std::size_t i = 0; i < levels.size(); ++i) d.hear(static_cast<int>(i), levels[i]);
    ASSERT_EQ(d.level(), 3);
  } while (std::next_permutation(levels.begin(), levels.end()));
}

}  // namespace
}  // namespace lldp::core
