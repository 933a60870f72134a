// SPDX-License-Identifier: Apache-2.0
// Several back ends as one: what each is asked, and what becomes of its answers.
#include "dataplane/compose.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "os/fd.hpp"
#include "tests/dataplane/contract.hpp"

namespace lldp::dataplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Ifindex kA = Ifindex::of<7>();
constexpr Ifindex kB = Ifindex::of<8>();

/// Answers what the test says, and writes down what it was asked.
struct Member : Backend {
  Member(std::string its_name, Capabilities its) : name_(std::move(its_name)), can(its) {}

  std::string_view name() const override { return name_; }
  std::string description() const override { return "of " + name_; }
  Capabilities capabilities() const override { return can; }
  Result<void> prepare(std::span<const qos::Ruleset> rules) override {
    asked.push_back(fmt::format("prepare {}", rules.size()));
    return {};
  }
  bool removes(Part part) const override { return does(part) || part == of_before; }
  PortPlan planned(const PortRef& port) const {
    PortPlan plan{.port = port};
    for (const Part part : {Part::kPfc, Part::kQueues, Part::kRemap, Part::kClassify})
      if (does(part)) plan.changes.push_back({Action::kReplace, part});
    return plan;
  }
  Result<PortPlan> plan(const PortRef& port, const qos::Ruleset&) override {
    if (error) return fail(*error);
    return planned(port);
  }
  Result<PortPlan> plan_removal(const PortRef& port) override {
    if (error) return fail(*error);
    return planned(port);
  }
  Result<Reading> verify(const PortRef& port, const qos::Ruleset&) override {
    if (error) return fail(*error);
    Reading reading{.mend = planned(port)};
    for (const Change& change : reading.mend.changes)
      reading.parts.push_back({change.part, PartState::kMissing, name_});
    return reading;
  }
  int events() const override { return event.get(); }
  Events take_events() override { return std::exchange(next, {}); }
  std::chrono::seconds glance_pause() const override { return pause; }
  std::vector<Ifindex> glance(std::span<const Ifindex>, Glance) override { return seen; }
  void apply(const Plan& plan) override {
    for (const PortPlan& port : plan.ports) {
      std::string line = fmt::format("{} {}", port.port.name, port.want ? "put" : "take");
      for (const Change& c : port.changes) line += fmt::format(" {}", to_string(c.part));
      asked.push_back(line);
    }
  }
  void forget(Ifindex port) override { asked.push_back(fmt::format("forget {}", port.value())); }
  Result<std::vector<PortRef>> ports() override {
    if (error) return fail(*error);
    return its_ports;
  }
  Result<Bounces> bounces(Ifindex) override {
    if (error) return fail(*error);
    return its_bounces;
  }
  qos::Carried carried(const PortRef&) const override { return its_carried; }
  std::string alias(const PortRef& port) const override {
    return its_alias.empty() ? "" : port.name + its_alias;
  }
  std::string displaced(const PortRef&) const override { return its_displaced; }

  std::string name_;
  Capabilities can;
  std::optional<Part> of_before{};  ///< does it no longer, and removes it
  UniqueFd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Events next{};
  std::vector<Ifindex> seen{};
  std::chrono::seconds pause = kGlancePause;
  std::vector<std::string> asked{};
  std::optional<Error> error{};
  std::vector<PortRef> its_ports{};
  Bounces its_bounces{};
  qos::Carried its_carried{};
  std::string its_alias{};
  std::string its_displaced{};
};

class ComposeTest : public testing::Test {
 protected:
  ComposeTest() {
    using enum Support;
    auto one = std::make_unique<Member>("one", Capabilities{kSoftware, kSoftware, kSoftware, kNo});
    auto two = std::make_unique<Member>("two", Capabilities{kNo, kNo, kNo, kHardware});
    one_ = one.get();
    two_ = two.get();
    std::vector<std::unique_ptr<Backend>> members;
    members.push_back(std::move(one));
    members.push_back(std::move(two));
    both_ = std::move(*Compose::of(std::move(members)));
  }
  static PortRef port(Ifindex ifindex) { return {ifindex, "p" + std::to_string(ifindex.value())}; }
  static Outcome failed(Ifindex ifindex, const char* why) {
    return {.port = ifindex, .refused = Change{}, .why = Error{0, {}, why}};
  }
  static std::vector<std::string> text_of(const Events& events) {
    std::vector<std::string> out;
    for (const Outcome& o : events.outcomes)
      out.push_back(fmt::format("{} {}", o.port.value(), o.why ? o.why->what : "done"));
    return out;
  }
  const qos::Ruleset rules_ = rules_of(Order::kUp);
  Member* one_ = nullptr;
  Member* two_ = nullptr;
  std::unique_ptr<Backend> both_;
};

TEST_F(ComposeTest, SaysWhatBothSay) {
  EXPECT_EQ(both_->name(), "one,two");
  EXPECT_EQ(both_->description(), "one: of one; two: of two");
  EXPECT_EQ(both_->capabilities(), (Capabilities{Support::kSoftware, Support::kSoftware,
                                                 Support::kSoftware, Support::kHardware}));
  const std::vector<qos::Ruleset> rules(3);
  EXPECT_TRUE(both_->prepare(rules));
  both_->forget(kA);
  EXPECT_THAT(one_->asked, ElementsAre("prepare 3", "forget 7"));
  EXPECT_EQ(two_->asked, one_->asked);
}

TEST_F(ComposeTest, PartsAndChangesAreInTheirOrderWhoeverDoesThem) {
  const std::vector<Change> all{{Action::kReplace, Part::kClassify},
                                {Action::kReplace, Part::kRemap},
                                {Action::kReplace, Part::kQueues},
                                {Action::kReplace, Part::kPfc}};
  const auto plan = both_->plan(port(kA), rules_);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->port, port(kA));
  EXPECT_EQ(plan->want, rules_);
  EXPECT_EQ(plan->changes, all);
  const auto removal = both_->plan_removal(port(kA));
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->port, port(kA));
  EXPECT_FALSE(removal->want);
  EXPECT_EQ(removal->changes, all);
  const auto reading = both_->verify(port(kA), rules_);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->mend, *plan);
  EXPECT_THAT(reading->parts, ElementsAre(PartReading{Part::kClassify, PartState::kMissing, "one"},
                                          PartReading{Part::kRemap, PartState::kMissing, "one"},
                                          PartReading{Part::kQueues, PartState::kMissing, "one"},
                                          PartReading{Part::kPfc, PartState::kMissing, "two"}));
}

TEST_F(ComposeTest, EachIsAskedForItsPartsAloneAndForNoneNotAtAll) {
  both_->apply({.ports = {*both_->plan(port(kA), rules_),
                          {.port = port(kB), .changes = {{Action::kRemove, Part::kPfc}}}}});
  EXPECT_THAT(one_->asked, ElementsAre("p7 put classify remap queues"));
  EXPECT_THAT(two_->asked, ElementsAre("p7 put pfc", "p8 take pfc"));
}

TEST_F(ComposeTest, WhatAnEarlierStartMadeIsRemovedByWhoMadeIt) {
  one_->can[static_cast<std::size_t>(Part::kQueues)] = Support::kNo;
  one_->of_before = Part::kQueues;
  both_->apply({.ports = {{.port = port(kA), .changes = {{Action::kRemove, Part::kQueues}}}}});
  EXPECT_THAT(one_->asked, ElementsAre("p7 take queues"));
  EXPECT_THAT(two_->asked, IsEmpty());
}

TEST_F(ComposeTest, OutcomeIsToldOnceWhenAllHaveTold) {
  both_->apply({.ports = {*both_->plan(port(kA), rules_), {.port = port(kB)}}});
  EXPECT_THAT(text_of(both_->take_events()), ElementsAre("8 done"));  // of which nothing is asked
  one_->next.outcomes = {{.port = kA}};
  one_->next.outcomes.push_back({.port = kB});  // which nobody waits for
  EXPECT_THAT(text_of(both_->take_events()), IsEmpty());
  two_->next.outcomes = {failed(kA, "two refuses")};
  EXPECT_THAT(text_of(both_->take_events()), ElementsAre("7 two refuses"));
  two_->next.outcomes = {{.port = kA}};
  EXPECT_THAT(text_of(both_->take_events()), IsEmpty());
}

TEST_F(ComposeTest, RulesAreInForceWhenTheyAreWithAll) {
  const auto told = [&](bool one, bool two) {
    both_->apply({.ports = {*both_->plan(port(kA), rules_)}});
    one_->next.outcomes = {{.port = kA, .in_force = one}};
    two_->next.outcomes = {{.port = kA, .in_force = two}};
    const Events events = both_->take_events();
    return !events.outcomes.empty() && events.outcomes[0].in_force;
  };
  EXPECT_TRUE(told(true, true));
  EXPECT_FALSE(told(true, false));
  EXPECT_FALSE(told(false, true));
  both_->apply({.ports = {{.port = port(kB)}}});
  EXPECT_FALSE(both_->take_events().outcomes.at(0).in_force) << "no back end was asked";
}

TEST_F(ComposeTest, TheFirstRefusalIsTold) {
  const PortPlan all = *both_->plan(port(kA), rules_);
  both_->apply({.ports = {all}});
  one_->next.outcomes = {failed(kA, "the first")};
  EXPECT_THAT(text_of(both_->take_events()), IsEmpty());
  two_->next.outcomes = {failed(kA, "comes late")};
  EXPECT_THAT(text_of(both_->take_events()), ElementsAre("7 the first"));
  both_->apply({.ports = {all}});
  one_->next.outcomes = {{.port = kA}};
  two_->next.outcomes = {{.port = kA}};
  EXPECT_THAT(text_of(both_->take_events()), ElementsAre("7 done"));
}

TEST_F(ComposeTest, EventsAndGlancesAreThoseOfAll) {
  pollfd ready{.fd = both_->events(), .events = POLLIN, .revents = 0};
  for (const Member* member : {one_, two_}) {
    EXPECT_EQ(::poll(&ready, 1, 0), 0);
    std::uint64_t n = 1;
    ASSERT_EQ(::write(member->event.get(), &n, sizeof n), ssize_t{sizeof n});
    EXPECT_EQ(::poll(&ready, 1, 0), 1);
    ASSERT_EQ(::read(member->event.get(), &n, sizeof n), ssize_t{sizeof n});
  }
  one_->next.changed = {kA};
  two_->next.changed = {kB};
  EXPECT_THAT(both_->take_events().changed, ElementsAre(kA, kB));
  one_->seen = {kB};
  two_->seen = {kA, kB};
  EXPECT_THAT(both_->glance({}, Backend::Glance::kOfTime), ElementsAre(kA, kB));
}

TEST_F(ComposeTest, MemberIsAskedAtEachGlanceThatItsPauseIsOverAt) {
  using std::chrono::seconds;
  one_->seen = {kA};
  two_->seen = {kB};
  one_->pause = seconds(9);
  two_->pause = seconds(20);
  EXPECT_EQ(both_->glance_pause(), seconds(9));
  const auto glance = [&] { return both_->glance({}, Backend::Glance::kOfTime); };
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(glance(), ElementsAre(kA));
    EXPECT_THAT(glance(), ElementsAre(kA));
    EXPECT_THAT(glance(), ElementsAre(kA, kB)) << "27 s";
  }
  EXPECT_THAT(both_->glance({}, Backend::Glance::kOfQuestion), ElementsAre(kA, kB));
  two_->pause = seconds(5);
  EXPECT_EQ(both_->glance_pause(), seconds(5));
  EXPECT_THAT(glance(), ElementsAre(kB));
}

TEST_F(ComposeTest, PortsAreThoseOfAnyInOrderAndBouncesAreAddedUp) {
  one_->its_ports = {{kB, "b"}};
  two_->its_ports = {{kA, "a"}, {kB, "b"}};
  EXPECT_THAT(*both_->ports(), ElementsAre(PortRef{kA, "a"}, PortRef{kB, "b"}));
  one_->its_bounces = {1, 0, 0, 0, 0, 5, 0, 7};
  two_->its_bounces = {2, 0, 0, 0, 0, 0, 1, 1};
  EXPECT_EQ(*both_->bounces(kA), (Bounces{3, 0, 0, 0, 0, 5, 1, 8}));
}

TEST_F(ComposeTest, WhatOneAloneKnowsIsToldAndTheFirstIsHeardFirst) {
  EXPECT_EQ(both_->carried(port(kA)), qos::Carried());
  EXPECT_EQ(both_->alias(port(kA)), "");
  EXPECT_EQ(both_->displaced(port(kA)), "");
  two_->its_carried.pauses.received[3] = 2;
  two_->its_carried.frames.sent[3] = 2;
  two_->its_carried.paused_microseconds.received[3] = 2;
  two_->its_carried.last_pause_microseconds.received[3] = 2;
  two_->its_carried.lost.frames.sent[3] = 1;
  two_->its_alias = " of two";
  two_->its_displaced = "by two";
  EXPECT_EQ(both_->carried(port(kA)), two_->its_carried);
  EXPECT_EQ(both_->alias(port(kA)), "p7 of two");
  EXPECT_EQ(both_->displaced(port(kA)), "by two");
  one_->its_carried.pauses.received[4] = 1;
  one_->its_alias = " of one";
  one_->its_displaced = "by one";
  EXPECT_EQ(both_->carried(port(kA)),
            (qos::Carried{.frames = two_->its_carried.frames,
                          .pauses = one_->its_carried.pauses,
                          .paused_microseconds = two_->its_carried.paused_microseconds,
                          .last_pause_microseconds = two_->its_carried.last_pause_microseconds,
                          .lost = two_->its_carried.lost}));
  EXPECT_EQ(both_->alias(port(kA)), "p7 of one");
  EXPECT_EQ(both_->displaced(port(kA)), "by one");
}

TEST_F(ComposeTest, WhatAnyCannotSayIsNotKnown) {
  for (Member* member : {one_, two_}) {
    member->error = Error{EIO, {}, "no answer of " + member->name_};
    const auto said = [&](const auto& result) {
      EXPECT_FALSE(result);
      EXPECT_EQ(result.error().what, member->error->what);
    };
    said(both_->plan(port(kA), rules_));
    said(both_->plan_removal(port(kA)));
    said(both_->verify(port(kA), rules_));
    said(both_->ports());
    said(both_->bounces(kA));
    member->error.reset();
  }
}

}  // namespace
}  // namespace lldp::dataplane
