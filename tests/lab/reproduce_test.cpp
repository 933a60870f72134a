// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "lab/papers/claims.hpp"
#include "lab/papers/fcplus.hpp"
#include "lab/papers/statistics.hpp"
#include "lab/report/html.hpp"

namespace lldp::lab::fcplus_paper {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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
  EXPECT_THAT(html, HasSubstr("a&lt;b</span>"));
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("2 values; none of them is published"));
}

TEST(Html, SaysOfPacketsWhatIsNotHereOfPackets) {
  const auto said = [](std::string metric) {
    return to_html({{.table = 8, .row = {.scheme = "FC"}, .metric = std::move(metric), .ours = 1}},
                   "x");
  };
  EXPECT_THAT(said("all_to_all"), HasSubstr("Completion times of flows"));
  EXPECT_THAT(said("fct_p50_uniform_ms"), AllOf(Not(HasSubstr("Completion times of flows")),
                                                HasSubstr("neither the size of a flow")));
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

std::vector<Claim> claims_of(FindClaims find, const ClaimOptions& options) {
  std::vector<Claim> claims;
  find(
      options, [&](const Claim& c) { claims.push_back(c); }, [](double) {});
  return claims;
}

/// What is cheap of PortFC's; `./run reproduce` has the rest.
TEST(Reproduce, WhatPortFcClaimsHolds) {
  for (const int figure : {4, 5, 7, 15, 16}) {
    const auto claims =
        claims_of(reproduce_portfc, {.quick = true, .threads = 2, .figure = figure});
    EXPECT_FALSE(claims.empty()) << figure;
    for (const Claim& c : claims) {
      EXPECT_STRNE(c.verdict(), "off") << to_text_line(c);
      EXPECT_TRUE(c.place.ends_with(" Figure " + std::to_string(figure))) << c.place;
    }
  }
}

TEST(Reproduce, IsTheSameOnAnyNumberOfThreads) {
  std::string lines[2];
  for (const std::size_t threads : {1U, 2U})
    for (const Claim& c :
         claims_of(reproduce_portfc, {.quick = true, .threads = threads, .figure = 15}))
      lines[threads - 1] += to_json_line(c);
  EXPECT_EQ(lines[0], lines[1]);
}

/// With the rules nothing deadlocks and nothing is thrown away; with a watchdog it comes back.
TEST(Reproduce, WhatTheProposalClaimsHolds) {
  const auto claims = claims_of(reproduce_dot1, {.quick = true, .threads = 2, .sets = 2});
  std::size_t held = 0;
  for (const Claim& c : claims) {
    if (c.scenario.starts_with("2 sets") && c.place == "Reproduce") continue;  // two prove nothing
    EXPECT_STRNE(c.verdict(), "off") << to_text_line(c);
    held += c.published ? 1U : 0U;
  }
  EXPECT_GE(held, 20U);
}

TEST(Claim, MayHaveNoUpperLimit) {
  const Claim c{"V", "a", "b", 5, 2, 1, kNoLimit};
  EXPECT_STREQ(c.verdict(), "match");
  EXPECT_EQ(to_json_line(c), R"({"place":"V","row":{"scenario":"a"},"metric":"b","ours":5.0,)"
                             R"("published":2.0,"tolerance":0.5,"accepted":[1.0,null],)"
                             R"("verdict":"match"})"
                             "\n");
}

TEST(Statistics, PercentilesAreValuesThatThereAre) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(percentile({3, 1, 2}, 0.99), 3);
  EXPECT_EQ(percentile({3, 1, 2}, 0), 1);
  EXPECT_EQ(mean_of({1, 2, 6}), 3);
}

}  // namespace
}  // namespace lldp::lab::fcplus_paper
