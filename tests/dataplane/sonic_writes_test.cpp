// SPDX-License-Identifier: Apache-2.0
// How often rows of CONFIG_DB are written: others are told of every write.
#include <gtest/gtest.h>

#include "tests/dataplane/sonic_driver.hpp"

namespace lldp::dataplane {
namespace {

TEST(SonicWrites, PortThatFlapsIsWrittenOnceForEachChange) {
  Box box(2);
  if (!box.runs()) GTEST_SKIP() << "there is no redis-server here";
  Driver driver(box);
  driver.want(0, Order::kUp);
  driver.want(1, Order::kUp);
  driver.open();
  ASSERT_TRUE(driver.until_done());
  driver.want(1, Order::kDown);
  ASSERT_TRUE(driver.until_done());  // both orders have their maps
  KeyEvents events(box.socket(), kConfig);
  constexpr int kFlaps = 10;
  for (int i = 0; i < kFlaps; ++i) {
    driver.want(0, i % 2 == 0 ? Order::kDown : Order::kUp);
    ASSERT_TRUE(driver.until_done());
    driver.turns(3);
  }
  std::map<std::string, int> set;
  std::map<std::string, int> unset;
  for (const auto& [key, what] : events.take()) {
    if (what == "hset") ++set[key];
    if (what == "hdel") ++unset[key];
  }
  const std::string row = "PORT_QOS_MAP|" + Box::name_of(0);
  EXPECT_EQ(set, (std::map<std::string, int>{{row, kFlaps}}));
  EXPECT_EQ(unset, (std::map<std::string, int>{{row, kFlaps / 2}}))
      << "in the same transaction: a down port has no map of DSCPs";
}

}  // namespace
}  // namespace lldp::dataplane
