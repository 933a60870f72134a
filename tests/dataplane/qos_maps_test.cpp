// SPDX-License-Identifier: Apache-2.0
#include "dataplane/qos_maps.hpp"

#include <gmock/gmock.h>

#include "tests/dataplane/contract.hpp"

namespace lldp::dataplane {
namespace {

qos::Ruleset compiled(Order order, const char* lossless, const char* lossy) {
  return qos::compile(qos::Policy::parse(lossless, lossy).value(), {.order = order});
}

/// In the order of MapKind; of the map of DSCPs what is not lossy.
QosMaps told(const Result<PortMaps>& made) {
  EXPECT_TRUE(made) << to_string(made.error());
  if (!made) return {};
  QosMaps maps = made->maps;
  QosMap& in = maps[index(MapKind::kDscpToTc)];
  EXPECT_EQ(in.size(), Dscp::kMax + 1U) << "the chip keeps what it is not told";
  std::erase_if(in, [](const auto& entry) { return entry.second == 0; });
  return maps;
}

/// Somebody's maps: the rest is of traffic class 1, and six DSCPs are apart from it.
QosMaps somebodys() {
  QosMaps maps;
  QosMap& tc = maps[index(MapKind::kDscpToTc)];
  for (unsigned d = 0; d <= Dscp::kMax; ++d) tc[d] = 1;
  tc[46] = 5;
  tc[48] = 6;
  tc[8] = 0;
  tc[3] = 3;
  tc[4] = 4;
  tc[43] = 7;  // ours to say
  tc[9] = 8;   // no traffic class
  maps[index(MapKind::kTcToQueue)] = {{1, 1}, {4, 8}, {5, 3}, {6, 6}};
  maps[index(MapKind::kTcToGroup)] = {{1, 4}, {4, 7}, {5, 5}, {6, 2}};
  return maps;
}

TEST(QosMaps, OfAnUpPortWhereNothingWasBefore) {
  EXPECT_EQ(told(maps_of(rules_of(Order::kUp), {})),
            (QosMaps{QosMap{{43, 1}, {51, 2}},
                     {{0, 0}, {1, 51}, {2, 0}, {5, 43}, {6, 51}},
                     {{0, 0}, {1, 6}, {2, 0}, {5, 5}, {6, 6}},
                     {{0, 0}, {1, 5}, {2, 6}, {5, 5}, {6, 6}}}));
}

TEST(QosMaps, OfADownPortWhereNothingWasBefore) {
  for (const Order order : {Order::kDown, Order::kUnknown})
    EXPECT_EQ(told(maps_of(rules_of(order), {})),
              (QosMaps{QosMap{{43, 5}, {51, 6}},
                       {},
                       {{0, 0}, {1, 5}, {2, 6}, {5, 5}, {6, 6}},
                       {{0, 0}, {1, 5}, {2, 6}, {5, 5}, {6, 6}}}));
}

TEST(QosMaps, LossyClassHasItsQueueAndDscpAtPortsOfEitherOrder) {
  const auto up = told(maps_of(compiled(Order::kUp, "5:dscp43", "2:dscp10"), {}));
  EXPECT_EQ(up, (QosMaps{QosMap{{43, 1}},
                         {{0, 10}, {1, 10}, {5, 43}},
                         {{0, 2}, {1, 2}, {5, 5}},
                         {{0, 0}, {1, 5}, {5, 5}}}));
  const auto down = told(maps_of(compiled(Order::kDown, "5:dscp43", "2:dscp10"), {}));
  EXPECT_EQ(down, (QosMaps{QosMap{{43, 5}}, {}, {{0, 2}, {1, 5}, {5, 5}}, up[3]}));
}

TEST(QosMaps, KeepWhatSomebodyTellsApartInItsLossyQueuesAndGroups) {
  const auto up = maps_of(rules_of(Order::kUp), somebodys());
  EXPECT_EQ(told(up),
            (QosMaps{QosMap{{43, 1}, {51, 2}, {48, 3}, {46, 4}, {4, 7}},
                     {{0, 0}, {1, 51}, {2, 0}, {3, 48}, {4, 46}, {5, 43}, {6, 51}, {7, 4}},
                     {{0, 0}, {1, 6}, {2, 0}, {3, 0}, {4, 3}, {5, 5}, {6, 6}, {7, 0}},
                     {{0, 4}, {1, 5}, {2, 6}, {3, 2}, {4, 0}, {5, 5}, {6, 6}, {7, 7}}}));
  EXPECT_THAT(up->collapsed, testing::ElementsAre(Dscp::of<3>(), Dscp::of<8>()));
}

TEST(QosMaps, TheHighestDscpInUseIsKeptApartToo) {
  QosMaps before;
  for (unsigned d = 0; d <= Dscp::kMax; ++d) before[index(MapKind::kDscpToTc)][d] = d == 63 ? 2 : 0;
  EXPECT_EQ(told(maps_of(rules_of(Order::kUp), before))[index(MapKind::kDscpToTc)],
            (QosMap{{43, 1}, {51, 2}, {63, 3}}));
}

const char* const kTwo = "3:dscp26+24-25>2:dscp19,4:dscp4>5:dscp43";

qos::Ruleset of_port(qos::PortClass port) {
  return qos::compile(qos::Policy::parse(kTwo, "0:dscp0").value(), port);
}

// Eight traffic classes: 3 and 1 of priority 3, 2 and 6 of its spare, 4 and 7 of priority 4, 5
// alone of the second spare.
TEST(QosMaps, TwoChainsShareTheLastTrafficClassOfTheSecondSpare) {
  const auto up = told(maps_of(of_port({.order = Order::kUp}), {}));
  EXPECT_EQ(up, (QosMaps{QosMap{{24, 1}, {25, 1}, {26, 1}, {19, 6}, {4, 7}, {43, 5}},
                         {{0, 0}, {1, 19}, {2, 19}, {3, 26}, {4, 4}, {5, 0}, {6, 0}, {7, 43}},
                         {{0, 0}, {1, 2}, {2, 2}, {3, 3}, {4, 4}, {5, 0}, {6, 0}, {7, 5}},
                         {{0, 0}, {1, 3}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 2}, {7, 4}}}));
  const auto down = told(maps_of(of_port({.order = Order::kDown}), {}));
  EXPECT_EQ(down, (QosMaps{QosMap{{24, 3}, {25, 3}, {26, 3}, {19, 2}, {4, 4}, {43, 5}},
                           {},
                           {{0, 0}, {1, 3}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 2}, {7, 4}},
                           up[3]}));
}

TEST(QosMaps, PortToAHostRestoresBothTrafficClassesOfASpare) {
  const auto down = told(maps_of(of_port({.order = Order::kDown}), {}));
  const auto made = maps_of(of_port({.order = Order::kDown, .restore = true}), {});
  const auto host = told(made);
  EXPECT_EQ(host, (QosMaps{down[0],
                           {{0, 0}, {1, 26}, {2, 26}, {3, 26}, {4, 4}, {5, 4}, {6, 26}, {7, 4}},
                           {{0, 0}, {1, 3}, {2, 3}, {3, 3}, {4, 4}, {5, 4}, {6, 3}, {7, 4}},
                           down[3]}));
  EXPECT_FALSE(made->last_hop_lossy);
}

TEST(QosMaps, RestoringGivesWayToDscpsThatItWouldCollapse) {
  const auto made = maps_of(of_port({.order = Order::kDown, .restore = true}), somebodys());
  EXPECT_EQ(told(made), told(maps_of(of_port({.order = Order::kDown}), somebodys())));
  EXPECT_TRUE(made->last_hop_lossy);
}

TEST(QosMaps, ShutPortHasTheLossyQueueAndDscpForEveryLosslessClass) {
  const auto down = told(maps_of(of_port({.order = Order::kDown}), {}));
  const auto shut = told(maps_of(of_port({.order = Order::kShut}), {}));
  QosMap zero;
  for (unsigned tc = 0; tc < 8; ++tc) zero[tc] = 0;
  EXPECT_EQ(shut, (QosMaps{QosMap{}, zero, zero, down[3]}));
}

/// A packet's way through the maps of two ports: its DSCP and queue where it leaves.
TEST(QosMaps, DoWhatTheRulesSayForEveryPairOfPorts) {
  const qos::Policy policy = qos::Policy::parse(kTwo, "0:dscp0").value();
  const qos::PortClass ports[] = {{.order = Order::kUnknown},
                                  {.order = Order::kDown},
                                  {.order = Order::kDown, .restore = true},
                                  {.order = Order::kUp},
                                  {.order = Order::kShut}};
  for (const qos::PortClass& from : ports)
    for (const qos::PortClass& to : ports)
      for (const qos::Remap& row : policy.turns()) {
        const auto in = maps_of(of_port(from), {}).value().maps;
        const auto out = maps_of(of_port(to), {}).value().maps;
        const unsigned tc = in[index(MapKind::kDscpToTc)].at(row.from.dscp.value());
        const QosMap& dscps = out[index(MapKind::kTcToDscp)];
        qos::Class want = qos::remap(policy, from, to, row.from);
        // The second spare has one traffic class: from below too it turns where it goes up.
        if (row.from.priority == Priority::of<5>() && to.order == Order::kUp) want = policy.lossy();
        const std::string what = to_string(row.from) + " from " +
                                 std::string(to_string(from.order)) + " to " +
                                 std::string(to_string(to.order));
        EXPECT_EQ(out[index(MapKind::kTcToQueue)].at(tc), want.priority.value()) << what;
        if (dscps.empty()) {
          EXPECT_TRUE(want == row.from || from.order == Order::kShut) << what;
          continue;
        }
        // A class leaves with its mark where DSCPs are written at all.
        const Dscp dscp = want.priority == Priority::of<3>() ? Dscp::of<26>() : want.dscp;
        EXPECT_EQ(dscps.at(tc), dscp.value()) << what;
      }
}

TEST(QosMaps, FourLosslessClassesAreTheMost) {
  const auto three = maps_of(compiled(Order::kUp, "5:dscp43,6:dscp51,7:dscp59", "0:dscp0"), {});
  EXPECT_EQ(told(three)[index(MapKind::kTcToQueue)],
            (QosMap{{0, 0}, {1, 6}, {2, 7}, {3, 0}, {5, 5}, {6, 6}, {7, 7}}));
  const auto five =
      maps_of(compiled(Order::kUp, "3:dscp27,4:dscp35,5:dscp43,6:dscp51,7:dscp59", "0:dscp0"), {});
  ASSERT_FALSE(five);
  EXPECT_EQ(
      to_string(five.error()),
      "qos.lossless: 5 lossless classes need 10 traffic classes and a switch chip has 8: take "
      "4 at most");
}

TEST(QosMaps, PfcThatIsTakenIsNamed) {
  EXPECT_EQ(priorities_text(0), "");
  EXPECT_EQ(priorities_text(0b1000'0001), "0, 7");
  EXPECT_EQ(priorities_text(0b110'0000, ","), "5,6");
  EXPECT_EQ(pfc_taken_text(0b1'1000),
            "priority 3, 4 had PFC before the rules, and is lossy now: name it in qos.lossless if "
            "it is in use");
}

}  // namespace
}  // namespace lldp::dataplane
