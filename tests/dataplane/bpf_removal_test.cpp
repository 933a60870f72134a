// SPDX-License-Identifier: Apache-2.0
// What is taken away, and what is left when a change fails half-way.
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <sys/wait.h>

#include <filesystem>

#include "tests/dataplane/bpf_fixture.hpp"

namespace lldp::dataplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_P(BpfBackend, FlushRemovesExactlyWhatWeMade) {
  ASSERT_TRUE(sh("tc qdisc add dev p0 clsact"));
  put(Order::kUp, Order::kUp);
  flush();
  EXPECT_THAT(numbers_of(*backend_->ports()), IsEmpty());
  EXPECT_THAT(output_of("tc qdisc show dev p0"), HasSubstr("clsact"));
  EXPECT_THAT(output_of("tc qdisc show dev p1"), Not(HasSubstr("clsact")));
  EXPECT_THAT(output_of("tc filter show dev p0 ingress; tc filter show dev p0 egress"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(PrivateNet::bpffs() + "/lldp-level"));
}

TEST_P(BpfBackend, ClsactThatAStrangerCameToNeedStays) {
  if (GetParam() == Means::kTcx) GTEST_SKIP() << "no qdisc is made";
  put(Order::kUp, Order::kUp);
  ASSERT_TRUE(sh("tc filter add dev p1 egress prio 100 protocol all u32 match u32 0 0 flowid 1:7"));
  flush();
  EXPECT_THAT(output_of("tc filter show dev p1 egress"), HasSubstr("u32"));
  EXPECT_THAT(output_of("tc qdisc show dev p0"), Not(HasSubstr("clsact")));
}

TEST_P(BpfBackend, VanishedPortLeavesNothingBehind) {
  put(Order::kUp, Order::kUp);
  ASSERT_TRUE(sh("ip link del p0"));
  backend_ = nullptr;
  backend_ = open();
  EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p1_));
  backend_->forget(p0_);
  EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p1_));
  flush();
  EXPECT_FALSE(std::filesystem::exists(PrivateNet::bpffs() + "/lldp-level"));
}

TEST_P(BpfBackend, HalfFailedApplyLeavesABarePortBare) {
  if (GetParam() == Means::kTcx) GTEST_SKIP() << "rtnetlink has no part in it";
  const auto plan = backend_->plan(ref(p1_), rules_of(Order::kUp));
  ASSERT_TRUE(plan);
  for (int n : {1, 2}) {  // the filter at ingress, and the one at egress
    const Refusal refusal(RTM_NEWTFILTER, n);
    const auto done = finish(*backend_, *plan);
    if (GetParam() == Means::kAuto && bpf::has_tcx()) {  // which takes what is refused
      EXPECT_TRUE(done);
      EXPECT_TRUE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty());
      flush();
      continue;
    }
    ASSERT_FALSE(done);
    EXPECT_EQ(to_string(done.error()), std::string("p1: add ") + (n == 1 ? "classify" : "remap") +
                                           ": RTM_NEWTFILTER: Cannot allocate memory");
    EXPECT_THAT(filters_of("p1"), IsEmpty());
    EXPECT_THAT(output_of("tc qdisc show dev p1"), Not(HasSubstr("clsact")));
    EXPECT_EQ(backend_->plan(ref(p1_), rules_of(Order::kUp))->changes, plan->changes);
  }
  put(p1_, rules_of(Order::kUp));
}

TEST_P(BpfBackend, HalfFailedApplyLeavesThePortAsItWas) {
  if (GetParam() == Means::kClsactWithoutBpffs)
    GTEST_SKIP() << "programs of another daemon cannot be had again where nothing is pinned";
  put(p1_, rules_of(Order::kUp));
  const std::string before =
      output_of("tc filter show dev p1 ingress; tc filter show dev p1 egress");
  // The third part, queues, is refused: a root qdisc appeared after the plan was made.
  auto queued = make_backend(
      "bpf", {.bpf = {.bpffs = GetParam() == Means::kClsactWithoutBpffs ? "/nonexistent"
                                                                        : PrivateNet::bpffs(),
                      .hook = hook_of(GetParam()),
                      .queues = true}});
  ASSERT_TRUE(queued);
  const auto plan = (*queued)->plan(ref(p1_), rules_of(Order::kDown));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->changes.size(), 3U);
  ASSERT_TRUE(sh("tc qdisc add dev p1 root handle 1: pfifo"));
  const auto done = finish(**queued, *plan);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), testing::StartsWith("p1: add queues: RTM_NEWQDISC: "));
  EXPECT_TRUE((*queued)->plan(ref(p1_), rules_of(Order::kUp))->empty());
  EXPECT_EQ(output_of("tc filter show dev p1 ingress; tc filter show dev p1 egress"), before);
  EXPECT_THAT(output_of("tc qdisc show dev p1"), HasSubstr("pfifo 1: root"));
}

TEST(BpfErrors, IngressQdiscInOurPlace) {
  if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
  sh("ip link del p0 2>/dev/null");
  ASSERT_TRUE(sh("ip link add p0 type veth peer name q0 && tc qdisc add dev p0 ingress"));
  const auto port = *Ifindex::make(::if_nametoindex("p0"));
  auto backend = make_backend("bpf", {.bpf = {.bpffs = "/nonexistent"}});
  ASSERT_TRUE(backend);
  const auto done = finish(**backend, *(*backend)->plan(ref(port), rules_of(Order::kUp)));
  ASSERT_FALSE(done);
  EXPECT_EQ(to_string(done.error()),
            "p0: add classify: an ingress qdisc takes the place of clsact, which does the same and "
            "more: delete it, or, if no lossless packets take the port, leave it out of `ports`");
  EXPECT_THAT(output_of("tc filter show dev p0 ingress"), IsEmpty());
  EXPECT_THAT(output_of("tc qdisc show dev p0"), HasSubstr("ingress"));
}

TEST(BpfErrors, HaveTheKernelsOwnWords) {
  if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
  auto socket = TcSocket::open();
  ASSERT_TRUE(socket);
  TcMessage message(RTM_NEWQDISC, NLM_F_CREATE, Ifindex::of<1>(), TC_H_ROOT, 0);
  const auto done = socket->request(message.text(TCA_KIND, "lldp-nosuch"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ENOENT);
  EXPECT_THAT(done.error().what, HasSubstr("qdisc kind is unknown"));
}

TEST(BpfErrors, TcxWithoutBpffs) {
  if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
  const auto backend =
      make_backend("bpf", {.bpf = {.bpffs = "/nonexistent", .hook = BpfOptions::Hook::kTcx}});
  ASSERT_FALSE(backend);
  EXPECT_EQ(to_string(backend.error()),
            "backend bpf: TCX needs Linux 6.6 and a BPF file system at /nonexistent that we may "
            "write: mount it, or use clsact");
}

TEST(BpfErrors, NoRightToLoadPrograms) {
  if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    auto backend = make_backend("bpf", {.bpf = {.bpffs = "/nonexistent"}});
    const qos::Ruleset rules[] = {rules_of(Order::kUp)};
    const auto done = backend ? (*backend)->prepare(rules) : fail(backend.error());
    const bool right =
        !done && to_string(done.error()) ==
                     "backend bpf: BPF_MAP_CREATE: Operation not permitted: run with CAP_BPF, "
                     "CAP_NET_ADMIN and CAP_PERFMON, in a container with a seccomp profile that "
                     "allows bpf(2) too, or choose another backend";
    if (!right && !done) std::puts(to_string(done.error()).c_str());
    std::fflush(stdout);
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lldp::dataplane
