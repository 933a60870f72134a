// SPDX-License-Identifier: Apache-2.0
#include "agent/links/link_monitor.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/socket.h>

#include <optional>

#include "tests/netns/support.hpp"

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
                       .forwarding = [this] { ++forwarding_; }});
  }
  const Interface* find(std::string_view name) {
    for (const auto& [ifindex, link] : monitor_->interfaces())
      if (link.name == name) return &link;
    return nullptr;
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
  EXPECT_FALSE(monitor_->forwarding());
  space_->sysctl("net/ipv4/conf/all/forwarding", "1");
  EXPECT_TRUE(comes_true([&] { return monitor_->forwarding(); }));
  space_->sysctl("net/ipv6/conf/all/forwarding", "1");
  space_->sysctl("net/ipv4/conf/all/forwarding", "0");
  space_->sysctl("net/ipv6/conf/all/forwarding", "0");
  EXPECT_TRUE(comes_true([&] { return !monitor_->forwarding(); }));
  EXPECT_EQ(forwarding_, 2);
  const Inside in(*space_);
  space_->sysctl("net/ipv6/conf/all/forwarding", "1");
  EXPECT_TRUE(LinkMonitor::open().value().forwarding());  // asked for, too
}

TEST_F(LinkMonitorTest, DoesNotTellWhatHasNotChanged) {
  changes_ = 0;
  space_->ip("link set p0 alias anything");  // an event in which nothing concerns us
  space_->ip("link set p0 mtu 1400");
  EXPECT_TRUE(comes_true([&] { return find("p0")->mtu == 1400; }));
  EXPECT_EQ(changes_, 1);
}

TEST_F(LinkMonitorTest, AsksForAllWhenTheKernelLeftOutEvents) {
  const int tiny = 4096;
  ASSERT_EQ(::setsockopt(monitor_->fd(), SOL_SOCKET, SO_RCVBUF, &tiny, sizeof tiny), 0);
  std::string lines = "link del p0\n";
  for (int i = 0; i < 100; ++i) lines += fmt::format("link add v{0} type veth peer name w{0}\n", i);
  space_->ip_batch(lines);
  EXPECT_TRUE(monitor_->receive());
  EXPECT_EQ(monitor_->interfaces().size(), 201U);  // lo and both ends
  EXPECT_FALSE(find("p0"));
  EXPECT_EQ(gone_, 2);
}

}  // namespace
}  // namespace lldp::io
