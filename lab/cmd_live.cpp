// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>

#include "lab/files.hpp"
#include "lab/live/agents.hpp"
#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/options.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kUsageLine =
    "live up FABRIC [OPTION...]\n"
    "       lldp-level-lab live down [OPTION...]\n"
    "Runs a fabric on this machine: a network namespace per node, a veth pair per link.\n";

int up(const live::Place& place, const Fabric& fabric) {
  if (auto ok = live::check_names(place, fabric); !ok) return complain("live", ok.error());
  live::Manifest manifest{.own_tree = place.own_tree};
  for (const Node& node : fabric.nodes) manifest.nodes.push_back(node.name);
  if (auto ok = live::write_manifest(place, manifest); !ok) return complain("live", ok.error());
  if (auto ok = live::make(place, fabric); !ok) {
    if (auto gone = live::remove(place, manifest); !gone) complain("live", gone.error());
    return complain("live", ok.error());
  }
  return kDone;
}

int down(const live::Place& place) {
  const auto manifest = live::read_manifest(place);
  if (!manifest) return complain("live", manifest.error());
  if (auto ok = live::remove(place, *manifest); !ok) return complain("live", ok.error());
  return kDone;
}

}  // namespace

int run_live(const Arguments& arguments) {
  std::string prefix;
  std::string dir;
  po::options_description options("Options");
  options.add_options()("prefix", po::value(&prefix)->value_name("NAME")->default_value("lab"),
                        "namespaces are NAME-NODE; several labs can run side by side")(
      "dir", po::value(&dir)->value_name("PATH"),
      "directory of sockets, state files and logs (/run/lldp-level-lab/NAME)");
  std::vector<std::string> words;
  const auto values = parse(options, kUsageLine, arguments, words);
  if (!values) return kDone;
  if (words.empty()) return complain_usage("live", "say `up`, `run` or `down`");
  const auto place = live::place_of(prefix, dir);
  if (!place) return complain_usage("live", to_string(place.error()));
  if (words[0] == "down") return down(*place);
  if (words.size() < 2) return complain_usage("live", "name the fabric's file");
  const auto fabric = load_fabric(words[1]);
  if (!fabric) return complain("live", fabric.error());
  return up(*place, *fabric);
}

}  // namespace lldp::lab
