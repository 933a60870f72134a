// SPDX-License-Identifier: Apache-2.0
#include "lab/report/fabric_picture.hpp"

#include <gmock/gmock.h>

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
  const std::string svg = fabric_picture(*fabric, {.failed = {9}, .cycle = {10, 11}});
  for (const char* row : {"level 2", "level 1", "hosts"})
    EXPECT_THAT(svg, HasSubstr(std::string(">") + row + "</text>"));
  EXPECT_EQ(count(svg, "<line"), fabric->links.size());
  EXPECT_EQ(count(svg, "<circle"), 6);
  EXPECT_EQ(count(svg, "class=\"failed\""), 1);
  EXPECT_EQ(count(svg, "class=\"cycle\""), 2);
  EXPECT_THAT(svg, HasSubstr(">spine1</text>"));
}

TEST(FabricPicture, OfAFlatFabricIsARingWithoutHosts) {
  const auto fabric = fcplus({.switches = 40, .ports = 10});
  const std::string svg = fabric_picture(*fabric);
  EXPECT_EQ(count(svg, "<line"), 200);
  EXPECT_EQ(count(svg, "class=\"host\" x"), 0);
  EXPECT_THAT(svg, HasSubstr("(layer 1)"));
}

TEST(FabricPicture, HasALineForEachDirectionWhereAScriptAsksForIt) {
  const auto fabric = clos({.switches = {4, 2}, .pods = {}, .hosts = 8});
  const std::string svg = fabric_picture(*fabric, {.failed = {9}, .halves = true});
  EXPECT_EQ(count(svg, "<line id=\"a"), 2 * fabric->links.size());
  EXPECT_EQ(count(svg, "class=\"failed\""), 2);
  EXPECT_EQ(count(svg, " id=\"n"), fabric->nodes.size());
  EXPECT_THAT(svg, HasSubstr("<line id=\"a0\""));
}

TEST(FabricPicture, EscapesNames) {
  auto fabric = clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  fabric->nodes[0].name = "<script>\x1b";
  const std::string svg = fabric_picture(*fabric);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;script>\\x1b"));
}

}  // namespace
}  // namespace lldp::lab
