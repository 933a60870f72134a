// SPDX-License-Identifier: Apache-2.0
// The order of a port becomes its rules; what is refused is an alarm.
#include "tests/daemon/protection_fixture.hpp"

namespace lldp::io::test {
namespace {

// Spares end where nothing forwards: at hosts, and nowhere else.
TEST_F(ProtectionTest, PortToAHostRestoresUntilASwitchIsThere) {
  name_host_port();
  start();
  const auto there = [&] { return kernel_.installed.at({kPort, Part::kRemap}); };
  EXPECT_EQ(there(), qos::compile(qos::Policy(), {.order = Order::kDown, .restore = true}));
  hear(kPort, Level::of<2>());
  protection_->update(kPort, now_);
  turn();
  EXPECT_TRUE(there().leaving.empty());
  EXPECT_FALSE(there().port.restore);
}

TEST_F(ProtectionTest, FreshPortGetsItsRulesAtTheNextTurnAndIsReadBack) {
  hear(kPort, Level::of<2>());
  Protection& protection = open();
  protection.add(kPort, now_);
  EXPECT_TRUE(kernel_.installed.empty());
  EXPECT_EQ(protection.next_deadline(), now_);
  EXPECT_THAT(reasons(), ElementsAre("swp7 classify missing not read back yet"));
  EXPECT_EQ(summary().state, State::kPartial);
  protection.advance(now_);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kClassify}), rules(Order::kUp));
  EXPECT_EQ(kernel_.looks, 1);
  EXPECT_EQ(summary().state, State::kActive);
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(ProtectionTest, RulesFollowThePortsLayersAlsoWhereTheOrderStays) {
  core::Settings settings = agent_.settings();
  settings.layered = true;
  core::Actions none;
  agent_.configure(settings, now_, none);
  const auto set = [&](std::size_t near) {
    core::Link with = link(kPort, 1);
    with.layers = Layers{*Layer::make(near), *Layer::make(near + 1)};
    agent_.set_link(with, now_, none);
  };
  set(3);
  Protection& protection = open();
  protection.add(kPort, now_);
  turn();
  const auto there = [&] { return kernel_.installed.at({kPort, Part::kRemap}); };
  EXPECT_EQ(there(), qos::compile(qos::Policy(), {Order::kUp, Layer::of<3>()}, true));
  set(4);
  protection.update(kPort, now_);
  turn();
  EXPECT_EQ(there(), qos::compile(qos::Policy(), {Order::kUp, Layer::of<4>()}, true));
}

TEST_F(ProtectionTest, NewClassesFollowAtOnceAndNobodyTookTheOldOnesAway) {
  hear(kPort, Level::of<2>());
  Protection& protection = start();
  const qos::Policy policy = *qos::Policy::parse("3:dscp26", "0:dscp0");
  protection.update_all(policy, now_);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}),
            qos::compile(policy, {.order = Order::kUp}));
  pass(seconds(20));
  EXPECT_THAT(restored_, IsEmpty());
}

TEST_F(ProtectionTest, DataPlaneThatIsDownIsOneAlarmAndIsComparedWhenItIsBack) {
  hear(kPort, Level::of<2>());
  Protection& protection = start({kPort, kOther});
  const int writes = kernel_.writes;
  now_ += seconds(1);
  kernel_.down = Error{0, "backend fake", "it is away"};
  protection.take_events(now_);
  EXPECT_THAT(
      alarms(),
      ElementsAre("unprotected  the data plane does not answer: what rules the ports have is "
                  "not known",
                  "dataplane  backend fake: it is away"));
  EXPECT_EQ(summary().state, State::kFailed);
  const int looks = kernel_.looks;
  pass(seconds(60));
  EXPECT_EQ(kernel_.looks, looks);
  kernel_.down.reset();
  protection.take_events(now_);
  turn();
  pass(seconds(1));
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_EQ(summary().state, State::kActive);
  EXPECT_EQ(kernel_.writes, writes);
}

TEST_F(ProtectionTest, RefusalRaisesAlarmsUntilItIsMended) {
  hear(kPort, Level::of<2>());
  hear(kOther, Level::of<2>());
  Protection& protection = open();
  protection.add(kPort, now_);
  protection.add(kOther, now_);
  kernel_.fail_at_write = 0;
  turn();
  EXPECT_THAT(alarms(), ElementsAre("unprotected  rules are not in force on 1 of 2 ports: swp7",
                                    "dataplane swp7 7: add classify: refused"));
  EXPECT_EQ(summary().state, State::kPartial);
  EXPECT_THAT(reasons(), ElementsAre("swp7 classify missing refused"));
  protection.update(kPort, now_);
  pass(milliseconds(100));
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_EQ(summary().state, State::kActive);
}

TEST_F(ProtectionTest, RefusedRulesAreTriedAgainEverMoreSeldomUntilTheyAreTaken) {
  Protection& protection = open();
  protection.add(kPort, now_);
  const TimePoint start = now_;
  std::vector<long> tries;
  while (tries.size() < 8) {
    const int before = kernel_.writes;
    kernel_.fail_at_write = before;
    now_ = std::max(now_, *protection.next_deadline());
    protection.advance(now_);
    EXPECT_EQ(alarms().size(), 2U);
    if (kernel_.writes != before)
      tries.push_back(std::chrono::duration_cast<seconds>(now_ - start).count());
  }
  EXPECT_THAT(tries, ElementsAre(0, 1, 3, 7, 15, 31, 61, 91));
  pass(seconds(30) - std::chrono::nanoseconds(1));
  EXPECT_TRUE(kernel_.installed.empty());
  pass(std::chrono::nanoseconds(1));
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kClassify}), rules(Order::kUnknown));
}

TEST_F(ProtectionTest, PortThatVanishesWhileRefusedIsNotTriedForEver) {
  Protection& protection = open();
  protection.add(kPort, now_);
  kernel_.fail_at_write = 0;
  turn();
  EXPECT_EQ(alarms().size(), 2U);
  kernel_.vanished.insert(kPort);
  pass(seconds(1));
  EXPECT_THAT(alarms(), IsEmpty());
  protection.remove(kPort, now_);
  EXPECT_EQ(protection.next_deadline(), std::nullopt);
}

TEST_F(ProtectionTest, AlarmGoesWithThePort) {
  Protection& protection = open();
  protection.add(kPort, now_);
  kernel_.fail_at_write = 0;
  turn();
  EXPECT_EQ(alarms().size(), 2U);
  protection.remove(kPort, now_);
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(ProtectionTest, DataPlaneThatCannotBeOpenedIsAnAlarmUntilItCan) {
  hear(kPort, Level::of<2>());
  install(kPort, Order::kUp);
  const TimePoint began = now_;
  std::vector<long> tries;
  Protection& protection = open([&]() -> Result<std::unique_ptr<dataplane::Backend>> {
    tries.push_back(std::chrono::duration_cast<seconds>(now_ - began).count());
    if (tries.size() < 9) return fail(Error{EPERM, "backend bpf", "no: do this"});
    return std::make_unique<FakeBackend>(kernel_);
  });
  EXPECT_FALSE(protection.take_opened());
  protection.add(kPort, now_);
  protection.add(kOther, now_);
  protection.update(kPort, now_);
  EXPECT_THAT(alarms(),
              ElementsAre("unprotected  no port has rules: the data plane cannot be opened",
                          "dataplane  backend bpf: no: do this"));
  EXPECT_EQ(summary().state, State::kFailed);
  EXPECT_EQ(told().error, "backend bpf: no: do this");
  EXPECT_EQ(told().description, std::nullopt);
  pass(seconds(120));
  EXPECT_EQ(summary().state, State::kFailed);
  EXPECT_FALSE(protection.take_opened());
  pass(seconds(1));
  EXPECT_THAT(tries, ElementsAre(0, 1, 3, 7, 15, 31, 61, 91, 121));
  EXPECT_TRUE(protection.take_opened());
  EXPECT_FALSE(protection.take_opened());
  EXPECT_EQ(protection.take_found_rules(), true);
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_EQ(programmed(kPort), Order::kUp);
  EXPECT_EQ(programmed(kOther), Order::kUnknown);
  EXPECT_EQ(summary().state, State::kActive);
}

TEST_F(ProtectionTest, VanishedPortIsNoAlarm) {
  Protection& protection = open();
  kernel_.vanished.insert(kPort);
  protection.add(kPort, now_);
  turn();
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(ProtectionTest, AlarmOfAPortThatIsRenamedGoesWithItsName) {
  std::string name = "swp7";
  protection_.emplace(
      agent_, qos::Policy(), "fake", opener(), [&name](Ifindex) { return std::string_view(name); },
      now_);
  kernel_.refuse_all = "no";
  protection_->add(kPort, now_);
  turn();
  EXPECT_THAT(alarms(), testing::Contains(testing::StartsWith("dataplane swp7 ")));
  name = "up1";
  protection_->link_changed(kPort);
  turn();
  pass(seconds(40));
  EXPECT_THAT(alarms(), testing::Contains(testing::StartsWith("dataplane up1 ")));
  EXPECT_THAT(alarms(), testing::Not(testing::Contains(testing::StartsWith("dataplane swp7 "))));
  kernel_.refuse_all.clear();
  pass(seconds(40));
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(ProtectionTest, OrderThatGoesToAndFroIsFollowedUpwardsAtOnceAndElseOnceASecond) {
  hear(kPort, std::nullopt);
  Protection& protection = start();
  const int writes = kernel_.writes;
  for (int i = 0; i < 1000; ++i) {
    hear(kPort, i % 2 == 0 ? std::optional(Level::of<2>()) : std::nullopt);
    protection.update(kPort, now_);
    if (agent_.order(kPort) == Order::kUp) {
      EXPECT_EQ(programmed(kPort), Order::kUp);
    }
    pass(milliseconds(1));
  }
  EXPECT_LE(kernel_.writes - writes, 2 * 2 * 8);  // two parts, up and down, 5 + 1 times and some
  hear(kPort, std::nullopt);
  protection.update(kPort, now_);
  pass(seconds(1));
  EXPECT_EQ(programmed(kPort), agent_.order(kPort));
}

// One that forwards and does not say what it is: nothing but the agent's word for it shows that the
// port leads to a switch.
TEST_F(ProtectionTest, PortOfASwitchThatDoesNotSayWhatItIsIsUnprotected) {
  start();
  core::Snapshot snapshot = agent_.snapshot(now_);
  for (core::PortInfo& port : snapshot.ports) {
    port.order = Order::kUnknown;
    port.neighbors.clear();
  }
  EXPECT_EQ(protection_->summary(snapshot).state, State::kInactive);
  snapshot.ports.front().neighbors.push_back({});
  snapshot.ports.front().unprotected = true;
  EXPECT_EQ(protection_->summary(snapshot).state, State::kPartial);
}

class HostProtection : public ProtectionTest {
 protected:
  HostProtection() : ProtectionTest(Role::kHost) {}
};

TEST_F(HostProtection, HostProgramsNoRemap) {
  install(kPort, Order::kUp);  // it was a switch once
  start();
  EXPECT_EQ(programmed(kPort), Order::kUnknown);
  EXPECT_EQ(summary().state, State::kInactive);
}

TEST_F(HostProtection, HostProgramsNoRemapWhereItHearsASwitchEither) {
  hear(kPort, Level::of<1>());
  start();
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}), rules(Order::kUnknown));
}

TEST_F(HostProtection, WhatStandsBeforeTheRulesOfAHostIsNoAlarmUntilItIsASwitch) {
  kernel_.tells = true;
  hear(kPort, Level::of<1>());
  kernel_.obstacles[{kPort, Part::kClassify}] = {Part::kClassify, PartState::kBypassed, "by XDP"};
  Protection& protection = start();
  EXPECT_THAT(alarms(), IsEmpty());
  core::Actions actions;
  agent_.configure({.role = Role::kSwitch, .pinned_level = Level::of<2>()}, now_, actions);
  protection.update_all(qos::Policy(), now_);
  EXPECT_THAT(alarms(), testing::Contains("dataplane swp7 classify bypassed: by XDP"));
}

}  // namespace
}  // namespace lldp::io::test
