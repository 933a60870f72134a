// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/forwarding.hpp"

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
  std::string_view servers{};  ///< hosts that `meshes` cable, by links of 25 Gb/s
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
    // server1 is active on ToR1, server2 on ToR2: the other end of each one's cable is on standby.
    {.name = "dualtor",
     .switches = "T1a T1b ToR1 ToR2 ToR3 ToR4",
     .meshes = {"server1 server2:ToR1 ToR2", "ToR1 ToR2 ToR3 ToR4:T1a T1b"},
     .with_host = "ToR3 ToR4",
     .servers = "server1 server2",
     .failed = {"server1-ToR2", "server2-ToR1"},
     .flows = {{"X", "host3-T1a-ToR2-T1b-server1"},
               {"Y", "host4-T1b-ToR1-T1a-server2"},
               {"straight", "host3-T1a-ToR1-server1"}}},
    {.name = "twice",
     .switches = "Spine1 Spine2 Spine3 Leaf1 Leaf2 Leaf3 Leaf4",
     .meshes = {"Leaf1 Leaf2 Leaf3 Leaf4:Spine1 Spine2 Spine3"},
     .with_host = "Leaf1 Leaf2 Leaf3 Leaf4",
     .failed = {"Spine1-Leaf4", "Spine2-Leaf4"},
     .flows = {{"XX", "host1-Spine1-Leaf2-Spine2-Leaf3-host4"},
               {"straight", "host1-Spine1-host3"}}},
};

constexpr std::uint64_t kServerRate = 25'000'000'000;

std::string host_of(std::string_view lowest) {
  for (const std::string_view kind : {"Leaf", "ToR"})
    if (lowest.starts_with(kind)) lowest.remove_prefix(kind.size());
  return fmt::format("host{}", lowest);
}

class Sketcher {
 public:
  explicit Sketcher(std::string_view name) { fabric_.name = name; }
  void add(std::string name, Role role) {
    index_.emplace(name, fabric_.nodes.size());
    fabric_.nodes.push_back({.name = std::move(name), .role = role});
  }
  void cable(const std::string& lower, const std::string& upper, bool server) {
    fabric_.links.push_back({.ends = {end(lower), end(upper)}});
    if (server) fabric_.links.back().rate_bps = kServerRate;
  }
  Result<Fabric> finish() { return complete(std::move(fabric_)); }

 private:
  LinkEnd end(const std::string& node) {
    const std::size_t n = index_.at(node);
    const bool host = fabric_.nodes[n].role == Role::kHost;
    if (host) return {n, fmt::format("eth{}", ports_used_[n]++)};
    return {n, fmt::format("swp{}", ++ports_used_[n])};
  }

  Fabric fabric_{};
  std::map<std::string, std::size_t, std::less<>> index_{};
  std::map<std::size_t, std::size_t> ports_used_{};
};

/// All paths from host to host over three to five switches, in the fabric's order.
class Paths {
 public:
  explicit Paths(const Fabric& fabric) : fabric_(fabric), links_of_(adjacencies(fabric)) {}

  /// The first one for which `fits` holds, as a flow along it.
  template <class Fits>
  [[nodiscard]] std::optional<FlowPath> find(const std::string& name, Fits fits) const {
    for (std::size_t n = 0; n < fabric_.nodes.size(); ++n) {
      if (fabric_.nodes[n].role != Role::kHost) continue;
      Path path{.nodes = {n}};
      if (extend(path, fits))
        return FlowPath{.name = name,
                        .from = n,
                        .to = path.nodes.back(),
                        .via = {path.nodes.begin() + 1, path.nodes.end() - 1}};
    }
    return std::nullopt;
  }

 private:
  template <class Fits>
  bool extend(Path& path, Fits fits) const {
    constexpr std::size_t kMostLinks = 6;
    const std::size_t here = path.nodes.back();
    if (path.links.size() > 1 && fabric_.nodes[here].role == Role::kHost)
      return path.links.size() >= 4 && fits(path);
    if (path.links.size() == kMostLinks) return false;
    for (const Adjacency& a : links_of_[here]) {
      if (std::find(path.nodes.begin(), path.nodes.end(), a.peer) != path.nodes.end()) continue;
      path.nodes.push_back(a.peer);
      path.links.push_back(a.link);
      if (extend(path, fits)) return true;
      path.nodes.pop_back();
      path.links.pop_back();
    }
    return false;
  }

  const Fabric& fabric_;
  std::vector<std::vector<Adjacency>> links_of_;
};

Result<NamedCase> layered() {
  auto fabric = fcplus({.switches = 12, .ports = 6});
  if (!fabric) return fail(fabric.error());
  NamedCase s{.name = "layered", .fabric = std::move(*fabric)};
  s.failed.resize(s.fabric.links.size());
  const auto turns = [&](std::size_t count) {
    return [&s, count](const Path& path) { return turns_of(s.fabric, path).size() == count; };
  };
  // Neither of the two links is the reason: down out of a layer, or up into one, and between them
  // the way through the device.
  const auto inside = [&](const Path& path) {
    const auto at = turns_of(s.fabric, path);
    if (at.size() != 1) return false;
    const auto leads = [&](std::size_t l) {
      const Link& link = s.fabric.links[l];
      const auto layers = layers_of(link, link.ends[0].node == path.nodes[at[0]] ? 0 : 1);
      return layers ? (layers->far > layers->near ? Order::kUp : Order::kDown) : Order::kUnknown;
    };
    return leads(path.links[at[0] - 1]) != leads(path.links[at[0]]);
  };
  const Paths paths(s.fabric);
  for (auto flow : {paths.find("once", turns(1)), paths.find("inside", inside),
                    paths.find("twice", turns(2)), paths.find("straight", turns(0))}) {
    if (!flow) return fail(Error{0, "layered", "a path is missing in the fabric"});
    s.flows.push_back(std::move(*flow));
  }
  return s;
}

Result<NamedCase> draw(const Sketch& sketch) {
  Sketcher sketcher(sketch.name);
  const auto lowest = split_list(sketch.with_host, ' ');
  for (const std::string& name : split_list(sketch.switches, ' '))
    sketcher.add(name, Role::kSwitch);
  for (const std::string& name : lowest) sketcher.add(host_of(name), Role::kHost);
  const auto servers = split_list(sketch.servers, ' ');
  for (const std::string& name : servers) sketcher.add(name, Role::kHost);
  for (const std::string& name : lowest) sketcher.cable(host_of(name), name, false);
  for (const std::string_view mesh : sketch.meshes) {
    const std::size_t colon = mesh.find(':');
    for (const std::string& lower : split_list(mesh.substr(0, colon), ' '))
      for (const std::string& upper : split_list(mesh.substr(colon + 1), ' '))
        sketcher.cable(lower, upper,
                       std::find(servers.begin(), servers.end(), lower) != servers.end());
  }
  auto fabric = sketcher.finish();
  if (!fabric) return fail(fabric.error());
  NamedCase scenario{.name = std::string(sketch.name), .fabric = std::move(*fabric)};
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

Result<NamedCase> scenario(std::string_view name) {
  if (name == "layered") return layered();
  for (const Sketch& sketch : kSketches)
    if (sketch.name == name) return draw(sketch);
  return fail(Error{0, escape(name),
                    fmt::format("no such case: there are {}", fmt::join(kScenarios, ", "))});
}

}  // namespace lldp::lab
