// SPDX-License-Identifier: Apache-2.0
#include "sim/papers/random_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/routing/cases.hpp"
#include "lab/topology/forwarding.hpp"

namespace lldp::lab {
namespace {

using packets::kMicrosecond;
using packets::kMillisecond;
using packets::Plan;

constexpr std::size_t kHostsPerSwitch = 3;
constexpr std::uint64_t kLittle = 50'000;

}  // namespace

Plan random_plan(std::uint64_t seed, bool flaps) {
  Random random(seed);
  const auto some = [&](std::size_t n) { return static_cast<std::size_t>(random.below(n)); };
  auto drawn = *scenario(random.below(2) == 0 ? "case1" : "case2");
  Plan plan{.name = fmt::format("{}", seed), .fabric = std::move(drawn.fabric)};
  std::vector<std::size_t> hosts;
  for (std::size_t n = 0, first = plan.fabric.nodes.size(); n < first; ++n) {
    if (forwards(plan.fabric.nodes[n])) continue;
    hosts.push_back(n);
    for (std::size_t l = 0, links = plan.fabric.links.size(); l < links; ++l)
      for (std::size_t e = 0; e < 2; ++e)
        for (std::size_t i = 1; plan.fabric.links[l].ends[e].node == n && i < kHostsPerSwitch;
             ++i) {
          Link link = plan.fabric.links[l];
          link.ends[e].node = plan.fabric.nodes.size();
          link.ends[1 - e].port += fmt::format(".{}", i);
          hosts.push_back(link.ends[e].node);
          plan.fabric.nodes.push_back(
              {.name = fmt::format("{}.{}", plan.fabric.nodes[n].name, i), .role = Role::kHost});
          plan.fabric.links.push_back(std::move(link));
        }
  }
  if (auto whole = complete(std::move(plan.fabric))) plan.fabric = std::move(*whole);
  plan.failed.resize(plan.fabric.links.size());
  plan.settings.seed = seed;
  plan.duration = 2 * kMillisecond;
  std::vector<std::size_t> between;
  for (std::size_t l = 0; l < plan.fabric.links.size(); ++l)
    if (forwards(plan.fabric.nodes[plan.fabric.links[l].ends[0].node]) &&
        forwards(plan.fabric.nodes[plan.fabric.links[l].ends[1].node]))
      between.push_back(l);
  FailedLinks later(plan.fabric.links.size());
  for (std::size_t i = 0; i < 2; ++i) later[between[some(between.size())]] = true;
  if (flaps) {
    for (std::size_t l = 0; l < later.size(); ++l)
      for (std::size_t i = 0; later[l] && i < 8; ++i)
        plan.events.push_back({(100 + i * 250 + l) * kMicrosecond, l, i % 2 == 1});
    std::stable_sort(plan.events.begin(), plan.events.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
  } else {
    plan.failed = later;
  }
  const auto add = [&](std::size_t from, std::uint64_t octets, packets::Picoseconds start) {
    lab::FlowPath way{
        .name = {"f"}, .from = from, .to = from, .via = {}, .hash = random.next() | 1U};
    while (way.to == from) way.to = hosts[some(hosts.size())];
    if (!local_reroute(plan.fabric, later, way) || !local_reroute(plan.fabric, plan.failed, way))
      return;
    plan.flows.push_back({.spec = {.octets = octets,
                                   .start = start,
                                   .transport = octets == 0 ? packets::HostTransport::kPaced
                                                            : packets::HostTransport::kGoBackN},
                          .way = way});
  };
  for (const std::size_t from : hosts)
    for (int i = 0; i < 2; ++i) add(from, 0, random.below(20 * kMicrosecond));
  for (const std::size_t from : hosts)
    for (int i = 0; i < 4; ++i) add(from, kLittle, random.below(1200 * kMicrosecond));
  return plan;
}

}  // namespace lldp::lab
