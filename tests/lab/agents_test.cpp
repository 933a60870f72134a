// SPDX-License-Identifier: Apache-2.0
// The network of agents on virtual time, and who watches it.
#include <gmock/gmock.h>

#include <tuple>
#include <utility>

#include "lab/agents/curve.hpp"
#include "lab/agents/locations.hpp"
#include "lab/agents/network.hpp"
#include "lab/agents/order_safety.hpp"
#include "lab/agents/truth.hpp"
#include "lab/des/event_queue.hpp"

namespace lldp::lab::agents {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(EventQueue, KeepsEqualTimesInOrderOfInsertion) {
  EventQueue<int> queue;
  const TimePoint t{1s};
  queue.push(t + 1s, 4);
  for (int i = 1; i <= 3; ++i) queue.push(t, i);
  std::vector<int> order;
  while (!queue.empty()) order.push_back(queue.pop());
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
}

core::Settings device(std::string name, Role role = Role::kSwitch) {
  core::Settings s;
  s.role = role;
  s.chassis_id = ChassisId{{ChassisId::kLocal, name}};
  s.system_name = std::move(name);
  return s;
}
core::Settings pinned(std::string name, Level level) {
  core::Settings s = device(std::move(name));
  s.pinned_level = level;
  return s;
}

/// host - leaf - spine
struct Line : testing::Test {
  Network net{1};
  std::size_t host = net.add(device("host", Role::kHost));
  std::size_t leaf = net.add(device("leaf"));
  std::size_t spine = net.add(device("spine"));
  std::size_t down = net.connect(host, leaf);
  std::size_t up = net.connect(leaf, spine);
};

TEST_F(Line, CountsFromTheHostAsItIsCabledNow) {
  EXPECT_THAT(distances_to_hosts(net), ElementsAre(Level::of<0>(), Level::of<1>(), Level::of<2>()));
  net.set_cable(up, false);
  EXPECT_THAT(distances_to_hosts(net), ElementsAre(Level::of<0>(), Level::of<1>(), std::nullopt));
  net.unplug(down);
  net.plug({host, net.port_at(down, host)}, {spine, net.add_port(spine)}, 1ms);
  EXPECT_THAT(distances_to_hosts(net), ElementsAre(Level::of<0>(), std::nullopt, Level::of<1>()));
}

// Each hop takes its agent no time: the host's frame is at the leaf after the delay, and the leaf's
// at the spine after another one; what the spine answers tells the leaf that this port is an
// uplink, as a third.
TEST_F(Line, IsRightAfterThreeDelays) {
  Truth truth(net, distances_to_hosts(net));
  net.watch(truth);
  Curve curve(truth);
  EXPECT_EQ(truth.total(), 3U + 4U);
  EXPECT_EQ(truth.wrong(), truth.total());  // nobody runs
  net.start_all();
  while (!net.idle() && net.next_time() <= Network::kBegin + 10s) {
    net.step();
    curve.sample(net.now);
  }
  EXPECT_EQ(curve.right_since(), Network::kBegin + 3ms);
  EXPECT_THAT(curve.thinned(2), ElementsAre(Sample{0ms, 2, 3}, Sample{3ms, 0, 0}));
}

TEST_F(Line, WhatIsWrongIsNamed) {
  Truth truth(net, {Level::of<0>(), Level::of<1>(), Level::of<4>()});
  net.watch(truth);
  net.start(host);
  net.start(leaf);
  net.run_for(10ms);
  EXPECT_THAT(truth.list_wrong_levels(), ElementsAre("spine: stopped"));
  EXPECT_THAT(truth.list_wrong_ports(), IsEmpty());  // 1 to 4 would be unmarked, as nobody is
  net.start(spine);
  net.run_for(10ms);
  EXPECT_THAT(truth.list_wrong_levels(), ElementsAre("spine: 2, not 4"));
  EXPECT_THAT(truth.list_wrong_ports(),
              ElementsAre("leaf:p2: uplink, not unmarked", "spine:p1: downlink, not unmarked"));
  net.stop(spine, true);
  EXPECT_EQ(truth.wrong_levels(), 1U);
}

TEST_F(Line, OfOneThatStopsLevelAndPortsAreWrong) {
  Truth truth(net, distances_to_hosts(net));
  net.watch(truth);
  net.start_all();
  net.run_for(10ms);
  ASSERT_EQ(truth.wrong(), 0U);
  net.stop(leaf, false);
  EXPECT_EQ(truth.wrong(), 1U + 2U);
  net.start(leaf);
  net.run_for(5s);
  EXPECT_EQ(truth.wrong(), 0U);
}

TEST_F(Line, ACrashFindsTheStateThatWasSavedBeforeTheLastFrame) {
  net.start(host);
  net.crash_soon(leaf, Crash::kBeforeSaving);  // it does not run: nothing is to come
  net.start(leaf);
  net.run_for(10ms);
  EXPECT_EQ(net.nodes[leaf].state->level, Level::of<1>());
  net.alter(leaf).pinned_level = Level::of<3>();
  net.crash_soon(leaf, Crash::kBeforeSaving);
  net.configure(leaf);
  net.run_for(10ms);
  EXPECT_FALSE(net.nodes[leaf].agent);
  EXPECT_EQ(net.nodes[leaf].state->level, Level::of<1>());
}

TEST_F(Line, ACrashWhileSendingHasSavedWhatItTells) {
  net.start_all();
  net.run_for(10ms);
  const std::uint64_t before = net.frames_sent;
  net.alter(leaf).pinned_level = Level::of<1>();
  net.alter(leaf).system_name = "another";
  net.crash_soon(leaf, Crash::kWhileSending);
  net.configure(leaf);
  net.run_for(10s);
  EXPECT_FALSE(net.nodes[leaf].agent);
  EXPECT_LE(net.frames_sent, before + 2 + 8);  // the neighbors' fast transmission apart
}

TEST_F(Line, FramesAreLostRepeatedAndDelayedButNeverOvertakeEachOther) {
  net.loss = 0.5;
  net.duplication = 0.5;
  net.jitter = 500ms;
  net.start_all();
  net.run_for(2h);
  EXPECT_NEAR(static_cast<double>(net.frames_lost) / static_cast<double>(net.frames_sent), 0.5,
              0.1);
  EXPECT_EQ(net.level_of(spine), Level::of<2>());
}

TEST_F(Line, WhatIsOnACableThatGoesDownIsLost) {
  net.start(leaf);
  net.run_for(10ms);
  net.start(host);
  net.run_for(0ms);  // its frame is on its way
  net.stop(host, false);
  net.set_cable(down, false);
  net.set_cable(down, true);
  net.run_for(10ms);
  EXPECT_EQ(net.agent(leaf).neighbor_count(), 0U);
}

TEST_F(Line, IsTheSameForTheSameSeed) {
  const auto run = [](std::uint64_t seed) {
    Network n(seed);
    n.loss = 0.3;
    n.connect(n.add(device("a")), n.add(device("b")));
    n.start_all();
    n.run_for(1h);
    return std::pair(n.frames_sent, n.frames_lost);
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

/// Three switches in a ring, all pinned to one level: their order is that of their names.
struct Ring : testing::Test {
  Network net{1};
  OrderSafety safety{net};
  std::size_t a = net.add(pinned("a", Level::of<2>()));
  std::size_t b = net.add(pinned("b", Level::of<2>()));
  std::size_t c = net.add(pinned("c", Level::of<2>()));
  std::size_t ab = net.connect(a, b);
  std::size_t bc = net.connect(b, c);
  std::size_t ca = net.connect(c, a);
  Ring() { net.watch(safety); }
};

TEST_F(Ring, IsProvedWhenItsOrderGrows) {
  net.start_all();
  net.run_for(10ms);
  EXPECT_EQ(safety.rule(a, 0), Order::kUp);
  EXPECT_EQ(safety.rule(b, 0), Order::kDown);
  EXPECT_GT(safety.proofs(), 0U);
  EXPECT_FALSE(safety.cycle());
  const std::uint64_t proofs = safety.proofs();
  net.run_for(1h);  // nothing but frames that say what they said before
  EXPECT_EQ(safety.proofs(), proofs);
  net.set_cable(ab, false);
  net.run_for(1s);
  EXPECT_EQ(safety.proofs(), proofs);  // takes dependencies away
}

/// Each switch takes the one before it for lower and the one after it for higher.
void turn_the_ring_round(Network& net) {
  for (const auto& [node, lower, higher] : {std::tuple(0, 1, 0), {1, 0, 1}, {2, 0, 1}}) {
    net.put_rule(static_cast<std::size_t>(node), static_cast<std::size_t>(lower), Order::kDown);
    net.put_rule(static_cast<std::size_t>(node), static_cast<std::size_t>(higher), Order::kUp);
  }
}

TEST_F(Ring, ACycleAmongAgentsThatRunIsFound) {
  net.start_all();
  net.run_for(10ms);
  ASSERT_FALSE(safety.cycle());
  turn_the_ring_round(net);
  safety.stepped();
  ASSERT_TRUE(safety.cycle());
  EXPECT_EQ(safety.cycle()->at, net.now);
  EXPECT_THAT(safety.cycle()->text, testing::HasSubstr(" -> "));
}

TEST_F(Ring, ACycleThroughRulesOfTheDeadIsOneOfItsOwnKind) {
  net.start_all();
  net.run_for(10ms);
  net.stop(b, false);
  turn_the_ring_round(net);
  safety.stepped();
  EXPECT_FALSE(safety.cycle());
  ASSERT_TRUE(safety.cycle_with_dead());
}

TEST_F(Ring, ACableThatClosesACycleOfTheDeadIsLookedAt) {
  net.start_all();
  net.run_for(10ms);
  net.stop(a, false);
  net.stop(b, false);
  turn_the_ring_round(net);
  net.set_cable(ab, false);
  safety.stepped();
  EXPECT_FALSE(safety.cycle_with_dead());
  net.set_cable(ab, true);
  safety.stepped();
  EXPECT_TRUE(safety.cycle_with_dead());
}

/// b dies, a is installed anew above it without power and state, and b starts again.
template <class Then>
void install_beside_the_dead(std::uint64_t seed, const Then& then) {
  Network net(seed);
  OrderSafety safety{net};
  const auto add = [&](const char* name) { return net.add(pinned(name, Level::of<2>())); };
  const std::size_t nodes[] = {add("a"), add("b"), add("c")};
  for (const std::size_t n : nodes) net.connect(n, (n + 1) % 3);
  net.watch(safety);
  net.rules_late = 1s;
  net.start_all();
  net.run_for(10s);
  ASSERT_EQ(safety.rule(1, 0), Order::kDown);
  net.stop(1, false);
  net.stop(0, false);
  net.cut_power(0);
  net.lose_state(0);
  net.alter(0).pinned_level = Level::of<3>();
  net.start(0);
  net.run_for(10s);
  net.start(1);
  net.run_for(10s);
  then(net, safety);
}
// docs/develop/rules.md A2: the rules of b are those for the device of before, for as long as the
// data plane takes; a does not pass by them until b has acknowledged.
TEST(InstalledAnew, BesideADeadNeighborItClosesNoCycle) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    install_beside_the_dead(seed, [&](Network& net, OrderSafety& safety) {
      EXPECT_FALSE(safety.cycle()) << "seed " << seed << ": " << safety.cycle()->text;
      EXPECT_FALSE(safety.cycle_with_dead()) << "seed " << seed;
      // Else these links would count for nothing.
      turn_the_ring_round(net);
      safety.stepped();
      EXPECT_TRUE(safety.cycle()) << "seed " << seed;
    });
}

TEST_F(Ring, RulesStayWithoutTheirAgentAndGoWithThePower) {
  net.start_all();
  net.run_for(10ms);
  net.stop(a, false);
  net.run_for(1h);
  EXPECT_EQ(safety.rule(a, 0), Order::kUp);
  net.cut_power(a);
  EXPECT_EQ(safety.rule(a, 0), Order::kUnknown);
}

TEST_F(Ring, RulesAreInForceLaterThanTheyAreAskedForAndInTheirOrder) {
  net.rules_late = 1s;
  net.start_all();
  net.run_for(10ms);
  EXPECT_EQ(safety.rule(b, 0), Order::kUnknown);
  net.run_for(10s);
  EXPECT_EQ(safety.rule(b, 0), Order::kDown);
  EXPECT_EQ(net.agent(b).request(net.port_at(ab, b)).order, Order::kDown);
}

TEST_F(Ring, ACableThatComesPassesNothingUntilItsRulesAreInForce) {
  net.start_all();
  net.run_for(10ms);
  ASSERT_TRUE(net.passes(net.cables[ab]));
  net.rules_late = 1s;
  net.set_cable(ab, false);
  net.set_cable(ab, true);
  EXPECT_FALSE(net.passes(net.cables[ab]));
  net.run_for(5s);
  EXPECT_TRUE(net.passes(net.cables[ab]));
}

// Twelve leaves below six spines. One leaf learns of two classes: that reaches all in one wave.
TEST(Agents, OfEighteenSwitchesAgreeOnClassesInOneWave) {
  Network net{1};
  net.keep_events = true;
  for (std::size_t n = 0; n < 18; ++n) {
    core::Settings s = pinned((n < 12 ? "leaf" : "spine") + std::to_string(n),
                              n < 12 ? Level::of<1>() : Level::of<2>());
    s.classes.emplace();
    net.add(std::move(s));
  }
  for (std::size_t leaf = 0; leaf < 12; ++leaf)
    for (std::size_t spine = 12; spine < 18; ++spine) net.connect(leaf, spine);
  net.start_all();
  net.run_for(60s);
  for (std::size_t n = 0; n < 18; ++n) ASSERT_TRUE(net.agent(n).classes().unknown()) << n;
  const auto known = qos::parse_chains("3:dscp3>lossy,4:dscp4>lossy");
  for (const qos::Chain& chain : *known)
    net.alter(3).classes->applications.push_back(chain.application());
  net.configure(3);
  net.run_for(2 * net.delay + 1ms);  // a frame to the spines, and one from there
  for (std::size_t n = 0; n < 18; ++n) {
    EXPECT_EQ(to_string(net.agent(n).classes().chains()), "3:dscp3>2:dscp19,4:dscp4>5:dscp43") << n;
    EXPECT_EQ(std::ranges::count(net.nodes[n].events, core::Event::Kind::kClassesExtended,
                                 &core::Event::kind),
              2)
        << n << ": one for each chain";
  }
  const std::uint64_t sent = net.frames_sent;
  net.run_for(5s);
  for (std::size_t n = 0; n < 18; ++n)
    EXPECT_FALSE(net.agent(n).classes().mismatch(Ifindex(), net.now)) << n;
  EXPECT_LT(net.frames_sent - sent, 72U * 2U * 5U) << "nobody goes on about it";
}

// docs/develop/rules.md P3: where no leaf is below, a switch below tells what another one above
// told.
TEST(Tiers, AreNamedByASwitchBelowThatKnowsThem) {
  Network net;
  Levels levels;
  const auto add = [&](std::string name, Level level) {
    levels.emplace_back(level);
    return net.add(device(std::move(name)));
  };
  const auto leaf = add("leaf", Level::of<1>());
  const auto spine = add("spine", Level::of<2>());
  const auto without_leaves = add("without leaves", Level::of<2>());
  const auto core = add("core", Level::of<3>());
  const auto other_core = add("other core", Level::of<3>());
  const auto top = add("top", Level::of<4>());
  net.connect(leaf, spine);
  net.connect(spine, core);
  net.connect(without_leaves, core);
  net.connect(without_leaves, other_core);
  net.connect(other_core, top);
  const auto tiers = tiers_of_fabric(net, levels);
  const auto levels_of = [&](std::size_t node) {
    std::vector<unsigned> out;
    for (const auto& [level, group] : tiers[node]) out.push_back(level.value());
    return out;
  };
  EXPECT_THAT(levels_of(top), ElementsAre(4U));
  EXPECT_THAT(levels_of(other_core), ElementsAre(3U, 4U));
  EXPECT_THAT(levels_of(without_leaves), ElementsAre(3U, 4U));
  EXPECT_EQ(tiers[other_core].front(), tiers[core].front());
  // P7: what those tell that only remember it may be an echo, and names no further switch.
  const auto further = add("further without leaves", Level::of<2>());
  const auto third_core = add("third core", Level::of<3>());
  net.connect(further, other_core);
  net.connect(further, third_core);
  const auto surely = tiers_of_fabric(net, levels);
  EXPECT_TRUE(surely[third_core].empty());
  EXPECT_EQ(surely[further], surely[without_leaves]);
  const auto perhaps = tiers_of_fabric(net, levels, Named::kPerhaps);
  EXPECT_EQ(perhaps[third_core].front(), perhaps[core].front());
  // Without that switch nobody tells the other half anything.
  net.unplug(2);
  EXPECT_TRUE(tiers_of_fabric(net, levels)[top].empty());
}

}  // namespace
}  // namespace lldp::lab::agents
