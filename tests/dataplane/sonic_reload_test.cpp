// SPDX-License-Identifier: Apache-2.0
// The back end beside SONiC's buffer manager and orchagent as they are: `config qos reload`,
// buffers, the watchdog, what is kept of ports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/text.hpp"
#include "tests/dataplane/sonic_driver.hpp"

namespace lldp::dataplane {
namespace {

using sonic::Row;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The commands to CONFIG_DB that a text gives, as words of Redis.
std::vector<std::vector<std::string>> commands_in(std::string text) {
  const std::string begin = "sonic-db-cli CONFIG_DB ";
  std::erase(text, '\'');
  std::vector<std::vector<std::string>> commands;
  for (auto at = text.find(begin); at != text.npos; at = text.find(begin, at)) {
    at += begin.size();
    commands.push_back(split_list(text.substr(at, text.find("; ", at) - at), ' '));
  }
  return commands;
}

class SonicReload : public testing::Test {
 protected:
  void SetUp() override {
    if (!box_.runs()) GTEST_SKIP() << "there is no redis-server here";
    driver_.want(0, Order::kUp);
    driver_.want(1, Order::kDown);
    driver_.open();
  }
  void TearDown() override { driver_.kill(); }
  std::string pfc(int port) {
    const Row row = box_.row(kConfig, "PORT_QOS_MAP|" + Box::name_of(port));
    return row.contains("pfc_enable") ? row.at("pfc_enable") : "none";
  }
  /// Priority groups of the port that are lossless in the ASIC.
  std::string lossless_groups(int port) {
    std::string groups;
    for (int g = 0; g < 8; ++g) {
      const Row object = box_.row(kAsic, "ASIC_STATE:SAI_OBJECT_TYPE_INGRESS_PRIORITY_GROUP:" +
                                             box_.object_of("PG", port, g));
      const auto profile = object.find("SAI_INGRESS_PRIORITY_GROUP_ATTR_BUFFER_PROFILE");
      if (profile != object.end() &&
          box_.row(kAsic, "ASIC_STATE:SAI_OBJECT_TYPE_BUFFER_PROFILE:" + profile->second)
              .contains("SAI_BUFFER_PROFILE_ATTR_XOFF_TH"))
        groups += std::to_string(g);
    }
    return groups;
  }
  std::map<std::string, Row> config() {
    std::map<std::string, Row> rows;
    for (const std::string& key : box_.keys(kConfig, "*")) rows[key] = box_.row(kConfig, key);
    return rows;
  }
  void load() {
    box_.load_buffers();
    box_.load_qos();
  }
  Result<void> remove() {
    driver_.kill();
    driver_.open();
    return remove_all(driver_.backend());
  }

  Box box_{3};
  Driver driver_{box_};
};

TEST_F(SonicReload, NothingIsWrittenWhileTheBuffersAreAway) {
  ASSERT_TRUE(driver_.until_done());
  box_.clear_qos();
  const std::size_t writes = box_.writes();
  ASSERT_TRUE(driver_.until([&] { return driver_.refused.size() == 2; }));
  EXPECT_THAT(driver_.refused.at(sonic_port(0).ifindex),
              HasSubstr("CONFIG_DB has no BUFFER_POOL|ingress_lossless_pool"));
  EXPECT_EQ(box_.writes(), writes);
  EXPECT_THAT(driver_.states(0), Not(HasSubstr("done done done done")));
}

// The buffer manager sees PFC while there is no pool, gives up, and looks again only at another
// value.
TEST_F(SonicReload, PortsHaveTheirBuffersAfterQosReload) {
  ASSERT_TRUE(driver_.until_done());
  EXPECT_EQ(lossless_groups(0), "3456");
  for (int when = 0; when < 4; ++when) {
    SCOPED_TRACE(when);
    box_.clear_qos();
    driver_.turns(5);
    if (when == 1) box_.buffermgrd().run();
    box_.load_buffers();
    if (when == 2) driver_.turns(5);
    if (when == 3) box_.settle();
    box_.load_qos();
    driver_.turns(5);  // before SONiC's processes look
    ASSERT_TRUE(driver_.until_done()) << driver_.states(0) << driver_.text(0, Part::kPfc);
    EXPECT_EQ(lossless_groups(0), "3456");
    EXPECT_EQ(pfc(0), "5,6");
  }
}

TEST_F(SonicReload, WhatTheBufferManagerLeftOutIsAskedForAgainWithoutAndWithThePriority) {
  ASSERT_TRUE(driver_.until_done());
  for (int i : {0, 1}) box_.ask(kConfig, {"DEL", "BUFFER_PG|" + Box::name_of(i) + "|5-6"});
  box_.settle();
  EXPECT_EQ(lossless_groups(0), "34");
  std::set<std::string> values;
  ASSERT_TRUE(driver_.until(
      [&] {
        values.insert(pfc(0));
        return lossless_groups(0) == "3456" && driver_.states(0) == "done done done done";
      },
      [&] { box_.settle(); }));
  EXPECT_THAT(values, ElementsAre("5,6", "5,6,6"))
      << "no empty list: the model of 202411 takes none";
}

// The connection was lost, or the row was another one, before the step came to Redis.
TEST_F(SonicReload, StepThatIsNotedAndWasNeverMadeIsMade) {
  ASSERT_TRUE(driver_.until_done());
  driver_.kill();
  sonic::Memory notes = box_.notes();
  notes.at("Ethernet0")["step:pfc_enable"] = "5,6,6";
  box_.set_notes(notes);
  box_.ask(kConfig, {"DEL", "BUFFER_PG|Ethernet0|5-6"});
  box_.settle();
  driver_.open();
  ASSERT_TRUE(driver_.until_done()) << driver_.states(0) << driver_.text(0, Part::kPfc);
  EXPECT_EQ(lossless_groups(0), "3456");
}

TEST_F(SonicReload, HeadroomThatThePortCannotHaveIsALimit) {
  ASSERT_TRUE(driver_.until_done());
  const std::string row = "BUFFER_MAX_PARAM_TABLE|" + Box::name_of(0);
  box_.ask(kState, {"HSET", row, "max_headroom_size", "100000"});
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done done done limited"; }))
      << driver_.states(0);
  EXPECT_EQ(driver_.text(0, Part::kPfc),
            "the headroom of priorities 5, 6 is 147104 octets, and Ethernet0 can have 100000 "
            "(max_headroom_size): set fewer classes in qos.lossless, or shorter cables in "
            "CABLE_LENGTH");
  EXPECT_EQ(driver_.states(1), "done done done done");
  box_.ask(kState, {"HSET", row, "max_headroom_size", "147104"});
  EXPECT_TRUE(driver_.until_done());
  box_.ask(kState, {"HSET", row, "max_headroom_size", "0"});  // shared headroom has no limit
  driver_.turns(5);
  EXPECT_EQ(driver_.states(0), "done done done done");
}

TEST_F(SonicReload, SpareThatTheChipsOwnWatchdogDoesNotWatchIsALimit) {
  ASSERT_TRUE(driver_.until_done());
  const auto watch = [&](int queue) {
    box_.ask(kAsic,
             {"HSET", "ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:" + box_.object_of("QUEUE", 0, queue),
              "SAI_QUEUE_ATTR_ENABLE_PFC_DLDR", "true"});
  };
  watch(3);  // of no class of ours
  driver_.turns(5);
  EXPECT_EQ(driver_.states(0), "done done done done");
  watch(5);
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done done limited done"; }))
      << driver_.states(0);
  EXPECT_EQ(driver_.text(0, Part::kQueues),
            "the chip's own PFC watchdog watches queues 5 of Ethernet0 and not 6: a host that "
            "pauses those for ever is not seen (SAI_QUEUE_ATTR_ENABLE_PFC_DLDR)");
  watch(6);
  EXPECT_TRUE(driver_.until_done());
}

TEST_F(SonicReload, PfcOfPrioritiesWithBuffersStaysOnMeanwhile) {
  driver_.kill();
  Driver two(box_, "3:dscp3>2:dscp19,4:dscp4>5:dscp43");
  two.want(0, Order::kUp);
  two.open();
  ASSERT_TRUE(two.until_done()) << two.states(0);
  EXPECT_EQ(lossless_groups(0), "2345");
  box_.ask(kConfig, {"DEL", "BUFFER_PG|Ethernet0|2-5"});
  box_.ask(kConfig, {"HSET", "BUFFER_PG|Ethernet0|3-4", "profile", BufferManager::kProfile});
  box_.settle();
  std::set<std::string> values;
  ASSERT_TRUE(two.until(
      [&] {
        values.insert(pfc(0));
        return lossless_groups(0) == "2345" && two.states(0) == "done done done done";
      },
      [&] { box_.settle(); }));
  EXPECT_THAT(values, ElementsAre("2,3,4,5", "3,4"));
}

TEST_F(SonicReload, BuffersThatDoNotComeAreAnAlarmWithTheRow) {
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done done done bypassed"; },
                            [&] { box_.swss().run(); }));
  EXPECT_THAT(driver_.text(0, Part::kPfc),
              HasSubstr("BUFFER_PG has no lossless profile for priority 5 of Ethernet0"));
}

TEST_F(SonicReload, DynamicBufferModelNeedsAPersonAndSaysSo) {
  box_.ask(kConfig, {"HSET", "DEVICE_METADATA|localhost", "buffer_model", "dynamic"});
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done done done bypassed"; },
                            [&] { box_.swss().run(); }));
  EXPECT_THAT(driver_.text(0, Part::kPfc),
              HasSubstr("config interface buffer priority-group lossless add Ethernet0 5"));
}

TEST_F(SonicReload, LossyQueueOfAClassIsNamed) {
  box_.ask(kConfig, {"DEL", "BUFFER_QUEUE|Ethernet0|2-6"});
  box_.ask(kConfig, {"HSET", "BUFFER_QUEUE|Ethernet0|2-5", "profile", "egress_lossless_profile"});
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done done bypassed done"; },
                            [&] { box_.settle(); }));
  EXPECT_THAT(driver_.text(0, Part::kQueues),
              HasSubstr("hset 'BUFFER_QUEUE|Ethernet0|6' profile egress_lossless_profile"));
}

// SONiC's usual template: 0-2 and 5-6 are lossy. After a restart orchagent takes the rows by their
// keys, and 6-7 comes after 6.
TEST_F(SonicReload, QueueThatAnotherRowMakesLossyIsNamedWithTheWayOut) {
  box_.ask(kConfig, {"DEL", "BUFFER_QUEUE|Ethernet0|2-6"});
  box_.ask(kConfig, {"HSET", "BUFFER_QUEUE|Ethernet0|5", "profile", "egress_lossless_profile"});
  box_.ask(kConfig, {"HSET", "BUFFER_QUEUE|Ethernet0|6-7", "profile", "egress_lossy_profile"});
  box_.settle();
  box_.ask(kConfig, {"HSET", "BUFFER_QUEUE|Ethernet0|6", "profile", "egress_lossless_profile"});
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done done bypassed done"; },
                            [&] { box_.settle(); }))
      << driver_.states(0);
  const std::string text = driver_.text(0, Part::kQueues);
  EXPECT_EQ(text,
            "BUFFER_QUEUE|Ethernet0|6-7 gives queue 6 the profile egress_lossy_profile, and of "
            "rows that share a queue any may be applied last: split it: sonic-db-cli CONFIG_DB del "
            "'BUFFER_QUEUE|Ethernet0|6' 'BUFFER_QUEUE|Ethernet0|6-7'; sonic-db-cli CONFIG_DB hset "
            "'BUFFER_QUEUE|Ethernet0|7' profile egress_lossy_profile; sonic-db-cli CONFIG_DB hset "
            "'BUFFER_QUEUE|Ethernet0|6' profile egress_lossless_profile");
  for (const auto& command : commands_in(text)) {
    box_.ask(kConfig, command);
    box_.settle();
  }
  EXPECT_TRUE(driver_.until_done()) << driver_.states(0) << driver_.text(0, Part::kQueues);
  box_.restart_swss();
  EXPECT_TRUE(driver_.until_done()) << driver_.states(0) << driver_.text(0, Part::kQueues);
}

// As the templates of two vendors have it: 3 to 3 and 4 to 4 only.
TEST_F(SonicReload, PfcThatIsLedToNoPriorityGroupIsNamed) {
  box_.ask(kConfig, {"HSET", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE", "3", "3", "4", "4"});
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_to_pg_map", "AZURE"});
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done done done bypassed"; },
                            [&] { box_.settle(); }));
  EXPECT_THAT(driver_.text(0, Part::kPfc),
              HasSubstr("hset 'PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE' 5 5"));
}

TEST_F(SonicReload, BufferThatOnlyConfigDbHasIsNone) {
  ASSERT_TRUE(driver_.until_done());
  box_.ask(
      kAsic,
      {"HSET", "ASIC_STATE:SAI_OBJECT_TYPE_INGRESS_PRIORITY_GROUP:" + box_.object_of("PG", 0, 6),
       "SAI_INGRESS_PRIORITY_GROUP_ATTR_BUFFER_PROFILE", "oid:0x0"});
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done done done bypassed"; }));
  EXPECT_THAT(driver_.text(0, Part::kPfc), HasSubstr("no lossless profile on priority group 6"));
}

TEST_F(SonicReload, RemovalTakesBackTheBuffersThatAreThereForTheRulesAlone) {
  box_.ask(kConfig, {"HSET", "BUFFER_PG|Ethernet0|7", "profile", BufferManager::kProfile});
  box_.settle();
  const auto before = config();
  ASSERT_TRUE(driver_.until_done());
  EXPECT_THAT(box_.keys(kConfig, "BUFFER_PG|*"), Contains("BUFFER_PG|Ethernet0|5-6"));
  const auto removed = remove();
  EXPECT_TRUE(removed) << to_string(removed.error());
  box_.settle();
  EXPECT_EQ(config(), before);
  EXPECT_TRUE(box_.notes().empty());
  EXPECT_EQ(lossless_groups(0), "347");
}

// A deletion takes the profile off every priority group of the range.
TEST_F(SonicReload, BuffersThatWereThereBeforeAreThereAfterARowThatCoveredThemWent) {
  driver_.kill();
  Driver four(box_, "3:dscp3>5:dscp43,4:dscp4>6:dscp6");
  four.want(0, Order::kUp);
  four.open();
  ASSERT_TRUE(four.until_done());
  EXPECT_THAT(box_.keys(kConfig, "BUFFER_PG|Ethernet0*"), Contains("BUFFER_PG|Ethernet0|3-6"));
  four.drop(0);
  const auto removal = four.backend().plan_removal(sonic_port(0));
  ASSERT_TRUE(removal);
  four.backend().apply({.ports = {*removal}});
  ASSERT_TRUE(four.until([&] { return box_.notes().empty(); }, [&] { box_.settle(); }));
  four.turns(3);
  box_.settle();
  EXPECT_EQ(lossless_groups(0), "34");
}

// Its row is there still, and orchagent skips a row that comes again unchanged.
TEST_F(SonicReload, GroupThatAnotherRowTookWithItIsMadeAgain) {
  ASSERT_TRUE(driver_.until_done());
  box_.ask(kConfig, {"HSET", "BUFFER_PG|Ethernet0|6-7", "profile", BufferManager::kProfile});
  box_.settle();
  box_.ask(kConfig, {"DEL", "BUFFER_PG|Ethernet0|6-7"});
  box_.settle();
  ASSERT_EQ(lossless_groups(0), "345");
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done done done bypassed"; },
                            [&] { box_.settle(); }));
  EXPECT_TRUE(driver_.until_done()) << driver_.text(0, Part::kPfc);
  EXPECT_EQ(lossless_groups(0), "3456");
  EXPECT_THAT(box_.keys(kConfig, "BUFFER_PG|Ethernet0|5-6"), testing::SizeIs(1));
  // Redis may confirm what became of the group before it is told that the note goes.
  EXPECT_TRUE(driver_.until([&] { return !box_.notes().at("Ethernet0").contains(sonic::kAgain); },
                            [&] { box_.settle(); }));
}

TEST_F(SonicReload, WatchdogLooksAtTheRulesPrioritiesAndAtNoOthers) {
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfcwd_sw_enable", "3,4"});
  box_.ask(kConfig, {"HSET", "PFC_WD|Ethernet0", "action", "drop"});
  box_.settle();
  EXPECT_EQ(box_.swss().watched("Ethernet0"), 0x18U);
  ASSERT_TRUE(driver_.until_done());
  ASSERT_TRUE(driver_.until([&] { return box_.swss().watched("Ethernet0") == 0x60U; },
                            [&] { box_.settle(); }))
      << box_.swss().watched("Ethernet0");
  driver_.drop(0);
  const auto removal = driver_.backend().plan_removal(sonic_port(0));
  ASSERT_TRUE(removal);
  driver_.backend().apply({.ports = {*removal}});
  EXPECT_TRUE(driver_.until([&] { return box_.swss().watched("Ethernet0") == 0x18U; },
                            [&] { box_.settle(); }))
      << box_.swss().watched("Ethernet0");
  EXPECT_EQ(box_.row(kConfig, "PFC_WD|Ethernet0"), (Row{{"action", "drop"}}));
}

TEST_F(SonicReload, RemapIsUnverifiedWhereTheAsicDoesNotSayThatItRewrites) {
  box_.swss().rewrites = false;
  box_.restart_swss();
  ASSERT_TRUE(driver_.until([&] { return driver_.states(0) == "done unverified done done"; },
                            [&] { box_.settle(); }))
      << driver_.states(0);
  EXPECT_EQ(driver_.states(1), "done done done done") << "a down port rewrites nothing";
  EXPECT_THAT(driver_.text(0, Part::kRemap), HasSubstr("qos.rewrite-verified = yes"));
  driver_.rewrite_verified = true;
  driver_.open();
  EXPECT_TRUE(driver_.until_done()) << driver_.states(0);
}

TEST_F(SonicReload, AsymmetricPfcIsReadAsItIsSent) {
  box_.swss().asymmetric = true;
  EXPECT_TRUE(driver_.until_done()) << driver_.states(0) << driver_.text(0, Part::kPfc);
}

TEST_F(SonicReload, ReleaseThatIsTooOldGetsNothingAndIsNamed) {
  for (const char* version : {"version_202405_01", "version_4_0_5"}) {
    box_.ask(kConfig, {"HSET", "VERSIONS|DATABASE", "VERSION", version});
    driver_.open();
    driver_.turns(3);
    EXPECT_EQ(driver_.states(0), "unsupported unsupported unsupported unsupported");
    EXPECT_THAT(driver_.text(0, Part::kRemap), HasSubstr(version));
  }
  EXPECT_EQ(pfc(0), "3,4");
  for (const char* version : {"version_202411_02", "version_202505_01", "master"}) {
    box_.ask(kConfig, {"HSET", "VERSIONS|DATABASE", "VERSION", version});
    driver_.open();
    EXPECT_TRUE(driver_.until_done()) << version;
  }
}

TEST_F(SonicReload, EmptyRedisIsSaidToBeEmpty) {
  box_.ask(kConfig, {"FLUSHDB"});
  driver_.open();
  EXPECT_THAT(driver_.states(0), HasSubstr("CONFIG_DB has no PORT at all"));
}

// What earlier versions kept in a table that SONiC's models do not know.
TEST_F(SonicReload, RowsOfPortsInTableLldpLevelMoveIntoTheFile) {
  driver_.kill();
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "dscp_to_tc_map", "LLDP_LEVEL_UP"});
  box_.ask(kConfig, {"HSET", "LLDP_LEVEL|Ethernet0", "dscp_to_tc_map", "AZURE", "tc_to_queue_map",
                     "AZURE", "tc_to_dscp_map", "", "tc_to_pg_map", "", "pfc_enable", "3,4",
                     "pfcwd_sw_enable", "", "set:pfc_enable", "5,6"});
  box_.ask(kConfig, {"HSET", "LLDP_LEVEL|GLOBAL", "role", "switch"});
  driver_.drop(0);
  driver_.drop(1);
  driver_.open();
  ASSERT_TRUE(driver_.until([&] { return box_.keys(kConfig, "LLDP_LEVEL|*").size() == 1; }));
  EXPECT_EQ(box_.row(kConfig, "LLDP_LEVEL|GLOBAL"), (Row{{"role", "switch"}}));
  EXPECT_EQ(box_.notes().at("Ethernet0").at("pfc_enable"), "3,4");
  ASSERT_EQ(driver_.backend().ports()->size(), 1U);
  EXPECT_EQ(driver_.backend().ports()->front().name, "Ethernet0");
}

TEST_F(SonicReload, OriginalsAreThoseOfTheRowThatComesLater) {
  box_.ask(kConfig, {"DEL", "PORT_QOS_MAP|Ethernet0"});
  box_.settle();
  driver_.open();
  ASSERT_TRUE(driver_.until_done()) << driver_.states(0);
  EXPECT_TRUE(box_.notes().at("Ethernet0").contains("no-row"));
  box_.load_port_qos(0);
  ASSERT_TRUE(driver_.until([&] { return !box_.notes().at("Ethernet0").contains("no-row"); },
                            [&] { box_.settle(); }));
  ASSERT_TRUE(driver_.until_done());
  ASSERT_TRUE(remove());
  EXPECT_EQ(pfc(0), "3,4");
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0").at("dscp_to_tc_map"), "AZURE");
}

TEST_F(SonicReload, ValuesThatTheRulesReplacedAreNoOriginals) {
  ASSERT_TRUE(driver_.until_done());
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_enable", "1"});
  ASSERT_TRUE(driver_.until([&] { return pfc(0) == "5,6"; }, [&] { box_.settle(); }));
  ASSERT_TRUE(driver_.until_done());
  ASSERT_TRUE(remove());
  EXPECT_EQ(pfc(0), "3,4");
}

TEST_F(SonicReload, PfcThatIsMeantToBeOffIsAcceptedAndCanBeRejected) {
  ASSERT_TRUE(driver_.until_done());
  const PortRef port = sonic_port(0);
  EXPECT_THAT(driver_.backend().displaced(port), HasSubstr("priority 3, 4 had PFC"));
  EXPECT_FALSE(driver_.backend().accept_pfc(port, false)) << "nothing was accepted";
  EXPECT_FALSE(driver_.backend().accept_pfc(sonic_port(2), true)) << "it has no rules";
  const auto tells_5_and_6 = [&] {
    return std::ranges::any_of(driver_.backend().platform()->ports,
                               [](const PlatformClasses::Port& p) { return p.pfc == 0x60; });
  };
  EXPECT_FALSE(tells_5_and_6());
  ASSERT_TRUE(driver_.backend().accept_pfc(port, true));
  EXPECT_EQ(driver_.backend().displaced(port), "");
  EXPECT_TRUE(tells_5_and_6()) << "what was accepted is the original";
  driver_.open();
  EXPECT_EQ(driver_.backend().displaced(port), "") << "it is kept";
  ASSERT_TRUE(driver_.backend().accept_pfc(port, false));
  EXPECT_THAT(driver_.backend().displaced(port), HasSubstr("priority 3, 4 had PFC"));
  ASSERT_TRUE(driver_.backend().accept_pfc(port, true));
  ASSERT_TRUE(remove());
  EXPECT_EQ(pfc(0), "5,6") << "as it was accepted";
  EXPECT_EQ(pfc(1), "3,4");
}

TEST_F(SonicReload, NoPortChangesWhereWhatItHadCannotBeKept) {
  driver_.kill();
  const auto before = config();
  SonicOptions options = box_.options();
  options.memory = box_.path("none") + "/notes";
  const auto backend = make_backend("sonic", {.sonic = options});
  ASSERT_TRUE(backend);
  const auto plan = (*backend)->plan(sonic_port(0), driver_.rules_of(0));
  ASSERT_TRUE(plan);
  const auto done = finish(**backend, {.ports = {*plan}});
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("what ports had before the rules cannot be kept"));
  EXPECT_EQ(config(), before);
}

TEST_F(SonicReload, DamagedNotesAreNamedWithTheWayOut) {
  driver_.kill();
  for (const char* text : {"", "{", "{\"version\": 2, \"ports\": {}}", "{\"version\": 1}",
                           "{\"version\": 1, \"ports\": {\"a\": {\"b\": 1}}}"}) {
    std::ofstream(box_.path("notes")) << text;
    const auto backend = make_backend("sonic", {.sonic = box_.options()});
    ASSERT_FALSE(backend) << text;
    EXPECT_THAT(to_string(backend.error()), HasSubstr("remove it, then `config qos reload`"));
  }
}

}  // namespace
}  // namespace lldp::dataplane
