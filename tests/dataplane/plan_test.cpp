// SPDX-License-Identifier: Apache-2.0
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <set>
#include <sstream>

#include "dataplane/factory.hpp"
#include "dataplane/port_numbers.hpp"
#include "os/fd.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/fake_backend.hpp"

namespace lldp::dataplane {
namespace {

const PortRef kPort{Ifindex::of<7>(), "swp7"};

std::unique_ptr<Backend> print_to(std::ostream& out) {
  return *make_backend("print", {.print = {.out = &out}});
}

TEST(Print, WritesChangesThenRules) {
  std::ostringstream out;
  auto print = print_to(out);
  ASSERT_TRUE(finish(*print, *print->plan(kPort, rules_of(Order::kUp))));
  EXPECT_EQ(out.str(),
            "swp7 add classify\n"
            "swp7 add remap\n"
            "swp7 is up\n"
            "swp7 ingress dscp43 -> priority 5\n"
            "swp7 ingress dscp51 -> priority 6\n"
            "swp7 ingress tag 1\n"
            "swp7 egress turn 5:dscp43 -> 6:dscp51\n"
            "swp7 egress turn 6:dscp51 -> 0:dscp0\n"
            "swp7 priority 5 needs PFC, which is not set here\n"
            "swp7 priority 6 needs PFC, which is not set here\n");
}

TEST(Print, WritesOnlyWhatDiffers) {
  std::ostringstream out;
  auto print = print_to(out);
  ASSERT_TRUE(finish(*print, *print->plan(kPort, rules_of(Order::kUp))));
  out.str({});
  ASSERT_TRUE(finish(*print, *print->plan(kPort, rules_of(Order::kUp))));
  EXPECT_EQ(out.str(), "");
  ASSERT_TRUE(finish(*print, *print->plan_removal(kPort)));
  EXPECT_EQ(out.str(), "swp7 remove classify\nswp7 remove remap\n");
}

TEST(Print, SaysThatItCouldNotWrite) {
  std::ostringstream out;
  auto print = print_to(out);
  out.setstate(std::ios::badbit);
  EXPECT_EQ(finish(*print, *print->plan(kPort, rules_of(Order::kUp))),
            tl::unexpected(
                Error{EIO, "swp7", "the plan could not be written: check where the output goes"}));
}

TEST(Factory, NamesTheBackEndsItKnows) {
  EXPECT_EQ(make_backend("nft", {}).error(),
            (Error{0, "backend",
                   "nft is not known: use one of bpf, dcb, flower, print, sai, soft, sonic"}));
}

TEST(Finish, OfSeveralRefusalsTellsTheFirst) {
  FakeKernel kernel{.refuse_all = "no"};
  FakeBackend backend(kernel);
  Plan plan;
  for (const PortRef& port : {PortRef{Ifindex::of<7>(), "7"}, PortRef{Ifindex::of<8>(), "8"}})
    plan.ports.push_back(*backend.plan(port, rules_of(Order::kUp)));
  const auto done = finish(backend, plan);
  ASSERT_FALSE(done);
  EXPECT_EQ(to_string(done.error()), "7: add classify: no");
}

/// Always has something to say, and of `answering` an answer every now and then.
class Chatterer : public FakeBackend {
 public:
  explicit Chatterer(FakeKernel& kernel, std::deque<Ifindex> answering = {})
      : FakeBackend(kernel), answering_(std::move(answering)) {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(fd_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  [[nodiscard]] int events() const override { return fd_.get(); }
  [[nodiscard]] Events take_events() override {
    Events events{.changed = {kPort.ifindex}};
    if (answering_.empty() || std::chrono::steady_clock::now() < next_) return events;
    next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(60);
    events.outcomes.push_back({.port = answering_.front()});
    answering_.pop_front();
    return events;
  }

 private:
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC)};
  std::deque<Ifindex> answering_;
  std::chrono::steady_clock::time_point next_{};
};

TEST(WaitFor, AnswersThatDoNotComeAreWaitedForNoLongerThanItsPatienceWhateverElseComes) {
  FakeKernel kernel;
  Chatterer backend(kernel, {Ifindex::of<9>()});
  const auto done = wait_for(backend, {kPort.ifindex}, std::chrono::milliseconds(30));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), (Error{ETIMEDOUT, "backend fake",
                                 "does not answer: whether the change was made is not known"}));
  FakeBackend mute(kernel);
  kernel.slow = true;
  EXPECT_FALSE(wait_for(mute, {kPort.ifindex}, std::chrono::milliseconds(30)));
}

TEST(WaitFor, EachAnswerIsASignOfLife) {
  FakeKernel kernel;
  const std::set<Ifindex> ports = {Ifindex::of<1>(), Ifindex::of<2>(), Ifindex::of<3>(),
                                   Ifindex::of<4>()};
  Chatterer backend(kernel, {ports.begin(), ports.end()});
  EXPECT_TRUE(wait_for(backend, ports, std::chrono::milliseconds(150)));
}

// A port that vanishes meanwhile neither fails a removal nor hides why another port's did.
TEST(RemoveAll, GoesOnBehindARefusalAndTellsItWhateverVanishes) {
  const PortRef other{Ifindex::of<8>(), "swp8"};
  const PortRef third{Ifindex::of<9>(), "swp9"};
  for (const bool vanishes : {false, true}) {
    FakeKernel kernel;
    FakeBackend fake(kernel);
    for (const PortRef& port : {kPort, other, third})
      ASSERT_TRUE(finish(fake, *fake.plan(port, rules_of(Order::kUp))));
    if (vanishes) kernel.vanished = {kPort.ifindex};
    kernel.fail_at_write = kernel.writes + (vanishes ? 0 : 2);
    EXPECT_EQ(remove_all(fake), tl::unexpected(Error{EPERM, "8", "remove classify: refused"}));
    EXPECT_EQ(kernel.installed.contains({kPort.ifindex, Part::kRemap}), vanishes);
    EXPECT_TRUE(kernel.installed.contains({other.ifindex, Part::kRemap}));
    EXPECT_FALSE(kernel.installed.contains({third.ifindex, Part::kRemap}));
    kernel.fail_at_write = -1;
    EXPECT_TRUE(remove_all(fake));
    EXPECT_FALSE(kernel.installed.contains({other.ifindex, Part::kRemap}));
  }
}

TEST(RemoveAll, SaysThatItCouldNotReadWhichPortsHaveRules) {
  FakeKernel kernel;
  FakeBackend fake(kernel);
  ASSERT_TRUE(finish(fake, *fake.plan(kPort, rules_of(Order::kUp))));
  kernel.unread = Error{ENOBUFS, "rtnetlink", "no room"};
  EXPECT_EQ(remove_all(fake), tl::unexpected(*kernel.unread));
  EXPECT_FALSE(kernel.installed.empty());
}

TEST(RemoveAll, BelievesNobodyWhoKeepsTheRules) {
  FakeKernel kernel;
  FakeBackend fake(kernel);
  ASSERT_TRUE(finish(fake, *fake.plan(kPort, rules_of(Order::kUp))));
  kernel.keeps = true;
  EXPECT_EQ(remove_all(fake),
            tl::unexpected(Error{0, "7",
                                 "the rules are still there, though backend fake reported their "
                                 "removal: find the program that reinstalls them"}));
  kernel.keeps = false;
  EXPECT_TRUE(remove_all(fake));
}

// What comes of a change is told by the number.
TEST(PortNumbers, AreOfEachPortItsOwnThoughNoneHasAnInterface) {
  PortNumbers numbers;
  const auto ports = numbers.ports({"lo", "no-such-1", "no-such-2"});
  ASSERT_EQ(ports.size(), 3U);
  EXPECT_EQ(ports[0], (PortRef{Ifindex::of<1>(), "lo"}));
  EXPECT_TRUE(has_interface(ports[0].ifindex));
  EXPECT_EQ(ports[1].name, "no-such-1") << "in their order";
  EXPECT_NE(ports[1].ifindex, ports[2].ifindex);
  EXPECT_FALSE(has_interface(ports[1].ifindex) || has_interface(ports[2].ifindex));
  EXPECT_EQ(numbers.ports({"no-such-2", "no-such-1", "lo"}), ports);
  // One has come, and whoever knew it before asks about it once more.
  const PortRef come{Ifindex::of<42>(), ports[1].name};
  numbers.note(come);
  numbers.note(ports[1]);
  EXPECT_EQ(numbers.find(come.name), come.ifindex);
}

TEST(Fake, UndoesWhatItDidWhenAWriteIsRefused) {
  FakeKernel kernel;
  FakeBackend fake(kernel);
  kernel.fail_at_write = 1;
  const auto done = finish(fake, *fake.plan(kPort, rules_of(Order::kUp)));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "add remap: refused");
  EXPECT_TRUE(kernel.installed.empty());
}

}  // namespace
}  // namespace lldp::dataplane
