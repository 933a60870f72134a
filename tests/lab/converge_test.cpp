// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/converge.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "agent/core/event.hpp"
#include "lab/agents/fabric_network.hpp"
#include "lab/agents/report.hpp"
#include "lab/agents/script.hpp"
#include "lab/des/random.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/generators.hpp"

namespace lldp::lab::converge {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct Shape {
  const char* name = "";
  Result<Fabric> fabric{};
  Scenario scenario{};
  friend void PrintTo(const Shape& s, std::ostream* os) { *os << s.name; }
};
class Converge : public testing::TestWithParam<Shape> {};
TEST_P(Converge, EndsWithEveryLevelAndPortTypeRight) {
  ASSERT_TRUE(GetParam().fabric);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Scenario scenario = GetParam().scenario;
    scenario.seed = seed;
    const Outcome o = run(*GetParam().fabric, scenario);
    EXPECT_TRUE(o.convergence) << "seed " << seed;
    EXPECT_THAT(o.wrong_levels, IsEmpty()) << "seed " << seed;
    EXPECT_THAT(o.wrong_ports, IsEmpty()) << "seed " << seed;
    EXPECT_THAT(o.wrong_locations, IsEmpty()) << "seed " << seed;
  }
}
const Shape kShapes[] = {
    {"Clos", clos({}), {}},
    {"ClosFiveLevels", clos({.switches = {8, 8, 4, 4, 2}, .pods = {4, 2, 2}, .hosts = 8}), {}},
    {"ClosDualHomed", clos({.hosts = 8, .links_per_host = 2}), {.start_spread = 100ms}},
    {"FatTree", fat_tree(4), {}},
    {"AllAtOnce", fat_tree(4), {.start_spread = 0s}},
    {"Loss", fat_tree(4), {.loss = 0.2}},
    {"Restarts", fat_tree(4), {.restarts = 10}},
    {"Cuts", fat_tree(4), {.cuts = 10}},
    {"All", clos({}), {.loss = 0.1, .restarts = 5, .cuts = 5, .timeout = 300s}},
};
INSTANTIATE_TEST_SUITE_P(Fabrics, Converge, testing::ValuesIn(kShapes),
                         [](const auto& s) { return s.param.name; });

TEST(Converge, OfALayeredExpanderHoldsTheOrdersOfItsPortsAgainstTheirLayers) {
  const auto fabric = fcplus({.switches = 12, .ports = 6, .hosts_per_switch = 1});
  ASSERT_TRUE(fabric);
  const Outcome o = run(*fabric, {.restarts = 3, .cuts = 3});
  EXPECT_TRUE(o.well());
  EXPECT_THAT(o.wrong_ports, IsEmpty());
  EXPECT_THAT(o.cabling_alarms, IsEmpty());
}

TEST(Converge, OfALayeredExpanderTellsOfLinksThatJoinWhatTheyShouldNot) {
  auto fabric = *fcplus({.switches = 12, .ports = 6, .hosts_per_switch = 1});
  const auto joins = std::find_if(fabric.links.begin(), fabric.links.end(),
                                  [](const Link& l) { return l.ends[0].layer && l.ends[1].layer; });
  agents::Network network = agents::network_of(fabric, 1);
  const Outcome right = run(fabric, {});
  ASSERT_TRUE(right.well());
  // What is set at the far end is another link's: this one is taken for up at both ends.
  auto& far = network.nodes[joins->ends[1].node];
  auto& port =
      far.ports[network.cables[static_cast<std::size_t>(joins - fabric.links.begin())].b.slot()];
  const Layers set = *port.layers;
  agents::Truth truth(network, agents::distances_to_hosts(network));
  network.watch(truth);
  port.layers = Layers{set.far, set.near};
  network.start_all();
  network.run_for(10s);
  EXPECT_EQ(truth.wrong_levels(), 0U);
  EXPECT_THAT(truth.list_wrong_ports(),
              ElementsAre(testing::HasSubstr("up, not down by its layers")));
}

TEST(Converge, IsNotWellWhereTheCablingIsFoundWrong) {
  Outcome o{.convergence = 1s, .location = 1s};
  EXPECT_TRUE(o.well());
  EXPECT_THAT(to_text({}, o), testing::Not(testing::HasSubstr("cabling")));
  o.cabling_alarms = {"tor1:p2: layers 1:2 are set here, and so on"};
  EXPECT_FALSE(o.well());
  EXPECT_THAT(to_text({}, o), testing::HasSubstr("cabling      1 alarm\n  alarm tor1:p2: layers"));
  EXPECT_THAT(to_json({}, o), testing::HasSubstr("\"cabling_alarms\":[\"tor1:p2: layers"));
}

TEST(Converge, GivesTheSameForTheSameSeedAndAnotherForAnother) {
  const auto fabric = clos({});
  const auto json = [&](std::uint64_t seed) {
    const Scenario s{.seed = seed, .loss = 0.1, .restarts = 3, .cuts = 3};
    return to_json(s, run(*fabric, s));
  };
  EXPECT_EQ(json(7), json(7));
  EXPECT_NE(json(7), json(8));
}

// The host's frame reaches the leaf after one delay, the leaf's the spine after two; what the spine
// answers says nothing new. Counted by hand from the last start, at 0 s here as at 2 ms.
TEST(Converge, TakesOneDelayPerLevel) {
  auto fabric = clos({.switches = {1, 1}, .pods = {}, .hosts = 1, .quality = {.delay_ns = 1000}});
  ASSERT_TRUE(fabric);
  const Outcome o = run(*fabric, {.start_spread = 0s});
  EXPECT_EQ(o.last_start, 0s);
  EXPECT_EQ(o.convergence, 3us);
  ASSERT_FALSE(o.curve.empty());
  EXPECT_EQ(o.curve.back(), (Sample{3us, 0, 0}));
}

// docs/develop/rules.md P5
TEST(Converge, LocationsAreRightSoonAfterTheLevels) {
  const auto sixty = clos({.switches = {16, 8, 4},
                           .pods = {4},
                           .hosts = 32,
                           .links_per_host = 2,
                           .quality = {.delay_ns = 1000}});
  ASSERT_TRUE(sixty);
  EXPECT_EQ(sixty->nodes.size(), 60U);
  for (const auto spread : {0ms, 20ms, 100ms, 500ms, 1000ms, 2000ms, 5000ms, 20'000ms, 60'000ms})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Outcome o = run(*sixty, {.seed = seed, .start_spread = spread});
      ASSERT_TRUE(o.convergence && o.location);
      EXPECT_LE(*o.location, *o.convergence + 200ms)
          << "seed " << seed << ", starts within " << spread.count() << " ms";
    }
}
/// When a level, a rank or a life last changed.
struct LastChanges : agents::Observer {
  explicit LastChanges(const agents::Network& n) : network(n) {}
  void started(std::size_t /*node*/) override { level = network.now; }
  void acted(std::size_t /*node*/, const core::Actions& actions) override {
    for (const core::Event& e : actions.events) {
      if (e.kind == core::Event::Kind::kLevel) level = network.now;
      if (e.kind == core::Event::Kind::kPlace) rank = network.now;
    }
  }
  const agents::Network& network;
  TimePoint level{};
  TimePoint rank{};
};
// With the seeds named, an acknowledgement had to wait for txCredit.
TEST(Converge, RanksAreRightSoonAfterTheLevels) {
  const auto five = clos({.switches = {8, 8, 4, 4, 2}, .pods = {4, 2, 2}, .hosts = 8});
  for (const auto& [fabric, seed] : {std::pair(clos({}), 412), std::pair(five, 437),
                                     std::pair(fat_tree(4), 102), std::pair(fat_tree(4), 192)})
    for (const auto s : {1, 2, 3, seed}) {
      agents::Network network = agents::network_of(*fabric, static_cast<std::uint64_t>(s));
      LastChanges last(network);
      network.watch(last);
      for (std::size_t n = 0; n < network.nodes.size(); ++n)
        network.at(network.now + Duration(static_cast<Duration::rep>(
                                     network.random().below(Duration(1s).count() + 1))),
                   [&network, n] { network.start(n); });
      network.run_for(10s);
      EXPECT_LE(last.rank - last.level, 20ms) << fabric->name << ", seed " << s;
      for (const agents::Network::Node& node : network.nodes) {
        const core::State state = node.agent->state();
        if (node.is_switch()) {
          EXPECT_EQ(state.rank.level, state.level) << node.name();
        }
      }
    }
}
// CONVERGE_FABRICS=1000 lab_agents_test runs as many.
TEST(Converge, LocationsAreRightWithinFiveSecondsOfTheLastChange) {
  const char* text = std::getenv("CONVERGE_FABRICS");
  const std::uint64_t fabrics = text != nullptr ? std::strtoull(text, nullptr, 10) : 20;
  for (std::uint64_t seed = 1; seed <= fabrics; ++seed) {
    Random random(seed);
    const auto up_to = [&](std::size_t most) { return 1 + random.below(most); };
    const std::size_t pods = up_to(4);
    const std::size_t leaves = pods * up_to(4);
    const auto fabric = clos(
        {.switches = {leaves, pods * up_to(3), up_to(4)}, .pods = {pods}, .hosts = 2 * leaves});
    ASSERT_TRUE(fabric) << "seed " << seed;
    const Outcome cuts = run(*fabric, {.seed = seed, .cuts = 12, .timeout = 300s});
    ASSERT_TRUE(cuts.convergence && cuts.location) << "seed " << seed;
    EXPECT_LE(*cuts.location, *cuts.convergence + 5s) << "seed " << seed;
    const Outcome all = run(*fabric, {.seed = seed, .restarts = 8, .cuts = 8, .timeout = 300s});
    ASSERT_TRUE(all.convergence && all.location) << "seed " << seed;
    EXPECT_LE(*all.location, *all.convergence + 5s) << "seed " << seed;
  }
}

TEST(Converge, IsCountedFromTheLastStart) {
  const auto fabric = clos({.switches = {1, 1}, .pods = {}, .hosts = 1});
  const Outcome o = run(*fabric, {.start_spread = 1h});
  EXPECT_GT(o.last_start, 1min);
  ASSERT_TRUE(o.convergence);
  EXPECT_LT(*o.convergence, 1min);
}

TEST(Converge, NamesWhatIsNotAsTheFileSays) {
  auto fabric = clos({.switches = {1, 1}, .pods = {}, .hosts = 1});
  ASSERT_TRUE(fabric);
  fabric->nodes[0].level = Level::of<3>();  // the spine; the agents will find 2
  const Outcome o = run(*fabric, {.timeout = 5s});
  EXPECT_FALSE(o.convergence);
  EXPECT_THAT(o.wrong_levels, ElementsAre("spine1: 2, not 3"));
  EXPECT_THAT(o.wrong_ports, ElementsAre("spine1:swp1: downlink, not unmarked",
                                         "leaf1:swp2: uplink, not unmarked"));
}

TEST(Converge, LossOfEverythingIsCountedAndReported) {
  const auto fabric = clos({.switches = {1, 1}, .pods = {}, .hosts = 1});
  const Outcome o = run(*fabric, {.loss = 1, .timeout = 2s});
  EXPECT_FALSE(o.convergence);
  EXPECT_GT(o.frames_sent, 0U);
  EXPECT_EQ(o.frames_lost, o.frames_sent);
}

class ConvergeScript : public testing::TestWithParam<std::string_view> {};
TEST_P(ConvergeScript, EndsWithEveryLevelAndPortTypeRight) {
  for (const auto& fabric : {clos({.switches = {4, 2}, .pods = {}, .hosts = 4}), fat_tree(4)}) {
    ASSERT_TRUE(Script::check(*fabric, GetParam()));
    Scenario scenario;
    scenario.script = GetParam();
    const Outcome o = run(*fabric, scenario);
    EXPECT_TRUE(o.convergence) << fabric->name;
    EXPECT_THAT(o.wrong_levels, IsEmpty()) << fabric->name;
    EXPECT_THAT(o.wrong_ports, IsEmpty()) << fabric->name;
    EXPECT_THAT(o.wrong_locations, IsEmpty()) << fabric->name;
    EXPECT_GE(o.last_disturbance, scenario.churn_span);
    // It did disturb: something was wrong after the last start.
    const bool disturbed = std::any_of(o.curve.begin(), o.curve.end(), [&](const Sample& sample) {
      return sample.at > o.last_start && sample.levels + sample.ports > 0;
    });
    EXPECT_TRUE(disturbed) << fabric->name;
  }
}
INSTANTIATE_TEST_SUITE_P(Scripts, ConvergeScript, testing::ValuesIn(kScripts), [](const auto& c) {
  std::string name(c.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Scripts, ARollingUpgradeHasOneSwitchOffAtATimeForHalfOfItsTurn) {
  const auto fabric = clos({.switches = {2, 2}, .pods = {}, .hosts = 2});
  agents::Network network = agents::network_of(*fabric, 1);
  Script script(*fabric, "rolling-upgrade", network);
  network.start_all();
  const TimePoint begin = agents::Network::kBegin + 1s;
  script.play(begin, 40s);
  std::set<std::size_t> seen;
  for (int turn = 0; turn < 4; ++turn) {
    network.run_until(begin + turn * 10s + 4s);
    std::vector<std::size_t> off;
    for (std::size_t n = 0; n < network.nodes.size(); ++n)
      if (!network.nodes[n].agent) off.push_back(n);
    ASSERT_EQ(off.size(), 1U) << turn;
    EXPECT_EQ(fabric->nodes[off[0]].role, Role::kSwitch);
    seen.insert(off[0]);
    network.run_until(begin + turn * 10s + 6s);
    EXPECT_TRUE(network.nodes[off[0]].agent) << turn;
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST(Scripts, RefuseWhatIsNoneAndAFabricThatIsTooSmall) {
  const auto fabric = clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  EXPECT_EQ(to_string(Script::check(*fabric, "x").error()),
            "--script: `x` is none of rolling-upgrade, late-pod, empty-racks, hosts-on-spine, "
            "miswired, moved");
  EXPECT_EQ(to_string(Script::check(*fabric, "moved").error()),
            "--script: needs two leaves and two switches above them");
  Fabric flat;  // without anybody above
  for (const char* name : {"a", "b"})
    flat.nodes.push_back({.name = name, .role = Role::kSwitch, .level = Level::of<1>()});
  EXPECT_FALSE(Script::check(flat, "moved"));
}

}  // namespace
}  // namespace lldp::lab::converge
