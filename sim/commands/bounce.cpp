// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/text.hpp"
#include "lab/commands/options.hpp"
#include "lab/live/agents.hpp"
#include "lab/live/ending.hpp"
#include "lab/routing/cases.hpp"
#include "lab/topology/files.hpp"
#include "sim/bounce/report.hpp"
#include "sim/commands/commands.hpp"
#include "sim/lossless/report.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kBounceUsage =
    "bounce case1|case2|dualtor|twice|layered [OPTION...]\n"
    "       lldp-level-lab bounce FABRIC --cut A-B --flow FROM-TO [OPTION...]\n"
    "Runs a fabric on this machine as `live` does, sends packets, cuts links, sends\n"
    "packets along the paths that switches take until the routing has converged, and\n"
    "looks at them at every hop; in a layered expander along the flows themselves,\n"
    "whose VIAs name every node. Exit status 0: exactly the packets that turned\n"
    "down-up were remarked, where they turned. --lossless: the switches are the\n"
    "packet simulator's, on real time and with real PFC frames; the case's flows X\n"
    "and Y go until everything has arrived (exit status 0) or nothing moves any more:\n"
    "with --protect none, a deadlock (1); 3 where the machine was too slow to say.\n"
    "Needs root.\n";

/// What only `--lossless` knows.
struct Lossless {
  bool on = false;
  std::string protect = "down-up";
  std::string flows = "2+1";
  double megabits = 5;
  double seconds = 5;
};

int run_lossless(const std::string& name, const Lossless& options, const qos::Policy& policy,
                 const bounce::Settings& common, bool json) {
  const auto xy = flow_counts(options.flows);
  if (!xy) return complain_usage("bounce", "--flows: write X+Y, as in 2+1");
  if (options.protect != "down-up" && options.protect != "none")
    return complain_usage("bounce", "--protect: give none or down-up");
  lossless::Settings settings{.place = common.place,
                              .is_protected = options.protect == "down-up",
                              .policy = policy,
                              .rate_bps = static_cast<std::uint64_t>(options.megabits * 1e6),
                              .sending = std::chrono::duration<double>(options.seconds),
                              .timeout = common.timeout,
                              .agent = common.agent,
                              .agent_arguments = common.agent_arguments,
                              .program = live::own_program()};
  if (!settings.is_protected) {
    auto one = qos::Policy::parse(to_string(policy.lossless().front()), policy.lossy_text());
    if (!one) return complain("bounce", one.error());
    settings.policy = std::move(*one);
  }
  const auto plan = packets::plan_of_case(name, xy->first, xy->second);
  if (!plan) return complain("bounce", plan.error());
  const live::SignalsHeld held;
  const auto outcome = lossless::run(*plan, settings);
  if (!outcome) return complain("bounce", outcome.error());
  fmt::print("{}", json ? to_json(*plan, settings, *outcome) : to_text(*plan, settings, *outcome));
  switch (outcome->verdict()) {
    case lossless::Outcome::Verdict::kHolds:
      return kDone;
    case lossless::Outcome::Verdict::kNone:
      return kNoVerdict;
    default:
      return kFailed;
  }
}

Result<NamedCase> from_file(const std::string& file, const std::vector<std::string>& cuts,
                            const std::vector<std::string>& flows) {
  auto fabric = load_fabric(file);
  if (!fabric) return fail(fabric.error());
  NamedCase s{.name = fabric->name, .fabric = std::move(*fabric)};
  auto failed = failed_links(s.fabric, cuts);
  if (!failed) return fail(failed.error());
  s.failed = std::move(*failed);
  for (const std::string& nodes : flows) {
    auto flow = flow_between(s.fabric, fmt::format("{}", s.flows.size() + 1), nodes);
    if (!flow) return fail(flow.error());
    s.flows.push_back(std::move(*flow));
  }
  return s;
}

}  // namespace

int run_bounce(const Arguments& arguments) {
  bounce::Settings settings;
  std::string prefix;
  std::string dir;
  std::string lossless;
  std::string lossy;
  std::vector<std::string> cuts;
  std::vector<std::string> flows;
  double timeout = settings.timeout.count();
  bool bridged = false;
  bool json = false;
  Lossless lossless_run;
  po::options_description options("Options");
  options.add_options()("bridged", po::bool_switch(&bridged),
                        "a bridge in every switch; else host routes")(
      "cut", po::value(&cuts)->value_name("A-B"), "a link to cut; can be repeated")(
      "flow", po::value(&flows)->value_name("FROM[-VIA...]-TO"),
      "a flow from host to host; can be repeated, up to 250 times")(
      "restarts",
      number<std::size_t>(&settings.restarts, 0, 100'000)->value_name("N")->default_value(0),
      "restart agents where the first flow turns and next to it, under traffic")(
      "rate",
      number(&settings.packets_per_second, 1.0, 1e7)->value_name("N")->default_value(10'000),
      "that traffic, in packets per second")(
      "backend", po::value(&settings.backend)->value_name("B")->default_value("bpf"),
      "the agents' data plane")("qos.lossless",
                                po::value(&lossless)->value_name("CHAINS")->default_value(
                                    std::string(qos::Policy::kDefaultLossless)),
                                "lossless classes, or a preset (lldp-level.conf(5))")(
      "qos.lossy",
      po::value(&lossy)->value_name("P:dscpN")->default_value(
          std::string(qos::Policy::kDefaultLossy)),
      "the class after the last")("prefix",
                                  po::value(&prefix)->value_name("NAME")->default_value(
                                      fmt::format("bounce{}", getpid()), "bouncePID"),
                                  "namespaces are NAME-NODE")(
      "dir", po::value(&dir)->value_name("PATH"), "directory of sockets, state files and logs")(
      "agent",
      po::value(&settings.agent)
          ->value_name("PATH")
          ->default_value(live::default_agent(), "lldp-leveld"),
      "the agent's program")(
      "agent-arg", po::value(&settings.agent_arguments)->value_name("ARG"),
      "one more argument for every agent ({node}: its name); can be repeated")(
      "timeout", number(&timeout, 0.0, 86400.0)->value_name("S")->default_value(timeout),
      "give up if not all is protected after S seconds")("json", po::bool_switch(&json),
                                                         "print JSON")(
      "lossless", po::bool_switch(&lossless_run.on),
      "case1, case2, dualtor: switches with PFC, real time, and flows that close the cycle")(
      "protect",
      po::value(&lossless_run.protect)->value_name("P")->default_value(lossless_run.protect),
      "lossless: down-up; none: one lossless priority, no agents")(
      "flows", po::value(&lossless_run.flows)->value_name("X+Y")->default_value("2+1"),
      "lossless: how many flows X and Y")(
      "link-rate",
      number(&lossless_run.megabits, 1.0, 1000.0)->value_name("MBPS")->default_value(5),
      "lossless: of every link, in Mb/s")(
      "seconds", number(&lossless_run.seconds, 0.1, 86400.0)->value_name("S")->default_value(5),
      "lossless: how long is sent");
  std::vector<std::string> words;
  if (!parse(options, kBounceUsage, arguments, words)) return kDone;
  if (words.size() != 1) return complain_usage("bounce", "name a case or a fabric's file");
  const bool named =
      std::find(std::begin(kScenarios), std::end(kScenarios), words[0]) != std::end(kScenarios);
  if (std::error_code error; !named && !std::filesystem::exists(words[0], error))
    return complain_usage("bounce", fmt::format("`{}` is neither a case ({}) nor a file",
                                                escape(words[0]), fmt::join(kScenarios, ", ")));
  constexpr std::string_view kLossless[] = {"case1", "case2", "dualtor"};
  if (lossless_run.on &&
      (bridged || settings.restarts > 0 ||
       std::find(std::begin(kLossless), std::end(kLossless), words[0]) == std::end(kLossless)))
    return complain_usage("bounce",
                          fmt::format("--lossless is for {}, without --bridged and --restarts",
                                      fmt::join(kLossless, ", ")));
  if (named != flows.empty() || (named && !cuts.empty()) || flows.size() > 250)
    return complain_usage("bounce", "a fabric's file needs 1 to 250 --flow, a case has its own");
  const auto policy = qos::Policy::parse(lossless, lossy);
  if (!policy) return complain_usage("bounce", to_string(policy.error()));
  if (policy->chains().empty())
    return complain_usage("bounce", "--qos.lossless none: there is no class that a turn changes");
  const auto place = live::place_of(prefix, dir);
  if (!place) return complain_usage("bounce", to_string(place.error()));
  if (place->own_tree)
    return complain("bounce", Error{EPERM, "namespaces", "rules in the kernel need root"});
  settings.place = *place;
  settings.mode = bridged ? bounce::BounceMode::kBridged : bounce::BounceMode::kRouted;
  settings.timeout = std::chrono::duration<double>(timeout);
  if (lossless_run.on) return run_lossless(words[0], lossless_run, *policy, settings, json);
  const auto s = named ? scenario(words[0]) : from_file(words[0], cuts, flows);
  if (!s) return complain("bounce", s.error());

  const live::SignalsHeld held;
  const auto outcome = bounce::run(*s, *policy, settings);
  if (!outcome) return complain("bounce", outcome.error());
  fmt::print("{}", json ? to_json(*s, *policy, settings.mode, *outcome)
                        : to_text(*s, *policy, settings.mode, *outcome));
  return outcome->holds() ? kDone : kFailed;
}

}  // namespace lldp::lab
