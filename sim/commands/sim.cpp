// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lab/commands/options.hpp"
#include "lab/des/parallel.hpp"
#include "lab/report/progress.hpp"
#include "lab/topology/files.hpp"
#include "sim/commands/commands.hpp"
#include "sim/packets/plan_file.hpp"
#include "sim/packets/recording.hpp"
#include "sim/packets/report.hpp"
#include "sim/packets/series.hpp"
#include "sim/packets/trace.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kSimUsage =
    "sim CASE|FILE.json [OPTION...]\n"
    "sim --topology FILE --traffic FILE [OPTION...]\n"
    "CASE: case1, case2, dualtor, fcplus, flap, itsy-fattree, itsy-fattree-storm,\n"
    "itsy-fig2, itsy-fig3, itsy-fig4, itsy-fig5, last-hop or ndc-loop.\n"
    "Sends packets through a fabric whose switches stop each other by PFC, and tells\n"
    "whether it deadlocks. Levels are found by the agents, paths are those that\n"
    "switches take until the routing has converged, rules are the agents' own. Exit\n"
    "status 0: no deadlock; 1: there was one.\n";

constexpr packets::Picoseconds kCurveEvery = 10 * packets::kMicrosecond;

volatile std::sig_atomic_t interrupted = 0;

template <class Kind, std::size_t n>
std::optional<Kind> choice(const std::string_view (&names)[n], std::string_view name) {
  const auto at = std::find(std::begin(names), std::end(names), name);
  if (at == std::end(names)) return std::nullopt;
  return static_cast<Kind>(at - std::begin(names));
}

template <std::size_t n>
bool is_one_of(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// A scenario of two files, as other simulators have them; it runs until all has arrived.
Result<packets::Plan> plan_of_others(const std::string& topology, const std::string& traffic,
                                     std::optional<std::uint64_t> seed) {
  const nlohmann::json scenario = {{"name", traffic},
                                   {"fabric", topology},
                                   {"traffic", {{{"kind", "file"}, {"file", traffic}}}},
                                   {"duration_ns", 1'000'000'000}};
  return packets::plan_from_json(
      scenario.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
      packets::files_in(""), seed);
}

/// A file to write, if it has a name.
class OutputFile {
 public:
  explicit OutputFile(std::string name) : name_(std::move(name)) {
    if (!name_.empty()) out_.open(name_, std::ios::binary | std::ios::trunc);
  }
  template <class Octet>
  void write(const Octet* octets, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out_.put(static_cast<char>(octets[i]));
  }
  void write(std::string_view text) { write(text.data(), text.size()); }
  [[nodiscard]] std::optional<Error> error() const {
    if (name_.empty() || out_) return std::nullopt;
    return Error{errno, escape(name_), "cannot be written"};
  }
  std::optional<Error> close() {
    if (!name_.empty()) out_.close();
    return error();
  }

 private:
  std::string name_;
  std::ofstream out_{};
};

}  // namespace

int run_sim(const Arguments& arguments) {
  std::string protect;
  std::string flow_control;
  std::string lossless;
  std::string restore;
  std::uint32_t channels = 0;
  std::string flows;
  std::string trace;
  std::string csv;
  std::string topology;
  std::string traffic;
  std::string output;
  double duration_ms = 0;
  std::uint64_t seed = 0;
  std::size_t threads = 1;
  po::options_description options("Options");
  options.add_options()(
      "protect", po::value(&protect)->value_name("P")->default_value("", "down-up"),
      "none: one lossless priority all the way; down-up: the agents' rules; watchdog: a queue "
      "paused for too long ignores it; itsy: switches find deadlocks by what paused first")(
      "flow-control", po::value(&flow_control)->value_name("F")->default_value("", "pfc"),
      "pfc; cbfc: credits, by virtual channel; none; portfc or pfc-star, where nodes relay")(
      "channels", number<std::uint32_t>(&channels, 1, 32)->value_name("N"),
      "cbfc: virtual channels of lossless classes; without it one for each class")(
      "qos.lossless", po::value(&lossless)->value_name("CHAINS"),
      "lossless classes, or a preset (lldp-level.conf(5))")(
      "qos.restore", po::value(&restore)->value_name("R"),
      "auto or no: ports to hosts give spare classes their application class again")(
      "flows", po::value(&flows)->value_name("X+Y")->default_value("", "2+1"),
      "flows of each of a case's two directions")(
      "duration", number(&duration_ms, 1e-6, 1e7)->value_name("MS")->default_value(0, "5"),
      "simulated time, in milliseconds")(
      "seed", number<std::uint64_t>(&seed, 0)->value_name("N")->default_value(1),
      "of all random choices")(
      "threads",
      number<std::size_t>(&threads, 1, packets::kMostParts)->value_name("N")->default_value(1),
      "that share the work; the result is the same for any number")(
      "trace", po::value(&trace)->value_name("FILE.pcapng"), "write every frame to a capture")(
      "csv", po::value(&csv)->value_name("FILE"),
      "write throughputs, queues and pauses every 10 us")(
      "topology", po::value(&topology)->value_name("FILE"),
      "in place of a case: any fabric file, or HPCC's topology.txt")(
      "traffic", po::value(&traffic)->value_name("FILE"),
      "what is sent over it: HPCC's flow.txt, htsim's .cm or a GOAL trace")(
      "explain", "tell what led to each deadlock that itsy declares")("json", "print JSON")(
      "output,o", po::value(&output)->value_name("FILE"),
      "write a report with curves and a moving picture to FILE.html, or the JSON to FILE");
  std::vector<std::string> words;
  const auto values = parse(options, kSimUsage, arguments, words);
  if (!values) return kDone;
  const bool foreign = !topology.empty() || !traffic.empty();
  if (foreign && (topology.empty() || traffic.empty() || !words.empty()))
    return complain_usage("sim", "--topology and --traffic: give both, and no case");
  if (!foreign && words.size() != 1) return complain_usage("sim", "name one case");
  words.resize(1);
  const bool named = is_one_of(packets::kCases, words[0]);
  const auto xy = flow_counts(flows.empty() ? "2+1" : flows);
  if (!xy) return complain_usage("sim", "--flows: write X+Y, as in 2+1");
  if (!flows.empty() && !is_one_of(packets::kCasesOfTwoWays, words[0]))
    return complain_usage("sim", fmt::format("--flows: of {}; whatever else is run has its own",
                                             fmt::join(packets::kCasesOfTwoWays, ", ")));
  const auto chosen = (*values)["seed"].defaulted() ? std::nullopt : std::optional(seed);
  auto plan = foreign ? plan_of_others(topology, traffic, chosen)
              : named ? packets::plan_of_case(words[0], xy->first, xy->second)
                      : packets::plan_from_file(words[0], chosen);
  if (!plan) return complain("sim", plan.error());
  if (!protect.empty()) {
    const auto protection = choice<packets::ProtectionScheme>(packets::kProtections, protect);
    if (!protection)
      return complain_usage("sim", fmt::format("--protect: `{}` is not there", escape(protect)));
    plan->settings.protection = *protection;
  }
  if (!flow_control.empty()) {
    const auto control = choice<packets::FlowControlKind>(packets::kFlowControls, flow_control);
    if (!control)
      return complain_usage("sim",
                            fmt::format("--flow-control: `{}` is not there", escape(flow_control)));
    plan->settings.flow_control = *control;
  }
  if (!lossless.empty()) {
    const auto policy = qos::Policy::parse(lossless, plan->settings.policy.lossy_text());
    if (!policy) return complain_usage("sim", "--" + to_string(policy.error()));
    if (policy->chains().empty())
      return complain_usage("sim", "--qos.lossless: none: nothing would be simulated");
    plan->settings.policy = *policy;
  }
  if (!restore.empty()) {
    if (restore != "auto" && restore != "no")
      return complain_usage("sim", "--qos.restore: write auto or no");
    plan->settings.restore = restore == "auto";
  }
  if (channels != 0) {
    if (plan->settings.flow_control != packets::FlowControlKind::kCbfc)
      return complain_usage("sim", "--channels: only with --flow-control cbfc");
    plan->settings.cbfc.virtual_channels = channels;
  }
  plan->settings.seed = chosen.value_or(plan->settings.seed);
  if (!(*values)["duration"].defaulted())
    plan->duration =
        static_cast<packets::Picoseconds>(duration_ms * static_cast<double>(packets::kMillisecond));
  if (trace == "-" || csv == "-")
    return complain_usage("sim", "--trace and --csv: name a file; the report goes to the output");
  packets::Hooks hooks;
  OutputFile capture(trace);
  OutputFile table(csv);
  for (const OutputFile* file : {&capture, &table})
    if (const auto error = file->error()) return complain("sim", *error);
  std::optional<packets::CaptureWriter> writer;
  if (!trace.empty()) {
    writer.emplace(plan->fabric, plan->settings,
                   [&](ByteSpan octets) { capture.write(octets.data(), octets.size()); });
    hooks.trace = [&](packets::Picoseconds at, const packets::Slot& f) { writer->frame(at, f); };
  }
  packets::Series series(*plan);
  if (!csv.empty()) {
    table.write(packets::Series::header());
    hooks.sample_every = kCurveEvery;
    hooks.sample = [&](const packets::Network& n) { table.write(series.sample(n)); };
  }
  std::optional<packets::Recording> recording;
  if (output.ends_with(".html")) {
    recording.emplace(*plan);
    hooks.to_the_end = !csv.empty();
    hooks.sample_every = packets::kMicrosecond;
    hooks.sample = [&](const packets::Network& n) {
      recording->sample(n);
      if (!csv.empty() && n.now % kCurveEvery == 0) table.write(series.sample(n));
    };
  }

  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupted = 1; });
  ProgressBar bar("sim");
  hooks.go_on = [&](const packets::Network& n) {
    bar.show(static_cast<double>(n.now) / static_cast<double>(plan->duration),
             fmt::format("{} us, {} packet-hops", n.now / packets::kMicrosecond, n.count.hops));
    return interrupted == 0;
  };
  if (const auto why = packets::needs_one_thread(*plan, hooks); threads > 1 && !why.empty()) {
    fmt::print(stderr, "lldp-level-lab sim: one thread: {}\n", why);
  } else if (const auto most = default_threads(); threads > most) {
    fmt::print(stderr, "lldp-level-lab sim: {}: there are no more processors\n",
               most == 1 ? "one thread" : fmt::format("{} threads", most));
    threads = most;
  }
  const auto outcome = packets::run(*plan, hooks, threads);
  bar.clear();
  if (!outcome) return complain("sim", outcome.error());
  if (outcome->memory_ran_out)
    complain("sim", {ENOMEM, fmt::format("{:.3f} us", packets::micros(outcome->duration)),
                     "memory ran out: give smaller buffers or fewer flows; the results so far:"});
  for (OutputFile* file : {&capture, &table})
    if (const auto error = file->close()) return complain("sim", *error);
  if (!output.empty()) {
    const auto saved = save_text(
        output, recording ? to_html(*plan, *outcome, *recording, command_line("sim", arguments))
                          : to_json(*plan, *outcome));
    if (!saved) return complain("sim", saved.error());
  }
  if (values->count("json") != 0)
    write_json(*plan, *outcome,
               [](std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); });
  else
    fmt::print("{}", to_text(*plan, *outcome));
  if (values->count("explain") != 0 && values->count("json") == 0)
    fmt::print("{}", explain(*plan, *outcome));
  if (outcome->memory_ran_out) return kUsage;
  return outcome->deadlocked_at ? kFailed : kDone;
}

}  // namespace lldp::lab
