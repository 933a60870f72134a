// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace lldp::lab {
namespace {

/// A scenario in words.
struct Sketch {
  std::string_view name{};
  std::string_view switches{};  ///< from the top down
  /// Each group of switches is cabled to each of the other: `Leaf1 Leaf2:Spine1 Spine2`.
  std::vector<std::string_view> meshes{};
  /// The lowest switches; `hostN` hangs on the one whose name ends in N.
  std::string_view with_host{};
  std::vector<std::string> failed{};
  std::vector<std::pair<std::string_view, std::string_view>> flows{};  ///< name, FROM-VIA-...-TO
};

const Sketch kSketches[] = {
    {.name = "case1",
     .switches = "Spine1 Spine2 Leaf1 Leaf2 Leaf3 Leaf4",
     .meshes = {"Leaf1 Leaf2 Leaf3 Leaf4:Spine1 Spine2"},
     .with_host = "Leaf1 Leaf2 Leaf3 Leaf4",
     .failed = {"Spine1-Leaf4", "Spine2-Leaf1"},
     .flows = {{"X", "host2-Spine1-host4"},
               {"Y", "host3-Spine2-host1"},
               {"straight", "host1-Spine1-host3"}}},
    {.name = "case2",
     .switches = "Spine1 Spine2 AGG1 AGG2 AGG3 AGG4 A1 A2 B1 B2",
     .meshes = {"A1 A2:AGG1 AGG2", "B1 B2:AGG3 AGG4", "AGG1 AGG2 AGG3 AGG4:Spine1 Spine2"},
     .with_host = "A1 A2 B1 B2",
     .failed = {"AGG3-B1", "AGG2-A2"},
     .flows = {{"X", "hostA1-AGG2-Spine1-AGG3-hostB1"},
               {"Y", "hostB2-AGG3-Spine2-AGG2-hostA2"},
               {"straight", "hostA2-AGG1-Spine1-AGG3-hostB2"}}},
    {.name = "twice",
     .switches = "Spine1 Spine2 Spine3 Leaf1 Leaf2 Leaf3 Leaf4",
     .meshes = {"Leaf1 Leaf2 Leaf3 Leaf4:Spine1 Spine2 Spine3"},
     .with_host = "Leaf1 Leaf2 Leaf3 Leaf4",
     .failed = {"Spine1-Leaf4", "Spine2-Leaf4"},
     .flows = {{"XX", "host1-Spine1-Leaf2-Spine2-Leaf3-host4"},
               {"straight", "host1-Spine1-host3"}}},
};

std::string host_of(std::string_view lowest) {
  return fmt::format("host{}", lowest.starts_with("Leaf") ? lowest.substr(4) : lowest);
}

class Sketcher {
 public:
  explicit Sketcher(std::string_view name) { fabric_.name = name; }
  void add(std::string name, Role role) {
    index_.emplace(name, fabric_.nodes.size());
    fabric_.nodes.push_back({.name = std::move(name), .role = role});
  }
  void cable(const std::string& lower, const std::string& upper) {
    fabric_.links.push_back({.ends = {end(lower), end(upper)}});
  }
  Result<Fabric> finish() { return complete(std::move(fabric_)); }

 private:
  LinkEnd end(const std::string& node) {
    const std::size_t n = index_.at(node);
    const bool host = fabric_.nodes[n].role == Role::kHost;
    return {n, host ? "eth0" : fmt::format("swp{}", ++ports_used_[n])};
  }

  Fabric fabric_{};
  std::map<std::string, std::size_t, std::less<>> index_{};
  std::map<std::size_t, std::size_t> ports_used_{};
};

Result<Scenario> draw(const Sketch& sketch) {
  Sketcher sketcher(sketch.name);
  const auto lowest = split_list(sketch.with_host, ' ');
  for (const std::string& name : split_list(sketch.switches, ' '))
    sketcher.add(name, Role::kSwitch);
  for (const std::string& name : lowest) sketcher.add(host_of(name), Role::kHost);
  for (const std::string& name : lowest) sketcher.cable(host_of(name), name);
  for (const std::string_view mesh : sketch.meshes) {
    const std::size_t colon = mesh.find(':');
    for (const std::string& lower : split_list(mesh.substr(0, colon), ' '))
      for (const std::string& upper : split_list(mesh.substr(colon + 1), ' '))
        sketcher.cable(lower, upper);
  }
  auto fabric = sketcher.finish();
  if (!fabric) return fail(fabric.error());
  Scenario scenario{.name = std::string(sketch.name), .fabric = std::move(*fabric)};
  auto failed = failed_links(scenario.fabric, sketch.failed);
  if (!failed) return fail(failed.error());
  scenario.failed = std::move(*failed);
  for (const auto& [name, nodes] : sketch.flows) {
    auto flow = flow_between(scenario.fabric, std::string(name), nodes);
    if (!flow) return fail(flow.error());
    scenario.flows.push_back(std::move(*flow));
  }
  return scenario;
}

}  // namespace

Result<Scenario> scenario(std::string_view name) {
  for (const Sketch& sketch : kSketches)
    if (sketch.name == name) return draw(sketch);
  return fail(Error{0, escape(name),
                    fmt::format("no such case: there are {}", fmt::join(kScenarios, ", "))});
}

}  // namespace lldp::lab
