// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/attack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>

#include "lab/commands/options.hpp"
#include "lab/des/parallel.hpp"
#include "lab/report/progress.hpp"

namespace lldp::lab {
namespace {

using agents::Finding;

constexpr std::string_view kAttackUsage =
    "attack [OPTION...]\n"
    "Disturbs random fabrics of agents on virtual time, and proves the rules in force\n"
    "at every moment. Exit status 1: a fabric broke docs/develop/rules.md.\n";

struct Delay {
  std::string_view name{};
  Duration late{};
};
constexpr Delay kDelays[] = {
    {"0ms", {}}, {"20ms", std::chrono::milliseconds(20)}, {"1s", std::chrono::seconds(1)}};

struct Tally {
  std::array<std::uint64_t, 5> fabrics{};  ///< by Finding::Kind, those in which it was found
  std::map<std::uint64_t, std::string> stories{};
  std::vector<std::pair<std::uint64_t, Finding>> findings{};
  void add(const agents::Ordeal& ordeal) {
    std::array<bool, 5> seen{};
    for (const Finding& f : ordeal.findings) {
      seen.at(static_cast<std::size_t>(f.kind)) = true;
      findings.emplace_back(ordeal.seed, f);
    }
    for (std::size_t k = 0; k < seen.size(); ++k) fabrics.at(k) += seen.at(k);
    if (!ordeal.findings.empty()) stories[ordeal.seed] = to_text(ordeal);
  }
  [[nodiscard]] std::uint64_t of(Finding::Kind kind) const {
    return fabrics.at(static_cast<std::size_t>(kind));
  }
};

}  // namespace

int run_attack(const Arguments& arguments) {
  std::string late = "0ms";
  po::options_description options("Options");
  options.add_options()(
      "fabrics", number<std::uint64_t>(1, 100'000'000)->value_name("N")->default_value(100),
      "random fabrics, one for each seed")("seed", number<std::uint64_t>(0)->value_name("S"),
                                           "the first; without it a new one each time")(
      "rules-late", po::value<std::string>(&late)->value_name("DURATION"),
      "rules are in force so long after they were asked for, at most: 0ms, 20ms or 1s")(
      "json", "print JSON");
  std::vector<std::string> words;
  const auto values = parse(options, kAttackUsage, arguments, words);
  if (!values) return kDone;
  if (!words.empty()) return complain_usage("attack", "it takes no arguments");
  const auto* const delay = std::ranges::find(kDelays, late, &Delay::name);
  if (delay == std::end(kDelays))
    return complain_usage("attack", "--rules-late: give 0ms, 20ms or 1s");
  const std::uint64_t fabrics = (*values)["fabrics"].as<std::uint64_t>();
  const std::uint64_t first =
      values->count("seed") != 0 ? (*values)["seed"].as<std::uint64_t>() : std::random_device{}();
  Tally tally;
  {
    std::mutex mutex;
    ProgressBar bar("attack");
    parallel_for(
        fabrics, default_threads(),
        [&](std::size_t i, std::size_t) {
          const auto ordeal = agents::attack(first + i, (first + i) % 20 == 10, delay->late);
          const std::lock_guard lock(mutex);
          tally.add(ordeal);
        },
        [&](std::size_t done, std::size_t total) {
          bar.show(static_cast<double>(done) / static_cast<double>(total),
                   fmt::format("{} of {} fabrics", done, total));
        });
  }
  std::ranges::sort(tally.findings, {}, [](const auto& f) { return f.first; });
  using enum Finding::Kind;
  if (values->count("json") != 0) {
    nlohmann::ordered_json json{{"fabrics", fabrics},
                                {"cycles", tally.of(kCycle)},
                                {"dead_agent_cycles", tally.of(kDeadAgentCycle)},
                                {"wrong_levels", tally.of(kLevel)},
                                {"wrong_orders", tally.of(kOrder)},
                                {"wrong_locations", tally.of(kLocation)},
                                {"findings", nlohmann::ordered_json::array()}};
    for (const auto& [seed, finding] : tally.findings)
      json["findings"].push_back({{"seed", seed}, {"text", finding.text}});
    fmt::print("{}\n", json.dump());
  } else {
    for (const auto& [seed, story] : tally.stories) fmt::print("{}", story);
    fmt::print(
        "{} fabrics from seed {}, rules late by {}: {} with a cycle, {} with one through a dead "
        "agent's rules,\n{} with a wrong level, {} with a wrong order, {} with a wrong location\n",
        fabrics, first, late, tally.of(kCycle), tally.of(kDeadAgentCycle), tally.of(kLevel),
        tally.of(kOrder), tally.of(kLocation));
  }
  const bool well =
      tally.of(kCycle) + tally.of(kLevel) + tally.of(kOrder) + tally.of(kLocation) == 0;
  return well ? kDone : kFailed;
}

}  // namespace lldp::lab
