// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "lab/agents/report.hpp"
#include "lab/agents/script.hpp"
#include "lab/commands/options.hpp"
#include "lab/report/progress.hpp"
#include "lab/topology/files.hpp"
#include "lab/topology/forwarding.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kConvergeUsage =
    "converge FABRIC [OPTION...]\n"
    "Lets the agents of a fabric find their levels and locations on virtual time,\n"
    "and compares the result with the truth.\n";

constexpr double kYear = 365 * 86400.0;
/// No fabric is so large, and each is drawn and kept.
constexpr std::size_t kMostDisturbances = 1'000'000;

Duration duration_of(const po::variables_map& values, const char* option) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(values[option].as<double>()));
}

converge::Scenario scenario_of(const po::variables_map& values) {
  converge::Scenario scenario{.seed = values.count("seed") != 0 ? values["seed"].as<std::uint64_t>()
                                                                : std::random_device{}(),
                              .loss = values["loss"].as<double>(),
                              .restarts = values["restarts"].as<std::size_t>(),
                              .cuts = values["cuts"].as<std::size_t>()};
  scenario.start_spread = duration_of(values, "start-spread");
  scenario.churn_span = duration_of(values, "churn-span");
  scenario.timeout = duration_of(values, "timeout");
  scenario.settle = duration_of(values, "settle");
  if (values.count("script") != 0) scenario.script = values["script"].as<std::string>();
  return scenario;
}

}  // namespace

int run_converge(const Arguments& arguments) {
  std::string output;
  po::options_description options("Options");
  options.add_options()("seed", number<std::uint64_t>(0)->value_name("N"),
                        "of all random choices; without it a new one each time")(
      "start-spread", number(0.0, kYear)->value_name("S")->default_value(1),
      "agents start at random within S seconds")(
      "loss", number(0.0, std::nextafter(1.0, 0.0))->value_name("P")->default_value(0),
      "probability that a frame is lost")(
      "restarts", number(std::size_t{0}, kMostDisturbances)->value_name("N")->default_value(0),
      "agents stopped and started again")(
      "cuts", number(std::size_t{0}, kMostDisturbances)->value_name("N")->default_value(0),
      "links cut and repaired")(
      "script", po::value<std::string>()->value_name("NAME"),
      "events after the last start: rolling-upgrade, late-pod, empty-racks, "
      "hosts-on-spine, miswired or moved")(
      "churn-span", number(0.0, kYear)->value_name("S")->default_value(10),
      "restarts, cuts and the script fall within S seconds after the last start")(
      "timeout", number(0.0, kYear)->value_name("S")->default_value(120),
      "give up S seconds after the last disturbance")(
      "settle", number(0.0, kYear)->value_name("S")->default_value(1),
      "all must stay right for S seconds")("json", "print JSON")(
      "output,o", po::value(&output)->value_name("FILE"),
      "write a report with a curve to FILE.html, or the JSON to FILE");
  std::vector<std::string> words;
  const auto values = parse(options, kConvergeUsage, arguments, words);
  if (!values) return kDone;
  if (words.size() != 1) return complain_usage("converge", "name one fabric file");
  const auto scenario = scenario_of(*values);
  auto fabric = load_fabric(words[0]);
  if (!fabric) return complain("converge", fabric.error());

  if (has_layers(*fabric))
    if (const auto why = not_layered(*fabric)) return complain("converge", *why);
  if (!scenario.script.empty())
    if (const auto ok = converge::Script::check(*fabric, scenario.script); !ok)
      return complain_usage("converge", to_string(ok.error()));

  const auto outcome = [&] {
    ProgressBar bar("converge");
    return converge::run(std::move(*fabric), scenario, [&](const converge::Progress& p) {
      bar.show(static_cast<double>(p.right) / static_cast<double>(p.total),
               fmt::format("{} of {} right at {:.3f} s", p.right, p.total,
                           std::chrono::duration<double>(p.now).count()));
    });
  }();
  const bool json = values->count("json") != 0;
  fmt::print("{}",
             json ? converge::to_json(scenario, outcome) : converge::to_text(scenario, outcome));
  if (!output.empty()) {
    const bool html = output.ends_with(".html");
    const auto saved = save_text(
        output, html ? converge::to_html(scenario, outcome) : converge::to_json(scenario, outcome));
    if (!saved) return complain("converge", saved.error());
  }
  return outcome.well() ? kDone : kFailed;
}

}  // namespace lldp::lab
