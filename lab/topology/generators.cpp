// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/generators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "lab/topology/builder.hpp"

namespace lldp::lab {
namespace {

auto refuse(std::string what) { return fail(Error{0, "clos", std::move(what)}); }

/// The pods of every level: those the shape names, and one at the top.
std::vector<std::size_t> pods_by_level(const ClosShape& shape) {
  std::vector<std::size_t> pods;
  if (shape.switches.size() > 2) pods.push_back(shape.pods.front());
  pods.insert(pods.end(), shape.pods.begin(), shape.pods.end());
  pods.resize(shape.switches.size(), 1);
  return pods;
}

Result<void> check(const ClosShape& shape) {
  const std::size_t levels = shape.switches.size();
  if (levels < 2 || levels > 5) return refuse(fmt::format("{} switch levels: give 2 to 5", levels));
  if (shape.pods.size() != levels - 2)
    return refuse(fmt::format("{} switch levels need {} pod counts, not {}", levels, levels - 2,
                              shape.pods.size()));
  std::size_t nodes = shape.hosts;
  for (std::size_t n : shape.switches) {
    if (n == 0 || n > kMaxNodes) return refuse(fmt::format("{} switches on a level", n));
    nodes += n;
  }
  for (std::size_t n : shape.pods)
    if (n == 0) return refuse("0 pods");
  if (shape.hosts == 0 || shape.hosts > kMaxNodes || nodes > kMaxNodes)
    return refuse(fmt::format("{} nodes, {} of them hosts: at most {} nodes and at least 1 host",
                              nodes, shape.hosts, kMaxNodes));
  const auto pods = pods_by_level(shape);
  std::size_t links = shape.hosts * shape.links_per_host;
  for (std::size_t l = 0; l < levels; ++l) {
    if (shape.switches[l] % pods[l] != 0)
      return refuse(fmt::format("{} switches of level {} do not fill {} pods evenly",
                                shape.switches[l], l + 1, pods[l]));
    if (l + 1 == levels) break;
    if (pods[l] % pods[l + 1] != 0)
      return refuse(fmt::format("{} pods of level {} do not fill {} of level {} evenly", pods[l],
                                l + 1, pods[l + 1], l + 2));
    links += shape.switches[l] * (shape.switches[l + 1] / pods[l + 1]);
  }
  if (links > kMaxLinks) return refuse(fmt::format("{} links: at most {}", links, kMaxLinks));
  const std::size_t leaves = shape.switches[0] / pods[0];
  if (shape.links_per_host == 0 || leaves % shape.links_per_host != 0)
    return refuse(fmt::format("hosts of {} links do not share the {} leaves of a pod evenly",
                              shape.links_per_host, leaves));
  const std::size_t groups = shape.switches[0] / shape.links_per_host;
  if (shape.hosts % groups != 0)
    return refuse(fmt::format("{} hosts do not spread evenly over {} {}", shape.hosts, groups,
                              shape.links_per_host == 1 ? "leaves" : "groups of leaves"));
  return {};
}

/// What operators call the switches of a fabric of so many levels, from level 1 up.
std::string_view switch_name(std::size_t levels, std::size_t level) {
  static constexpr std::string_view kTwo[] = {"leaf", "spine"};
  static constexpr std::string_view kMore[] = {"tor", "agg", "spine", "super", "core"};
  return levels == 2 ? kTwo[level] : kMore[level];
}

}  // namespace

Result<Fabric> clos(const ClosShape& shape) {
  if (auto ok = check(shape); !ok) return fail(ok.error());
  const std::size_t levels = shape.switches.size();
  const auto pods = pods_by_level(shape);
  Builder b(shape.quality);
  std::vector<std::size_t> first(levels);
  for (std::size_t l = levels; l-- > 0;)
    first[l] = b.add(switch_name(levels, l), Role::kSwitch, shape.switches[l]);
  const std::size_t first_host = b.add("host", Role::kHost, shape.hosts);

  const std::size_t hosts_per_group = shape.hosts * shape.links_per_host / shape.switches[0];
  for (std::size_t h = 0; h < shape.hosts; ++h)
    for (std::size_t i = 0; i < shape.links_per_host; ++i)
      b.cable(first_host + h, first[0] + h / hosts_per_group * shape.links_per_host + i);
  for (std::size_t l = 0; l + 1 < levels; ++l) {
    const std::size_t pod_below = shape.switches[l] / pods[l + 1];
    const std::size_t pod_above = shape.switches[l + 1] / pods[l + 1];
    for (std::size_t s = 0; s < shape.switches[l]; ++s)
      for (std::size_t u = 0; u < pod_above; ++u)
        b.cable(first[l] + s, first[l + 1] + s / pod_below * pod_above + u);
  }
  return b.finish(fmt::format("clos {}", fmt::join(shape.switches, "-")));
}

Result<Fabric> fat_tree(std::size_t k, const LinkQuality& quality) {
  if (k < 2 || k > 64 || k % 2 != 0)
    return fail(Error{0, "fattree", fmt::format("k = {}: give an even number from 2 to 64", k)});
  const std::size_t half = k / 2;
  Builder b(quality);
  const std::size_t core = b.add("core", Role::kSwitch, half * half);
  const std::size_t agg = b.add("agg", Role::kSwitch, k * half);
  const std::size_t edge = b.add("edge", Role::kSwitch, k * half);
  const std::size_t host = b.add("host", Role::kHost, k * half * half);
  for (std::size_t e = 0; e < k * half; ++e)
    for (std::size_t h = 0; h < half; ++h) b.cable(host + e * half + h, edge + e);
  for (std::size_t e = 0; e < k * half; ++e)
    for (std::size_t a = 0; a < half; ++a) b.cable(edge + e, agg + e / half * half + a);
  for (std::size_t a = 0; a < k * half; ++a)  // the i-th of a pod serves the i-th group of cores
    for (std::size_t c = 0; c < half; ++c) b.cable(agg + a, core + a % half * half + c);
  return b.finish(fmt::format("fattree {}", k));
}

}  // namespace lldp::lab
