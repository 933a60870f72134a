// SPDX-License-Identifier: Apache-2.0
// Links that fail: where packets turn until the routing has converged, and whether priorities
// suffice.
#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

#include "lab/des/random.hpp"
#include "lab/routing/cases.hpp"
#include "lab/topology/generators.hpp"
#include "lab/topology/json.hpp"
#include "lab/whatif/change.hpp"
#include "lab/whatif/exposure.hpp"
#include "lab/whatif/failure.hpp"
#include "lab/whatif/picture.hpp"
#include "lab/whatif/study.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::lab::whatif {
namespace {

using namespace std::chrono_literals;
using support::Ran;
using support::run;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Links by their ends, `Spine1-Leaf4`, as numbers of Routes.
std::vector<std::uint32_t> set_of(const Fabric& fabric, const Routes& routes,
                                  const std::vector<std::string>& names) {
  const auto failed = failed_links(fabric, names);
  EXPECT_TRUE(failed);
  std::vector<std::uint32_t> set;
  for (std::size_t l = 0; l < failed->size(); ++l)
    if ((*failed)[l]) set.push_back(static_cast<std::uint32_t>(*routes.number_of(l)));
  return set;
}

std::vector<std::string> turning(const Fabric& fabric, const Routes& routes, const Effect& effect) {
  std::vector<std::string> names;
  for (const auto& [s, to] : effect.bounces) {
    const std::string& name = fabric.nodes[routes.node_of(s)].name;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

bool operator==(const Effect& a, const Effect& b) {
  return a.bounces == b.bounces && a.most_turns == b.most_turns && a.cut_off == b.cut_off &&
         a.lossy == b.lossy && a.one_class_deadlocks == b.one_class_deadlocks &&
         a.two_classes_deadlock == b.two_classes_deadlock;
}

TEST(Evaluator, FindsTheDeadlockOfTheProposalsFirstCase) {
  const NamedCase s = *scenario("case1");
  const Routes routes(s.fabric);
  Evaluator evaluator(routes, 2);
  const auto set = set_of(s.fabric, routes, {"Spine1-Leaf4", "Spine2-Leaf1"});
  const Effect effect = evaluator.evaluate(set);
  // Towards Leaf4 the first spine turns to Leaf2 and Leaf3 (Leaf1 cannot climb to the second).
  EXPECT_THAT(turning(s.fabric, routes, effect), Contains("Leaf2"));
  EXPECT_THAT(turning(s.fabric, routes, effect), Contains("Leaf3"));
  EXPECT_TRUE(effect.one_class_deadlocks);
  EXPECT_FALSE(effect.two_classes_deadlock);
  EXPECT_EQ(effect.cut_off, 0U);
  // One failure alone makes packets turn, and no cycle.
  for (const std::uint32_t one : set) {
    const Effect alone = evaluator.evaluate(std::span(&one, 1));
    EXPECT_FALSE(alone.bounces.empty());
    EXPECT_FALSE(alone.one_class_deadlocks);
    EXPECT_EQ(alone.most_turns, 1U);
  }
}

TEST(Evaluator, TurnsWhereTheRoutingDoes) {
  for (const auto name : kScenarios) {
    if (name == "dualtor") continue;  // what fails there are links of hosts
    const NamedCase s = *scenario(name);
    const Routes routes(s.fabric);
    Evaluator evaluator(routes, 2);
    std::vector<std::uint32_t> set;
    for (std::size_t l = 0; l < s.failed.size(); ++l)
      if (s.failed[l]) set.push_back(static_cast<std::uint32_t>(*routes.number_of(l)));
    const Effect effect = evaluator.evaluate(set);
    const auto where = turning(s.fabric, routes, effect);
    unsigned most = 0;
    for (const FlowPath& flow : s.flows) {
      const auto path = local_reroute(s.fabric, s.failed, flow);
      ASSERT_TRUE(path);
      const auto turns = turns_of(s.fabric, *path);
      most = std::max(most, static_cast<unsigned>(turns.size()));
      for (const std::size_t i : turns)
        EXPECT_THAT(where, Contains(s.fabric.nodes[path->nodes[i]].name))
            << name << " " << *flow.name;
    }
    EXPECT_GE(effect.most_turns, most) << name;
    // The path that turns twice is alone; in the layered expander nothing has failed.
    EXPECT_TRUE(effect.one_class_deadlocks || name == "twice" || name == "layered") << name;
  }
}

/// Switches on three levels, cabled by chance, with peer links.
Fabric any_fabric(std::uint64_t seed) {
  Random random(seed);
  Fabric f{.name = "any"};
  std::vector<std::size_t> used;
  const auto node = [&](std::string name, Role role) {
    f.nodes.push_back({.name = std::move(name), .role = role});
    used.push_back(0);
    return f.nodes.size() - 1;
  };
  const auto cable = [&](std::size_t a, std::size_t b) {
    const auto end = [&](std::size_t n) { return LinkEnd{n, "p" + std::to_string(++used[n])}; };
    f.links.push_back({.ends = {end(a), end(b)}});
  };
  const std::size_t switches = 6 + random.below(6);
  for (std::size_t i = 0; i < switches; ++i) {
    node("s" + std::to_string(i), Role::kSwitch);
    if (i > 0) cable(i, random.below(i));
  }
  for (auto more = 2 * switches; more > 0; --more) {
    const std::size_t a = random.below(switches);
    cable(a, (a + 1 + random.below(switches - 1)) % switches);
  }
  for (auto hosts = 2 + random.below(4); hosts > 0; --hosts)
    cable(node("h" + std::to_string(hosts), Role::kHost), random.below(switches));
  return *complete(std::move(f));
}

void hold_all_sets(const Fabric& fabric, std::size_t fail, std::uint64_t& apart) {
  const Routes routes(fabric);
  Evaluator quick(routes, fail);
  Evaluator slow(routes, fail);
  const auto links = static_cast<std::uint32_t>(routes.links());
  std::vector<std::uint32_t> set;
  const auto look = [&](auto self, std::uint32_t from) -> void {
    if (set.size() == fail) {
      const auto before = quick.evaluated_anew();
      ASSERT_TRUE(quick.evaluate(set) == slow.evaluate_anew(set))
          << fabric.name << ": " << testing::PrintToString(set);
      apart += quick.evaluated_anew() == before;
      return;
    }
    for (std::uint32_t l = from; l < links; ++l) {
      set.push_back(l);
      self(self, l + 1);
      set.pop_back();
    }
  };
  look(look, 0);
}

TEST(Evaluator, WhatIsPutTogetherIsWhatIsFoundAnew) {
  std::uint64_t apart = 0;
  hold_all_sets(*fat_tree(4), 2, apart);
  EXPECT_GT(apart, 100U);
  hold_all_sets(*clos({.switches = {4, 3}, .pods = {}, .hosts = 4}), 3, apart);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) hold_all_sets(any_fabric(seed), 2, apart);
}

TEST(Evaluator, TwoPrioritiesDeadlockWhereSwitchesHaveNoRules) {
  Fabric fabric = scenario("case1")->fabric;
  for (Link& l : fabric.links)
    for (LinkEnd& e : l.ends) e.order = Order::kUnknown;
  const Routes routes(fabric);
  Evaluator evaluator(routes, 2);
  const Effect effect =
      evaluator.evaluate(set_of(fabric, routes, {"Spine1-Leaf4", "Spine2-Leaf1"}));
  EXPECT_TRUE(effect.one_class_deadlocks);
  EXPECT_TRUE(effect.two_classes_deadlock);
}

TEST(Evaluator, SaysWhoIsCutOff) {
  const Fabric fabric = *clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  const Routes routes(fabric);
  Evaluator evaluator(routes, 1);
  const Effect effect = evaluator.evaluate(set_of(fabric, routes, {"leaf1-spine1"}));
  EXPECT_THAT(effect.bounces, IsEmpty());
  EXPECT_GE(effect.cut_off, 2U);  // the spine to leaf1, and leaf1 to leaf2
}

Tally run_all(const Study& study) {
  std::vector<std::size_t> blocks(study.blocks());
  for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b] = b;
  Tally all;
  study.run(blocks, [&](std::size_t, const Tally& t) {
    all.add(t);
    return true;
  });
  return all;
}

TEST(Study, LooksAtAllPairsOnce) {
  const Fabric fabric = *fat_tree(4);
  const auto study = Study::of(fabric, {.fail = 2});
  ASSERT_TRUE(study);
  EXPECT_EQ(study->sets(), 32U * 31U / 2U);
  const Tally all = run_all(*study);
  EXPECT_EQ(all.sets, 496U);
  EXPECT_GT(all.one_class, 0U);
  EXPECT_EQ(all.two_classes, 0U);
  const auto back = tally_from(to_json(all), study->routes());
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(to_json(*back), to_json(all));
}

TEST(Study, SamplesAreTheSeeds) {
  const Fabric fabric = *fat_tree(4);
  const auto run = [&](std::uint64_t samples, std::uint64_t seed) {
    return run_all(*Study::of(fabric, {.fail = 3, .samples = samples, .seed = seed}));
  };
  const Tally a = run(40'000, 7);  // more than a block
  EXPECT_EQ(a.sets, 40'000U);
  EXPECT_EQ(to_json(a), to_json(run(40'000, 7)));
  EXPECT_NE(to_json(run(2'000, 7)), to_json(run(2'000, 8)));
}

TEST(Study, ASampleIsOfSoManyLinksAsFail) {
  const Fabric fabric = *clos({.switches = {2, 2}, .pods = {}, .hosts = 2});
  const auto study = Study::of(fabric, {.fail = 4, .samples = 200, .seed = 1});
  ASSERT_TRUE(study) << to_string(study.error());
  const Tally all = run_all(*study);
  EXPECT_EQ(all.sets, 200U);
  EXPECT_EQ(all.cutting, 200U);  // all links there are
  EXPECT_EQ(all.worst, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Tally, OfSetsThatAreAsBadHasTheOneWithTheLowestLinks) {
  const Effect effect{.cut_off = 1};
  Tally low;
  low.add(std::vector<std::uint32_t>{0, 5}, effect, 1);
  Tally high;
  high.add(std::vector<std::uint32_t>{1, 2}, effect, 1);
  Tally first = low;
  first.add(high);
  Tally last = high;
  last.add(low);
  EXPECT_EQ(first.worst, low.worst);
  EXPECT_EQ(to_json(first), to_json(last));
}

TEST(Study, RefusesWhatCannotBe) {
  const auto none = Study::of(*fat_tree(4), {.fail = 0});
  ASSERT_FALSE(none);
  EXPECT_EQ(to_string(none.error()),
            "--fail: give a number from 1 to 16: the fabric has 32 links between switches");
  Fabric alone;
  alone.nodes.push_back({.name = "leaf1"});
  const auto no_links = Study::of(alone, {.fail = 1});
  ASSERT_FALSE(no_links);
  EXPECT_EQ(to_string(no_links.error()),
            "the fabric has no link between switches: there is nothing to fail");
  EXPECT_FALSE(tally_from({{"sets", 1}}, Routes(*fat_tree(4))));
}

TEST(FabricChange, DrainsRemovesAndAdds) {
  const Fabric fabric = *clos({.switches = {4, 2}, .pods = {}, .hosts = 4});
  const auto after = [&](const char* text) {
    const auto change = change_from(fabric, text);
    EXPECT_TRUE(change) << text;
    return *changed(fabric, {*change});
  };
  EXPECT_EQ(after("drain spine1").links.size(), 8U);
  EXPECT_EQ(after("remove leaf1-spine2").links.size(), 11U);
  const Fabric more = after("add leaf1-leaf2");
  EXPECT_EQ(more.links.size(), 13U);
  EXPECT_EQ(more.links.back().ends[0].port, "new1");
  EXPECT_EQ(to_string(change_from(fabric, "drain host1").error()),
            "drain host1: the fabric has no such switch");
  EXPECT_EQ(to_string(change_from(fabric, "remove leaf1-leaf2").error()),
            "remove leaf1-leaf2: the fabric has no such link");
  EXPECT_EQ(to_string(change_from(fabric, "bend leaf1-leaf2").error()),
            "bend leaf1-leaf2: say `drain NODE`, `add A-B` or `remove A-B`");
}

TEST(Exposure, AFailureExposesNothingAndANewLinkUntilItsFirstFrames) {
  const Fabric fabric = *clos({.switches = {4, 2}, .pods = {}, .hosts = 4});
  const Exposure failure = expose_failure(fabric, {4, 7});
  EXPECT_EQ(failure.cyclic, Duration{});
  EXPECT_LT(failure.unprotected, 1s);
  EXPECT_GT(failure.orders_changed, 0U);
  const Exposure added = expose_changes(fabric, {*change_from(fabric, "add leaf1-leaf2")});
  EXPECT_GT(added.unprotected, Duration{});
  EXPECT_LT(added.unprotected, 1s);
  EXPECT_LE(added.unprotected, added.reaction) << "each moment counts once";
  EXPECT_EQ(added.cyclic, Duration{});
}

TEST(Picture, MarksWhatFailedAndWherePacketsTurn) {
  const NamedCase s = *scenario("case1");
  const Routes routes(s.fabric);
  Evaluator evaluator(routes, 2);
  const auto set = set_of(s.fabric, routes, {"Spine1-Leaf4", "Spine2-Leaf1"});
  const Effect effect = evaluator.evaluate_anew(set);
  ASSERT_GE(evaluator.cycle().size(), 4U);
  const std::string svg = to_svg(s.fabric, routes, set, effect, evaluator.cycle());
  EXPECT_THAT(svg, AllOf(StartsWith("<svg "), HasSubstr("<line class=\"failed\""),
                         HasSubstr("<circle class=\"turn\""), HasSubstr("marker-end"),
                         HasSubstr(">Leaf3</text>"), HasSubstr("prefers-color-scheme:dark")));
  Fabric longer = s.fabric;
  for (Node& node : longer.nodes) node.name.insert(0, "rack-17-of-");
  EXPECT_THAT(to_svg(longer, routes, set, effect, evaluator.cycle()),
              AllOf(HasSubstr("<title>rack-17-of-Leaf3, level 1</title>"),
                    HasSubstr(">rack-17-of-Leaf3</text>")));
}

// The commands, and sweeps

struct WhatifCommand : testing::Test {
  TempDir dir{};
  std::string program = support::program("lldp-level-lab");
  std::string fabric = dir / "fabric.json";
  WhatifCommand() {
    std::ofstream(fabric) << lab::to_json(*clos({.switches = {4, 2}, .pods = {}, .hosts = 4}));
  }
  [[nodiscard]] Ran whatif(const std::string& more, const std::string& before = {}) const {
    return run(before + " " + program + " whatif " + fabric + " " + more);
  }
};

TEST_F(WhatifCommand, TellsAllPairs) {
  const Ran r = whatif("--fail 2 --all -o " + (dir / "worst.svg"));
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_THAT(
      r.text,
      HasSubstr("6 switches, 8 links between them; 28 sets, all there are, of 2 failed links"));
  EXPECT_THAT(r.text, HasSubstr("one priority can deadlock, two cannot"));
  EXPECT_THAT(run("cat " + (dir / "worst.svg")).text, StartsWith("<svg "));
}

TEST_F(WhatifCommand, IsAGate) {
  EXPECT_EQ(whatif("--max-turns 1").status, 0);
  const Ran turned = whatif("--max-turns 0");
  EXPECT_EQ(turned.status, 1);
  EXPECT_THAT(turned.text, HasSubstr("NOT ACCEPTED: a packet turns more often than 0, up to 1\n"));
  const Ran drained = whatif("--change 'drain spine1' --no-cut-off --json");
  EXPECT_EQ(drained.status, 1);
  EXPECT_THAT(drained.text,
              AllOf(HasSubstr("\"accepted\": false"), HasSubstr("\"change_exposure\""),
                    HasSubstr("after the change: in 4 sets a switch has no way on")));
}

TEST_F(WhatifCommand, RefusesWhatMakesNoSense) {
  EXPECT_EQ(whatif("--all --samples 3").status, 2);
  EXPECT_EQ(whatif("--fail 9").status, 2);
  EXPECT_EQ(whatif("--shard 1/2").status, 2);
  EXPECT_EQ(whatif("--change 'drain x'").status, 2);
  const Ran r =
      whatif("--shard auto --results x", "env -u SLURM_ARRAY_TASK_ID -u JOB_COMPLETION_INDEX");
  EXPECT_EQ(r.status, 2);
  EXPECT_THAT(r.text, HasSubstr("auto: neither SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX nor "));
}

struct Sweep : WhatifCommand {
  /// Enough samples for several tasks.
  std::string args = "--fail 2 --samples 100000 --seed 5 --no-agents ";
  [[nodiscard]] std::string part(int i) const {
    return dir.path() + "/part" + std::to_string(i) + ".jsonl";
  }
  [[nodiscard]] Ran merge(const std::string& more) const { return run(program + " merge " + more); }
};

TEST_F(Sweep, PartsMakeTheWholeAndWhatIsMissingIsNamed) {
  EXPECT_EQ(whatif(args + "--shard auto --results " + part(0),
                   "SLURM_ARRAY_TASK_ID=10 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=3")
                .status,
            0);
  const Ran missing = merge(part(0));
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.text, "2 of 4 tasks\nmissing: --array=11-12\n");
  EXPECT_EQ(whatif(args + "--shard 2/3 --results " + part(1)).status, 0);
  EXPECT_EQ(whatif(args + "--shard auto/3 --results " + part(2), "JOB_COMPLETION_INDEX=2").status,
            0);
  const std::string all = dir / "all.jsonl";
  const Ran merged = merge(part(0) + " " + part(1) + " " + part(2) + " -o " + all);
  EXPECT_EQ(merged.status, 0) << merged.text;
  EXPECT_EQ(merged.text, "4 of 4 tasks\n");
  EXPECT_EQ(whatif(args + "--results " + all).text, whatif(args).text);
}

TEST_F(Sweep, GoesOnWhereItStoppedAndRefusesOthersResults) {
  const std::string file = dir / "r.jsonl";
  ASSERT_EQ(whatif(args + "--results " + file).status, 0);
  const std::string whole = run("cat " + file).text;
  // The last line torn: its task alone is done again.
  std::ofstream(file) << whole.substr(0, whole.size() - 20);
  ASSERT_EQ(whatif(args + "--results " + file).status, 0);
  EXPECT_EQ(run("sort " + file).text, run("printf %s '" + whole + "' | sort").text);
  const Ran other = whatif("--fail 2 --samples 100000 --seed 6 --results " + file);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.text, HasSubstr("line 1: results of another program, scenario or seed"));
  const Ran doubled = merge(file + " " + file);
  EXPECT_EQ(doubled.status, 2);
  EXPECT_THAT(doubled.text, HasSubstr("has a result already: "));
  std::ofstream(file, std::ios::app) << "{}\n";
  EXPECT_THAT(merge(file).text, HasSubstr("line 6: not a result"));
}

TEST_F(Sweep, RefusesWhatHasNoEndForResults) {
  const Ran full = whatif(args + "--results /dev/full");
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.text, HasSubstr("/dev/full: is a device: results want a file"));
  const std::string pipe = dir / "pipe";
  ASSERT_EQ(run("mkfifo " + pipe).status, 0);
  EXPECT_THAT(whatif(args + "--results " + pipe).text, HasSubstr("is a pipe: results want a file"));
  const Ran merged = merge("/dev/zero");
  EXPECT_EQ(merged.status, 2);
  EXPECT_THAT(merged.text, HasSubstr("/dev/zero: is a device, and not a sweep's results"));
}

TEST_F(Sweep, RunsUnderGnuParallel) {
  if (run("parallel --version").status != 0) GTEST_SKIP() << "GNU parallel is not installed";
  const Ran r = run("parallel -j2 --will-cite " + program + " whatif " + fabric + " " + args +
                    "--shard {}/3 --results " + dir.path() + "/p{}.jsonl ::: 1 2 3");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_EQ(merge(dir.path() + "/p?.jsonl").text, "4 of 4 tasks\n");
}

TEST_F(Sweep, RunsUnderMpirun) {
  if (run("mpirun --version").status != 0) GTEST_SKIP() << "mpirun is not installed";
  const Ran r = run("mpirun --allow-run-as-root --oversubscribe -n 3 sh -c '" + program +
                    " whatif " + fabric + " " + args + "--shard auto --results " + dir.path() +
                    "/m$OMPI_COMM_WORLD_RANK.jsonl'");
  EXPECT_EQ(r.status, 0) << r.text;
  EXPECT_EQ(merge(dir.path() + "/m?.jsonl").text, "4 of 4 tasks\n");
}

}  // namespace
}  // namespace lldp::lab::whatif
