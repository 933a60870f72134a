// SPDX-License-Identifier: Apache-2.0
#include "sim/papers/portfc_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lab/topology/server_fabrics.hpp"
#include "sim/packets/workload/traffic.hpp"
#include "sim/papers/measure.hpp"

namespace lldp::lab::portfc_paper {
namespace {

using packets::Traffic;

std::size_t node(const Fabric& fabric, std::string_view name) {
  return static_cast<std::size_t>(std::find_if(fabric.nodes.begin(), fabric.nodes.end(),
                                               [&](const Node& n) { return n.name == name; }) -
                                  fabric.nodes.begin());
}

}  // namespace

std::string over(std::string_view what, std::size_t other) {
  return fmt::format("{}_over_{}", what, kOthers[other]);
}

SeenOfPortfc SeenOfPortfc::unknown(std::size_t flows) {
  SeenOfPortfc seen;
  for (Part& part : seen.parts)
    part = {.fct_us = {kNotMeasured},
            .gbps = {kNotMeasured},
            .octets = kNotMeasured,
            .last_ms = kNotMeasured,
            .unfinished = std::max<std::size_t>(flows, 1)};
  seen.drops = seen.pause_hops = seen.deadlocks = seen.queue_peak = kNotMeasured;
  seen.queue_top = {kNotMeasured};
  seen.throughput.assign(flows, kNotMeasured);
  return seen;
}

Plan plan_in(Fabric fabric, const Scheme& scheme, std::uint64_t seed) {
  Plan plan;
  plan.fabric = std::move(fabric);
  plan.failed.resize(plan.fabric.links.size());
  auto& s = plan.settings;
  s.flow_control = scheme.control;
  s.protection = packets::ProtectionScheme::kOff;
  s.pfc.xoff_octets = 75'000;
  s.pfc.xon_octets = 50'000;
  s.buffer_octets = 5'000'000;
  s.go_back_rto = 10 * kMillisecond;
  s.ecn = {.on = true, .kmin_octets = 100'000, .kmax_octets = 400'000, .pmax_permille = 200};
  s.dcqcn.on = true;
  s.ate_percent = scheme.ate_percent;
  s.seed = seed;
  return plan;
}

SeenOfPortfc simulate(const Plan& plan, std::size_t second, Picoseconds until,
                      WatchedFlows watched) {
  SeenOfPortfc seen;
  packets::Hooks hooks;
  std::uint64_t before = 0;
  if (watched.last != 0) {
    constexpr Picoseconds kEvery = 50 * kMicrosecond;
    hooks.sample_every = kEvery;
    hooks.sample = [&](const packets::Network& n) {
      std::uint64_t octets = 0;
      for (std::size_t f = watched.first; f < watched.last; ++f) octets += n.flows[f].received;
      seen.watched.emplace_back(
          static_cast<double>(n.now) / kMicrosecond,
          static_cast<double>(octets - before) * 8 / (static_cast<double>(kEvery) / 1e3));
      before = octets;
    };
  }
  hooks.go_on = [&](const packets::Network& n) {
    if (n.now > until) return true;
    std::uint64_t longest = 0;
    for (Arc a = 0; a < n.arcs(); ++a) {
      const packets::Port& p = n.ports[a];
      if (!p.forwards || p.relays) continue;
      std::uint64_t octets = 0;
      for (const packets::Queue& q : n.queues_of(a)) octets += q.octets;
      longest = std::max(longest, octets);
    }
    seen.queue_top.push_back(static_cast<double>(longest));
    seen.queue_peak = std::max(seen.queue_peak, static_cast<double>(longest));
    return true;
  };
  const auto o = measure(plan, hooks);
  if (!o) return SeenOfPortfc::unknown(plan.flows.size());
  seen.drops = static_cast<double>(o->count.drops);
  seen.pause_hops = o->count.pause_hops;
  seen.deadlocks = o->deadlocked_at ? 1 : 0;
  for (std::size_t i = 0; i < o->flows.size(); ++i) {
    const packets::FlowResult& f = o->flows[i];
    Part& part = seen.parts[i < second ? 0 : 1];
    const Picoseconds start = f.start.value_or(o->duration);
    const Picoseconds took = f.fct.value_or(o->duration - std::min(start, o->duration));
    part.fct_us.push_back(static_cast<double>(took) / kMicrosecond);
    part.octets += static_cast<double>(f.received_octets);
    part.gbps.push_back(static_cast<double>(f.throughput_bps) / 1e9);
    part.last_ms = std::max(part.last_ms, static_cast<double>(start + took) / kMillisecond);
    part.unfinished += f.fct ? 0U : 1U;
    seen.throughput.push_back(static_cast<double>(f.throughput_bps) / 1e9);
  }
  return seen;
}

void add_flow(Plan& plan, const std::vector<std::string_view>& names) {
  const auto links = adjacencies(plan.fabric);
  std::vector<std::size_t> way{node(plan.fabric, names[0])};
  for (std::size_t i = 1; i < names.size(); ++i) {
    const std::size_t next = node(plan.fabric, names[i]);
    for (const Adjacency& a : links[way.back()])
      if (std::any_of(links[next].begin(), links[next].end(),
                      [&](const Adjacency& b) { return b.peer == a.peer; })) {
        way.push_back(a.peer);
        break;
      }
    way.push_back(next);
  }
  lab::FlowPath flow{.name = std::string(names[0]), .from = way.front(), .to = way.back()};
  flow.via.assign(way.begin() + 1, way.end() - 1);
  plan.flows.push_back({.way = flow});
}

SeenOfPortfc one_run(const Load& load, const Workload& workload, const Scheme& scheme,
                     std::uint64_t seed, packets::RelayOrder order, bool dcqcn) {
  Plan plan = plan_in(*ndc(load.n, 1), scheme, seed);
  plan.settings.relay_order = order;
  plan.settings.dcqcn.on = plan.settings.ecn.on = dcqcn;
  Traffic poisson{.kind = "poisson", .load_percent = 50, .sizes = workload.sizes};
  poisson.until = load.until;
  poisson.transport = scheme.transport;
  if (!add_traffic(plan, poisson)) return SeenOfPortfc::unknown(0);
  const std::size_t second = plan.flows.size();
  Random random(seed);
  std::vector<std::string> hosts;
  for (const Node& n : plan.fabric.nodes)
    if (n.relays) hosts.push_back(n.name);
  for (Picoseconds at = load.every / 4; at < load.until; at += load.every) {
    Traffic incast{.kind = "incast", .octets = kMegabyte, .senders = load.senders};
    incast.to = hosts[static_cast<std::size_t>(random.below(hosts.size()))];
    incast.start = at;
    incast.transport = scheme.transport;
    if (!add_traffic(plan, incast)) return SeenOfPortfc::unknown(0);
  }
  plan.duration = load.until + 100 * kMillisecond;
  return simulate(plan, second, load.until);
}

}  // namespace lldp::lab::portfc_paper
