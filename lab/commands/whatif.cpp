// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <numeric>
#include <random>

#include "base/text.hpp"
#include "lab/commands/options.hpp"
#include "lab/report/progress.hpp"
#include "lab/sweep/journal.hpp"
#include "lab/topology/files.hpp"
#include "lab/topology/forwarding.hpp"
#include "lab/topology/hints.hpp"
#include "lab/topology/json.hpp"
#include "lab/whatif/picture.hpp"
#include "lab/whatif/report.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kWhatifUsage =
    "whatif FABRIC [--fail N] [OPTION...]\n"
    "Lets links fail, all sets of N or a sample of them, and looks at what packets do\n"
    "until the routing has converged: where they turn down-up, whether one lossless\n"
    "priority could deadlock, whether two suffice. --change does the same after it.\n"
    "Exit status 0: two priorities cannot deadlock, and no limit is exceeded; 1: one\n"
    "of these is not so; 3: no verdict, for the levels are not known.\n";

/// What the exit status goes by, beside deadlocks of two priorities.
struct Gate {
  std::optional<unsigned> max_turns{};
  std::optional<double> max_exposure_s{};
  bool no_cut_off = false;
};

void judge(const whatif::ReportPart& part, const Gate& gate, std::string_view when,
           std::vector<std::string>& violations) {
  const whatif::Tally& t = part.tally;
  const auto add = [&](std::string what) {
    violations.push_back(fmt::format("{}{}{}", when, when.empty() ? "" : ": ", what));
  };
  if (t.two_classes > 0) add(fmt::format("two priorities can deadlock in {} sets", t.two_classes));
  if (gate.max_turns && t.most_turns > *gate.max_turns)
    add(fmt::format("a packet turns more often than {}, up to {}", *gate.max_turns, t.most_turns));
  if (gate.no_cut_off && t.cutting > 0)
    add(fmt::format("in {} sets a switch has no way on", t.cutting));
  const auto exposed = [](const whatif::Exposure& e) {
    return std::chrono::duration<double>(e.whole()).count();
  };
  if (gate.max_exposure_s && part.exposure && exposed(*part.exposure) > *gate.max_exposure_s)
    add(fmt::format("exposed for {:.3f} s, more than {} s", exposed(*part.exposure),
                    *gate.max_exposure_s));
}

/// The blocks of both studies as one sequence of tasks.
struct Work {
  const whatif::Study& now;
  const whatif::Study* after;
  [[nodiscard]] std::size_t tasks() const {
    return now.blocks() + (after != nullptr ? after->blocks() : 0);
  }
};

/// Runs the tasks that are not done, and gives all that this process knows to `tally`.
Result<void> run_tasks(const Work& work, const sweep::Shard& shard, sweep::ResultsFile* journal,
                       const std::function<void(std::size_t, const whatif::Tally&)>& tally) {
  std::vector<std::size_t> todo[2];
  for (std::size_t t = 0; t < work.tasks(); ++t) {
    if (!shard.has(t) || (journal != nullptr && journal->has(t))) continue;
    const bool later = t >= work.now.blocks();
    todo[later ? 1 : 0].push_back(later ? t - work.now.blocks() : t);
  }
  const std::size_t total = todo[0].size() + todo[1].size();
  std::size_t done = 0;
  Result<void> outcome;
  ProgressBar bar("whatif");
  const auto begun = std::chrono::steady_clock::now();
  for (std::size_t part = 0; part < 2; ++part) {
    if (todo[part].empty()) continue;
    (part == 0 ? work.now : *work.after)
        .run(todo[part], [&](std::size_t block, const whatif::Tally& t) {
          const std::size_t task = block + (part == 1 ? work.now.blocks() : 0);
          if (journal != nullptr) outcome = journal->add(task, to_json(t));
          tally(task, t);
          ++done;
          const double share = static_cast<double>(done) / static_cast<double>(total);
          const double passed =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
          bar.show(share, fmt::format("{} of {} blocks, {:.0f} s left", done, total,
                                      passed / share - passed));
          return outcome.has_value();
        });
    if (!outcome) return outcome;
  }
  return outcome;
}

/// Results that a journal holds from before.
Result<void> read_back(const std::string& path, const Work& work,
                       const std::function<void(std::size_t, const whatif::Tally&)>& tally) {
  const auto merged = sweep::merge({path});
  if (!merged) return fail(merged.error());
  for (std::size_t t = 0; t < merged->results.size(); ++t) {
    if (merged->results[t].is_null()) continue;
    const auto& study = t >= work.now.blocks() ? *work.after : work.now;
    const auto found = whatif::tally_from(merged->results[t], study.routes());
    if (!found) return fail(Error{0, path, to_string(found.error())});
    tally(t, *found);
  }
  return {};
}

std::vector<std::size_t> links_of(const whatif::ReportPart& part) {
  std::vector<std::size_t> links;
  for (const std::uint32_t l : part.tally.worst) links.push_back(part.routes->link_of(l));
  return links;
}

std::string picture_of(const whatif::ReportPart& part, std::size_t most) {
  whatif::Evaluator evaluator(*part.routes, most);
  const auto effect = evaluator.evaluate_anew(part.tally.worst);
  return to_svg(*part.fabric, *part.routes, part.tally.worst, effect, evaluator.cycle());
}

}  // namespace

int run_whatif(const Arguments& arguments) {
  whatif::Plan plan;
  Gate gate;
  std::string output;
  std::string shard_text;
  std::string results;
  std::vector<std::string> change_texts;
  std::uint64_t samples = 0;
  bool all = false;
  bool json = false;
  bool no_agents = false;
  Hints hints;
  po::options_description options("Options");
  options.add_options()(
      "fail", number(&plan.fail, decltype(plan.fail){0})->value_name("N")->default_value(1),
      "links in a set")("all", po::bool_switch(&all), "all sets there are (the default)")(
      "samples", number<std::uint64_t>(&samples, 1, whatif::kMostSets)->value_name("M"),
      "M random sets in place of all")("seed", number<std::uint64_t>(0)->value_name("N"),
                                       "of the random choices; without it a new one")(
      "change", po::value(&change_texts)->value_name("C"),
      "look after it too: `drain NODE`, `add A-B`, `remove A-B`; can be repeated")(
      "max-turns", number<unsigned>(0)->value_name("N"),
      "exit status 1 if a packet turns more often")(
      "max-exposure", number<double>(0)->value_name("S"),
      "exit status 1 if agents leave a link or an order unprotected for longer")(
      "no-cut-off", po::bool_switch(&gate.no_cut_off),
      "exit status 1 if a switch has no way on in any set")(
      "hosts", po::value(&hints.hosts)->value_name("GLOB"),
      "nodes with such names are hosts; can be repeated")(
      "level", po::value(&hints.levels)->value_name("NODE=N"),
      "the switch stands on level N; NODE may be a glob; can be repeated")(
      "no-agents", po::bool_switch(&no_agents), "do not let agents react to the worst set")(
      "shard", po::value(&shard_text)->value_name("I/N"),
      "do the I-th part of N; auto, auto/N: as Slurm, Kubernetes or MPI tell")(
      "results", po::value(&results)->value_name("FILE"),
      "add results to FILE as they come, and do only what it lacks")(
      "output,o", po::value(&output)->value_name("FILE"),
      "the worst set as a picture to FILE.svg, or the JSON to FILE")("json", po::bool_switch(&json),
                                                                     "print JSON");
  std::vector<std::string> words;
  const auto values = parse(options, kWhatifUsage, arguments, words);
  if (!values) return kDone;
  const auto given = [&](const char* option) { return values->count(option) != 0; };
  if (words.size() != 1) return complain_usage("whatif", "name one fabric file");
  if (all && given("samples"))
    return complain_usage("whatif", "--all and --samples exclude each other");
  if (given("samples")) plan.samples = samples;
  plan.seed = given("seed") ? (*values)["seed"].as<std::uint64_t>() : std::random_device{}();
  if (given("max-turns")) gate.max_turns = (*values)["max-turns"].as<unsigned>();
  if (given("max-exposure")) gate.max_exposure_s = (*values)["max-exposure"].as<double>();
  sweep::Shard shard;
  if (!shard_text.empty()) {
    const auto s = sweep::shard_from(shard_text, sweep::process_environment);
    if (!s) return complain_usage("whatif", to_string(s.error()));
    if (results.empty()) return complain_usage("whatif", "--shard needs --results FILE");
    if (plan.samples && !given("seed"))
      return complain_usage("whatif",
                            "--shard with --samples needs --seed: the same for all shards");
    shard = *s;
  }

  auto loaded = load_fabric(words[0]);
  if (!loaded) return complain("whatif", loaded.error());
  const auto fabric = with_hints(std::move(*loaded), hints);
  if (!fabric) return complain_usage("whatif", to_string(fabric.error()));
  if (has_layers(*fabric))
    return complain("whatif",
                    {0, words[0],
                     "its links have layers, and so its packets are not routed by levels: "
                     "`prove` looks at all ways through it"});
  if (const auto why = why_no_levels(*fabric)) return no_verdict("whatif", words[0], *why, json);
  whatif::Report report{.plan = plan};
  for (const std::string& text : change_texts) {
    const auto change = whatif::change_from(*fabric, text);
    if (!change) return complain_usage("whatif", "--change: " + to_string(change.error()));
    report.changes.push_back(*change);
  }
  const auto study = whatif::Study::of(*fabric, plan);
  if (!study) return complain_usage("whatif", to_string(study.error()));
  report.now = {.fabric = &*fabric, .routes = &study->routes()};
  Result<Fabric> later_fabric = *fabric;
  std::optional<whatif::Study> later;
  if (!report.changes.empty()) {
    later_fabric = whatif::changed(*fabric, report.changes);
    if (!later_fabric) return complain("whatif", later_fabric.error());
    auto made = whatif::Study::of(*later_fabric, plan);
    if (!made) return complain("whatif", Error{0, "after the change", to_string(made.error())});
    later.emplace(std::move(*made));
    report.after = whatif::ReportPart{.fabric = &*later_fabric, .routes = &later->routes()};
  }

  const Work work{*study, later ? &*later : nullptr};
  const auto tally = [&](std::size_t task, const whatif::Tally& t) {
    (task >= work.now.blocks() ? *report.after : report.now).tally.add(t);
  };
  std::optional<sweep::ResultsFile> journal;
  if (!results.empty()) {
    const sweep::RunIdentity identity{.program = "lldp-level-lab whatif " LLDP_VERSION,
                                      .scenario = {{"fabric", sweep::hash_of(to_json(*fabric))},
                                                   {"fail", plan.fail},
                                                   {"samples", samples},
                                                   {"seed", plan.samples ? plan.seed : 0},
                                                   {"changes", change_texts}},
                                      .tasks = work.tasks()};
    auto opened = sweep::ResultsFile::open(results, identity, shard);
    if (!opened) return complain("whatif", opened.error());
    journal.emplace(std::move(*opened));
    if (const auto ok = read_back(results, work, tally); !ok) return complain("whatif", ok.error());
  }
  const auto ok = run_tasks(work, shard, journal ? &*journal : nullptr, tally);
  if (!ok) return complain("whatif", ok.error());
  if (shard.count > 1) return kDone;  // a part tells nothing of the whole: merge does

  if (!no_agents) {
    report.now.exposure = whatif::expose_failure(*fabric, links_of(report.now));
    if (report.after) {
      report.after->exposure = whatif::expose_failure(*later_fabric, links_of(*report.after));
      report.change_exposure = whatif::expose_changes(*fabric, report.changes);
    }
  }
  const whatif::ReportPart& judged = report.after ? *report.after : report.now;
  judge(judged, gate, report.after ? "after the change" : "", report.violations);
  if (gate.max_exposure_s && report.change_exposure) {
    const double s = std::chrono::duration<double>(report.change_exposure->whole()).count();
    if (s > *gate.max_exposure_s)
      report.violations.push_back(
          fmt::format("the change: exposed for {:.3f} s, more than {} s", s, *gate.max_exposure_s));
  }
  fmt::print("{}", json ? to_json(report) : to_text(report));
  if (!output.empty()) {
    const auto saved = save_text(
        output, output.ends_with(".svg") ? picture_of(judged, plan.fail) : to_json(report));
    if (!saved) return complain("whatif", saved.error());
  }
  return report.violations.empty() ? kDone : kFailed;
}

}  // namespace lldp::lab
