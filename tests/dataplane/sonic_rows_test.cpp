// SPDX-License-Identifier: Apache-2.0
// Every row that is written is one that SONiC's models take: what they say of it, and the models
// themselves where SONIC_YANG_MODELS names them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/dataplane/sonic_driver.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::dataplane {
namespace {

class SonicRows : public testing::Test {
 protected:
  void SetUp() override {
    if (!box_.runs()) GTEST_SKIP() << "there is no redis-server here";
    if (const char* known = std::getenv("SONIC_YANG_MODELS"); known != nullptr) models_ = known;
  }
  /// What CONFIG_DB has now, by the models of 202411 as far as they say it of our tables.
  void look() {
    nlohmann::json rows;
    for (const char* table :
         {"PORT", "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "TC_TO_DSCP_MAP", "TC_TO_QUEUE_MAP",
          "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE", "BUFFER_POOL", "BUFFER_PROFILE",
          "BUFFER_PG", "PFC_WD"})
      for (const std::string& key : box_.keys(kConfig, std::string(table) + "|*"))
        rows[key] = box_.row(kConfig, key);
    std::ofstream(files_ / "rows", std::ios::app) << rows.dump() << "\n";
    static const std::regex name("[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}");
    static const std::regex dscp("6[0-3]|[1-5][0-9]?|[0-9]");
    static const std::regex tc("1[0-5]|[0-9]");
    static const std::regex queue("[0-9]");
    static const std::regex group("[0-7]");
    static const std::regex priorities("[0-7](,[0-7])*");
    for (auto at = rows.begin(); at != rows.end(); ++at) {
      const std::string& key = at.key();
      const nlohmann::json& row = at.value();
      const std::string table = key.substr(0, key.find('|'));
      const auto columns = [&](const std::regex& from, const std::regex& to) {
        EXPECT_TRUE(std::regex_match(key.substr(table.size() + 1), name)) << key;
        EXPECT_FALSE(row.empty()) << key;
        for (const auto& [field, value] : row.items()) {
          EXPECT_TRUE(std::regex_match(field, from)) << key << " " << field;
          EXPECT_TRUE(std::regex_match(value.get<std::string>(), to)) << key << " " << value;
        }
      };
      if (table == "DSCP_TO_TC_MAP") columns(dscp, tc);
      if (table == "TC_TO_DSCP_MAP") columns(tc, dscp);
      if (table == "TC_TO_QUEUE_MAP") columns(tc, queue);
      if (table == "TC_TO_PRIORITY_GROUP_MAP") columns(tc, group);
      if (table == "PFC_WD") fields(key, row, watchdog_);
      if (table == "BUFFER_PG") {
        fields(key, row, {{"profile", std::regex(".+")}});
        EXPECT_TRUE(std::regex_match(key.substr(key.rfind('|') + 1), std::regex("[0-7](-[0-7])?")))
            << key;
        if (row.contains("profile"))
          EXPECT_TRUE(rows.contains("BUFFER_PROFILE|" + row["profile"].get<std::string>())) << key;
      }
      if (table != "PORT_QOS_MAP") continue;
      for (const auto& [field, value] : row.items()) {
        const auto text = value.get<std::string>();
        if (field.starts_with("pfc") && field.ends_with("_enable")) {
          EXPECT_TRUE(std::regex_match(text, priorities)) << key << " " << field << " " << text;
        } else {
          std::string of = field;  // a reference
          std::ranges::transform(of, of.begin(),
                                 [](char c) { return static_cast<char>(std::toupper(c)); });
          if (of == "TC_TO_PG_MAP") of = "TC_TO_PRIORITY_GROUP_MAP";
          if (of == "PFC_TO_QUEUE_MAP") of = "MAP_PFC_PRIORITY_TO_QUEUE";
          EXPECT_TRUE(rows.contains(of + "|" + text)) << key << " " << field << " " << text;
        }
      }
    }
  }

  /// By the models themselves.
  void judge() {
    if (models_.empty()) return;
    const std::string command = "python3 " + support::source_dir() +
                                "/tests/packaging/sonic_rows.py " + (files_ / "rows") + " " +
                                models_;
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  using Fields = std::map<std::string, std::regex>;
  /// The row has some of these, and no others.
  static void fields(const std::string& key, const nlohmann::json& row, const Fields& known) {
    EXPECT_FALSE(row.empty()) << key;
    for (const auto& [field, value] : row.items()) {
      const auto at = known.find(field);
      EXPECT_TRUE(at != known.end() && std::regex_match(value.get<std::string>(), at->second))
          << key << " " << field << " " << value;
    }
  }

  const Fields watchdog_{{"action", std::regex("drop|forward|alert")},
                         {"detection_time", std::regex("[1-9][0-9]{2,3}")},
                         {"restoration_time", std::regex("[1-9][0-9]{2,4}")},
                         {"pfc_stat_history", std::regex("enable|disable")}};
  Box box_{4};
  TempDir files_;
  std::string models_;
};

TEST_F(SonicRows, AreTakenByTheModelsWhateverTheRules) {
  for (const char* lossless : {"3:dscp26+24-31>2:dscp19", "3:dscp3>2:dscp19,4:dscp4>5:dscp43",
                               "3:dscp3>2:dscp2,4:dscp4>6:dscp6", "5:dscp43>6:dscp51"})
    for (const char* classes : {"N/A", "16"}) {
      box_.ask(kState,
               {"HSET", "SWITCH_CAPABILITY|switch", "SWITCH|NUMBER_OF_TRAFFIC_CLASSES", classes});
      Driver driver(box_, lossless);
      driver.rewrite_verified = true;
      driver.want(0, Order::kUp);
      driver.want(1, Order::kDown);
      driver.want(2, Order::kShut);
      driver.want(3, Order::kUnknown);
      driver.open();
      ASSERT_TRUE(driver.until_done()) << lossless;
      look();
    }
  // What is between, while buffers are made anew.
  Driver driver(box_);
  driver.want(0, Order::kUp);
  driver.open();
  ASSERT_TRUE(driver.until_done());
  for (const std::string& key : box_.keys(kConfig, "BUFFER_PG|" + Box::name_of(0) + "|[2-6]*"))
    box_.ask(kConfig, {"DEL", key});
  const auto pfc = [&] {
    return box_.row(kConfig, "PORT_QOS_MAP|" + Box::name_of(0)).at("pfc_enable");
  };
  ASSERT_TRUE(driver.until([&] { return pfc() != "5,6"; }));
  look();
  ASSERT_TRUE(driver.until_done());
  driver.drop(0);
  look();
  judge();
}

// They are written again as they are: a row of PFC_WD is made anew when the ASIC has other
// priorities, one of BUFFER_PG when that of a range around it goes.
TEST_F(SonicRows, OfTheWatchdogAndOfBuffersAreTakenByTheModels) {
  for (int i = 0; i < 4; ++i) {
    box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|" + Box::name_of(i), "pfcwd_sw_enable", "3,4"});
    box_.ask(kConfig, {"HSET", "PFC_WD|" + Box::name_of(i), "action", "drop", "detection_time",
                       "200", "restoration_time", "400"});
  }
  box_.settle();
  KeyEvents events(box_.socket(), kConfig);
  Driver driver(box_, "3:dscp3>5:dscp43,4:dscp4>6:dscp6");
  for (int i = 0; i < 4; ++i) driver.want(i, i % 2 == 0 ? Order::kUp : Order::kDown);
  driver.open();
  const auto written = [&](const std::string& key) {
    bool found = false;
    for (const auto& [of, what] : events.take()) found |= of == key && what == "hset";
    return found;
  };
  bool watchdog = false;
  ASSERT_TRUE(driver.until_done());
  ASSERT_TRUE(driver.until([&] { return watchdog |= written("PFC_WD|Ethernet0"); },
                           [&] { box_.settle(); }));
  look();
  (void)events.take();
  for (int i = 0; i < 4; ++i) {
    driver.drop(i);
    const auto removal = driver.backend().plan_removal(sonic_port(i));
    ASSERT_TRUE(removal);
    driver.backend().apply({.ports = {*removal}});
  }
  bool group = false;
  const auto done = [&] {
    for (const auto& [of, what] : events.take())
      group |= of == "BUFFER_PG|Ethernet0|3-4" && what == "hset";
    return group && box_.notes().empty();
  };
  ASSERT_TRUE(driver.until(done, [&] { box_.settle(); }));
  look();
  judge();
}

}  // namespace
}  // namespace lldp::dataplane
