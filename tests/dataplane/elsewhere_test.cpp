// SPDX-License-Identifier: Apache-2.0
// What others do on interfaces that have nothing to do with a port, with the kernel.
#include "dataplane/bpf/elsewhere.hpp"

#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <set>

#include "dataplane/bpf/kernel.hpp"
#include "dataplane/factory.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/hooked.hpp"
#include "tests/dataplane/private_net.hpp"
//
#include "pass.skel.h"
#include "probe.skel.h"

namespace lldp::dataplane {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Ifindex index_of(const char* name) { return *Ifindex::make(::if_nametoindex(name)); }

/// The ports p0 and p1, and beside them x0 and x1.
bool make_links() {
  sh("for i in p0 p1 x0 x1 m0 m1 e0; do ip link del $i 2>/dev/null; done; tc actions flush action "
     "mirred "
     "2>/dev/null");
  return sh(
      "ip link add p0 up type veth peer name q0 && ip link add p1 up type veth peer name q1 && "
      "ip link add x0 up type ifb && ip link add x1 up type ifb && tc qdisc add dev x0 clsact");
}

class Elsewhere : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    ASSERT_TRUE(make_links());
    auto socket = TcSocket::open();
    auto reader = TcSocket::open();
    ASSERT_TRUE(socket && reader);
    clsact_.emplace(std::move(*socket), programs_);
    socket_.emplace(std::move(*reader));
  }
  /// Reads all anew.
  void read() {
    ASSERT_TRUE(stack_.read(*socket_));
    ASSERT_TRUE(qdiscs_.read(*socket_));
    elsewhere_.expire(Ifindex());
    ASSERT_TRUE(elsewhere_.read(*clsact_, qdiscs_, stack_, {index_of("p0"), index_of("p1")}));
  }
  std::string into(const char* port) {
    const Ifindex index = index_of(port);
    return elsewhere_.into(index, stack_.below(index)).value_or("");
  }

  bpf::Programs programs_{std::nullopt};
  std::optional<bpf::Clsact> clsact_;
  std::optional<TcSocket> socket_;
  bpf::Stack stack_;
  bpf::Qdiscs qdiscs_;
  bpf::Elsewhere elsewhere_;
};

TEST_F(Elsewhere, PacketsGoOnByTwoMacvlansOfOneInterface) {
  const std::set<Ifindex> ports{index_of("p0"), index_of("p1")};
  const auto names = [&] {
    std::set<std::string> names;
    for (const Ifindex link : stack_.passages(ports)) names.insert(stack_.name_of(link));
    return names;
  };
  ASSERT_TRUE(
      sh("ip link add e0 up type bridge && ip link add m0 link e0 up type macvlan mode bridge"));
  read();
  EXPECT_THAT(names(), IsEmpty());
  ASSERT_TRUE(sh("ip link add m1 link e0 type macvlan mode bridge"));
  read();
  EXPECT_THAT(names(), IsEmpty()) << "it is down";
  ASSERT_TRUE(sh("ip link set m1 up"));
  read();
  EXPECT_THAT(names(), ElementsAre("m0", "m1"));
  ASSERT_TRUE(sh("ip link del e0"));
}

// A filter with a class, on an interface where packets go on within the machine.
TEST_F(Elsewhere, FilterThatEndsAHookIsFoundWherePacketsGoOnWithin) {
  const std::set<Ifindex> ports{index_of("p0"), index_of("p1")};
  const auto names = [&] {
    std::string names;
    for (const Ifindex link : stack_.passages(ports)) names += stack_.name_of(link) + " ";
    return names;
  };
  const auto ends = [&] { return elsewhere_.ends_hook(stack_.passages(ports)).value_or(""); };
  const auto harm = [&] {
    return bpf::harm_on_passages(elsewhere_, stack_, stack_.passages(ports)).value_or("");
  };
  ASSERT_TRUE(
      sh("tc filter add dev x0 egress pref 9 protocol ip u32 match u32 0 0 flowid 1:7 && "
         "ip link add m1 type veth peer name m2 && ip link set m2 up && tc qdisc add dev m1 clsact "
         "&& tc filter add dev m1 ingress pref 9 protocol ip u32 match u32 0 0 flowid 1:7"));
  read();
  EXPECT_EQ(names(), "") << "neither a port's other end, nor what is down";
  EXPECT_EQ(ends(), "");
  ASSERT_TRUE(sh("ip link set m1 up"));
  read();
  EXPECT_THAT(names(), AllOf(HasSubstr("m1 "), HasSubstr("m2 ")));
  EXPECT_EQ(ends(), "a filter (u32, preference 9) at the ingress of m1");
  EXPECT_FALSE(elsewhere_.empty()) << "what is no passage now may be one later";
  EXPECT_EQ(harm(), ends() +
                        " ends the hook, and the kernel writes over the mark by which packets "
                        "that go on that way are known, so that they do not turn: " +
                        std::string(bpf::kRemedyOfEnd));
  ASSERT_TRUE(sh("tc filter del dev m1 ingress pref 9"));
  pass* theirs = pass__open_and_load();
  ASSERT_NE(theirs, nullptr);
  bpf_link* link =
      bpf_program__attach_xdp(theirs->progs.pass, static_cast<int>(::if_nametoindex("m1")));
  ASSERT_NE(link, nullptr);
  read();
  EXPECT_THAT(harm(), AllOf(HasSubstr("an XDP program ("),
                            HasSubstr(") on m1 may redirect packets that go on that way")));
  ASSERT_TRUE(sh("ip netns add elsewhere && ip link set m2 netns elsewhere"));
  read();
  EXPECT_EQ(names(), "");
  EXPECT_EQ(ends(), "");
  EXPECT_EQ(harm(), "");
  bpf_link__destroy(link);
  pass__destroy(theirs);
  sh("ip netns del elsewhere; ip link del m1 2>/dev/null");
  if (!sh("ip link add m1 up type vxlan id 7 dstport 4789 dev p1 2>/dev/null")) return;
  read();
  EXPECT_EQ(names(), "m1 ");
}

// Its packets have come by no port.
TEST_F(Elsewhere, FilterThatSendsOnWhatAContainerSendsNeedsNoMark) {
  ASSERT_TRUE(make_links());
  ASSERT_TRUE(
      sh("ip netns add elsewhere && ip link add m0 up type veth peer name m1 netns elsewhere && "
         "tc qdisc add dev m0 clsact && tc filter add dev m0 ingress pref 9 protocol ip u32 match "
         "u32 0 0 action mirred egress redirect dev x0"));
  read();
  EXPECT_EQ(elsewhere_.relies_on_mark(), std::nullopt);
  sh("ip netns del elsewhere");
}

struct Case {
  const char* does = "";
  const char* into_p0 = "";  ///< what sends packets there
  const char* into_p1 = "";
  bool relies_on_mark = false;
};
#define FILTER "u32 match u32 0 0 "
constexpr Case kCases[] = {
    {"tc filter add dev x0 egress pref 9 protocol ip " FILTER "flowid 1:7"},
    {"tc filter add dev x0 egress pref 9 protocol ip " FILTER
     "action mirred ingress redirect dev p1",
     "",
     "a filter (u32, preference 9) at the egress of x0 sends packets into the ingress of this port "
     "(mirred)",
     true},
    {"tc filter add dev x0 ingress pref 9 protocol all " FILTER
     "action mirred ingress mirror dev p0",
     "a filter (u32, preference 9) at the ingress of x0 sends packets into the ingress of this "
     "port (mirred)",
     "", true},
    {"tc filter add dev x0 egress pref 9 protocol arp " FILTER
     "action mirred ingress redirect dev p1"},
    {"tc filter add dev x0 egress pref 9 protocol ip " FILTER
     "action mirred egress redirect dev p1",
     "", "", true},
    {"tc filter add dev x0 egress pref 9 protocol ip " FILTER "action mirred egress mirror dev p1",
     "", "", true},
    {"tc filter add dev x0 egress pref 9 protocol ip " FILTER
     "action mirred ingress redirect dev x1",
     "", "", true},
    {"tc actions add action mirred ingress redirect dev p1 index 7"},
    {"tc actions add action mirred ingress redirect dev p1 index 7 && "
     "tc filter add dev x0 egress pref 9 protocol ip " FILTER "action mirred index 7",
     "", "(u32, preference 9) at the egress of x0", true},
    {"tc filter add dev x0 egress pref 9 protocol ip " FILTER
     "action mirred egress mirror dev x1 pipe action mirred ingress redirect dev p1",
     "", "(u32, preference 9) at the egress of x0", true},
    // A chain that another filter leads to.
    {"tc filter add dev x0 egress pref 9 protocol ip " FILTER
     "action police rate 1gbit burst 1m conform-exceed goto chain 7"},
    {"tc filter add dev x0 egress pref 9 chain 7 protocol ip " FILTER
     "action mirred ingress redirect dev p1",
     "", "(u32, preference 9) at the egress of x0", true},
    {"tc qdisc add dev x1 ingress && tc filter add dev x1 ingress pref 9 protocol ip " FILTER
     "action mirred ingress redirect dev p1",
     "", "(u32, preference 9) at the ingress of x1", true},
    {"tc qdisc add dev x1 root handle 1: htb && tc class add dev x1 parent 1: classid 1:1 htb rate "
     "1gbit && tc filter add dev x1 parent 1:1 pref 9 protocol ip " FILTER
     "action mirred ingress redirect dev p1",
     "", "a filter of class 1:1 (u32, preference 9) at the egress of x1", true},
    {"tc qdisc add dev x1 root fq_codel && tc filter add dev x1 pref 9 protocol ip " FILTER
     "action mirred ingress redirect dev p1",
     "", "(u32, preference 9) at the egress of x1", true},
    {"tc qdisc del dev x0 clsact && tc qdisc add dev x0 egress_block 7 clsact && "
     "tc filter add block 7 pref 9 protocol ip " FILTER "action mirred ingress redirect dev p1",
     "", "(u32, preference 9) at the egress of x0", true},
    {"tc qdisc add dev x1 root handle 1: red limit 100000 avpkt 1000 qevent early_drop block 8 && "
     "tc filter add block 8 pref 9 protocol ip " FILTER "action mirred ingress redirect dev p1",
     "", "a filter of block 8 of the qdisc 1:0 (u32, preference 9) at the egress of x1", true},
    {"tc filter add dev x0 egress pref 9 bpf da object-file " LLDP_TEST_PROBE " program stranger",
     "a filter (bpf, preference 9) at the egress of x0 may send packets into the ingress of this "
     "port (bpf)",
     "a filter (bpf, preference 9) at the egress of x0 may send packets into"},
    // There it is told of the port itself.
    {"tc qdisc add dev p0 clsact && tc filter add dev p0 egress pref 9 protocol ip " FILTER
     "action mirred ingress redirect dev p1"},
};

TEST_F(Elsewhere, FilterThatSendsPacketsIntoAPortIsFound) {
  std::size_t tried = 0;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.does);
    ASSERT_TRUE(make_links());
    if (!sh(std::string(c.does) + " 2>/dev/null")) {
      std::cout << "this kernel cannot: " << c.does << '\n';
      continue;
    }
    ++tried;
    read();
    for (const auto& [port, told] : {std::pair("p0", c.into_p0), std::pair("p1", c.into_p1)}) {
      if (*told == '\0')
        EXPECT_EQ(into(port), "") << port;
      else
        EXPECT_THAT(into(port), HasSubstr(told)) << port;
    }
    EXPECT_EQ(elsewhere_.relies_on_mark().has_value(), c.relies_on_mark);
  }
  EXPECT_NE(tried, 0U);
}

// Packets of an interface on which a port stands go on to it. One that stands on the port has not
// its number, and the mark tells.
TEST_F(Elsewhere, FilterThatSendsPacketsBelowAPortIsFoundAndNotAboveIt) {
  if (!sh("ip link add link p1 name m1 up type macvlan mode bridge 2>/dev/null"))
    GTEST_SKIP() << "this kernel has no macvlan";
  const std::string filter =
      "tc filter replace dev x0 egress pref 9 handle 800::1 protocol ip " FILTER
      "action mirred ingress redirect dev ";
  ASSERT_TRUE(sh(filter + "p1"));
  read();
  EXPECT_THAT(into("m1"),
              HasSubstr("x0 sends packets into the ingress of p1, on which this port stands"));
  ASSERT_TRUE(sh("tc filter del dev x0 egress"));
  ASSERT_TRUE(sh(filter + "m1"));
  read();
  EXPECT_EQ(into("p1"), "");
}

TEST_F(Elsewhere, IsKnownUntilAnEventNamesTheInterface) {
  read();
  ASSERT_TRUE(sh("tc filter add dev x0 egress pref 9 protocol ip " FILTER
                 "action mirred ingress redirect dev p1"));
  const std::set<Ifindex> told{index_of("p0"), index_of("p1")};
  ASSERT_TRUE(elsewhere_.read(*clsact_, qdiscs_, stack_, told));
  EXPECT_TRUE(elsewhere_.empty());
  elsewhere_.expire(index_of("x1"));
  ASSERT_TRUE(elsewhere_.read(*clsact_, qdiscs_, stack_, told));
  EXPECT_TRUE(elsewhere_.empty());
  elsewhere_.expire(index_of("x0"));
  ASSERT_TRUE(elsewhere_.read(*clsact_, qdiscs_, stack_, told));
  EXPECT_FALSE(elsewhere_.empty());
  ASSERT_TRUE(sh("ip link del x0"));
  ASSERT_TRUE(qdiscs_.read(*socket_));
  ASSERT_TRUE(elsewhere_.read(*clsact_, qdiscs_, stack_, told));
  EXPECT_TRUE(elsewhere_.empty());
}

/// Rules on p0 and p1.
class BesidePorts : public testing::TestWithParam<Hooked> {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    if (GetParam() == Hooked::kTcx && !bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
    ASSERT_TRUE(make_links());
    auto backend = make_backend(
        "bpf", {.bpf = {.bpffs = PrivateNet::bpffs(),
                        .hook = GetParam() == Hooked::kTcx ? BpfOptions::Hook::kTcx
                                                           : BpfOptions::Hook::kClsact}});
    ASSERT_TRUE(backend) << to_string(backend.error());
    backend_ = std::move(*backend);
    ports_ = {index_of("p0"), index_of("p1")};
    for (const Ifindex port : ports_) {
      const auto plan = backend_->plan(ref(port), rules_of(Order::kUp));
      ASSERT_TRUE(plan) << to_string(plan.error());
      ASSERT_TRUE(finish(*backend_, *plan));
      EXPECT_EQ(complaints(port), "");
    }
    (void)backend_->take_events();
  }
  std::string complaints(Ifindex port) {
    const auto reading = backend_->verify(ref(port), rules_of(Order::kUp));
    EXPECT_TRUE(reading) << to_string(reading.error());
    return reading ? complaints_of(*reading) : std::string();
  }
  std::vector<Ifindex> changed() { return backend_->take_events().changed; }
  /// What comes until this is among it: what happens elsewhere is looked at a moment later.
  std::vector<Ifindex> changed_until(Ifindex port) {
    std::vector<Ifindex> all = changed();
    pollfd more{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    while (std::ranges::find(all, port) == all.end() && ::poll(&more, 1, 5000) == 1) {
      const auto some = changed();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  std::vector<Ifindex> seen(Backend::Glance why) { return backend_->glance(ports_, why); }
  Ifindex p0() const { return ports_[0]; }
  Ifindex p1() const { return ports_[1]; }

  std::unique_ptr<Backend> backend_;
  std::array<Ifindex, 2> ports_{};
};
INSTANTIATE_TEST_SUITE_P(On, BesidePorts, testing::Values(Hooked::kClsact, Hooked::kTcx),
                         testing::PrintToStringParamName());

constexpr const char* kIntoP1 =
    "tc filter add dev x0 egress pref 9 protocol ip " FILTER "action mirred ingress redirect dev ";

TEST_P(BesidePorts, FilterIsAnEventOfThePortThatItSendsPacketsInto) {
  ASSERT_TRUE(sh(kIntoP1 + std::string("p1")));
  const auto told = changed_until(p1());
  EXPECT_THAT(told, Contains(p1()));
  EXPECT_THAT(told, Not(Contains(p0())));
  EXPECT_EQ(complaints(p0()), "");
  EXPECT_EQ(complaints(p1()),
            "classify bypassed: a filter (u32, preference 9) at the egress of x0 sends packets "
            "into the ingress of this port (mirred), where they count as come by it, so that turns "
            "are missed or made wrongly: delete it, or, if no lossless packets take the port, "
            "leave it out of `ports`\n");
  ASSERT_TRUE(sh("tc filter del dev x0 egress"));
  EXPECT_THAT(changed_until(p1()), Contains(p1()));
  EXPECT_EQ(complaints(p1()), "");
}

TEST_P(BesidePorts, HarmlessFilterIsNoEventOfAPort) {
  ASSERT_TRUE(sh("tc filter add dev x0 egress pref 9 protocol ip " FILTER "flowid 1:7"));
  const auto told = changed();
  for (const Ifindex port : ports_) {
    EXPECT_THAT(told, Not(Contains(port)));
    EXPECT_EQ(complaints(port), "");
  }
  EXPECT_THAT(seen(Backend::Glance::kOfQuestion), IsEmpty());
}

// By a link, of which no event tells.
TEST_P(BesidePorts, XdpWherePacketsGoOnWithinIsSeenAtAGlance) {
  ASSERT_TRUE(sh("ip link add m0 up type veth peer name m1 && ip link set m1 up"));
  backend_->links_changed();
  for (const Ifindex port : ports_) EXPECT_EQ(complaints(port), "");
  for (int i = 0; i < 2; ++i) EXPECT_THAT(seen(Backend::Glance::kOfTime), IsEmpty());
  pass* theirs = pass__open_and_load();
  ASSERT_NE(theirs, nullptr);
  bpf_link* link =
      bpf_program__attach_xdp(theirs->progs.pass, static_cast<int>(::if_nametoindex("m1")));
  ASSERT_NE(link, nullptr);
  EXPECT_THAT(seen(Backend::Glance::kOfTime), ElementsAre(p0(), p1()));
  EXPECT_THAT(complaints(p0()), HasSubstr("on m1 may redirect packets that go on that way"));
  EXPECT_NE(complaints(p1()), "");
  bpf_link__destroy(link);
  pass__destroy(theirs);
  EXPECT_THAT(seen(Backend::Glance::kOfTime), ElementsAre(p0(), p1()));
  EXPECT_EQ(complaints(p0()), "");
}

// What stands on a port may not be asked for at each read of all interfaces.
TEST_P(BesidePorts, LookAtOnePortIsNoChangeOfAnother) {
  for (const char* port : {"p0", "p1"})
    if (!sh(std::string("ip link add link ") + port + " name m" + port[1] +
            " up type macvlan mode bridge 2>/dev/null"))
      GTEST_SKIP() << "this kernel has no macvlan";
  backend_->links_changed();
  for (const Ifindex port : ports_) EXPECT_EQ(complaints(port), "");
  EXPECT_THAT(seen(Backend::Glance::kOfTime), IsEmpty());
  backend_->links_changed();
  EXPECT_EQ(complaints(p0()), "");
  EXPECT_THAT(seen(Backend::Glance::kOfTime), IsEmpty());
}

TEST_P(BesidePorts, InterfaceThatGoesWithItsFilterIsSeenAtAGlance) {
  ASSERT_TRUE(sh(kIntoP1 + std::string("p1")));
  (void)changed();
  EXPECT_NE(complaints(p1()), "");
  EXPECT_THAT(seen(Backend::Glance::kOfTime), IsEmpty());
  ASSERT_TRUE(sh("ip link del x0"));
  (void)changed();
  EXPECT_THAT(seen(Backend::Glance::kOfTime), ElementsAre(p1()));
  EXPECT_EQ(complaints(p1()), "");
}

// The filter stays, and its action becomes another: the kernel tells of the action alone.
TEST_P(BesidePorts, ActionThatIsChangedIsAnEventOfAnyPort) {
  ASSERT_TRUE(
      sh("tc actions add action mirred egress mirror dev x1 index 7 && tc filter add dev x0 egress "
         "pref 9 protocol ip " FILTER "action mirred index 7"));
  (void)changed();
  EXPECT_EQ(complaints(p1()), "");
  ASSERT_TRUE(sh("tc actions replace action mirred ingress redirect dev p1 index 7"));
  EXPECT_THAT(changed(), Contains(Ifindex()));
  EXPECT_THAT(complaints(p1()), HasSubstr("sends packets into the ingress of this port"));
}

TEST_P(BesidePorts, TcxProgramIsSeenBeforeAnAnswer) {
  if (!bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
  probe* theirs = probe__open_and_load();
  ASSERT_NE(theirs, nullptr);
  EXPECT_THAT(seen(Backend::Glance::kOfQuestion), IsEmpty());
  {
    const UniqueFd program(::dup(bpf_program__fd(theirs->progs.stranger)));
    const auto link = bpf::attach_tcx(program, index_of("x1"), Part::kRemap);
    ASSERT_TRUE(link) << to_string(link.error());
    EXPECT_THAT(seen(Backend::Glance::kOfQuestion), ElementsAre(p0(), p1()));
    for (const Ifindex port : ports_) {
      EXPECT_THAT(complaints(port), HasSubstr("classify bypassed: a TCX program ("));
      EXPECT_THAT(complaints(port), HasSubstr(") at the egress of x1 may send packets into the "
                                              "ingress of this port (BPF), where they count"));
    }
    EXPECT_THAT(seen(Backend::Glance::kOfQuestion), IsEmpty());
  }
  EXPECT_THAT(seen(Backend::Glance::kOfQuestion), ElementsAre(p0(), p1()));
  for (const Ifindex port : ports_) EXPECT_EQ(complaints(port), "");
  probe__destroy(theirs);
}

}  // namespace
}  // namespace lldp::dataplane
