// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "lab/commands/options.hpp"
#include "lab/routing/cases.hpp"
#include "lab/topology/dot.hpp"
#include "lab/topology/files.hpp"
#include "lab/topology/generators.hpp"
#include "lab/topology/json.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kUsageLine =
    "topo clos [OPTION...]\n"
    "       lldp-level-lab topo fattree K [OPTION...]\n"
    "       lldp-level-lab topo case1|case2|twice [OPTION...]\n"
    "       lldp-level-lab topo convert FABRIC [OPTION...]\n"
    "Writes a fabric as networkx node-link JSON, or as Graphviz DOT.\n";

Result<std::size_t> count_of(std::string_view option, std::string_view text) {
  std::size_t n = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (code != std::errc{} || end != text.data() + text.size())
    return fail(Error{0, std::string(option), fmt::format("`{}` is not a whole number", text)});
  return n;
}

/// `16,8,4`
Result<std::vector<std::size_t>> counts_of(std::string_view option, std::string_view text) {
  std::vector<std::size_t> counts;
  for (const std::string& part : split_list(text)) {
    const auto n = count_of(option, part);
    if (!n) return fail(n.error());
    counts.push_back(*n);
  }
  return counts;
}

Result<Fabric> make_clos(const po::variables_map& values, const LinkQuality& quality) {
  const auto switches = counts_of("--switches", values["switches"].as<std::string>());
  if (!switches) return fail(switches.error());
  const std::size_t below_top = switches->size() - std::min<std::size_t>(switches->size(), 2);
  const auto pods = values.count("pods") != 0
                        ? counts_of("--pods", values["pods"].as<std::string>())
                        : std::vector<std::size_t>(below_top, 2);
  if (!pods) return fail(pods.error());
  return clos({.switches = *switches,
               .pods = *pods,
               .hosts = values["hosts"].as<std::size_t>(),
               .links_per_host = values["links-per-host"].as<std::size_t>(),
               .quality = quality});
}

}  // namespace

int run_topo(const Arguments& arguments) {
  LinkQuality quality;
  std::string output;
  po::options_description options("Options");
  options.add_options()("output,o", po::value(&output)->value_name("FILE"),
                        "write to FILE instead of standard output; FILE.dot: as DOT")(
      "json", "as JSON")("dot", "as DOT, `\"leaf1\":\"swp1\" -- \"spine1\":\"swp3\"`")(
      "rate-bps", po::value(&quality.rate_bps)->value_name("N")->default_value(quality.rate_bps),
      "rate of every link, bit/s")(
      "delay-ns", po::value(&quality.delay_ns)->value_name("N")->default_value(quality.delay_ns),
      "one-way delay of every link, ns")(
      "switches", po::value<std::string>()->value_name("N,N[,...]")->default_value("4,4,2"),
      "clos: switches on level 1, 2, ... (2 to 5 levels)")(
      "pods", po::value<std::string>()->value_name("N[,N...]"),
      "clos: pods on levels 1 and 2, on level 3, ... below the top (2 each)")(
      "hosts", po::value<std::size_t>()->value_name("N")->default_value(8), "clos: hosts in all")(
      "links-per-host", po::value<std::size_t>()->value_name("N")->default_value(1),
      "clos: links of a host, each to another leaf");
  std::vector<std::string> words;
  const auto values = parse(options, kUsageLine, arguments, words);
  if (!values) return kDone;

  Result<Fabric> fabric;
  if (words.size() == 1 && words[0] == "clos") {
    fabric = make_clos(*values, quality);
  } else if (words.size() == 2 && words[0] == "fattree") {
    const auto k = count_of("K", words[1]);
    if (!k) return complain_usage("topo", to_string(k.error()));
    fabric = fat_tree(*k, quality);
  } else if (words.size() == 1 && std::find(std::begin(kScenarios), std::end(kScenarios),
                                            words[0]) != std::end(kScenarios)) {
    fabric = scenario(words[0]).map([](Scenario s) { return std::move(s.fabric); });
  } else if (words.size() == 2 && words[0] == "convert") {
    fabric = load_fabric(words[1]);
    if (!fabric) return complain("topo", fabric.error());
  } else {
    return complain_usage("topo",
                          "say `clos`, `fattree K`, `case1`, `case2`, `twice` or `convert FABRIC`");
  }
  if (!fabric) return complain_usage("topo", to_string(fabric.error()));
  const bool dot =
      values->count("json") == 0 && (values->count("dot") != 0 || output.ends_with(".dot"));
  const auto saved = save_text(output, dot ? to_dot(*fabric) : to_json(*fabric));
  if (!saved) return complain("topo", saved.error());
  return kDone;
}

}  // namespace lldp::lab
