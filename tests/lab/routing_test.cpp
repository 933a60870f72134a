// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "lab/routing/cases.hpp"
#include "lab/routing/local_reroute.hpp"
#include "lab/topology/generators.hpp"

namespace lldp::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const FlowPath& flow_of(const NamedCase& s, std::string_view name) {
  for (const FlowPath& f : s.flows)
    if (*f.name == name) return f;
  throw std::out_of_range("no such flow");
}

std::vector<std::string> names(const NamedCase& s, const Path& path,
                               const std::vector<std::size_t>& at) {
  std::vector<std::string> out;
  for (const std::size_t i : at) out.push_back(s.fabric.nodes[path.nodes[i]].name);
  return out;
}

TEST(LayeredCase, TurnsWhereItsFlowsSay) {
  const auto s = scenario("layered");
  ASSERT_TRUE(s) << to_string(s.error());
  const auto turns = [&](std::string_view flow) {
    const auto path = path_of(s->fabric, s->failed, flow_of(*s, flow));
    EXPECT_TRUE(path) << to_string(path.error());
    return turns_of(s->fabric, *path).size();
  };
  EXPECT_EQ(turns("straight"), 0U);
  EXPECT_EQ(turns("once"), 1U);
  EXPECT_EQ(turns("inside"), 1U);
  EXPECT_EQ(turns("twice"), 2U);
}

TEST(LaidPath, SaysWhichLinkIsMissing) {
  const auto s = scenario("layered");
  ASSERT_TRUE(s);
  FlowPath flow = flow_of(*s, "once");
  flow.via.erase(flow.via.begin());
  const auto path = path_of(s->fabric, s->failed, flow);
  ASSERT_FALSE(path);
  EXPECT_THAT(path.error().what, testing::StartsWith("no link from "));
}

struct Published {
  const char* name = "";
  const char* scenario = "";
  const char* flow = "";
  const char* before = "";
  const char* after = "";
  std::vector<std::string> turns{};
  friend void PrintTo(const Published& c, std::ostream* os) { *os << c.name; }
};
class LocalReroute : public testing::TestWithParam<Published> {};
TEST_P(LocalReroute, GivesThePublishedPath) {
  const auto s = scenario(GetParam().scenario);
  ASSERT_TRUE(s) << to_string(s.error());
  const FlowPath& flow = flow_of(*s, GetParam().flow);
  const auto before = updown_path(s->fabric, flow);
  ASSERT_TRUE(before) << to_string(before.error());
  EXPECT_EQ(switches_of(s->fabric, *before), GetParam().before);
  EXPECT_THAT(turns_of(s->fabric, *before), IsEmpty());
  const auto after = local_reroute(s->fabric, s->failed, flow);
  ASSERT_TRUE(after) << to_string(after.error());
  EXPECT_EQ(switches_of(s->fabric, *after), GetParam().after);
  EXPECT_EQ(names(*s, *after, turns_of(s->fabric, *after)), GetParam().turns);
}
const Published kPublished[] = {
    {"Case1X",
     "case1",
     "X",
     "Leaf2, Spine1, Leaf4",
     "Leaf2, Spine1, Leaf3, Spine2, Leaf4",
     {"Leaf3"}},
    {"Case1Y",
     "case1",
     "Y",
     "Leaf3, Spine2, Leaf1",
     "Leaf3, Spine2, Leaf2, Spine1, Leaf1",
     {"Leaf2"}},
    {"Case1Straight", "case1", "straight", "Leaf1, Spine1, Leaf3", "Leaf1, Spine1, Leaf3", {}},
    {"Case2X",
     "case2",
     "X",
     "A1, AGG2, Spine1, AGG3, B1",
     "A1, AGG2, Spine1, AGG3, Spine2, AGG4, B1",
     {"AGG3"}},
    {"Case2Y",
     "case2",
     "Y",
     "B2, AGG3, Spine2, AGG2, A2",
     "B2, AGG3, Spine2, AGG2, Spine1, AGG1, A2",
     {"AGG2"}},
    {"Case2Straight",
     "case2",
     "straight",
     "A2, AGG1, Spine1, AGG3, B2",
     "A2, AGG1, Spine1, AGG3, B2",
     {}},
    {"DualTorX", "dualtor", "X", "ToR3, T1a, ToR2", "ToR3, T1a, ToR2, T1b, ToR1", {"ToR2"}},
    {"DualTorY", "dualtor", "Y", "ToR4, T1b, ToR1", "ToR4, T1b, ToR1, T1a, ToR2", {"ToR1"}},
    {"Twice",
     "twice",
     "XX",
     "Leaf1, Spine1, Leaf4",
     "Leaf1, Spine1, Leaf2, Spine2, Leaf3, Spine3, Leaf4",
     {"Leaf2", "Leaf3"}},
};
INSTANTIATE_TEST_SUITE_P(Cases, LocalReroute, testing::ValuesIn(kPublished),
                         [](const auto& c) { return c.param.name; });

TEST(LocalReroute, TakesWhatIsLeftWithoutAHint) {
  auto s = *scenario("case1");
  FlowPath flow = flow_of(s, "X");
  flow.via.clear();  // the first spine is taken all the same: it comes first
  const auto path = local_reroute(s.fabric, s.failed, flow);
  ASSERT_TRUE(path);
  EXPECT_EQ(switches_of(s.fabric, *path), "Leaf2, Spine1, Leaf3, Spine2, Leaf4");
}

TEST(LocalReroute, SaysWhereTheWayEnds) {
  auto s = *scenario("case1");
  s.failed = *failed_links(s.fabric, std::vector<std::string>{"Spine1-Leaf4", "Spine2-Leaf4"});
  const auto path = local_reroute(s.fabric, s.failed, flow_of(s, "X"));
  ASSERT_FALSE(path);
  EXPECT_EQ(to_string(path.error()), "host2 to host4: no way on from Spine1");
}

TEST(LocalReroute, NeverComesBackToItsSource) {
  // From leaf1 up to spine1, whose link to leaf3 is down: leaf1 comes before leaf2, and can reach
  // leaf3 over spine2, but the packet has been there.
  const auto fabric = clos({.switches = {3, 2}, .pods = {}, .hosts = 3});
  ASSERT_TRUE(fabric);
  const auto flow = flow_between(*fabric, "f", "leaf1-spine1-leaf3");
  const std::string cut[] = {"spine1-leaf3"};
  ASSERT_TRUE(flow);
  const auto path = local_reroute(*fabric, *failed_links(*fabric, cut), *flow);
  ASSERT_TRUE(path) << to_string(path.error());
  EXPECT_EQ(switches_of(*fabric, *path), "leaf1, spine1, leaf2, spine2, leaf3");
}

TEST(UpdownPath, LeadsThroughNoHostOfTwoLinks) {
  Fabric f;
  f.nodes = {{.name = "leaf1"},
             {.name = "leaf2"},
             {.name = "both", .role = Role::kHost},
             {.name = "a", .role = Role::kHost},
             {.name = "b", .role = Role::kHost}};
  const auto cable = [&f](std::size_t a, std::size_t b) {
    const std::string port = "p" + std::to_string(f.links.size());
    f.links.push_back({.ends = {LinkEnd{a, port}, LinkEnd{b, port}}});
  };
  cable(2, 0);
  cable(2, 1);
  cable(3, 0);
  cable(4, 1);
  const auto fabric = complete(f);
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_FALSE(updown_path(*fabric, *flow_between(*fabric, "f", "a-b")));
  EXPECT_TRUE(updown_path(*fabric, *flow_between(*fabric, "f", "a-both")));
}

TEST(UpdownPath, IsShortestAndTurnsNowhereBetweenAnyTwoHosts) {
  const auto fabric = fat_tree(4);
  ASSERT_TRUE(fabric);
  const auto distance = [&](std::size_t a, std::size_t b) {  // of hosts, by the textbook
    const std::size_t first = fabric->nodes.size() - 16;
    a -= first, b -= first;
    return a / 2 == b / 2 ? 2U : a / 4 == b / 4 ? 4U : 6U;
  };
  for (std::size_t a = fabric->nodes.size() - 16; a < fabric->nodes.size(); ++a)
    for (std::size_t b = fabric->nodes.size() - 16; b < fabric->nodes.size(); ++b) {
      if (a == b) continue;
      const auto path = updown_path(*fabric, {.from = a, .to = b});
      ASSERT_TRUE(path) << to_string(path.error());
      EXPECT_EQ(path->links.size(), distance(a, b));
      EXPECT_THAT(turns_of(*fabric, *path), IsEmpty());
    }
}

/// Also where other links fail in between.
TEST(Ways, AreThoseOfEveryFlowByItself) {
  const auto fabric = fat_tree(4);
  ASSERT_TRUE(fabric);
  Ways ways(*fabric);
  const std::size_t first = fabric->nodes.size() - 16;
  for (const char* cut : {"core1-agg1", "agg1-edge1"}) {
    const auto failed = failed_links(*fabric, std::vector{std::string(cut)});
    ASSERT_TRUE(failed);
    for (std::size_t i = 0; i < 256; ++i) {
      const FlowPath flow{.from = first + i / 16, .to = first + i % 16, .hash = i + 1};
      if (flow.from == flow.to) continue;
      EXPECT_EQ(ways.path_of(*failed, flow), local_reroute(*fabric, *failed, flow)) << i;
    }
  }
}

TEST(UpdownPath, GoesByTheOrderOfChassisOverACrosslink) {
  // leaf1 - leaf2 crosslinked; leaf2 stands above leaf1 by its chassis ID.
  Fabric f{.name = "pair"};
  f.nodes = {{.name = "leaf1"},
             {.name = "leaf2"},
             {.name = "h1", .role = Role::kHost},
             {.name = "h2", .role = Role::kHost}};
  f.links = {{.ends = {LinkEnd{2, "eth0"}, LinkEnd{0, "swp1"}}},
             {.ends = {LinkEnd{3, "eth0"}, LinkEnd{1, "swp1"}}},
             {.ends = {LinkEnd{0, "swp2"}, LinkEnd{1, "swp2"}}}};
  const auto fabric = complete(f);
  ASSERT_TRUE(fabric);
  const auto path = updown_path(*fabric, {.from = 2, .to = 3});
  ASSERT_TRUE(path) << to_string(path.error());
  EXPECT_THAT(path->nodes, ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(turns_of(*fabric, *path), IsEmpty());
}

TEST(Names, AreRefusedWhenTheFabricHasNone) {
  const auto s = *scenario("case1");
  const auto refusal = [&](const char* pair) {
    const auto r = failed_links(s.fabric, std::vector<std::string>{pair});
    return r ? "" : to_string(r.error());
  };
  EXPECT_EQ(refusal("Spine1-Leaf9"), "Spine1-Leaf9: the fabric has no `Leaf9`");
  EXPECT_EQ(refusal("Leaf1-Leaf2"), "Leaf1-Leaf2: the fabric has no such link");
  EXPECT_EQ(refusal("Leaf1"), "Leaf1: name two nodes, as `Spine1-Leaf4`");
  EXPECT_EQ(to_string(flow_between(s.fabric, "X", "host1-host1").error()),
            "host1-host1: begins and ends at one node");
  EXPECT_EQ(to_string(scenario("case3").error()),
            "case3: no such case: there are case1, case2, dualtor, twice, layered");
}

}  // namespace
}  // namespace lldp::lab
