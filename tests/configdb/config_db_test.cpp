// SPDX-License-Identifier: Apache-2.0
// Rows of CONFIG_DB as they are read and followed, and rows of STATE_DB, on a Redis of the test's
// own.
#include "agent/configdb/config_db.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <functional>

#include "tests/dataplane/sonic_server.hpp"

namespace lldp::io {
namespace {

using dataplane::kConfig;
using dataplane::kState;
using testing::HasSubstr;

class ConfigDbTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.runs()) GTEST_SKIP() << "there is no redis-server here";
  }
  std::unique_ptr<ConfigDb> open() {
    auto opened = ConfigDb::open({.redis = server_.socket(),
                                  .config = "/none",
                                  .opening = std::chrono::seconds(10),
                                  .first_try = std::chrono::milliseconds(5),
                                  .last_try = std::chrono::milliseconds(20)});
    EXPECT_TRUE(opened) << to_string(opened.error());
    return opened ? std::move(*opened) : nullptr;
  }
  /// Its events are taken until that holds; false: it never did.
  static bool until(ConfigDb& db, const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      pollfd ready{.fd = db.fd(), .events = POLLIN, .revents = 0};
      ::poll(&ready, 1, 10);
      db.take_events();
    }
    return true;
  }
  void set(const std::string& key, const std::string& field, const std::string& value) {
    server_.ask(kConfig, {"HSET", key, field, value});
  }
  std::string state(const std::string& key, const std::string& field) {
    const auto row = server_.row(kState, "LLDP_LEVEL_STATE|" + key);
    const auto at = row.find(field);
    return at == row.end() ? "" : at->second;
  }
  /// Commands that Redis has run.
  std::size_t commands() {
    for (const std::string& line : server_.ask(kConfig, {"INFO", "stats"}))
      if (const auto at = line.find("total_commands_processed:"); at != line.npos)
        return std::stoul(line.substr(at + 25));
    return 0;
  }
  std::size_t readings() {
    for (const std::string& line : server_.ask(kConfig, {"INFO", "commandstats"}))
      if (const auto at = line.find("cmdstat_eval:calls="); at != line.npos)
        return std::stoul(line.substr(at + 19));
    return 0;
  }

  dataplane::Server server_;
};

TEST_F(ConfigDbTest, ReadsItsRowsAndNoOthers) {
  set("LLDP_LEVEL|GLOBAL", "level", "2");
  set("LLDP_LEVEL_PORT|Ethernet0", "admin", "tx");
  set("LLDP_LEVEL|Ethernet0", "dscp_to_tc_map", "AZURE");
  set("PORT|Ethernet0", "speed", "100000");
  server_.ask(kConfig, {"SET", "LLDP_LEVEL_PORT|odd", "x"});
  const auto db = open();
  ASSERT_TRUE(db && db->rows());
  EXPECT_EQ(*db->rows(), (config::Rows{{"LLDP_LEVEL|GLOBAL", {{"level", "2"}}},
                                       {"LLDP_LEVEL_PORT|Ethernet0", {{"admin", "tx"}}}}));
  EXPECT_FALSE(db->trouble());
}

TEST_F(ConfigDbTest, FollowsChangesByEventsAndAsksForNothingBetween) {
  const auto db = open();
  ASSERT_TRUE(db && db->rows());
  EXPECT_TRUE(db->rows()->empty());
  set("LLDP_LEVEL|GLOBAL", "role", "switch");
  EXPECT_TRUE(until(*db, [&] { return db->rows()->contains("LLDP_LEVEL|GLOBAL"); }));
  set("LLDP_LEVEL_PORT|Ethernet4", "admin", "off");
  EXPECT_TRUE(until(*db, [&] { return db->rows()->size() == 2; }));
  server_.ask(kConfig, {"HDEL", "LLDP_LEVEL_PORT|Ethernet4", "admin"});
  EXPECT_TRUE(until(*db, [&] { return db->rows()->size() == 1; }));
  server_.ask(kConfig, {"DEL", "LLDP_LEVEL|GLOBAL"});
  EXPECT_TRUE(until(*db, [&] { return db->rows()->empty(); }));
  // Rows of others, and time, cost it nothing.
  db->take_events();
  const std::size_t before = commands();
  set("PORT|Ethernet4", "speed", "100000");
  pollfd ready{.fd = db->fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ready, 1, 50), 0);
  EXPECT_EQ(commands(), before + 4) << "the test's own: SELECT and HSET, SELECT and INFO";
}

TEST_F(ConfigDbTest, ManyWritesAtOnceAreReadOnceMore) {
  const auto db = open();
  ASSERT_TRUE(db && db->rows());
  const std::size_t before = readings();
  for (int i = 0; i < 200; ++i) set("LLDP_LEVEL_PORT|Ethernet" + std::to_string(i), "admin", "tx");
  EXPECT_TRUE(until(*db, [&] { return db->rows()->size() == 200; }));
  EXPECT_LE(readings() - before, 3U);
}

TEST_F(ConfigDbTest, StateIsWrittenWhereItDiffersAndGoesAtTheEnd) {
  server_.ask(kState, {"HSET", "LLDP_LEVEL_STATE|Ethernet99", "level", "9"});
  const auto db = open();
  ASSERT_TRUE(db && db->rows());
  const auto row = [](const char* order) {
    return std::map<std::string, std::string>{{"level", "1"}, {"order", order}};
  };
  db->tell(
      {{"LLDP_LEVEL_STATE|Ethernet0", row("up")}, {"LLDP_LEVEL_STATE|Ethernet4", row("down")}});
  EXPECT_TRUE(until(*db, [&] { return state("Ethernet4", "order") == "down"; }));
  EXPECT_EQ(server_.keys(kState, "LLDP_LEVEL_STATE|*").size(), 2U) << "of an earlier process";
  const std::size_t before = server_.writes();
  db->tell({{"LLDP_LEVEL_STATE|Ethernet0", row("up")}, {"LLDP_LEVEL_STATE|Ethernet4", row("up")}});
  EXPECT_TRUE(until(*db, [&] { return state("Ethernet4", "order") == "up"; }));
  EXPECT_EQ(server_.writes(), before + 1);
  db->tell({{"LLDP_LEVEL_STATE|Ethernet0", row("up")}});
  EXPECT_TRUE(until(*db, [&] { return server_.keys(kState, "LLDP_LEVEL_STATE|*").size() == 1; }));
  db->withdraw();
  EXPECT_TRUE(until(*db, [&] { return server_.keys(kState, "LLDP_LEVEL_STATE|*").empty(); }));
}

TEST_F(ConfigDbTest, RedisThatGoesIsSaidAndAllIsThereWhenItComes) {
  set("LLDP_LEVEL|GLOBAL", "level", "2");
  const auto db = open();
  ASSERT_TRUE(db && db->rows());
  db->tell({{"LLDP_LEVEL_STATE|Ethernet0", {{"level", "2"}}}});
  EXPECT_TRUE(until(*db, [&] { return state("Ethernet0", "level") == "2"; }));
  server_.stop();
  EXPECT_TRUE(until(*db, [&] { return db->trouble().has_value(); }));
  EXPECT_THAT(to_string(*db->trouble()),
              HasSubstr("its values stay as they were read last: see whether it runs"));
  EXPECT_EQ(db->rows()->at("LLDP_LEVEL|GLOBAL").at("level"), "2");
  server_.start();
  ASSERT_TRUE(server_.runs());
  server_.ask(kState, {"FLUSHDB"});
  set("LLDP_LEVEL|GLOBAL", "level", "3");
  EXPECT_TRUE(until(*db, [&] {
    return !db->trouble() && db->rows()->at("LLDP_LEVEL|GLOBAL").at("level") == "3";
  }));
  EXPECT_TRUE(until(*db, [&] { return state("Ethernet0", "level") == "2"; }));
}

// As it does while it loads its file.
TEST_F(ConfigDbTest, RedisThatRefusesToBeReadIsAskedAgain) {
  const auto db = open();
  ASSERT_TRUE(db && db->rows());
  server_.ask(kConfig, {"ACL", "SETUSER", "default", "-eval"});
  set("LLDP_LEVEL|GLOBAL", "level", "3");
  EXPECT_TRUE(until(*db, [&] { return db->trouble().has_value(); }));
  EXPECT_THAT(to_string(*db->trouble()), HasSubstr("NOPERM"));
  server_.ask(kConfig, {"ACL", "SETUSER", "default", "+eval"});
  EXPECT_TRUE(until(*db, [&] {
    return !db->trouble() && db->rows()->at("LLDP_LEVEL|GLOBAL").at("level") == "3";
  }));
}

TEST_F(ConfigDbTest, RedisThatIsNotThereAtTheStartIsTakenWhenItComes) {
  server_.stop();
  auto opened = ConfigDb::open({.redis = server_.socket(),
                                .config = "/none",
                                .opening = std::chrono::milliseconds(20),
                                .first_try = std::chrono::milliseconds(5),
                                .last_try = std::chrono::milliseconds(20)});
  ASSERT_TRUE(opened);
  EXPECT_FALSE((*opened)->rows());
  EXPECT_TRUE((*opened)->trouble());
  server_.start();
  EXPECT_TRUE(until(**opened, [&] { return (*opened)->rows().has_value(); }));
}

TEST_F(ConfigDbTest, RedisThatIsReadOnlyIsSaidWithItsWords) {
  const auto db = open();
  ASSERT_TRUE(db && db->rows());
  server_.ask(kConfig, {"REPLICAOF", "127.0.0.1", "1"});
  db->tell({{"LLDP_LEVEL_STATE|Ethernet0", {{"level", "2"}}}});
  EXPECT_TRUE(until(*db, [&] { return db->trouble().has_value(); }));
  EXPECT_THAT(to_string(*db->trouble()),
              testing::AllOf(HasSubstr("STATE_DB: READONLY"), HasSubstr("are not told")));
}

TEST_F(ConfigDbTest, DatabasesInSeveralServersAreRefusedByName) {
  std::ofstream(server_.path("two.json"))
      << R"({"DATABASES": {"CONFIG_DB": {"id": 4}, "ASIC_DB": {"id": 1, "instance": "redis1"},
          "COUNTERS_DB": {"id": 2}, "STATE_DB": {"id": 6}}})";
  const auto opened = ConfigDb::open({.config = server_.path("two.json")});
  ASSERT_FALSE(opened);
  EXPECT_THAT(to_string(opened.error()),
              HasSubstr("several Redis servers, which is not supported"));
}

}  // namespace
}  // namespace lldp::io
