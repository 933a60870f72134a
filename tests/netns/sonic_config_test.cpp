// SPDX-License-Identifier: Apache-2.0
// The daemon on a box that runs SONiC, as its operator configures and sees it: rows of CONFIG_DB
// and STATE_DB.
#include <gmock/gmock.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/dataplane/sonic_box.hpp"
#include "tests/netns/support.hpp"

namespace lldp::netns {
namespace {

using dataplane::kConfig;
using dataplane::kState;

class SonicConfig : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    leaf_.emplace();
    spine_.emplace();
    box_.emplace(1);
    if (!box_->runs()) GTEST_SKIP() << "there is no redis-server here";
    leaf_->ip("link add Ethernet0 type veth peer name p0 netns " + spine_->name());
    leaf_->ip("link set up dev Ethernet0");
    spine_->ip("link set up dev p0");
  }
  std::vector<std::string> options() {
    return {"--backend",
            "sonic",
            "--sonic.config",
            box_->path("database_config.json"),
            "--role",
            "switch",
            "--qos.restore",
            "no",
            "--sonic.config-db",
            "yes"};
  }
  void set(const std::string& key, const std::string& field, const std::string& value) {
    box_->ask(kConfig, {"HSET", key, field, value});
  }
  static std::string source_of(const Agent& agent, const std::string& key) {
    const nlohmann::json config = agent.call("org.lldplevel.Config");
    for (const auto& entry : config["keys"])
      if (entry["key"] == key)
        return entry["value"].get<std::string>() + " by " + entry["source"].get<std::string>();
    return "";
  }
  static std::string alarm_of(const Agent& agent, const std::string& code) {
    const nlohmann::json shown = agent.show();
    for (const auto& alarm : shown["alarms"])
      if (alarm["code"] == code) return alarm["text"];
    return "";
  }
  std::string state(const std::string& key, const std::string& field) {
    const auto row = box_->row(kState, "LLDP_LEVEL_STATE|" + key);
    const auto at = row.find(field);
    return at == row.end() ? "" : at->second;
  }

  std::optional<Namespace> leaf_;
  std::optional<Namespace> spine_;
  std::optional<dataplane::Box> box_;
};

TEST_F(SonicConfig, RowsAreInForceFromTheStartAndFollowed) {
  set("LLDP_LEVEL|GLOBAL", "level", "3");
  set("LLDP_LEVEL|GLOBAL", "lossless", "slides");
  const Agent leaf(*leaf_, options());
  EXPECT_EQ(leaf.level(), 3);
  EXPECT_EQ(source_of(leaf, "level"), "3 by CONFIG_DB LLDP_LEVEL|GLOBAL");
  EXPECT_EQ(source_of(leaf, "role"), "switch by command line");
  set("LLDP_LEVEL|GLOBAL", "level", "1");
  EXPECT_TRUE(eventually([&] { return leaf.level() == 1; }));
  const Agent spine(*spine_, {"--role", "switch", "--level", "2"});
  // What is configured is programmed, and what came of it is told.
  EXPECT_TRUE(eventually([&] {
    box_->settle();
    return state("Ethernet0", "order") == "up" && state("Ethernet0", "protection") == "active";
  })) << leaf.show().dump(1);
  EXPECT_EQ(state("Ethernet0", "level"), "1");
  EXPECT_EQ(state("Ethernet0", "type"), "uplink");
  EXPECT_EQ(state("GLOBAL", "protection"), "active");
  EXPECT_EQ(box_->row(kConfig, "PORT_QOS_MAP|Ethernet0").at("pfc_enable"), "5,6");
  set("LLDP_LEVEL_PORT|Ethernet0", "admin", "off");
  EXPECT_TRUE(eventually([&] { return leaf.port("Ethernet0")["neighbors"].empty(); }))
      << leaf.show().dump(1);
  EXPECT_EQ(source_of(leaf, "port.Ethernet0.admin"), "off by CONFIG_DB LLDP_LEVEL_PORT|Ethernet0");
}

TEST_F(SonicConfig, RowThatIsWrongIsAnAlarmAndChangesNothing) {
  set("LLDP_LEVEL|GLOBAL", "level", "2");
  const Agent leaf(*leaf_, options());
  ASSERT_EQ(leaf.level(), 2);
  set("LLDP_LEVEL|GLOBAL", "level", "0");
  EXPECT_TRUE(eventually([&] { return !alarm_of(leaf, "config-db").empty(); }));
  EXPECT_EQ(alarm_of(leaf, "config-db"),
            "CONFIG_DB LLDP_LEVEL|GLOBAL: level: '0' is not in range: use 1-254; nothing of the "
            "configuration is changed until it is mended: `config lldp-level`");
  EXPECT_EQ(leaf.level(), 2);
  EXPECT_TRUE(
      eventually([&] { return state("GLOBAL", "alarms").find("config-db") != std::string::npos; }));
  set("LLDP_LEVEL|GLOBAL", "level", "4");
  EXPECT_TRUE(eventually([&] { return alarm_of(leaf, "config-db").empty(); }));
  EXPECT_EQ(leaf.level(), 4);
}

TEST_F(SonicConfig, RowThatIsWrongAtTheStartLeavesTheFile) {
  set("LLDP_LEVEL|GLOBAL", "role", "leaf");
  auto words = options();
  words.insert(words.end(), {"--level", "5"});
  const Agent leaf(*leaf_, words);
  EXPECT_EQ(leaf.level(), 5);
  EXPECT_THAT(alarm_of(leaf, "config-db"),
              testing::HasSubstr("role: 'leaf' is none of auto, host, switch"));
}

TEST_F(SonicConfig, RedisThatGoesLeavesTheConfigurationAndItsEndRemovesTheState) {
  set("LLDP_LEVEL|GLOBAL", "level", "2");
  Agent leaf(*leaf_, options());
  EXPECT_TRUE(eventually([&] { return state("GLOBAL", "level") == "2"; }));
  box_->stop();
  EXPECT_TRUE(eventually([&] { return !alarm_of(leaf, "config-db").empty(); }));
  EXPECT_EQ(leaf.level(), 2);
  box_->start();
  EXPECT_TRUE(eventually([&] { return alarm_of(leaf, "config-db").empty(); }));
  EXPECT_TRUE(
      eventually([&] { return state("GLOBAL", "alarms").find("config-db") == std::string::npos; }));
  leaf.process().signal(SIGTERM);
  EXPECT_EQ(leaf.process().wait(), 0);
  EXPECT_TRUE(box_->keys(kState, "LLDP_LEVEL_STATE|*").empty());
}

}  // namespace
}  // namespace lldp::netns
