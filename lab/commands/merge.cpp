// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lab/commands/options.hpp"
#include "lab/sweep/journal.hpp"
#include "lab/topology/files.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kMergeUsage =
    "merge RESULTS... [OPTION...]\n"
    "Joins what the shards of a sweep wrote with --results. Exit status 0: it is\n"
    "whole; 1: results are missing (the shards to run again are printed as `sbatch\n"
    "--array` takes them), doubled, or of different runs.\n";

/// One file that is whole: what a run without --shard would have written.
std::string joined(const sweep::Merged& merged) {
  sweep::Json header = merged.identity;
  header["shard"] = 0;
  header["shards"] = 1;
  header["base"] = 1;
  std::string out = header.dump() + "\n";
  for (std::size_t t = 0; t < merged.results.size(); ++t)
    if (!merged.results[t].is_null())
      out +=
          sweep::Json{{"hash", header["hash"]}, {"task", t}, {"result", merged.results[t]}}.dump() +
          "\n";
  return out;
}

}  // namespace

int run_merge(const Arguments& arguments) {
  std::string output;
  bool json = false;
  po::options_description options("Options");
  options.add_options()("output,o", po::value(&output)->value_name("FILE"),
                        "write all results to FILE, which the sweep's command takes as --results")(
      "json", po::bool_switch(&json), "print JSON");
  std::vector<std::string> words;
  if (!parse(options, kMergeUsage, arguments, words)) return kDone;
  if (words.empty()) return complain_usage("merge", "name files of results");
  const auto merged = sweep::merge(words);
  if (!merged) return complain("merge", merged.error());
  const std::size_t have = merged->results.size() - merged->missing.size();
  if (json) {
    fmt::print("{}\n", sweep::Json{{"version", 1},
                                   {"program", merged->identity["program"]},
                                   {"hash", merged->identity["hash"]},
                                   {"tasks", merged->results.size()},
                                   {"done", have},
                                   {"missing", merged->missing},
                                   {"array", merged->missing_shards()}}
                           .dump(2));
  } else {
    fmt::print("{} of {} tasks\n", have, merged->results.size());
    if (!merged->missing.empty()) fmt::print("missing: --array={}\n", merged->missing_shards());
  }
  if (!output.empty()) {
    const auto saved = save_text(output, joined(*merged));
    if (!saved) return complain("merge", saved.error());
  }
  return merged->missing.empty() ? kDone : kFailed;
}

}  // namespace lldp::lab
