// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "lab/report/html.hpp"
#include "sim/papers/fcplus.hpp"
#include "sim/papers/finding.hpp"
#include "sim/papers/measure.hpp"
#include "sim/papers/portfc_runs.hpp"
#include "sim/papers/statistics.hpp"

namespace lldp::lab::fcplus_paper {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<TableCell> run(const FcplusOptions& options, std::string* refused = nullptr) {
  std::vector<TableCell> cells;
  reproduce(
      options, [&](const TableCell& c) { cells.push_back(c); },
      [&](const std::string& why) {
        if (refused != nullptr) *refused = why;
      },
      [](const std::string&, std::size_t, std::size_t) {});
  return cells;
}

double of(const std::vector<TableCell>& cells, std::string_view metric) {
  const auto at = std::find_if(cells.begin(), cells.end(),
                               [&](const TableCell& c) { return c.metric == metric; });
  return at == cells.end() ? -1 : at->ours;
}

TEST(Reproduce, FcHasThePublishedPaths) {
  const auto cells = run({.table = 1, .switches = 200, .quick = true, .threads = 2});
  ASSERT_EQ(cells.size(), 2);
  for (const TableCell& c : cells) EXPECT_EQ(finding_of(c).verdict(), Verdict::kMatch);
  EXPECT_EQ(cells[0].row.k, 4);
}

TEST(Reproduce, AnySizeCanBeAskedForAndHasNoPublishedValue) {
  const auto cells = run({.table = 6, .switches = 60, .quick = true, .threads = 2});
  ASSERT_EQ(cells.size(), 1);
  EXPECT_EQ(finding_of(cells[0]).verdict(), Verdict::kNone);
  EXPECT_GT(of(cells, "edge_disjoint"), 4);
  EXPECT_THAT(to_json_line("fcplus", finding_of(cells[0])), HasSubstr("\"published\":null"));
}

TEST(Reproduce, SaysWhatASizeDoesNotAllow) {
  std::string refused;
  EXPECT_TRUE(run({.table = 2, .switches = 101}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("100 or 104"));
}

TEST(Reproduce, SmallThroughputsAreInOrder) {
  const auto cells = run({.table = 8, .switches = 50, .quick = true, .threads = 2});
  ASSERT_EQ(cells.size(), 18);
  const auto near_worst = [&](std::string_view scheme) {
    for (const TableCell& c : cells)
      if (c.row.scheme == scheme && c.metric == "throughput_near_worst") return c.ours;
    return -1.0;
  };
  EXPECT_GT(near_worst("FC+ (2L-32)"), near_worst("FC"));
  EXPECT_GT(near_worst("FC"), 0);
}

/// Chosen by Table VII at 22 ports, where the paper prints no layers.
TEST(Reproduce, FcHasThePathsOfTableVII) {
  const auto cells = run({.table = 7, .quick = true, .threads = 2});
  ASSERT_EQ(cells.size(), 2);
  for (const TableCell& c : cells) EXPECT_EQ(finding_of(c).verdict(), Verdict::kMatch);
  const auto layers = [](std::size_t n, std::size_t s) {
    return fc_layers({.switches = n, .ports = s})->size() + 1;
  };
  EXPECT_EQ(layers(1000, 22), 5U);
  EXPECT_EQ(layers(2000, 22), 10U);
  EXPECT_EQ(layers(300, 18), 4U);
  EXPECT_EQ(layers(400, 18), 5U);
}

Finding with(double ours, Published published) {
  return {.place = "V", .scenario = "a", .metric = "b", .ours = ours, .published = published};
}

TEST(Finding, MatchesWithinTheToleranceOnBothSides) {
  for (const double ours : {0.9, 1.1})
    EXPECT_EQ(with(ours * 5, {5, 0.1001}).verdict(), Verdict::kMatch) << ours;
  for (const double ours : {0.89, 1.11})
    EXPECT_EQ(with(ours * 5, {5, 0.1}).verdict(), Verdict::kOff) << ours;
  EXPECT_EQ(with(0, {0, 0.1}).verdict(), Verdict::kMatch);
  EXPECT_EQ(with(0.001, {0, 0.1}).verdict(), Verdict::kOff);
}

/// What is missed by far is no match because it has the right sign.
TEST(Finding, ARatioOnTheRightSideOfOneHasTheDirectionOnly) {
  const Published less{0.308, 0.1, true};
  EXPECT_EQ(with(0.63, less).verdict(), Verdict::kDirectionOnly);
  EXPECT_EQ(with(1.0, less).verdict(), Verdict::kOff);
  EXPECT_EQ(with(1.2, less).verdict(), Verdict::kOff);
  const Published more{8, 0.1, true};
  EXPECT_EQ(with(1.2, more).verdict(), Verdict::kDirectionOnly);
  EXPECT_EQ(with(0.8, more).verdict(), Verdict::kOff);
  EXPECT_EQ(with(1.2, {8, 0.1}).verdict(), Verdict::kOff) << "no ratio has no side";
}

TEST(Finding, AStatementHoldsOrFails) {
  using How = Statement::Test;
  const auto verdict = [](double ours, How how, double bound) {
    return Finding{.ours = ours, .statement = Statement{"q", how, bound}}.verdict();
  };
  EXPECT_EQ(verdict(0.9, How::kBelow, 1), Verdict::kHolds);
  EXPECT_EQ(verdict(1, How::kBelow, 1), Verdict::kFails);
  EXPECT_EQ(verdict(1, How::kAbove, 1), Verdict::kFails);
  EXPECT_EQ(verdict(3, How::kEqual, 3), Verdict::kHolds);
  EXPECT_EQ(verdict(1.05, How::kAbout, 1), Verdict::kHolds);
  EXPECT_EQ(verdict(1.2, How::kAbout, 1), Verdict::kFails);
  EXPECT_EQ(Finding{.ours = 1}.verdict(), Verdict::kNone);
}

TEST(Finding, EveryOutputHasTheTolerance) {
  const Finding f = with(0.63, {0.308, 0.1, true, "69.2 % less"});
  EXPECT_EQ(to_json_line("portfc", f),
            R"({"place":"V","row":{"scenario":"a"},"metric":"b","ours":0.63,"published":0.308,)"
            R"("tolerance":0.1,"printed":"69.2 % less","verdict":"direction-only"})"
            "\n");
  EXPECT_THAT(to_text_line("portfc", f), HasSubstr("0.308  +104.5 % (within 10 %) direction-only"));
  const Paper& paper = papers().front();
  EXPECT_THAT(to_html(paper, {f}, {}, "x"), AllOf(HasSubstr("10 %"), HasSubstr("69.2 % less")));
}

TEST(Finding, AKeyedRowKeepsItsNumbersInJson) {
  const TableCell c{.table = 3,
                    .row = {.switches = 400, .s = 18, .k = 6, .v = 6, .scheme = "FC"},
                    .metric = "N_P4",
                    .ours = 6.09,
                    .published = Published{6.08, 0.01}};
  EXPECT_EQ(to_json_line("fcplus", finding_of(c)),
            R"({"place":"Table III","row":{"switches":400,"s":18,"k":6,"v":6,"scheme":"FC"},)"
            R"("metric":"N_P4","ours":6.09,"published":6.08,"tolerance":0.01,"verdict":"match"})"
            "\n");
}

TEST(Finding, OfSeveralSeedsTheMedianIsJudged) {
  const Published p{10, 0.1};
  const auto all = merged({{with(9, p)}, {with(20, p)}, {with(10.5, p)}});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].ours, 10.5);
  EXPECT_EQ(all[0].verdict(), Verdict::kMatch);
  EXPECT_EQ(all[0].seeds_that_agree(), 2U);
  EXPECT_THAT(to_text_line("x", all[0]),
              AllOf(HasSubstr("9 to 20"), HasSubstr("match in 2 of 3 seeds")));
  EXPECT_TRUE(to_text_line("x", with(9, p), 7).starts_with("seed 7   V "));
  EXPECT_TRUE(to_json_line("x", with(9, p), 7).starts_with(R"({"seed":7,"place":"V")"));
  EXPECT_THAT(to_json_line("x", all[0]),
              AllOf(HasSubstr(R"("least":9.0,"most":20.0,"by_seed":[9.0,20.0,10.5])"),
                    HasSubstr(R"("verdict":"match","seeds_that_agree":2)")));
  EXPECT_THAT(to_html(papers().front(), all, {}, "x"),
              AllOf(HasSubstr("ours, median"), HasSubstr("9 to 20"), HasSubstr("2 of 3")));
}

/// A run that is refused, or for which memory runs out, is no run without a fault.
TEST(Finding, OfWhatWasNotMeasuredHoldsNothingAndMatchesNothing) {
  using How = Statement::Test;
  for (const How how : {How::kBelow, How::kAbove, How::kEqual, How::kAbout}) {
    const Finding f{.ours = kNotMeasured, .statement = Statement{"q", how, 1}};
    EXPECT_EQ(f.verdict(), Verdict::kFails);
  }
  EXPECT_EQ(with(kNotMeasured, {8, 0.1, true}).verdict(), Verdict::kOff);
  EXPECT_EQ(with(kNotMeasured, {0, 0.1}).verdict(), Verdict::kOff);
  const auto all = merged({{with(1, {1})}, {with(kNotMeasured, {1})}, {with(1, {1})}});
  EXPECT_EQ(all[0].verdict(), Verdict::kOff);
  EXPECT_TRUE(std::isnan(percentile({1, kNotMeasured, 3}, 0.5)));
  EXPECT_THAT(to_json_line("x", with(kNotMeasured, {1})), HasSubstr(R"("ours":null)"));

  portfc_paper::SeenOfPortfc seen;
  seen.add(portfc_paper::SeenOfPortfc::unknown(2));
  seen.add({.pause_hops = 3});
  EXPECT_TRUE(std::isnan(seen.drops) && std::isnan(seen.pause_hops) && std::isnan(seen.deadlocks));
  EXPECT_EQ(seen.parts[0].unfinished, 2U);

  packets::Plan plan = *packets::plan_of_case("case1", 1, 1);
  plan.duration = packets::kMillisecond;
  EXPECT_TRUE(measure(plan));
  const packets::Hooks hooks{.sample_every = packets::kMicrosecond,
                             .sample = [](const packets::Network&) { throw std::bad_alloc(); }};
  EXPECT_FALSE(measure(plan, hooks)) << "what was seen until then is no measurement";
  plan.settings.payload_octets = 0;
  EXPECT_FALSE(measure(plan));
}

TEST(Html, TheHeadlineIsOfWhatThePaperPrints) {
  const Finding said{.ours = 0, .statement = Statement{.quote = "q"}};
  const std::string words = to_html(papers().front(), {said}, {}, "x");
  EXPECT_THAT(words, AllOf(HasSubstr("<b>1 of 1 statements hold</b>"), Not(HasSubstr("numbers")),
                           Not(HasSubstr("off by")), Not(HasSubstr("are explained below"))));
  const std::string numbers = to_html(papers().front(), {with(20, {10, 0.1})}, {}, "x");
  EXPECT_THAT(numbers, AllOf(HasSubstr("<b>0 of 1 published numbers match</b>"),
                             HasSubstr("off by"), HasSubstr("0 are explained below and 1 are not"),
                             Not(HasSubstr("statements hold"))));
}

TEST(Summary, TellsWhatIsNotExplained) {
  const std::vector<Finding> all = {
      with(10, {10, 0.1}), with(20, {10, 0.1}), {.metric = "m", .ours = 1}};
  const Summary s = summary_of("fcplus", all);
  EXPECT_EQ(s.of(Verdict::kMatch), 1U);
  EXPECT_EQ(s.of(Verdict::kNone), 1U);
  ASSERT_EQ(s.news.size(), 1U);
  EXPECT_EQ(s.news[0], &all[1]);
  EXPECT_THAT(to_text("fcplus", s), HasSubstr("1 match, 0 direction-only, 1 off; 0 hold, 0 fail"));
  EXPECT_THAT(to_text("fcplus", s), HasSubstr("NOT EXPLAINED: V, a, b"));
  EXPECT_THAT(to_json_line(s), HasSubstr("\"direction-only\":0,\"off\":1"));
}

/// An explanation is of one paper, and says something.
TEST(Explanation, IsOfItsPaperAlone) {
  const Finding f{.place = "V, detection effectiveness",
                  .scenario = "on the loop, fat-tree, ours",
                  .metric = "detection_us_avg",
                  .ours = 20,
                  .published = Published{800}};
  ASSERT_TRUE(explanation("itsy", f));
  EXPECT_THAT(std::string(*explanation("itsy", f)), HasSubstr("BMv2"));
  EXPECT_FALSE(explanation("portfc", f));
  for (const Paper& p : papers()) EXPECT_FALSE(p.omitted.empty()) << p.name;
}

TEST(Html, DrawsEveryFigureAndEscapes) {
  const std::vector<TableCell> cells = {{.figure = 4,
                                         .row = {.switches = 100, .scheme = "a<b"},
                                         .metric = "throughput_uniform",
                                         .ours = 1},
                                        {.figure = 4,
                                         .row = {.switches = 200, .scheme = "a<b"},
                                         .metric = "throughput_uniform",
                                         .ours = 2}};
  const auto drawings = drawings_of(cells);
  ASSERT_EQ(drawings.size(), 1U);
  EXPECT_EQ(drawings[0].place, "Figure 4");
  const std::string html =
      to_html(papers().front(), {finding_of(cells[0]), finding_of(cells[1])}, drawings, "x");
  EXPECT_THAT(html, HasSubstr("<h3>Figure 4</h3>"));
  EXPECT_THAT(html, HasSubstr("a&lt;b</span>"));
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("The paper prints none of these values."));
  EXPECT_THAT(html, HasSubstr("<h2>Not attempted</h2>"));
}

TEST(Html, BarsHaveALegendAndALogarithm) {
  const std::string picture = svg(Bars{.title = "t",
                                       .groups = {"a", "b"},
                                       .series = {{"s<", {1, 100}}, {"u", {10, 0}}},
                                       .log_y = true});
  EXPECT_THAT(picture,
              AllOf(HasSubstr("s&lt;"), HasSubstr(">100</text>"), HasSubstr("a, s&lt;: 1")));
  EXPECT_EQ(svg(Bars{}), "");
  // The axis's name stands beside its widest number, however wide that is.
  const std::string wide =
      svg(Bars{.groups = {"a"}, .series = {{"s", {1'000'000}}}, .log_y = true});
  EXPECT_THAT(wide, AllOf(HasSubstr(">10000000</text>"), HasSubstr("translate(-74 ")));
  EXPECT_THAT(picture, HasSubstr("translate(-38 "));
}

struct Seen {
  std::vector<Finding> findings{};
  std::vector<PaperFigure> drawings{};
};
Seen seen_of(std::string_view name, const ReproduceOptions& options) {
  Seen seen;
  const Sink sink{.found = [&](const Finding& f) { seen.findings.push_back(f); },
                  .draw = [&](PaperFigure d) { seen.drawings.push_back(std::move(d)); },
                  .tell = [](double) {}};
  for (const Paper& p : papers())
    if (p.name == name) p.find(options, sink);
  return seen;
}
void expect_no_news(std::string_view paper, const std::vector<Finding>& findings) {
  for (const Finding* f : summary_of(paper, findings).news)
    ADD_FAILURE() << to_text_line(paper, *f);
}
bool drew(const Seen& seen, std::string_view place) {
  return std::any_of(seen.drawings.begin(), seen.drawings.end(),
                     [&](const PaperFigure& d) { return d.place == place && !d.svg.empty(); });
}

TEST(Reproduce, WhatItsyStatesIsJudged) {
  const Seen seen = seen_of("itsy", {.quick = true, .threads = 2, .sets = 4});
  expect_no_news("itsy", seen.findings);
  EXPECT_TRUE(drew(seen, "Figure 5"));
  EXPECT_GE(summary_of("itsy", seen.findings).of(Verdict::kHolds), 10U);
}

/// What is cheap of PortFC's; `./run reproduce` has the rest.
TEST(Reproduce, WhatPortFcStatesIsJudged) {
  for (const int figure : {4, 5, 7, 15, 16, 19}) {
    const Seen seen = seen_of("portfc", {.quick = true, .threads = 2, .figure = figure});
    EXPECT_FALSE(seen.findings.empty()) << figure;
    expect_no_news("portfc", seen.findings);
    for (const Finding& f : seen.findings)
      EXPECT_TRUE(f.place.ends_with(" Figure " + std::to_string(figure))) << f.place;
    if (figure != 5 && figure != 7) {
      EXPECT_TRUE(drew(seen, "Figure " + std::to_string(figure))) << figure;
    }
  }
}

TEST(Reproduce, IsTheSameOnAnyNumberOfThreads) {
  std::string lines[2];
  for (const std::size_t threads : {1U, 2U})
    for (const Finding& f :
         seen_of("portfc", {.quick = true, .threads = threads, .figure = 15}).findings)
      lines[threads - 1] += to_json_line("portfc", f);
  EXPECT_EQ(lines[0], lines[1]);
}

/// With the rules nothing deadlocks and nothing is thrown away; with a watchdog it comes back. The
/// slides print no number, so none is held against one.
TEST(Reproduce, WhatTheProposalStatesIsJudged) {
  const Seen seen = seen_of("dot1", {.quick = true, .threads = 2, .sets = 2});
  for (const Finding& f : seen.findings) {
    EXPECT_FALSE(f.published) << f.metric;
    if (f.scenario.starts_with("2 sets") && f.place == "Reproduce") continue;  // two prove nothing
    EXPECT_NE(f.verdict(), Verdict::kFails) << to_text_line("dot1", f);
  }
  EXPECT_GE(summary_of("dot1", seen.findings).of(Verdict::kHolds), 15U);
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
