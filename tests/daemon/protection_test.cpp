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
using dataplane::PartReading;
using dataplane::PartState;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using State = report::Protection::State;

constexpr auto kPort = Ifindex::of<7>();
constexpr auto kOther = Ifindex::of<8>();

core::Link link(Ifindex port, std::uint8_t device) {
  return {.ifindex = port,
          .name = "swp" + std::to_string(port.value()),
          .address = {2, 0, 0, 0, device, static_cast<std::uint8_t>(port.value())},
          .up = true};
}

class ProtectionTest : public testing::Test {
 protected:
  explicit ProtectionTest(Role role = Role::kSwitch)
      : agent_({.role = role, .pinned_level = Level::of<1>()}, {}, now_) {
    core::Actions actions;
    for (Ifindex port : {kPort, kOther}) agent_.set_link(link(port, 1), now_, actions);
  }

  Protection::Opener opener() {
    return [this] { return std::make_unique<FakeBackend>(kernel_); };
  }
  /// One that knows no port yet, in the place of the one before.
  Protection& open() { return open(opener()); }
  Protection& open(Protection::Opener opener) {
    return protection_.emplace(agent_, qos::Policy(), "fake", std::move(opener), names(), now_);
  }
  /// One whose ports have had their turn.
  Protection& start(std::initializer_list<Ifindex> ports = {kPort}) {
    open();
    for (const Ifindex port : ports) protection_->add(port, now_);
    turn();
    return *protection_;
  }
  static Protection::NameOf names() {
    return [](Ifindex p) { return p == kPort ? "swp7" : p == kOther ? "swp8" : ""; };
  }
  static qos::Ruleset rules(Order order) { return qos::compile(qos::Policy(), {.order = order}); }
  void install(Ifindex port, Order order) {
    FakeBackend kernel(kernel_);
    ASSERT_TRUE(finish(kernel, {.ports = {*kernel.plan({port, ""}, rules(order))}}));
  }
  /// Somebody else takes all of it away, or a part.
  void lose(Ifindex port) {
    for (Part part : {Part::kClassify, Part::kRemap}) kernel_.installed.erase({port, part});
  }
  /// A switch of that level, or a host, is heard on the port.
  void hear(Ifindex port, std::optional<Level> level) {
    core::Settings settings{.role = level ? Role::kSwitch : Role::kHost, .pinned_level = level};
    core::Agent peer(settings, {}, now_);
    core::Actions actions;
    peer.set_link(link(port, 9), now_, actions);
    peer.advance(now_, actions);
    ASSERT_FALSE(actions.sends.empty());
    core::Actions heard;
    agent_.receive(port, actions.sends.front().frame, now_, heard);
  }
  /// All that is due now.
  void turn() {
    for (int i = 0; i < 100; ++i) {
      const auto due = protection_->next_deadline();
      if (!due || *due > now_) return;
      protection_->advance(now_);
    }
    FAIL() << "never at rest";
  }
  /// Time goes on, and every deadline is kept.
  void pass(Duration time) {
    const TimePoint end = now_ + time;
    while (const auto due = protection_->next_deadline()) {
      if (*due > end) break;
      now_ = std::max(now_, *due);
      protection_->advance(now_);
      tell();
    }
    now_ = end;
  }
  void tell() {
    core::Actions actions;
    protection_->tell(agent_, now_, actions);
    for (const core::Event& e : actions.events)
      if (e.kind == core::Event::Kind::kRulesRestored)
        restored_.push_back(std::string(names()(e.port)) + " " + e.text);
  }
  /// The standing alarms as "code port text".
  std::vector<std::string> alarms() {
    tell();
    std::vector<std::string> lines;
    for (const core::Alarm& a : agent_.snapshot(now_).alarms)
      if (a.code == core::AlarmCode::kDataplane ||
          (a.code == core::AlarmCode::kUnprotected && a.port.empty()))
        lines.push_back(std::string(to_string(a.code)) + " " + a.port + " " + a.text);
    return lines;
  }
  report::Protection summary() const { return protection_->summary(agent_.snapshot(now_)); }
  report::Rules told() { return protection_->rules(agent_.snapshot(now_)); }
  /// As "swp7 remap missing text".
  std::vector<std::string> reasons() const {
    std::vector<std::string> lines;
    for (const auto& r : summary().reasons)
      lines.push_back(r.port + " " + r.part.part + " " + r.part.state + " " + r.part.text);
    return lines;
  }
  /// The classify part's order, in the kernel.
  Order programmed(Ifindex port) const {
    return kernel_.installed.at({port, Part::kClassify}).port.order;
  }

  TimePoint now_{std::chrono::hours(1)};
  core::Agent agent_;
  FakeKernel kernel_;
  std::vector<std::string> restored_;
  std::optional<Protection> protection_;
};

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
  EXPECT_EQ(summary().state, State::kActive);
  EXPECT_EQ(summary().pfc_unverified, 1U);
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
  hear(kPort, std::nullopt);  // meanwhile the port's order is another
  hear(kPort, Level::of<0>());
  const Order order = agent_.order(kPort);
  protection.update(kPort, now_);
  EXPECT_EQ(kernel_.applies, 1);
  kernel_.slow = false;
  protection.take_events(now_);
  EXPECT_EQ(programmed(kPort), order);
  pass(seconds(1));
  EXPECT_EQ(summary().state, State::kActive);
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

TEST_F(ProtectionTest, RulesFoundAtStartStayUntilTheNeighborWouldHaveBeenHeard) {
  install(kPort, Order::kUp);
  Protection& protection = open();
  protection.add(kPort, now_);
  const TimePoint until = now_ + seconds(121);  // our TTL: docs/rules.md O4
  pass(seconds(121) - std::chrono::nanoseconds(1));
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}), rules(Order::kUp));
  now_ = until;
  protection.advance(until);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}), rules(Order::kUnknown));
  EXPECT_THAT(restored_, IsEmpty());
}

TEST_F(ProtectionTest, RulesFoundWhereThePortRemembersSomebodyFollowAtOnce) {
  core::State state{.place = Position{Level::of<2>(), {}}};
  state.ports.push_back({.name = "p", .memory = {.kind = core::PortMemory::Kind::kAbove}});
  core::Agent agent({}, std::move(state), now_);
  core::Actions none;
  agent.set_link({.ifindex = kPort, .name = "p", .up = true}, now_, none);
  install(kPort, Order::kDown);
  Protection protection(
      agent, qos::Policy(), "fake", [this] { return std::make_unique<FakeBackend>(kernel_); },
      names(), now_);
  EXPECT_TRUE(protection.take_found_rules());
  protection.add(kPort, now_);
  protection.advance(now_);
  EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}), rules(Order::kUp));
}

TEST_F(ProtectionTest, RulesFoundWhereTheStateRemembersNobodyGo) {
  for (const bool knows_ports : {true, false}) {
    core::State state{.place = Position{Level::of<2>(), {}}, .knows_ports = knows_ports};
    core::Agent agent({}, std::move(state), now_);
    core::Actions none;
    agent.set_link({.ifindex = kPort, .name = "p", .up = true}, now_, none);
    install(kPort, Order::kUp);
    protection_.emplace(agent, qos::Policy(), "fake", opener(), names(), now_).add(kPort, now_);
    turn();
    EXPECT_EQ(kernel_.installed.at({kPort, Part::kRemap}),
              rules(knows_ports ? Order::kUnknown : Order::kUp));
  }
}

TEST_F(ProtectionTest, NewClassesLeaveRulesFoundAtStartAlone) {
  install(kPort, Order::kUp);
  Protection& protection = open();
  protection.add(kPort, now_);
  protection.update_all(*qos::Policy::parse("3:dscp26", "0:dscp0"), now_);
  turn();
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

TEST_F(ProtectionTest, RefusalRaisesAlarmsUntilItIsMended) {
  hear(kPort, Level::of<2>());
  hear(kOther, Level::of<2>());
  Protection& protection = open();
  protection.add(kPort, now_);
  protection.add(kOther, now_);
  kernel_.fail_at_write = 0;
  turn();
  EXPECT_THAT(alarms(), ElementsAre("unprotected  1 of 2 ports without rules that hold: swp7",
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
  protection.remove(kPort);
  EXPECT_EQ(protection.next_deadline(), std::nullopt);
}

TEST_F(ProtectionTest, AlarmGoesWithThePort) {
  Protection& protection = open();
  protection.add(kPort, now_);
  kernel_.fail_at_write = 0;
  turn();
  EXPECT_EQ(alarms().size(), 2U);
  protection.remove(kPort);
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
  EXPECT_TRUE(protection.take_found_rules());
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

// docs/rules.md O4: one TTL, and at least a minute however short ours is
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
  EXPECT_FALSE(protection_->take_found_rules());
  pass(seconds(3));
  kernel_.down.reset();
  protection_->take_events(now_);
  EXPECT_TRUE(protection_->take_found_rules());
  turn();
  EXPECT_EQ(programmed(kPort), Order::kUp);
  pass(seconds(121));
  EXPECT_EQ(programmed(kPort), Order::kUnknown);
}

TEST_F(ProtectionTest, RulesFoundOnAPortThatIsNotOursGoIfNobodyElseIsHere) {
  for (const bool sole : {false, true}) {
    install(kOther, Order::kUp);
    start();
    if (sole) protection_->set_sole();
    pass(seconds(120));
    EXPECT_EQ(programmed(kOther), Order::kUp);
    pass(seconds(1));
    EXPECT_EQ(kernel_.installed.contains({kOther, Part::kClassify}), !sole);
  }
}

TEST_F(ProtectionTest, APortThatIsLeftOutWhileTheBackEndIsAwayLosesItsRulesWhenItIsBack) {
  hear(kPort, Level::of<2>());
  start({kPort, kOther});
  kernel_.down = Error{0, "backend fake", "it is away"};
  protection_->take_events(now_);
  protection_->remove(kPort);
  pass(seconds(3));
  EXPECT_EQ(programmed(kPort), Order::kUp);
  kernel_.down.reset();
  protection_->take_events(now_);
  EXPECT_FALSE(kernel_.installed.contains({kPort, Part::kClassify}));
  EXPECT_EQ(programmed(kOther), Order::kUnknown);
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

TEST_F(ProtectionTest, WhatNobodyToldOfIsFoundAndPutBackWithinTenSeconds) {
  hear(kPort, Level::of<2>());
  start();
  lose(kPort);
  pass(seconds(9));
  EXPECT_EQ(programmed(kPort), Order::kUp);
  EXPECT_THAT(restored_, ElementsAre("swp7 classify, remap: somebody had taken them away"));
  EXPECT_EQ(told().ports[0].restored, 1U);
  EXPECT_EQ(summary().state, State::kActive);
  EXPECT_THAT(alarms(), IsEmpty());
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
  turn();
  EXPECT_EQ(programmed(kPort), Order::kUp);
  EXPECT_EQ(kernel_.looks, looks + 2);  // and once more, after it was put back
  now_ += seconds(1);
  kernel_.events = {Ifindex()};  // some were lost: of any port
  lose(kOther);
  protection.take_events(now_);
  turn();
  EXPECT_EQ(programmed(kOther), Order::kUnknown);
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
  EXPECT_THAT(alarms(), ElementsAre("unprotected  1 of 1 port without rules that hold: swp7",
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
  EXPECT_THAT(reasons(), ElementsAre("swp7 classify missing no place"));
  pass(seconds(70));
  const int writes = kernel_.writes;
  kernel_.obstacles.clear();
  kernel_.refuse_all.clear();
  event();
  EXPECT_EQ(kernel_.writes, writes + 2);
  EXPECT_EQ(programmed(kPort), Order::kUp);
  pass(milliseconds(100));
  EXPECT_THAT(alarms(), IsEmpty());
  EXPECT_THAT(restored_, ElementsAre("swp7 classify, remap: somebody had taken them away"));
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
  EXPECT_THAT(alarms(),
              testing::Contains(HasSubstr("somebody takes the rules away again and again (")));
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
  EXPECT_THAT(alarms(), ElementsAre("unprotected  1 of 1 port without rules that hold: swp7",
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
  EXPECT_EQ(rules.ports[0].bounces[5], 42U);
  protection.advance(now_);
  EXPECT_EQ(told().ports[0].installed, Installed::kYes);
  EXPECT_EQ(told().ports[0].parts.front(), (report::PartReading{"classify", "done", ""}));
  install(kPort, Order::kUp);  // by another hand
  rules = told();
  EXPECT_EQ(rules.ports[0].installed, Installed::kDiffers);
  EXPECT_THAT(rules.ports[0].changes, ElementsAre("replace classify", "replace remap"));
}

TEST_F(ProtectionTest, RulesOfAnEarlierDaemonAreKept) {
  install(kPort, Order::kUp);
  start();
  EXPECT_EQ(told().ports[0].installed, report::PortRules::Installed::kKept);
}

TEST_F(ProtectionTest, RulesTellWhyThereAreNone) {
  Protection& protection = open();
  protection.add(kPort, now_);
  kernel_.fail_at_write = 0;
  protection.advance(now_);
  EXPECT_EQ(told().ports[0].error, "7: add classify: refused");
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

TEST_F(HostProtection, WhatStandsBeforeTheRulesOfAHostIsNoAlarm) {
  kernel_.obstacles[{kPort, Part::kClassify}] = {Part::kClassify, PartState::kBypassed, "by XDP"};
  start();
  EXPECT_THAT(alarms(), IsEmpty());
}

}  // namespace
}  // namespace lldp::io
