// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/fabric.hpp"

#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "lab/live/agents.hpp"
#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/live/processes.hpp"
#include "lab/live/route_socket.hpp"
#include "os/fd.hpp"
#include "sim/bounce/probe.hpp"
#include "sim/lossless/client.hpp"
#include "sim/lossless/switch_file.hpp"

namespace lldp::lab::lossless {
namespace {

constexpr std::size_t kMostHosts = 250;
constexpr unsigned kNetworkBits = 15;  ///< 198.18.0.0/15, RFC 2544

std::vector<std::size_t> hosts_of(const Fabric& fabric) {
  std::vector<std::size_t> hosts;
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n)
    if (fabric.nodes[n].role == Role::kHost) hosts.push_back(n);
  return hosts;
}

/// Without it, work left to the device (checksums, segmentation) would not be done at all.
Result<void> switch_offload_off(const std::string& port) {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (const unsigned what :
       {unsigned{ETHTOOL_STSO}, unsigned{ETHTOOL_SGSO}, unsigned{ETHTOOL_STXCSUM}}) {
    ethtool_value value{.cmd = what, .data = 0};
    ifreq request{};
    port.copy(request.ifr_name, sizeof request.ifr_name - 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    if (ioctl(fd.get(), SIOCETHTOOL, &request) < 0) {
      const int code = errno;
      return fail(Error{code, port, std::string("cannot set offload: ") + std::strerror(code)});
    }
  }
  return {};
}

}  // namespace

std::map<std::string, std::string> switch_files(const live::FabricPlace& place,
                                                const Fabric& fabric, const std::vector<Way>& ways,
                                                const qos::Policy& policy, std::uint64_t rate_bps,
                                                std::uint32_t rules_late_ms) {
  const auto addresses = live::port_addresses(fabric);
  const auto links = adjacencies(fabric);
  std::vector<SwitchFile> files(fabric.nodes.size());
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n) {
    const std::string& name = fabric.nodes[n].name;
    files[n] = {.socket = place.switch_socket(name),
                .station = {.name = name, .policy = policy, .rate_bps = rate_bps},
                .rules_late_ms = rules_late_ms};
    for (const Adjacency& a : links[n])
      files[n].station.ports.push_back(
          {fabric.links[a.link].ends[a.own_end].port, addresses[a.link][a.own_end]});
  }
  std::set<std::pair<std::size_t, Ipv4>> routed;
  for (const Way& way : ways)
    for (std::size_t i = 1; i < way.path.links.size(); ++i) {
      const std::size_t n = way.path.nodes[i];
      if (!routed.emplace(n, way.to).second) continue;
      const std::size_t link = way.path.links[i];
      const std::size_t own = fabric.links[link].ends[0].node == n ? 0 : 1;
      files[n].station.routes.push_back(
          {way.to, fabric.links[link].ends[own].port, addresses[link][1 - own]});
    }
  std::map<std::string, std::string> texts;
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n)
    if (fabric.nodes[n].role == Role::kSwitch && !links[n].empty())
      texts.emplace(fabric.nodes[n].name, format(files[n]));
  return texts;
}

Result<std::vector<Way>> ways_between_hosts(const Fabric& fabric) {
  const auto hosts = hosts_of(fabric);
  if (hosts.size() > kMostHosts)
    return fail(Error{0, fabric.name,
                      fmt::format("has {} hosts: a lossless lab routes between {} at most",
                                  hosts.size(), kMostHosts)});
  std::vector<Way> ways;
  for (std::size_t to = 0; to < hosts.size(); ++to)
    for (const std::size_t from : hosts) {
      if (from == hosts[to]) continue;
      auto path = updown_path(fabric, {.from = from, .to = hosts[to]});
      if (!path) return fail(path.error());
      ways.push_back({bounce::ipv4_of(to, true), std::move(*path)});
    }
  return ways;
}

Result<void> address_hosts(const live::FabricPlace& place, const Fabric& fabric) {
  const auto hosts = hosts_of(fabric);
  const auto addresses = live::port_addresses(fabric);
  const auto links = adjacencies(fabric);
  const live::KeepNamespace home;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (links[hosts[i]].empty()) continue;
    const Adjacency port = links[hosts[i]].front();
    if (auto ok = live::enter(place, fabric.nodes[hosts[i]].name); !ok) return ok;
    if (auto ok = switch_offload_off(fabric.links[port.link].ends[port.own_end].port); !ok)
      return ok;
    auto batch = live::RouteBatch::open();
    if (!batch) return fail(batch.error());
    const int index = live::ifindex_of(port.link, port.own_end);
    batch->replace_address(bounce::ipv4_of(i, true), kNetworkBits, index);
    for (std::size_t other = 0; other < hosts.size(); ++other)
      if (other != i)
        batch->replace_neighbor(bounce::ipv4_of(other, true),
                                addresses[port.link][1 - port.own_end], index);
    if (auto ok = batch->commit(); !ok) return ok;
  }
  return {};
}

Result<std::size_t> start_agents(const live::FabricPlace& place, const Fabric& fabric,
                                 const std::string& agent, const qos::Policy& policy,
                                 const std::vector<std::string>& arguments) {
  std::size_t started = 0;
  for (const Role role : {Role::kSwitch, Role::kHost}) {
    std::vector<std::string> nodes;
    for (const Node& node : fabric.nodes)
      if (node.role == role) nodes.push_back(node.name);
    std::vector<std::string> words{"--backend", "none"};
    if (role == Role::kSwitch)
      words = {"--backend",      "soft",
               "--soft.socket",  place.switch_socket("{node}"),
               "--qos.lossless", policy.lossless_text(),
               "--qos.lossy",    policy.lossy_text()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const auto count = live::start_agents(place, fabric, nodes, agent, words);
    if (!count) return fail(count.error());
    started += *count;
  }
  return started;
}

std::optional<Error> wait_for_rules(const live::FabricPlace& place, const Fabric& fabric,
                                    live::Watcher& watcher,
                                    live::Watcher::Clock::time_point deadline) {
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n) {
    const std::string& name = fabric.nodes[n].name;
    if (fabric.nodes[n].role != Role::kSwitch || adjacencies(fabric)[n].empty()) continue;
    if (!watcher.wait_until_protected(n, deadline))
      return Error{0, name, "is not protected: " + live::last_line(place.log(name))};
    if (watcher.seen()[n].protection != "active") continue;
    const auto client = SwitchClient::open(place.switch_socket(name), deadline);
    if (!client)
      return Error{0, name, client.error().what + ": " + live::last_line(place.switch_log(name))};
    const auto view = client->read();
    if (!view) return view.error();
    if (std::none_of(view->ports.begin(), view->ports.end(),
                     [](const auto& port) { return port.second.rules.has_value(); }))
      return Error{0, name,
                   "its agent runs with another back end than `soft`: take the lab down first"};
  }
  return std::nullopt;
}

void add(LossCounts& all, const dataplane::soft::View& view) {
  all.drops += view.drops + view.drops_lossy;
  all.missed += view.missed;
  all.too_long += view.too_long;
}

LossCounts losses(const live::FabricPlace& place, const Fabric& fabric,
                  live::Watcher::Clock::time_point deadline) {
  LossCounts all;
  for (const Node& node : fabric.nodes) {
    if (node.role != Role::kSwitch) continue;
    const auto client = SwitchClient::open(place.switch_socket(node.name), deadline);
    if (!client) continue;
    if (const auto view = client->read()) add(all, *view);
  }
  return all;
}

}  // namespace lldp::lab::lossless
