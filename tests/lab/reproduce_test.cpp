// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "lab/papers/claims.hpp"
#include "lab/papers/fcplus.hpp"
#include "lab/report/html.hpp"

namespace lldp::lab::fcplus_paper {
namespace {

using testing::HasSubstr;

std::vector<Cell> run(const Options& options, std::string* refused = nullptr) {
  std::vector<Cell> cells;
  reproduce(
      options, [&](const Cell& c) { cells.push_back(c); },
      [&](const std::string& why) {
        if (refused != nullptr) *refused = why;
      },
      [](const std::string&, std::size_t, std::size_t) {});
  return cells;
}

double of(const std::vector<Cell>& cells, std::string_view metric) {
  const auto at =
      std::find_if(cells.begin(), cells.end(), [&](const Cell& c) { return c.metric == metric; });
  return at == cells.end() ? -1 : at->ours;
}

TEST(Reproduce, FcHasThePublishedPaths) {
  const auto cells = run({.table = 1, .switches = 200, .quick = true, .threads = 2});
  ASSERT_EQ(cells.size(), 2);
  EXPECT_STREQ(cells[0].verdict(), "match");
  EXPECT_STREQ(cells[1].verdict(), "match");
  EXPECT_EQ(cells[0].row.k, 4);
}

TEST(Reproduce, AnySizeCanBeAskedForAndHasNoPublishedValue) {
  const auto cells = run({.table = 6, .switches = 60, .quick = true, .threads = 2});
  ASSERT_EQ(cells.size(), 1);
  EXPECT_STREQ(cells[0].verdict(), "unpublished");
  EXPECT_GT(of(cells, "edge_disjoint"), 4);
  EXPECT_EQ(to_json_line(cells[0]).find("\"published\":null") != std::string::npos, true);
}

TEST(Reproduce, SaysWhatASizeDoesNotAllow) {
  std::string refused;
  EXPECT_TRUE(run({.table = 2, .switches = 101}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("100 or 104"));
}

TEST(Reproduce, SmallThroughputsAreInOrder) {
  const auto cells = run({.table = 8, .switches = 50, .quick = true, .threads = 2});
  ASSERT_EQ(cells.size(), 15);
  const auto near_worst = [&](std::string_view scheme) {
    for (const Cell& c : cells)
      if (c.row.scheme == scheme && c.metric == "throughput_near_worst") return c.ours;
    return -1.0;
  };
  EXPECT_GT(near_worst("FC+ (2L-32)"), near_worst("FC"));
  EXPECT_GT(near_worst("FC"), 0);
}

TEST(Cell, VerdictsKeepTheTolerance) {
  Cell c{.table = 1, .ours = 1.0, .published = 1.009, .tolerance = 0.01};
  EXPECT_STREQ(c.verdict(), "match");
  c.published = 1.02;
  EXPECT_STREQ(c.verdict(), "off");
  c.published = 0.5;
  EXPECT_STREQ(c.verdict(), "off");
  c.at_least = true;
  EXPECT_STREQ(c.verdict(), "match");
  c.published.reset();
  EXPECT_STREQ(c.verdict(), "unpublished");
}

TEST(Cell, IsALineOfJsonWithFixedNames) {
  const Cell c{.table = 3,
               .row = {.switches = 400, .s = 18, .k = 6, .v = 6, .scheme = "FC"},
               .metric = "N_P4",
               .ours = 6.09,
               .published = 6.08,
               .tolerance = 0.01};
  EXPECT_EQ(to_json_line(c),
            R"({"table":3,"row":{"switches":400,"s":18,"k":6,"v":6,"scheme":"FC"},)"
            R"("metric":"N_P4","ours":6.09,"published":6.08,"tolerance":0.01,"verdict":"match"})"
            "\n");
}

TEST(Html, DrawsEveryFigureAndEscapes) {
  const std::vector<Cell> cells = {{.figure = 4,
                                    .row = {.switches = 100, .scheme = "a<b"},
                                    .metric = "throughput_uniform",
                                    .ours = 1},
                                   {.figure = 4,
                                    .row = {.switches = 200, .scheme = "a<b"},
                                    .metric = "throughput_uniform",
                                    .ours = 2}};
  const std::string html = to_html(cells, "x");
  EXPECT_THAT(html, HasSubstr("<h2>Figure 4</h2>"));
  EXPECT_THAT(html, HasSubstr("a&lt;b</text>"));
  EXPECT_THAT(html, HasSubstr("<svg"));
}

TEST(Reproduce, WhatItsyClaimsHolds) {
  std::vector<Claim> claims;
  reproduce_itsy(
      {.quick = true}, [&](const Claim& c) { claims.push_back(c); }, [](double) {});
  ASSERT_EQ(claims.size(), 13);
  for (const Claim& c : claims) {
    if (c.metric != "detection_ratio")  // varies with the starts: a median over more is for users
      EXPECT_STRNE(c.verdict(), "off") << to_text_line(c);
    else
      EXPECT_GT(c.ours, 1);
  }
  EXPECT_THAT(to_json_line(claims[0]), HasSubstr("\"row\":{\"scenario\":\"64 ports"));
  EXPECT_THAT(to_html(claims, "ITSY", "x"), HasSubstr("<td>III-D, Figure 4</td>"));
}

}  // namespace
}  // namespace lldp::lab::fcplus_paper
