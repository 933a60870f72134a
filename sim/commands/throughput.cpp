// SPDX-License-Identifier: Apache-2.0
#include "sim/flow/throughput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lab/commands/options.hpp"
#include "lab/report/progress.hpp"
#include "lab/routing/counts.hpp"
#include "lab/routing/edge_disjoint.hpp"
#include "lab/routing/tagger.hpp"
#include "lab/topology/files.hpp"
#include "sim/commands/commands.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kThroughputUsage =
    "throughput FABRIC [OPTION...]\n"
    "How much of the traffic between all hosts a fabric carries at once, on the paths\n"
    "that a routing allows: 1 is every host at the rate of its link.\n";

struct Choice {
  std::string traffic{};
  std::string routing{};
  std::size_t paths = 0;
  std::size_t lossless = 0;
  double gap = 0;
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  bool tagger = false;
};

struct Report {
  std::size_t senders = 0;
  std::size_t pairs = 0;
  double bound = 0;
  PathLengths lengths{};
  Throughput result{};
  std::size_t tagger = 0;
};

std::vector<SourcePaths> paths_by(const Graph& graph, const std::vector<Demand>& pairs,
                                  const Choice& c, const Tell& tell) {
  if (c.routing == "edge-disjoint") return edge_disjoint_paths(graph, pairs, c.threads, tell);
  const std::size_t turns = c.routing == "ksp"      ? kAnyTurns
                            : c.routing == "updown" ? 0
                                                    : c.lossless - 1;
  auto paths = shortest_paths(graph, pairs, {.paths = c.paths, .max_turns = turns, .seed = c.seed},
                              c.threads, tell);
  if (c.routing == "updown") keep_shortest(paths);  // ECMP
  return paths;
}

Report measure(const Fabric& fabric, const Choice& c) {
  ProgressBar bar("throughput");
  const Graph graph = Graph::of(fabric);
  const auto senders = senders_of(fabric);
  const auto traffic = c.traffic == "all-to-all" ? all_to_all(senders)
                       : c.traffic == "uniform"  ? uniform_random(senders, 0.125, c.seed)
                                                 : near_worst(graph, senders, c.seed, c.threads);
  const auto pairs = pairs_of(graph, traffic);
  const auto paths = paths_by(graph, pairs, c, [&](std::size_t done, std::size_t total) {
    bar.show(static_cast<double>(done) / static_cast<double>(total), "paths");
  });
  Report r{.senders = senders.size(), .pairs = traffic.size()};
  r.bound = throughput_bound(graph, traffic);
  r.lengths = path_lengths(paths, c.paths);
  if (c.tagger) r.tagger = tagger_priorities(graph, paths);
  r.result = throughput(graph, paths, traffic, {.gap = c.gap}, c.threads, [&](const Throughput& t) {
    bar.show(c.gap / t.gap(),
             fmt::format("round {}: {:.4f} to {:.4f}", t.rounds, t.lower, t.upper));
  });
  // What no routing exceeds, these paths do not; but for the last digits it is above what was
  // found.
  r.result.upper = std::max(r.result.lower, std::min(r.result.upper, r.bound));
  return r;
}

void print_json(const Fabric& fabric, const Choice& c, const Report& r) {
  nlohmann::ordered_json j = {{"version", 1},
                              {"fabric", escape(fabric.name)},
                              {"switches_with_hosts", r.senders},
                              {"traffic", c.traffic},
                              {"routing", c.routing},
                              {"pairs", r.pairs},
                              {"pairs_without_path", r.result.without},
                              {"paths", r.result.paths},
                              {"hops", r.lengths.average},
                              {"lower", r.result.lower},
                              {"upper", r.result.upper},
                              {"bound", r.bound},
                              {"rounds", r.result.rounds},
                              {"seed", c.seed}};
  if (c.tagger) j["tagger_priorities"] = r.tagger;
  fmt::print("{}\n", j.dump(2));
}

void print_text(const Fabric& fabric, const Choice& c, const Report& r) {
  fmt::print(
      "{}: {} switches with hosts, {} pairs send ({}), {} paths ({}), {:.3f} hops on average\n",
      escape(fabric.name), r.senders, r.pairs, c.traffic, r.result.paths, c.routing,
      r.lengths.average);
  if (r.result.without != 0) {
    fmt::print("throughput 0: {} pairs have no path\n", r.result.without);
    return;
  }
  fmt::print(
      "throughput {:.4f} to {:.4f}, proven in {} rounds; no routing carries more than {:.4f}\n",
      r.result.lower, r.result.upper, r.result.rounds, r.bound);
  if (c.tagger) fmt::print("Tagger needs {} lossless priorities for these paths\n", r.tagger);
}

}  // namespace

int run_throughput(const Arguments& arguments) {
  Choice c;
  po::options_description options("Options");
  options.add_options()("traffic",
                        po::value(&c.traffic)->value_name("T")->default_value("all-to-all"),
                        "all-to-all; uniform: each to an eighth of the others; near-worst: each to "
                        "one, as far away as can be")(
      "routing", po::value(&c.routing)->value_name("R")->default_value("df-ksp"),
      "df-ksp: shortest paths with as many turns as there are priorities; ksp; updown: ECMP; "
      "edge-disjoint: FC's")(
      "paths", number<std::size_t>(&c.paths, 1, 10'000)->value_name("K")->default_value(32),
      "paths of a pair")("lossless",
                         number<std::size_t>(&c.lossless, 1, 7)->value_name("N")->default_value(2),
                         "df-ksp: lossless priorities, 1 to 7")(
      "tagger", po::bool_switch(&c.tagger), "how many priorities Tagger needs for the paths")(
      "gap", number(&c.gap, 1e-4, 1.0)->value_name("G")->default_value(0.01, "0.01"),
      "stop when the bounds are this close")(
      "seed", number<std::uint64_t>(&c.seed, 0)->value_name("N")->default_value(1),
      "of all random choices")("threads",
                               number<std::size_t>(&c.threads, 1, 256)
                                   ->value_name("N")
                                   ->default_value(default_threads(), "all"),
                               "how many processors to use")("json", "print JSON");
  std::vector<std::string> words;
  const auto values = parse(options, kThroughputUsage, arguments, words);
  if (!values) return kDone;
  if (words.size() != 1) return complain_usage("throughput", "name one fabric file");
  if (c.traffic != "all-to-all" && c.traffic != "uniform" && c.traffic != "near-worst")
    return complain_usage("throughput", fmt::format("--traffic: `{}` is not all-to-all, uniform or "
                                                    "near-worst",
                                                    escape(c.traffic)));
  if (c.routing != "df-ksp" && c.routing != "ksp" && c.routing != "updown" &&
      c.routing != "edge-disjoint")
    return complain_usage("throughput", fmt::format("--routing: `{}` is not df-ksp, ksp, updown or "
                                                    "edge-disjoint",
                                                    escape(c.routing)));
  const auto fabric = load_fabric(words[0]);
  if (!fabric) return complain("throughput", fabric.error());
  if (const auto rate_0 = std::ranges::find(fabric->links, 0U, &Link::rate_bps);
      rate_0 != fabric->links.end()) {
    const LinkEnd& end = rate_0->ends[0];
    return complain(
        "throughput",
        {0, fmt::format("{}:{}", escape(fabric->nodes[end.node].name), escape(end.port)),
         "its link's rate is 0: it carries nothing"});
  }
  if (senders_of(*fabric).size() < 2)
    return complain("throughput", {0, words[0], "fewer than two switches have hosts"});
  if (!has_one_rate(*fabric))
    return complain("throughput", {0, words[0],
                                   "links between switches of different rates: they "
                                   "would count alike"});
  const Report report = measure(*fabric, c);
  values->count("json") != 0 ? print_json(*fabric, c, report) : print_text(*fabric, c, report);
  return report.result.without == 0 ? kDone : kFailed;
}

}  // namespace lldp::lab
