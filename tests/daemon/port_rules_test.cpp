// SPDX-License-Identifier: Apache-2.0
// The state machine of one port's rules: each state with each event; and the queue of turns.
#include "agent/daemon/port_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lldp::io {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

constexpr auto kPort = Ifindex::of<7>();
constexpr auto kOther = Ifindex::of<8>();
constexpr TimePoint kNow{seconds(1000)};

TEST(RulesMachine, EachStateWithEachEvent) {
  using enum RulesState;
  using E = RulesEvent;
  constexpr E kEvents[] = {E::kFound, E::kAdded, E::kRemoved, E::kWanted,
                           E::kAsked, E::kDone,  E::kRefused, E::kGone};
  struct Row {
    RulesState state;
    RulesState then[8];
  };
  // clang-format off
  constexpr Row kTable[] = {
      //            found       added       removed   wanted      asked      done        refused     gone
      {kNone,      {kFound,     kQueued,    kNone,    kNone,      kNone,     kNone,      kNone,      kNone}},
      {kFound,     {kFound,     kQueued,    kLeaving, kFound,     kFound,    kFound,     kFound,     kNone}},
      {kQueued,    {kQueued,    kQueued,    kLeaving, kQueued,    kApplying, kInstalled, kQueued,    kNone}},
      {kApplying,  {kApplying,  kApplying,  kLeaving, kApplying,  kApplying, kInstalled, kRefused,   kNone}},
      {kInstalled, {kInstalled, kInstalled, kLeaving, kQueued,    kApplying, kInstalled, kRefused,   kNone}},
      {kRefused,   {kRefused,   kRefused,   kLeaving, kQueued,    kApplying, kRefused,   kRefused,   kNone}},
      {kLeaving,   {kLeaving,   kQueued,    kLeaving, kLeaving,   kLeaving,  kNone,      kLeaving,   kNone}},
  };
  // clang-format on
  for (const Row& row : kTable)
    for (std::size_t i = 0; i < std::size(kEvents); ++i)
      EXPECT_EQ(next(row.state, kEvents[i]), row.then[i])
          << "state " << static_cast<int>(row.state) << ", event " << i;
}

TEST(RulesMachine, OursAreTheStatesOfAPortOfThisDaemon) {
  using enum RulesState;
  for (const RulesState s : {kQueued, kApplying, kInstalled, kRefused}) EXPECT_TRUE(is_ours(s));
  for (const RulesState s : {kNone, kFound, kLeaving}) EXPECT_FALSE(is_ours(s));
}

TEST(PortRules, TurnIsDueWhileQueuedAlone) {
  PortRules rules{.state = RulesState::kQueued, .turn = kNow};
  EXPECT_EQ(rules.due(), kNow);
  rules.state = RulesState::kInstalled;
  EXPECT_EQ(rules.due(), kNever);
}

TEST(PortRules, NothingButALookIsDueWhileAChangeIsUnderWay) {
  PortRules rules{.state = RulesState::kApplying, .change = PortRules::Change{}};
  rules.failure = Failure{.due = kNow};
  EXPECT_EQ(rules.due(), kNever);
  rules.look_at = kNow + seconds(1);
  EXPECT_EQ(rules.due(), kNow + seconds(1));
  rules.change.reset();
  EXPECT_EQ(rules.due(), kNow);
}

TEST(PortRules, PortThatLeavesIsTriedAgainAndNotLookedAt) {
  PortRules rules{.state = RulesState::kLeaving, .look_at = kNow};
  EXPECT_EQ(rules.due(), kNever);
  rules.failure = Failure{.due = kNow + seconds(2)};
  EXPECT_EQ(rules.due(), kNow + seconds(2));
}

TEST(Failure, IsTriedAgainAfterTwiceAsLongAndAtLastEveryHalfMinute) {
  Failure failure;
  for (const int wait : {1, 2, 4, 8, 16, 30, 30}) {
    failure.again({}, kNow);
    EXPECT_EQ(failure.due, kNow + seconds(wait));
  }
}

TEST(Turns, EarliestIsFirstAndOneThatIsMovedIsThereOnce) {
  Turns turns;
  EXPECT_EQ(turns.first(), kNever);
  turns.set(kPort, kNow + seconds(2));
  turns.set(kOther, kNow + seconds(1));
  EXPECT_EQ(turns.first(), kNow + seconds(1));
  EXPECT_THAT(turns.due(kNow), ElementsAre());
  EXPECT_THAT(turns.due(kNow + seconds(2)), ElementsAre(kOther, kPort));
  turns.set(kPort, kNow);
  EXPECT_THAT(turns.due(kNow + seconds(2)), ElementsAre(kPort, kOther));
  turns.set(kPort, kNever);
  turns.set(kPort, kNever);
  EXPECT_THAT(turns.due(kNow + seconds(2)), ElementsAre(kOther));
}

}  // namespace
}  // namespace lldp::io
