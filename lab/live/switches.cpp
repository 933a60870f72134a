// SPDX-License-Identifier: Apache-2.0
#include "lab/live/switches.hpp"

#include <algorithm>

#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/live/processes.hpp"
#include "os/file.hpp"

namespace lldp::lab::live {
namespace {

constexpr char kSubcommand[] = "switch";

Processes find_switches(const Place& place, const std::vector<std::string>& nodes) {
  std::map<std::string, std::string> node_of;
  for (const std::string& node : nodes) node_of.emplace(place.switch_file(node), node);
  return find_processes([&](const std::vector<std::string>& words) {
    const auto node =
        words.size() == 3 && words[1] == kSubcommand ? node_of.find(words[2]) : node_of.end();
    return node == node_of.end() ? std::string() : node->second;
  });
}

}  // namespace

Result<void> start_switches(const Place& place, const std::map<std::string, std::string>& files,
                            const std::string& program) {
  std::vector<std::string> nodes;
  for (const auto& [node, text] : files) nodes.push_back(node);
  const Processes running = find_switches(place, nodes);
  const KeepNamespace home;
  for (const auto& [node, text] : files) {
    if (running.contains(node)) continue;
    if (auto ok = replace_file(place.switch_file(node), text); !ok) return ok;
    if (auto ok = enter(place, node); !ok) return ok;
    for (const char* forwarding :
         {"/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"})
      if (auto ok = write_setting(forwarding, "0"); !ok) return ok;
    if (auto ok = spawn({program, kSubcommand, place.switch_file(node)}, place.switch_log(node));
        !ok)
      return ok;
  }
  return {};
}

void stop_switches(const Place& place, const std::vector<std::string>& nodes) {
  end_processes(find_switches(place, nodes));
}

}  // namespace lldp::lab::live
