// SPDX-License-Identifier: Apache-2.0
// The NICs of one host against the design of its rails.
#include "cabling/rails.hpp"

#include <gmock/gmock.h>

namespace lldp::cabling {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// NIC, group, leaf, port.
RailCable nic(std::string name, std::string group, std::string leaf, std::string port) {
  std::string chassis = leaf.empty() ? std::string() : "chassis of " + leaf;
  return {std::move(name), std::move(group), std::move(chassis), std::move(leaf), std::move(port)};
}

TEST(PortNumber, IsWhatOperatorsCountBy) {
  const std::pair<const char*, const char*> numbers[] = {{"FourHundredGigE1/0/98", "98"},
                                                         {"Ethernet19/1", "1"},
                                                         {"Ethernet1/7:2", "7"},
                                                         {"Eth1/12b", "12"},
                                                         {"Ethernet54", "54"},
                                                         {"Ethernet54p2", "54p2"},
                                                         {"swp3", "3"},
                                                         {"swp1s0", "1s0"},
                                                         {"7", "7"},
                                                         {"02:00:00:00:00:07", ""},
                                                         {"uplink", ""},
                                                         {"", ""}};
  for (const auto& [port, number] : numbers) EXPECT_EQ(port_number_of(port), number) << port;
}

TEST(Rails, WithoutADesignJudgeNothing) {
  const RailCable cables[] = {nic("eth0", "a", "leaf1", "swp1"), nic("eth1", "a", "leaf1", "swp2")};
  EXPECT_THAT(judge_rails(RailDesign::kNone, cables), IsEmpty());
}

TEST(Rails, OfARightHostSayNothing) {
  const RailCable one_leaf[] = {nic("eth0", "a", "leaf1", "swp1"),
                                nic("eth1", "a", "leaf1", "swp2"),
                                nic("eth2", "b", "leaf2", "swp1")};
  EXPECT_THAT(judge_rails(RailDesign::kSameLeaf, one_leaf), IsEmpty());
  const RailCable rails[] = {nic("eth0", "a", "leaf1", "swp5"), nic("eth1", "a", "leaf2", "swp5"),
                             nic("eth2", "a", "leaf3", "swp5"), nic("st0", "b", "leaf1", "swp9")};
  EXPECT_THAT(judge_rails(RailDesign::kDistinctLeaf, rails), IsEmpty());
  EXPECT_THAT(judge_rails(RailDesign::kPortNumber, rails), IsEmpty());
}

TEST(Rails, OfOneNicAndOfUnknownLeavesAreNotJudged) {
  const RailCable one[] = {nic("eth0", "a", "leaf1", "swp1")};
  const RailCable unknown[] = {nic("eth0", "a", "leaf1", "swp1"), nic("eth1", "a", "", "")};
  const RailCable no_number[] = {nic("eth0", "a", "leaf1", "02:00:00:00:00:07"),
                                 nic("eth1", "a", "leaf2", "swp2")};
  for (const RailDesign d :
       {RailDesign::kSameLeaf, RailDesign::kDistinctLeaf, RailDesign::kPortNumber}) {
    EXPECT_THAT(judge_rails(d, one), IsEmpty());
    EXPECT_THAT(judge_rails(d, unknown), IsEmpty());
  }
  EXPECT_THAT(judge_rails(RailDesign::kPortNumber, no_number), IsEmpty());
}

TEST(Rails, NameTheTwoCablesOfOneHostToExchange) {
  const RailCable cables[] = {nic("eth0", "0", "leaf1", "swp1"), nic("eth1", "0", "leaf1", "swp2"),
                              nic("eth2", "0", "leaf2", "swp3"), nic("eth3", "1", "leaf2", "swp4"),
                              nic("eth4", "1", "leaf2", "swp5"), nic("eth5", "1", "leaf1", "swp6")};
  const auto found = judge_rails(RailDesign::kSameLeaf, cables);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].exchange, ElementsAre("eth2", "eth5"));
  EXPECT_EQ(found[0].other, 5U);
  EXPECT_EQ(found[0].text, "eth2 leads to leaf2, its group to leaf1");
  EXPECT_EQ(found[0].remedy, "exchange the cables of eth2 and eth5");
}

TEST(Rails, NameBothNicsOnOneLeafWhereEachHasItsOwn) {
  const RailCable cables[] = {nic("eth0", "0", "leaf1", "swp1"), nic("eth1", "0", "leaf1", "swp2"),
                              nic("eth2", "1", "leaf2", "swp3"), nic("eth3", "1", "leaf2", "swp4")};
  const auto found = judge_rails(RailDesign::kDistinctLeaf, cables);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].exchange, ElementsAre("eth0", "eth2"));
  EXPECT_EQ(found[0].text, "eth0 and eth1 of one group both lead to leaf1");
}

TEST(Rails, NameNoRemedyWhereTheOtherCableIsAtAnotherHost) {
  const RailCable cables[] = {nic("eth0", "0", "leaf1", "swp1"), nic("eth1", "0", "leaf1", "swp2"),
                              nic("eth2", "0", "leaf3", "swp1")};
  const auto found = judge_rails(RailDesign::kDistinctLeaf, cables);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].text, "eth1 and eth0 of one group both lead to leaf1");
  EXPECT_EQ(found[0].remedy, "");
}

TEST(Rails, NameTwoCablesOfTheLeafWhereItsPortNumberIsAnother) {
  const RailCable cables[] = {nic("eth0", "0", "leaf1", "swp4"), nic("eth1", "0", "leaf2", "swp4"),
                              nic("eth2", "0", "leaf3", "swp5")};
  const auto found = judge_rails(RailDesign::kPortNumber, cables);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].exchange, ElementsAre("leaf3:swp5", "leaf3: port 4"));
  EXPECT_EQ(found[0].text, "eth2 leads to port 5 of leaf3, its group to port 4 of each leaf");
  EXPECT_EQ(found[0].remedy, "on leaf3, exchange the cables of swp5 and of port 4");
}

TEST(Rails, OfAThousandNicsJudgeTheFirst64) {
  std::vector<RailCable> cables;
  for (int i = 0; i < 1000; ++i)
    cables.push_back(nic("eth" + std::to_string(i), "0", "leaf1", "swp" + std::to_string(i)));
  EXPECT_THAT(judge_rails(RailDesign::kDistinctLeaf, cables), SizeIs(63));
}

/// Two groups of four NICs, each group on a leaf of its own: every exchange of two cables.
TEST(Rails, FindEveryExchangeOfTwoCablesOfOneHost) {
  std::vector<RailCable> right;
  for (int i = 0; i < 8; ++i)
    right.push_back(nic("eth" + std::to_string(i), i < 4 ? "0" : "1", i < 4 ? "leaf1" : "leaf2",
                        "swp" + std::to_string(i)));
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t b = a + 1; b < 8; ++b) {
      auto cables = right;
      std::swap(cables[a].leaf, cables[b].leaf);
      std::swap(cables[a].leaf_name, cables[b].leaf_name);
      std::swap(cables[a].port, cables[b].port);
      const auto found = judge_rails(RailDesign::kSameLeaf, cables);
      if ((a < 4) == (b < 4)) {
        EXPECT_THAT(found, IsEmpty()) << "the design has it so as well";
        continue;
      }
      ASSERT_THAT(found, SizeIs(1));
      EXPECT_THAT(found[0].exchange, ElementsAre(right[a].nic, right[b].nic));
    }
}

}  // namespace
}  // namespace lldp::cabling
