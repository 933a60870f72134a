// SPDX-License-Identifier: Apache-2.0
// The lossless classes that CONFIG_DB has without our rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/sonic/platform.hpp"
#include "tests/dataplane/sonic_fixture.hpp"

namespace lldp::dataplane {
namespace {

using sonic::Row;
using sonic::View;
using testing::ElementsAre;
using testing::IsEmpty;

/// A switch as `config qos reload` leaves it: every DSCP has a traffic class, 3 and 4 their own.
View sonic_box() {
  View view;
  Row& dscps = view.config["DSCP_TO_TC_MAP|AZURE"];
  for (unsigned d = 0; d <= Dscp::kMax; ++d) dscps[std::to_string(d)] = "1";
  for (const auto& [dscp, tc] :
       {std::pair("3", "3"), {"4", "4"}, {"5", "2"}, {"46", "5"}, {"48", "6"}})
    dscps[dscp] = tc;
  view.config["TC_TO_PRIORITY_GROUP_MAP|AZURE"] = {{"0", "0"}, {"1", "0"}, {"2", "0"}, {"3", "3"},
                                                   {"4", "4"}, {"5", "0"}, {"6", "0"}, {"7", "7"}};
  for (const char* port : {"Ethernet0", "Ethernet4"}) {
    view.config[std::string("PORT|") + port] = {{"lanes", "1"}};
    view.config[std::string("PORT_QOS_MAP|") + port] = {{"dscp_to_tc_map", "AZURE"},
                                                        {"tc_to_pg_map", "AZURE"},
                                                        {"pfc_enable", "3,4"},
                                                        {"pfcwd_sw_enable", "3,4"}};
  }
  return view;
}

/// The same under rules for roce, as they are noted.
View with_rules() {
  View view = sonic_box();
  for (const char* port : {"Ethernet0", "Ethernet4"}) {
    Row& row = view.config[std::string("PORT_QOS_MAP|") + port];
    Row noted = row;
    noted["set:pfc_enable"] = "2,3";
    noted["set:pfcwd_sw_enable"] = "2,3";
    view.notes[port] = noted;
    row = {{"dscp_to_tc_map", "LLDP_LEVEL_UP"},
           {"tc_to_dscp_map", "LLDP_LEVEL_UP"},
           {"tc_to_queue_map", "LLDP_LEVEL_UP"},
           {"tc_to_pg_map", "LLDP_LEVEL"},
           {"pfc_enable", "2,3"},
           {"pfcwd_sw_enable", "2,3"}};
  }
  view.config["DSCP_TO_TC_MAP|LLDP_LEVEL_UP"] = {{"26", "1"}, {"19", "4"}};
  return view;
}

TEST(SonicPlatform, HasThePrioritiesWithPfcAndTheDscpsThatLeadThere) {
  const PlatformClasses found = platform_of(sonic_box());
  EXPECT_THAT(found.chains, IsEmpty());
  ASSERT_EQ(found.ports.size(), 1U) << "both ports have the same";
  EXPECT_EQ(found.ports[0].pfc, 0x18);
  EXPECT_EQ(found.ports[0].dscps[3], std::uint64_t{1} << 3);
  EXPECT_EQ(found.ports[0].dscps[4], std::uint64_t{1} << 4);
  EXPECT_EQ(found.ports[0].dscps[0], ~(std::uint64_t{0x18}));
}

TEST(SonicPlatform, IsWhatWasThereBeforeOurRules) {
  EXPECT_EQ(platform_of(with_rules()), platform_of(sonic_box()));
}

TEST(SonicPlatform, IsWhatTheOperatorHasSetSince) {
  View view = with_rules();
  view.config["PORT_QOS_MAP|Ethernet0"]["pfc_enable"] = "3";
  const PlatformClasses found = platform_of(view);
  ASSERT_EQ(found.ports.size(), 2U);
  EXPECT_EQ(found.ports[0].pfc, 0x08);
  EXPECT_EQ(found.ports[1].pfc, 0x18);
}

TEST(SonicPlatform, HasSonicsOwnTurnsWhereItRemapsTunnels) {
  View view = sonic_box();
  view.config["PORT_QOS_MAP|Ethernet0"]["pfc_enable"] = "2,3,4,6";
  view.config["SYSTEM_DEFAULTS|tunnel_qos_remap"] = {{"status", "disabled"}};
  view.config["TC_TO_QUEUE_MAP|AZURE_TUNNEL"] = {{"3", "2"}, {"4", "6"}};
  view.config["TC_TO_DSCP_MAP|AZURE_TUNNEL"] = {{"3", "2"}, {"4", "6"}};
  EXPECT_THAT(platform_of(view).chains, IsEmpty());
  view.config["SYSTEM_DEFAULTS|tunnel_qos_remap"] = {{"status", "enabled"}};
  const PlatformClasses found = platform_of(view);
  EXPECT_EQ(qos::to_string(found.chains), "3:dscp3>2:dscp2,4:dscp4>6:dscp6");
  for (const PlatformClasses::Port& port : found.ports) EXPECT_EQ(port.pfc, 0x18);
  // A spare without PFC is none.
  view.config["PORT_QOS_MAP|Ethernet0"]["pfc_enable"] = "2,3,4";
  EXPECT_EQ(qos::to_string(platform_of(view).chains), "3:dscp3>2:dscp2");
}

TEST(SonicPlatform, ReadsListsOfPrioritiesAsOrchagentDoes) {
  EXPECT_EQ(sonic::mask_of_list("3,4"), 0b11000);
  EXPECT_EQ(sonic::mask_of_list(" 3, 4 "), 0b11000);
  for (const char* none : {"", ",", "-1", "13", "8", "3 4", "x", "3;4"})
    EXPECT_EQ(sonic::mask_of_list(none), 0) << none;
  EXPECT_EQ(sonic::mask_of_list("3,4x,"), 0b1000);
}

TEST(SonicPlatform, OfRowsThatAreNoneIsNothing) {
  View view;
  EXPECT_EQ(platform_of(view), PlatformClasses{.most_classes = 4});
  view.config["PORT|Ethernet0"] = {};
  EXPECT_EQ(platform_of(view), PlatformClasses{.most_classes = 4});
  view.config["PORT_QOS_MAP|Ethernet0"] = {{"dscp_to_tc_map", "GONE"}, {"pfc_enable", "9,x"}};
  EXPECT_EQ(platform_of(view), PlatformClasses{.most_classes = 4});
  view.config["DSCP_TO_TC_MAP|GONE"] = {{"64", "3"}, {"7", "15"}, {"-1", "3"}, {"x", "y"}};
  EXPECT_EQ(platform_of(view), PlatformClasses{.most_classes = 4});
}

TEST_F(SonicTest, TellsTheClassesOfThePlatformOnceItWasRead) {
  ASSERT_NE(backend_->platform(), nullptr);
  EXPECT_FALSE(backend_->platform()->ports.empty());
  const PlatformClasses before = *backend_->platform();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(*backend_->platform(), before);
}

}  // namespace
}  // namespace lldp::dataplane
