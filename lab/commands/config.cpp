// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "lab/commands/options.hpp"
#include "lab/topology/configuration.hpp"
#include "lab/topology/files.hpp"

namespace lldp::lab {
namespace {

constexpr std::string_view kConfigUsage =
    "config FABRIC --node S [OPTION...]\n"
    "Writes what lldp-leveld has to be told on a switch of a layered expander (FC+,\n"
    "FC): of each port the layer that it belongs to and the one that its link leads\n"
    "to, as keys of its configuration file.\n";

}  // namespace

int run_config(const Arguments& arguments) {
  std::string node;
  std::string output;
  po::options_description options("Options");
  options.add_options()("node", po::value(&node)->value_name("S"), "the switch")(
      "output,o", po::value(&output)->value_name("FILE"), "else standard output");
  std::vector<std::string> words;
  if (!parse(options, kConfigUsage, arguments, words)) return kDone;
  if (words.size() != 1) return complain_usage("config", "name one fabric file");
  if (node.empty()) return complain_usage("config", "name the switch with --node");
  const auto fabric = load_fabric(words[0]);
  if (!fabric) return complain("config", fabric.error());
  const auto at = std::ranges::find(fabric->nodes, node, &Node::name);
  if (at == fabric->nodes.end())
    return complain("config", Error{0, escape(node), "the fabric has no such node"});
  const auto text = configuration_of(*fabric, static_cast<std::size_t>(at - fabric->nodes.begin()));
  if (!text) return complain("config", text.error());
  // A fabric may call its ports what no interface can be called.
  if (const auto read = config::parse(*text, node); !read)
    return complain("config", read.error().front());
  const auto saved = save_text(output, *text);
  return saved ? kDone : complain("config", saved.error());
}

}  // namespace lldp::lab
