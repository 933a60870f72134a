// SPDX-License-Identifier: Apache-2.0
// What the bpf back end reads back from the kernel after somebody else has been there.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <thread>

#include "dataplane/bpf/chain_watch.hpp"
#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/nft_watch.hpp"
#include "dataplane/bpf/pins.hpp"
#include "dataplane/bpf/programs.hpp"
#include "dataplane/factory.hpp"
#include "dataplane/tc.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/hooked.hpp"
#include "tests/dataplane/private_net.hpp"
//
#include "pass.skel.h"
#include "probe.skel.h"

namespace lldp::dataplane {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A port p0 with rules of order up.
class BpfVerify : public testing::TestWithParam<Hooked> {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    if (GetParam() == Hooked::kTcx && !bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
    sh("ip link del p0 2>/dev/null");
    ASSERT_TRUE(sh("ip link add p0 up type veth peer name q0 && ip link set q0 up"));
    port_ = *Ifindex::make(::if_nametoindex("p0"));
    backend_ = open();
    ASSERT_TRUE(backend_);
    put();
  }
  static std::unique_ptr<Backend> open(bool queues = false) {
    auto backend =
        make_backend("bpf", {.bpf = {.bpffs = PrivateNet::bpffs(),
                                     .hook = GetParam() == Hooked::kTcx ? BpfOptions::Hook::kTcx
                                                                        : BpfOptions::Hook::kClsact,
                                     .queues = queues}});
    EXPECT_TRUE(backend) << to_string(backend.error());
    return backend ? std::move(*backend) : nullptr;
  }
  void put() {
    const auto plan = backend_->plan(ref(port_), rules_of(Order::kUp));
    ASSERT_TRUE(plan) << to_string(plan.error());
    const auto done = finish(*backend_, *plan);
    ASSERT_TRUE(done) << to_string(done.error());
  }
  Reading verified() {
    auto reading = backend_->verify(ref(port_), rules_of(Order::kUp));
    EXPECT_TRUE(reading) << to_string(reading.error());
    return reading ? *reading : Reading{};
  }
  /// As "classify done, remap missing".
  std::string states() {
    std::string text;
    for (const PartReading& read : verified().parts)
      text.append(text.empty() ? "" : ", ")
          .append(to_string(read.part))
          .append(" ")
          .append(to_string(read.state));
    return text;
  }
  std::string text_of(Part part) {
    for (const PartReading& read : verified().parts)
      if (read.part == part) return read.text;
    return {};
  }
  std::vector<Ifindex> glance() {
    return backend_->glance(std::array{port_}, Backend::Glance::kOfTime);
  }
  /// The kernel takes a link whose last file is gone off a little later.
  bool glance_finds_it() {
    for (int i = 0; i < 500 && glance().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return !glance().empty();
  }
  /// The ports of which events have told.
  std::vector<Ifindex> told(int wait_ms = 5000) {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    while (::poll(&ready, 1, wait_ms) == 1)  // a timer of its own wakes it too
      if (auto changed = backend_->take_events().changed; !changed.empty()) return changed;
    return {};
  }
  bool on_tcx() const { return GetParam() == Hooked::kTcx; }

  std::unique_ptr<Backend> backend_;
  Ifindex port_{};
};
INSTANTIATE_TEST_SUITE_P(On, BpfVerify, testing::Values(Hooked::kClsact, Hooked::kTcx),
                         testing::PrintToStringParamName());

TEST_P(BpfVerify, WhatWasPutIsDone) {
  EXPECT_EQ(states(), "classify done, remap done");
  EXPECT_THAT(glance(), IsEmpty());
}

TEST_P(BpfVerify, ThePortForWhichTheTableHasNoPlaceIsMissed) {
  constexpr int kPlaces = 4;
  std::vector<PortRef> ports;
  for (int i = 0; i <= kPlaces; ++i) {
    const std::string name = "same" + std::to_string(i);
    const unsigned number = 40 + 1024 * (static_cast<unsigned>(i) + 1);
    ASSERT_TRUE(sh("ip link add " + name + " index " + std::to_string(number) +
                   " up type veth peer name far" + std::to_string(i)));
    ports.push_back({*Ifindex::make(number), name});
    const auto plan = backend_->plan(ports.back(), rules_of(Order::kUp));
    ASSERT_TRUE(plan && finish(*backend_, *plan));
  }
  for (int i = 0; i <= kPlaces; ++i) {
    const auto reading = backend_->verify(ports[static_cast<std::size_t>(i)], rules_of(Order::kUp));
    ASSERT_TRUE(reading);
    const auto& parts = reading->parts;
    const auto classify = std::ranges::find(parts, Part::kClassify, &PartReading::part);
    ASSERT_NE(classify, parts.end());
    EXPECT_EQ(classify->state, i < kPlaces ? PartState::kDone : PartState::kMissing) << i;
    EXPECT_TRUE(reading->mend.changes.empty()) << "nothing to put back, again and again";
  }
  for (int i = 0; i <= kPlaces; ++i) sh("ip link del same" + std::to_string(i));
}

TEST_P(BpfVerify, DeletedClsactIsMissedAndTold) {
  if (on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  (void)backend_->take_events();
  ASSERT_TRUE(sh("tc qdisc del dev p0 clsact"));
  EXPECT_THAT(told(), Contains(port_));
  EXPECT_EQ(states(), "classify missing, remap missing");
  ASSERT_TRUE(finish(*backend_, verified().mend));
  EXPECT_EQ(states(), "classify done, remap done");
}

TEST_P(BpfVerify, FilterReplacedByAnothersIsMissed) {
  if (on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  (void)backend_->take_events();
  ASSERT_TRUE(
      sh("tc filter del dev p0 egress pref 5 && "
         "tc filter add dev p0 egress pref 5 u32 match u32 0 0 flowid 1:1"));
  EXPECT_THAT(told(), Contains(port_));
  EXPECT_EQ(states(), "classify done, remap missing");
}

TEST_P(BpfVerify, LinkWhoseFileIsGoneIsMissedAtAGlance) {
  if (!on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  EXPECT_EQ(states(), "classify done, remap done");
  ASSERT_TRUE(sh("rm " + PrivateNet::bpffs() + "/lldp-level/*/port-*-egress"));
  EXPECT_TRUE(glance_finds_it());
  EXPECT_EQ(states(), "classify done, remap missing");
  ASSERT_TRUE(finish(*backend_, verified().mend));
  EXPECT_EQ(states(), "classify done, remap done");
  EXPECT_THAT(glance(), IsEmpty());
}

TEST_P(BpfVerify, LinkGivenAnotherProgramIsMissedAtAGlance) {
  if (!on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  EXPECT_EQ(states(), "classify done, remap done");
  probe* theirs = probe__open_and_load();
  ASSERT_NE(theirs, nullptr);
  const std::string file =
      output_of("echo -n " + PrivateNet::bpffs() + "/lldp-level/*/port-*-ingress");
  const UniqueFd link(bpf_obj_get(file.c_str()));
  ASSERT_TRUE(link);
  ASSERT_EQ(bpf_link_update(link.get(), bpf_program__fd(theirs->progs.stranger), nullptr), 0);
  EXPECT_THAT(glance(), ElementsAre(port_));
  EXPECT_EQ(states(), "classify missing, remap done");
  probe__destroy(theirs);
}

// A hook that has lost its last program is another one: its revisions begin anew, and may come to
// be the same.
TEST_P(BpfVerify, HookOfOthersWithTheRevisionOfOursIsMissedAtAGlance) {
  if (!on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  EXPECT_EQ(states(), "classify done, remap done");
  const auto before = bpf::tcx_chain(port_, Part::kRemap);
  ASSERT_TRUE(before);
  ASSERT_EQ(before->link_ids.size(), 1U);
  ASSERT_TRUE(bpf::detach_link(*bpf::link_by_id(before->link_ids.front())));
  probe* theirs = probe__open_and_load();
  ASSERT_NE(theirs, nullptr);
  std::vector<UniqueFd> links;
  auto now = bpf::tcx_chain(port_, Part::kRemap);
  for (; now && now->revision < before->revision; now = bpf::tcx_chain(port_, Part::kRemap))
    links.emplace_back(bpf_link_create(bpf_program__fd(theirs->progs.stranger),
                                       static_cast<int>(port_.value()),
                                       static_cast<bpf_attach_type>(47), nullptr));
  ASSERT_TRUE(now);
  EXPECT_EQ(now->revision, before->revision);
  EXPECT_FALSE(now->program_ids.empty());
  EXPECT_THAT(glance(), ElementsAre(port_));
  EXPECT_EQ(states(), "classify done, remap missing");
  probe__destroy(theirs);
}

// What it takes for seen to, ours does not look at.
TEST_P(BpfVerify, ProgramOfOtherRulesOfOursBeforeTheRightOneBypassesIt) {
  if (!on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  const qos::Ruleset down = rules_of(Order::kDown);
  ASSERT_TRUE(backend_->prepare(std::array{down}));
  bpf::Programs programs(bpf::Pins::open(PrivateNet::bpffs()));
  const auto other = programs.get(down);
  ASSERT_TRUE(other);
  auto link = bpf::attach_tcx((*other)->program(Part::kRemap), port_, Part::kRemap);
  ASSERT_TRUE(link);
  EXPECT_THAT(glance(), ElementsAre(port_));
  EXPECT_EQ(states(), "classify done, remap bypassed");
  ASSERT_TRUE(bpf::detach_link(*link));
  EXPECT_EQ(states(), "classify done, remap done");
}

TEST_P(BpfVerify, FilterBeforeOursBypassesIt) {
  if (on_tcx()) {  // TCX comes first, whatever the preference
    ASSERT_TRUE(
        sh("tc qdisc add dev p0 clsact && "
           "tc filter add dev p0 ingress pref 1 u32 match u32 0 0 flowid 1:7"));
    EXPECT_EQ(states(), "classify done, remap done");
    return;
  }
  (void)backend_->take_events();
  ASSERT_TRUE(
      sh("tc filter add dev p0 ingress pref 1 u32 match u32 0 0 action mirred egress "
         "redirect dev lo"));
  EXPECT_THAT(told(), Contains(port_));
  EXPECT_EQ(states(), "classify bypassed, remap done");
  EXPECT_EQ(text_of(Part::kClassify),
            "a filter (u32, preference 1) stands before the rules: what it takes, they do not see: "
            "delete it, or give it a preference above 5");
  EXPECT_TRUE(verified().mend.empty());
  ASSERT_TRUE(sh("tc filter del dev p0 ingress pref 1"));
  EXPECT_THAT(told(), Contains(port_));
  EXPECT_EQ(states(), "classify done, remap done");
}

TEST_P(BpfVerify, FilterThatIsNoneOfOurPacketsBusinessIsLeftOut) {
  ASSERT_TRUE(sh("tc qdisc replace dev p0 clsact"));
  ASSERT_TRUE(
      sh("tc filter add dev p0 ingress pref 1 protocol arp u32 match u32 0 0 flowid 1:7 && "
         "tc filter add dev p0 ingress pref 2 chain 9 u32 match u32 0 0 flowid 1:7 && "
         "tc filter add dev p0 ingress pref 9 u32 match u32 0 0 flowid 1:7"));
  EXPECT_EQ(states(), "classify done, remap done");
}

TEST_P(BpfVerify, TcxProgramOfAnotherBeforeOursBypassesIt) {
  if (!bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
  EXPECT_EQ(states(), "classify done, remap done");
  probe* theirs = probe__open_and_load();
  ASSERT_NE(theirs, nullptr);
  const UniqueFd program(::dup(bpf_program__fd(theirs->progs.stranger)));
  {
    const auto link = bpf::attach_tcx(program, port_, Part::kRemap);  // goes first
    ASSERT_TRUE(link) << to_string(link.error());
    EXPECT_THAT(glance(), ElementsAre(port_));
    EXPECT_EQ(states(), "classify done, remap bypassed");
    EXPECT_THAT(text_of(Part::kRemap), HasSubstr("a TCX program ("));
    EXPECT_THAT(glance(), IsEmpty());
  }
  EXPECT_THAT(glance(), ElementsAre(port_));
  EXPECT_EQ(states(), "classify done, remap done");
  probe__destroy(theirs);
}

TEST_P(BpfVerify, TransactionOfNftablesIsAnEvent) {
  while (!told(500).empty()) continue;  // of what was put
  (void)glance();
  EXPECT_EQ(states(), "classify done, remap done");
  if (!sh("nft 'add table netdev t; add chain netdev t c { type filter hook egress device p0 "
          "priority 0; }; add rule netdev t c fwd to q0' 2>/dev/null"))
    GTEST_SKIP() << "nftables of this kernel has no egress";
  EXPECT_THAT(told(60'000), Contains(port_));
  EXPECT_EQ(states(), "classify done, remap bypassed");
  ASSERT_TRUE(sh("nft delete table netdev t"));
}

TEST_P(BpfVerify, GlanceIsRareWhereEventsTell) {
  if (const auto nftables = bpf::NftWatch::open(); !nftables)
    GTEST_SKIP() << to_string(nftables.error());
  EXPECT_EQ(backend_->glance_pause(), Backend::kGlancePause) << "it was not asked yet";
  (void)glance();
  const bool watched = !bpf::has_tcx() || bpf::ChainWatch::open();
  for (int i = 0; i < 600 && watched && backend_->glance_pause() == Backend::kGlancePause; ++i)
    (void)told(100);  // it begins to watch a moment after the start
  EXPECT_EQ(backend_->glance_pause(), watched ? Backend::kRareGlancePause : Backend::kGlancePause);
}

// Of a function that `ip link set mtu` enters on Debian 12.
TEST_P(BpfVerify, WatchTellsOnceThatTheKernelEnteredAFunction) {
  auto watch = bpf::ChainWatch::open(std::array{"dev_set_mtu_ext"});
  if (!watch) GTEST_SKIP() << to_string(watch.error());
  (void)watch->take();  // of others on this machine
  ASSERT_TRUE(sh("ip link set p0 mtu 1400"));
  pollfd ready{.fd = watch->fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ready, 1, 60'000), 1);
  EXPECT_TRUE(watch->take());
  EXPECT_FALSE(bpf::ChainWatch::open(std::array{"no_such_function"}));
}

// It has some megabytes, and the hooks are asked then anyway.
TEST(ChainWatch, DescriptionOfAKernelThatRefusesTracingIsNotRead) {
  const auto watch = bpf::ChainWatch::open(bpf::ChainWatch::kFunctions, "/none");
  ASSERT_FALSE(watch);
  if (const auto real = bpf::ChainWatch::open(); real || real.error().code != EPERM)
    GTEST_SKIP() << "this kernel lets us trace";
  EXPECT_EQ(watch.error().code, EPERM) << to_string(watch.error());
}

TEST_P(BpfVerify, ChangeOfATcxHookIsAnEventWhereTheKernelTracesFunctions) {
  if (!bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
  if (const auto watch = bpf::ChainWatch::open(); !watch) GTEST_SKIP() << to_string(watch.error());
  probe* theirs = probe__open_and_load();
  ASSERT_NE(theirs, nullptr);
  const UniqueFd program(::dup(bpf_program__fd(theirs->progs.stranger)));
  EXPECT_EQ(states(), "classify done, remap done");
  // The watch begins some time after the rules are there.
  std::vector<Ifindex> changed;
  for (int i = 0; i < 60 && changed.empty(); ++i) {
    const auto link = bpf::attach_tcx(program, port_, Part::kRemap);
    changed = told(1000);
  }
  EXPECT_THAT(changed, Contains(port_));
  probe__destroy(theirs);
}

TEST_P(BpfVerify, TcxChangeBeforeTheWatchBeganIsAnEventToo) {
  if (!bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
  if (const auto watch = bpf::ChainWatch::open(); !watch) GTEST_SKIP() << to_string(watch.error());
  probe* theirs = probe__open_and_load();
  ASSERT_NE(theirs, nullptr);
  const UniqueFd program(::dup(bpf_program__fd(theirs->progs.stranger)));
  EXPECT_EQ(states(), "classify done, remap done");
  const auto link = bpf::attach_tcx(program, port_, Part::kRemap);
  std::vector<Ifindex> changed;
  for (int i = 0; i < 60 && changed.empty(); ++i) changed = told(1000);
  EXPECT_THAT(changed, Contains(port_));
  probe__destroy(theirs);
}

TEST_P(BpfVerify, XdpProgramBypassesTheIngress) {
  pass* theirs = pass__open_and_load();
  ASSERT_NE(theirs, nullptr);
  const int fd = bpf_program__fd(theirs->progs.pass);
  const auto ifindex = static_cast<int>(port_.value());
  EXPECT_EQ(states(), "classify done, remap done");
  ASSERT_EQ(bpf_xdp_attach(ifindex, fd, 1U << 1 /* XDP_FLAGS_SKB_MODE */, nullptr), 0);
  EXPECT_THAT(glance(), ElementsAre(port_));
  EXPECT_EQ(states(), "classify bypassed, remap done");
  EXPECT_THAT(text_of(Part::kClassify), HasSubstr("an XDP program ("));
  EXPECT_THAT(glance(), IsEmpty());
  ASSERT_EQ(bpf_xdp_detach(ifindex, 1U << 1, nullptr), 0);
  EXPECT_THAT(glance(), ElementsAre(port_));
  // By a link, of which no event tells; with many ports one dump is looked at.
  EXPECT_EQ(states(), "classify done, remap done");
  std::vector<Ifindex> many{port_};
  for (std::uint32_t i = 0; i < 9; ++i) many.push_back(*Ifindex::make(1'000'000 + i));
  EXPECT_THAT(backend_->glance(many, Backend::Glance::kOfTime), Not(Contains(port_)));
  bpf_link* link = bpf_program__attach_xdp(theirs->progs.pass, ifindex);
  ASSERT_NE(link, nullptr);
  EXPECT_THAT(backend_->glance(many, Backend::Glance::kOfTime), Contains(port_));
  EXPECT_EQ(states(), "classify bypassed, remap done");
  bpf_link__destroy(link);
  EXPECT_EQ(states(), "classify done, remap done");
  // With however many, it is found within 32 glances.
  for (std::uint32_t i = 0; i < 300; ++i) many.push_back(*Ifindex::make(2'000'000 + i));
  for (int i = 0; i < 32; ++i)
    EXPECT_THAT(backend_->glance(many, Backend::Glance::kOfTime), Not(Contains(port_)));
  link = bpf_program__attach_xdp(theirs->progs.pass, ifindex);
  ASSERT_NE(link, nullptr);
  bool found = false;
  for (int i = 0; i < 32 && !found; ++i)
    found = std::ranges::count(backend_->glance(many, Backend::Glance::kOfTime), port_) != 0;
  EXPECT_TRUE(found);
  bpf_link__destroy(link);
  // Before an answer, at once.
  EXPECT_EQ(states(), "classify done, remap done");
  link = bpf_program__attach_xdp(theirs->progs.pass, ifindex);
  ASSERT_NE(link, nullptr);
  EXPECT_THAT(backend_->glance(many, Backend::Glance::kOfQuestion), Contains(port_));
  bpf_link__destroy(link);
  EXPECT_EQ(states(), "classify done, remap done");
  pass__destroy(theirs);
}

TEST_P(BpfVerify, IngressQdiscInThePlaceOfClsactIsForeign) {
  if (on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  ASSERT_TRUE(sh("tc qdisc del dev p0 clsact && tc qdisc add dev p0 ingress"));
  EXPECT_EQ(states(), "classify foreign, remap foreign");
  EXPECT_EQ(text_of(Part::kRemap), "an ingress qdisc takes the place of clsact");
}

TEST_P(BpfVerify, RootQdiscOfAnotherIsForeignWhereQueuesAreWanted) {
  backend_ = open(true);
  put();
  EXPECT_EQ(states(), "classify done, remap done, queues done");
  (void)backend_->take_events();
  ASSERT_TRUE(sh("tc qdisc replace dev p0 root handle 1: pfifo"));
  EXPECT_THAT(told(), Contains(port_));
  EXPECT_EQ(states(), "classify done, remap done, queues foreign");
  EXPECT_TRUE(verified().mend.empty());
  ASSERT_TRUE(sh("tc qdisc del dev p0 root"));
  EXPECT_EQ(states(), "classify done, remap done, queues missing");
}

TEST_P(BpfVerify, ReadingIsNoEvent) {
  put();
  (void)backend_->take_events();
  EXPECT_FALSE(states().empty());
  EXPECT_THAT(backend_->take_events().changed, IsEmpty());
}

TEST_P(BpfVerify, EventsThatTheKernelCouldNotDeliverMayBeOfAnyPort) {
  auto events = TcEvents::open();
  ASSERT_TRUE(events);
  const int small = 1;
  ASSERT_EQ(::setsockopt(events->fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  ASSERT_TRUE(
      sh("for i in $(seq 20); do tc qdisc add dev q0 root pfifo; tc qdisc del dev q0 root; "
         "done"));
  EXPECT_THAT(events->take(), Contains(Ifindex()));
}

}  // namespace
}  // namespace lldp::dataplane
