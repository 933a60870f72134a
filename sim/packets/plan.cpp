// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "lab/routing/cases.hpp"
#include "lab/topology/server_fabrics.hpp"

namespace lldp::lab::packets {
namespace {

constexpr std::size_t kMostOfEachCase = 64;
constexpr Picoseconds kFlap = kMillisecond;
constexpr Picoseconds kFirstFlap = 100 * kMicrosecond;
constexpr std::size_t kFlaps = 1000;

/// A node like `node`, of another name, with no links.
std::size_t copy_of(Fabric& fabric, std::size_t node, std::size_t number) {
  fabric.nodes.push_back({.name = fmt::format("{}.{}", fabric.nodes[node].name, number),
                          .role = fabric.nodes[node].role});
  return fabric.nodes.size() - 1;
}

/// The links of `node`, but for those to `except`, once more at its copy.
void copy_links(Fabric& fabric, std::size_t node, std::size_t copy, std::size_t number,
                std::size_t except) {
  for (std::size_t l = 0, before = fabric.links.size(); l < before; ++l)
    for (std::size_t e = 0; e < 2; ++e) {
      Link link = fabric.links[l];
      if (link.ends[e].node != node || link.ends[1 - e].node == except) continue;
      link.ends[e].node = copy;
      link.ends[1 - e].port += fmt::format(".{}", number);
      fabric.links.push_back(std::move(link));
    }
}

/// One more host for a flow that comes into the cycle of buffers by a port of its own: on the same
/// leaf where that is part of the cycle, else (`leaf_too`) on a leaf of its own.
std::size_t twin_of(Fabric& fabric, std::size_t host, std::size_t number, bool leaf_too) {
  const std::size_t twin = copy_of(fabric, host, number);
  if (!leaf_too) {
    copy_links(fabric, host, twin, number, twin);
    return twin;
  }
  const auto links = adjacencies(fabric)[host];
  const std::size_t leaf = copy_of(fabric, links.front().peer, number);
  copy_links(fabric, links.front().peer, leaf, number, host);
  Link link = fabric.links[links.front().link];
  link.ends[links.front().own_end].node = twin;
  link.ends[1 - links.front().own_end].node = leaf;
  fabric.links.push_back(std::move(link));
  return twin;
}

/// Four flows around NDC(2, 1), each relayed where the next one begins.
Result<Plan> ndc_loop() {
  auto fabric = ndc(2, 1);
  if (!fabric) return fail(fabric.error());
  Plan plan{.name = "ndc-loop", .fabric = std::move(*fabric)};
  plan.failed.resize(plan.fabric.links.size());
  plan.settings.protection = ProtectionScheme::kOff;
  plan.settings.pfc.xoff_octets = 75'000;
  plan.settings.pfc.xon_octets = 50'000;
  plan.settings.buffer_octets = 5'000'000;
  const auto node = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find_if(plan.fabric.nodes.begin(), plan.fabric.nodes.end(),
                                                 [&](const Node& n) { return n.name == name; }) -
                                    plan.fabric.nodes.begin());
  };
  const auto links = adjacencies(plan.fabric);
  const auto between = [&](std::size_t a, std::size_t b) {
    for (const Adjacency& x : links[a])
      for (const Adjacency& y : links[b])
        if (x.peer == y.peer) return x.peer;
    return a;
  };
  constexpr std::string_view kRing[] = {"node00", "node01", "node11", "node10"};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t from = node(kRing[i]);
    const std::size_t relay = node(kRing[(i + 1) % 4]);
    const std::size_t to = node(kRing[(i + 2) % 4]);
    lab::FlowPath way{
        .name = fmt::format("{}-{}", kRing[i].substr(4), kRing[(i + 2) % 4].substr(4)),
        .from = from,
        .to = to,
        .via = {between(from, relay), relay, between(relay, to)}};
    plan.flows.push_back({.way = way});
  }
  return plan;
}

}  // namespace

std::string flow_name(const Plan& plan, const PlannedFlow& flow) {
  if (!flow.way.name->empty()) return *flow.way.name;
  return fmt::format("{}-{}", plan.fabric.nodes[flow.way.from].name,
                     plan.fabric.nodes[flow.way.to].name);
}

Result<Plan> plan_of_case(std::string_view name, std::size_t x, std::size_t y) {
  if (std::find(std::begin(kCases), std::end(kCases), name) == std::end(kCases))
    return fail(Error{0, escape(name), "no such case"});
  if (x + y == 0 || x > kMostOfEachCase || y > kMostOfEachCase)
    return fail(Error{0, "flows", fmt::format("give X+Y, at most {} of each", kMostOfEachCase)});
  if (name.starts_with("itsy-")) return plan_of_figure(name);
  if (name == "fcplus") return plan_of_fcplus();
  if (name == "ndc-loop") return ndc_loop();
  const bool flaps = name == "flap";
  const bool last_hop = name == "last-hop";
  auto drawn = scenario(flaps || last_hop ? "case1" : name);
  if (!drawn) return fail(drawn.error());
  Plan plan{.name = std::string(name), .fabric = std::move(drawn->fabric)};
  if (last_hop) {
    plan.settings.policy = qos::Policy::parse("roce", qos::Policy::kDefaultLossy).value();
    plan.settings.restore = true;
    plan.settings.nic = {.on = true, .pfc = 1U << 3};
  }
  for (const lab::FlowPath& flow : drawn->flows) {
    const std::size_t count = *flow.name == "X" ? x : *flow.name == "Y" ? y : 0;
    for (std::size_t i = 1; i <= count; ++i) {
      lab::FlowPath way = flow;
      way.name = count == 1 ? *flow.name : fmt::format("{}{}", *flow.name, i);
      if (i > 1)
        way.from = twin_of(plan.fabric, flow.from, i, name == "case2" || name == "dualtor");
      plan.flows.push_back({.way = way});
    }
  }
  auto whole = complete(std::move(plan.fabric));
  if (!whole) return fail(whole.error());
  plan.fabric = std::move(*whole);
  drawn->failed.resize(plan.fabric.links.size());  // twins come last, and their links are up
  if (!flaps) {
    plan.failed = std::move(drawn->failed);
    return plan;
  }
  plan.failed.resize(plan.fabric.links.size());
  for (std::size_t i = 0; i < kFlaps; ++i)
    for (std::size_t l = 0; l < drawn->failed.size(); ++l)
      if (drawn->failed[l]) plan.events.push_back({kFirstFlap + i * kFlap, l, i % 2 == 1});
  return plan;
}

}  // namespace lldp::lab::packets
