// SPDX-License-Identifier: Apache-2.0
// The rank in the order of devices while levels change: docs/develop/rules.md A5 to A13.
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/agents/order_safety.hpp"
#include "tests/core/support/network.hpp"

namespace lldp::test {
namespace {

using core::Event;

Settings pinned(std::size_t level) {
  Settings s;
  s.pinned_level = lldp::test::level(level);
  s.max_level = Level::of<20>();
  return s;
}

/// `low` and `high` with the device between them, all pinned.
struct Rising : testing::Test {
  void SetUp() override {
    net.start_all();
    net.run_for(seconds(20));
    ASSERT_EQ(rank(), level(2));
  }
  void pin(std::size_t level) {
    net.alter(device).pinned_level = lldp::test::level(level);
    net.configure(device);
  }
  [[nodiscard]] Order towards(std::size_t cable) {
    return net.agent(device).order(net.port_at(cable, device));
  }
  [[nodiscard]] std::optional<Level> rank() { return net.agent(device).snapshot(net.now).place(); }
  [[nodiscard]] std::string describe() {
    std::string out;
    for (const core::PortInfo& p : net.agent(device).snapshot(net.now).ports) {
      out += p.name + " " + std::string(to_string(p.order));
      for (const core::AgentInfo& a : p.agents)
        out += " [heard " + std::to_string(a.heard) + " counted " + std::to_string(a.counted) +
               " host " + std::to_string(a.host) + " bound " +
               std::to_string(a.bound.level.value()) + " belief " +
               std::to_string(a.belief.level.value()) + "]";
      out += "\n";
    }
    return out;
  }
  [[nodiscard]] bool alarmed(std::size_t cable) {
    return alarmed(device, cable, core::AlarmCode::kSilent);
  }
  [[nodiscard]] bool alarmed(std::size_t node, std::size_t cable, core::AlarmCode code) {
    const auto& ports = net.nodes[node].ports;
    const std::string name = *ports[net.port_at(cable, node).value() - 1].name;
    return std::ranges::any_of(net.agent(node).snapshot(net.now).alarms, [&](const core::Alarm& a) {
      return a.code == code && a.port == name;
    });
  }
  [[nodiscard]] Order rule_at(std::size_t cable, std::size_t node) {
    return net.nodes[node].ports[net.port_at(cable, node).value() - 1].rule;
  }
  /// Its old rule is `down`, and goes late. The device, which is to rise above it, waits for that.
  void start_high_as_a_host() {
    net.rules_late = seconds(1);
    net.alter(high).role = Role::kHost;
    net.start(high);
    ASSERT_EQ(rule_at(to_high, high), Order::kDown);
    pin(6);
    const TimePoint end = net.now + seconds(5);
    for (; rule_at(to_high, high) == Order::kDown && net.now < end; net.step())
      ASSERT_NE(rank(), level(6));
  }

  Network net;
  std::size_t low = net.add(Role::kSwitch, pinned(3));
  std::size_t device = net.add(Role::kSwitch, pinned(2));
  std::size_t high = net.add(Role::kSwitch, pinned(5));
  std::size_t to_low = net.connect(device, low);
  std::size_t to_high = net.connect(device, high);
};

TEST_F(Rising, TakesOneRoundTrip) {
  pin(4);
  net.run_for(net.delay);  // told, not yet acknowledged
  EXPECT_EQ(net.level_of(device), level(4));
  EXPECT_EQ(towards(to_low), Order::kUp);
  EXPECT_EQ(rank(), level(2));
  net.run_for(net.delay + milliseconds(5));  // acknowledgements are gathered for so long
  EXPECT_EQ(rank(), level(4));
  EXPECT_EQ(towards(to_low), Order::kDown);
  EXPECT_EQ(towards(to_high), Order::kUp);
}
TEST_F(Rising, WaitsForTheRulesOfTheNeighborThatAcknowledges) {
  net.rules_late = seconds(1);
  ASSERT_EQ(net.agent(low).order(net.port_at(to_low, low)), Order::kDown);
  pin(4);
  net.run_for(net.delay);
  EXPECT_EQ(net.agent(low).order(net.port_at(to_low, low)), Order::kUp);
  while (net.nodes[low].ports[0].rule == Order::kDown) {
    EXPECT_EQ(rank(), level(2));
    net.step();
  }
  net.run_for(net.delay + milliseconds(5));
  EXPECT_EQ(rank(), level(4));
}
TEST_F(Rising, WaitsForANeighborThatIsNotHeardForAsLongAsItTakes) {
  net.mute = high;  // nothing of it is heard
  pin(4);
  net.run_for(seconds(2000));
  EXPECT_EQ(towards(to_low), Order::kUp);
  EXPECT_TRUE(alarmed(to_high));
  net.mute.reset();
  net.run_for(seconds(3));
  EXPECT_EQ(towards(to_low), Order::kDown);
}
TEST_F(Rising, WaitsWithoutLimitForAnAgentThatIsDead) {
  net.stop(high, false);  // its rules stay in the kernel
  pin(4);
  net.run_for(seconds(2000));
  EXPECT_EQ(towards(to_low), Order::kUp);
  EXPECT_TRUE(alarmed(to_high));
  net.start(high);
  net.run_for(seconds(3));
  EXPECT_EQ(towards(to_low), Order::kDown);
  EXPECT_FALSE(alarmed(to_high));
}
// A13
TEST_F(Rising, TellsAgainWhileAnAcknowledgementIsMissing) {
  net.mute = high;
  std::size_t told = 0;
  const auto port = net.port_at(to_high, device);
  net.on_send = [&](TimePoint, std::size_t node, const core::Send& send) {
    told += node == device && send.port == port;
  };
  pin(4);
  net.run_for(seconds(20));
  EXPECT_GE(told, 15U);
  EXPECT_LE(told, 25U);
}
// A8
TEST_F(Rising, ShutsADarkPortAndOpensItWithTheAcknowledgement) {
  net.stop(high, false);
  net.set_cable(to_high, false);
  pin(4);
  net.run_for(seconds(1));
  EXPECT_EQ(rank(), level(4));
  EXPECT_EQ(towards(to_high), Order::kShut);
  net.set_cable(to_high, true);
  net.run_for(seconds(100));
  EXPECT_EQ(towards(to_high), Order::kShut);
  EXPECT_TRUE(alarmed(to_high));
  net.start(high);
  net.run_for(seconds(3));
  EXPECT_EQ(towards(to_high), Order::kUp);
  EXPECT_FALSE(alarmed(to_high));
}
// A11
TEST_F(Rising, ShutsANewCarrierUntilItsNeighborHasCounted) {
  net.stop(high, false);
  net.set_cable(to_high, false);
  pin(4);
  net.run_for(seconds(1));
  ASSERT_EQ(rank(), level(4));  // and high, wherever it is now, may believe 2
  const std::size_t cable = net.connect(device, low);
  EXPECT_EQ(towards(cable), Order::kShut);
  net.run_for(seconds(1));
  EXPECT_EQ(towards(cable), Order::kDown);
}
TEST_F(Rising, DoesNotWaitForAPortThatTheOperatorForgets) {
  net.stop(high, false);
  pin(4);
  net.run_for(seconds(300));
  ASSERT_EQ(rank(), level(2));
  net.forget(device, net.port_at(to_high, device));
  net.run_for(seconds(1));
  EXPECT_EQ(rank(), level(4));
}
TEST_F(Rising, AChassisIdThatChangesIsNoRise) {
  const auto before = net.agent(device).state().rank;
  net.alter(device).chassis_id = ChassisId{{ChassisId::kLocal, "z"}};  // higher than a MAC's
  net.configure(device);
  net.run_for(seconds(10));
  EXPECT_EQ(net.agent(device).state().rank, before);
}
TEST_F(Rising, ATargetThatChangesWhileItWaitsIsAskedForAnew) {
  net.mute = high;
  pin(3);
  net.run_for(seconds(80));
  pin(4);
  net.run_for(seconds(80));
  EXPECT_EQ(rank(), level(2));
  net.mute.reset();
  net.run_for(seconds(3));
  EXPECT_EQ(rank(), level(4));
}
TEST_F(Rising, StaysWhereItIsWithoutALevel) {
  net.alter(device).pinned_level.reset();
  net.configure(device);
  net.forget(device, {});
  EXPECT_EQ(net.level_of(device), std::nullopt);
  EXPECT_EQ(rank(), level(2));
  EXPECT_EQ(towards(to_low), Order::kUp);
}
// A7
TEST_F(Rising, FallsWhenTheRulesThatMustChangeAreInForce) {
  pin(4);
  net.run_for(seconds(1));
  ASSERT_EQ(towards(to_low), Order::kDown);
  net.rules_late = seconds(1);
  pin(2);
  EXPECT_EQ(towards(to_low), Order::kUp);
  const std::size_t slot = net.port_at(to_low, device).value() - 1;
  while (net.nodes[device].ports[slot].rule == Order::kDown) {
    EXPECT_EQ(rank(), level(4));
    net.step();
  }
  EXPECT_EQ(rank(), level(2));
}
TEST_F(Rising, ThatWaitsFallsWithTheLevelToo) {
  net.mute = high;
  pin(4);
  pin(1);
  EXPECT_EQ(rank(), level(1));
}
TEST_F(Rising, ARestartBeginsWhereTheRankWas) {
  net.mute = high;
  pin(4);
  net.run_for(seconds(1));
  net.stop(device, false);
  net.start(device);
  net.run_for(seconds(100));
  EXPECT_EQ(rank(), level(2)) << describe();
  net.mute.reset();
  net.run_for(seconds(3));
  EXPECT_EQ(rank(), level(4)) << describe();
}
// A9
TEST_F(Rising, AStartWithoutItsStateIsAtTheBottomUntilAllHaveAcknowledged) {
  pin(4);
  net.run_for(seconds(10));
  net.stop(device, false);
  net.lose_state(device);
  net.mute = high;
  net.start(device);
  net.run_for(seconds(300));
  EXPECT_EQ(rank(), std::nullopt);
  EXPECT_EQ(towards(to_low), Order::kUp);
  net.mute.reset();
  net.run_for(seconds(3));
  EXPECT_EQ(rank(), level(4)) << describe();
}
// A9: a neighbor that counted it at the bottom would be above it, and its old rules say otherwise.
TEST_F(Rising, AStartWithoutItsStateListsNobodyWhileAnOldDownIsInForce) {
  const std::size_t second = net.add(Role::kSwitch, pinned(1));
  const std::size_t to_second = net.connect(second, device);
  net.start(second);
  pin(4);
  net.run_for(seconds(20));
  ASSERT_EQ(rule_at(to_low, device), Order::kDown);
  ASSERT_EQ(rule_at(to_second, device), Order::kDown);
  net.stop(device, false);
  net.lose_state(device);
  net.rules_late = seconds(1);
  net.alter(device).pinned_level = level(1);
  net.start(device);
  bool is_one_up = false;
  for (int i = 0; i < 200; ++i) {
    net.run_for(milliseconds(10));
    const bool is_down[] = {rule_at(to_low, device) == Order::kDown,
                            rule_at(to_second, device) == Order::kDown};
    is_one_up |= is_down[0] != is_down[1];
    if (!is_down[0] && !is_down[1]) continue;
    EXPECT_NE(net.agent(low).order(net.port_at(to_low, low)), Order::kDown);
    EXPECT_NE(net.agent(second).order(net.port_at(to_second, second)), Order::kDown);
  }
  EXPECT_TRUE(is_one_up);  // else this test tests nothing
  net.run_for(seconds(10));
  EXPECT_EQ(rank(), level(1)) << describe();
}
// Its chassis ID is known before its ports are.
TEST_F(Rising, AStartWithoutItsStateIsAtTheBottomThoughItsPortsComeLater) {
  net.stop(device, false);
  net.lose_state(device);
  net.alter(device).chassis_id = ChassisId{{ChassisId::kLocal, "configured"}};
  net.mute = low;
  net.start(device);
  net.run_for(seconds(30));
  EXPECT_EQ(rank(), std::nullopt);
}
TEST_F(Rising, AStartFromAnOldStateIsOneWithoutItAndOpensWhatWasShutLast) {
  const auto rule = [&](std::size_t cable) {
    return net.nodes[device].ports[net.port_at(cable, device).value() - 1].rule;
  };
  net.stop(high, false);
  net.set_cable(to_high, false);
  pin(4);
  net.run_for(seconds(1));
  net.set_cable(to_high, true);
  net.run_for(seconds(1));
  ASSERT_EQ(rule(to_high), Order::kShut);
  ASSERT_EQ(rule(to_low), Order::kDown);
  net.stop(device, false);
  const core::State old = *net.nodes[device].state;
  net.start(device);
  net.run_for(seconds(3));
  net.stop(device, false);
  *net.nodes[device].state = old;
  net.rules_late = seconds(1);
  net.mute = device;  // its neighbor speaks first, and names the later boot
  net.start(device);
  const TimePoint end = net.now + seconds(40);
  while (rule(to_low) == Order::kDown && net.now < end) {
    EXPECT_EQ(rule(to_high), Order::kShut);
    net.step();
  }
  EXPECT_EQ(rank(), std::nullopt);
  net.run_for(seconds(3));
  EXPECT_EQ(rule(to_low), Order::kUp);
  EXPECT_EQ(rule(to_high), Order::kUp);
}
// A2: the frame after it is the one before it, which says nothing new.
TEST_F(Rising, AChassisIdOfANeighborTakenForAMomentLeavesNothing) {
  const ChassisId own = net.agent(device).chassis_id();
  net.alter(device).chassis_id = net.agent(high).chassis_id();
  net.configure(device);
  net.run_for(seconds(5));
  EXPECT_EQ(rule_at(to_high, high), Order::kUp);
  net.alter(device).chassis_id = own;
  net.configure(device);
  net.run_for(seconds(200));
  EXPECT_EQ(rule_at(to_high, high), Order::kDown);
  EXPECT_EQ(towards(to_high), Order::kUp);
}
TEST_F(Rising, ALostStateWithANewChassisIdIsHeardTwiceUntilBothEndsForget) {
  net.stop(device, false);
  net.lose_state(device);
  net.alter(device).chassis_id = ChassisId{{ChassisId::kLocal, "renamed"}};
  net.start(device);
  net.run_for(seconds(300));
  EXPECT_EQ(rule_at(to_high, high), Order::kUp);
  EXPECT_TRUE(alarmed(high, to_high, core::AlarmCode::kManyNeighbors));
  for (const std::size_t node : {high, device}) net.forget(node, net.port_at(to_high, node));
  for (const std::size_t node : {low, device}) net.forget(node, net.port_at(to_low, node));
  net.run_for(seconds(20));
  EXPECT_EQ(rule_at(to_high, high), Order::kDown);
  EXPECT_FALSE(alarmed(high, to_high, core::AlarmCode::kManyNeighbors));
  EXPECT_EQ(rank(), level(2));
}
TEST_F(Rising, ACopyOfAStateIsSaidToBeOne) {
  net.stop(high, false);
  net.copy_state(device, high);
  net.start(high);
  net.run_for(seconds(31));  // until both have sent a periodic frame
  EXPECT_EQ(towards(to_high), Order::kUp);
  EXPECT_EQ(rule_at(to_high, high), Order::kUp);
  EXPECT_TRUE(alarmed(device, to_high, core::AlarmCode::kSelfLoop));
  EXPECT_TRUE(alarmed(high, to_high, core::AlarmCode::kSelfLoop));
}
// A12
TEST_F(Rising, AHostThatWasASwitchCountsItsOldRules) {
  net.stop(high, false);
  start_high_as_a_host();
  EXPECT_NE(rule_at(to_high, high), Order::kDown);
  net.run_for(seconds(5));
  EXPECT_EQ(rank(), level(6));
}
TEST_F(Rising, AHostWithoutItsStateAcknowledgesWhenItsOldRulesAreGone) {
  net.stop(high, false);
  net.lose_state(high);
  start_high_as_a_host();
  EXPECT_EQ(rule_at(to_high, high), Order::kUnknown);
  net.run_for(seconds(5));
  EXPECT_EQ(rank(), level(6));
}
TEST_F(Rising, OfTwoThatBecomeSwitchesAtOnceBothAreAboveFirst) {
  for (std::size_t node : {device, high}) {
    net.alter(node).role = Role::kHost;
    net.configure(node);
  }
  net.run_for(seconds(10));
  EXPECT_EQ(net.agent(device).state().role, Role::kHost);
  EXPECT_EQ(towards(to_high), Order::kUnknown);
  for (std::size_t node : {device, high}) {
    net.alter(node).role = Role::kSwitch;
    net.configure(node);
  }
  net.run_for(seconds(10));
  EXPECT_EQ(towards(to_high), Order::kUp);
  EXPECT_EQ(net.agent(high).order(net.port_at(to_high, high)), Order::kDown);
}

// A10
TEST(Newcomer, WaitsForFourSecondsOnlyWhereNoAgentIsHeard) {
  for (const bool beside_a_stock_host : {false, true}) {
    Network net;
    const std::size_t device = net.add(Role::kSwitch, pinned(1));
    const std::size_t cable = net.connect(device, net.add(Role::kSwitch, pinned(2)));
    if (beside_a_stock_host) {
      net.mute = net.add(Role::kHost);
      net.connect(device, *net.mute);
    }
    const auto rank = [&] { return net.agent(device).snapshot(net.now).place(); };
    net.start_all();
    net.run_for(milliseconds(3900));
    EXPECT_EQ(rank(), beside_a_stock_host ? std::nullopt : std::optional(level(1)));
    EXPECT_EQ(net.agent(device).order(net.port_at(cable, device)),
              beside_a_stock_host ? Order::kUnknown : Order::kUp);
    net.run_for(milliseconds(1200));
    EXPECT_EQ(rank(), level(1));
    EXPECT_EQ(net.agent(device).order(net.port_at(cable, device)), Order::kUp);
  }
}

TEST(Newcomer, ThatStartsOnceMoreWaitsForAllItsPortsAgain) {
  Network net;
  const std::size_t device = net.add(Role::kSwitch, pinned(1));
  net.connect(device, net.add(Role::kSwitch, pinned(2)));
  net.mute = net.add(Role::kHost);
  net.connect(device, *net.mute);
  net.start_all();
  net.run_for(seconds(1));
  net.stop(device, false);
  net.start(device);  // what was heard on the first port is in its state
  net.run_for(milliseconds(3900));
  EXPECT_EQ(net.agent(device).snapshot(net.now).place(), std::nullopt);
  net.run_for(milliseconds(1200));
  EXPECT_EQ(net.agent(device).snapshot(net.now).place(), level(1));
}
// Its neighbor is down towards it, so packets are to turn there all the time.
TEST(Newcomer, ThatStartsOnceMoreKeepsTheRulesThatItHas) {
  Network net;
  Settings low;
  low.max_level = level(1);
  const std::size_t device = net.add(Role::kSwitch, low);
  const std::size_t leaf = net.add(Role::kSwitch, pinned(1));
  net.connect(device, leaf);
  net.start_all();
  net.run_for(seconds(20));
  ASSERT_EQ(net.level_of(device), std::nullopt);
  ASSERT_EQ(net.nodes[leaf].ports[0].rule, Order::kDown);
  net.stop(device, false);
  net.mute = leaf;
  net.start(device);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(net.nodes[device].ports[0].rule, Order::kUp) << i;
    net.run_for(milliseconds(100));
  }
}

TEST(StockHost, IsBelowFourSecondsAfterItsFirstFrame) {
  Network net;
  const std::size_t device = net.add(Role::kSwitch, pinned(1));
  const std::size_t host = net.add(Role::kHost);
  net.nodes[host].stock = true;
  const std::size_t cable = net.connect(device, host);
  const auto rule = [&] { return net.nodes[device].ports[0].rule; };
  net.start_all();
  net.run_for(seconds(10));
  ASSERT_EQ(rule(), Order::kDown);
  net.set_cable(cable, false);
  net.run_for(seconds(1));
  net.set_cable(cable, true);
  net.run_for(milliseconds(3900));
  EXPECT_EQ(rule(), Order::kUp);
  net.run_for(milliseconds(1200));
  EXPECT_EQ(rule(), Order::kDown);
  net.stop(device, false);
  net.start(device);  // on the same carrier it is what it was
  net.run_for(milliseconds(100));
  EXPECT_EQ(rule(), Order::kDown);
}
/// A switch whose agent starts 40 s or more after its neighbor's.
struct LateAgent : testing::Test {
  LateAgent() {
    net.connect(device, late);
    net.start(device);
    net.run_for(seconds(40));
  }
  Network net;
  std::size_t device = net.add(Role::kSwitch, pinned(2));
  std::size_t late = net.add(Role::kSwitch, pinned(3));
};

TEST_F(LateAgent, IsNeverBelowThoughItWasAStation) {
  net.speak_as_lldpd(late, ChassisId{{ChassisId::kLocal, "lldpd"}}, true);
  net.at(net.now + seconds(2), [&] { net.start(late); });
  for (int i = 0; i < 300; ++i) {
    net.run_for(milliseconds(100));
    ASSERT_NE(net.nodes[device].ports[0].rule, Order::kDown) << i;
  }
  EXPECT_NE(net.nodes[late].ports[0].rule, Order::kUnknown);
}

TEST_F(LateAgent, IsNoStockHostByAWordShortBeforeItsStart) {
  const auto says = [&](bool station, Duration d) {
    net.speak_as_lldpd(late, ChassisId{{ChassisId::kLocal, station ? "nic" : "lldpd"}}, station);
    for (const TimePoint end = net.now + d; net.now < end; net.run_for(milliseconds(100)))
      ASSERT_NE(net.nodes[device].ports[0].rule, Order::kDown);
  };
  says(false, seconds(10));
  says(true, milliseconds(3900));
  says(false, milliseconds(100));
  says(true, seconds(10));  // nor while another one there forwards
  net.start(late);
  net.run_for(seconds(10));
  EXPECT_EQ(net.nodes[device].ports[0].rule, Order::kUp);
  EXPECT_EQ(net.nodes[late].ports[0].rule, Order::kDown);
}

TEST(StockHost, IsNoneWhereASwitchWasHeardUntilThatIsForgotten) {
  for (const bool renamed : {false, true}) {
    Network net;
    const std::size_t device = net.add(Role::kSwitch);
    Settings settings = pinned(3);
    settings.chassis_id = ChassisId{{ChassisId::kLocal, "gone"}};
    const std::size_t gone = net.add(Role::kSwitch, settings);
    const std::size_t cable = net.connect(device, gone);
    net.start_all();
    net.run_for(seconds(10));
    ASSERT_EQ(net.level_of(device), level(4));
    net.stop(gone, false);
    const auto says = [&](bool station) {
      net.speak_as_lldpd(gone, ChassisId{{ChassisId::kLocal, renamed ? "nic" : "gone"}}, station);
      net.run_for(seconds(30));
    };
    says(false);
    for (int i = 0; i < 10; ++i) says(true);
    EXPECT_EQ(net.level_of(device), level(4)) << renamed;
    EXPECT_EQ(net.nodes[device].ports[0].rule, Order::kDown);
    net.forget(device, net.port_at(cable, device));
    EXPECT_EQ(net.level_of(device), level(1));
    says(true);
    EXPECT_EQ(net.level_of(device), level(1));
    EXPECT_EQ(net.nodes[device].ports[0].rule, Order::kDown);
  }
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
// a cycle, though neighbors hold different levels for true.
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
