// SPDX-License-Identifier: Apache-2.0
// A back end that answers later: a port has one change under way, and each answer is that one's.
#include "tests/daemon/protection_fixture.hpp"

namespace lldp::io::test {
namespace {

class SlowProtection : public ProtectionTest {
 protected:
  SlowProtection() {
    kernel_.slow = true;
    kernel_.tells = true;
  }
  /// The change that was asked for first is done, and answered.
  void answer() {
    kernel_.answers = 1;
    protection_->take_events(now_);
    EXPECT_EQ(kernel_.answers, 0) << "nothing was asked for";
  }
  bool has_rules(Ifindex port) const { return kernel_.installed.contains({port, Part::kClassify}); }
};

TEST_F(SlowProtection, PortThatIsLeftOutWhileItsRulesComeLosesThemThen) {
  start();
  protection_->remove(kPort, now_);
  answer();
  EXPECT_TRUE(has_rules(kPort));
  answer();
  EXPECT_FALSE(has_rules(kPort));
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(SlowProtection, RefusedRulesOfAPortThatIsLeftOutAreNoRefusalOfTheirRemoval) {
  start();
  kernel_.refuse_all = "busy";
  protection_->remove(kPort, now_);
  answer();
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_EQ(protection_->next_deadline(), std::nullopt);
}

TEST_F(SlowProtection, RemovalThatIsRefusedAfterTheRulesCameIsTold) {
  start();
  protection_->remove(kPort, now_);
  answer();
  kernel_.refuse_all = "busy";
  answer();
  EXPECT_THAT(alarms(), ElementsAre(HasSubstr("the port is no longer in")));
  kernel_.refuse_all.clear();
  pass(seconds(1));
  answer();
  EXPECT_FALSE(has_rules(kPort));
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(SlowProtection, PortThatComesBackWhileItsRulesGoGetsThemAgain) {
  hear(kPort, Level::of<2>());
  for (const bool refused : {false, true}) {
    start();
    answer();
    protection_->remove(kPort, now_);
    protection_->add(kPort, now_);
    turn();
    const int before = kernel_.applies;
    kernel_.refuse_all = refused ? "busy" : "";
    answer();
    EXPECT_EQ(has_rules(kPort), refused);
    EXPECT_EQ(kernel_.applies, before + 1);
    EXPECT_THAT(alarms(), IsEmpty()) << "of a removal that nobody wants any more";
    kernel_.refuse_all.clear();
    answer();
    turn();
    EXPECT_EQ(programmed(kPort), Order::kUp);
    EXPECT_EQ(summary().state, State::kActive);
  }
}

TEST_F(SlowProtection, PortThatIsLeftOutAgainWhileItsRulesGoIsAskedOnce) {
  start();
  answer();
  protection_->remove(kPort, now_);
  protection_->add(kPort, now_);
  protection_->remove(kPort, now_);
  const int before = kernel_.applies;
  answer();
  EXPECT_FALSE(has_rules(kPort));
  EXPECT_EQ(kernel_.applies, before);
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(SlowProtection, ClassesThatChangeWhileTheRulesComeFollowAndNobodyTookThemAway) {
  hear(kPort, Level::of<2>());
  start();
  const qos::Policy policy = *qos::Policy::parse("3:dscp26", "0:dscp0");
  protection_->update_all(policy, now_);
  answer();
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}), rules(Order::kUp));
  answer();
  turn();
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}),
            qos::compile(policy, {.order = Order::kUp}));
  pass(seconds(1));
  EXPECT_THAT(restored_, IsEmpty());
}

// What was read back is of the rules before.
TEST_F(SlowProtection, ChangeThatIsUnderWayIsNoProtectionYet) {
  start();
  answer();
  turn();
  EXPECT_EQ(summary().state, State::kInactive) << "nobody is heard";
  hear(kPort, Level::of<2>());
  protection_->update(kPort, now_);
  protection_->catch_up(now_);
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(), ElementsAre("swp7 remap missing its rules are about to change"));
  answer();
  protection_->catch_up(now_);
  EXPECT_EQ(summary().state, State::kActive);
}

TEST_F(SlowProtection, NothingIsDueForAPortThatIsAskedForAgain) {
  start();
  kernel_.refuse_all = "busy";
  answer();
  EXPECT_EQ(alarms().size(), 2U);
  kernel_.refuse_all.clear();
  pass(seconds(1));
  EXPECT_GT(protection_->next_deadline(), now_);  // and no turn() that is never at rest
  answer();
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(SlowProtection, RulesThatComeAtAStopGoWhereThatIsAskedFor) {
  start({kPort, kOther});
  kernel_.slow = false;
  EXPECT_TRUE(protection_->flush());
  EXPECT_THAT(kernel_.installed, IsEmpty());
}

TEST_F(ProtectionTest, SlowDataPlaneHoldsNobodyUpAndLearnsTheLatestOrder) {
  kernel_.slow = true;
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  hear(kOther, Level::of<2>());
  Protection& protection = start({kPort, kOther});
  EXPECT_EQ(kernel_.applies, 1);  // both ports in one plan
  EXPECT_THAT(reasons(), testing::SizeIs(2));
  pass(seconds(30));
  EXPECT_EQ(kernel_.applies, 1);
  hear(kPort, std::nullopt);  // a host: meanwhile the port's order is another
  const Order order = agent_.order(kPort);
  protection.update(kPort, now_);
  EXPECT_EQ(kernel_.applies, 1);
  kernel_.slow = false;
  protection.take_events(now_);
  EXPECT_EQ(programmed(kPort), order);
  pass(seconds(1));
  EXPECT_THAT(reasons(), ElementsAre(HasSubstr("last hop unverified"))) << "the host tells no PFC";
}

TEST_F(ProtectionTest, WhatASlowBackEndPutsBackAndIsNeverThereIsNotPutBackWithEveryAnswer) {
  lose_again_and_again(1'000);
  kernel_.slow = true;
  const int before = kernel_.applies;
  for (int answers = 0; answers < 56; ++answers) {
    protection_->take_events(now_);
    pass(milliseconds(125));
    kernel_.slow = false;
    protection_->take_events(now_);
    kernel_.slow = true;
    pass(milliseconds(125));
  }
  EXPECT_EQ(kernel_.applies, before + 4);  // in 14 s
}

// The answer to one may come while the other is asked.
TEST_F(ProtectionTest, PortsThatAreLeftOutAreTriedAgainOnceWhereTheBackEndAnswersLater) {
  start({kPort, kOther});
  kernel_.refuse_all = "busy";
  protection_->remove(kPort, now_);
  protection_->remove(kOther, now_);
  kernel_.refuse_all.clear();
  kernel_.slow = true;
  const int tries = kernel_.applies;
  now_ += seconds(1);
  for (int i = 0; i < 10; ++i) protection_->advance(now_);
  EXPECT_EQ(kernel_.applies, tries + 2);
  EXPECT_EQ(protection_->next_deadline(), std::nullopt);
  kernel_.slow = false;
  protection_->take_events(now_);
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_THAT(kernel_.installed, IsEmpty());
}

}  // namespace
}  // namespace lldp::io::test
