// SPDX-License-Identifier: Apache-2.0
// What was there before, by our notes: what is put back, whose a map is, and what becomes of both
// where a note is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "dataplane/sonic/view.hpp"
#include "tests/dataplane/sonic_fixture.hpp"

namespace lldp::dataplane {
namespace {

using sonic::Row;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What is kept of these ports is taken away; only between two processes is that seen.
void forget(const Box& box, const std::vector<std::string>& ports) {
  sonic::Memory notes = box.notes();
  for (const std::string& port : ports) notes.erase(port);
  box.set_notes(notes);
}

void remove_one_by_one(Backend& backend) {
  const auto ports = backend.ports();
  ASSERT_TRUE(ports);
  for (const PortRef& port : *ports) {
    auto removal = backend.plan_removal(port);
    ASSERT_TRUE(removal);
    EXPECT_TRUE(finish(backend, *removal));
  }
}

TEST_F(SonicTest, OnlyOurFieldsAndRowsChangeAndRemovalPutsBackWhatWasThere) {
  const auto all = [&] {
    std::map<std::string, Row> rows;
    for (const std::string& key : box_.keys(kConfig, "*")) rows[key] = box_.row(kConfig, key);
    return rows;
  };
  const auto before = all();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0"), (Row{{"dscp_to_tc_map", "LLDP_LEVEL_UP"},
                                                              {"tc_to_queue_map", "LLDP_LEVEL_UP"},
                                                              {"tc_to_dscp_map", "LLDP_LEVEL_UP"},
                                                              {"tc_to_pg_map", "LLDP_LEVEL"},
                                                              {"pfc_enable", "5,6"},
                                                              {"pfcwd_sw_enable", "5,6"},
                                                              {"pfc_to_queue_map", "AZURE"}}));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet8"), before.at("PORT_QOS_MAP|Ethernet8"));
  backend_ = open();  // another process takes them away
  remove_one_by_one(*backend_);
  EXPECT_EQ(all(), before);
}

// Between the agent's end and the removal, the ports are others'.
TEST_F(SonicTest, RemovalLeavesWhatOthersHaveSetSince) {
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown) && put(2, Order::kDown));
  box_.ask(kConfig,
           {"HSET", "PORT_QOS_MAP|Ethernet0", "dscp_to_tc_map", "CUSTOM", "pfc_enable", "2"});
  box_.ask(kConfig, {"DEL", "PORT_QOS_MAP|Ethernet4"});
  backend_ = open();
  remove_one_by_one(*backend_);
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0"), (Row{{"dscp_to_tc_map", "CUSTOM"},
                                                              {"tc_to_queue_map", "AZURE"},
                                                              {"pfc_enable", "2"},
                                                              {"pfc_to_queue_map", "AZURE"}}));
  EXPECT_TRUE(box_.keys(kConfig, "PORT_QOS_MAP|Ethernet4").empty()) << "it is made anew";
  EXPECT_TRUE(box_.notes().empty());
}

TEST_F(SonicTest, WhatOthersSetJustBeforeIsWhatIsPutBack) {
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_enable", "3"});  // since it was read
  ASSERT_TRUE(put(0, Order::kUp));
  ASSERT_TRUE(remove_all(*backend_));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0").at("pfc_enable"), "3");
  ASSERT_TRUE(put(0, Order::kUp));
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_enable", "4"});
  ASSERT_TRUE(remove_all(*backend_));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0").at("pfc_enable"), "4");
}

TEST_F(SonicTest, PfcThatTheRulesTakeFromOthersIsSaid) {
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_enable", "3,5"});
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  box_.orchagent();
  ASSERT_TRUE(until([&] { return states(0, Order::kUp) == "done done done done"; }));
  EXPECT_THAT(backend_->description(), HasSubstr("; priority 3 had PFC before the rules"));
}

// A row of before there was such a note does not say what is set now.
TEST_F(SonicTest, OfAPortWithoutANoteOfItsPfcNothingIsSaidToBeTaken) {
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_enable", "3,5"});
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  sonic::Memory notes = box_.notes();
  notes.at("Ethernet0").erase("set:pfc_enable");
  backend_ = nullptr;
  box_.set_notes(notes);
  backend_ = open();
  EXPECT_EQ(backend_->displaced(sonic_port(0)), "");
  EXPECT_THAT(backend_->description(), testing::Not(HasSubstr("had PFC before")));
}

TEST_F(SonicTest, MapsStayWhereTheLastPortGoesAndAnotherComesAtOnce) {
  ASSERT_TRUE(put(0, Order::kUp));
  const auto gone = backend_->plan_removal(sonic_port(0));
  const auto comes = backend_->plan(sonic_port(1), rules_of(Order::kUp));
  ASSERT_TRUE(gone && comes);
  const auto done = finish(*backend_, {.ports = {*gone, *comes}});
  ASSERT_TRUE(done) << to_string(done.error());
  const std::string map = box_.row(kConfig, "PORT_QOS_MAP|Ethernet4").at("dscp_to_tc_map");
  EXPECT_THAT(map, HasSubstr("LLDP_LEVEL"));
  EXPECT_FALSE(box_.row(kConfig, "DSCP_TO_TC_MAP|" + map).empty());
}

TEST_F(SonicTest, MapsGoWithTheLastOfPortsThatLeaveOneByOne) {
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  for (const int i : {0, 1}) {
    const auto gone = backend_->plan_removal(sonic_port(i));
    ASSERT_TRUE(gone);
    backend_->apply({.ports = {*gone}});
  }
  const auto done = wait_for(*backend_, {sonic_port(0).ifindex, sonic_port(1).ifindex});
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_THAT(box_.keys(kConfig, "*LLDP_LEVEL*"), IsEmpty());
}

TEST_F(SonicTest, MapsStayForAPortThatIsOnItsWay) {
  for (const bool comes_first : {true, false}) {
    ASSERT_TRUE(put(0, Order::kUp));
    const auto gone = backend_->plan_removal(sonic_port(0));
    const auto comes = backend_->plan(sonic_port(1), rules_of(Order::kUp));
    ASSERT_TRUE(gone && comes);
    for (const PortPlan& plan : {comes_first ? *comes : *gone, comes_first ? *gone : *comes})
      backend_->apply({.ports = {plan}});
    const auto done = wait_for(*backend_, {sonic_port(0).ifindex, sonic_port(1).ifindex});
    ASSERT_TRUE(done) << to_string(done.error());
    const std::string map = box_.row(kConfig, "PORT_QOS_MAP|Ethernet4").at("dscp_to_tc_map");
    EXPECT_FALSE(box_.row(kConfig, "DSCP_TO_TC_MAP|" + map).empty()) << comes_first;
    ASSERT_TRUE(remove_all(*backend_));
  }
}

// A migration of CONFIG_DB, or a hand, may take away what we remember by.
TEST_F(SonicTest, OursIsNeverTakenForWhatWasThereBefore) {
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  const Row originals = box_.notes().at("Ethernet4");
  backend_ = nullptr;
  forget(box_, {"Ethernet0"});
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(box_.notes().at("Ethernet0"), originals);
}

// As when a configuration is loaded without the table that SONiC's models do not know.
TEST_F(SonicTest, PortThatGoesByOurMapsIsFoundAndLosesThemThoughItsNoteIsGone) {
  const auto ours = [&] {
    std::vector<std::string> keys = box_.keys(kConfig, "*LLDP_LEVEL*");
    for (int i = 0; i < 4; ++i)
      for (const auto& [field, value] : box_.row(kConfig, "PORT_QOS_MAP|" + Box::name_of(i)))
        if (value.find("LLDP_LEVEL") != value.npos) keys.push_back(Box::name_of(i) + field);
    return keys;
  };
  const Row before = box_.row(kConfig, "PORT_QOS_MAP|Ethernet0");
  for (const bool one_is_noted : {true, false}) {
    ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
    backend_ = nullptr;
    forget(box_, {"Ethernet0", one_is_noted ? "" : "Ethernet4"});
    backend_ = open();
    ASSERT_TRUE(backend_->ports());
    EXPECT_EQ(backend_->ports()->size(), 2U);
    EXPECT_TRUE(remove_all(*backend_));
    EXPECT_THAT(ours(), IsEmpty());
    for (const int i : {0, 1})
      EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|" + Box::name_of(i)), before);
  }
}

// What another had before ours is known by its note, though no port is left without ours.
TEST_F(SonicTest, PortWithoutItsNoteGetsBackWhatAnotherHadByHis) {
  for (const int i : {2, 3}) box_.ask(kConfig, {"DEL", "PORT_QOS_MAP|" + Box::name_of(i)});
  const Row before = box_.row(kConfig, "PORT_QOS_MAP|Ethernet0");
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  backend_ = nullptr;
  forget(box_, {"Ethernet0"});
  backend_ = open();
  const auto removed = remove_all(*backend_);
  EXPECT_TRUE(removed) << to_string(removed.error());
  for (const int i : {0, 1})
    EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|" + Box::name_of(i)), before) << i;
}

// A port that leaves has its row back, and in its note none of what it had.
TEST(SonicView, NoteOfLeavingPortSaysNothingOfOriginals) {
  const Row had{{"dscp_to_tc_map", "AZURE"}, {"tc_to_queue_map", "AZURE"}, {"pfc_enable", "3,4"}};
  const Row ours{{"dscp_to_tc_map", "LLDP_LEVEL_UP"}, {"pfc_enable", "5,6"}};
  sonic::View view;
  view.config = {{"PORT|Ethernet0", {{"lanes", "1"}}},
                 {"PORT|Ethernet4", {{"lanes", "2"}}},
                 {"PORT_QOS_MAP|Ethernet0", had},
                 {"PORT_QOS_MAP|Ethernet4", ours},
                 {"DSCP_TO_TC_MAP|AZURE", {{"3", "3"}, {"46", "5"}}}};
  view.notes["Ethernet0"] = {{sonic::kLeaving, "5-6"}};
  const Row* guess = view.originals_of(view.row("PORT_QOS_MAP|Ethernet4"));
  ASSERT_NE(guess, nullptr);
  EXPECT_EQ(*guess, had) << "the note of Ethernet4 is lost";
  EXPECT_EQ(view.original("Ethernet4", "pfc_enable"), "3,4");
  EXPECT_EQ(view.before()[index(MapKind::kDscpToTc)], (QosMap{{3, 3}, {46, 5}}));
}

// Redis does the other commands of a transaction of which one fails.
TEST_F(SonicTest, OriginalsStayKeptWhereATransactionFailsInPart) {
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_enable", "3"});
  box_.ask(kConfig, {"DEL", "PORT_QOS_MAP|Ethernet4"});
  box_.ask(kConfig, {"SET", "PORT_QOS_MAP|Ethernet4", "no row"});
  const Row before = box_.row(kConfig, "PORT_QOS_MAP|Ethernet0");
  backend_ = open();
  const auto one = backend_->plan(sonic_port(0), rules_of(Order::kUp));
  const auto two = backend_->plan(sonic_port(1), rules_of(Order::kUp));
  ASSERT_TRUE(one && two);
  const auto done = finish(*backend_, {.ports = {*one, *two}});
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("WRONGTYPE"));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0").at("dscp_to_tc_map"), "LLDP_LEVEL_UP");
  EXPECT_EQ(box_.notes().at("Ethernet0").at("pfc_enable"), "3");
  box_.ask(kConfig, {"DEL", "PORT_QOS_MAP|Ethernet4"});
  backend_ = open();
  const auto removed = remove_all(*backend_);
  ASSERT_TRUE(removed) << to_string(removed.error());
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0"), before);
}

// Where no port tells either, half a row is worse than one that is whole, and ours.
TEST_F(SonicTest, PortsWhoseRowsNobodyKnowsAreNamedAndStay) {
  for (const int i : {2, 3}) box_.ask(kConfig, {"DEL", "PORT_QOS_MAP|" + Box::name_of(i)});
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  const Row ours = box_.row(kConfig, "PORT_QOS_MAP|Ethernet0");
  backend_ = nullptr;
  forget(box_, {"Ethernet0", "Ethernet4"});
  backend_ = open();
  const auto removed = remove_all(*backend_);
  ASSERT_FALSE(removed);
  EXPECT_THAT(to_string(removed.error()), HasSubstr("Ethernet0: what its row of PORT_QOS_MAP was"));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0"), ours);
}

TEST_F(SonicTest, MapOfAnOperatorThatIsCalledLikeOursIsHis) {
  box_.ask(kConfig, {"HSET", "DSCP_TO_TC_MAP|LLDP_LEVEL_TEST", "8", "1"});
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet4", "dscp_to_tc_map", "LLDP_LEVEL_TEST"});
  const Row his = box_.row(kConfig, "PORT_QOS_MAP|Ethernet4");
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_THAT(*backend_->ports(), ElementsAre(sonic_port(0)));
  ASSERT_TRUE(remove_all(*backend_));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet4"), his);
  EXPECT_THAT(box_.keys(kConfig, "*LLDP_LEVEL*"), ElementsAre("DSCP_TO_TC_MAP|LLDP_LEVEL_TEST"));
}

TEST_F(SonicTest, WhatOthersPutIntoAMapOfOursGoes) {
  ASSERT_TRUE(put(0, Order::kUp));
  const Row map = box_.row(kConfig, "TC_TO_QUEUE_MAP|LLDP_LEVEL_UP");
  box_.ask(kConfig, {"HSET", "TC_TO_QUEUE_MAP|LLDP_LEVEL_UP", "9", "6", "5", "0"});
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(box_.row(kConfig, "TC_TO_QUEUE_MAP|LLDP_LEVEL_UP"), map);
}

}  // namespace
}  // namespace lldp::dataplane
