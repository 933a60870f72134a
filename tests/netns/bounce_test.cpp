// SPDX-License-Identifier: Apache-2.0
// The second act as a whole: real agents, a real data plane, real packets, looked at on every hop.
#include "tests/netns/bounce.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace lldp::netns {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// `Leaf3 43>51` for every switch of a flow where the DSCP of a lossless class changed.
std::vector<std::string> changes(const json& flow) {
  std::vector<std::string> out;
  for (const json& hop : flow.at("hops"))
    for (const json& pair : hop.at("seen")) {
      const auto dscp = pair.at("dscp").get<std::array<int, 2>>();
      if (dscp[0] == dscp[1]) continue;
      const std::string change =
          fmt::format("{} {}>{}", hop.at("switch").get<std::string>(), dscp[0], dscp[1]);
      if (out.empty() || out.back() != change) out.push_back(change);
    }
  return out;
}

struct Case {
  const char* name = "";
  std::vector<std::string> arguments{};
  std::vector<std::vector<std::string>> changes{};  ///< per flow, after the cut
  friend void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }
};
class BounceCase : public Bounce, public testing::WithParamInterface<Case> {};
TEST_P(BounceCase, ChangesExactlyThePacketsThatTurnWhereTheyTurn) {
  const Played run = bounce(GetParam().arguments);
  ASSERT_EQ(run.status, 0) << run.text;
  EXPECT_TRUE(run.report.at("holds"));
  for (const json& flow : run.report.at("before")) {
    EXPECT_EQ(flow.at("as_sent"), flow.at("sent"));
    EXPECT_THAT(changes(flow), ElementsAre());
  }
  EXPECT_THAT(run.report.at("miscounts"), ElementsAre());
  EXPECT_GT(run.report.at("turns"), 0);
  std::vector<std::vector<std::string>> seen;
  for (const json& flow : run.report.at("after")) seen.push_back(changes(flow));
  EXPECT_EQ(seen, GetParam().changes);
}
const std::vector<std::vector<std::string>> kCase1{
    {"Leaf3 43>51", "Leaf3 51>0"}, {"Leaf2 43>51", "Leaf2 51>0"}, {}};
const std::vector<std::vector<std::string>> kCase2{
    {"AGG3 43>51", "AGG3 51>0"}, {"AGG2 43>51", "AGG2 51>0"}, {}};
const std::vector<std::vector<std::string>> kDualTor{
    {"ToR2 43>51", "ToR2 51>0"}, {"ToR1 43>51", "ToR1 51>0"}, {}};
const std::vector<std::vector<std::string>> kTwice{{"Leaf2 43>51", "Leaf2 51>0", "Leaf3 51>0"}, {}};
const Case kCases[] = {
    {"Case1Routed", {"case1"}, kCase1},
    {"Case1Bridged", {"case1", "--bridged"}, kCase1},
    {"Case2Routed", {"case2"}, kCase2},
    {"Case2Bridged", {"case2", "--bridged"}, kCase2},
    {"DualTorRouted", {"dualtor"}, kDualTor},
    {"DualTorBridged", {"dualtor", "--bridged"}, kDualTor},
    {"TwiceRouted", {"twice"}, kTwice},
    {"TwiceBridged", {"twice", "--bridged"}, kTwice},
    {"ThreeLosslessPriorities",
     {"twice", "--qos.lossless", "3:dscp27,4:dscp35,5:dscp43"},
     {{"Leaf2 27>35", "Leaf2 35>43", "Leaf2 43>0", "Leaf3 35>43", "Leaf3 43>0"}, {}}},
};
INSTANTIATE_TEST_SUITE_P(Live, BounceCase, testing::ValuesIn(kCases),
                         [](const auto& c) { return c.param.name; });

TEST_F(Bounce, InALayeredExpanderPacketsChangeWhereTheirPathTurnsAndNowhereElse) {
  const Played run = bounce({"layered"});
  ASSERT_EQ(run.status, 0) << run.text;
  EXPECT_TRUE(run.report.at("holds"));
  EXPECT_THAT(run.report.at("miscounts"), ElementsAre());
  const json& flows = run.report.at("after");
  ASSERT_EQ(flows.size(), 4U);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    // `once`, `inside`, `twice`, `straight`
    std::vector<std::string> turns;
    for (const json& hop : flows.at(f).at("hops"))
      if (hop.at("turn").get<bool>()) turns.push_back(hop.at("switch").get<std::string>());
    std::vector<std::string> expected;
    if (f < 3) expected = {turns.at(0) + " 43>51", turns.at(0) + " 51>0"};
    if (f == 2) expected.push_back(turns.at(1) + " 51>0");
    EXPECT_EQ(turns.size(), (std::array<std::size_t, 4>{1, 1, 2, 0}.at(f)));
    EXPECT_EQ(changes(flows.at(f)), expected) << flows.at(f);
  }
}

TEST_F(Bounce, IsSeenToFailWithoutADataPlane) {
  const Played run = bounce({"case1", "--backend", "none"});
  EXPECT_EQ(run.status, 1) << run.text;
  EXPECT_FALSE(run.report.at("holds"));
  const json& flow = run.report.at("after").at(0);
  EXPECT_EQ(flow.at("problems").size(), 16U);  // two classes, four ECN, IPv4 and IPv6
  EXPECT_EQ(flow.at("problems").at(0),
            "IPv4 dscp43 ecn0: dscp43 ecn0 leaving Leaf3 by swp3, not dscp51 ecn0");
  EXPECT_THAT(run.report.at("miscounts"), Contains("Leaf3:swp3 priority 5: 0 packets, not 8"));
}

TEST(BounceUsage, IsRefusedInOneLine) {
  const auto refusal = [](std::vector<std::string> arguments) {
    const Played run = bounce(std::move(arguments));
    EXPECT_EQ(run.status, 2) << run.text;
    return run.text;
  };
  const std::string see = ": see `lldp-level-lab bounce --help`\n";
  EXPECT_EQ(refusal({}), "lldp-level-lab bounce: name a case or a fabric's file" + see);
  const std::string flows =
      "lldp-level-lab bounce: a fabric's file needs 1 to 250 --flow, a case has its own";
  EXPECT_EQ(refusal({"case3"}),
            "lldp-level-lab bounce: `case3` is neither a case (case1, case2, dualtor, twice, "
            "layered) nor a "
            "file" +
                see);
  EXPECT_EQ(refusal({"case1", "--flow", "host1-host2"}), flows + see);
  EXPECT_EQ(refusal({"case1", "--rate", "0"}),
            "lldp-level-lab bounce: --rate: give a number from 1 to 10000000" + see);
  EXPECT_EQ(refusal({"case1", "--timeout", "-1"}),
            "lldp-level-lab bounce: --timeout: give a number from 0 to 86400" + see);
}

TEST_F(Bounce, KeepsEveryPacketInItsPriorityWhileTheAgentRestarts) {
  const Played run = bounce({"case1", "--restarts", "4", "--rate", "10000"});
  ASSERT_EQ(run.status, 0) << run.text;
  const json& restarts = run.report.at("restarts");
  EXPECT_THAT(restarts.at("switches"), ElementsAre("Leaf3"));
  EXPECT_THAT(restarts.at("neighbors"), UnorderedElementsAre("Spine1", "Spine2"));
  EXPECT_GT(restarts.at("right"), 1000);
  EXPECT_EQ(restarts.at("wrong"), 0);
}

TEST_F(Bounce, SeesTheMomentWithoutRulesOfAnAgentThatFlushes) {
  const Played run = bounce({"case1", "--restarts", "2", "--rate", "10000", "--agent-arg=--flush"});
  EXPECT_EQ(run.status, 1) << run.text;
  EXPECT_GT(run.report.at("restarts").at("wrong"), 0);
}

TEST_F(Bounce, SaysWhyAnAgentIsNotReady) {
  const Played run = bounce({"case1", "--agent-arg=--level", "--agent-arg=0", "--timeout", "3"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.text, HasSubstr("Spine1: its agent is not ready after 3 s: lldp-leveld: "));
}

}  // namespace
}  // namespace lldp::netns
