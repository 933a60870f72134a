// SPDX-License-Identifier: Apache-2.0
#include "dataplane/qos_maps.hpp"

#include <gmock/gmock.h>

#include "tests/dataplane/contract.hpp"

namespace lldp::dataplane {
namespace {

qos::Ruleset compiled(Order order, const char* lossless, const char* lossy) {
  return qos::compile(qos::Policy::parse(lossless, lossy).value(), {.order = order});
}

qos::Ruleset of_sonic(Order order) {
  return compiled(order, "3:dscp3>2:dscp19,4:dscp4>5:dscp43", "0:dscp0");
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
  tc[9] = 16;  // no traffic class
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
                     {{0, 1}, {1, 6}, {2, 1}, {3, 1}, {4, 3}, {5, 5}, {6, 6}, {7, 8}},
                     {{0, 4}, {1, 5}, {2, 6}, {3, 2}, {4, 0}, {5, 5}, {6, 6}, {7, 7}}}));
  EXPECT_THAT(up->costs.collapsed, testing::ElementsAre(Dscp::of<3>(), Dscp::of<8>()));
  EXPECT_THAT(up->costs.moved, testing::ElementsAre(MovedDscp{Dscp::of<48>(), 6, 1}))
      << "its queue is that of a lossless class";
}

/// As SONiC's image has them: the rest in queue 1, each traffic class in the queue of its number.
QosMaps sonics() {
  QosMaps maps;
  QosMap& tc = maps[index(MapKind::kDscpToTc)];
  for (unsigned d = 0; d <= Dscp::kMax; ++d) tc[d] = 1;
  for (const auto& [dscp, of] : QosMap{{8, 0}, {5, 2}, {3, 3}, {4, 4}, {46, 5}, {48, 6}})
    tc[dscp] = of;
  for (unsigned n = 0; n < 8; ++n) maps[index(MapKind::kTcToQueue)][n] = n;
  return maps;
}

/// The queue of each DSCP that is not in the one of the rest.
QosMap queues_of(const QosMaps& maps) {
  QosMap queues;
  for (const auto& [dscp, tc] : maps[index(MapKind::kDscpToTc)])
    if (const unsigned queue = maps[index(MapKind::kTcToQueue)].at(tc); queue != 1)
      queues[dscp] = queue;
  return queues;
}

TEST(QosMaps, BestEffortKeepsItsQueueAndWhatMovesIsNamed) {
  for (const Order order : {Order::kUp, Order::kDown, Order::kShut}) {
    const auto made = maps_of(of_sonic(order), sonics());
    ASSERT_TRUE(made);
    EXPECT_EQ(made->maps[index(MapKind::kTcToQueue)].at(0), 1U);
    EXPECT_THAT(
        made->costs.moved,
        testing::ElementsAre(MovedDscp{Dscp::of<5>(), 2, 1}, MovedDscp{Dscp::of<8>(), 0, 1},
                             MovedDscp{Dscp::of<46>(), 5, 1}, MovedDscp{Dscp::of<48>(), 6, 1}));
  }
  // With two lossless classes three traffic classes are left.
  const auto one = maps_of(compiled(Order::kDown, "3:dscp3>2:dscp19", "0:dscp0"), sonics());
  ASSERT_TRUE(one);
  EXPECT_EQ(queues_of(one->maps), (QosMap{{3, 3}, {19, 2}, {4, 4}, {46, 5}, {48, 6}}));
  EXPECT_THAT(one->costs.moved,
              testing::ElementsAre(MovedDscp{Dscp::of<5>(), 2, 1}, MovedDscp{Dscp::of<8>(), 0, 1}));
}

TEST(QosMaps, TrafficClassesAboveSevenAreInUseAndKeepTheirQueue) {
  QosMaps before = sonics();
  before[index(MapKind::kDscpToTc)][10] = 8;
  before[index(MapKind::kDscpToTc)][11] = 15;
  before[index(MapKind::kTcToQueue)][8] = 6;
  before[index(MapKind::kTcToQueue)][15] = 7;
  const auto made = maps_of(compiled(Order::kDown, "3:dscp3>2:dscp19", "0:dscp0"), before);
  ASSERT_TRUE(made);
  EXPECT_EQ(queues_of(made->maps), (QosMap{{3, 3}, {19, 2}, {10, 6}, {11, 7}, {48, 6}}));
  for (const auto& [dscp, tc] : made->maps[index(MapKind::kDscpToTc)]) EXPECT_LT(tc, 8U) << dscp;
}

TEST(QosMaps, ChipWithMoreTrafficClassesKeepsAllAndMergesNoSpare) {
  const auto up = maps_of(of_sonic(Order::kUp), sonics(), 16);
  ASSERT_TRUE(up);
  EXPECT_TRUE(up->costs.collapsed.empty());
  const auto down = maps_of(of_sonic(Order::kDown), sonics(), 16);
  ASSERT_TRUE(down);
  EXPECT_EQ(queues_of(down->maps), (QosMap{{3, 3}, {19, 2}, {4, 4}, {43, 5}, {8, 0}, {48, 6}}));
  EXPECT_THAT(down->costs.moved, testing::ElementsAre(MovedDscp{Dscp::of<5>(), 2, 1},
                                                      MovedDscp{Dscp::of<46>(), 5, 1}));
  // From below in the last spare, and on upwards: it stays what it is.
  const unsigned tc = down->maps[index(MapKind::kDscpToTc)].at(43);
  EXPECT_EQ(up->maps[index(MapKind::kTcToQueue)].at(tc), 5U);
  EXPECT_EQ(up->maps[index(MapKind::kTcToDscp)].at(tc), 43U);
}

TEST(QosMaps, ChipWithFewerTrafficClassesUsesNoneBeyond) {
  for (const Order order : {Order::kUp, Order::kDown}) {
    const auto made = maps_of(compiled(order, "3:dscp3>6:dscp51", "0:dscp0"), sonics(), 5);
    ASSERT_TRUE(made);
    for (const MapKind kind : {MapKind::kTcToQueue, MapKind::kTcToGroup})
      EXPECT_LT(made->maps[index(kind)].rbegin()->first, 5U);
    const unsigned spare = made->maps[index(MapKind::kDscpToTc)].at(51);
    EXPECT_EQ(made->maps[index(MapKind::kTcToQueue)].at(spare), order == Order::kUp ? 1U : 6U)
        << "from above it turns where it goes up";
  }
  const auto none = maps_of(of_sonic(Order::kUp), sonics(), 7);
  ASSERT_FALSE(none);
  EXPECT_EQ(to_string(none.error()),
            "qos.lossless: 4 lossless classes need 8 traffic classes and the switch chip has 7: "
            "take 3 at most");
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

TEST(QosMaps, WhatTheSharedTrafficClassCostsIsToldOfPortsThatItIsLostBetween) {
  const auto limit = [](qos::PortClass in, qos::PortClass out) {
    const auto maps = maps_of(of_port(out), {});
    return crossing_limit(of_port(in), of_port(out), maps->merged);
  };
  const qos::PortClass up{.order = Order::kUp}, down{.order = Order::kDown},
      host{.order = Order::kDown, .restore = true};
  const auto lost = limit(down, up);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->state, PartState::kLimited);
  EXPECT_EQ(lost->text,
            "the traffic classes of the chip are one too few for these lossless classes: what "
            "comes from below in priority 5 and goes on upwards is lossy");
  for (const auto& [in, out] : {std::pair(up, down), {up, up}, {down, down}, {host, up}})
    EXPECT_FALSE(limit(in, out));
  const auto one = compiled(Order::kUp, "5:dscp43,6:dscp51", "0:dscp0");
  EXPECT_FALSE(crossing_limit(of_port(down), one, maps_of(one, {})->merged));
}

TEST(QosMaps, ChipWithFewerTrafficClassesHasFewerLosslessOnes) {
  const auto two = compiled(Order::kUp, "3:dscp26>2:dscp19", "0:dscp0");
  EXPECT_FALSE(maps_of(two, {}, 5)->merged);
  EXPECT_EQ(maps_of(two, {}, 4)->merged, 2U);
  EXPECT_FALSE(maps_of(two, {}, 3));
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
      "qos.lossless: 5 lossless classes need 10 traffic classes and the switch chip has 8: take "
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
