// SPDX-License-Identifier: Apache-2.0
// A box that is not as its template says: what is missing is said with its row and the remedy, and
// ports keep what they have. (Databases in several servers: SonicOpening.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataplane/sonic_driver.hpp"

namespace lldp::dataplane {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SonicInput : public testing::Test {
 protected:
  void SetUp() override {
    if (!box_.runs()) GTEST_SKIP() << "there is no redis-server here";
    driver_.want(0, Order::kUp);
  }
  std::map<std::string, sonic::Row> config() {
    std::map<std::string, sonic::Row> rows;
    for (const std::string& key : box_.keys(kConfig, "*")) rows[key] = box_.row(kConfig, key);
    return rows;
  }
  std::string refused() {
    const auto at = driver_.refused.find(sonic_port(0).ifindex);
    return at == driver_.refused.end() ? "" : at->second;
  }
  std::string field(const char* name) {
    const auto row = box_.row(kConfig, kRow);
    const auto at = row.find(name);
    return at == row.end() ? "" : at->second;
  }
  void remove() {
    driver_.drop(0);
    const auto plan = driver_.backend().plan_removal(sonic_port(0));
    ASSERT_TRUE(plan);
    driver_.backend().apply({.ports = {*plan}});
    ASSERT_TRUE(driver_.until(
        [&] { return !field("dscp_to_tc_map").starts_with("LLDP_") && box_.notes().empty(); },
        [&] { box_.settle(); }));
  }

  static constexpr const char* kRow = "PORT_QOS_MAP|Ethernet0";
  Box box_{1};
  Driver driver_{box_};
};

TEST_F(SonicInput, NoQosIsSaidAndNothingIsWritten) {
  box_.clear_qos();
  const auto before = config();
  driver_.open();
  ASSERT_TRUE(driver_.until([&] { return !refused().empty(); }));
  EXPECT_THAT(refused(), AllOf(HasSubstr("CONFIG_DB has no BUFFER_POOL|ingress_lossless_pool"),
                               HasSubstr("`config qos reload`")));
  EXPECT_EQ(config(), before);
}

TEST_F(SonicInput, HalfATemplateIsSaidWithTheRowThatIsMissing) {
  for (const char* half : {"BUFFER_QUEUE|Ethernet0|2-6", "MAP_PFC_PRIORITY_TO_QUEUE|AZURE",
                           "DSCP_TO_TC_MAP|AZURE", "TC_TO_QUEUE_MAP|AZURE"})
    box_.ask(kConfig, {"DEL", half});
  driver_.open();
  ASSERT_TRUE(
      driver_.until([&] { return driver_.states(0) == "bypassed bypassed bypassed bypassed"; },
                    [&] { box_.settle(); }))
      << driver_.states(0) << driver_.text(0, Part::kQueues);
  EXPECT_EQ(
      driver_.text(0, Part::kQueues),
      "PORT_QOS_MAP|Ethernet0 names MAP_PFC_PRIORITY_TO_QUEUE|AZURE, which CONFIG_DB does not "
      "have, and orchagent applies nothing of such a row: `config qos reload`, or "
      "sonic-db-cli CONFIG_DB hdel 'PORT_QOS_MAP|Ethernet0' pfc_to_queue_map");
  EXPECT_EQ(field("pfc_to_queue_map"), "AZURE") << "what is not ours is left as it is";
}

TEST_F(SonicInput, RowsOfANewerReleaseAreLeftAlone) {
  box_.ask(kConfig, {"HSET", "VERSIONS|DATABASE", "VERSION", "version_203011_01"});
  box_.ask(kConfig, {"HSET", kRow, "vc_map", "AZURE_VC"});
  box_.ask(kConfig, {"HSET", "DSCP_TO_TC_MAP|AZURE", "64", "3", "9", "99"});
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|global", "dscp_to_tc_map", "AZURE"});
  const auto before = config();
  driver_.open();
  ASSERT_TRUE(driver_.until_done()) << driver_.states(0);
  EXPECT_EQ(field("vc_map"), "AZURE_VC");
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|global").at("dscp_to_tc_map"), "AZURE");
  remove();
  for (const auto& [key, row] : before)
    if (!key.starts_with("BUFFER_P")) EXPECT_EQ(box_.row(kConfig, key), row) << key;
}

TEST_F(SonicInput, ClassOfOursThatTheWatchdogHadIsItsAgainAfterwards) {
  box_.ask(kConfig, {"HSET", kRow, "pfcwd_sw_enable", "5", "pfc_enable", "3,5"});
  driver_.open();
  ASSERT_TRUE(driver_.until_done()) << driver_.states(0);
  EXPECT_EQ(field("pfcwd_sw_enable"), "5,6");
  remove();
  EXPECT_EQ(field("pfcwd_sw_enable"), "5");
  EXPECT_EQ(field("pfc_enable"), "3,5");
}

TEST_F(SonicInput, RedisThatStopsIsSaidAndFoundAsItWas) {
  driver_.open();
  ASSERT_TRUE(driver_.until_done());
  const auto before = config();
  box_.stop();
  ASSERT_TRUE(driver_.until([&] { return driver_.backend().down().has_value(); }));
  EXPECT_THAT(to_string(*driver_.backend().down()), HasSubstr("see whether it runs"));
  box_.start();
  box_.restart_swss();  // it goes with its databases
  ASSERT_TRUE(driver_.until_done());
  EXPECT_EQ(config(), before);
}

TEST_F(SonicInput, RedisThatIsReadOnlyIsSaidWithItsWords) {
  const auto before = config();
  box_.ask(kConfig, {"REPLICAOF", "127.0.0.1", "1"});
  driver_.open();
  ASSERT_TRUE(driver_.until([&] { return !refused().empty(); }));
  EXPECT_THAT(refused(), HasSubstr("Redis refuses the change: READONLY"));
  EXPECT_EQ(config(), before);
}

}  // namespace
}  // namespace lldp::dataplane
