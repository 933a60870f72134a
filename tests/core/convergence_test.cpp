// SPDX-License-Identifier: Apache-2.0
// Whole fabrics of agents on virtual time: what they settle on is what the graph says.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "lab/agents/truth.hpp"
#include "tests/core/support/network.hpp"

namespace lldp::test {
namespace {

using core::AlarmCode;
using core::LevelSource;

/// What each port of a switch waits for, for the text of a failure.
std::string standing(const Network& net, std::size_t node) {
  const core::Snapshot s = net.nodes[node].agent->snapshot(net.now);
  std::string out = "\n" + s.system_name + " rank " + std::to_string(s.rank.level.value()) +
                    " bound " + std::to_string(s.bound.level.value());
  for (const core::PortInfo& p : s.ports) {
    out += "\n  " + p.name + " " + std::string(to_string(p.order));
    for (const core::AgentInfo& a : p.agents)
      out += std::string(a.host ? " host" : " switch") + (a.heard ? " heard" : "") +
             (a.counted ? " counted" : "") + (a.awaited ? " awaited" : "") + " bound " +
             std::to_string(a.bound.level.value()) + " belief " +
             std::to_string(a.belief.level.value()) + ";";
  }
  return out;
}

/// Levels and port types are what the graph says.
void expect_labels(const Network& net) {
  const lab::agents::Truth truth(net, lab::agents::distances_to_hosts(net));
  ASSERT_THAT(truth.list_wrong_levels(), testing::IsEmpty());
  ASSERT_THAT(truth.list_wrong_ports(), testing::IsEmpty());
}
/// And the two ends of every link agree on its order.
void expect_truth(const Network& net) {
  ASSERT_NO_FATAL_FAILURE(expect_labels(net));
  const auto right = lab::agents::distances_to_hosts(net);
  for (const auto& c : net.cables) {
    if (!c.up || !net.nodes[c.a.node].is_switch() || !net.nodes[c.b.node].is_switch() ||
        !right[c.a.node])
      continue;
    const Order a = net.nodes[c.a.node].agent->order(c.a.port);
    const Order b = net.nodes[c.b.node].agent->order(c.b.port);
    ASSERT_NE(a, Order::kUnknown) << standing(net, c.a.node);
    ASSERT_EQ(a == Order::kUp, b == Order::kDown)
        << net.nodes[c.a.node].name() << " " << to_string(a) << ", " << net.nodes[c.b.node].name()
        << " " << to_string(b) << standing(net, c.a.node) << standing(net, c.b.node);
  }
}

/// Switches in a random connected graph, hosts on some of them, a few links doubled.
void build_random(Network& net) {
  auto& random = net.random();
  const std::size_t switches = 3 + random() % 12;
  for (std::size_t i = 0; i < switches; ++i) {
    net.add(Role::kSwitch, [] {
      Settings s;
      s.max_level = Level::of<20>();
      return s;
    }());
    if (i > 0) net.connect(i, random() % i);
  }
  for (std::size_t extra = random() % (2 * switches); extra > 0; --extra) {
    const std::size_t a = random() % switches;
    const std::size_t b = random() % switches;
    if (a != b) net.connect(a, b);
  }
  for (std::size_t hosts = 1 + random() % 4; hosts > 0; --hosts) {
    net.connect(net.add(Role::kHost), random() % switches);
  }
}

std::vector<std::size_t> shuffled(Network& net) {
  std::vector<std::size_t> order(net.nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), net.random());
  return order;
}

class RandomFabric : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomFabric, testing::Range<std::uint64_t>(0, 40),
                         [](const auto& c) { return std::to_string(c.param); });
/// The same over many minutes of virtual time.
class DisturbedFabric : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, DisturbedFabric, testing::Range<std::uint64_t>(0, 10),
                         [](const auto& c) { return std::to_string(c.param); });

TEST_P(RandomFabric, StartedInAnyOrderSettlesOnTheDistanceToTheHosts) {
  Network net(GetParam());
  build_random(net);
  for (std::size_t node : shuffled(net)) {
    net.run_for(milliseconds(net.random()() % 2000));
    net.start(node);
  }
  net.run_for(seconds(2));  // where a level fell step by step txCredit is used up, and grows again
  expect_truth(net);
}

TEST_P(DisturbedFabric, LossAndRepetitionOnlyDelay) {
  Network net(GetParam());
  build_random(net);
  net.loss = 0.3;
  net.duplication = 0.2;
  for (std::size_t node : shuffled(net)) net.start(node);
  net.run_for(seconds(600));  // some links lose several frames in a row
  net.loss = 0;
  net.run_for(seconds(31));
  expect_truth(net);
}

TEST_P(DisturbedFabric, AfterChurnItIsWhatItWasBefore) {
  Network net(GetParam());
  build_random(net);
  net.start_all();
  net.run_for(seconds(1));
  auto& random = net.random();
  net.loss = 0.05;
  for (int i = 0; i < 60; ++i) {
    if (random() % 2 == 0) {
      const std::size_t cable = random() % net.cables.size();
      net.set_cable(cable, !net.cables[cable].up);
    } else {
      const std::size_t node = random() % net.nodes.size();
      if (net.nodes[node].agent) {
        net.stop(node, random() % 2 == 0);
      } else {
        net.start(node);
      }
    }
    net.run_for(milliseconds(random() % 20000));
  }
  net.loss = 0;
  for (std::size_t i = 0; i < net.cables.size(); ++i) {
    if (!net.cables[i].up) net.set_cable(i, true);
  }
  for (std::size_t i = 0; i < net.nodes.size(); ++i) {
    if (!net.nodes[i].agent) net.start(i);
  }
  net.run_for(seconds(200));  // until the last who said no goodbye is forgotten
  expect_truth(net);
}

TEST_P(RandomFabric, WithoutHostsNobodyHasALevel) {
  Network net(GetParam());
  build_random(net);
  for (std::size_t n = 0; n < net.nodes.size(); ++n) net.alter(n).role = Role::kSwitch;
  net.start_all();
  net.run_for(seconds(300));
  for (std::size_t i = 0; i < net.nodes.size(); ++i) ASSERT_EQ(net.level_of(i), std::nullopt);
}

/// Two pods of two leaves and two spines, two super spines; a host at each leaf.
struct Clos : testing::Test {
  /// Levels are established before the tests begin unless told otherwise.
  explicit Clos(Duration establish = seconds(60)) {
    for (int i = 0; i < 2; ++i) tops.push_back(net.add(Role::kSwitch));
    for (int pod = 0; pod < 2; ++pod) {
      std::vector<std::size_t> pod_spines;
      for (int i = 0; i < 2; ++i) {
        pod_spines.push_back(net.add(Role::kSwitch));
        for (std::size_t top : tops) net.connect(pod_spines.back(), top);
      }
      for (int i = 0; i < 2; ++i) {
        leaves.push_back(net.add(Role::kSwitch));
        for (std::size_t spine : pod_spines) net.connect(leaves.back(), spine);
        hosts.push_back(net.add(Role::kHost));
        host_cables.push_back(net.connect(hosts.back(), leaves.back()));
      }
      spines.insert(spines.end(), pod_spines.begin(), pod_spines.end());
    }
    for (std::size_t n = 0; n < net.nodes.size(); ++n)
      net.alter(n).establish = std::chrono::duration_cast<seconds>(establish);
    net.start_all();
    net.run_for(seconds(100));
    expect_truth(net);
    for (auto& n : net.nodes) n.events.clear();
  }
  [[nodiscard]] std::size_t level_changes() const {
    std::size_t n = 0;
    for (const auto& node : net.nodes) {
      n += static_cast<std::size_t>(
          std::count_if(node.events.begin(), node.events.end(),
                        [](const core::Event& e) { return e.kind == core::Event::Kind::kLevel; }));
    }
    return n;
  }

  Network net{5};
  std::vector<std::size_t> tops{}, spines{}, leaves{}, hosts{}, host_cables{};
};

TEST_F(Clos, ALeafWhoseServersAreOffStaysALeaf) {
  net.stop(hosts[0], true);
  net.run_for(seconds(1000));
  EXPECT_EQ(net.level_of(leaves[0]), level(1));
  EXPECT_EQ(level_changes(), 0U);
}
TEST_F(Clos, AllServersOffChangesNothing) {
  for (std::size_t h : hosts) net.stop(h, true);
  net.run_for(seconds(1000));
  EXPECT_EQ(level_changes(), 0U);
}
TEST_F(Clos, ARestartDisturbsNobody) {
  for (const bool clean : {true, false}) {
    for (std::size_t i = 0; i < net.nodes.size(); ++i) {
      net.stop(i, clean);
      net.run_for(seconds(1));
      net.start(i);
      net.run_for(seconds(5));
      ASSERT_EQ(level_changes(), 0U) << "node " << i << (clean ? " stopped" : " crashed");
      net.run_for(milliseconds(100));
    }
  }
  expect_truth(net);
}
TEST_F(Clos, ARestartOfALeafWhoseServersAreOffDisturbsNobody) {
  net.stop(hosts[0], true);
  for (const bool clean : {true, false}) {
    net.stop(leaves[0], clean);
    net.run_for(seconds(300));
    net.start(leaves[0]);
    net.run_for(seconds(300));
    EXPECT_EQ(net.level_of(leaves[0]), level(1));
    EXPECT_EQ(net.agent(leaves[0]).snapshot(net.now).level_source, LevelSource::kRestored);
    EXPECT_EQ(level_changes(), 0U);
  }
}
// docs/develop/rules.md L4: before a level is established it is withdrawn with its support, in one
// wave.
struct NewClos : Clos {
  NewClos() : Clos(std::chrono::hours(24)) {}
};
TEST_F(NewClos, AllServersThatBecomeSwitchesTakeTheLevelsAlongInOneWave) {
  for (std::size_t h : hosts) {
    net.alter(h).role = Role::kSwitch;
    net.configure(h);
  }
  net.run_for(8 * net.delay);
  for (const auto& nodes : {tops, spines, leaves, hosts})
    for (std::size_t node : nodes) EXPECT_EQ(net.level_of(node), std::nullopt) << node;
  net.run_for(seconds(600));
  for (std::size_t i = 0; i < net.nodes.size(); ++i) EXPECT_EQ(net.level_of(i), std::nullopt) << i;
  // One each, and one for what a host adopts before its leaf has withdrawn.
  EXPECT_LE(level_changes(), tops.size() + spines.size() + leaves.size() + 2 * hosts.size());
}
TEST_F(NewClos, ALeafWhoseServersLeaveFindsAnotherLevelAndTheOldOneWithThem) {
  net.stop(hosts[0], true);
  net.run_for(seconds(70));
  EXPECT_EQ(net.level_of(leaves[0]), level(3));
  net.start(hosts[0]);
  net.run_for(seconds(1));
  EXPECT_EQ(net.level_of(leaves[0]), level(1));
}
TEST_F(NewClos, AHostOnATopIsForgottenWithin65SecondsOfItsEnd) {
  const std::size_t laptop = net.add(Role::kHost);
  net.connect(laptop, tops[0]);
  net.start(laptop);
  net.start(tops[0]);
  net.run_for(milliseconds(100));
  EXPECT_EQ(net.level_of(tops[0]), level(1));
  net.stop(laptop, true);
  net.set_cable(net.cables.size() - 1, false);
  net.run_for(seconds(66));
  EXPECT_EQ(net.level_of(tops[0]), level(3));
}
// docs/develop/rules.md A9: no order changes by a restart, whether it says goodbye or not.
TEST_F(Clos, ARestartTakesNobodysRulesOff) {
  const auto orders = [&] {
    std::vector<Order> all;
    for (std::size_t cable = 0; cable < net.cables.size(); ++cable)
      for (const auto& end : {net.cables[cable].a, net.cables[cable].b})
        if (net.nodes[end.node].agent) all.push_back(net.agent(end.node).order(end.port));
    return all;
  };
  const auto silent = [&](std::size_t node) {
    const auto alarms = net.agent(node).snapshot(net.now).alarms;
    return std::count_if(alarms.begin(), alarms.end(),
                         [](const auto& a) { return a.code == AlarmCode::kSilent; });
  };
  const auto before = orders();
  for (const bool clean : {true, false}) {
    net.stop(spines[0], clean);
    net.run_for(seconds(200));
    for (std::size_t leaf : {leaves[0], leaves[1]}) {
      EXPECT_EQ(net.agent(leaf).order(net.port_at(net.nodes[leaf].ports[0].cable, leaf)),
                Order::kUp);
      EXPECT_EQ(silent(leaf), 1);
    }
    net.start(spines[0]);
    EXPECT_EQ(orders(), before);  // also its own, before anybody has spoken to it
    net.run_for(seconds(200));
    EXPECT_EQ(orders(), before);
    EXPECT_EQ(silent(leaves[0]), 0);
  }
}
TEST_F(Clos, AHostOnATopDoesNotMoveIt) {
  const std::size_t laptop = net.add(Role::kHost);
  net.connect(laptop, tops[0]);
  net.start(laptop);
  net.stop(tops[0], true);
  net.start(tops[0]);
  net.run_for(seconds(1000));
  EXPECT_EQ(net.level_of(tops[0]), level(3));
  EXPECT_EQ(level_changes(), 0U);
  const auto alarms = net.agent(tops[0]).snapshot(net.now).alarms;
  EXPECT_TRUE(std::any_of(alarms.begin(), alarms.end(),
                          [](const auto& a) { return a.code == AlarmCode::kLowerLevel; }));
}
TEST_F(Clos, LeavesWithAPeerLinkStayWhenTheirServersAreOff) {
  net.connect(leaves[0], leaves[1]);
  for (std::size_t leaf : {leaves[0], leaves[1]}) net.stop(leaf, true), net.start(leaf);
  net.run_for(seconds(100));
  for (std::size_t h : {hosts[0], hosts[1]}) net.stop(h, true);
  net.run_for(seconds(1000));
  for (std::size_t leaf : leaves) EXPECT_EQ(net.level_of(leaf), level(1));
  EXPECT_EQ(level_changes(), 0U);
}
// What the first of two starts was answered is lost, and the second sends the same octets as the
// first, which tells nobody anything new.
TEST_F(Clos, AStartThatIsCutShortDisturbsNobody) {
  const auto crash_twice = [&](std::size_t node) {
    net.stop(node, false);
    net.run_for(seconds(1));
    net.start(node);
    net.run_for(net.delay);  // it has sent, and not been answered
    net.stop(node, false);
    net.run_for(4 * net.delay);
    net.start(node);
  };
  crash_twice(leaves[0]);
  net.run_for(milliseconds(500));  // nobody has spoken to it yet
  for (std::size_t spine : spines) crash_twice(spine);
  net.run_for(seconds(5));
  EXPECT_EQ(level_changes(), 0U);
  EXPECT_EQ(net.agent(leaves[0]).snapshot(net.now).level_source, LevelSource::kHost);
  expect_truth(net);
}
TEST_F(Clos, ACrashIsOvercomeWithinMilliseconds) {
  net.stop(spines[0], false);
  net.run_for(seconds(1));
  net.start(spines[0]);
  net.run_for(4 * net.delay);
  expect_truth(net);
}
TEST_F(Clos, ALinkDownIsForgottenAtOnceAndTheLevelKept) {
  net.set_cable(host_cables[0], false);
  EXPECT_EQ(net.agent(leaves[0]).neighbor_count(), 2U);
  EXPECT_EQ(net.level_of(leaves[0]), level(1));
}
TEST_F(NewClos, ALeafThatBecomesASpineFindsItsPlace) {
  // The leaf's server is replaced by a leaf of its own.
  net.set_cable(host_cables[0], false);
  const std::size_t leaf = net.add(Role::kSwitch);
  net.connect(net.add(Role::kHost), leaf);
  net.connect(leaf, leaves[0]);
  net.start(leaf);
  net.start(leaf + 1);
  net.stop(leaves[0], true);  // it is told of its new link by a restart
  net.start(leaves[0]);
  net.run_for(seconds(66));
  EXPECT_EQ(net.level_of(leaf), level(1));
  EXPECT_EQ(net.level_of(leaves[0]), level(2));
}
TEST_F(Clos, AnEstablishedLeafInASpinesPlaceIsMovedWhenItsNeighborsAreStrangers) {
  for (const auto& port : net.nodes[leaves[0]].ports) net.set_cable(port.cable, false);
  std::vector<std::size_t> others;
  for (int i = 0; i < 2; ++i) {
    const std::size_t leaf = net.add(Role::kSwitch);
    net.connect(net.add(Role::kHost), leaf);
    net.connect(leaf, leaves[0]);
    others.push_back(leaf);
  }
  for (std::size_t node = others[0]; node < net.nodes.size(); ++node) net.start(node);
  net.stop(leaves[0], true);
  net.start(leaves[0]);
  net.run_for(seconds(66));
  EXPECT_EQ(net.level_of(leaves[0]), level(2));
}
TEST_F(Clos, APodThatBootsLateTakesTheLowerLevel) {
  for (std::size_t i : {0U, 1U}) net.stop(leaves[i], false);
  for (std::size_t i : {0U, 1U}) {
    net.stop(spines[i], false);
    net.nodes[spines[i]].state = {};
  }
  net.run_for(seconds(1));
  for (std::size_t i : {0U, 1U}) net.start(spines[i]);
  net.run_for(seconds(1));
  EXPECT_EQ(net.level_of(spines[0]), level(4));  // all it hears is the top
  for (std::size_t i : {0U, 1U}) net.start(leaves[i]);
  net.run_for(milliseconds(10));
  EXPECT_EQ(net.level_of(spines[0]), level(2));
  net.run_for(seconds(2));
  expect_truth(net);
}

/// A fat tree of 8-port switches: 4 links up and 4 down at every one, pods of 4 leaves and 4
/// spines, 16 tops.
void build_fat_tree(Network& net) {
  constexpr std::size_t kHalf = 4;
  const std::size_t tops = net.nodes.size();
  for (std::size_t i = 0; i < kHalf * kHalf; ++i) net.add(Role::kSwitch);
  for (std::size_t pod = 0; pod < 2 * kHalf; ++pod) {
    const std::size_t spines = net.nodes.size();
    for (std::size_t i = 0; i < kHalf; ++i) {
      net.add(Role::kSwitch);
      for (std::size_t up = 0; up < kHalf; ++up) net.connect(spines + i, tops + i * kHalf + up);
    }
    for (std::size_t i = 0; i < kHalf; ++i) {
      const std::size_t leaf = net.add(Role::kSwitch);
      for (std::size_t up = 0; up < kHalf; ++up) net.connect(leaf, spines + up);
      for (std::size_t h = 0; h < kHalf; ++h) net.connect(net.add(Role::kHost), leaf);
    }
  }
}

/// Within how many milliseconds all are started.
class FatTree : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Spread, FatTree, testing::Values(0, 30, 100, 300, 1000, 10000),
                         [](const auto& c) { return std::to_string(c.param) + "Milliseconds"; });

TEST_P(FatTree, SettlesWithinATenthOfASecondOfTheLastStart) {
  Network net(GetParam() + 1);
  build_fat_tree(net);
  std::vector<std::pair<TimePoint, std::size_t>> starts;
  for (std::size_t node = 0; node < net.nodes.size(); ++node) {
    starts.emplace_back(net.now + milliseconds(net.random()() % (GetParam() + 1)), node);
  }
  std::sort(starts.begin(), starts.end());
  for (const auto& [at, node] : starts) {
    net.run_until(at);
    net.start(node);
  }
  net.run_for(milliseconds(100));
  ASSERT_NO_FATAL_FAILURE(expect_labels(net));
  net.run_for(seconds(3));  // acknowledgements for which txCredit was short are told again
  expect_truth(net);
}

TEST(LargeClos, SettlesWithinATenthOfASecondOfACommonStart) {
  Network net;
  std::vector<std::size_t> spines;
  for (int i = 0; i < 8; ++i) spines.push_back(net.add(Role::kSwitch));
  for (int i = 0; i < 32; ++i) {
    const std::size_t leaf = net.add(Role::kSwitch);
    for (std::size_t spine : spines) net.connect(leaf, spine);
    for (int h = 0; h < 4; ++h) net.connect(net.add(Role::kHost), leaf);
  }
  net.start_all();
  net.run_for(milliseconds(100));
  expect_truth(net);
  EXPECT_LE(net.frames_sent, net.cables.size() * 2 * 5);  // nobody runs out of credit
}

}  // namespace
}  // namespace lldp::test
