// SPDX-License-Identifier: Apache-2.0
#include "agent/links/pfc_monitor.hpp"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "tests/netns/support.hpp"

namespace lldp::io {
namespace {

TEST(PfcMonitorTest, ADriverWithoutDcbnlSaysNothing) {
  if (const auto why = netns::missing_privilege(); !why.empty()) GTEST_SKIP() << why;
  const netns::Namespace space;
  space.ip("link add p0 type veth peer name q0");
  const netns::Inside in(space);
  auto monitor = PfcMonitor::open();
  ASSERT_TRUE(monitor) << to_string(monitor.error());
  for (int i = 0; i < 3; ++i) {  // EOPNOTSUPP, and each question gets its own answer
    EXPECT_EQ(monitor->ask("p0"), std::nullopt);
    EXPECT_EQ(monitor->ask("none"), std::nullopt);  // ENODEV
  }
  monitor->receive([](std::string_view name) { ADD_FAILURE() << "told of " << name; });
}

// Of its own messages no kernel without a driver sends any: links' messages overflow as well.
TEST(PfcMonitorTest, AfterAnOverflowAnyPortMayBeAnother) {
  if (const auto why = netns::missing_privilege(); !why.empty()) GTEST_SKIP() << why;
  const netns::Namespace space;
  const netns::Inside in(space);
  UniqueFd events(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl links{};
  links.nl_family = AF_NETLINK;
  links.nl_groups = RTMGRP_LINK;
  ASSERT_EQ(::bind(events.get(), reinterpret_cast<const sockaddr*>(&links), sizeof links), 0);
  constexpr int kLeast = 1;
  ASSERT_EQ(::setsockopt(events.get(), SOL_SOCKET, SO_RCVBUF, &kLeast, sizeof kLeast), 0);
  PfcMonitor monitor(std::move(events), UniqueFd());
  for (int i = 0; i < 3; ++i) space.ip("link add p" + std::to_string(i) + " type veth");
  std::vector<std::string> told;
  monitor.receive([&](std::string_view name) { told.emplace_back(name); });
  EXPECT_EQ(told, std::vector<std::string>{""});
}

}  // namespace
}  // namespace lldp::io
