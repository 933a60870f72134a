// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "lab/commands/options.hpp"
#include "lab/report/progress.hpp"
#include "lab/topology/files.hpp"
#include "sim/commands/commands.hpp"
#include "sim/papers/fcplus.hpp"
#include "sim/papers/finding.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kReproduceUsage =
    "reproduce fcplus|itsy|portfc|dot1 [OPTION...]\n"
    "Repeats what a paper publishes, and compares each value with the published\n"
    "one. Exit status 1: one is off, or a statement fails, and nothing explains it.\n";

constexpr std::size_t kMostSwitches = 5000;
constexpr std::size_t kMostSeeds = 1000;

/// What is done with one seed.
using Run = std::function<void(std::uint64_t seed, const Sink& sink)>;

int reproduce_paper(const Paper& paper, const Run& run, std::uint64_t seed, std::size_t seeds,
                    const Arguments& arguments, bool json, const std::string& output) {
  std::vector<std::vector<Finding>> by_seed(seeds);
  std::vector<PaperFigure> drawings;
  {
    ProgressBar bar("reproduce");
    const auto print = [&](const Finding& f, std::optional<std::uint64_t> of_seed) {
      bar.clear();
      fmt::print(
          "{}", json ? to_json_line(paper.name, f, of_seed) : to_text_line(paper.name, f, of_seed));
      std::fflush(stdout);  // a run of many seeds may be killed: what it has found is there
    };
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < seeds; ++i) {
      const Sink sink{
          .found =
              [&](const Finding& f) {
                by_seed[i].push_back(f);
                print(f, seeds == 1 ? std::nullopt : std::optional(seed + i));
              },
          .draw =
              [&](PaperFigure d) {
                if (i == 0) drawings.push_back(std::move(d));
              },
          .tell =
              [&](double part) {
                const double share = (static_cast<double>(i) + part) / static_cast<double>(seeds);
                const std::chrono::duration<double> passed =
                    std::chrono::steady_clock::now() - start;
                bar.show(share, share < 0.01 ? std::string(paper.title)
                                             : fmt::format("{}, about {:.0f} s left", paper.title,
                                                           passed.count() * (1 - share) / share));
              }};
      run(seed + i, sink);
    }
    if (seeds > 1) {
      bar.clear();
      if (!json) fmt::print("\nmedians of {} seeds\n", seeds);
      for (const Finding& f : merged(by_seed)) print(f, {});
    }
  }
  const std::vector<Finding> findings = seeds == 1 ? std::move(by_seed[0]) : merged(by_seed);
  const Summary summary = summary_of(paper.name, findings);
  fmt::print("{}", json ? to_json_line(summary) : to_text(paper.name, summary));
  if (!output.empty()) {
    std::string text;
    if (output.ends_with(".html"))
      text = to_html(paper, findings, drawings, command_line("reproduce", arguments));
    else if (output.ends_with(".csv"))
      text = to_csv(paper.name, findings);
    else
      for (const Finding& f : findings) text += to_json_line(paper.name, f);
    if (const auto saved = save_text(output, text); !saved)
      return complain("reproduce", saved.error());
  }
  if (findings.empty()) return kUsage;  // what was asked for cannot be drawn
  return summary.news.empty() ? kDone : kFailed;
}

}  // namespace

int run_reproduce(const Arguments& arguments) {
  fcplus_paper::FcplusOptions chosen;
  std::string output;
  std::size_t seeds = 1;
  po::options_description options("Options");
  options.add_options()("table", number(1, fcplus_paper::kTables)->value_name("N"),
                        "one table, 1 to 8")("figure", number(1)->value_name("N"),
                                             "one figure: fcplus, 3 to 7; portfc, 4 to 19")(
      "switches", number<std::size_t>(1, kMostSwitches)->value_name("N"),
      "fabrics of N switches instead of the paper's")(
      "fct", "completion times of flows: the rest of table 8, and figure 7")(
      "quick", po::bool_switch(&chosen.quick), "fewer and smaller fabrics, samples of the pairs")(
      "seed", number<std::uint64_t>(&chosen.seed, 0)->value_name("N")->default_value(1),
      "of the wiring and all random choices")(
      "seeds", number<std::size_t>(&seeds, 1, kMostSeeds)->value_name("N")->default_value(1),
      "print each of N seeds, then judge the medians and show the ranges")(
      "threads",
      number<std::size_t>(&chosen.threads, 1, 256)
          ->value_name("N")
          ->default_value(default_threads(), "all"),
      "how many processors to use")("json", "print a line of JSON per value")(
      "output,o", po::value(&output)->value_name("FILE"),
      "write a report to FILE.html, or FILE.csv, or JSON lines to FILE");
  std::vector<std::string> words;
  const auto values = parse(options, kReproduceUsage, arguments, words);
  if (!values) return kDone;
  const auto given = [&](const char* option) { return values->count(option) != 0; };
  const auto& all = papers();
  const auto paper = std::find_if(all.begin(), all.end(), [&](const Paper& p) {
    return words.size() == 1 && words[0] == p.name;
  });
  if (paper == all.end())
    return complain_usage("reproduce", "name the paper: `fcplus`, `itsy`, `portfc` or `dot1`");
  if (given("figure")) chosen.figure = (*values)["figure"].as<int>();
  const bool json = given("json");
  if (paper->find != nullptr) {
    if (given("table") || given("switches") || given("fct"))
      return complain_usage("reproduce", "--table, --switches and --fct are of fcplus");
    if (chosen.figure && paper->name != "portfc")
      return complain_usage("reproduce", "--figure is of fcplus and portfc");
    if (chosen.figure && std::find(std::begin(kPortFcFigures), std::end(kPortFcFigures),
                                   *chosen.figure) == std::end(kPortFcFigures))
      return complain_usage(
          "reproduce", fmt::format("--figure: portfc has {}", fmt::join(kPortFcFigures, ", ")));
    return reproduce_paper(
        *paper,
        [&](std::uint64_t seed, const Sink& sink) {
          paper->find({.quick = chosen.quick,
                       .seed = seed,
                       .threads = chosen.threads,
                       .figure = chosen.figure},
                      sink);
        },
        chosen.seed, seeds, arguments, json, output);
  }
  if (given("table")) chosen.table = (*values)["table"].as<int>();
  if (given("switches")) chosen.switches = (*values)["switches"].as<std::size_t>();
  const bool fct = given("fct") || chosen.figure == 7;
  if (fct && (chosen.switches || chosen.table.value_or(8) != 8 || chosen.figure.value_or(7) != 7))
    return complain_usage("reproduce", "--fct is of table 8 and figure 7, and of 120 switches");
  if (!fct && chosen.figure &&
      (*chosen.figure < fcplus_paper::kFirstFigure || *chosen.figure > fcplus_paper::kLastFigure))
    return complain_usage("reproduce", "--figure: give a number from 3 to 7");
  bool refused = false;
  const int status = reproduce_paper(
      *paper,
      [&](std::uint64_t seed, const Sink& sink) {
        fcplus_paper::FcplusOptions now = chosen;
        now.seed = seed;
        std::vector<fcplus_paper::TableCell> cells;
        const auto found = [&](const fcplus_paper::TableCell& cell) {
          cells.push_back(cell);
          sink.found(fcplus_paper::finding_of(cell));
        };
        const auto tell = [&](const std::string&, std::size_t done, std::size_t total) {
          sink.tell(static_cast<double>(done) / static_cast<double>(total));
        };
        if (fct)
          fcplus_paper::reproduce_fct(now, found, tell);
        else
          fcplus_paper::reproduce(
              now, found,
              [&](const std::string& why) {
                fmt::print(stderr, "lldp-level-lab reproduce: left out: {}\n", why);
                refused = true;
              },
              tell);
        for (PaperFigure& d : fcplus_paper::drawings_of(cells)) sink.draw(std::move(d));
      },
      chosen.seed, seeds, arguments, json, output);
  return status == kDone && refused && chosen.switches ? kUsage : status;
}

}  // namespace lldp::lab
