// SPDX-License-Identifier: Apache-2.0
// Rules of an earlier daemon, and what becomes of rules when one stops.
#include "tests/daemon/protection_fixture.hpp"

namespace lldp::io::test {
namespace {

TEST_F(ProtectionTest, RulesFoundAtStartStayUntilTheNeighborWouldHaveBeenHeard) {
  install(kPort, Order::kUp);
  Protection& protection = open();
  protection.add(kPort, now_);
  const TimePoint until = now_ + seconds(121);  // our TTL
  pass(seconds(121) - std::chrono::nanoseconds(1));
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}), rules(Order::kUp));
  now_ = until;
  protection.advance(until);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}), rules(Order::kUnknown));
  EXPECT_THAT(restored_, IsEmpty());
}

// Where a switch has its ports by name, their rules may be there before the interfaces.
TEST_F(ProtectionTest, RulesFoundBeforeThePortHadAnInterfaceAreItsOwn) {
  const Ifindex none = *Ifindex::make(Ifindex::kMax);
  install(none, Order::kUp);
  kernel_.names[none] = "swp7";
  for (const bool leaving : {false, true}) {
    open().ask_alone([] { return true; });
    kernel_.refuse_all = leaving ? "busy" : "";
    pass(seconds(leaving ? 121 : 1));
    EXPECT_EQ(alarms().empty(), !leaving);
    kernel_.refuse_all.clear();
    const int writes = kernel_.writes;
    protection_->add(kPort, now_);
    turn();
    EXPECT_THAT(alarms(), IsEmpty());
    EXPECT_EQ(programmed(kPort), leaving ? Order::kUnknown : Order::kUp);
    pass(seconds(121));
    EXPECT_EQ(programmed(kPort), Order::kUnknown);
    EXPECT_EQ(kernel_.writes, writes + (leaving ? 0 : 4));
    EXPECT_EQ(programmed(none), Order::kUp) << "taken off by name, they would be the port's";
  }
}

// Its interface was made anew while nobody looked: by its name they would be taken off ours.
TEST_F(ProtectionTest, RulesFoundUnderAnOldNumberOfAPortThatIsOursAreNoStrays) {
  install(kOther, Order::kUp);
  kernel_.names[kOther] = "swp7";
  start();
  protection_->ask_alone([] { return true; });
  pass(seconds(121));
  EXPECT_EQ(programmed(kOther), Order::kUp);
}

TEST_F(ProtectionTest, RulesFoundAtStartAreReadBackAtOnce) {
  install(kPort, Order::kUp);
  start();
  EXPECT_EQ(kernel_.looks, 1);
}

TEST_F(ProtectionTest, RulesFoundWhereThePortRemembersSomebodyFollowAtOnce) {
  core::State state{.agent = 1, .rank = Position{Level::of<2>(), chassis_id_from_mac({2})}};
  state.ports.push_back(
      {.name = "p", .memory = {.kind = core::PortMemory::Kind::kAbove}, .ever_heard = true});
  core::Agent agent({}, state, now_);
  core::Actions none;
  agent.set_link({.ifindex = kPort, .name = "p", .up = true}, now_, none);
  install(kPort, Order::kDown);
  Protection protection(
      agent, qos::Policy(), "fake", [this] { return std::make_unique<FakeBackend>(kernel_); },
      names(), now_);
  EXPECT_EQ(protection.take_found_rules(), true);
  protection.add(kPort, now_);
  protection.advance(now_);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}), rules(Order::kUp));
}

TEST_F(ProtectionTest, RulesFoundWhereTheStateRemembersNobodyGo) {
  for (const bool knows_ports : {true, false}) {
    core::State state;
    if (knows_ports)
      state = {.agent = 1, .rank = Position{Level::of<2>(), chassis_id_from_mac({2})}};
    core::Agent agent({}, state, now_);
    core::Actions none;
    agent.set_link({.ifindex = kPort, .name = "p", .up = true}, now_, none);
    install(kPort, Order::kUp);
    protection_.emplace(agent, qos::Policy(), "fake", opener(), names(), now_).add(kPort, now_);
    turn();
    EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}),
              rules(knows_ports ? Order::kUnknown : Order::kUp));
  }
}

// docs/develop/rules.md A9: for what rank they were made, the state does not say.
TEST_F(ProtectionTest, RulesFoundAreThoseForUpWhereNoPlaceIsKnown) {
  core::Agent agent({.role = Role::kSwitch}, {}, now_);
  core::Actions none;
  agent.set_link(link(kPort, 1), now_, none);
  install(kPort, Order::kDown);
  const int before = kernel_.writes;
  protection_.emplace(agent, qos::Policy(), "fake", opener(), names(), now_).add(kPort, now_);
  EXPECT_EQ(programmed(kPort), Order::kUp);
  agent.assume_rules(now_, none);
  turn();
  EXPECT_EQ(protection_->rules(agent.snapshot(now_)).ports[0].installed,
            report::PortRules::Installed::kYes);
  EXPECT_EQ(kernel_.writes, before + 2);  // once: both of its parts
  pass(seconds(121));
  EXPECT_EQ(programmed(kPort), Order::kUp);  // until all have acknowledged, or are forgotten
}

// The place that the file has may be below the one they were made for: the daemon before was ended
// when it had saved that, and before what it asked for because of that was done.
TEST_F(ProtectionTest, RulesFoundAreThoseForUpThoughAPlaceIsKnown) {
  install(kPort, Order::kDown);
  kernel_.slow = true;
  for (int starts = 0; starts < 2; ++starts) {
    open().add(kPort, now_);
    EXPECT_EQ(programmed(kPort), Order::kDown);
    EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kDiffers);
    EXPECT_EQ(told().ports[0].wanted.port.order, Order::kUp);
  }
  kernel_.slow = false;
  protection_->take_events(now_);
  EXPECT_EQ(programmed(kPort), Order::kUp);
  turn();
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kYes);
  pass(seconds(121));
  EXPECT_EQ(programmed(kPort), Order::kUnknown);
}

TEST_F(ProtectionTest, RulesFoundFollowTheNeighborThatIsHeard) {
  install(kPort, Order::kDown);
  start();
  hear(kPort, std::nullopt);
  protection_->update(kPort, now_);
  EXPECT_EQ(programmed(kPort), Order::kDown);
}

TEST_F(ProtectionTest, RulesFoundThatCannotBecomeThoseForUpDifferAndAreTriedAgain) {
  install(kPort, Order::kDown);
  kernel_.refuse_all = "busy";
  start();
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kDiffers);
  EXPECT_EQ(told().ports[0].wanted.port.order, Order::kUp);
  EXPECT_THAT(alarms(), testing::Contains(HasSubstr("swp7")));
  kernel_.refuse_all.clear();
  pass(seconds(2));
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kYes);
  EXPECT_EQ(programmed(kPort), Order::kUp);
}

TEST_F(ProtectionTest, RulesFoundHaveNewClassesAtOnce) {
  install(kPort, Order::kUp);
  Protection& protection = open();
  protection.add(kPort, now_);
  const auto policy = *qos::Policy::parse("3:dscp26", "0:dscp0");
  protection.update_all(policy, now_);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}),
            qos::compile(policy, {.order = Order::kUp}));
}

TEST_F(ProtectionTest, RulesFoundAtStartStayWhereTheBackEndWasAwayForAWhile) {
  install(kPort, Order::kUp);
  Protection& protection = open();
  protection.add(kPort, now_);
  pass(seconds(1));
  kernel_.down = Error{0, "backend fake", "it is away"};
  protection.take_events(now_);
  pass(seconds(10));
  kernel_.down.reset();
  protection.take_events(now_);
  pass(seconds(100));
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}), rules(Order::kUp));
}

TEST_F(ProtectionTest, NewRoleReplacesRulesFoundAtStart) {
  install(kPort, Order::kUp);
  Protection& protection = open();
  protection.add(kPort, now_);
  core::Actions actions;
  agent_.configure({.role = Role::kHost}, now_, actions);
  protection.update_all(qos::Policy(), now_);
  EXPECT_EQ(programmed(kPort), Order::kUnknown);
}

TEST_F(ProtectionTest, NothingIsTakenAwayAtStopUnlessAsked) {
  {
    Protection& protection = open();
    protection.add(kPort, now_);
    protection.advance(now_);
  }
  EXPECT_FALSE(kernel_.installed.empty());
  Protection& protection = open();
  EXPECT_TRUE(protection.flush());
  EXPECT_TRUE(kernel_.installed.empty());
  kernel_.down = Error{0, "backend fake", "it is away"};
  EXPECT_FALSE(open().flush());
}

// One TTL, and at least a minute however short ours is
TEST_F(ProtectionTest, RulesFoundStayForAMinuteWhereOurTtlIsShort) {
  core::Settings settings{.role = Role::kSwitch, .pinned_level = Level::of<1>()};
  settings.msgTxInterval = seconds(5);
  settings.msgTxHold = 2;
  core::Actions actions;
  agent_.configure(settings, now_, actions);
  install(kPort, Order::kUp);
  start();
  pass(seconds(59));
  EXPECT_EQ(programmed(kPort), Order::kUp);
  pass(seconds(1));
  EXPECT_EQ(programmed(kPort), Order::kUnknown);
}

TEST_F(ProtectionTest, RulesFoundWhereTheBackEndIsLateStayToo) {
  install(kPort, Order::kUp);
  kernel_.down = Error{0, "backend fake", "it is away"};
  start();
  EXPECT_EQ(protection_->take_found_rules(), std::nullopt);
  pass(seconds(3));
  kernel_.down.reset();
  protection_->take_events(now_);
  EXPECT_EQ(protection_->take_found_rules(), true);
  turn();
  EXPECT_EQ(programmed(kPort), Order::kUp);
  pass(seconds(121));
  EXPECT_EQ(programmed(kPort), Order::kUnknown);
}

// Whoever takes the ports for bare because they could not be read takes their rules away.
TEST_F(ProtectionTest, RulesStayWhereItCouldNotBeReadWhichPortsHaveSome) {
  install(kPort, Order::kUp);
  kernel_.unread = Error{ENOBUFS, "rtnetlink", "No buffer space available"};
  start();
  pass(seconds(3));
  EXPECT_EQ(programmed(kPort), Order::kUp);
  EXPECT_EQ(kernel_.writes, 2);
  EXPECT_EQ(protection_->take_found_rules(), std::nullopt);
  EXPECT_THAT(alarms(), testing::Contains(HasSubstr("No buffer space available")));
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kUnknown) << "they may be";
  kernel_.unread.reset();
  pass(seconds(1));
  EXPECT_EQ(protection_->take_found_rules(), true);
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_EQ(programmed(kPort), Order::kUp);
  pass(seconds(121));
  EXPECT_EQ(programmed(kPort), Order::kUnknown);
}

TEST_F(ProtectionTest, RulesFoundOnAPortThatIsNotOursGoIfNobodyElseIsHere) {
  for (const bool sole : {false, true}) {
    install(kOther, Order::kUp);
    start();
    protection_->ask_alone([sole] { return sole; });
    pass(seconds(120));
    EXPECT_EQ(programmed(kOther), Order::kUp);
    pass(seconds(1));
    EXPECT_EQ(kernel_.installed.contains({kOther, Part::kClassify}), !sole);
  }
}

// The other one may have come, or gone, at any time.
TEST_F(ProtectionTest, WhetherSomebodyElseIsHereIsAskedWhenItMatters) {
  install(kOther, Order::kUp);
  start();
  bool alone = true;
  int asked = 0;
  protection_->ask_alone([&] { return ++asked, alone; });
  pass(seconds(120));
  EXPECT_EQ(asked, 0);
  alone = false;
  pass(seconds(1));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(programmed(kOther), Order::kUp);

  kernel_.tells = true;
  kernel_.installed.clear();
  start();
  protection_->ask_alone([&] { return ++asked, alone; });
  for (const bool now : {false, true}) {
    alone = now;
    install(kOther, Order::kDown);
    kernel_.events = {Ifindex()};
    protection_->take_events(now_);
    turn();
    EXPECT_EQ(kernel_.installed.contains({kOther, Part::kClassify}), !now);
  }
}

// A switch whose configuration is loaded anew from what was saved has rules of then.
TEST_F(ProtectionTest, RulesThatComeBackOnAPortThatIsNotOursGoIfNobodyElseIsHere) {
  kernel_.tells = true;
  for (const bool sole : {false, true}) {
    kernel_.installed.clear();
    start();
    protection_->ask_alone([sole] { return sole; });
    install(kOther, Order::kDown);
    kernel_.events = {Ifindex()};
    protection_->take_events(now_);
    turn();
    EXPECT_EQ(kernel_.installed.contains({kOther, Part::kClassify}), !sole);
    EXPECT_EQ(programmed(kPort), Order::kUnknown);
  }
}

TEST_F(ProtectionTest, APortThatIsLeftOutWhileTheBackEndIsAwayLosesItsRulesWhenItIsBack) {
  hear(kPort, Level::of<2>());
  start({kPort, kOther});
  kernel_.down = Error{0, "backend fake", "it is away"};
  protection_->take_events(now_);
  protection_->remove(kPort, now_);
  pass(seconds(3));
  EXPECT_EQ(programmed(kPort), Order::kUp);
  kernel_.down.reset();
  protection_->take_events(now_);
  EXPECT_FALSE(kernel_.installed.contains({kPort, Part::kClassify}));
  EXPECT_EQ(programmed(kOther), Order::kUnknown);
}

// Nothing else would ever look at a port that is not ours.
TEST_F(ProtectionTest, APortThatIsLeftOutAndKeepsItsRulesIsToldAndTriedAgain) {
  start({kPort, kOther});
  kernel_.refuse_all = "busy";
  protection_->remove(kPort, now_);
  EXPECT_THAT(alarms(),
              ElementsAre("dataplane swp7 the port is no longer in `ports`, and its rules "
                          "cannot be removed: 7: remove classify: busy"));
  EXPECT_EQ(programmed(kPort), Order::kUnknown);
  pass(seconds(2));
  const int tries = kernel_.applies;
  pass(seconds(60));
  EXPECT_THAT(kernel_.applies - tries, testing::AllOf(testing::Ge(2), testing::Le(6)));
  kernel_.refuse_all.clear();
  pass(seconds(30));
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_FALSE(kernel_.installed.contains({kPort, Part::kClassify}));
  EXPECT_EQ(programmed(kOther), Order::kUnknown);
}

// The alarm of a port whose rules were refused is not cleared with them.
TEST_F(ProtectionTest, PortThatIsLeftOutIsToldAlsoWhereItsRulesWereRefused) {
  start({kPort, kOther});
  kernel_.refuse_all = "busy";
  hear(kPort, Level::of<2>());
  protection_->update(kPort, now_);
  EXPECT_THAT(alarms(), testing::Contains("dataplane swp7 7: replace classify: busy"));
  protection_->remove(kPort, now_);
  EXPECT_THAT(alarms(), ElementsAre(HasSubstr("dataplane swp7 the port is no longer in")));
}

TEST_F(ProtectionTest, RulesThatStayOnAPortThatIsLeftOutAreNoLongerWrongWhenItIsOursAgainOrGone) {
  for (const bool gone : {false, true}) {
    start();
    kernel_.refuse_all = "busy";
    protection_->remove(kPort, now_);
    EXPECT_EQ(alarms().size(), 1U);
    kernel_.refuse_all.clear();
    const int writes = kernel_.writes;
    if (gone)
      protection_->gone(kPort);
    else
      protection_->add(kPort, now_);
    EXPECT_THAT(alarms(), IsEmpty());
    pass(seconds(60));
    EXPECT_EQ(kernel_.writes, writes);
    EXPECT_EQ(kernel_.installed.contains({kPort, Part::kClassify}), !gone);
  }
}

}  // namespace
}  // namespace lldp::io::test
