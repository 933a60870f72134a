// SPDX-License-Identifier: Apache-2.0
#include "lab/live/agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/spelling.hpp"
#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/live/processes.hpp"
#include "lab/topology/forwarding.hpp"

namespace lldp::lab::live {
namespace {

/// Stands for the node's name in arguments for all.
constexpr std::string_view kNodeMark = "{node}";

/// The agents that run, by their node.
Processes find_agents(const FabricPlace& place, const std::vector<std::string>& nodes) {
  std::map<std::string, std::string> node_of;
  for (const std::string& node : nodes) node_of.emplace(place.socket(node), node);
  return find_processes([&](const std::vector<std::string>& words) {
    const auto after = [&](std::string_view option) {
      const auto at = std::find(words.begin(), words.end(), option);
      return at == words.end() || at + 1 == words.end() ? std::string() : *(at + 1);
    };
    const auto node = node_of.find(after("--socket"));
    const bool is_ours =
        node != node_of.end() && after("--state-file") == place.state_file(node->second);
    return is_ours ? node->second : std::string();
  });
}

/// What the agent of a switch in a layered expander is told of its ports.
std::vector<std::string> layer_arguments(const Fabric& fabric, const std::string& node) {
  std::vector<std::string> words;
  for (const Link& link : fabric.links)
    for (std::size_t e = 0; e < 2; ++e)
      if (const auto layers = layers_of(link, e);
          layers && fabric.nodes[link.ends[e].node].name == node)
        words.push_back(
            fmt::format("--port.{}.layers={}", spell(link.ends[e].port), to_string(*layers)));
  return words;
}

}  // namespace

std::string own_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::string default_agent() {
  std::error_code error;
  const auto beside = std::filesystem::path(own_program()).parent_path() / "lldp-leveld";
  return std::filesystem::exists(beside, error) ? beside.string() : "lldp-leveld";
}

Result<std::size_t> start_agents(const FabricPlace& place, const Fabric& fabric,
                                 const std::vector<std::string>& nodes, const std::string& agent,
                                 const std::vector<std::string>& arguments) {
  const auto running = find_agents(place, nodes);
  std::map<std::string_view, Role> roles;
  for (const Node& node : fabric.nodes) roles.emplace(node.name, node.role);
  const KeepNamespace home;
  std::size_t started = 0;
  for (const std::string& node : nodes) {
    if (running.count(node) != 0) continue;
    // The child is in the namespace that its parent was in when it was made: no shell, no wrapper.
    if (auto ok = enter(place, node); !ok) return fail(ok.error());
    // Nothing in a namespace is physical: neither ports nor role would be found there.
    std::vector<std::string> words{agent,
                                   "--qos.lossless",
                                   "roce",
                                   "--socket",
                                   place.socket(node),
                                   "--state-file",
                                   place.state_file(node),
                                   "--system-name",
                                   node,
                                   "--ports",
                                   "*"};
    if (const auto role = roles.find(node); role != roles.end())
      words.insert(words.end(), {"--role", std::string(to_string(role->second))});
    for (std::string& word : layer_arguments(fabric, node)) words.push_back(std::move(word));
    for (std::string word : arguments) {
      if (const auto at = word.find(kNodeMark); at != word.npos)
        word.replace(at, kNodeMark.size(), node);
      words.push_back(std::move(word));
    }
    if (auto ok = spawn(words, place.log(node)); !ok) return fail(ok.error());
    ++started;
  }
  return started;
}

void stop_agents(const FabricPlace& place, const std::vector<std::string>& nodes) {
  end_processes(find_agents(place, nodes));
}

void kill_agents(const FabricPlace& place, const std::vector<std::string>& nodes) {
  kill_processes(find_agents(place, nodes));
}

}  // namespace lldp::lab::live
