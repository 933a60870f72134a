// SPDX-License-Identifier: Apache-2.0
#include "agent/links/link_monitor.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/netns/support.hpp"

namespace {

using Receive = int (*)(nl_sock*);
/// What stands in for libnl's nl_recvmsgs_default while a test wants a read to fail.
std::function<int(nl_sock*, Receive)>& reads() {
  static std::function<int(nl_sock*, Receive)> instead;
  return instead;
}

}  // namespace

/// Found before libnl's own: the linker looks in the program first.
extern "C" int nl_recvmsgs_default(nl_sock* socket) {
  static const auto real = reinterpret_cast<Receive>(::dlsym(RTLD_NEXT, "nl_recvmsgs_default"));
  return reads() ? reads()(socket, real) : real(socket);
}

namespace lldp::io {
namespace {

using netns::eventually;
using netns::Inside;
using netns::Namespace;

class LinkMonitorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = netns::missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    space_.emplace();
    space_->ip("link add p0 type veth peer name q0");
    const Inside in(*space_);
    monitor_.emplace(LinkMonitor::open().value());
    monitor_->observe({.changed = [this](const Interface&) { ++changes_; },
                       .gone = [this](Ifindex) { ++gone_; },
                       .forwarding = [this] { ++forwarding_; },
                       .addresses = [this] { ++address_changes_; }});
  }
  const Interface* find(std::string_view name) {
    for (const auto& [ifindex, link] : monitor_->table().interfaces())
      if (link.name == name) return &link;
    return nullptr;
  }
  void TearDown() override { reads() = nullptr; }
  /// `fault` takes the place of each read of an answer, until it is done with; events come as ever.
  void answer_by(std::function<std::optional<int>(nl_sock*, Receive)> fault) {
    reads() = [this, fault = std::move(fault)](nl_sock* socket, Receive real) {
      if (nl_socket_get_fd(socket) == monitor_->fd()) return real(socket);
      if (const auto failed = fault(socket, real)) return *failed;
      return real(socket);
    };
  }
  /// Makes the kernel leave out events: p0 and its peer have gone, and 100 pairs and an address
  /// have come.
  void overrun() {
    const int tiny = 4096;
    ASSERT_EQ(::setsockopt(monitor_->fd(), SOL_SOCKET, SO_RCVBUF, &tiny, sizeof tiny), 0);
    std::string lines = "link del p0\n";
    for (int i = 0; i < 100; ++i)
      lines += fmt::format("link add v{0} type veth peer name w{0}\n", i);
    space_->ip_batch(lines + "addr add 192.0.2.1/32 dev lo\n");
  }
  /// As the kernel tells the VLANs of a bridge's port, to all who have subscribed.
  void tell_vlans(Ifindex port, std::vector<std::uint16_t> vids) {
    const std::unique_ptr<nl_msg, void (*)(nl_msg*)> message(nlmsg_alloc_simple(RTM_NEWLINK, 0),
                                                             nlmsg_free);
    ifinfomsg info{};
    info.ifi_family = AF_BRIDGE;
    info.ifi_index = static_cast<int>(port.value());
    ASSERT_EQ(nlmsg_append(message.get(), &info, sizeof info, NLMSG_ALIGNTO), 0);
    nlattr* const spec = nla_nest_start(message.get(), IFLA_AF_SPEC);
    for (const std::uint16_t vid : vids) {
      const bridge_vlan_info vlan{.flags = 0, .vid = vid};
      ASSERT_EQ(nla_put(message.get(), IFLA_BRIDGE_VLAN_INFO, sizeof vlan, &vlan), 0);
    }
    nla_nest_end(message.get(), spec);
    const Inside in(*space_);
    const std::unique_ptr<nl_sock, void (*)(nl_sock*)> socket(nl_socket_alloc(), nl_socket_free);
    ASSERT_EQ(nl_connect(socket.get(), NETLINK_ROUTE), 0);
    nl_socket_set_peer_groups(socket.get(), 1U << (RTNLGRP_LINK - 1));
    nl_complete_msg(socket.get(), message.get());
    ASSERT_GT(nl_send(socket.get(), message.get()), 0);
    ASSERT_TRUE(monitor_->receive());
  }
  bool comes_true(const std::function<bool()>& done) {
    return eventually([&] {
      EXPECT_TRUE(monitor_->receive());
      return done();
    });
  }

  std::optional<Namespace> space_;
  std::optional<LinkMonitor> monitor_;
  int changes_ = 0;
  int gone_ = 0;
  int forwarding_ = 0;
  int address_changes_ = 0;
};

TEST_F(LinkMonitorTest, KnowsWhatIsThereAtTheStart) {
  const Interface* p0 = find("p0");
  ASSERT_TRUE(p0);
  EXPECT_EQ(p0->kind, "veth");
  EXPECT_TRUE(p0->ethernet);
  EXPECT_FALSE(p0->up);
  EXPECT_FALSE(find("lo")->ethernet);
}

TEST_F(LinkMonitorTest, FollowsCarrierNameMtuAndMaster) {
  space_->ip("link set q0 up");
  space_->ip("link set p0 up");
  EXPECT_TRUE(comes_true([&] { return find("p0")->up; }));
  space_->ip("link set q0 down");
  EXPECT_TRUE(comes_true([&] { return !find("p0")->up; }));
  space_->ip("link set p0 mtu 1400");
  EXPECT_TRUE(comes_true([&] { return find("p0")->mtu == 1400; }));
  space_->ip("link set p0 name swp1");
  EXPECT_TRUE(comes_true([&] { return find("swp1") && !find("p0"); }));
  space_->ip("link add br0 type bridge");
  space_->ip("link set swp1 master br0");
  EXPECT_TRUE(comes_true([&] { return find("swp1")->master_kind == "bridge"; }));
  space_->ip("link set swp1 nomaster");
  EXPECT_TRUE(comes_true([&] { return find("swp1")->master_kind.empty(); }));
  EXPECT_EQ(gone_, 0);  // leaving the bridge is not leaving us
}

TEST_F(LinkMonitorTest, MissesWhatIsDeletedOrMovedAway) {
  const Namespace other;
  space_->ip("link set q0 netns " + other.name());
  EXPECT_TRUE(comes_true([&] { return !find("q0"); }));
  space_->ip("link del p0");
  EXPECT_TRUE(comes_true([&] { return !find("p0"); }));
  EXPECT_EQ(gone_, 2);
}

TEST_F(LinkMonitorTest, FollowsForwarding) {
  EXPECT_FALSE(monitor_->table().forwarding());
  space_->sysctl("net/ipv4/conf/all/forwarding", "1");
  EXPECT_TRUE(comes_true([&] { return monitor_->table().forwarding(); }));
  space_->sysctl("net/ipv6/conf/all/forwarding", "1");
  space_->sysctl("net/ipv4/conf/all/forwarding", "0");
  space_->sysctl("net/ipv6/conf/all/forwarding", "0");
  EXPECT_TRUE(comes_true([&] { return !monitor_->table().forwarding(); }));
  EXPECT_EQ(forwarding_, 2);
  const Inside in(*space_);
  space_->sysctl("net/ipv6/conf/all/forwarding", "1");
  EXPECT_TRUE(LinkMonitor::open().value().table().forwarding());  // asked for, too
}

TEST_F(LinkMonitorTest, FollowsForwardingOfSingleInterfaces) {
  const auto comes_to = [&](Forwards forwards) {
    return comes_true([&] { return monitor_->table().forwards() == forwards; });
  };
  space_->sysctl("net/ipv4/conf/all/forwarding", "0");
  EXPECT_TRUE(comes_to(Forwards::kNothing));
  space_->sysctl("net/ipv4/conf/p0/forwarding", "1");
  EXPECT_TRUE(comes_to(Forwards::kBySome));
  {
    const Inside in(*space_);
    EXPECT_EQ(LinkMonitor::open().value().table().forwards(), Forwards::kBySome)
        << "asked for, too";
  }
  space_->sysctl("net/ipv4/conf/p0/forwarding", "0");
  EXPECT_TRUE(comes_to(Forwards::kNothing));
  space_->sysctl("net/ipv4/conf/p0/forwarding", "1");
  space_->sysctl("net/ipv4/conf/all/forwarding", "1");
  EXPECT_TRUE(comes_to(Forwards::kByAll));
  space_->sysctl("net/ipv4/conf/all/forwarding", "0");
  EXPECT_TRUE(comes_to(Forwards::kNothing)) << "all of them";
  space_->sysctl("net/ipv4/conf/p0/forwarding", "1");
  EXPECT_TRUE(comes_to(Forwards::kBySome));
  space_->ip("link del p0");
  EXPECT_TRUE(comes_to(Forwards::kNothing));
}

TEST_F(LinkMonitorTest, DoesNotTellWhatHasNotChanged) {
  space_->ip("link set p0 up");  // of others the kernel does not tell all
  EXPECT_TRUE(monitor_->receive());
  changes_ = 0;
  space_->ip("link set p0 txqueuelen 77");  // an event in which nothing concerns us
  space_->ip("link set p0 mtu 1400");
  EXPECT_TRUE(comes_true([&] { return find("p0")->mtu == 1400; }));
  EXPECT_EQ(changes_, 1);
}

TEST_F(LinkMonitorTest, AsksForAllWhenTheKernelLeftOutEvents) {
  overrun();
  EXPECT_TRUE(monitor_->receive());
  EXPECT_EQ(monitor_->table().interfaces().size(), 201U);  // lo and both ends
  EXPECT_FALSE(find("p0"));
  EXPECT_EQ(gone_, 2);
  EXPECT_EQ(monitor_->table().addresses().size(), 3U);  // and the loopback's own
  EXPECT_EQ(address_changes_, 1);
}

TEST_F(LinkMonitorTest, FollowsAddresses) {
  space_->ip("addr add 192.0.2.1/32 dev lo");
  EXPECT_TRUE(comes_true([&] { return monitor_->table().addresses().size() == 3; }));
  space_->ip("addr add 2001:db8::1/128 dev lo");
  EXPECT_TRUE(comes_true([&] { return monitor_->table().addresses().size() == 4; }));
  EXPECT_EQ(address_changes_, 2);
  space_->ip(
      "addr change 192.0.2.1/32 dev lo valid_lft 1000 preferred_lft 1000");  // an event that
                                                                             // concerns us not
  space_->ip("addr del 2001:db8::1/128 dev lo");
  EXPECT_TRUE(comes_true([&] { return monitor_->table().addresses().size() == 3; }));
  EXPECT_EQ(address_changes_, 3);
}

// Told in the kernel's place: not every kernel has bridges that heed VLANs.
TEST_F(LinkMonitorTest, FollowsTheVlansOfABridgesPort) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  const Ifindex p0 = find("p0")->ifindex;
  const auto vlans = [&] {
    const auto at = monitor_->table().bridge_vlans().find(p0);
    return at == monitor_->table().bridge_vlans().end() ? std::vector<std::uint16_t>()
                                                        : at->second.vlans;
  };
  tell_vlans(p0, {5, 7});
  EXPECT_THAT(vlans(), ElementsAre(5, 7));
  EXPECT_EQ(changes_, 1);
  tell_vlans(p0, {5, 7});
  EXPECT_EQ(changes_, 1);
  tell_vlans(p0, {7, 9});
  EXPECT_THAT(vlans(), ElementsAre(7, 9));
  EXPECT_EQ(changes_, 2);
  tell_vlans(p0, {});
  EXPECT_THAT(monitor_->table().bridge_vlans(), IsEmpty());
  EXPECT_EQ(changes_, 3);
  tell_vlans(p0, {});
  EXPECT_EQ(changes_, 3);
  tell_vlans(*Ifindex::make(9999), {5});  // of an interface that is not there yet: nobody to tell
  EXPECT_EQ(monitor_->table().bridge_vlans().size(), 1U);
  EXPECT_EQ(changes_, 3);
}

TEST_F(LinkMonitorTest, ForgetsTheVlansOfAnInterfaceThatIsGone) {
  tell_vlans(find("p0")->ifindex, {5});
  space_->ip("link del p0");
  EXPECT_TRUE(comes_true([&] { return !find("p0"); }));
  EXPECT_THAT(monitor_->table().bridge_vlans(), testing::IsEmpty());
}

TEST_F(LinkMonitorTest, ForgetsTheVlansThatAreNotListedAnyMore) {
  tell_vlans(find("p0")->ifindex, {5});
  reads() = [this, lost = true](nl_sock* socket, Receive real) mutable {
    if (nl_socket_get_fd(socket) == monitor_->fd() && std::exchange(lost, false))
      return -NLE_NOMEM;  // and so all is asked for
    return real(socket);
  };
  ASSERT_TRUE(monitor_->receive());
  EXPECT_THAT(monitor_->table().bridge_vlans(), testing::IsEmpty());
  EXPECT_EQ(changes_, 2);
}

TEST_F(LinkMonitorTest, AsksAgainWhenItCouldNotAsk) {
  const Inside in(*space_);  // where it opens another socket to ask by
  overrun();
  int refusals = 2;
  answer_by(
      [&](nl_sock*, Receive) { return refusals-- > 0 ? std::optional(-NLE_NOMEM) : std::nullopt; });
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(monitor_->receive());
    EXPECT_TRUE(monitor_->behind());
    EXPECT_TRUE(find("p0"));  // what was known stands
  }
  // Nothing happens any more that could wake it, and the answers to the two requests, which came
  // all the same, are not taken for that to the third.
  EXPECT_TRUE(monitor_->receive());
  EXPECT_FALSE(monitor_->behind());
  EXPECT_EQ(monitor_->table().interfaces().size(), 201U);
  EXPECT_FALSE(find("p0"));
}

// One that loses events without an end holds the loop up no longer than so many times.
TEST_F(LinkMonitorTest, KernelThatLeavesOutEventsWithoutEndIsLetBe) {
  int lost = 0;
  reads() = [&](nl_sock* socket, Receive real) {
    return nl_socket_get_fd(socket) == monitor_->fd() ? (++lost, -NLE_NOMEM) : real(socket);
  };
  const auto received = monitor_->receive();
  ASSERT_FALSE(received);
  EXPECT_THAT(to_string(received.error()), testing::StartsWith("rtnetlink: events: "));
  EXPECT_TRUE(monitor_->behind());
  EXPECT_EQ(lost, 101);
  reads() = nullptr;
  EXPECT_TRUE(monitor_->receive());
  EXPECT_FALSE(monitor_->behind());
}

// Whichever of the answers it is: the next turn knows all that one who starts then knows.
TEST_F(LinkMonitorTest, AnyAnswerThatFailsIsAskedForAgain) {
  const Inside in(*space_);
  space_->ip_batch("link add br0 type bridge\nlink set p0 master br0\n");
  std::set<std::string> failed;
  bool fails = true;
  for (int at = 1; fails; ++at) {
    SCOPED_TRACE("answer " + std::to_string(at));
    space_->ip_batch(
        fmt::format("link set q0 mtu {}\naddr add 192.0.2.{}/32 dev q0\n"
                    "link set p0 {}master{}\n",
                    1300 + at, at, at % 2 != 0 ? "no" : "", at % 2 != 0 ? "" : " br0"));
    space_->sysctl("net/ipv6/conf/all/forwarding", std::to_string(at / 2 % 2));
    space_->sysctl("net/ipv4/conf/p0/forwarding", std::to_string(at % 2));
    int answers = 0;
    bool left_out = true;  // events, once
    fails = false;
    reads() = [&](nl_sock* socket, Receive real) {
      if (nl_socket_get_fd(socket) == monitor_->fd())
        return std::exchange(left_out, false) ? -NLE_NOMEM : real(socket);
      if (++answers != at) return real(socket);
      fails = true;
      return -NLE_NOMEM;
    };
    const auto received = monitor_->receive();
    EXPECT_EQ(received.has_value(), !fails);
    EXPECT_EQ(monitor_->behind(), fails);
    if (!received) failed.insert(received.error().what);
    EXPECT_TRUE(monitor_->receive());
    EXPECT_FALSE(monitor_->behind());
    reads() = nullptr;
    const auto fresh = LinkMonitor::open();
    ASSERT_TRUE(fresh);
    EXPECT_EQ(monitor_->table().interfaces(), fresh->table().interfaces());
    EXPECT_EQ(monitor_->table().addresses(), fresh->table().addresses());
    EXPECT_EQ(monitor_->table().bridge_vlans(), fresh->table().bridge_vlans());
    EXPECT_EQ(monitor_->table().forwards(), fresh->table().forwards());
    ASSERT_LT(at, 20);
  }
  EXPECT_THAT(failed, testing::UnorderedElementsAre(testing::StartsWith("forwarding: "),
                                                    testing::StartsWith("list of forwarding: "),
                                                    testing::StartsWith("list of interfaces: "),
                                                    testing::StartsWith("list of addresses: "),
                                                    testing::StartsWith("list of VLANs: ")));
}

TEST_F(LinkMonitorTest, SaysThatNoDescriptorIsLeft) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto monitor = LinkMonitor::open();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(monitor);
  EXPECT_EQ(monitor.error().what, "connect: Too many open files");
}

TEST_F(LinkMonitorTest, ListsAnewWhatChangedWhileItWasListed) {
  overrun();
  int answers = 0;
  answer_by([&](nl_sock* socket, Receive real) -> std::optional<int> {
    if (++answers != 4) return std::nullopt;  // after those of what forwards
    const int e = real(socket);
    EXPECT_GE(e, 0);
    space_->ip("link del v7");  // its event waits; the list has to know by itself
    return -NLE_DUMP_INTR;
  });
  EXPECT_TRUE(monitor_->receive());
  EXPECT_EQ(answers, 7);  // the list once more, the addresses, and the VLANs of bridges
  EXPECT_EQ(monitor_->table().interfaces().size(), 199U);
  EXPECT_FALSE(find("v7"));
}

}  // namespace
}  // namespace lldp::io
