// SPDX-License-Identifier: Apache-2.0
#include "lab/report/fabric_picture.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "lab/topology/expanders.hpp"
#include "lab/topology/generators.hpp"

namespace lldp::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(FabricPicture, HasARowForEveryLevelAndEveryLinkOnce) {
  const auto fabric = clos({.switches = {4, 2}, .pods = {}, .hosts = 8});
  const std::string svg = fabric_picture(*fabric, {.failed = {9}, .cycle = {{10, 0}, {11, 1}}});
  for (const char* row : {"level 2", "level 1", "hosts"})
    EXPECT_THAT(svg, HasSubstr(std::string(">") + row + "</text>"));
  EXPECT_EQ(count(svg, "<line"), fabric->links.size() + 2);
  EXPECT_EQ(count(svg, "<circle"), 6);
  EXPECT_EQ(count(svg, "<line class=\"failed\""), 1);
  EXPECT_EQ(count(svg, "<line class=\"cycle\""), 2);
  EXPECT_THAT(svg, HasSubstr(">spine1</text>"));
}

TEST(FabricPicture, OfAFlatFabricIsARingWithoutHosts) {
  const auto fabric = fcplus({.switches = 40, .ports = 10});
  const std::string svg = fabric_picture(*fabric);
  EXPECT_EQ(count(svg, "<line"), 200);
  EXPECT_EQ(count(svg, "class=\"host\" x"), 0);
  EXPECT_THAT(svg, HasSubstr("(layer 1)"));
}

TEST(FabricPicture, LeadsACycleTheWayItGoes) {
  const auto fabric = clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  const std::string one = fabric_picture(*fabric, {.cycle = {{0, 0}}});
  const std::string other = fabric_picture(*fabric, {.cycle = {{0, 1}}});
  const auto tell = [&](std::size_t from) {
    const auto& ends = fabric->links[0].ends;
    const auto end = [&](std::size_t e) {
      return fabric->nodes[ends[e].node].name + ":" + ends[e].port;
    };
    return "<title>" + end(from) + " to " + end(1 - from) + ": in the cycle</title>";
  };
  EXPECT_THAT(one, HasSubstr(tell(0)));
  EXPECT_THAT(other, HasSubstr(tell(1)));
  EXPECT_THAT(one, HasSubstr("a cycle of buffers"));
  EXPECT_THAT(fabric_picture(*fabric), Not(HasSubstr("a cycle of buffers")));
  EXPECT_THAT(one, HasSubstr("<marker id=\"way\""));  // without it the arrows have no tips
  EXPECT_THAT(fabric_picture(*fabric), Not(HasSubstr("<marker")));
}

TEST(FabricPicture, TellsWhatIsInDoubtAndWhy) {
  const auto fabric = clos({.switches = {4, 2}, .pods = {}, .hosts = 8});
  const std::string svg = fabric_picture(
      *fabric, {.doubtful_links = {{0, "one <end>"}}, .doubtful_nodes = {{0, "does not answer"}}});
  EXPECT_EQ(count(svg, "<line class=\"doubtful\""), 1);
  EXPECT_EQ(count(svg, "<circle class=\"doubtful\""), 1);
  EXPECT_THAT(svg, HasSubstr(": one &lt;end&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr(": does not answer</title>"));
  EXPECT_THAT(svg, HasSubstr("dotted: in doubt"));
  EXPECT_THAT(svg, HasSubstr(">host1:eth0 - leaf1:swp1: one &lt;end&gt;</text>")) << "to be read";
  EXPECT_THAT(svg, HasSubstr(">" + fabric->nodes[0].name + ": does not answer</text>"));
}

TEST(FabricPicture, BreaksLongReasonsAndCountsThoseThatHaveNoRoom) {
  const auto fabric = clos({.switches = {4, 2}, .pods = {}, .hosts = 8});
  std::string why;
  for (int i = 0; i < 60; ++i) why += "word ";
  EXPECT_GE(count(fabric_picture(*fabric, {.doubtful_nodes = {{0, why}}}), ">    word"), 3);
  const auto large = clos({.switches = {100, 20}, .pods = {}, .hosts = 100});
  Marks marks;
  for (std::size_t n = 0; n < 25; ++n) marks.doubtful_nodes[n] = "silent";
  const std::string svg = fabric_picture(*large, marks);
  EXPECT_EQ(count(svg, ": silent</text>"), 20);
  EXPECT_THAT(svg, HasSubstr("... and 5 more"));
}

TEST(FabricPicture, OfALargeFabricHasWhatIsNearTheFinding) {
  const auto fabric = fat_tree(16);
  std::size_t core = 0;  // a link between switches
  while (fabric->nodes[fabric->links[core].ends[0].node].role == Role::kHost) ++core;
  const std::string svg = fabric_picture(*fabric, {.failed = {core}, .cycle = {{core + 1, 0}}});
  EXPECT_LE(count(svg, "<circle"), 60);
  EXPECT_EQ(count(svg, "class=\"host\""), 0);
  EXPECT_EQ(count(svg, "<line class=\"failed\""), 1);
  EXPECT_EQ(count(svg, "class=\"name\""), count(svg, "<circle"));
  EXPECT_THAT(svg, testing::ContainsRegex("level 3: [0-9]+ of 64</text>"));
  EXPECT_THAT(svg, HasSubstr("hosts: 0 of 1024</text>"));
  EXPECT_THAT(svg, HasSubstr(" of 1344 nodes are drawn"));
}

TEST(FabricPicture, DrawsALoopWithinOneDevice) {
  auto fabric = clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  fabric->links.push_back({.ends = {LinkEnd{0, "swp8"}, LinkEnd{0, "swp9"}}});
  EXPECT_EQ(count(fabric_picture(*fabric), "<path class=\"loop\""), 1);
}

TEST(FabricPicture, NamesEveryNodeOfUpToFiveHundred) {
  const auto rows = clos({.switches = {400, 100}, .pods = {}, .hosts = 400});
  const auto ring = jellyfish({.switches = 500, .ports = 8});
  EXPECT_EQ(count(fabric_picture(*rows), "<text class=\"name\""), 500);
  EXPECT_EQ(count(fabric_picture(*ring), "<text class=\"name\""), 500);
  EXPECT_THAT(fabric_picture(*rows), HasSubstr(">leaf400</text>"));
  EXPECT_THAT(fabric_picture(*rows), HasSubstr("rotate(-60.0)"));
}

TEST(FabricPicture, NamesWhatIsSetOffWhereThereIsNoRoomForAll) {
  const auto fabric = clos({.switches = {800, 20}, .pods = {}, .hosts = 800});
  const std::string name = ">" + fabric->nodes[6].name + "</text>";
  EXPECT_EQ(count(fabric_picture(*fabric), name), 0);
  EXPECT_EQ(count(fabric_picture(*fabric, {.doubtful_nodes = {{6, "x"}}}), name), 1);
}

TEST(FabricPicture, HasALineForEachDirectionWhereAScriptAsksForIt) {
  const auto fabric = clos({.switches = {4, 2}, .pods = {}, .hosts = 8});
  const std::string svg = fabric_picture(*fabric, {.failed = {9}, .halves = true});
  EXPECT_EQ(count(svg, "<line id=\"a"), 2 * fabric->links.size());
  EXPECT_EQ(count(svg, "class=\"failed\" x1"), 2);
  EXPECT_EQ(count(svg, " id=\"n"), fabric->nodes.size());
  EXPECT_THAT(svg, HasSubstr("<line id=\"a0\""));
}

/// How far from the upper edge that name's node is.
double top(const std::string& svg, const std::string& name) {
  const auto at = svg.find(">" + name + "</text>");
  const auto moved = svg.rfind("translate(", at);
  return std::strtod(svg.c_str() + svg.find(' ', moved), nullptr);
}

TEST(FabricPicture, HasRoomForLongNamesAndCutsLongerOnes) {
  auto fabric = clos({.switches = {40, 20}, .pods = {}, .hosts = 40});
  EXPECT_EQ(top(fabric_picture(*fabric), "spine1"), 70);
  for (Node& node : fabric->nodes) node.name += "-row-17-of-hall";
  const double y = top(fabric_picture(*fabric), "spine1-row-17-of-hall");
  EXPECT_GT(y, 21 * 6.2 * 0.86);  // aslant, upwards
  for (Node& node : fabric->nodes) node.name += "-3-of-a-very-large-data-centre-\xc3\xa9t\xc3\xa9";
  const std::string svg = fabric_picture(*fabric);
  EXPECT_LT(top(svg, "spine1-row-…centre-été"), y + 10);
  EXPECT_THAT(svg, HasSubstr(">spine1-row-…centre-été</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>spine1-row-17-of-hall-3-of-a-very"));
}

TEST(FabricPicture, RingHasRoomForLongNames) {
  auto fabric = jellyfish({.switches = 50, .ports = 8});
  const double before = top(fabric_picture(*fabric), fabric->nodes[0].name);
  for (Node& node : fabric->nodes) node.name += "-row-17-of-hall";
  EXPECT_GT(top(fabric_picture(*fabric), fabric->nodes[0].name), before + 50);
}

TEST(FabricPicture, EscapesNames) {
  auto fabric = clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  fabric->nodes[0].name = "<script>\x1b]]>\uffff";  // nor may XML have the end of it
  const std::string svg = fabric_picture(*fabric);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;\\x1b]]&gt;\\xef\\xbf\\xbf"));
}

}  // namespace
}  // namespace lldp::lab
