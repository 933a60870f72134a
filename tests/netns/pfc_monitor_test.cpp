// SPDX-License-Identifier: Apache-2.0
#include "agent/links/pfc_monitor.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lldp::io
