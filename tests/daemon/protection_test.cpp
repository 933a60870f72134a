// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/protection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataplane/fake_backend.hpp"

namespace lldp::io {
namespace {

using dataplane::FakeBackend;
using dataplane::FakeKernel;
using dataplane::Part;
using testing::ElementsAre;
using testing::IsEmpty;
using State = report::Protection::State;

constexpr auto kPort = Ifindex::of<7>();
constexpr auto kOther = Ifindex::of<8>();

class ProtectionTest : public testing::Test {
 protected:
  explicit ProtectionTest(Role role = Role::kSwitch)
      : agent_({.role = role, .pinned_level = Level::of<1>()}, {}, now_) {}

  Protection open() {
    return {agent_, qos::Policy(), "fake", std::make_unique<FakeBackend>(kernel_), names()};
  }
  static Protection::NameOf names() {
    return [](Ifindex p) { return p == kPort ? "swp7" : "swp8"; };
  }
  static qos::Ruleset rules(Order order) { return qos::compile(qos::Policy(), {.order = order}); }
  void install(Ifindex port, Order order) {
    FakeBackend kernel(kernel_);
    ASSERT_TRUE(kernel.apply(*kernel.plan(port, rules(order))));
  }
  /// The standing alarms as "code port text".
  std::vector<std::string> alarms(Protection& protection) {
    core::Actions actions;
    protection.tell(agent_, now_, actions);
    std::vector<std::string> lines;
    for (const core::Alarm& a : agent_.snapshot(now_).alarms)
      lines.push_back(std::string(to_string(a.code)) + " " + a.port + " " + a.text);
    return lines;
  }

  TimePoint now_{std::chrono::hours(1)};
  core::Agent agent_;
  FakeKernel kernel_;
};

TEST_F(ProtectionTest, FreshPortGetsItsRulesAtTheNextTurn) {
  Protection protection = open();
  protection.add(kPort, now_);
  EXPECT_TRUE(kernel_.installed.empty());
  EXPECT_EQ(protection.next_deadline(), now_);
  EXPECT_EQ(protection.summary(agent_.snapshot(now_)).state, State::kPartial);
  protection.advance(now_);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kIngress}), rules(Order::kUnknown));
  EXPECT_EQ(protection.next_deadline(), std::nullopt);
  EXPECT_EQ(protection.summary(agent_.snapshot(now_)).state, State::kActive);
}

TEST_F(ProtectionTest, PortsSettleOneByOneWhenAllHaveRules) {
  kernel_.settles = true;
  Protection protection = open();
  protection.add(kPort, now_);
  protection.add(kOther, now_);
  protection.advance(now_);
  EXPECT_THAT(kernel_.settled, IsEmpty());
  EXPECT_EQ(kernel_.installed.size(), 4U);
  for (std::size_t moved : {1U, 2U}) {
    now_ += std::chrono::milliseconds(250);
    EXPECT_EQ(protection.next_deadline(), now_);
    protection.advance(now_ - std::chrono::nanoseconds(1));
    EXPECT_EQ(kernel_.settled.size(), moved - 1);
    protection.advance(now_);
    EXPECT_EQ(kernel_.settled.size(), moved);
  }
  EXPECT_EQ(protection.next_deadline(), std::nullopt);
}

TEST_F(ProtectionTest, RulesFoundAtStartStayUntilTheNeighborWouldHaveBeenHeard) {
  install(kPort, Order::kUp);
  Protection protection = open();
  protection.add(kPort, now_);
  const TimePoint until = now_ + std::chrono::seconds(121);  // our TTL: docs/rules.md O4
  EXPECT_EQ(protection.next_deadline(), until);
  protection.advance(until - std::chrono::nanoseconds(1));
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kEgress}), rules(Order::kUp));
  protection.advance(until);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kEgress}), rules(Order::kUnknown));
  EXPECT_EQ(protection.next_deadline(), std::nullopt);
}

TEST_F(ProtectionTest, RulesFoundWhereThePortRemembersSomebodyFollowAtOnce) {
  core::State state{.place = Position{Level::of<2>(), {}}};
  state.ports.push_back({.name = "p", .memory = {.kind = core::PortMemory::Kind::kAbove}});
  core::Agent agent({}, std::move(state), now_);
  core::Actions none;
  agent.set_link({.ifindex = kPort, .name = "p", .up = true}, now_, none);
  install(kPort, Order::kDown);
  Protection protection(agent, qos::Policy(), "fake", std::make_unique<FakeBackend>(kernel_),
                        names());
  EXPECT_TRUE(protection.found_rules());
  protection.add(kPort, now_);
  protection.advance(now_);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kEgress}), rules(Order::kUp));
}

TEST_F(ProtectionTest, NewClassesLeaveRulesFoundAtStartAlone) {
  install(kPort, Order::kUp);
  Protection protection = open();
  protection.add(kPort, now_);
  protection.update_all(*qos::Policy::parse("3:dscp26", "0:dscp0"));
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kEgress}), rules(Order::kUp));
}

TEST_F(ProtectionTest, RefusalRaisesAlarmsUntilItIsMended) {
  Protection protection = open();
  protection.add(kPort, now_);
  protection.add(kOther, now_);
  kernel_.fail_at_write = 0;
  protection.advance(now_);
  EXPECT_THAT(alarms(protection), ElementsAre("unprotected  1 of 2 ports without their rules",
                                              "dataplane swp7 7: add ingress refused"));
  EXPECT_EQ(protection.summary(agent_.snapshot(now_)).state, State::kPartial);
  protection.update(kPort);
  EXPECT_THAT(alarms(protection), IsEmpty());
  EXPECT_EQ(protection.summary(agent_.snapshot(now_)).state, State::kActive);
}

TEST_F(ProtectionTest, RefusedRulesAreTriedAgainEverMoreSeldomUntilTheyAreTaken) {
  Protection protection = open();
  protection.add(kPort, now_);
  const TimePoint start = now_;
  std::vector<long> tries;
  for (int i = 0; i < 8; ++i) {
    kernel_.fail_at_write = kernel_.writes;
    now_ = *protection.next_deadline();
    tries.push_back(std::chrono::duration_cast<std::chrono::seconds>(now_ - start).count());
    protection.advance(now_);
    EXPECT_EQ(alarms(protection).size(), 2U);
  }
  EXPECT_THAT(tries, ElementsAre(0, 1, 3, 7, 15, 31, 61, 91));
  now_ = *protection.next_deadline();
  protection.advance(now_ - std::chrono::nanoseconds(1));
  EXPECT_TRUE(kernel_.installed.empty());
  protection.advance(now_);
  EXPECT_THAT(alarms(protection), IsEmpty());
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kIngress}), rules(Order::kUnknown));
  EXPECT_EQ(protection.next_deadline(), std::nullopt);
}

TEST_F(ProtectionTest, PortThatVanishesWhileRefusedIsNotTriedForEver) {
  Protection protection = open();
  protection.add(kPort, now_);
  kernel_.fail_at_write = 0;
  protection.advance(now_);
  EXPECT_EQ(alarms(protection).size(), 2U);
  kernel_.vanished.insert(kPort);
  now_ = *protection.next_deadline();
  protection.advance(now_);
  EXPECT_THAT(alarms(protection), IsEmpty());
  EXPECT_EQ(protection.next_deadline(), std::nullopt);
}

TEST_F(ProtectionTest, AlarmGoesWithThePort) {
  Protection protection = open();
  protection.add(kPort, now_);
  kernel_.fail_at_write = 0;
  protection.advance(now_);
  EXPECT_EQ(alarms(protection).size(), 2U);
  protection.remove(kPort);
  EXPECT_THAT(alarms(protection), IsEmpty());
}

TEST_F(ProtectionTest, DataPlaneThatCannotBeOpenedIsAnAlarm) {
  Protection protection(agent_, qos::Policy(), "bpf",
                        fail(Error{EPERM, "backend bpf", "no: do this"}),
                        [](Ifindex) { return ""; });
  protection.add(kPort, now_);
  protection.update(kPort);
  EXPECT_THAT(alarms(protection),
              ElementsAre("unprotected  no port has rules: the data plane cannot be opened",
                          "dataplane  backend bpf: no: do this"));
  EXPECT_EQ(protection.summary(agent_.snapshot(now_)).state, State::kFailed);
}

TEST_F(ProtectionTest, VanishedPortIsNoAlarm) {
  Protection protection = open();
  kernel_.vanished.insert(kPort);
  protection.add(kPort, now_);
  protection.advance(now_);
  EXPECT_THAT(alarms(protection), IsEmpty());
}

TEST_F(ProtectionTest, NothingIsTakenAwayAtStopUnlessAsked) {
  {
    Protection protection = open();
    protection.add(kPort, now_);
    protection.advance(now_);
  }
  EXPECT_FALSE(kernel_.installed.empty());
  Protection protection = open();
  protection.flush();
  EXPECT_TRUE(kernel_.installed.empty());
}

TEST_F(ProtectionTest, RulesTellWhatIsWantedInstalledAndCounted) {
  using Installed = report::PortRules::Installed;
  Protection protection = open();
  kernel_.bounces[kPort][5] = 42;
  protection.add(kPort, now_);
  report::Rules told = protection.rules();
  EXPECT_EQ(told.backend, "fake");
  EXPECT_EQ(told.description, "remembers");
  EXPECT_EQ(told.error, std::nullopt);
  ASSERT_EQ(told.ports.size(), 1U);
  EXPECT_EQ(told.ports[0].name, "swp7");
  EXPECT_EQ(told.ports[0].wanted, rules(Order::kUnknown));
  EXPECT_EQ(told.ports[0].installed, Installed::kNo);
  EXPECT_THAT(told.ports[0].changes, ElementsAre("add ingress"));
  EXPECT_EQ(told.ports[0].bounces[5], 42U);
  protection.advance(now_);
  EXPECT_EQ(protection.rules().ports[0].installed, Installed::kYes);
  install(kPort, Order::kUp);  // by another hand
  told = protection.rules();
  EXPECT_EQ(told.ports[0].installed, Installed::kDiffers);
  EXPECT_THAT(told.ports[0].changes, ElementsAre("replace ingress", "replace egress"));
}

TEST_F(ProtectionTest, RulesOfAnEarlierDaemonAreKept) {
  install(kPort, Order::kUp);
  Protection protection = open();
  protection.add(kPort, now_);
  EXPECT_EQ(protection.rules().ports[0].installed, report::PortRules::Installed::kKept);
}

TEST_F(ProtectionTest, RulesTellWhyThereAreNone) {
  Protection refused(agent_, qos::Policy(), "bpf", fail(Error{EPERM, "backend bpf", "no: do this"}),
                     names());
  EXPECT_EQ(refused.rules().error, "backend bpf: no: do this");
  EXPECT_EQ(refused.rules().description, std::nullopt);
  Protection protection = open();
  protection.add(kPort, now_);
  kernel_.fail_at_write = 0;
  protection.advance(now_);
  EXPECT_EQ(protection.rules().ports[0].error, "7: add ingress refused");
}

class HostProtection : public ProtectionTest {
 protected:
  HostProtection() : ProtectionTest(Role::kHost) {}
};
TEST_F(HostProtection, HostProgramsNoRemap) {
  install(kPort, Order::kUp);  // it was a switch once
  Protection protection = open();
  protection.add(kPort, now_);
  protection.advance(now_);
  for (Part part : {Part::kIngress, Part::kEgress})
    EXPECT_EQ(kernel_.installed.at({kPort, part}), rules(Order::kUnknown));
  EXPECT_EQ(protection.summary(agent_.snapshot(now_)).state, State::kInactive);
}

}  // namespace
}  // namespace lldp::io
