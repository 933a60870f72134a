// SPDX-License-Identifier: Apache-2.0
// What protection says of itself.
#include <fmt/format.h>

#include "tests/daemon/protection_fixture.hpp"

namespace lldp::io::test {
namespace {

TEST_F(ProtectionTest, WatchersAreToldWhenTheLastOfManyPortsHasItsRules) {
  Protection& protection = open();
  std::vector<Ifindex> ports;
  for (unsigned n = 1; n <= 300; ++n) ports.push_back(*Ifindex::make(n));
  for (Ifindex port : ports) protection.add(port, now_);
  int told = 0;
  while (protection.next_deadline() <= now_) {
    protection.advance(now_);
    if (protection.take_changed()) ++told;
  }
  EXPECT_EQ(kernel_.looks, 300);
  EXPECT_GE(told, 300 / 16);
  EXPECT_FALSE(protection.take_changed());
}

// Whoever relied on it has to know: it is no fault of the protection, and yet worth an alarm.
TEST_F(ProtectionTest, PfcThatTheRulesTakeFromSomebodyIsAnAlarmOfThePort) {
  kernel_.displaced[kPort] = "priority 3 had PFC";
  Protection& protection = start();
  const auto standing = [&] {
    core::Actions actions;
    protection.tell(agent_, now_, actions);
    std::string text;
    for (const core::Alarm& alarm : agent_.snapshot(now_).alarms)
      text += fmt::format("{} {}: {}\n", to_string(alarm.code), alarm.port, alarm.text);
    return text;
  };
  EXPECT_EQ(standing(), "pfc-taken swp7: priority 3 had PFC\n");
  kernel_.displaced.clear();
  lose(kPort);
  pass(seconds(10));
  EXPECT_EQ(standing(), "");
  kernel_.displaced[kPort] = "priority 3 had PFC";
  lose(kPort);
  pass(seconds(10));
  EXPECT_NE(standing(), "");
  protection.remove(kPort, now_);
  EXPECT_EQ(standing(), "");
}

TEST_F(ProtectionTest, PacketsThatTurnInNoClassAreCountedOnceAMinuteAndForAnAnswer) {
  kernel_.tells = true;
  start();
  const auto stands = [&] {
    tell();
    return std::ranges::any_of(agent_.snapshot(now_).alarms, [](const core::Alarm& alarm) {
      return alarm.code == core::AlarmCode::kUnclassed;
    });
  };
  pass(seconds(10));
  ++kernel_.unclassed[kPort][26];
  pass(seconds(20));
  EXPECT_FALSE(stands());
  protection_->catch_up(now_);
  EXPECT_TRUE(stands());
  pass(std::chrono::minutes(12));
  EXPECT_FALSE(stands());
  ++kernel_.unclassed[kPort][26];
  pass(seconds(70));
  EXPECT_TRUE(stands());
}

TEST_F(ProtectionTest, TheBackEndKnowsWhetherAnAnswerIsToBeGiven) {
  using Glance = dataplane::Backend::Glance;
  kernel_.tells = true;
  start();
  pass(seconds(20));
  EXPECT_THAT(kernel_.glances, ElementsAre(Glance::kOfTime, Glance::kOfTime));
  protection_->catch_up(now_);
  EXPECT_EQ(kernel_.glances.back(), Glance::kOfQuestion);
}

// It leaves out what costs more.
TEST_F(ProtectionTest, GlanceOfTimeIsNoneBeforeAnAnswer) {
  using Glance = dataplane::Backend::Glance;
  kernel_.tells = true;
  start();
  kernel_.glances.clear();
  now_ += seconds(9);
  protection_->advance(now_);
  protection_->catch_up(now_);
  EXPECT_THAT(kernel_.glances, ElementsAre(Glance::kOfTime, Glance::kOfQuestion));
  protection_->catch_up(now_);
  EXPECT_EQ(kernel_.glances.size(), 2U) << "it was just answered";
}

TEST_F(ProtectionTest, TheBackEndKnowsHowLongAGlanceMayWait) {
  kernel_.tells = true;
  kernel_.glance_pause = seconds(60);
  start();
  kernel_.glances.clear();
  pass(seconds(59));
  EXPECT_THAT(kernel_.glances, IsEmpty());
  pass(seconds(1));
  EXPECT_EQ(kernel_.glances.size(), 1U);
  kernel_.glance_pause = seconds(5);
  pass(seconds(5));
  EXPECT_EQ(kernel_.glances.size(), 2U) << "it knows now";
}

TEST_F(ProtectionTest, GlanceThatIsSoonDueNeedsNoWakeUpOfItsOwn) {
  kernel_.tells = true;
  kernel_.glance_pause = seconds(60);
  start();
  kernel_.glances.clear();
  now_ += seconds(49);
  EXPECT_FALSE(protection_->has_turn(now_));
  now_ += seconds(2);
  EXPECT_TRUE(protection_->has_turn(now_));
  EXPECT_GT(protection_->next_deadline(), now_);
  protection_->advance(now_);
  EXPECT_EQ(kernel_.glances.size(), 1U);
  EXPECT_FALSE(protection_->has_turn(now_));
  EXPECT_EQ(protection_->next_deadline(), now_ + seconds(60));
}

TEST_F(ProtectionTest, PacketsThatTurnInNoClassAreAnAlarmWhileTheyDo) {
  start();
  const auto standing = [&] {
    tell();
    for (const core::Alarm& alarm : agent_.snapshot(now_).alarms)
      if (alarm.code == core::AlarmCode::kUnclassed) return alarm.port + ": " + alarm.text;
    return std::string();
  };
  EXPECT_EQ(standing(), "");
  kernel_.unclassed[kPort][26] = 1;
  pass(seconds(10));
  EXPECT_EQ(standing(),
            ": packets with DSCP 26 turned at this switch and are in no lossless class; set "
            "qos.lossless = roce");
  EXPECT_EQ(told().ports[0].unclassed->at(26), 1U);
  protection_->update_all(*qos::Policy::parse("roce", "0:dscp0"), now_);
  EXPECT_EQ(standing(), "");
  protection_->update_all(qos::Policy(), now_);
  EXPECT_NE(standing(), "");
  pass(std::chrono::minutes(11));
  EXPECT_EQ(standing(), "");
}

// A port that should restore and does not loses packets, whatever leads to switches.
TEST_F(ProtectionTest, LastHopThatIsLossyMakesProtectionPartial) {
  hear(kOther, Level::of<2>());
  name_host_port();
  start({kPort, kOther});
  EXPECT_EQ(summary().state, State::kActive);
  kernel_.obstacles[{kPort, Part::kRemap}] = {Part::kRemap, PartState::kLimited, "last hop lossy"};
  pass(seconds(10));
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(), ElementsAre("swp7 remap limited last hop lossy"));
}

TEST_F(ProtectionTest, WatchersAreToldOfRulesThatCannotBeTakenOff) {
  Protection& protection = start();
  kernel_.refuse_all = "busy";
  protection.remove(kPort, now_);
  static_cast<void>(protection.take_changed());
  pass(seconds(1));
  EXPECT_TRUE(protection.take_changed());
}

TEST_F(ProtectionTest, PortThatHasNotHadItsTurnIsNotProtected) {
  hear(kPort, Level::of<2>());
  open();
  EXPECT_THAT(reasons(), testing::Contains("swp7 classify missing not read back yet"));
  protection_->add(kPort, now_);
  EXPECT_THAT(reasons(), testing::Contains("swp7 classify missing not read back yet"));
}

TEST_F(ProtectionTest, NothingToProtectIsInactive) {
  Protection& protection = start();
  EXPECT_EQ(summary().state, State::kInactive);  // nobody is heard
  hear(kPort, std::nullopt);
  protection.update(kPort, now_);
  turn();
  EXPECT_EQ(agent_.order(kPort), Order::kDown);
  EXPECT_EQ(summary().state, State::kInactive);  // a leaf with nothing but a host
  hear(kOther, Level::of<2>());
  protection.add(kOther, now_);
  turn();
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(),
              ElementsAre(testing::StartsWith("swp7 pfc unverified last hop unverified")));
  EXPECT_EQ(summary().pfc_unverified, 1U) << "of the switch";
}

TEST_F(ProtectionTest, HostThatIsNotKnownToForwardNothingYetIsNoUnverifiedLastHop) {
  core::Settings settings = agent_.settings();
  settings.newcomer_wait = seconds(4);
  core::Actions none;
  agent_.configure(settings, now_, none);
  hear(kOther, Level::of<2>());
  start({kPort, kOther});
  hear_stock_host(kPort);
  protection_->update(kPort, now_);
  turn();
  EXPECT_NE(agent_.order(kPort), Order::kDown) << "it may be heard that it forwards";
  EXPECT_THAT(reasons(), ElementsAre());
}

// A host with an agent is restored nothing, for it may be a switch in the next moment; whether it
// has PFC for spares only it can tell.
TEST_F(ProtectionTest, HostThatGetsSparesAndTellsNoPfcIsAnUnverifiedLastHop) {
  hear(kOther, Level::of<2>());
  hear(kPort, std::nullopt);
  start({kPort, kOther});
  EXPECT_EQ(summary().state, State::kPartial);
  const std::string lossy =
      "swp7 pfc unverified last hop unverified: spare classes reach 02:00:00:00:09:07 as they "
      "are, and it does not tell its PFC: without PFC for them they are lossy there; have it tell "
      "PFC (tlv.send)";
  EXPECT_THAT(reasons(), ElementsAre(lossy + ", or run no agent of ours on it"));
  core::Settings settings = agent_.settings();
  settings.restores = false;
  core::Actions none;
  agent_.configure(settings, now_, none);
  EXPECT_THAT(reasons(), ElementsAre(lossy + ", or set qos.restore = auto"));
  auto telling = agent_.snapshot(now_);
  for (core::PortInfo& info : telling.ports)
    for (core::NeighborInfo& n : info.neighbors)
      if (n.device_type == DeviceType::kHost) n.pfc_enabled = 0x60;
  EXPECT_EQ(protection_->summary(telling).state, State::kActive);
  // Without a spare nothing reaches the host in another class than its own.
  protection_->update_all(*qos::Policy::parse("5:dscp43", "0:dscp0"), now_);
  turn();
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(ProtectionTest, LearnedClassWithoutASpareMakesProtectionPartial) {
  hear(kPort, Level::of<2>());
  start();
  const auto chains = qos::parse_chains("3:dscp26>5:dscp43,4:dscp34>1:dscp11,2:dscp18>lossy");
  protection_->update_all(*qos::Policy::make(*chains, {}), now_);
  turn();
  EXPECT_EQ(summary().state, State::kActive) << "so it is configured";
  core::Settings settings = agent_.settings();
  settings.classes = core::OwnClasses{};
  core::Actions none;
  agent_.configure(settings, now_, none);
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(),
              ElementsAre("swp7 remap missing no spare class is left for priority 2: packets of it "
                          "that turn are lossy; if no other traffic uses these priorities: "
                          "qos.lossless = 3:dscp26>5:dscp43,4:dscp34>1:dscp11,2:dscp18>6:dscp51"));
}

TEST_F(ProtectionTest, PortWhereNothingIsHeardByIntentMayLeadToAHostThatIsLossy) {
  hear(kOther, Level::of<2>());
  start({kPort, kOther});
  EXPECT_EQ(summary().state, State::kActive) << "the alarm unheard is to come";
  core::Link quiet = link(kPort, 1);
  quiet.may_be_unheard = true;
  core::Actions none;
  agent_.set_link(quiet, now_, none);
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(),
              ElementsAre("swp7 remap limited last hop lossy: nothing is heard here, so spare "
                          "classes are not restored; if the port leads to a host, name it in "
                          "host-ports"));
  name_host_port();
  protection_->update(kPort, now_);
  turn();
  EXPECT_EQ(summary().state, State::kActive);
}

TEST_F(ProtectionTest, SwitchWhoseOrderIsNotKnownIsNotProtected) {
  hear(kPort, Level::of<2>());
  Protection& protection = start();
  auto snapshot = agent_.snapshot(now_);
  snapshot.ports[0].order = Order::kUnknown;
  const auto summary = protection.summary(snapshot);
  EXPECT_EQ(summary.state, State::kPartial);
  ASSERT_EQ(summary.reasons.size(), 1U);
  EXPECT_EQ(summary.reasons[0].part.part, "remap");
}

TEST_F(ProtectionTest, PfcIsWhatTheDriverTells) {
  hear(kPort, Level::of<2>());
  start();
  const auto pfc = [&] { return told().ports[0].parts.back(); };
  EXPECT_EQ(pfc().part, "pfc");
  EXPECT_EQ(pfc().state, "unsupported");
  EXPECT_EQ(summary().state, State::kActive);
  EXPECT_EQ(summary().pfc_unverified, 1U);
  core::Actions actions;
  core::Link with = link(kPort, 1);
  with.pfc = core::Pfc{.enabled = 1U << 5};
  agent_.set_link(with, now_, actions);
  EXPECT_EQ(pfc(),
            (report::PartReading{"pfc", "missing", "no PFC: dcb pfc set dev swp7 prio-pfc 6:on"}));
  EXPECT_EQ(summary().state, State::kPartial);
  with.pfc = core::Pfc{.enabled = 1U << 5 | 1U << 6};
  agent_.set_link(with, now_, actions);
  EXPECT_EQ(pfc(), (report::PartReading{"pfc", "done", ""}));
  EXPECT_EQ(summary().state, State::kActive);
  EXPECT_EQ(summary().pfc_unverified, 0U);
}

TEST_F(ProtectionTest, MoreLosslessPrioritiesThanThePortDoesPfcForAreALimit) {
  hear(kPort, Level::of<2>());
  start();
  const auto with_cap = [&](std::uint8_t cap) {
    core::Actions actions;
    core::Link with = link(kPort, 1);
    with.pfc = core::Pfc{.enabled = 0x60, .cap = cap};
    agent_.set_link(with, now_, actions);
  };
  with_cap(2);
  EXPECT_EQ(summary().state, State::kActive);
  with_cap(0);
  EXPECT_EQ(summary().state, State::kActive) << "it is not told";
  with_cap(1);
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(),
              ElementsAre("swp7 pfc limited the port does PFC for 1 of 8 priorities at once, and 2 "
                          "are lossless: set fewer: qos.lossless = 5:dscp43>lossy"));
}

TEST_F(ProtectionTest, WhatADriverTellsAgainstLosslessClassesMakesProtectionPartial) {
  hear(kOther, Level::of<2>());
  name_host_port();
  start({kPort, kOther});
  EXPECT_EQ(summary().state, State::kActive);
  static_cast<void>(protection_->take_changed());
  dcbnl::Settings told{.ets = dcbnl::Ets{.cap = 8, .of = {0, 1, 2, 3, 4, 5, 0, 7}}};
  protection_->set_dcb(kOther, told);
  EXPECT_TRUE(protection_->take_changed());
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(), ElementsAre("swp8 queues missing priority 6 shares traffic class 0 with "
                                     "priority 0: a pause of one stops all of them: dcb ets set "
                                     "dev swp8 prio-tc 6:6"));
  protection_->set_dcb(kOther, {});
  EXPECT_EQ(summary().state, State::kActive);
  protection_->set_dcb(kPort, told);  // to a host, where 6 is restored and needs nothing
  EXPECT_EQ(summary().state, State::kActive);
  told.ets->of.at(5) = 0;
  protection_->set_dcb(kPort, told);
  EXPECT_THAT(reasons(), ElementsAre(testing::StartsWith("swp7 queues missing priority 5 shares")));
}

TEST_F(ProtectionTest, ClassesLostBetweenSwitchesBelowAndAboveMakeProtectionPartial) {
  kernel_.crossing_limit = {Part::kRemap, PartState::kLimited, "one traffic class too few"};
  core::Settings settings = agent_.settings();
  settings.pinned_level = Level::of<2>();
  core::Actions none;
  agent_.configure(settings, now_, none);
  hear(kPort, Level::of<3>());
  start({kPort, kOther});
  EXPECT_EQ(summary().state, State::kActive) << "there is no switch below";
  hear(kOther, Level::of<1>());
  agent_.advance(now_, none);
  protection_->update(kOther, now_);
  turn();
  ASSERT_EQ(agent_.order(kOther), Order::kDown);
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(), ElementsAre("swp7 remap limited one traffic class too few"));
}

// One DSCP in two priorities: neither end pauses the queue in which the other end has it.
TEST_F(ProtectionTest, ClassesWhoseDscpsLeadElsewhereAtTheNeighborDoNotCross) {
  const auto ours = qos::parse_chains("3:dscp26>2:dscp19,4:dscp4>5:dscp43").value();
  core::Settings settings = agent_.settings();
  settings.classes = core::OwnClasses{.configured = ours};
  core::Actions none;
  agent_.configure(settings, now_, none);
  hear(kPort, Level::of<2>(), qos::parse_chains("4:dscp26>5:dscp43").value());
  agent_.advance(now_, none);
  hear(kOther, Level::of<2>(), ours);
  start({kPort, kOther});
  protection_->update_all(*qos::Policy::make(ours, {}), now_);
  turn();
  const auto in_force = [&](Ifindex port) { return kernel_.installed.at({port, Part::kRemap}); };
  EXPECT_EQ(in_force(kPort).port.lossy, 1U << 3) << "43 leads to 5 at both ends";
  EXPECT_EQ(in_force(kPort).entering.size(), 1U);
  EXPECT_EQ(in_force(kOther).port.lossy, 0);
  EXPECT_THAT(reasons(),
              ElementsAre("swp7 remap missing DSCPs of priority 3 lead to another one at the "
                          "neighbor: these classes cross as lossy until both ends have the same "
                          "classes"));
  kernel_.splits = false;
  protection_->update_all(*qos::Policy::make(ours, {}), now_);
  turn();
  EXPECT_EQ(in_force(kPort).port.order, Order::kShut);
  EXPECT_THAT(reasons(), ElementsAre(testing::HasSubstr("all lossless classes cross as lossy")));
  hear(kPort, Level::of<2>(), ours);
  agent_.advance(now_, none);
  protection_->update_all(*qos::Policy::make(ours, {}), now_);
  turn();
  EXPECT_EQ(in_force(kPort).port.order, Order::kUp);
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(ProtectionTest, RulesThatAreOnlyPrintedProtectNobody) {
  hear(kPort, Level::of<2>());
  for (Part part : {Part::kClassify, Part::kRemap})
    kernel_.obstacles[{kPort, part}] = {part, PartState::kUnsupported, "printed"};
  start();
  EXPECT_EQ(summary().state, State::kPartial) << "a back end that is to put them in force";
  protection_.emplace(agent_, qos::Policy(), "print", opener(), names(), now_).add(kPort, now_);
  turn();
  EXPECT_EQ(summary().state, State::kInactive);
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(ProtectionTest, RulesTellWhatIsWantedInstalledAndCounted) {
  using Installed = report::PortRules::Installed;
  Protection& protection = open();
  kernel_.bounces[kPort][5] = 42;
  protection.add(kPort, now_);
  report::Rules rules = told();
  EXPECT_EQ(rules.backend, "fake");
  EXPECT_EQ(rules.description, "remembers");
  EXPECT_EQ(rules.error, std::nullopt);
  ASSERT_EQ(rules.ports.size(), 1U);
  EXPECT_EQ(rules.ports[0].name, "swp7");
  EXPECT_EQ(rules.ports[0].wanted, ProtectionTest::rules(Order::kUnknown));
  EXPECT_EQ(rules.ports[0].installed, Installed::kNo);
  EXPECT_THAT(rules.ports[0].changes, ElementsAre("add classify", "add remap"));
  EXPECT_EQ(rules.ports[0].parts.front(),
            (report::PartReading{"classify", "missing", "not there"}));
  EXPECT_EQ(rules.ports[0].bounces->at(5), 42U);
  protection.advance(now_);
  EXPECT_EQ(told().ports[0].installed, Installed::kYes);
  EXPECT_EQ(told().ports[0].parts.front(), (report::PartReading{"classify", "done", ""}));
  install(kPort, Order::kUp);  // by another hand
  rules = told();
  EXPECT_EQ(rules.ports[0].installed, Installed::kDiffers);
  EXPECT_THAT(rules.ports[0].changes, ElementsAre("replace classify", "replace remap"));
}

// Whoever reads the list is to see that nothing turns there.
TEST_F(ProtectionTest, RulesThatNobodyDoesAreNotInstalled) {
  Protection& protection = open();
  for (Part part : {Part::kClassify, Part::kRemap})
    kernel_.obstacles[{kPort, part}] = {part, PartState::kUnsupported, "printed"};
  protection.add(kPort, now_);
  protection.advance(now_);
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kNo);
}

TEST_F(ProtectionTest, RulesThatAnotherKeepsAwayAreNotInstalled) {
  hear(kPort, Level::of<2>());
  Protection& protection = open();
  kernel_.obstacles[{kPort, Part::kRemap}] = {Part::kRemap, PartState::kForeign, "an ACL"};
  protection.add(kPort, now_);
  protection.advance(now_);
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kDiffers);
  kernel_.obstacles[{kPort, Part::kClassify}] = {Part::kClassify, PartState::kForeign, "a qdisc"};
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kNo);
  kernel_.obstacles.clear();
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kYes);
}

TEST_F(ProtectionTest, RulesTellWhyThereAreNone) {
  Protection& protection = open();
  protection.add(kPort, now_);
  kernel_.fail_at_write = 0;
  protection.advance(now_);
  EXPECT_EQ(told().ports[0].error, "7: add classify: refused");
}

TEST_F(ProtectionTest, PortThatIsShutIsNotProtectedAndSaysWhy) {
  hear(kPort, Level::of<2>());
  start();
  ASSERT_EQ(summary().state, State::kActive);
  core::Snapshot snapshot = agent_.snapshot(now_);
  for (core::PortInfo& info : snapshot.ports)
    if (info.ifindex == kPort) info.order = Order::kShut;
  for (const bool host : {false, true}) {  // a host that took a switch's place is waited for too
    if (host)
      for (core::PortInfo& info : snapshot.ports)
        for (core::NeighborInfo& n : info.neighbors) n.device_type = DeviceType::kHost;
    const report::Protection told = protection_->summary(snapshot);
    EXPECT_EQ(told.state, State::kPartial);
    ASSERT_EQ(told.reasons.size(), 1U);
    EXPECT_EQ(told.reasons[0].port, "swp7");
    EXPECT_EQ(told.reasons[0].part.part, "remap");
    EXPECT_THAT(told.reasons[0].part.text, HasSubstr("shut: "));
    EXPECT_THAT(told.reasons[0].part.text, HasSubstr("lldp-level forget swp7"));
  }
}

}  // namespace
}  // namespace lldp::io::test
