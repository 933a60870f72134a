// SPDX-License-Identifier: Apache-2.0
// The place in the order of devices while levels change: docs/rules.md O3.
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/agents/order_safety.hpp"
#include "tests/core/support/network.hpp"

namespace lldp::test {
namespace {

using core::Event;

/// Longer than any neighbour remembers what it does not hear again.
constexpr seconds kForgotten{122};

Settings pinned(std::size_t level) {
  Settings s;
  s.pinned_level = lldp::test::level(level);
  s.max_level = Level::of<20>();
  return s;
}

/// `low` and `high` with the device between them, all pinned.
struct Place : testing::Test {
  void SetUp() override {
    net.start_all();
    net.run_for(kForgotten);
  }
  void pin(std::size_t level) {
    net.alter(device).pinned_level = lldp::test::level(level);
    net.configure(device);
  }
  [[nodiscard]] Order towards(std::size_t cable) {
    return net.agent(device).order(net.port_at(cable, device));
  }
  [[nodiscard]] std::optional<std::string> moved() const {
    for (const Event& e : net.nodes[device].events)
      if (e.kind == Event::Kind::kPlace) return e.text;
    return std::nullopt;
  }

  Network net;
  std::size_t low = net.add(Role::kSwitch, pinned(3));
  std::size_t device = net.add(Role::kSwitch, pinned(2));
  std::size_t high = net.add(Role::kSwitch, pinned(5));
  std::size_t to_low = net.connect(device, low);
  std::size_t to_high = net.connect(device, high);
};

TEST_F(Place, FollowsALevelUpwardsWhenAllHaveAnswered) {
  pin(4);
  net.run_for(net.delay);  // told, not yet answered
  EXPECT_EQ(net.level_of(device), level(4));
  EXPECT_EQ(towards(to_low), Order::kUp);
  net.run_for(net.delay);
  EXPECT_EQ(moved(), "2 -> 4");
  EXPECT_EQ(towards(to_low), Order::kDown);
  EXPECT_EQ(towards(to_high), Order::kUp);
}
TEST_F(Place, WaitsForANeighborThatDoesNotAnswerUntilItHasForgotten) {
  net.mute = high;  // nothing of it is heard, and it is not told of yet
  pin(4);
  net.run_for(seconds(91));
  EXPECT_EQ(towards(to_low), Order::kUp);
  net.mute.reset();
  net.run_for(seconds(100));
  EXPECT_EQ(towards(to_low), Order::kDown);
}
TEST_F(Place, WaitsWithoutLimitForAPortThatIsSilent) {
  net.stop(high, false);  // its rules stay in the kernel
  net.run_for(seconds(1));
  pin(4);
  net.run_for(seconds(2000));
  EXPECT_EQ(towards(to_low), Order::kUp);
  net.start(high);
  net.run_for(seconds(120));
  EXPECT_EQ(towards(to_low), Order::kDown);
}
TEST_F(Place, OneTtlCountsAnewWhenTheLastSilentPortIsDark) {
  net.stop(high, false);
  net.alter(low).pinned_level = lldp::test::level(8);  // from where nothing is proved
  net.configure(low);
  pin(4);
  net.run_for(seconds(300));
  ASSERT_EQ(moved(), std::nullopt);
  net.set_cable(to_high, false);
  net.run_for(milliseconds(120'999));
  EXPECT_EQ(moved(), std::nullopt);
  net.run_for(milliseconds(1));
  EXPECT_EQ(moved(), "2 -> 4");
}
TEST_F(Place, WaitsForAPortThatFellSilentAfterItsCarrierToo) {
  net.stop(high, false);
  net.set_cable(to_high, false);
  net.set_cable(to_high, true);
  net.run_for(seconds(1000));  // silent
  EXPECT_EQ(towards(to_high), Order::kUp);
  pin(4);
  net.run_for(seconds(1000));
  EXPECT_EQ(moved(), std::nullopt);
  net.start(high);
  net.run_for(seconds(122));
  EXPECT_EQ(moved(), "2 -> 4");
}
// docs/rules.md O2
TEST_F(Place, WhoWasHeardAfterTheCarrierCameBackIsRememberedForGood) {
  net.set_cable(to_high, false);
  net.set_cable(to_high, true);
  net.run_for(seconds(10));
  net.stop(high, false);
  net.run_for(seconds(1000));
  EXPECT_EQ(towards(to_high), Order::kUp);
}
TEST_F(Place, NoTimeCountsOnAPortThatIsDarkAgain) {
  net.stop(high, false);
  net.set_cable(to_high, false);
  net.set_cable(to_high, true);
  net.run_for(seconds(1));
  net.set_cable(to_high, false);
  net.run_for(seconds(1000));
  net.set_cable(to_high, true);
  EXPECT_EQ(towards(to_high), Order::kUp);
  EXPECT_FALSE(
      net.agent(device).snapshot(net.now).ports[net.port_at(to_high, device).value() - 1].silent);
  net.run_for(kForgotten);
  EXPECT_TRUE(
      net.agent(device).snapshot(net.now).ports[net.port_at(to_high, device).value() - 1].silent);
}
TEST_F(Place, DoesNotWaitForAPortThatTheOperatorForgets) {
  net.stop(high, false);
  pin(4);
  net.run_for(seconds(300));
  ASSERT_EQ(moved(), std::nullopt);
  net.forget(device, net.port_at(to_high, device));
  EXPECT_EQ(moved(), "2 -> 4");
  EXPECT_EQ(towards(to_high), Order::kUnknown);
}
TEST_F(Place, ThoseWhoHaveNotProvedAreToldAgainEveryFiveSeconds) {
  net.mute = high;
  pin(4);
  net.run_for(seconds(4));
  std::vector<TimePoint> told;
  const auto port = net.port_at(to_high, device);
  net.on_send = [&](TimePoint at, std::size_t node, const core::Send& send) {
    if (node == device && send.port == port) told.push_back(at);
  };
  const TimePoint start = net.now - seconds(4);
  net.run_for(seconds(18));
  std::size_t again = 0;
  for (const TimePoint at : told) again += (at - start) % seconds(5) == Duration::zero();
  EXPECT_GE(again, 4U);
}
// What it remembers does not age, and nothing of ours may have arrived there.
TEST_F(Place, WaitsForANeighborThatWasNotHeardInTheSecondHalf) {
  net.alter(high).msgTxHold = 30;  // it is not silent for a quarter of an hour
  net.configure(high);
  net.run_for(seconds(1));
  net.alter(device).chassis_id = ChassisId{{ChassisId::kLocal, "z"}};  // no port type proves it
  net.configure(device);
  net.mute = high;
  net.run_for(seconds(600));
  EXPECT_EQ(moved(), std::nullopt);
  net.mute.reset();
  net.run_for(seconds(60));
  EXPECT_EQ(moved(), std::nullopt) << "it may have been dead: it is told for half a TTL";
  net.run_for(seconds(40));
  EXPECT_EQ(moved(), "2 -> 2");
}
TEST_F(Place, RisesByAChassisIdAloneAfterOneTtl) {
  net.alter(device).chassis_id = ChassisId{{ChassisId::kLocal, "z"}};  // higher than a MAC's
  net.configure(device);
  net.run_for(milliseconds(120'900));
  EXPECT_EQ(net.agent(device).state().place->chassis.subtype, ChassisId::kMacAddress);
  net.run_for(milliseconds(200));
  EXPECT_EQ(net.agent(device).state().place->chassis.subtype, ChassisId::kLocal);
  net.alter(device).chassis_id = ChassisId{{ChassisId::kLocal, "a"}};
  net.configure(device);
  EXPECT_EQ(net.agent(device).state().place->chassis.octets, "a");  // and falls at once
}
TEST_F(Place, ALevelThatAllHaveProvedDoesNotProveAChassisIdThatCameWithIt) {
  net.alter(device).chassis_id = ChassisId{{ChassisId::kLocal, "z"}};
  pin(4);
  net.run_for(seconds(100));
  EXPECT_EQ(net.level_of(device), level(4));
  EXPECT_EQ(moved(), std::nullopt);
  net.run_for(seconds(22));
  EXPECT_EQ(moved(), "2 -> 4");
}
TEST_F(Place, ATargetThatChangesWhileItWaitsBeginsAnew) {
  net.mute = high;
  pin(3);
  net.run_for(seconds(80));
  pin(4);
  net.run_for(seconds(80));
  EXPECT_EQ(moved(), std::nullopt);
}
TEST_F(Place, StaysWhereItIsWithoutALevel) {
  net.alter(device).pinned_level.reset();
  net.configure(device);
  net.forget(device, {});
  EXPECT_EQ(net.level_of(device), std::nullopt);
  EXPECT_EQ(net.agent(device).state().place->level, level(2));
  EXPECT_EQ(towards(to_low), Order::kUp);
}
TEST_F(Place, WaitsForNobodyWhoseLinkIsDown) {
  net.stop(high, false);
  pin(4);
  net.run_for(seconds(1));
  EXPECT_EQ(towards(to_low), Order::kUp);
  net.set_cable(to_high, false);
  EXPECT_EQ(towards(to_low), Order::kDown);
}
TEST_F(Place, OfWhomUnmarkedSaysNothingOfWhatItHasHeard) {
  net.alter(high).pinned_level = level(9);
  net.configure(high);
  net.run_for(seconds(10));
  pin(4);
  net.run_for(seconds(100));
  EXPECT_EQ(towards(to_low), Order::kUp);  // 9 is as far from 4 as from 2
  net.run_for(seconds(22));
  EXPECT_EQ(towards(to_low), Order::kDown);
}
TEST_F(Place, FallsWithTheLevelAtOnce) {
  pin(4);
  net.run_for(2 * net.delay);
  ASSERT_EQ(towards(to_low), Order::kDown);
  pin(2);
  EXPECT_EQ(towards(to_low), Order::kUp);
}
TEST_F(Place, ThatWaitsFallsWithTheLevelToo) {
  pin(4);
  pin(1);
  EXPECT_EQ(net.agent(device).state().place->level, level(1));
  net.run_for(kForgotten);
  EXPECT_EQ(moved(), std::nullopt);
}
TEST_F(Place, IsWhereARestartBegins) {
  net.set_cable(to_high, false);
  net.mute = low;
  pin(4);
  net.mute.reset();
  EXPECT_EQ(net.agent(device).state().place->level, level(2));
  net.stop(device, false);
  net.start(device);
  net.run_for(seconds(100));  // `low` has answered; who else knows us is not known
  EXPECT_EQ(net.level_of(device), level(4));
  EXPECT_EQ(towards(to_low), Order::kUp);
  net.run_for(seconds(22));
  EXPECT_EQ(towards(to_low), Order::kDown);
  EXPECT_EQ(net.agent(device).state().place->level, level(4));
}
TEST_F(Place, OfAHostThatBecomesASwitchIsBelowAllUntilTheyHaveForgottenTheHost) {
  net.alter(device).role = Role::kHost;
  net.configure(device);
  net.run_for(seconds(10));
  net.alter(device).role = Role::kSwitch;
  pin(4);
  net.run_for(seconds(100));
  EXPECT_EQ(towards(to_low), Order::kUp);  // `high` says downlink as it did before
  net.run_for(seconds(22));
  EXPECT_EQ(towards(to_low), Order::kDown);
}
TEST_F(Place, AtTheBottomADownlinkProvesNothingHoweverNewTheFrame) {
  net.alter(device).role = Role::kHost;
  net.configure(device);
  net.run_for(kForgotten);
  net.set_cable(to_low, false);
  net.alter(device).role = Role::kSwitch;
  net.mute = device;  // it is not told
  pin(4);
  net.alter(high).system_name = "another";
  net.configure(high);
  net.run_for(seconds(100));
  EXPECT_EQ(moved(), std::nullopt);
}
TEST_F(Place, OfTwoThatBecomeSwitchesAtOnceIsAtTheBottom) {
  for (std::size_t node : {device, high}) {
    net.alter(node).role = Role::kHost;
    net.configure(node);
  }
  net.run_for(seconds(10));
  for (std::size_t node : {device, high}) {
    net.alter(node).role = Role::kSwitch;
    net.configure(node);
    EXPECT_EQ(net.agent(node).order(net.port_at(to_high, node)), Order::kUp);
  }
  net.run_for(seconds(300));
  EXPECT_EQ(towards(to_high), Order::kUp);
  EXPECT_EQ(net.agent(high).order(net.port_at(to_high, high)), Order::kDown);
}
TEST_F(Place, OfAFirstStartIsTheLevel) {
  const std::size_t fresh = net.add(Role::kSwitch, pinned(4));
  const std::size_t cable = net.connect(fresh, low);
  net.start(fresh);
  net.stop(low, true);
  net.start(low);
  net.run_for(milliseconds(10));
  EXPECT_EQ(net.agent(fresh).order(net.port_at(cable, fresh)), Order::kDown);
}

/// Whether a ring of pinned switches, some of which have one name, stays without a cycle.
bool is_safe_ring(const std::vector<std::size_t>& levels, std::vector<std::size_t> same) {
  Network net;
  lab::agents::OrderSafety safety(net);
  net.watch(safety);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    Settings s = pinned(levels[i]);
    const bool named = std::find(same.begin(), same.end(), i) != same.end();
    s.chassis_id = ChassisId{{ChassisId::kLocal, named ? "twin" : "s" + std::to_string(i)}};
    net.add(Role::kSwitch, s);
  }
  for (std::size_t i = 0; i < levels.size(); ++i) net.connect(i, (i + 1) % levels.size());
  net.start_all();
  net.run_for(seconds(10));
  for (std::size_t i = 0; i < levels.size(); ++i)
    for (const std::size_t slot : {0U, 1U}) EXPECT_NE(safety.rule(i, slot), Order::kUnknown);
  return !safety.cycle();
}
TEST(Twins, WhoAreNeighborsTakeEachOtherForAbove) {
  EXPECT_TRUE(is_safe_ring({1, 1, 1}, {0, 1}));
  EXPECT_TRUE(is_safe_ring({1, 1, 2, 3}, {1, 0}));
}
TEST(Twins, WhoAreNoNeighborsMakeNoCycle) {
  EXPECT_TRUE(is_safe_ring({1, 2, 1, 2}, {0, 2}));
  EXPECT_TRUE(is_safe_ring({2, 2, 2, 2}, {0, 2}));
  EXPECT_TRUE(is_safe_ring({2, 2, 2, 2, 2, 2}, {0, 2, 4}));
}

TEST(HostsInARing, ThatBecomeSwitchesAtOnceMakeNoCycle) {
  Network net;
  lab::agents::OrderSafety safety(net);
  net.watch(safety);
  for (std::size_t i = 0; i < 3; ++i) net.add(Role::kHost);
  for (std::size_t i = 0; i < 3; ++i) net.connect(i, (i + 1) % 3);
  net.start_all();
  net.run_for(seconds(10));
  for (std::size_t i = 0; i < 3; ++i) {
    net.alter(i).role = Role::kSwitch;
    net.configure(i);
  }
  net.run_for(seconds(300));
  EXPECT_FALSE(safety.cycle()) << safety.cycle()->text;
  EXPECT_GT(safety.proofs(), 0U);
}

class RandomLevels : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLevels, testing::Range<std::uint64_t>(0, 8),
                         [](const auto& c) { return std::to_string(c.param); });

// Levels are pinned anew while frames get lost, switches crash and come back: at no moment is there
// a cycle, though neighbours hold different levels for true.
TEST_P(RandomLevels, LeaveNoCycleAtAnyMoment) {
  Network net(GetParam());
  auto& random = net.random();
  const std::size_t switches = 4 + random() % 5;
  for (std::size_t i = 0; i < switches; ++i) {
    net.add(Role::kSwitch, pinned(1 + random() % 4));
    if (i > 0) net.connect(i, random() % i);
  }
  for (std::size_t extra = switches; extra > 0; --extra) {
    const std::size_t a = random() % switches;
    net.connect(a, (a + 1 + random() % (switches - 1)) % switches);
  }
  net.start_all();
  net.run_for(seconds(130));
  lab::agents::OrderSafety safety(net);
  net.watch(safety);
  for (std::size_t i = 0; i < switches; ++i) safety.started(i);
  net.loss = 0.3;
  for (int i = 0; i < 60; ++i) {
    const std::size_t node = random() % switches;
    if (random() % 8 == 0) {
      net.stop(node, random() % 2 == 0);
      net.start(node);
    }
    net.alter(node).pinned_level = level(1 + random() % 4);
    net.configure(node);
    net.run_for(milliseconds(random() % (i % 10 == 0 ? 130'000 : 2'000)));
    ASSERT_FALSE(safety.cycle()) << safety.cycle()->text;
  }
  const auto moves = [](const auto& node) {
    return std::any_of(node.events.begin(), node.events.end(),
                       [](const Event& e) { return e.kind == Event::Kind::kPlace; });
  };
  EXPECT_TRUE(std::any_of(net.nodes.begin(), net.nodes.end(), moves));
  EXPECT_GT(safety.disagreements(), 0U);  // else this test tests little
}

}  // namespace
}  // namespace lldp::test
