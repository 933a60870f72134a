// SPDX-License-Identifier: Apache-2.0
#include "qos/ruleset.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace lldp::qos {
namespace {

using enum Order;

constexpr Class kFirst{Priority::of<5>(), Dscp::of<43>()};
constexpr Class kSecond{Priority::of<6>(), Dscp::of<51>()};
constexpr Class kLossy{Priority::of<0>(), Dscp::of<0>()};
constexpr Class kOther{Priority::of<3>(), Dscp::of<26>()};

PortClass at(Order order, unsigned near = 0) { return {order, *Layer::make(near)}; }

struct Way {
  const char* name = "";
  PortClass in{};
  PortClass out{};
  bool turn = false;
  friend void PrintTo(const Way& w, std::ostream* os) { *os << w.name; }
};
class Turn : public testing::TestWithParam<Way> {};

TEST_P(Turn, IsADescentFollowedByAnAscent) {
  const auto& [name, in, out, turn] = GetParam();
  EXPECT_EQ(turns(in, out), turn);
  EXPECT_EQ(remap(Policy(), in, out, kFirst), turn ? kSecond : kFirst);
  EXPECT_EQ(remap(Policy(), in, out, kSecond), turn ? kLossy : kSecond);
  EXPECT_EQ(remap(Policy(), in, out, kLossy), kLossy);  // never back to the first
  EXPECT_EQ(remap(Policy(), in, out, kOther), kOther);
}

TEST_P(Turn, IsSeenByTheEgressFromTheTag) {
  const auto& [name, in, out, turn] = GetParam();
  const Ruleset rules = compile(Policy(), out);
  EXPECT_EQ(rules.turns_from(tag_of(in)), turn);
  if (turn) {
    EXPECT_EQ(rules.remaps, Policy().turns());
  }
}

const Way kClos[] = {
    {"UpToUp", at(kUp), at(kUp), true},
    {"UpToDown", at(kUp), at(kDown), false},
    {"UpToUnknown", at(kUp), at(kUnknown), false},
    {"DownToUp", at(kDown), at(kUp), false},
    {"DownToDown", at(kDown), at(kDown), false},
    {"DownToUnknown", at(kDown), at(kUnknown), false},
    {"UnknownToUp", at(kUnknown), at(kUp), false},
    {"UnknownToDown", at(kUnknown), at(kDown), false},
    {"UnknownToUnknown", at(kUnknown), at(kUnknown), false},
};
INSTANTIATE_TEST_SUITE_P(Clos, Turn, testing::ValuesIn(kClos),
                         [](const auto& c) { return c.param.name; });

// Up ports bring packets descending; D, A, L: the inside descends, ascends, is level.
const Way kLayered[] = {
    {"DescendsLThenAscends", at(kUp, 3), at(kUp, 3), true},
    {"DescendsLThenDescends", at(kUp, 3), at(kDown, 3), false},
    {"DescendsAThenAscends", at(kUp, 2), at(kUp, 3), true},
    {"DescendsAThenDescends", at(kUp, 2), at(kDown, 3), true},
    {"DescendsDThenAscends", at(kUp, 3), at(kUp, 2), true},
    {"DescendsDThenDescends", at(kUp, 3), at(kDown, 2), false},
    {"AscendsLThenAscends", at(kDown, 3), at(kUp, 3), false},
    {"AscendsLThenDescends", at(kDown, 3), at(kDown, 3), false},
    {"AscendsAThenAscends", at(kDown, 2), at(kUp, 3), false},
    {"AscendsAThenDescends", at(kDown, 2), at(kDown, 3), false},
    {"AscendsDThenAscends", at(kDown, 3), at(kUp, 2), true},
    {"AscendsDThenDescends", at(kDown, 3), at(kDown, 2), false},
    {"HighestLayerDown", at(kDown, 31), at(kUp, 0), true},
    {"HighestLayerUp", at(kUp, 31), at(kUp, 31), true},
    {"UnknownOfALayer", at(kUnknown, 1), at(kUp, 2), false},
    {"ToUnknownOfALayer", at(kUp, 1), at(kUnknown, 2), false},
};
INSTANTIATE_TEST_SUITE_P(Layered, Turn, testing::ValuesIn(kLayered),
                         [](const auto& c) { return c.param.name; });

TEST(Tags, AgreeWithTheTurnsForEveryPairOfPorts) {
  std::vector<PortClass> all;
  for (unsigned layer = 0; layer <= Layer::kMax; ++layer)
    for (const Order o : {kUnknown, kDown, kUp, kShut}) all.push_back(at(o, layer));
  for (const PortClass& out : all) {
    const Ruleset rules = compile(Policy(), out);
    EXPECT_FALSE(rules.turns_from(Tag{})) << "an untagged packet never turns";
    for (const PortClass& in : all)
      ASSERT_EQ(rules.turns_from(tag_of(in)), turns(in, out))
          << to_string(in.order) << ' ' << +in.near.value() << " to " << to_string(out.order) << ' '
          << +out.near.value();
  }
}

TEST(ClassOfSpan, GoesByLayerThenChassis) {
  const auto layer = [](unsigned n) { return *Layer::make(n); };
  const ChassisId a = chassis_id_from_mac({2, 0, 0, 0, 0, 1});
  const ChassisId b = chassis_id_from_mac({2, 0, 0, 0, 0, 2});
  EXPECT_EQ(class_of_span(layer(1), b, layer(2), a), at(kUp, 1));
  EXPECT_EQ(class_of_span(layer(2), a, layer(1), b), at(kDown, 2));
  EXPECT_EQ(class_of_span(layer(3), a, layer(3), b), at(kUp, 3));
  EXPECT_EQ(class_of_span(layer(3), b, layer(3), a), at(kDown, 3));
  EXPECT_EQ(class_of_span(layer(0), b, layer(0), a), at(kDown));
  EXPECT_EQ(class_of_span(layer(3), a, layer(3), a), at(kUnknown, 3));
}

TEST(Compile, KeepsAsManyBouncesLosslessAsThereAreClassesLessOne) {
  for (std::size_t classes = 1; classes <= 7; ++classes) {
    const Policy policy = Policy::with_lossless(classes);
    Class c = policy.lossless().front();
    for (std::size_t bounce = 1; bounce < classes; ++bounce) {
      c = remap(policy, at(kUp), at(kUp), c);
      EXPECT_EQ(c, policy.lossless()[bounce]);
    }
    EXPECT_EQ(remap(policy, at(kUp), at(kUp), c), policy.lossy());
  }
}

TEST(Compile, ClosSwitchTagsAtUpPortsOnlyAndRewritesAtUpPortsOnly) {
  EXPECT_EQ(compile(Policy(), at(kUp)).tag, Tag::of<1>());
  for (const Order order : {kDown, kUnknown})
    EXPECT_EQ(compile(Policy(), at(order)),
              (Ruleset{.port = at(order), .ingress = {kFirst, kSecond}, .pfc_enable = 0b1100000}));
}

const Policy kTwo = Policy::parse("3:dscp26+24-25>2:dscp19,4:dscp4>5:dscp43", "0:dscp0").value();

TEST(Compile, ShutPortMakesLosslessPacketsLossyInBothDirections) {
  const Ruleset rules = compile(kTwo, at(kShut));
  std::vector<Remap> all_lossy;
  for (const Remap& turn : kTwo.turns()) all_lossy.push_back({turn.from, kLossy});
  EXPECT_EQ(rules.entering, all_lossy);
  EXPECT_EQ(rules.leaving, all_lossy);
  EXPECT_EQ(rules.remaps, std::vector<Remap>());
  EXPECT_EQ(rules.tag, Tag{});
  EXPECT_EQ(rules.pfc_enable, 0b111100) << "PFC stays";
  EXPECT_EQ(rules.ingress.size(), 6);
  for (const Class& c : rules.ingress) EXPECT_EQ(c.priority, kLossy.priority);
}

TEST(Compile, ClassThatDoesNotCrossIsLossyThereAndOthersAreNot) {
  const Class three{Priority::of<3>(), Dscp::of<26>()}, two{Priority::of<2>(), Dscp::of<19>()},
      four{Priority::of<4>(), Dscp::of<4>()}, five{Priority::of<5>(), Dscp::of<43>()};
  const Ruleset rules = compile(kTwo, {.order = kUp, .restore = true, .lossy = 1U << 3 | 1U << 5});
  std::vector<Remap> not_crossing;  // the DSCPs of 3, and that of 5
  for (const Remap& turn : kTwo.turns())
    if (turn.from.priority == three.priority || turn.from == five)
      not_crossing.push_back({turn.from, kLossy});
  EXPECT_EQ(rules.entering, not_crossing);
  EXPECT_EQ(rules.leaving, not_crossing);
  EXPECT_EQ(rules.tag, Tag::of<1>()) << "what enters in another class may turn";
  for (const Remap& r : rules.remaps)  // a turn may lead out of a class that does not cross
    EXPECT_EQ(r.to, r.from.priority == three.priority ? two : kLossy) << to_string(r.from);
  EXPECT_EQ(remap(kTwo, at(kUp), rules.port, four), kLossy) << "it would leave as 5";
  EXPECT_EQ(remap(kTwo, at(kDown), rules.port, four), four);
  EXPECT_EQ(remap(kTwo, at(kDown), rules.port, three), kLossy);
  EXPECT_EQ(remap(kTwo, rules.port, at(kDown), three), kLossy);
  EXPECT_EQ(rules.pfc_enable, 0b111100) << "PFC stays";
  for (const Class& c : rules.ingress)
    EXPECT_EQ(c.priority == kLossy.priority, c.dscp == five.dscp || c.dscp.value() >= 24)
        << to_string(c);
}

TEST(Compile, PortToAHostRestoresSparesAndNeedsPfcForApplicationsOnly) {
  const Ruleset rules = compile(kTwo, {.order = kDown, .restore = true});
  const Class three{Priority::of<3>(), Dscp::of<26>()}, two{Priority::of<2>(), Dscp::of<19>()},
      four{Priority::of<4>(), Dscp::of<4>()}, five{Priority::of<5>(), Dscp::of<43>()};
  EXPECT_EQ(rules.leaving, (std::vector<Remap>{{two, three}, {five, four}}));
  EXPECT_EQ(rules.remaps, std::vector<Remap>());
  EXPECT_EQ(rules.pfc_enable, 0b011000);
  EXPECT_EQ(rules.ingress, compile(kTwo, at(kDown)).ingress);
}

TEST(Compile, RestoresOnADownPortOnly) {
  for (const Order o : {kUnknown, kUp, kShut}) {
    Ruleset rules = compile(kTwo, {.order = o, .restore = true});
    rules.port.restore = false;
    EXPECT_EQ(rules, compile(kTwo, at(o))) << to_string(o);
  }
}

TEST(Compile, APacketThatTurnsAtAPortToAHostStaysInItsApplicationClass) {
  const Ruleset rules = compile(kTwo, {at(kDown, 1).order, at(kDown, 1).near, true});
  ASSERT_NE(rules.turning_tags, 0U);
  for (const Remap& r : rules.remaps)
    EXPECT_EQ(r.to, kTwo.restored(kTwo.after_turn(r.from))) << to_string(r.from);
}

TEST(Remap, IsWhatTheRowsOfBothPortsDo) {
  const auto row = [](const std::vector<Remap>& rows, Class c) {
    for (const Remap& r : rows)
      if (r.from == c) return r.to;
    return c;
  };
  std::vector<Class> classes{kLossy, kOther};
  for (const Remap& turn : kTwo.turns()) classes.push_back(turn.from);
  std::vector<PortClass> ports;
  for (const Order o : {kUnknown, kDown, kUp, kShut})
    for (unsigned layer = 0; layer < 3; ++layer)
      for (const bool restore : {false, true})
        for (const unsigned lossy : {0U, 1U << 3, 1U << 2 | 1U << 4})
          ports.push_back(
              {o, *Layer::make(layer), restore, false, static_cast<std::uint8_t>(lossy)});
  for (const PortClass& in : ports)
    for (const PortClass& out : ports)
      for (const Class& c : classes) {
        const Ruleset arrival = compile(kTwo, in), departure = compile(kTwo, out);
        const Class inside = row(arrival.entering, c);
        const Class left =
            row(departure.turns_from(arrival.tag) ? departure.remaps : departure.leaving, inside);
        ASSERT_EQ(remap(kTwo, in, out, c), left)
            << to_string(in.order) << ' ' << to_string(out.order) << ' ' << to_string(c);
      }
}

TEST(Compile, MapsTheLossyDscpOnlyWhereItIsNotEverybodysDefault) {
  const auto policy = Policy::parse("5:dscp43", "1:dscp3");
  ASSERT_TRUE(policy);
  EXPECT_EQ(compile(*policy, at(kDown)).ingress, (std::vector{kFirst, policy->lossy()}));
  EXPECT_EQ(compile(Policy(), at(kDown)).ingress, (std::vector{kFirst, kSecond}));
}

TEST(RulesetText, IsOneLinePerRule) {
  EXPECT_EQ(to_string(compile(Policy(), at(kUp)), "swp1"),
            "swp1 is up\n"
            "swp1 ingress dscp43 -> priority 5\n"
            "swp1 ingress dscp51 -> priority 6\n"
            "swp1 ingress tag 1\n"
            "swp1 egress turn 5:dscp43 -> 6:dscp51\n"
            "swp1 egress turn 6:dscp51 -> 0:dscp0\n"
            "swp1 priority 5 needs PFC, which is not set here\n"
            "swp1 priority 6 needs PFC, which is not set here\n");
  EXPECT_EQ(to_string(compile(*Policy::parse("3:dscp27", "0:dscp0"), at(kDown, 2)), "eth0"),
            "eth0 is down, of layer 2\n"
            "eth0 ingress dscp27 -> priority 3\n"
            "eth0 ingress tag 4\n"
            "eth0 egress turn 3:dscp27 -> 0:dscp0\n"
            "eth0 priority 3 needs PFC, which is not set here\n");
}

TEST(RulesetText, JoinsTheDscpsOfAClass) {
  const Policy roce = Policy::parse("roce", "0:dscp0").value();
  EXPECT_EQ(to_string(compile(roce, at(kUp)), "swp1"),
            "swp1 is up\n"
            "swp1 ingress dscp24-31 -> priority 3\n"
            "swp1 ingress dscp19 -> priority 2\n"
            "swp1 ingress tag 1\n"
            "swp1 egress turn 3:dscp24-31 -> 2:dscp19\n"
            "swp1 egress turn 2:dscp19 -> 0:dscp0\n"
            "swp1 priority 2 needs PFC, which is not set here\n"
            "swp1 priority 3 needs PFC, which is not set here\n");
  EXPECT_EQ(to_string(compile(roce, {.order = kDown, .restore = true}), "swp2"),
            "swp2 is down\n"
            "swp2 ingress dscp24-31 -> priority 3\n"
            "swp2 ingress dscp19 -> priority 2\n"
            "swp2 egress 2:dscp19 -> 3:dscp26\n"
            "swp2 priority 3 needs PFC, which is not set here\n");
  EXPECT_EQ(to_string(compile(roce, at(kShut)), "swp3"),
            "swp3 is shut\n"
            "swp3 ingress dscp19+24-31 -> priority 0\n"
            "swp3 ingress 3:dscp24-31 -> 0:dscp0\n"
            "swp3 ingress 2:dscp19 -> 0:dscp0\n"
            "swp3 egress 3:dscp24-31 -> 0:dscp0\n"
            "swp3 egress 2:dscp19 -> 0:dscp0\n"
            "swp3 priority 2 needs PFC, which is not set here\n"
            "swp3 priority 3 needs PFC, which is not set here\n");
}

TEST(Turns, OfAnUpPortAreAllThoseOfADownPortOfItsLayerAndMore) {
  for (unsigned a = 0; a < 5; ++a)
    for (unsigned b = 0; b < 5; ++b)
      for (const Order other : {Order::kDown, Order::kUp}) {
        EXPECT_LE(turns(at(Order::kDown, a), at(other, b)), turns(at(Order::kUp, a), at(other, b)));
        EXPECT_LE(turns(at(other, b), at(Order::kDown, a)), turns(at(other, b), at(Order::kUp, a)));
      }
}

}  // namespace
}  // namespace lldp::qos
