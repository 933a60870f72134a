// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "base/text.hpp"
#include "lab/commands/options.hpp"
#include "lab/papers/claims.hpp"
#include "lab/papers/fcplus.hpp"
#include "lab/report/progress.hpp"
#include "lab/topology/files.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kReproduceUsage =
    "reproduce fcplus|itsy|portfc|dot1 [OPTION...]\n"
    "Does again what a paper publishes, and holds each value against the published\n"
    "one. Exit status 1: one is off by more than its tolerance.\n";

void print_text(const fcplus_paper::Cell& c) {
  const std::string row =
      fmt::format("N={} s={}{}{} {}", c.row.switches, c.row.s,
                  c.row.k != 0 ? fmt::format(" k={}", c.row.k) : "",
                  c.row.v != 0 ? fmt::format(" v={}", c.row.v) : "", c.row.scheme);
  const std::string published =
      c.published ? fmt::format("{:>8} {:+6.1f} %", *c.published, 100 * (c.ours / *c.published - 1))
                  : std::string(17, ' ');
  fmt::print("{:<10} {:<36} {:<22} {:>9.3f} {} {}\n", fcplus_paper::place_of(c), row, c.metric,
             c.ours, published, c.verdict());
}

struct Paper {
  std::string_view name{};
  const char* title = "";
  FindClaims find = nullptr;
};
constexpr Paper kPapers[] = {{"itsy", "ITSY", reproduce_itsy},
                             {"portfc", "PortFC", reproduce_portfc},
                             {"dot1", "IEEE 802.1: PFC deadlock free", reproduce_dot1}};

constexpr std::size_t kMostSwitches = 5000;

int reproduce_claims(const Paper& paper, const ClaimOptions& options, const Arguments& arguments,
                     bool json, const std::string& output) {
  std::vector<Claim> claims;
  {
    ProgressBar bar("reproduce");
    paper.find(
        options,
        [&](const Claim& claim) {
          bar.clear();
          fmt::print("{}", json ? to_json_line(claim) : to_text_line(claim));
          std::fflush(stdout);
          claims.push_back(claim);
        },
        [&](double share) { bar.show(share, paper.title); });
  }
  if (!output.empty()) {
    std::string text;
    if (output.ends_with(".html"))
      text = to_html(claims, paper.title, command_line("reproduce", arguments));
    else if (output.ends_with(".csv"))
      text = to_csv(claims);
    else
      for (const Claim& c : claims) text += to_json_line(c);
    if (const auto saved = save_text(output, text); !saved)
      return complain("reproduce", saved.error());
  }
  const bool off = std::any_of(claims.begin(), claims.end(), [](const Claim& c) {
    return std::string_view(c.verdict()) == "off";
  });
  return claims.empty() || off ? kFailed : kDone;
}

}  // namespace

int run_reproduce(const Arguments& arguments) {
  fcplus_paper::Options chosen;
  std::string output;
  po::options_description options("Options");
  options.add_options()("table", number(1, fcplus_paper::kTables)->value_name("N"),
                        "one table, 1 to 8")("figure", number(1)->value_name("N"),
                                             "one figure: fcplus, 3 to 7; portfc, 4 to 19")(
      "switches", number<std::size_t>(1, kMostSwitches)->value_name("N"),
      "fabrics of N switches instead of the paper's")(
      "fct", "completion times of flows: the rest of table 8, and figure 7")(
      "quick", po::bool_switch(&chosen.quick), "fewer and smaller fabrics, samples of the pairs")(
      "seed", number<std::uint64_t>(&chosen.seed, 0)->value_name("N")->default_value(1),
      "of what is wired and chosen at random")("threads",
                                               number<std::size_t>(&chosen.threads, 1, 256)
                                                   ->value_name("N")
                                                   ->default_value(default_threads(), "all"),
                                               "how many processors to use")(
      "json", "print a line of JSON per value")(
      "output,o", po::value(&output)->value_name("FILE"),
      "write a report to FILE.html, or FILE.csv, or JSON lines to FILE");
  std::vector<std::string> words;
  const auto values = parse(options, kReproduceUsage, arguments, words);
  if (!values) return kDone;
  if (words.size() == 1)
    for (const Paper& paper : kPapers) {
      if (words[0] != paper.name) continue;
      if (values->count("table") + values->count("switches") + values->count("fct") != 0)
        return complain_usage("reproduce", "--table, --switches and --fct are of fcplus");
      ClaimOptions asked{.quick = chosen.quick, .seed = chosen.seed, .threads = chosen.threads};
      if (values->count("figure") != 0) asked.figure = (*values)["figure"].as<int>();
      if (asked.figure && words[0] != "portfc")
        return complain_usage("reproduce", "--figure is of fcplus and portfc");
      if (asked.figure && std::find(std::begin(kPortFcFigures), std::end(kPortFcFigures),
                                    *asked.figure) == std::end(kPortFcFigures))
        return complain_usage(
            "reproduce", fmt::format("--figure: portfc has {}", fmt::join(kPortFcFigures, ", ")));
      return reproduce_claims(paper, asked, arguments, values->count("json") != 0, output);
    }
  if (words.size() != 1 || words[0] != "fcplus")
    return complain_usage("reproduce", "name the paper: `fcplus`, `itsy`, `portfc` or `dot1`");
  if (values->count("table") != 0) chosen.table = (*values)["table"].as<int>();
  if (values->count("figure") != 0) chosen.figure = (*values)["figure"].as<int>();
  if (values->count("switches") != 0) chosen.switches = (*values)["switches"].as<std::size_t>();
  const bool fct = values->count("fct") != 0 || chosen.figure == 7;
  if (fct && (chosen.switches || chosen.table.value_or(8) != 8 || chosen.figure.value_or(7) != 7))
    return complain_usage("reproduce", "--fct is of table 8 and figure 7, and of 120 switches");
  if (!fct && chosen.figure &&
      (*chosen.figure < fcplus_paper::kFirstFigure || *chosen.figure > fcplus_paper::kLastFigure))
    return complain_usage("reproduce", "--figure: give a number from 3 to 7");

  const bool json = values->count("json") != 0;
  std::vector<fcplus_paper::Cell> cells;
  bool refused = false;
  {
    ProgressBar bar("reproduce");
    const auto start = std::chrono::steady_clock::now();
    const auto found = [&](const fcplus_paper::Cell& cell) {
      bar.clear();
      if (json)
        fmt::print("{}", to_json_line(cell));
      else
        print_text(cell);
      std::fflush(stdout);
      cells.push_back(cell);
    };
    const auto tell = [&](const std::string& now, std::size_t done, std::size_t total) {
      const double share = static_cast<double>(done) / static_cast<double>(total);
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      bar.show(share, done == 0 ? now
                                : fmt::format("{}, about {:.0f} s left", now,
                                              passed.count() * (1 - share) / share));
    };
    if (fct)
      fcplus_paper::reproduce_fct(chosen, found, tell);
    else
      fcplus_paper::reproduce(
          chosen, found,
          [&](const std::string& why) {
            bar.clear();
            fmt::print(stderr, "lldp-level-lab reproduce: left out: {}\n", why);
            refused = true;
          },
          tell);
  }
  if (!output.empty()) {
    std::string text;
    if (output.ends_with(".html")) {
      text = to_html(cells, command_line("reproduce", arguments));
    } else if (output.ends_with(".csv")) {
      text = to_csv(cells);
    } else {
      for (const auto& c : cells) text += to_json_line(c);
    }
    if (const auto saved = save_text(output, text); !saved)
      return complain("reproduce", saved.error());
  }
  if (cells.empty()) return kFailed;
  for (const auto& c : cells)
    if (std::string_view(c.verdict()) == "off") return kFailed;
  return refused && chosen.switches ? kFailed : kDone;
}

}  // namespace lldp::lab
