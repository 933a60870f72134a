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

TEST(QosMaps, ThreeLosslessClassesAreTheMost) {
  const auto three = maps_of(compiled(Order::kUp, "5:dscp43,6:dscp51,7:dscp59", "0:dscp0"), {});
  EXPECT_EQ(told(three)[index(MapKind::kTcToQueue)],
            (QosMap{{0, 0}, {1, 6}, {2, 7}, {3, 0}, {5, 5}, {6, 6}, {7, 7}}));
  const auto four =
      maps_of(compiled(Order::kUp, "4:dscp35,5:dscp43,6:dscp51,7:dscp59", "0:dscp0"), {});
  ASSERT_FALSE(four);
  EXPECT_EQ(to_string(four.error()),
            "qos.lossless: 4 lossless classes need 9 traffic classes and a switch chip has 8: take "
            "3 at most");
}

TEST(QosMaps, PriorityZeroIsNotLosslessOnAChip) {
  const auto zero = maps_of(compiled(Order::kUp, "0:dscp43", "1:dscp0"), {});
  ASSERT_FALSE(zero);
  EXPECT_EQ(to_string(zero.error()),
            "qos.lossless: priority 0 cannot be lossless on a switch chip: take 1 to 7");
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
