// SPDX-License-Identifier: Apache-2.0
// A software queue for each lossless priority.
#include "tests/dataplane/bpf_fixture.hpp"

namespace lldp::dataplane {
namespace {

using packet::frame4;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The numbers of packets that HTB's classes on p1 have sent, by minor number, but for those at 0.
std::string sent_by_class() {
  return output_of(
      "tc -s class show dev p1 | "
      "awk '/^class htb/ {c = $3} / Sent / && $4 > 0 {printf \"%s %s,\", c, $4}'");
}

using BpfQueues = BpfBackend;
INSTANTIATE_TEST_SUITE_P(On, BpfQueues, testing::Values(Means::kClsactAndQueues),
                         testing::PrintToStringParamName());

TEST_P(BpfQueues, PrioritiesAreCountedApart) {
  bridge();
  put(Order::kUp, Order::kUp);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(through(across4({.dscp = 43})));  // leaves with 6
  EXPECT_TRUE(through(across4({.dscp = 51})));                              // lossy
  put(Order::kDown, Order::kUp);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(through(across4({.dscp = 43})));
  EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:16 3,"));
  EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:15 2,"));
  EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:1f "));
}

TEST_P(BpfQueues, AreMadeOnceFoundAgainAndTakenAway) {
  const std::string before = output_of("tc qdisc show dev p1");
  EXPECT_EQ(backend_->plan(ref(p1_), rules_of(Order::kUp))->changes.back(),
            (Change{Action::kAdd, Part::kQueues}));
  put(Order::kUp, Order::kUp);
  EXPECT_TRUE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty());
  backend_ = open();
  EXPECT_TRUE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty());
  const auto other =
      qos::compile(*qos::Policy::parse("3:dscp26", "0:dscp0"), {.order = Order::kUp});
  put(p1_, other);
  EXPECT_TRUE(backend_->plan(ref(p1_), other)->empty());
  EXPECT_THAT(output_of("tc class show dev p1"),
              AllOf(HasSubstr("4c4c:13 "), Not(HasSubstr("4c4c:15 "))));
  // Without its filter the tree is not whole.
  ASSERT_TRUE(sh("tc filter del dev p1 parent 4c4c:"));
  EXPECT_THAT(backend_->plan(ref(p1_), other)->changes,
              ElementsAre(Change{Action::kReplace, Part::kQueues}));
  put(p1_, other);
  flush();
  EXPECT_EQ(output_of("tc qdisc show dev p1"), before);
}

// And so they are taken away, where nobody wants rules on that port any more.
TEST_P(BpfQueues, AreFoundWhereNothingElseOfOursIsLeft) {
  const std::string before = output_of("tc qdisc show dev p1");
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  ASSERT_TRUE(sh("tc qdisc del dev p1 clsact"));
  backend_ = open();
  EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p0_, p1_));
  flush();
  EXPECT_EQ(output_of("tc qdisc show dev p1"), before);
}

TEST_P(BpfQueues, OfWhichAPartIsGoneAreMadeAnew) {
  put(Order::kUp, Order::kUp);
  for (const char* gone : {"filter del dev p1 parent 4c4c:", "class del dev p1 classid 4c4c:1f",
                           "class del dev p1 classid 4c4c:16"}) {
    ASSERT_TRUE(sh(std::string("tc ") + gone)) << gone;
    EXPECT_THAT(backend_->plan(ref(p1_), rules_of(Order::kUp))->changes,
                Contains(testing::Field(&Change::part, Part::kQueues)))
        << gone;
    put(Order::kUp, Order::kUp);
    EXPECT_TRUE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty()) << gone;
  }
}

TEST_P(BpfQueues, WhichAnotherHasChangedAreMadeAnew) {
  put(Order::kUp, Order::kUp);
  const std::string ours = output_of("tc class show dev p1");
  for (const char* change :
       {"class change dev p1 parent 4c4c: classid 4c4c:16 htb rate 1mbit",
        "class change dev p1 parent 4c4c: classid 4c4c:1f htb rate 1000gbit ceil 1gbit",
        "class change dev p1 parent 4c4c: classid 4c4c:15 htb rate 1000gbit prio 3",
        "class add dev p1 parent 4c4c: classid 4c4c:77 htb rate 1mbit",
        "filter add dev p1 parent 4c4c: pref 9 protocol all u32 match u32 0 0 classid 4c4c:1f"}) {
    ASSERT_TRUE(sh(std::string("tc ") + change)) << change;
    EXPECT_THAT(backend_->plan(ref(p1_), rules_of(Order::kUp))->changes,
                ElementsAre(Change{Action::kReplace, Part::kQueues}))
        << change;
    put(Order::kUp, Order::kUp);
    EXPECT_TRUE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty()) << change;
    EXPECT_EQ(output_of("tc class show dev p1"), ours) << change;
  }
}

TEST_P(BpfQueues, GoWhenNoLongerAskedFor) {
  put(Order::kUp, Order::kUp);
  backend_ = open(Means::kClsactWithoutBpffs);
  EXPECT_THAT(backend_->plan(ref(p1_), rules_of(Order::kUp))->changes,
              Contains(Change{Action::kRemove, Part::kQueues}));
  put(Order::kUp, Order::kUp);
  EXPECT_THAT(output_of("tc qdisc show dev p1"), Not(HasSubstr("htb")));
}

TEST_P(BpfQueues, HalfFailedApplyLeavesABarePortBare) {
  const std::string before = output_of("tc qdisc show dev p1");
  const auto plan = backend_->plan(ref(p1_), rules_of(Order::kUp));
  ASSERT_TRUE(plan);
  for (int type : {RTM_NEWTCLASS, RTM_NEWTFILTER}) {
    const Refusal refusal(type, type == RTM_NEWTCLASS ? 2 : 3);  // the third filter is the tree's
    const auto done = finish(*backend_, *plan);
    ASSERT_FALSE(done);
    EXPECT_THAT(to_string(done.error()), testing::StartsWith("p1: add queues: "));
    EXPECT_EQ(output_of("tc qdisc show dev p1"), before);
    EXPECT_THAT(filters_of("p1"), IsEmpty());
  }
}

TEST_P(BpfQueues, RoutedPacketsLeaveInTheQueueOfTheirClass) {
  route();
  for (Order out : {Order::kDown, Order::kUnknown}) {
    backend_ = open(Means::kClsactWithoutBpffs);
    put(p1_, rules_of(out));
    backend_ = open();
    put(Order::kDown, out);
    // q1 is of the same router, which would send them round until their time is up.
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(through(frame4({.dscp = 43, .ttl = 2})));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(through(frame4({.dscp = 51, .ttl = 2})));
    // AF12, AF42, VOICE-ADMIT, NQB: forwarding takes their TOS for an interactive one's, 6.
    for (unsigned dscp : {12U, 36U, 44U, 45U})
      EXPECT_TRUE(through(frame4({.dscp = dscp, .ttl = 2})));
    EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:15 5,")) << to_string(out);
    EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:16 3,")) << to_string(out);
  }
}

TEST_P(BpfQueues, PacketsThatLoseTheirClassOnTheWayWaitInNoQueueOfLosslessOnes) {
  bridge();
  put(Order::kUp, Order::kUp);
  if (!sh("nft 'add table bridge t; add chain bridge t c { type filter hook forward priority 0; }; "
          "add rule bridge t c ip dscp set 10' 2>/dev/null"))
    GTEST_SKIP() << "this kernel has no nftables for bridges";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(through(across4({.dscp = 43})));
  sh("nft delete table bridge t");
  EXPECT_THAT(sent_by_class(), AllOf(HasSubstr("4c4c:1f "), Not(HasSubstr("4c4c:15 "))));
}

TEST_P(BpfQueues, QdiscOfAnotherStays) {
  ASSERT_TRUE(sh("tc qdisc add dev p1 root handle 1: htb default 10"));
  put(Order::kUp, Order::kUp);
  EXPECT_THAT(output_of("tc qdisc show dev p1"), HasSubstr("htb 1: root"));
  EXPECT_THAT(backend_->description(),
              HasSubstr("htb queues except where a qdisc was configured (1 ports)"));
  flush();
  EXPECT_THAT(output_of("tc qdisc show dev p1"), HasSubstr("htb 1: root"));
}

}  // namespace
}  // namespace lldp::dataplane
