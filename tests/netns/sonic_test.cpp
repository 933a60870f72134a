// SPDX-License-Identifier: Apache-2.0
// The daemon on a box that runs SONiC, as far as that can be had here: a real Redis with its
// layout.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/dataplane/sonic_box.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using dataplane::kConfig;
using testing::Contains;

/// A leaf whose front panel is Ethernet0, to a spine, and Ethernet4, to a host.
class SonicDaemon : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    leaf_.emplace();
    spine_.emplace();
    host_.emplace();
    const Inside in(*leaf_);  // its port is the namespace's
    box_.emplace(2, kPort);
    if (!box_->runs()) GTEST_SKIP() << "there is no redis-server here";
    leaf_->ip("link add Ethernet0 type veth peer name p0 netns " + spine_->name());
    leaf_->ip("link add Ethernet4 type veth peer name p0 netns " + host_->name());
    for (const char* port : {"Ethernet0", "Ethernet4"})
      leaf_->ip(std::string("link set up dev ") + port);
    spine_->ip("link set up dev p0");
    host_->ip("link set up dev p0");
  }
  std::vector<std::string> options() {
    std::vector<std::string> out{"--backend",      "sonic",
                                 "--role",         "switch",
                                 "--sonic.config", box_->path("database_config.json"),
                                 "--qos.lossless", "slides",
                                 "--qos.restore",  "no"};
    if (GetParam()) out.insert(out.end(), {"--sonic.redis", "127.0.0.1:" + std::to_string(kPort)});
    return out;
  }
  std::string map_of(const std::string& port) {
    const auto row = box_->row(kConfig, "PORT_QOS_MAP|" + port);
    const auto at = row.find("dscp_to_tc_map");
    return at == row.end() ? "" : at->second;
  }
  std::map<std::string, dataplane::sonic::Row> config_db() {
    std::map<std::string, dataplane::sonic::Row> rows;
    for (const std::string& key : box_->keys(kConfig, "*")) rows[key] = box_->row(kConfig, key);
    return rows;
  }

  static constexpr int kPort = 6379;
  std::optional<Namespace> leaf_;
  std::optional<Namespace> spine_;
  std::optional<Namespace> host_;
  std::optional<dataplane::Box> box_;
};

TEST_P(SonicDaemon, LevelsHeardBecomeMapsAndRemovalRestoresThem) {
  const auto before = config_db();
  const TemporaryDirectory files;
  // What ports had before is kept beside it, for the removal.
  const std::vector<std::string> kept{"--state-file", files.file("state")};
  std::vector<std::string> words = options();
  words.insert(words.end(), kept.begin(), kept.end());
  {
    const Agent leaf(*leaf_, words);
    const Agent host(*host_, {"--role", "host"});
    const Agent spine(*spine_, {"--role", "switch", "--level", "2"});
    EXPECT_TRUE(eventually([&] { return map_of("Ethernet0") == "LLDP_LEVEL_UP"; }));
    EXPECT_EQ(leaf.show()["protection"]["state"], "partial");  // the ASIC has nothing of it yet
    EXPECT_TRUE(eventually([&] {
      box_->settle();
      return map_of("Ethernet4") == "LLDP_LEVEL_DOWN";
    }));
    // All is there; the host, where nothing is restored, does not tell its PFC.
    const auto is_done = [&] {
      const auto reasons = leaf.show()["protection"]["reasons"];
      return reasons.size() == 1 && reasons[0]["state"] == "unverified";
    };
    EXPECT_TRUE(eventually([&] {
      box_->settle();
      return is_done();
    })) << leaf.show().dump(1);
    EXPECT_EQ(leaf.port("Ethernet4")["alias"], "etp2");
    // PFC of 3 and 4 is meant to be off there, and is not.
    const auto is_taken = [&] {
      return leaf.show()["alarms"].dump().find("pfc-taken") != std::string::npos;
    };
    EXPECT_TRUE(eventually(is_taken));
    for (const char* port : {"Ethernet0", "Ethernet4"})
      EXPECT_EQ(
          leaf.call("org.lldplevel.AcceptPfc", std::string(R"({"port":")") + port + "\"}").dump(),
          "{}");
    EXPECT_TRUE(eventually([&] { return !is_taken(); })) << leaf.show()["alarms"].dump(1);
    for (const char* port : {"Ethernet0", "Ethernet4"})
      EXPECT_EQ(
          leaf.call("org.lldplevel.RejectPfc", std::string(R"({"port":")") + port + "\"}").dump(),
          "{}");
    EXPECT_TRUE(eventually(is_taken));
    // Redis goes and comes: said, and nothing written that is there.
    box_->stop();
    EXPECT_TRUE(eventually([&] { return leaf.show()["protection"]["state"] == "failed"; }));
    {
      const Inside in(*leaf_);
      box_->start();
    }
    EXPECT_TRUE(eventually(is_done)) << leaf.show().dump(1);
    EXPECT_EQ(box_->writes(), 0U);
  }
  EXPECT_EQ(map_of("Ethernet0"), "LLDP_LEVEL_UP");  // they outlive the daemon
  std::vector<std::string> command{support::program("lldp-leveld"), "--remove-rules"};
  for (const std::string& word : words) command.push_back(word);
  box_->pause(true);  // it is busy: that is no reason to leave them
  Process removal(leaf_->inside(command), files.file("log"));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  box_->pause(false);
  EXPECT_EQ(removal.wait(), 0) << removal.output();
  EXPECT_EQ(config_db(), before);
}

// The kernel is asked for the number of an interface that is no port of the daemon's, by a daemon
// that has given up most system calls.
TEST_P(SonicDaemon, RulesThatComeBackOnAPortThatIsNotItsGo) {
  std::vector<std::string> words = options();
  words.insert(words.end(), {"--ports", "Ethernet0"});
  const Agent leaf(*leaf_, words);
  ASSERT_TRUE(eventually([&] { return map_of("Ethernet0").starts_with("LLDP_LEVEL"); }));
  box_->ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet4", "dscp_to_tc_map", "LLDP_LEVEL_DOWN"});
  box_->ask(kConfig, {"HSET", "LLDP_LEVEL|Ethernet4", "dscp_to_tc_map", "AZURE"});
  EXPECT_TRUE(eventually([&] { return map_of("Ethernet4") == "AZURE"; })) << leaf.log();
  EXPECT_TRUE(box_->row(kConfig, "LLDP_LEVEL|Ethernet4").empty());
}

// docs/develop/rules.md A9; by then it has given up those calls too.
TEST_P(SonicDaemon, RulesThatAreFoundLateAreThoseForUp) {
  box_->ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet4", "dscp_to_tc_map", "LLDP_LEVEL_DOWN"});
  box_->ask(kConfig, {"HSET", "LLDP_LEVEL|Ethernet4", "dscp_to_tc_map", "AZURE"});
  box_->stop();
  const Agent leaf(*leaf_, options());
  {
    const Inside in(*leaf_);
    box_->start();
  }
  EXPECT_TRUE(eventually([&] { return map_of("Ethernet4") == "LLDP_LEVEL_UP"; }))
      << map_of("Ethernet4") << leaf.log();
  // No state says what the neighbors believe: every port is for up.
  EXPECT_TRUE(eventually([&] { return map_of("Ethernet0") == "LLDP_LEVEL_UP"; }))
      << map_of("Ethernet0");
}

TEST_P(SonicDaemon, PortThatTheAsicHasNotIsSaidInOneSentence) {
  box_->ask(dataplane::kCounters, {"HDEL", "COUNTERS_PORT_NAME_MAP", "Ethernet4"});
  const Agent leaf(*leaf_, options());
  const auto says = [&](const std::string& text) {
    return eventually([&] {
      const std::string rules = leaf.call("org.lldplevel.Rules").dump();
      return rules.find('"' + text + '"') != rules.npos;
    });
  };
  EXPECT_TRUE(says("the port is not in the ASIC yet (COUNTERS_PORT_NAME_MAP)"));
  EXPECT_TRUE(says("the port is not in the ASIC (COUNTERS_PORT_NAME_MAP): see orchagent's log"))
      << leaf.call("org.lldplevel.Rules").dump(1);
}

INSTANTIATE_TEST_SUITE_P(Redis, SonicDaemon, testing::Bool(),
                         [](const auto& p) { return p.param ? "ByTcp" : "BySocket"; });

}  // namespace
}  // namespace lldp::netns
