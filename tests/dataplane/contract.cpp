// SPDX-License-Identifier: Apache-2.0
#include "tests/dataplane/contract.hpp"

// The contract's cases; each program that links them names its worlds.

namespace lldp::dataplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

TEST_P(BackendContract, PlansBothPartsOnBarePort) {
  EXPECT_THAT(planned(0, Order::kUp).changes, IsSupersetOf({Change{Action::kAdd, Part::kClassify},
                                                            Change{Action::kAdd, Part::kRemap}}));
}

TEST_P(BackendContract, PlansBothPartsWhereOrderIsUnknown) {
  EXPECT_THAT(
      planned(0, Order::kUnknown).changes,
      IsSupersetOf({Change{Action::kAdd, Part::kClassify}, Change{Action::kAdd, Part::kRemap}}));
}

TEST_P(BackendContract, PlanChangesNothing) {
  const PortPlan first = planned(0, Order::kUp);
  EXPECT_EQ(planned(0, Order::kUp), first);
  EXPECT_THAT(ports(), IsEmpty());
}

TEST_P(BackendContract, PlanIsEmptyOnceApplied) {
  put(0, Order::kUp);
  EXPECT_TRUE(planned(0, Order::kUp).empty());
}

TEST_P(BackendContract, ApplyingTwiceChangesNothingMore) {
  const PortPlan plan = planned(0, Order::kUp);
  do_apply(plan);
  do_apply(plan);
  EXPECT_TRUE(planned(0, Order::kUp).empty());
  EXPECT_THAT(ports(), ElementsAre(world_->port(0)));
}

TEST_P(BackendContract, ReplacesInPlaceWhenOrderTurns) {
  put(0, Order::kUp);
  EXPECT_THAT(planned(0, Order::kDown).changes, IsSupersetOf(replaced()));
  put(0, Order::kDown);
  EXPECT_TRUE(planned(0, Order::kDown).empty());
  EXPECT_FALSE(planned(0, Order::kUp).empty());
}

TEST_P(BackendContract, ReplacesInPlaceWhenOrderIsLost) {
  put(0, Order::kUp);
  EXPECT_THAT(planned(0, Order::kUnknown).changes, IsSupersetOf(replaced()));
  put(0, Order::kUnknown);
  EXPECT_TRUE(planned(0, Order::kUnknown).empty());
}

// A shut port, a port to a host and a port to a switch below have rules of their own.
TEST_P(BackendContract, TellsAShutPortAndOneThatRestoresFromOthers) {
  const auto rules = [](Order order, bool restore) {
    return qos::compile(qos::Policy(), {.order = order, .restore = restore});
  };
  const qos::Ruleset all[] = {rules(Order::kShut, false), rules(Order::kDown, true),
                              rules(Order::kDown, false), rules(Order::kShut, false)};
  for (const qos::Ruleset& want : all) {
    auto plan = backend_->plan(world_->port(0), want);
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_FALSE(plan->empty()) << to_string(want.port.order) << ' ' << want.port.restore;
    do_apply(*plan);
    plan = backend_->plan(world_->port(0), want);
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_TRUE(plan->empty()) << to_string(want.port.order) << ' ' << want.port.restore;
  }
}

TEST_P(BackendContract, ChangeOfOnePortLeavesTheOtherAlone) {
  put(0, Order::kUp);
  put(1, Order::kUp);
  put(0, Order::kDown);
  EXPECT_TRUE(planned(1, Order::kUp).empty());
  take(0);
  EXPECT_TRUE(planned(1, Order::kUp).empty());
  EXPECT_THAT(ports(), ElementsAre(world_->port(1)));
}

TEST_P(BackendContract, RemovalTakesAllThatIsOurs) {
  const PortPlan bare = planned(0, Order::kUp);
  put(0, Order::kUp);
  take(0);
  EXPECT_THAT(ports(), IsEmpty());
  EXPECT_EQ(planned(0, Order::kUp), bare);
  auto again = backend_->plan_removal(world_->port(0));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->empty());
}

TEST_P(BackendContract, RulesComeBackAfterTheLastWasRemoved) {
  put(0, Order::kUp);
  take(0);
  put(0, Order::kUp);
  EXPECT_TRUE(planned(0, Order::kUp).empty());
}

TEST_P(BackendContract, ForgottenPortIsNoLongerOurs) {
  if (!world_->forgets()) GTEST_SKIP() << backend_->name() << " keeps what is a port's own";
  put(0, Order::kUp);
  put(1, Order::kUp);
  backend_->forget(world_->port(0).ifindex);
  EXPECT_THAT(ports(), ElementsAre(world_->port(1)));
}

TEST_P(BackendContract, FreshPortHasNoBounces) {
  put(0, Order::kUp);
  EXPECT_EQ(backend_->bounces(world_->port(0).ifindex), Bounces{});
}

TEST_P(BackendContract, NextOneFindsTheRules) {
  if (!world_->remembers()) GTEST_SKIP() << backend_->name() << " leaves nothing behind";
  put(0, Order::kUp);
  put(1, Order::kDown);
  backend_ = nullptr;
  backend_ = world_->open();
  EXPECT_TRUE(planned(0, Order::kUp).empty());
  EXPECT_TRUE(planned(1, Order::kDown).empty());
  EXPECT_THAT(ports(), ElementsAre(world_->port(0), world_->port(1)));
}

TEST_P(BackendContract, VerifyTellsWhatIsMissingAndChangesNothing) {
  EXPECT_EQ(state(0, Order::kUp, Part::kClassify), PartState::kMissing);
  EXPECT_EQ(state(0, Order::kUp, Part::kRemap), PartState::kMissing);
  EXPECT_EQ(verified(0, Order::kUp).mend, planned(0, Order::kUp));
  EXPECT_THAT(ports(), IsEmpty());
}

TEST_P(BackendContract, VerifyFindsWhatWasPut) {
  put(0, Order::kUp);
  const PartState there = world_->acts() ? PartState::kDone : PartState::kUnsupported;
  EXPECT_EQ(state(0, Order::kUp, Part::kClassify), there);
  EXPECT_EQ(state(0, Order::kUp, Part::kRemap), there);
  EXPECT_TRUE(verified(0, Order::kUp).mend.empty());
  EXPECT_EQ(state(0, Order::kDown, Part::kRemap), PartState::kMissing);
  EXPECT_EQ(state(0, Order::kDown, Part::kClassify),
            world_->classifies_by_order() ? PartState::kMissing : there);
  for (const PartReading& read : verified(0, Order::kDown).parts)
    EXPECT_EQ(read.text.empty(), read.state == PartState::kDone) << to_string(read.part);
}

TEST_P(BackendContract, WhatAnotherTookAwayIsSeenAndPutBack) {
  if (!world_->remembers()) GTEST_SKIP() << backend_->name() << " is alone with what it printed";
  put(0, Order::kUp);
  const auto other = world_->open();
  ASSERT_TRUE(other);
  const auto removal = other->plan_removal(world_->port(0));
  ASSERT_TRUE(removal);
  ASSERT_TRUE(finish(*other, *removal));
  const Reading reading = verified(0, Order::kUp);
  for (const PartReading& read : reading.parts) {
    if (read.part == Part::kQueues) continue;
    EXPECT_EQ(read.state, PartState::kMissing) << to_string(read.part);
  }
  do_apply(reading.mend);
  EXPECT_EQ(state(0, Order::kUp, Part::kClassify), PartState::kDone);
  EXPECT_EQ(state(0, Order::kUp, Part::kRemap), PartState::kDone);
}

TEST_P(BackendContract, OnePlanIsForManyPortsAndEachHasItsOutcome) {
  backend_->apply({.ports = {planned(0, Order::kUp), planned(1, Order::kDown)}});
  std::vector<Ifindex> done;
  while (done.size() < 2) {
    for (const Outcome& outcome : backend_->take_events().outcomes) {
      EXPECT_FALSE(outcome.why);
      done.push_back(outcome.port);
    }
  }
  EXPECT_THAT(done,
              testing::UnorderedElementsAre(world_->port(0).ifindex, world_->port(1).ifindex));
  EXPECT_TRUE(planned(0, Order::kUp).empty());
  EXPECT_TRUE(planned(1, Order::kDown).empty());
}

TEST_P(BackendContract, RulesThatAreInForceAreReadBack) {
  backend_->apply({.ports = {planned(0, Order::kUp)}});
  std::optional<Outcome> told;
  while (!told)
    for (const Outcome& outcome : backend_->take_events().outcomes) told = outcome;
  EXPECT_FALSE(told->why);
  if (!told->in_force) GTEST_SKIP() << backend_->name() << " tells it later";
  for (const Part part : {Part::kClassify, Part::kRemap})
    EXPECT_THAT(state(0, Order::kUp, part),
                testing::AnyOf(PartState::kDone, PartState::kUnsupported));
}

TEST_P(BackendContract, SaysWhichPartsItDoes) {
  put(0, Order::kUp);
  for (const PartReading& read : verified(0, Order::kUp).parts)
    EXPECT_TRUE(backend_->does(read.part)) << to_string(read.part);
  for (const Change& c : planned(1, Order::kUp).changes)
    EXPECT_TRUE(backend_->does(c.part)) << to_string(c.part);
}

TEST_P(BackendContract, VanishedPortIsRefused) {
  if (!world_->knows_ports()) GTEST_SKIP() << backend_->name() << " takes any port";
  const PortPlan plan{.port = {Ifindex::of<0x7ffffff0>(), "gone"},
                      .want = rules_of(Order::kUp),
                      .changes = {{Action::kAdd, Part::kClassify}}};
  auto done = finish(*backend_, plan);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ENODEV);
}

}  // namespace
}  // namespace lldp::dataplane
