// SPDX-License-Identifier: Apache-2.0
// What the back end soft makes of what a switch says, and of one that says nothing: the switch is
// played here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/factory.hpp"
#include "dataplane/soft/messages.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::ElementsAre;
using testing::IsEmpty;

const PortRef kSeven{Ifindex::of<7>(), "swp7"};
const PortRef kEight{Ifindex::of<8>(), "swp8"};
constexpr SoftTimes kQuick{.period = 20ms, .answer = 9s};

class SoftClient : public testing::Test {
 protected:
  void open(const SoftTimes& times = kQuick) {
    auto opened = make_backend("soft", {.soft = {.socket = path_, .opening = 0ms, .times = times}});
    ASSERT_TRUE(opened) << to_string(opened.error());
    backend_ = std::move(*opened);
  }
  /// Up, with this to be read; nothing of it waits to be told.
  void open_with(const soft::View& view, const SoftTimes& times = kQuick) {
    open(times);
    answer(view);
    ASSERT_TRUE(until([&] { return !backend_->down(); })) << down();
    for (const PortRef& port : {kSeven, kEight}) (void)backend_->plan_removal(port);
    changed_.clear();
  }
  void turn() {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 5);
    Events events = backend_->take_events();
    changed_.insert(changed_.end(), events.changed.begin(), events.changed.end());
    std::ranges::move(events.outcomes, std::back_inserter(outcomes_));
  }
  template <class Done>
  bool until(Done done) {
    for (const auto end = Clock::now() + 60s; !done(); turn())
      if (Clock::now() > end) return false;
    return true;
  }
  void pass(Clock::duration time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) turn();
  }

  // The switch.
  /// The next request, if there is one; of a connection that has come meanwhile.
  std::optional<soft::Request> asked() {
    if (UniqueFd fd(::accept(listener_.get(), nullptr, nullptr)); fd) {
      switch_ = std::move(fd);
      ++connections_;
    }
    std::string text(soft::kMaxMessage, '\0');
    const ssize_t size = ::recv(switch_.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (size <= 0) return std::nullopt;
    return soft::parse_request({text.data(), static_cast<std::size_t>(size)}).value();
  }
  /// Of a port's rules, when it comes.
  soft::Set asked_to_set() {
    std::optional<soft::Request> request;
    const bool came = until([&] {
      request = asked();
      return request && std::holds_alternative<soft::Set>(*request);
    });
    EXPECT_TRUE(came);
    return came ? std::get<soft::Set>(*request) : soft::Set{};
  }
  void say(const std::string& text) const {
    ASSERT_EQ(::send(switch_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  void say(const soft::Answer& answer) const { say(soft::format(answer)); }
  /// To the next question.
  void answer(const soft::Answer& answer) {
    ASSERT_TRUE(until([&] { return asked() == soft::Request(soft::Read{}); }));
    say(answer);
  }
  /// And waits until it has been read: the next question is behind that.
  void answer_and_wait(const soft::View& view) {
    answer(view);
    answer(view);
  }

  PortPlan planned(const PortRef& port, Order order = Order::kUp) {
    return backend_->plan(port, rules_of(order)).value();
  }
  std::string down() const {
    const auto why = backend_->down();
    return why ? why->what : "";
  }

  TempDir files_;
  const std::string path_ = files_ / "switch";
  UniqueFd listener_ = socket_at(path_, SOCK_SEQPACKET, 8);
  UniqueFd switch_{};
  int connections_ = 0;
  std::unique_ptr<Backend> backend_;
  std::vector<Ifindex> changed_;
  std::vector<Outcome> outcomes_;
};

TEST_F(SoftClient, IsUpWithTheFirstAnswer) {
  open();
  EXPECT_EQ(down(), "the switch has not answered yet");
  answer(soft::View{.name = "leaf"});
  ASSERT_TRUE(until([&] { return !backend_->down(); }));
  EXPECT_THAT(changed_, ElementsAre(Ifindex())) << "of any port something else is known";
  EXPECT_EQ(backend_->description(), "the software switch leaf at " + path_);
}

TEST_F(SoftClient, TellsOfPortsWhoseRulesOrInterfacesChangeAndOfNoOthers) {
  soft::View view{.ports = {{"swp7", {}}, {"swp8", {}}, {"swp9", {}}}};
  open_with(view);
  const auto told = [&](const soft::View& now) {
    changed_.clear();
    answer_and_wait(now);
    return changed_;
  };
  EXPECT_THAT(told(view), IsEmpty());
  view.ports["swp7"].rules = rules_of(Order::kUp);
  EXPECT_THAT(told(view), ElementsAre(kSeven.ifindex));
  view.ports["swp8"].gone = true;
  EXPECT_THAT(told(view), ElementsAre(kEight.ifindex));
  view.ports["swp7"].sent = view.ports["swp7"].bounces[5] = ++view.drops;
  view.ports["swp9"].gone = true;  // nobody has asked about it
  EXPECT_THAT(told(view), IsEmpty());
  view.ports.erase("swp8");
  EXPECT_THAT(told(view), IsEmpty());
  view.ports["swp8"] = {};
  EXPECT_THAT(told(view), ElementsAre(kEight.ifindex));
}

TEST_F(SoftClient, AsksOnceAPeriodAndNotAgainBeforeTheAnswer) {
  open_with({});
  ASSERT_TRUE(until([&] { return asked() == soft::Request(soft::Read{}); }));
  pass(100ms);
  EXPECT_FALSE(asked());
  say(soft::View{});
  EXPECT_TRUE(until([&] { return asked() == soft::Request(soft::Read{}); }));
}

TEST_F(SoftClient, OutcomeIsToldWhenWhatWasDoneHasBeenRead) {
  open_with({.ports = {{"swp7", {}}}});
  for (const auto& want : {std::optional(rules_of(Order::kUp)), std::optional<qos::Ruleset>()}) {
    changed_.clear();
    outcomes_.clear();
    const auto plan = want ? planned(kSeven) : backend_->plan_removal(kSeven).value();
    EXPECT_FALSE(plan.empty());
    backend_->apply({.ports = {plan}});
    const soft::Set set = asked_to_set();
    EXPECT_EQ(set.port, "swp7");
    EXPECT_EQ(set.rules, want);
    say(soft::Done{.id = set.id});
    pass(50ms);
    EXPECT_THAT(outcomes_, IsEmpty());
    const soft::View after{.ports = {{"swp7", {.rules = want}}}};
    answer(after);
    ASSERT_TRUE(until([&] { return !outcomes_.empty(); }));
    EXPECT_EQ(outcomes_.size(), 1U);
    EXPECT_EQ(outcomes_[0].port, kSeven.ifindex);
    EXPECT_FALSE(outcomes_[0].why || outcomes_[0].refused);
    EXPECT_THAT(changed_, testing::Contains(kSeven.ifindex));
    EXPECT_EQ(backend_->ports().value(), want ? std::vector{kSeven} : std::vector<PortRef>());
  }
}

// A chip takes its time, and says so when it is done.
TEST_F(SoftClient, ChangeThatIsDoneLateIsReadAtOnce) {
  const soft::View before{.ports = {{"swp7", {}}}};
  open_with(before, {.period = 60s, .answer = 60s});
  backend_->apply({.ports = {planned(kSeven)}});
  const soft::Set set = asked_to_set();
  answer(before);
  pass(50ms);
  EXPECT_THAT(outcomes_, IsEmpty());
  say(soft::Done{.id = set.id});
  answer(soft::View{.ports = {{"swp7", {.rules = set.rules}}}});
  ASSERT_TRUE(until([&] { return !outcomes_.empty(); }));
  EXPECT_TRUE(outcomes_[0].in_force);
}

// What another connection asked for may still come: it has when this one's request is answered.
TEST_F(SoftClient, RulesThatAreThereAreAskedForOnceOnAConnection) {
  const soft::View there{.ports = {{"swp7", {.rules = rules_of(Order::kUp)}}}};
  open_with(there);
  for (const bool first : {true, false}) {
    outcomes_.clear();
    const PortPlan plan = planned(kSeven);
    EXPECT_TRUE(plan.empty());
    backend_->apply({.ports = {plan}});
    if (first) {
      const soft::Set set = asked_to_set();
      EXPECT_EQ(set.rules, rules_of(Order::kUp));
      EXPECT_THAT(outcomes_, IsEmpty());
      say(soft::Done{.id = set.id});
      answer(there);
    }
    ASSERT_TRUE(until([&] { return !outcomes_.empty(); }));
    EXPECT_FALSE(outcomes_[0].why);
  }
}

TEST_F(SoftClient, RefusalIsThatOfItsPort) {
  const soft::View view{.ports = {{"swp7", {}}, {"swp8", {}}}};
  open_with(view);
  backend_->apply({.ports = {planned(kSeven), planned(kEight)}});
  const soft::Set seven = asked_to_set();
  const soft::Set eight = asked_to_set();
  EXPECT_EQ(seven.port + eight.port, "swp7swp8");
  say(soft::Done{.id = eight.id + 1, .code = 1, .why = "of nobody's"});
  say(soft::Done{.id = seven.id});
  say(soft::Done{.id = eight.id, .code = EINVAL, .why = "no\n"});
  say(view);
  ASSERT_TRUE(until([&] { return outcomes_.size() == 2; }));
  EXPECT_EQ(outcomes_[0].port, kSeven.ifindex);
  EXPECT_FALSE(outcomes_[0].why || outcomes_[0].refused);
  EXPECT_EQ(outcomes_[1].port, kEight.ifindex);
  EXPECT_EQ(outcomes_[1].refused, (Change{Action::kAdd, Part::kClassify}));
  EXPECT_EQ(outcomes_[1].why, (Error{EINVAL, "backend soft", "no\\x0a"}));
}

// The first answer is not that of all.
TEST_F(SoftClient, RemovalIsThatOfEachPortThoughNoneHasAnInterface) {
  soft::View view{.ports = {{"none7", {.rules = rules_of(Order::kUp)}},
                            {"none8", {.rules = rules_of(Order::kUp)}}}};
  open_with(view, {.period = 9s, .answer = 9s});
  std::atomic<bool> over = false;
  std::thread player([&] {
    while (!over) {
      const auto request = asked();
      const auto* set = request ? std::get_if<soft::Set>(&*request) : nullptr;
      if (set != nullptr && set->port == "none8") {
        say(soft::Done{.id = set->id, .code = EBUSY, .why = "busy"});
      } else if (set != nullptr) {
        view.ports[set->port].rules.reset();
        say(soft::Done{.id = set->id});
      } else if (request) {
        say(view);
      }
    }
  });
  const auto removed = remove_all(*backend_);
  over = true;
  player.join();
  EXPECT_EQ(removed, tl::unexpected(Error{EBUSY, "backend soft", "remove classify: busy"}));
  EXPECT_FALSE(view.ports["none7"].rules);
}

TEST_F(SoftClient, EndTellsOfEachChangeWhatCameOfIt) {
  open_with({.ports = {{"swp7", {}}, {"swp8", {}}}});
  backend_->apply({.ports = {planned(kSeven), planned(kEight)}});
  say(soft::Done{.id = asked_to_set().id});
  pass(20ms);
  switch_ = UniqueFd();
  ASSERT_TRUE(until([&] { return outcomes_.size() == 2; }));
  EXPECT_EQ(down(), "the switch at " + path_ + " has ended");
  EXPECT_EQ(outcomes_[0].port, kSeven.ifindex);
  EXPECT_FALSE(outcomes_[0].why) << "it was done";
  EXPECT_EQ(outcomes_[1].port, kEight.ifindex);
  EXPECT_EQ(outcomes_[1].why, backend_->down());
  EXPECT_EQ(outcomes_[1].refused, (Change{Action::kAdd, Part::kClassify}));
  EXPECT_THAT(changed_, testing::Contains(Ifindex()));
  answer(soft::View{});
  EXPECT_TRUE(until([&] { return !backend_->down(); }));
  EXPECT_EQ(outcomes_.size(), 2U) << "each once";
}

// It goes on telling what there is, and the port would get no other rules for good.
TEST_F(SoftClient, ChangeThatIsNeverAnsweredIsAHang) {
  const soft::View view{.ports = {{"swp7", {}}}};
  open_with(view, {.period = 10ms, .answer = 100ms});
  backend_->apply({.ports = {planned(kSeven)}});
  ASSERT_TRUE(until([&] {
    if (asked() == soft::Request(soft::Read{})) say(view);
    return !outcomes_.empty();
  }));
  EXPECT_EQ(down(), "the switch at " + path_ + " does not answer");
  EXPECT_EQ(outcomes_[0].why, backend_->down());
}

TEST_F(SoftClient, PlanThatChangesNothingAndOneForASwitchThatIsAwayAreAnsweredAtOnce) {
  open({.period = 9s});
  ASSERT_TRUE(until([&] { return asked().has_value(); }));
  PortPlan plan{.port = kSeven, .want = rules_of(Order::kUp)};
  backend_->apply({.ports = {{.port = kEight}}});
  ASSERT_TRUE(until([&] { return outcomes_.size() == 1; }));
  EXPECT_TRUE(outcomes_[0].why);
  say(soft::View{.ports = {{"swp7", {.rules = plan.want}}}});
  ASSERT_TRUE(until([&] { return !backend_->down(); }));
  EXPECT_EQ(backend_->plan(kSeven, *plan.want).value(), plan);
  backend_->apply({.ports = {plan}});  // the first on this connection
  say(soft::Done{.id = asked_to_set().id});
  answer(soft::View{.ports = {{"swp7", {.rules = plan.want}}}});
  ASSERT_TRUE(until([&] { return outcomes_.size() == 2; }));
  backend_->apply({.ports = {plan}});
  ASSERT_TRUE(until([&] { return outcomes_.size() == 3; }));
  EXPECT_FALSE(outcomes_[2].why);
}

TEST_F(SoftClient, HangIsToldThoughChangesAreAskedForMeanwhile) {
  open_with({}, {.period = 10ms, .answer = 60ms});
  int changes = 0;
  ASSERT_TRUE(until([&] {
    if (!backend_->down() && ++changes < 200) backend_->apply({.ports = {planned(kSeven)}});
    return backend_->down().has_value();
  }));
  EXPECT_EQ(down(), "the switch at " + path_ + " does not answer");
  EXPECT_LT(changes, 200);
  ASSERT_TRUE(until([&] { return outcomes_.size() == static_cast<std::size_t>(changes); }));
  while (asked() && connections_ == 1) {
  }
  answer(soft::View{});
  EXPECT_TRUE(until([&] { return !backend_->down(); }));
  EXPECT_EQ(connections_, 2) << "the answers of before are no answers";
}

TEST_F(SoftClient, SwitchThatTakesNothingMoreIsToldAndEveryChangeAnswered) {
  open_with({}, {.period = 9s, .answer = 9s});
  std::size_t changes = 0;
  for (; !backend_->down() && changes < 10'000; ++changes)
    backend_->apply({.ports = {planned(kSeven)}});
  EXPECT_EQ(down(), "the switch cannot be asked: Resource temporarily unavailable");
  EXPECT_TRUE(until([&] { return outcomes_.size() == changes; })) << outcomes_.size();
  for (const Outcome& outcome : outcomes_) EXPECT_TRUE(outcome.why);
}

TEST_F(SoftClient, MessageThatIsNoneEndsTheConnection) {
  open_with({});
  say("{");
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  EXPECT_EQ(down(), "a message that is none of ours");
  answer(soft::View{});
  EXPECT_TRUE(until([&] { return !backend_->down(); }));
  EXPECT_EQ(connections_, 2);
}

// Frames, timers and whoever asks have their turns too.
TEST_F(SoftClient, SwitchThatFloodsHasItsShareOfATurn) {
  open_with({}, {.period = 9s, .answer = 9s});
  const std::string done = soft::format(soft::Answer(soft::Done{}));
  EXPECT_GT(fill(switch_.get(), done), 64U);
  (void)backend_->take_events();
  EXPECT_LE(fill(switch_.get(), done), 16U);
  EXPECT_EQ(down(), "");
}

TEST_F(SoftClient, SwitchThatStaysAwayIsToldOnceAndComesBack) {
  listener_ = UniqueFd();
  open();
  EXPECT_EQ(down(), "there is no switch at " + path_ + ": Connection refused");
  EXPECT_EQ(backend_->down()->code, ECONNREFUSED);
  pass(150ms);
  EXPECT_THAT(changed_, ElementsAre(Ifindex()));
  ::unlink(path_.c_str());
  pass(50ms);
  EXPECT_EQ(down(), "there is no switch at " + path_ + ": No such file or directory");
  EXPECT_EQ(backend_->down()->code, ENOENT);
  EXPECT_THAT(changed_, ElementsAre(Ifindex(), Ifindex())) << "that is news";
  listener_ = socket_at(path_, SOCK_SEQPACKET, 8);
  answer(soft::View{});
  EXPECT_TRUE(until([&] { return !backend_->down(); }));
}

TEST_F(SoftClient, SwitchThatEndsAgainAndAgainIsTriedOnceAPeriod) {
  open({.period = 100ms});
  const auto end = Clock::now() + 450ms;
  while (Clock::now() < end) {
    (void)asked();
    switch_ = UniqueFd();
    turn();
  }
  EXPECT_GE(connections_, 2);
  EXPECT_LE(connections_, 6) << "at once after the news, and then every period";
}

TEST_F(SoftClient, WhoIsPatientIsAnsweredByASwitchThatIsBusy) {
  Options options{.soft = {.socket = path_}};
  options.be_patient();
  std::thread busy([this] {
    pollfd come{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    ::poll(&come, 1, 10'000);
    std::this_thread::sleep_for(400ms);
    while (!asked()) std::this_thread::yield();
    say(soft::View{});
  });
  const auto begun = Clock::now();
  const auto opened = make_backend("soft", options);
  busy.join();
  ASSERT_TRUE(opened);
  EXPECT_FALSE((*opened)->down());
  EXPECT_LT(Clock::now() - begun, kPatience);
}

TEST_F(SoftClient, BouncesAreThoseOfThePort) {
  soft::View view{.ports = {{"swp7", {}}, {"swp8", {}}}};
  view.ports["swp7"].bounces = {1, 2, 3, 4, 5, 6, 7, 8};
  open_with(view);
  EXPECT_EQ(backend_->bounces(kSeven.ifindex).value(), view.ports["swp7"].bounces);
  EXPECT_EQ(backend_->bounces(kEight.ifindex).value(), Bounces{});
  EXPECT_EQ(backend_->bounces(Ifindex::of<9>()).value(), Bounces{});
}

}  // namespace
}  // namespace lldp::dataplane
