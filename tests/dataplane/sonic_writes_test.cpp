// SPDX-License-Identifier: Apache-2.0
// How often rows of CONFIG_DB are written: others are told of every write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/dataplane/sonic_driver.hpp"

namespace lldp::dataplane {
namespace {

using testing::Each;
using testing::Ge;
using testing::Le;
using testing::Pair;

/// How often rows of PORT_QOS_MAP are written: a write is what one transaction does to a row.
class Writes {
 public:
  explicit Writes(Box& box) : events_(box.socket(), kConfig) {}
  void take() {
    std::map<std::string, int> set;
    std::map<std::string, int> unset;
    for (const auto& [key, what] : events_.take()) {
      if (!key.starts_with("PORT_QOS_MAP|")) continue;
      if (what == "hset") ++set[key];
      if (what == "hdel") ++unset[key];
    }
    for (const auto& [key, n] : set) rows_[key] += std::max(n, std::exchange(unset[key], 0));
    for (const auto& [key, n] : unset)
      if (n != 0) rows_[key] += n;
  }
  [[nodiscard]] std::map<std::string, int> rows() { return std::exchange(rows_, {}); }

 private:
  KeyEvents events_;
  std::map<std::string, int> rows_{};
};

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

// A row changes twice: the maps, and PFC once the buffer manager has seen what the reload set.
TEST(SonicWrites, QosReloadOf128PortsWritesARowOnceForEachChange) {
  constexpr int kPorts = 128;
  Box box(kPorts);
  if (!box.runs()) GTEST_SKIP() << "there is no redis-server here";
  Driver driver(box);
  driver.times.grace = std::chrono::seconds(60);  // none of the waits below ends by itself
  driver.times.settle = std::chrono::milliseconds(300);
  for (int i = 0; i < kPorts; ++i) driver.want(i, i % 2 == 0 ? Order::kUp : Order::kDown);
  driver.open();
  ASSERT_TRUE(driver.until_done());
  Writes writes(box);
  const auto turns = [&](int n) {
    driver.turns(n);
    writes.take();
  };
  for (const bool row_by_row : {false, true}) {
    SCOPED_TRACE(row_by_row);
    box.clear_qos();
    turns(5);
    box.settle();
    turns(5);
    box.load_buffers();
    turns(5);
    box.load_maps();
    for (int i = 0; i < kPorts; ++i) {
      box.load_port_qos(i);
      if (row_by_row && i % 16 == 0) turns(3);
    }
    ASSERT_TRUE(driver.until(
        [&] {
          writes.take();
          for (int i = 0; i < kPorts; ++i)
            if (driver.states(i) != "done done done done") return false;
          return true;
        },
        [&] { box.settle(); }))
        << driver.states(0) << driver.text(0, Part::kPfc);
    turns(20);
    const auto rows = writes.rows();
    EXPECT_EQ(rows.size(), kPorts);
    // The reload itself writes each row, in one command.
    EXPECT_THAT(rows, Each(Pair(testing::_, testing::AllOf(Ge(1 + 1), Le(1 + 2)))));
  }
}

}  // namespace
}  // namespace lldp::dataplane
