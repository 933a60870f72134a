// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/fabric.hpp"

#include <gmock/gmock.h>

#include <map>

#include "lab/topology/dot.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/generators.hpp"
#include "lab/topology/json.hpp"

namespace lldp::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// How many nodes stand on each level; 255 for none.
std::map<int, std::size_t> census(const Fabric& fabric) {
  std::map<int, std::size_t> count;
  for (const Node& n : fabric.nodes) ++count[n.level ? n.level->value() : 255];
  return count;
}

std::string refusal(const Result<Fabric>& r) { return r ? "" : to_string(r.error()); }

class FatTree : public testing::TestWithParam<std::size_t> {};
TEST_P(FatTree, HasTheTextbooksCounts) {
  const std::size_t k = GetParam();
  const auto fabric = fat_tree(k);
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_THAT(census(*fabric), ElementsAre(Pair(0, k * k * k / 4), Pair(1, k * k / 2),
                                           Pair(2, k * k / 2), Pair(3, k * k / 4)));
  EXPECT_EQ(fabric->links.size(), 3 * k * k * k / 4);
  const auto links_of = adjacencies(*fabric);
  for (std::size_t i = 0; i < fabric->nodes.size(); ++i)
    EXPECT_EQ(links_of[i].size(), fabric->nodes[i].role == Role::kHost ? 1 : k);
}
INSTANTIATE_TEST_SUITE_P(Sizes, FatTree, testing::Values(2, 4, 8, 16),
                         [](const auto& k) { return "K" + std::to_string(k.param); });

TEST(FatTree, SaysWhatCannotBeBuilt) {
  EXPECT_EQ(refusal(fat_tree(5)), "fattree: k = 5: give an even number from 2 to 64");
  EXPECT_EQ(refusal(fat_tree(0)), "fattree: k = 0: give an even number from 2 to 64");
}

TEST(Clos, CablesEveryPairOfAPodAndDualHomesHosts) {
  const auto fabric = clos({.switches = {16, 8, 4}, .pods = {4}, .hosts = 32, .links_per_host = 2});
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_THAT(census(*fabric), ElementsAre(Pair(0, 32), Pair(1, 16), Pair(2, 8), Pair(3, 4)));
  EXPECT_EQ(fabric->links.size(), 32 * 2 + 16 * 2 + 8 * 4U);
  EXPECT_EQ(fabric->nodes[0].name, "spine1");
  EXPECT_EQ(fabric->nodes.back().name, "host32");
}

TEST(Clos, BuildsTwoToFiveLevels) {
  EXPECT_THAT(census(*clos({.switches = {4, 2}, .pods = {}, .hosts = 8})),
              ElementsAre(Pair(0, 8), Pair(1, 4), Pair(2, 2)));
  const auto five = clos({.switches = {16, 16, 8, 4, 2}, .pods = {8, 4, 2}, .hosts = 16});
  ASSERT_TRUE(five) << to_string(five.error());
  EXPECT_THAT(census(*five), ElementsAre(Pair(0, 16), Pair(1, 16), Pair(2, 16), Pair(3, 8),
                                         Pair(4, 4), Pair(5, 2)));
}

struct Refusal {
  const char* name = "";
  ClosShape shape{};
  const char* error = "";
  friend void PrintTo(const Refusal& r, std::ostream* os) { *os << r.name; }
};
class ClosRefusal : public testing::TestWithParam<Refusal> {};
TEST_P(ClosRefusal, SaysWhatCannotBeBuilt) {
  EXPECT_EQ(refusal(clos(GetParam().shape)), GetParam().error);
}
const Refusal kRefusals[] = {
    {"OneLevel", {.switches = {4}, .pods = {}}, "clos: 1 switch levels: give 2 to 5"},
    {"PodsMissing",
     {.switches = {4, 4, 2}, .pods = {}},
     "clos: 3 switch levels need 1 pod counts, not 0"},
    {"UnevenPods",
     {.switches = {4, 3, 2}, .pods = {2}},
     "clos: 3 switches of level 2 do not fill 2 pods evenly"},
    {"PodsDoNotNest",
     {.switches = {6, 6, 2, 2}, .pods = {3, 2}},
     "clos: 3 pods of level 2 do not fill 2 of level 3 evenly"},
    {"NoSwitches", {.switches = {0, 2}, .pods = {}}, "clos: 0 switches on a level"},
    {"NoPods", {.switches = {4, 4, 2}, .pods = {0}}, "clos: 0 pods"},
    {"UnevenHosts", {.hosts = 7}, "clos: 7 hosts do not spread evenly over 4 leaves"},
    {"TooManyHostLinks",
     {.links_per_host = 3},
     "clos: hosts of 3 links do not share the 2 leaves of a pod evenly"},
    {"TooManyLinks",
     {.switches = {2000, 2000}, .pods = {}, .hosts = 2000},
     "clos: 4002000 links: at most 1000000"},
};
INSTANTIATE_TEST_SUITE_P(Shapes, ClosRefusal, testing::ValuesIn(kRefusals),
                         [](const auto& c) { return c.param.name; });

TEST(Fabric, LevelIsTheDistanceToTheNearestHost) {
  // h - a - b - c; e is alone
  const auto fabric = complete({.nodes = {{.name = "h", .role = Role::kHost},
                                          {.name = "a"},
                                          {.name = "b"},
                                          {.name = "c"},
                                          {.name = "e"}},
                                .links = {{.ends = {{{0, "1"}, {1, "1"}}}},
                                          {.ends = {{{1, "2"}, {2, "1"}}}},
                                          {.ends = {{{2, "2"}, {3, "1"}}}}}});
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_THAT(
      distances_to_hosts(*fabric),
      ElementsAre(Level::of<0>(), Level::of<1>(), Level::of<2>(), Level::of<3>(), std::nullopt));
  EXPECT_EQ(true_port_type(*fabric, fabric->links[0], 0), PortType::kUnmarked);
  EXPECT_EQ(true_port_type(*fabric, fabric->links[0], 1), PortType::kDownlink);
  EXPECT_EQ(true_port_type(*fabric, fabric->links[1], 0), PortType::kUplink);
}

TEST(FabricJson, RoundTrips) {
  const auto fabric = clos({.quality = {.rate_bps = 25'000'000'000, .delay_ns = 700}});
  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric_from_json(to_json(*fabric)), fabric);
}

TEST(FabricJson, ReadsWhatNetworkxMakesOfIt) {
  // Numbers as names, source and target exchanged, `edges` for `links`, nothing optional.
  const auto fabric = fabric_from_json(R"({"directed": false, "multigraph": false, "graph": {},
    "nodes": [{"id": 1, "level": 0}, {"id": "leaf"}],
    "edges": [{"source": "leaf", "target": 1, "ports": {"1": "eth0", "leaf": "swp1"}}]})");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->nodes[0].role, Role::kHost);
  EXPECT_EQ(fabric->nodes[1].level, Level::of<1>());
  EXPECT_EQ(fabric->links[0].ends[1], (LinkEnd{0, "eth0"}));
}

struct BadFabric {
  const char* name = "";
  const char* text = "";
  const char* error = "";
  friend void PrintTo(const BadFabric& b, std::ostream* os) { *os << b.name; }
};
class BadFabricJson : public testing::TestWithParam<BadFabric> {};
TEST_P(BadFabricJson, IsRefusedInOneLine) {
  EXPECT_EQ(refusal(fabric_from_json(GetParam().text)), GetParam().error);
}
const BadFabric kBadFabrics[] = {
    {"NotJson", "digraph", "line 1: not JSON"},
    {"BadRole", R"({"nodes":[{"id":"a","role":"hub"}],"links":[]})",
     "a: role is not host or switch"},
    {"BadLevel", R"({"nodes":[{"id":"a","level":-1}],"links":[]})",
     "a: level is not a whole number from 0 to 254"},
    {"HighHost", R"({"nodes":[{"id":"a","role":"host","level":1}],"links":[]})",
     "a: a host on level 1"},
    {"LowSwitch", R"({"nodes":[{"id":"a","role":"switch","level":0}],"links":[]})",
     "a: a switch on level 0, where only hosts are"},
    {"LoopOnOnePort",
     R"({"nodes":[{"id":"a"}],"links":[{"source":"a","target":"a","ports":{"a":["1","1"]}}]})",
     "links[0]: a:1 has a link already (links[0]): give each its own port"},
    {"BadRate",
     R"({"nodes":[{"id":"a"},{"id":"b"}],
        "links":[{"source":"a","target":"b","ports":{"a":"1","b":"1"},"rate_bps":1.5}]})",
     "links[0]: rate_bps is not a whole number"},
    {"BadChassis", R"({"nodes":[{"id":"a","chassis":"02:00"}],"links":[]})",
     "a: chassis is not a MAC address"},
    {"ControlCharacters", "{\"nodes\":[{\"id\":\"a\\u001b[2J\",\"level\":255}],\"links\":[]}",
     "a\\x1b[2J: level is not a whole number from 0 to 254"},
};
INSTANTIATE_TEST_SUITE_P(Texts, BadFabricJson, testing::ValuesIn(kBadFabrics),
                         [](const auto& c) { return c.param.name; });

TEST(FabricJson, KeepsALoopWithinOneDeviceAndAliases) {
  auto fabric = clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  ASSERT_TRUE(fabric);
  fabric->links[0].ends[1].aliases = {"etp1", "02:00:00:00:00:aa"};
  fabric->links.push_back({.ends = {LinkEnd{0, "x1"}, LinkEnd{0, "x2"}}});
  fabric->links.back().ends[1].order = Order::kUp;
  fabric->links.back().ends[1].aliases = {"loop"};
  const auto whole = complete(std::move(*fabric));
  ASSERT_TRUE(whole) << to_string(whole.error());
  EXPECT_EQ(fabric_from_json(to_json(*whole)), whole);
}

TEST(FabricDot, ReadsALoopWithinOneDevice) {
  const auto fabric = fabric_from_dot("graph { h:1 -- a:1; a:2 -- a:3; h [role=host] }");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->nodes[1].level, Level::of<1>());
  EXPECT_EQ(true_order(*fabric, fabric->links[1], 0), Order::kUnknown);
  EXPECT_EQ(true_port_type(*fabric, fabric->links[1], 0), PortType::kUnmarked);
}

TEST(FabricDot, RoundTrips) {
  auto fabric = clos({.quality = {.rate_bps = 25'000'000'000, .delay_ns = 700}});
  ASSERT_TRUE(fabric);
  fabric->nodes[0].name = "a \"quoted\\\" name";
  EXPECT_EQ(fabric_from_dot(to_dot(*fabric)), fabric);
}

TEST(FabricDot, HasNothingThatATerminalObeys) {
  auto fabric = clos({});
  ASSERT_TRUE(fabric);
  fabric->nodes[0].name = "a\x1b[31m\xc2\x9b\xe2\x80\xae\n\\x41";
  fabric->links[0].ends[0].port = "\xff";
  const std::string dot = to_dot(*fabric);
  EXPECT_THAT(dot, HasSubstr("\"a\\x1b[31m\\xc2\\x9b\\xe2\\x80\\xae\\x0a\\\\x41\""));
  EXPECT_EQ(fabric_from_dot(dot), fabric);
}

TEST(FabricDot, KeepsLayersAndOrdersOfEachEnd) {
  auto fabric = fcplus({.switches = 20, .ports = 6});
  ASSERT_TRUE(fabric);
  fabric->links[0].ends[1].order = Order::kUp;
  fabric->links[1].ends[0].layer.reset();
  EXPECT_EQ(fabric_from_dot(to_dot(*fabric)), fabric);
}

TEST(FabricDot, ReadsPtmFilesAndFindsTheLevels) {
  const auto fabric = fabric_from_dot(R"(# cabling
    graph "lab" {
      rankdir=LR; node [shape=box]
      subgraph cluster0 { server [function="host"] }
      "server":"eth0" -- "leaf1":"swp1"   // downstairs
      "leaf1":"swp2" -- "spine1":"swp3":n [delay_ns=500] /* up */
    })");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->name, "lab");
  EXPECT_THAT(census(*fabric), ElementsAre(Pair(0, 1), Pair(1, 1), Pair(2, 1)));
  EXPECT_EQ(fabric->links[1].ends[1], (LinkEnd{2, "swp3"}));
  EXPECT_EQ(fabric->links[1].delay_ns, 500U);
}

class BadFabricDot : public testing::TestWithParam<BadFabric> {};
TEST_P(BadFabricDot, IsRefusedInOneLine) {
  EXPECT_EQ(refusal(fabric_from_dot(GetParam().text)), GetParam().error);
}
const BadFabric kBadDots[] = {
    {"Open", "graph {\n", "line 2: `}` is missing"},
    {"BadRole", "graph { a [role=hub] }", "a: role is not host or switch"},
    {"BadLevel", "graph { a [level=x] }", "a: level is not a whole number from 0 to 254"},
    {"BadRate", "graph { a:1 -- b:1\n[rate_bps=fast] }", "line 1: rate_bps is not a whole number"},
    {"OneLayer", "graph { a:1 -- b:1 [layers=3] }",
     "line 1: layers is not one of each end, as 1:2"},
    {"NoLayers", "graph { a:1 -- b:1 [layers=\":\"] }",
     "line 1: layers is not one of each end, as 1:2"},
    {"NoOrders", "graph { a:1 -- b:1 [orders=\":\"] }",
     "line 1: orders is not one of each end, as 1:2"},
    {"BadLayer", "graph { a:1 -- b:1 [layers=\"3:x\"] }",
     "line 1: the layer on b is not a whole number from 0 to 31"},
    {"BadOrder", "graph { a:1 -- b:1 [orders=\"up:over\"] }",
     "line 1: the order on b is not up, down, shut or unknown"},
    {"Twice", "graph { a:1 -- b:1;\na:1 -- c:1 }",
     "line 2: a:1 has a link already (line 1): give each its own port"},
};
INSTANTIATE_TEST_SUITE_P(Texts, BadFabricDot, testing::ValuesIn(kBadDots),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace lldp::lab
