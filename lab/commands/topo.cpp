// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "lab/commands/options.hpp"
#include "lab/report/fabric_picture.hpp"
#include "lab/routing/cases.hpp"
#include "lab/topology/dot.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/files.hpp"
#include "lab/topology/generators.hpp"
#include "lab/topology/json.hpp"
#include "lab/topology/server_fabrics.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kTopoUsage =
    "topo clos|railonly|railoptimized [OPTION...]\n"
    "       lldp-level-lab topo fattree K [OPTION...]\n"
    "       lldp-level-lab topo fcplus|fc|jellyfish|clos-like N [OPTION...]\n"
    "       lldp-level-lab topo ndc N K [OPTION...]\n"
    "       lldp-level-lab topo case1|case2|dualtor|twice|layered [OPTION...]\n"
    "       lldp-level-lab topo convert FABRIC [OPTION...]\n"
    "Writes a fabric as networkx node-link JSON, or as Graphviz DOT.\n";

/// Of anything: no fabric that the lab can hold has more.
constexpr std::size_t kMost = 10'000'000;

/// The options that shape a fabric, and what they shape.
struct Shapes {
  const char* option = nullptr;
  std::string_view kinds{};
};
constexpr Shapes kShapes[] = {
    {"switches", "clos"},
    {"pods", "clos"},
    {"hosts", "clos clos-like"},
    {"links-per-host", "clos"},
    {"ports", "fcplus fc jellyfish"},
    {"hosts-per-switch", "fcplus fc jellyfish"},
    {"v", "fcplus"},
    {"k", "fc"},
    {"degrees", "fc"},
    {"seed", "fcplus fc jellyfish"},
    {"domains", "railonly railoptimized"},
    {"rails", "railonly railoptimized"},
    {"spines", "railoptimized"},
    {"rate-bps", "clos fattree fcplus fc jellyfish clos-like ndc railonly railoptimized"},
    {"delay-ns", "clos fattree fcplus fc jellyfish clos-like ndc railonly railoptimized"},
};

/// An option that was given and shapes nothing here.
std::optional<std::string> idle_option(const po::variables_map& values, std::string_view kind) {
  for (const Shapes& s : kShapes) {
    if (values.count(s.option) == 0 || values[s.option].defaulted()) continue;
    const auto kinds = split_list(s.kinds, ' ');
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      return fmt::format("--{}: does nothing for {}", s.option, escape(kind));
  }
  return std::nullopt;
}

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

std::optional<std::size_t> given(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return std::nullopt;
  return values[option].as<std::size_t>();
}

/// fcplus, fc, jellyfish or clos-like of N switches.
Result<Fabric> make_flat(const std::string& kind, std::size_t switches,
                         const po::variables_map& values, const LinkQuality& quality) {
  if (kind == "clos-like")
    return clos_like(
        switches, values["hosts"].defaulted() ? 10 * switches : values["hosts"].as<std::size_t>(),
        quality);
  const ExpanderShape shape{.switches = switches,
                            .ports = values["ports"].as<std::size_t>(),
                            .hosts_per_switch = values["hosts-per-switch"].as<std::size_t>(),
                            .seed = values["seed"].as<std::uint64_t>(),
                            .quality = quality};
  if (kind == "jellyfish") return jellyfish(shape);
  if (kind == "fcplus") return fcplus(shape, given(values, "v"));
  const auto degrees = values.count("degrees") != 0
                           ? counts_of("--degrees", values["degrees"].as<std::string>())
                           : fc_degrees(shape, given(values, "k"));
  if (!degrees) return fail(degrees.error());
  return fc(shape, *degrees);
}

Result<Fabric> make_rails(bool optimized, const po::variables_map& values,
                          const LinkQuality& quality) {
  const std::size_t spines = values["spines"].as<std::size_t>();
  if (optimized && spines == 0) return fail(Error{0, "railoptimized", "0 spines: at least 1"});
  return rails({.domains = values["domains"].as<std::size_t>(),
                .rails = values["rails"].as<std::size_t>(),
                .spines = optimized ? spines : 0,
                .quality = quality});
}

}  // namespace

int run_topo(const Arguments& arguments) {
  LinkQuality quality;
  std::string output;
  po::options_description options("Options");
  options.add_options()(
      "output,o", po::value(&output)->value_name("FILE"),
      "write to FILE instead of standard output; FILE.dot: as DOT; FILE.svg: a picture")(
      "json", "as JSON")("dot", "as DOT, `\"leaf1\":\"swp1\" -- \"spine1\":\"swp3\"`")(
      "rate-bps",
      number<std::uint64_t>(&quality.rate_bps, 1, 100'000'000'000'000)
          ->value_name("N")
          ->default_value(quality.rate_bps),
      "rate of every link, bit/s (but of those inside a server)")(
      "delay-ns",
      number<std::uint64_t>(&quality.delay_ns, 0, 1'000'000'000'000)
          ->value_name("N")
          ->default_value(quality.delay_ns),
      "one-way delay of every link, ns")(
      "switches", po::value<std::string>()->value_name("N,N[,...]")->default_value("4,4,2"),
      "clos: switches on level 1, 2, ... (2 to 5 levels)")(
      "pods", po::value<std::string>()->value_name("N[,N...]"),
      "clos: pods on levels 1 and 2, on level 3, ... below the top (2 each)")(
      "hosts", number(std::size_t{0}, kMost)->value_name("N")->default_value(8),
      "clos, clos-like: hosts in all (clos-like: 10 N)")(
      "links-per-host", number(std::size_t{0}, kMost)->value_name("N")->default_value(1),
      "clos: links of a host, each to another leaf")(
      "ports", number(std::size_t{0}, kMost)->value_name("S")->default_value(18),
      "fcplus, fc, jellyfish: ports of a switch to other switches")(
      "hosts-per-switch", number(std::size_t{0}, kMost)->value_name("N")->default_value(1),
      "fcplus, fc, jellyfish: hosts of a switch")(
      "v", number(std::size_t{0}, kMost)->value_name("V"),
      "fcplus: virtual switches of a switch (the fewest that make no group of more than 5 layers)")(
      "k", number(std::size_t{0}, kMost)->value_name("K"),
      "fc: layers (the fewest that leave no pair without a path)")(
      "degrees", po::value<std::string>()->value_name("N,N[,...]"),
      "fc: links between layers 1 and 2, 2 and 3, ... of a switch")(
      "seed", number<std::uint64_t>(0)->value_name("N")->default_value(1),
      "of what is wired at random")(
      "domains", number(std::size_t{0}, kMost)->value_name("N")->default_value(4),
      "railonly, railoptimized: servers")(
      "rails", number(std::size_t{0}, kMost)->value_name("N")->default_value(8),
      "railonly, railoptimized: accelerators of a server")(
      "spines", number(std::size_t{0}, kMost)->value_name("N")->default_value(4),
      "railoptimized: switches that join the rails");
  std::vector<std::string> words;
  const auto values = parse(options, kTopoUsage, arguments, words);
  if (!values) return kDone;

  const bool json = values->count("json") != 0;
  if (json && values->count("dot") != 0)
    return complain_usage("topo", "--json and --dot exclude each other");
  if (!words.empty())
    if (const auto idle = idle_option(*values, words[0])) return complain_usage("topo", *idle);

  Result<Fabric> fabric;
  if (words.size() == 1 && words[0] == "clos") {
    fabric = make_clos(*values, quality);
  } else if (words.size() == 2 && words[0] == "fattree") {
    const auto k = count_of("K", words[1]);
    if (!k) return complain_usage("topo", to_string(k.error()));
    fabric = fat_tree(*k, quality);
  } else if (words.size() == 2 && (words[0] == "fcplus" || words[0] == "fc" ||
                                   words[0] == "jellyfish" || words[0] == "clos-like")) {
    const auto n = count_of("N", words[1]);
    if (!n) return complain_usage("topo", to_string(n.error()));
    fabric = make_flat(words[0], *n, *values, quality);
  } else if (words.size() == 3 && words[0] == "ndc") {
    const auto n = count_of("N", words[1]);
    const auto k = count_of("K", words[2]);
    if (!n || !k) return complain_usage("topo", to_string(n ? k.error() : n.error()));
    fabric = ndc(*n, *k, quality);
  } else if (words.size() == 1 && (words[0] == "railonly" || words[0] == "railoptimized")) {
    fabric = make_rails(words[0] == "railoptimized", *values, quality);
  } else if (words.size() == 1 && std::find(std::begin(kScenarios), std::end(kScenarios),
                                            words[0]) != std::end(kScenarios)) {
    fabric = scenario(words[0]).map([](NamedCase s) { return std::move(s.fabric); });
  } else if (words.size() == 2 && words[0] == "convert") {
    fabric = load_fabric(words[1]);
    if (!fabric) return complain("topo", fabric.error());
  } else {
    return complain_usage("topo",
                          "name a topology and its size, one of the cases or `convert FABRIC`");
  }
  if (!fabric) return complain_usage("topo", to_string(fabric.error()));
  const bool dot = !json && (values->count("dot") != 0 || output.ends_with(".dot"));
  const bool picture = !json && !dot && output.ends_with(".svg");
  const auto saved = save_text(output, picture ? fabric_picture(*fabric)
                                       : dot   ? to_dot(*fabric)
                                               : to_json(*fabric));
  if (!saved) return complain("topo", saved.error());
  return kDone;
}

}  // namespace lldp::lab
