// SPDX-License-Identifier: Apache-2.0
// Every call that the kernel is asked, refused once, or all from there on: it is said or makes no
// difference, and the next attempt makes it good.
#include <poll.h>

#include <filesystem>

#include "dataplane/bpf/interfaces.hpp"
#include "tests/dataplane/bpf_fixture.hpp"

namespace lldp::dataplane {
namespace {

using testing::HasSubstr;
using testing::Not;

class BpfRefusal : public BpfBackend {
 protected:
  /// Makes the change with one call refused, or all from that one on. Where that is said, makes it
  /// again, by the same daemon's eyes or another's. False: there are not so many calls.
  bool heals(int call, Refuse which, const std::function<Result<void>()>& change) {
    refuse_call = {call, which};
    auto done = change();
    const bool refused = std::exchange(refuse_call, {}).left <= 0;
    if (!done) {
      EXPECT_THAT(done.error().what, HasSubstr("Cannot allocate memory"));
      if (another_heals_) {
        backend_ = nullptr;
        backend_ = open();
      }
      eventually([&] { return (done = change()).has_value(); });
      EXPECT_TRUE(done) << to_string(done.error());
    }
    return refused;
  }
  /// A link that could not be detached goes with its file: an RCU grace period after that.
  static bool eventually(const std::function<bool()>& holds) {
    for (int i = 0; i < 1000; ++i) {
      if (holds()) return true;
      ::poll(nullptr, 0, 1);
    }
    return false;
  }
  Result<void> put_both() {
    for (const auto& [port, order] : {std::pair(p0_, Order::kUp), std::pair(p1_, Order::kUp)}) {
      const auto plan = backend_->plan(ref(port), rules_of(order));
      if (!plan) return fail(plan.error());
      if (auto done = finish(*backend_, *plan); !done) return done;
    }
    return {};
  }
  void expect_rules() {
    for (const Ifindex port : {p0_, p1_}) {
      const auto reading = backend_->verify(ref(port), rules_of(Order::kUp));
      ASSERT_TRUE(reading) << to_string(reading.error());
      for (const PartReading& part : reading->parts) {
        if (part.part == Part::kPfc || (part.part == Part::kQueues && !queues_)) continue;
        EXPECT_EQ(part.state, PartState::kDone) << to_string(part.part) << " " << part.text;
      }
    }
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  }
  void expect_nothing(Refuse which) {
    EXPECT_EQ(output_of("for p in p0 p1; do for way in ingress egress; do "
                        "echo filter show dev $p $way; done; done | tc -batch -"),
              "");
    const std::string qdiscs = output_of("tc qdisc show");
    EXPECT_THAT(qdiscs, Not(HasSubstr("htb")));
    if (which == Refuse::kOne) {  // made right before all is refused, it cannot be taken back
      EXPECT_THAT(qdiscs, Not(HasSubstr("clsact")));
    }
    if (bpf::has_tcx()) {
      for (const Ifindex port : {p0_, p1_})
        for (const Part part : {Part::kClassify, Part::kRemap})
          EXPECT_TRUE(eventually([&] { return bpf::tcx_chain(port, part)->program_ids.empty(); }));
    }
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  }
  void expect_to_heal(Refuse which) {
    bridge();
    int call = 0;
    for (bool more = true; more && !HasFailure();) {
      SCOPED_TRACE("call " + std::to_string(++call));
      backend_ = nullptr;
      backend_ = open();
      more = heals(call, which, [this] { return put_both(); });
      expect_rules();
      more |= heals(call, which, [this] { return remove_all(*backend_); });
      expect_nothing(which);
    }
    EXPECT_GT(call, 10);
  }

  const bool queues_ = GetParam() == Means::kClsactAndQueues;
  bool another_heals_ = true;
};

TEST_P(BpfRefusal, AnyCallThatIsRefusedIsSaidAndHeals) { expect_to_heal(Refuse::kOne); }
TEST_P(BpfRefusal, AKernelThatRefusesAllFromSomeCallOnIsSaidAndHeals) {
  expect_to_heal(Refuse::kAllFromThere);
}

TEST_P(BpfRefusal, TheSameDaemonMakesGoodWhatWasRefusedIt) {
  another_heals_ = false;
  expect_to_heal(Refuse::kOne);
}

// The rules stay where they are, or move; packets are changed once in any case.
TEST_P(BpfRefusal, AMoveThatIsRefusedInPartLosesNoRule) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "nothing moves but to TCX";
  bridge();
  int call = 0;
  for (bool more = true; more && !HasFailure();) {
    SCOPED_TRACE("call " + std::to_string(++call));
    backend_ = nullptr;
    backend_ = open(Means::kAuto);
    put(Order::kUp, Order::kUp);
    refuse_call = {call, Refuse::kOne};
    const bool moved = bpf().migrate(p1_);
    more = std::exchange(refuse_call, {}).left <= 0;
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
    EXPECT_TRUE(moved || more);
    backend_ = nullptr;  // and whoever comes then finds them, on either hook or both
    backend_ = open(Means::kAuto);
    put(Order::kUp, Order::kUp);
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
    EXPECT_TRUE(remove_all(*backend_));
    expect_nothing(Refuse::kOne);
  }
  EXPECT_GT(call, 10);
}

// What could not be read is not told as if it had been.
TEST_P(BpfRefusal, ReadingThatIsRefusedInPartIsNone) {
  const auto read_with_refusals = [this] {
    for (const Ifindex port : {p0_, p1_}) {
      const auto right = backend_->verify(ref(port), rules_of(Order::kUp));
      ASSERT_TRUE(right) << to_string(right.error());
      int call = 0;
      for (bool more = true; more;) {
        SCOPED_TRACE("call " + std::to_string(++call));
        refuse_call = {call, Refuse::kOne};
        const auto reading = backend_->verify(ref(port), rules_of(Order::kUp));
        more = std::exchange(refuse_call, {}).left <= 0;
        EXPECT_TRUE(!reading || reading->parts == right->parts);
      }
      EXPECT_GT(call, 3);
    }
  };
  put(Order::kUp, Order::kUp);
  read_with_refusals();
  flush();
  ASSERT_TRUE(sh("tc qdisc add dev p0 ingress"));
  read_with_refusals();
  EXPECT_TRUE(sh("tc qdisc del dev p0 ingress"));
}

// What was not read at one look is read at the next one.
TEST_P(BpfRefusal, ALookAtWhatStandsOnAPortThatIsRefusedHeals) {
  put(Order::kUp, Order::kUp);
  ASSERT_TRUE(sh("ip link add link p0 name m0 type macvlan mode bridge"));
  const auto look = [this] {
    backend_->links_changed();
    return backend_->verify(ref(p0_), rules_of(Order::kUp));
  };
  const auto right = look();
  ASSERT_TRUE(right) << to_string(right.error());
  int call = 0;
  for (bool more = true; more;) {
    SCOPED_TRACE("call " + std::to_string(++call));
    refuse_call = {call, Refuse::kOne};
    const auto refused = look();
    more = std::exchange(refuse_call, {}).left <= 0;
    EXPECT_TRUE(!refused || refused->parts == right->parts);
    const auto reading = look();
    ASSERT_TRUE(reading) << to_string(reading.error());
    EXPECT_EQ(reading->parts, right->parts);
  }
  EXPECT_GT(call, 3);
  EXPECT_TRUE(sh("ip link del m0"));
}

// nftables names interfaces by the names that they had when it was read.
TEST_P(BpfRefusal, ANewNameIsToldThoughTheReadIsRefusedInPart) {
  ASSERT_TRUE(sh("ip link add link p0 name m0 type macvlan mode bridge"));
  auto reader = TcSocket::open();
  auto filters = TcSocket::open();
  ASSERT_TRUE(reader && filters);
  bpf::Programs programs(std::nullopt);
  const std::set<Ifindex> ports{p0_, p1_};
  bpf::Clsact clsact(std::move(*filters), programs);
  bpf::Interfaces interfaces(*reader, programs, ports);
  interfaces.set_filters(clsact);
  ASSERT_TRUE(interfaces.read());
  int call = 0;
  for (bool more = true; more;) {
    SCOPED_TRACE("call " + std::to_string(++call));
    ASSERT_TRUE(sh(call % 2 == 1 ? "ip link set m0 name m1" : "ip link set m1 name m0"));
    interfaces.expire();
    refuse_call = {call, Refuse::kOne};
    auto renamed = interfaces.read();
    more = std::exchange(refuse_call, {}).left <= 0;
    if (!renamed) renamed = interfaces.read();
    EXPECT_TRUE(renamed && *renamed);
  }
  EXPECT_GT(call, 2);
  EXPECT_TRUE(sh(call % 2 == 1 ? "ip link del m1" : "ip link del m0"));
}

// Others take away what is ours between our look and our request: then it is gone, as was wanted.
TEST_P(BpfRefusal, WhatIsGoneMeanwhileIsNoFailure) {
  if (GetParam() == Means::kTcx) GTEST_SKIP() << "no filters there";
  const auto take_all = [this](int type, const std::string& command) {
    put(Order::kUp, Order::kUp);
    bool happened = false;
    meanwhile = {type, [&] { happened = sh(command); }};
    const auto done = remove_all(*backend_);
    EXPECT_TRUE(done) << command << ": " << to_string(done.error());
    meanwhile = {};
    EXPECT_TRUE(happened) << command;
    expect_nothing(Refuse::kOne);
  };
  bridge();
  for (const char* port : {"p0", "p1"}) {
    const std::string name = port;
    take_all(RTM_DELTFILTER, "tc filter del dev " + name + " ingress");
    take_all(RTM_DELTFILTER, "tc qdisc del dev " + name + " clsact");
    take_all(RTM_DELQDISC, "tc qdisc del dev " + name + " clsact");
  }
  take_all(RTM_DELQDISC, "tc qdisc del dev p0 clsact && tc qdisc add dev p0 ingress");
  EXPECT_THAT(output_of("tc qdisc show dev p0"), HasSubstr("ingress"));
  EXPECT_TRUE(sh("tc qdisc del dev p0 ingress"));
}

INSTANTIATE_TEST_SUITE_P(On, BpfRefusal,
                         testing::Values(Means::kAuto, Means::kClsact, Means::kClsactWithoutBpffs,
                                         Means::kClsactAndQueues, Means::kTcx),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace lldp::dataplane
