// SPDX-License-Identifier: Apache-2.0
// What others do to the rules is found and mended.
#include "tests/daemon/protection_fixture.hpp"

namespace lldp::io::test {
namespace {

TEST_F(ProtectionTest, WhatNobodyToldOfIsFoundAndPutBackWithinTenSeconds) {
  hear(kPort, Level::of<2>());
  Protection& protection = start();
  lose(kPort);
  pass(seconds(9));
  EXPECT_EQ(programmed(kPort), Order::kUp);
  EXPECT_THAT(restored_, ElementsAre("swp7 classify, remap: another program had removed them"));
  EXPECT_EQ(told().ports[0].restored, 1U);
  EXPECT_EQ(summary().state, State::kActive);
  EXPECT_THAT(alarms(), IsEmpty());
  // What was counted is not told as nothing meanwhile: to who draws it that is a new beginning.
  kernel_.down = Error{0, "backend fake", "it is away"};
  protection.take_events(now_);
  EXPECT_EQ(told().ports[0].restored, 1U);
  EXPECT_EQ(told().ports[0].bounces, std::nullopt);
}

TEST_F(ProtectionTest, WhatAnEventTellsOfIsPutBackAtOnce) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  Protection& protection = start({kPort, kOther});
  now_ += seconds(1);
  const int looks = kernel_.looks;
  lose(kPort);
  kernel_.events = {kPort, Ifindex::of<99>()};
  protection.take_events(now_);
  static_cast<void>(protection.take_changed());
  protection.advance(now_);
  EXPECT_EQ(programmed(kPort), Order::kUp);
  EXPECT_TRUE(protection.take_changed()) << "though it stands as before: it is counted";
  EXPECT_EQ(kernel_.looks, looks + 2);  // and once more, after it was put back
  now_ += seconds(1);
  kernel_.events = {Ifindex()};  // some were lost: of any port
  lose(kOther);
  protection.take_events(now_);
  turn();
  EXPECT_EQ(programmed(kOther), Order::kUnknown);
}

// Its event is one among those of what was put back, and after that nobody tells of anything.
TEST_F(ProtectionTest, WhatIsTakenAwayInTheMomentInWhichItIsPutBackIsPutBackAgain) {
  lose_again_and_again(2);
  const int before = kernel_.applies;
  protection_->take_events(now_);
  pass(seconds(2));
  EXPECT_FALSE(kernel_.installed.contains({kPort, Part::kRemap}));
  EXPECT_THAT(restored_, IsEmpty());
  pass(seconds(1));
  EXPECT_EQ(kernel_.applies, before + 3);
  EXPECT_EQ(programmed(kPort), Order::kUp);
  EXPECT_THAT(restored_, ElementsAre("swp7 classify, remap: another program had removed them"));
  EXPECT_EQ(summary().state, State::kActive);
}

TEST_F(ProtectionTest, WhatIsPutBackAndNeverThereIsPutBackEveryEightSeconds) {
  lose_again_and_again(1'000);
  const int before = kernel_.applies;
  protection_->take_events(now_);
  pass(seconds(15));  // at once, after 1, 3, 7 and 15 s
  EXPECT_EQ(kernel_.applies, before + 5);
  pass(seconds(80));
  EXPECT_EQ(kernel_.applies, before + 15);
  EXPECT_EQ(summary().state, State::kPartial);
}

TEST_F(ProtectionTest, WhatIsFoundLostWhenAskedForIsPutBack) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  start();
  now_ += seconds(1);
  lose(kPort);
  EXPECT_EQ(told().ports[0].parts.front().state, "missing");
  turn();
  EXPECT_EQ(programmed(kPort), Order::kUp);
}

// It was said up to ten seconds later, for nobody tells of what leaves a TCX hook.
TEST_F(ProtectionTest, AnAnswerReadsWhatNobodyTellsOf) {
  hear(kPort, Level::of<2>());
  Protection& protection = start();
  now_ += seconds(1);
  kernel_.obstacles[{kPort, Part::kRemap}] = {Part::kRemap, PartState::kBypassed, "another's"};
  protection.catch_up(now_);
  EXPECT_EQ(summary().state, State::kPartial);
  const int looks = kernel_.looks;
  for (int i = 0; i < 100; ++i) protection.catch_up(now_);
  EXPECT_EQ(kernel_.looks, looks) << "however often it is asked";
}

TEST_F(ProtectionTest, WhatCannotBeReadIsNotSaidToBeThereOrNot) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  start();
  kernel_.unreadable = EPERM;
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kUnknown);
  pass(milliseconds(100));
  EXPECT_EQ(summary().state, State::kFailed) << "and not only by who asks for rules";
}

// Every answer that could not read doubled the wait, up to half a minute.
TEST_F(ProtectionTest, WhoAsksWhatCannotBeReadPutsNoAttemptOff) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  start();
  kernel_.unreadable = EPERM;
  for (int i = 0; i < 8; ++i) {
    protection_->link_changed(kPort);
    pass(milliseconds(110));
  }
  ASSERT_EQ(summary().state, State::kFailed);
  EXPECT_THAT(alarms(), testing::Contains(HasSubstr(std::strerror(EPERM))));
  kernel_.unreadable = EIO;
  protection_->link_changed(kPort);
  pass(milliseconds(100));
  EXPECT_THAT(alarms(), testing::Contains(HasSubstr(std::strerror(EIO)))) << "it is another now";
  kernel_.unreadable = 0;
  pass(milliseconds(1100));
  EXPECT_EQ(summary().state, State::kActive);
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(ProtectionTest, WhatCouldNotBeReadForAMomentIsWellASecondLater) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  start();
  kernel_.unreadable = EPERM;
  protection_->link_changed(kPort);
  pass(seconds(20));  // the next attempt is at 31 s
  ASSERT_EQ(summary().state, State::kFailed);
  kernel_.unreadable = 0;
  protection_->link_changed(kPort);
  pass(seconds(1));
  EXPECT_EQ(summary().state, State::kActive);
}

TEST_F(ProtectionTest, AnAnswerReadsWhatMayHaveChangedAndIsNotOfBefore) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  start();
  ASSERT_EQ(summary().state, State::kActive);
  const PartReading xdp{Part::kClassify, PartState::kBypassed, "an XDP program"};
  kernel_.obstacles[{kPort, Part::kClassify}] = xdp;
  kernel_.events = {kPort};  // which nobody has taken, within 100 ms of the last reading
  protection_->catch_up(now_);
  EXPECT_EQ(summary().state, State::kPartial);
  kernel_.obstacles.clear();
  protection_->link_changed(kPort);
  protection_->catch_up(now_);
  EXPECT_EQ(summary().state, State::kActive);
  const int looks = kernel_.looks;
  protection_->catch_up(now_);
  EXPECT_EQ(kernel_.looks, looks) << "nothing is pending";
  // Lost, and by a look put off that is too soon after the last one.
  protection_->link_changed(kPort);
  turn();
  kernel_.obstacles[{kPort, Part::kClassify}] = xdp;
  protection_->catch_up(now_);
  EXPECT_EQ(summary().state, State::kPartial);
}

TEST_F(ProtectionTest, WhoIsAskedForTheRulesKnowsWhatNobodyToldOf) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  start();
  kernel_.obstacles[{kPort, Part::kRemap}] = {Part::kRemap, PartState::kForeign, "a TCX program"};
  protection_->catch_up(now_);
  EXPECT_EQ(summary().state, State::kActive) << "nobody told";
  static_cast<void>(told());
  protection_->catch_up(now_);
  EXPECT_EQ(summary().state, State::kPartial);
}

TEST_F(ProtectionTest, WhatIsRefusedAfterALossIsAnAlarmAndCountsOnceItIsBack) {
  hear(kPort, Level::of<2>());
  Protection& protection = start();
  lose(kPort);
  kernel_.fail_at_write = kernel_.writes;
  now_ += seconds(9);
  protection.advance(now_);
  EXPECT_THAT(alarms(), ElementsAre("unprotected  rules are not in force on 1 of 1 port: swp7",
                                    "dataplane swp7 7: add classify: refused"));
  EXPECT_THAT(restored_, IsEmpty());
  pass(seconds(2));
  EXPECT_EQ(programmed(kPort), Order::kUp);
  EXPECT_EQ(restored_.size(), 1U);
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(ProtectionTest, WhatTakesOurPlaceIsTriedAgainWhenItGoes) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  Protection& protection = start();
  const auto event = [&] {
    kernel_.events = {kPort};
    protection.take_events(now_);
    turn();
  };
  // Somebody's own is there instead, and is not moved: after seven tries the next is far away.
  lose(kPort);
  for (Part part : {Part::kClassify, Part::kRemap})
    kernel_.obstacles[{kPort, part}] = {part, PartState::kForeign, "a qdisc"};
  kernel_.refuse_all = "no place";
  now_ += seconds(1);
  event();
  EXPECT_THAT(reasons(), ElementsAre("swp7 classify foreign no place"));
  pass(seconds(70));
  const int writes = kernel_.writes;
  kernel_.obstacles.clear();
  kernel_.refuse_all.clear();
  event();
  EXPECT_EQ(kernel_.writes, writes + 2);
  EXPECT_EQ(programmed(kPort), Order::kUp);
  pass(milliseconds(100));
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_THAT(restored_, ElementsAre("swp7 classify, remap: another program had removed them"));
  // One that comes and goes all the time is tried once a second.
  lose(kPort);
  kernel_.refuse_all = "no place";
  const int before = kernel_.writes;
  for (int i = 0; i < 100; ++i) {
    kernel_.obstacles[{kPort, Part::kRemap}] = {Part::kRemap, PartState::kForeign,
                                                std::to_string(i)};
    event();
    pass(milliseconds(100));
  }
  EXPECT_LE(kernel_.writes - before, 11);
  EXPECT_GE(kernel_.writes - before, 8);
}

TEST_F(ProtectionTest, FightIsDampedAndAnAlarmUntilAMinuteIsCalm) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  Protection& protection = start();
  now_ += seconds(1);
  // For 5 minutes it is taken away whenever it is there, every 10 ms.
  Duration longest{};
  Duration without{};
  for (int i = 0; i < 30000; ++i) {
    if (kernel_.installed.contains({kPort, Part::kRemap})) {
      lose(kPort);
      kernel_.events = {kPort};
      protection.take_events(now_);
      without = {};
    }
    pass(milliseconds(10));
    without += milliseconds(10);
    if (kernel_.installed.contains({kPort, Part::kRemap})) longest = std::max(longest, without);
  }
  EXPECT_LE(longest, seconds(10));
  EXPECT_LE(restored_.size(), 45U);
  EXPECT_GE(restored_.size(), 30U);
  EXPECT_THAT(alarms(), testing::Contains(HasSubstr("another program removed the rules ")));
  pass(seconds(10));
  EXPECT_EQ(programmed(kPort), Order::kUp);
  EXPECT_THAT(alarms(), testing::SizeIs(2));
  pass(seconds(60));
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(ProtectionTest, WhatStandsBeforeTheRulesIsAnAlarmAndNoProtection) {
  kernel_.tells = true;
  hear(kPort, Level::of<2>());
  Protection& protection = start();
  now_ += seconds(1);
  const int writes = kernel_.writes;
  kernel_.obstacles[{kPort, Part::kClassify}] = {Part::kClassify, PartState::kBypassed, "by XDP"};
  protection.link_changed(kPort);
  turn();
  EXPECT_THAT(alarms(), ElementsAre("unprotected  rules are not in force on 1 of 1 port: swp7",
                                    "dataplane swp7 classify bypassed: by XDP"));
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(), ElementsAre("swp7 classify bypassed by XDP"));
  EXPECT_EQ(kernel_.writes, writes);
  kernel_.obstacles.clear();
  now_ += seconds(1);
  protection.link_changed(kPort);
  turn();
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_EQ(summary().state, State::kActive);
}

TEST_F(ProtectionTest, PortThatChangesAllTheTimeIsReadTenTimesASecond) {
  kernel_.tells = true;
  Protection& protection = start();
  const int looks = kernel_.looks;
  for (int i = 0; i < 1000; ++i) {
    kernel_.events = {kPort};
    protection.take_events(now_);
    pass(milliseconds(1));
  }
  EXPECT_GE(kernel_.looks - looks, 9);
  EXPECT_LE(kernel_.looks - looks, 11);
}

}  // namespace
}  // namespace lldp::io::test
