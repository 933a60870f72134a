// SPDX-License-Identifier: Apache-2.0
// What others do behind the rules and above the ports, with the kernel: see bpf_verify_test.cpp for
// what stands before.
#include "dataplane/bpf/strangers.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <iterator>
#include <string_view>
#include <thread>

#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/mark_needs.hpp"
#include "dataplane/bpf/nftables.hpp"
#include "dataplane/factory.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/hooked.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/dataplane/strangers.hpp"
#include "tests/netns/refusal.hpp"
//
#include "pass.skel.h"
#include "probe.skel.h"

namespace lldp::dataplane {
namespace {

using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(On, Strangers, testing::Values(Hooked::kClsact, Hooked::kTcx),
                         testing::PrintToStringParamName());

struct Filter {
  const char* hook = "";
  const char* what = "";  ///< behind `tc filter add dev p0 HOOK pref 100 protocol all`
  const char* told = "";  ///< empty: it does no harm
};
constexpr Filter kFilters[] = {
    {"ingress", "u32 match u32 0 0 action mirred ingress redirect dev p1",
     "classify bypassed: a filter (u32, preference 100) behind the rules may send packets on "
     "by another interface (mirred)"},
    {"ingress", "u32 match u32 0 0 action mirred egress redirect dev p1", "(mirred)"},
    {"ingress", "u32 match u32 0 0 action mirred ingress mirror dev p1", "(mirred)"},
    {"ingress", "u32 match u32 0 0 action mirred egress mirror dev p1", ""},
    {"ingress", "u32 match u32 0 0 flowid 1:7", ""},
    {"ingress", "u32 match u32 0 0 action pass", ""},
    {"ingress", "u32 match u32 0 0 action police rate 1gbit burst 1m conform-exceed pipe", ""},
    {"ingress", "u32 match u32 0 0 action goto chain 7", "(goto chain)"},
    {"ingress", "u32 match u32 0 0 action mirred egress mirror dev p1 goto chain 7",
     "(mirred, goto chain)"},
    {"ingress", "u32 match u32 0 0 action csum ip4h goto chain 7", "(csum, goto chain)"},
    {"ingress", "u32 match u32 0 0 action csum ip4h pipe action pass", ""},
    {"ingress", "u32 match u32 0 0 action ct goto chain 7", "(ct, goto chain)"},
    {"ingress", "u32 match u32 0 0 action connmark goto chain 7", "(connmark, goto chain)"},
    {"ingress", "u32 match u32 0 0 action nat ingress 192.0.2.1 192.0.2.2 goto chain 7",
     "(nat, goto chain)"},
    {"ingress", "u32 match u32 0 0 action simple sdata x goto chain 7", "(simple, goto chain)"},
    {"ingress", "u32 match u32 0 0 action police rate 1gbit burst 1m conform-exceed goto chain 7",
     "(police, goto chain)"},
    {"ingress",
     "u32 match u32 0 0 action police rate 1gbit burst 1m conform-exceed goto chain 7/pipe",
     "(police, goto chain)"},
    {"ingress", "u32 match u32 0 0 police rate 1gbit burst 1m conform-exceed goto chain 7",
     "(police, goto chain)"},
    {"ingress", "u32 match u32 0 0 police rate 1gbit burst 1m drop", ""},
    {"ingress", "u32 match u32 0 0 action skbmod set smac 02:00:00:00:00:09 goto chain 7",
     "(skbmod, goto chain)"},
    {"egress", "u32 match u32 0 0 action skbedit priority 3 goto chain 7", "(skbedit, goto chain)"},
    {"ingress", "u32 match u32 0 0 action skbedit priority 3",
     "classify bypassed: a filter (u32, preference 100) behind the rules may change the class "
     "that the rules go by or give (skbedit)"},
    {"egress", "u32 match u32 0 0 action skbedit priority 3",
     "remap bypassed: a filter (u32, preference 100) behind the rules may change the class"},
    {"egress", "u32 match u32 0 0 action pedit ex munge eth src set 02:00:00:00:00:09", "(pedit)"},
    {"egress", "u32 match u32 0 0 action pedit ex munge eth src set 02:00:00:00:00:09 goto chain 7",
     "(pedit, goto chain)"},
    {"egress", "u32 match u32 0 0 action vlan push id 7 priority 3", "(vlan)"},
    {"egress", "u32 match u32 0 0 flowid 1:7", ""},
    {"egress", "u32 match u32 0 0 action drop", ""},
    {"egress", "u32 match u32 0 0 action mirred egress mirror dev p1", ""},
    // To a port with rules: the copy counts as come in by this one.
    {"egress", "u32 match u32 0 0 action mirred egress mirror dev p0", "(mirred)"},
};

TEST_P(Strangers, FilterBehindTheRulesIsToldByWhatItsActionsMayDo) {
  std::size_t left_out = 0;
  for (const Filter& f : kFilters) {
    const std::string add =
        std::string("tc filter add dev p0 ") + f.hook + " pref 100 protocol all " + f.what;
    if (!sh(add + " 2>/dev/null")) {  // this kernel has no such action
      ++left_out;
      continue;
    }
    const std::string told = complaints();
    if (*f.told == '\0')
      EXPECT_EQ(told, "") << add;
    else
      EXPECT_THAT(told, HasSubstr(f.told)) << add;
    ASSERT_TRUE(sh(std::string("tc filter del dev p0 ") + f.hook + " pref 100")) << add;
    EXPECT_EQ(complaints(), "") << add;
  }
  std::cout << left_out << " of " << std::size(kFilters) << " filters are refused by this kernel\n";
  EXPECT_LT(left_out, std::size(kFilters)) << "no filter was tried";
}

TEST(OpenVswitch, AboveAPortWherePacketsTurnIsTold) {
  const bpf::Stack::Link ovs{.name = "ovs-system", .kind = "openvswitch"};
  const auto told = [&](Part part, Order order) {
    return bpf::harm_above(part, rules_of(order), ovs, {}).value_or("");
  };
  EXPECT_THAT(told(Part::kRemap, Order::kUp),
              HasSubstr("Open vSwitch (ovs-system) sends the first"));
  EXPECT_EQ(told(Part::kClassify, Order::kUp), "");
  EXPECT_EQ(told(Part::kRemap, Order::kDown), "");
}

// Whatever the order: a packet that comes in here may leave by a port that changes it.
TEST_P(Strangers, ListsOfPacketsAreToldOnAPortOfAnyOrder) {
  for (const Order order : {Order::kUp, Order::kDown}) {
    put(order);
    EXPECT_EQ(complaints(), "");
    if (!sh("ethtool -K p0 gro on rx-gro-list on 2>/dev/null"))
      GTEST_SKIP() << "this kernel makes no such lists";
    const std::array one{port_};
    EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime), testing::ElementsAre(port_));
    EXPECT_EQ(complaints(),
              "classify bypassed: rx-gro-list is on: the kernel forwards UDP packets that come in "
              "by p0 in lists, of which the rules change the first packet alone: ethtool -K p0 "
              "rx-gro-list off\n");
    EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime), testing::IsEmpty());
    ASSERT_TRUE(sh("ethtool -K p0 rx-gro-list off"));
    EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime), testing::ElementsAre(port_));
    EXPECT_EQ(complaints(), "");
  }
  put(Order::kUnknown);
  ASSERT_TRUE(sh("ethtool -K p0 rx-gro-list on"));
  EXPECT_THAT(complaints(), HasSubstr("rx-gro-list is on"));
  ASSERT_TRUE(sh("ethtool -K p0 rx-gro-list off"));
}

// What leaves by a down port does not turn; sent on by an up port from there, it counts as come by
// the down port, and turns unseen.
TEST_P(Strangers, FilterBehindTheRulesOfADownPortIsTold) {
  put(Order::kDown);
  for (const std::string hook : {"ingress", "egress"}) {
    for (const auto& [action, told] :
         {std::pair("mirred egress redirect dev p1", "may send packets on by another interface"),
          std::pair("skbedit priority 3", "may change the class"), std::pair("pass", "")}) {
      const std::string filter = hook + " pref 100 u32 match u32 0 0 action " + action;
      if (!sh("tc filter add dev p0 " + filter + " 2>/dev/null")) continue;  // no such action here
      if (*told == '\0')
        EXPECT_EQ(complaints(), "") << filter;
      else
        EXPECT_THAT(complaints(), HasSubstr(told)) << filter;
      ASSERT_TRUE(sh("tc filter del dev p0 " + hook + " pref 100"));
    }
  }
}

TEST_P(Strangers, FilterOfAnyQdiscOrClassIsTold) {
  if (!sh("tc qdisc add dev p0 root handle 1: htb default 10 2>/dev/null"))
    GTEST_SKIP() << "this kernel has no htb";
  ASSERT_TRUE(
      sh("tc class add dev p0 parent 1: classid 1:1 htb rate 1gbit && "
         "tc class add dev p0 parent 1:1 classid 1:10 htb rate 1gbit && "
         "tc qdisc add dev p0 parent 1:10 handle 2: htb"));
  for (const char* parent : {"1:", "1:1", "1:10", "2:"}) {
    const std::string filter =
        std::string("tc filter add dev p0 parent ") + parent + " pref 7 u32 match u32 0 0 ";
    ASSERT_TRUE(sh(filter + "flowid 1:10"));
    EXPECT_EQ(complaints(), "") << parent;
    ASSERT_TRUE(sh(std::string("tc filter del dev p0 parent ") + parent + " pref 7"));
    ASSERT_TRUE(sh(filter + "action mirred egress redirect dev p1"));
    EXPECT_THAT(complaints(), HasSubstr("remap bypassed: a filter of ")) << parent;
    ASSERT_TRUE(sh(std::string("tc filter del dev p0 parent ") + parent + " pref 7"));
  }
}

// Asked for the filters of the egress, an ingress qdisc gives its own.
TEST_P(Strangers, CopyMadeByAnIngressQdiscIsNoneOfTheEgress) {
  if (GetParam() == Hooked::kClsact) GTEST_SKIP() << "it takes the place of clsact";
  sh("tc qdisc del dev p0 clsact 2>/dev/null");
  ASSERT_TRUE(sh("tc qdisc add dev p0 ingress"));
  ASSERT_TRUE(
      sh("tc filter add dev p0 parent ffff: pref 100 protocol ip u32 match u32 0 0 action mirred "
         "egress mirror dev p0"));
  EXPECT_EQ(complaints(), "");
}

TEST_P(Strangers, QdiscThatWashesIsTold) {
  if (!sh("tc qdisc add dev p0 root cake wash 2>/dev/null"))
    GTEST_SKIP() << "this kernel has no cake";
  EXPECT_THAT(complaints(), HasSubstr("remap bypassed: the qdisc "));
  ASSERT_TRUE(sh("tc qdisc change dev p0 root cake nowash"));
  EXPECT_EQ(complaints(), "");
  ASSERT_TRUE(sh("tc qdisc del dev p0 root"));
}

TEST_P(Strangers, FilterThatEndsTheHookMattersWhereSomethingStandsOnThePort) {
  ASSERT_TRUE(
      sh("tc filter add dev p0 ingress pref 100 protocol all u32 match u32 0 0 flowid 1:7"));
  EXPECT_EQ(complaints(), "");
  if (!sh("ip link add link p0 name m0 up type macvlan mode bridge 2>/dev/null"))
    GTEST_SKIP() << "this kernel has no macvlan";
  EXPECT_THAT(complaints(), HasSubstr("packets that go on by m0 are known"));
  ASSERT_TRUE(sh("ip link del m0"));
  EXPECT_EQ(complaints(), "");
  if (!sh("ip link add link p0 name m0 up type macvtap mode bridge 2>/dev/null")) return;
  EXPECT_EQ(complaints(), "") << "packets end in a program";
  ASSERT_TRUE(sh("ip link del m0"));
}

/// Behind `tc filter add dev D ingress pref 9 protocol all u32 match u32 0 0`, and whether it ends
/// the hook.
struct Verdict {
  const char* actions = "";
  bool ends = false;
};
constexpr Verdict kVerdicts[] = {
    {"flowid 1:7", true},
    {"flowid 1:7 action pipe", false},
    {"action pass", true},
    {"action reclassify", true},
    {"action pipe", false},
    {"action continue", false},
    {"action drop", false},
    {"action drop random netrand pass 2", true},
    {"action pass random determ drop 2", true},
    {"action drop random netrand pipe 2", false},
    {"action pipe random determ drop 1000", false},
    {"action continue random netrand drop 1000", false},
    {"action police rate 1gbit burst 1m", true},
    {"action police rate 1gbit burst 1m conform-exceed drop", true},
    {"action police rate 1gbit burst 1m conform-exceed drop/pass", true},
    {"action police rate 1gbit burst 1m conform-exceed pass/pipe", true},
    {"action police rate 1gbit burst 1m conform-exceed drop/pipe", false},
    {"action police rate 1gbit burst 1m conform-exceed drop/continue", false},
    {"action police rate 1gbit burst 1m conform-exceed pipe/pipe", false},
    {"action police rate 1gbit burst 1m conform-exceed drop/pipe action pass", true},
    {"police rate 1gbit burst 1m conform-exceed drop", true},
    {"police rate 1gbit burst 1m conform-exceed drop/pipe", false},
};

TEST_P(Strangers, FilterEndsTheHookByAnyOfItsVerdicts) {
  if (!sh("ip link add link p0 name m0 up type macvlan mode bridge 2>/dev/null"))
    GTEST_SKIP() << "this kernel has no macvlan";
  sh("tc qdisc add dev m0 clsact");
  constexpr std::string_view kMilder =
      ": let the filter pass packets by `action pipe` (a policer: `conform-exceed drop/pipe`), "
      "delete it, or, if no lossless packets take the port, leave it out of `ports`";
  std::size_t left_out = 0;
  for (const Verdict& v : kVerdicts) {
    for (const std::string on : {"p0", "m0"}) {
      const std::string add =
          "tc filter add dev " + on + " ingress pref 9 protocol all u32 match u32 0 0 " + v.actions;
      if (!sh(add + " 2>/dev/null")) {  // this kernel has no such action
        ++left_out;
        continue;
      }
      if (v.ends)
        EXPECT_THAT(complaints(), HasSubstr(kMilder)) << add;
      else
        EXPECT_EQ(complaints(), "") << add;
      ASSERT_TRUE(sh("tc filter del dev " + on + " ingress pref 9")) << add;
    }
  }
  std::cout << left_out << " of " << 2 * std::size(kVerdicts) << " filters are refused\n";
  EXPECT_LT(left_out, 2 * std::size(kVerdicts)) << "no filter was tried";
  if (!sh("tc filter add dev m0 ingress pref 9 protocol all u32 match u32 0 0 action mirred egress "
          "redirect dev p1 2>/dev/null"))
    return;
  EXPECT_THAT(complaints(), HasSubstr(": take it off m0, or,")) << "it does more";
}

TEST_P(Strangers, FilterThatEndsTheHookMattersWhereNftablesChangesTheClass) {
  const std::array one{port_};
  const auto mangle = [](const char* does) {
    return sh(std::string("nft 'add table ip t; add chain ip t c { type filter hook forward "
                          "priority 0; }; add rule ip t c ") +
              does + "' 2>/dev/null");
  };
  const auto glanced = [&] { return backend_->glance(one, Backend::Glance::kOfTime).size(); };
  EXPECT_EQ(complaints(), "");
  if (!mangle("ip dscp set 51")) GTEST_SKIP() << "this kernel has no nftables";
  EXPECT_EQ(glanced(), 0U) << "the mark is there";
  EXPECT_EQ(complaints(), "");
  ASSERT_TRUE(
      sh("tc filter add dev p0 ingress pref 100 protocol all u32 match u32 0 0 flowid 1:7"));
  EXPECT_EQ(complaints(),
            "classify bypassed: a filter (u32, preference 100) behind the rules ends the hook, and "
            "the kernel writes over the mark by which the class is known that packets came in, "
            "which nftables (table ip t, chain c) may change (payload), so that they may turn in a "
            "wrong one: let the filter pass packets by `action pipe` (a policer: `conform-exceed "
            "drop/pipe`), delete it, or, if no lossless packets take the port, leave it out of "
            "`ports`\n");
  EXPECT_EQ(glanced(), 0U);
  ASSERT_TRUE(sh("nft add table ip t '{ flags dormant; }'"));
  EXPECT_EQ(glanced(), 1U);
  EXPECT_EQ(complaints(), "") << "the table is asleep";
  ASSERT_TRUE(sh("nft delete table ip t"));
  EXPECT_EQ(glanced(), 0U);
  ASSERT_TRUE(mangle("meta priority set 1:3"));
  EXPECT_EQ(glanced(), 0U);
  EXPECT_EQ(complaints(), "");
  ASSERT_TRUE(sh("nft delete table ip t") && mangle("ip dscp set 51"));
  EXPECT_EQ(glanced(), 1U);
  EXPECT_THAT(complaints(), HasSubstr("nftables (table ip t, chain c) may change (payload)"));
  put(Order::kDown);
  EXPECT_THAT(complaints(), HasSubstr("may change (payload)")) << "it keeps its class";
  if (sh("nft 'delete table ip t; add table netdev t; add chain netdev t c { type filter hook "
         "egress "
         "device q1 priority 0; }; add rule netdev t c fwd to p1' 2>/dev/null")) {
    EXPECT_EQ(glanced(), 1U);
    EXPECT_EQ(complaints(), "") << "what comes in by a down port never turns";
    put(Order::kUp);
    EXPECT_THAT(complaints(), HasSubstr("(table netdev t, chain c) sends on from another interface "
                                        "(fwd), so that they do not turn"));
    ASSERT_TRUE(sh("nft delete table netdev t") && mangle("ip dscp set 51"));
    EXPECT_EQ(glanced(), 1U);
  }
  put(Order::kUp);
  EXPECT_THAT(complaints(), HasSubstr("may change (payload)"));
  ASSERT_TRUE(sh("nft delete table ip t && tc filter del dev p0 ingress pref 100"));
  EXPECT_EQ(glanced(), 1U);
  EXPECT_EQ(complaints(), "");
}

TEST_P(Strangers, ProgramsOnAnInterfaceAboveThePortAreTold) {
  if (!sh("ip link add link p0 name p0.7 up type vlan id 7 2>/dev/null || ip link add link p0 name "
          "p0.7 up type macvlan mode bridge"))
    GTEST_SKIP() << "this kernel has neither VLANs nor macvlan";
  EXPECT_EQ(complaints(), "");
  (void)backend_->take_events();
  ASSERT_TRUE(
      sh("tc qdisc add dev p0.7 clsact && tc filter add dev p0.7 ingress pref 9 u32 match u32 0 0 "
         "flowid 1:7"));
  EXPECT_THAT(complaints(), HasSubstr("classify bypassed: a filter (u32, preference 9) on "
                                      "p0.7, which stands on this port"));
  EXPECT_THAT(backend_->take_events().changed, testing::Contains(port_));
  ASSERT_TRUE(
      sh("tc filter del dev p0.7 ingress && tc filter add dev p0.7 egress pref 9 u32 match u32 0 0 "
         "flowid 1:7"));
  EXPECT_THAT(complaints(), HasSubstr("remap bypassed: a filter (u32, preference 9) on p0.7"));
  ASSERT_TRUE(sh("tc qdisc del dev p0.7 clsact"));
  EXPECT_EQ(complaints(), "");
  // XDP by a link, of which no event tells: a glance finds it.
  pass* theirs = pass__open_and_load();
  ASSERT_NE(theirs, nullptr);
  bpf_link* link =
      bpf_program__attach_xdp(theirs->progs.pass, static_cast<int>(::if_nametoindex("p0.7")));
  ASSERT_NE(link, nullptr);
  EXPECT_THAT(backend_->glance(std::array{port_}, Backend::Glance::kOfTime),
              testing::ElementsAre(port_));
  EXPECT_THAT(complaints(), HasSubstr("classify bypassed: an XDP program ("));
  bpf_link__destroy(link);
  pass__destroy(theirs);
  EXPECT_EQ(complaints(), "");
}

// What is read of interfaces is kept from one port to the next, and no longer.
TEST_P(Strangers, InterfacesAreReadAnewAfterEachEventChangeAndGlance) {
  if (!sh("ip link add link p0 name p0.7 type macvlan mode bridge"))
    GTEST_SKIP() << "this kernel has no macvlan";
  EXPECT_EQ(verified(), "");
  const char* bypassed = "classify bypassed: a filter (u32, preference 9) on p0.7";
  ASSERT_TRUE(
      sh("tc qdisc add dev p0.7 clsact && tc filter add dev p0.7 ingress pref 9 u32 match u32 0 0 "
         "flowid 1:7"));
  (void)backend_->take_events();
  EXPECT_THAT(verified(), HasSubstr(bypassed));
  pass* theirs = pass__open_and_load();
  ASSERT_NE(theirs, nullptr);
  ASSERT_TRUE(sh("tc qdisc del dev p0.7 clsact"));
  bpf_link* link =
      bpf_program__attach_xdp(theirs->progs.pass, static_cast<int>(::if_nametoindex("p0.7")));
  ASSERT_NE(link, nullptr);
  EXPECT_THAT(verified(), HasSubstr(bypassed)) << "it was not told of either yet";
  backend_->links_changed();
  EXPECT_THAT(verified(), HasSubstr("classify bypassed: an XDP program ("));
  bpf_link__destroy(link);
  (void)backend_->glance(std::array{port_}, Backend::Glance::kOfTime);
  EXPECT_EQ(verified(), "");
  link = bpf_program__attach_xdp(theirs->progs.pass, static_cast<int>(::if_nametoindex("p0.7")));
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(verified(), "") << "it was not told yet";
  put(Order::kDown);
  put(Order::kUp);
  EXPECT_THAT(verified(), HasSubstr("classify bypassed: an XDP program ("));
  bpf_link__destroy(link);
  pass__destroy(theirs);
}

struct Chain {
  const char* does = "";  ///< to nftables
  const char* told = "";  ///< empty: it does no harm
};
constexpr Chain kChains[] = {
    {"egress device p0 priority 0; }; add rule netdev t c counter accept", ""},
    {"egress device p0 priority 0; }; add rule netdev t c ip dscp set 51", ""},
    {"egress device p0 priority 0; }; add rule netdev t c meta priority set 1:3", ""},
    {"egress device p0 priority 0; }; add rule netdev t c dup to p1", ""},
    {"egress device p0 priority 0; }; add rule netdev t s fwd to p1", ""},
    {"egress device p1 priority 0; }; add rule netdev t c fwd to p0", ""},
    {"ingress device p0 priority 0; }; add rule netdev t c fwd to p1", ""},
    {"egress device p0 priority 0; }; add rule netdev t c fwd to p1",
     "remap bypassed: nftables (table netdev t, chain c) at the egress may send packets on by "
     "another interface (fwd), where they count as come by this port, so that turns are missed or "
     "made wrongly: delete the rule, or, if no lossless packets take the port, leave it out of "
     "`ports`\n"},
    {"egress devices = { p0, p1 } priority 0; }; add rule netdev t c fwd to p1", "(fwd)"},
    {"egress device p0 priority 0; }; add rule netdev t s fwd to p1; add rule netdev t c jump s",
     "nftables (table netdev t, chain s)"},
    {"egress device p0 priority 0; }; add rule netdev t s fwd to p1; add rule netdev t c ip dscp "
     "vmap { 43 : goto s }",
     "nftables (table netdev t, chain s)"},
    {"egress device p0 priority 0; }; add rule netdev t c fwd to p1; add table netdev t { flags "
     "dormant; }",
     ""},
};

TEST_P(Strangers, ChainOfNftablesIsToldIfItSendsPacketsOn) {
  std::size_t left_out = 0;
  const std::array one{port_};
  EXPECT_EQ(complaints(), "");
  (void)backend_->glance(one, Backend::Glance::kOfTime);
  for (const Order order : {Order::kUp, Order::kDown}) {
    put(order);
    EXPECT_EQ(complaints(), "");
    for (const Chain& c : kChains) {
      const std::string add =
          std::string(
              "nft 'add table netdev t; add chain netdev t s; add chain netdev t c { type "
              "filter hook ") +
          c.does + "'";
      if (!sh(add + " 2>/dev/null")) {
        ++left_out;
        sh("nft delete table netdev t 2>/dev/null");
        continue;
      }
      const bool harms = *c.told != '\0';
      EXPECT_EQ(backend_->glance(one, Backend::Glance::kOfTime).size(), harms ? 1U : 0U) << add;
      if (harms)
        EXPECT_THAT(complaints(), HasSubstr(c.told)) << add;
      else
        EXPECT_EQ(complaints(), "") << add;
      EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime), testing::IsEmpty()) << add;
      ASSERT_TRUE(sh("nft delete table netdev t"));
      EXPECT_EQ(backend_->glance(one, Backend::Glance::kOfTime).size(), harms ? 1U : 0U) << add;
      EXPECT_EQ(complaints(), "") << add;
    }
  }
  std::cout << left_out << " of " << 2 * std::size(kChains) << " are refused by this kernel\n";
}

// A chain is hooked to an interface, whatever its name is: nftables changes nothing by that.
TEST_P(Strangers, ChainOfNftablesIsToldUnderTheNewNameOfAPort) {
  if (!sh("nft 'add table netdev t; add chain netdev t c { type filter hook egress device p0 "
          "priority 0; }; add rule netdev t c fwd to p1' 2>/dev/null"))
    GTEST_SKIP() << "this kernel has no such hook";
  const std::array one{port_};
  (void)backend_->glance(one, Backend::Glance::kOfTime);
  EXPECT_THAT(complaints(), HasSubstr("(fwd)"));
  ASSERT_TRUE(sh("ip link set p0 down && ip link set p0 name p7 && ip link set p7 up"));
  (void)complaints();
  (void)backend_->glance(one, Backend::Glance::kOfTime);
  // Since Linux 6.16 the name decides, and the chain is hooked to no interface then.
  const bool by_name = output_of("nft list table netdev t").find("\"p7\"") == std::string::npos;
  EXPECT_EQ(complaints().empty(), by_name) << complaints();
  ASSERT_TRUE(sh("nft delete table netdev t; ip link del p7"));
}

// The thread alone is refused what it is not to have. The rules stand.
TEST_P(Strangers, NftablesThatCannotBeReadIsTold) {
  const std::array one{port_};
  EXPECT_EQ(verified(), "");
  std::thread([&] {
    ASSERT_TRUE(netns::refuse({.name = "netfilter",
                               .call = SYS_socket,
                               .first = AF_NETLINK,
                               .third = NETLINK_NETFILTER,
                               .code = EPERM}));
    EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime), testing::ElementsAre(port_));
    const std::string why =
        "unverified: nftables cannot be read (Operation not permitted): a chain there may send "
        "packets past the rules, unseen, so that turns are missed or made wrongly: allow "
        "lldp-leveld CAP_NET_ADMIN and netlink sockets of NETLINK_NETFILTER, which a MAC policy or "
        "a filter of system calls may refuse\n";
    EXPECT_EQ(complaints(), "classify " + why + "remap " + why);
    EXPECT_THAT(backend_->description(),
                HasSubstr(", nftables cannot be read (Operation not permitted)"));
    EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime), testing::IsEmpty());
    ASSERT_TRUE(
        sh("tc filter add dev p0 ingress pref 100 protocol all u32 match u32 0 0 flowid 1:7"));
    EXPECT_EQ(complaints(), "classify " + why + "remap " + why);
    ASSERT_TRUE(sh("tc filter del dev p0 ingress pref 100"));
    if (!sh("ethtool -K p0 gro on rx-gro-list on 2>/dev/null")) return;
    EXPECT_THAT(complaints(), HasSubstr("classify bypassed: rx-gro-list is on")) << "it is known";
    ASSERT_TRUE(sh("ethtool -K p0 rx-gro-list off"));
    EXPECT_EQ(complaints(), "classify " + why + "remap " + why);
  }).join();
  EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime), testing::ElementsAre(port_));
  EXPECT_EQ(complaints(), "");
  EXPECT_THAT(backend_->description(), testing::Not(HasSubstr("nftables")));
}

// As under the service, which is another user than root. A thread has its own user for files.
TEST_P(Strangers, LegacyTablesThatCannotBeReadLeaveADoubt) {
  if (::access("/proc/self/net/ip_tables_names", F_OK) != 0)
    GTEST_SKIP() << "this kernel has no iptables (legacy)";
  constexpr unsigned kNobody = 65534;
  bpf::Nftables nftables;
  bpf::MarkNeed need;
  std::thread([&] {
    ASSERT_EQ(::syscall(SYS_setgroups, 0, nullptr), 0);
    ::syscall(SYS_setfsgid, kNobody);
    ::syscall(SYS_setfsuid, kNobody);
    need = bpf::need_on_the_way(nftables, true);
  }).join();
  EXPECT_EQ(need, (bpf::MarkNeed{.unread = "iptables (legacy) (Permission denied)"}));
  EXPECT_EQ(bpf::doubt_of_mark(need.unread),
            "a filter behind the rules ends the hook, and the kernel writes over the mark by which "
            "the class is known that packets came in, and iptables (legacy) (Permission denied) "
            "cannot be read, which may change it: let the filter pass packets by `action pipe` (a "
            "policer: `conform-exceed drop/pipe`), delete it, or, if no lossless packets take the "
            "port, leave it out of `ports`");
  EXPECT_EQ(bpf::need_on_the_way(nftables, true), bpf::MarkNeed()) << "as root";
  EXPECT_EQ(bpf::doubt_of_mark(""), std::nullopt);
}

TEST_P(Strangers, FeaturesThatCannotBeReadAreTold) {
  const std::array one{port_};
  EXPECT_EQ(complaints(), "");
  std::thread([&] {
    ASSERT_TRUE(netns::refuse(
        {.name = "features", .call = SYS_ioctl, .second = SIOCETHTOOL, .code = EPERM}));
    EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime), testing::ElementsAre(port_));
    EXPECT_EQ(complaints(),
              "classify unverified: whether rx-gro-list is on at p0 cannot be read (Operation not "
              "permitted): of UDP packets in a list the rules change the first one alone: allow "
              "lldp-leveld the ioctl SIOCETHTOOL, which a MAC policy or a filter of system calls "
              "may refuse\n");
  }).join();
  EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime), testing::ElementsAre(port_));
  EXPECT_EQ(complaints(), "");
  std::thread([&] {
    ASSERT_TRUE(netns::refuse(
        {.name = "features", .call = SYS_ioctl, .second = SIOCETHTOOL, .code = ENOMEM}));
    EXPECT_THAT(complaints(), HasSubstr("p0 cannot be read (Cannot allocate memory): of UDP "
                                        "packets in a list the rules change the first one alone: "
                                        "it is tried again by itself"));
  }).join();
}

TEST(HarmAbove, MacsecHidesPacketsFromTheRulesOfThePort) {
  const bpf::Stack::Link macsec{.name = "m0", .kind = "macsec"};
  const auto harm = [](const bpf::Stack::Link& upper, Order order, Part part) {
    return bpf::harm_above(part, qos::compile(qos::Policy(), {.order = order}), upper, {})
        .value_or("");
  };
  for (const Part part : {Part::kClassify, Part::kRemap}) {
    for (const Order order : {Order::kUp, Order::kShut})
      EXPECT_EQ(harm(macsec, order, part),
                "the programs of this port see packets of m0 encrypted (MACsec), so that they "
                "change none of them: name m0 in `ports` instead of this port, at both ends, or "
                "take m0 off");
    EXPECT_EQ(harm(macsec, Order::kDown, part), "") << "what comes or goes there never turns";
    EXPECT_EQ(harm({.name = "v0", .kind = "vlan"}, Order::kUp, part), "");
  }
}

TEST_P(Strangers, TcxProgramBehindTheRulesIsTold) {
  if (!bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
  if (GetParam() != Hooked::kTcx) GTEST_SKIP() << "on clsact it comes before";
  probe* theirs = probe__open_and_load();
  ASSERT_NE(theirs, nullptr);
  LIBBPF_OPTS(bpf_link_create_opts, options);
  options.flags = 1U << 4;  // BPF_F_AFTER
  const UniqueFd link(bpf_link_create(bpf_program__fd(theirs->progs.stranger),
                                      static_cast<int>(port_.value()),
                                      static_cast<bpf_attach_type>(46), &options));
  ASSERT_TRUE(link);
  EXPECT_THAT(complaints(), HasSubstr("classify bypassed: a TCX program ("));
  probe__destroy(theirs);
}

}  // namespace
}  // namespace lldp::dataplane
