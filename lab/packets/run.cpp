// SPDX-License-Identifier: Apache-2.0
#include "lab/packets/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "lab/packets/detector/itsy.hpp"
#include "lab/packets/detector/none.hpp"
#include "lab/packets/detector/watchdog.hpp"
#include "lab/packets/engine.hpp"
#include "lab/packets/flow_control/none.hpp"
#include "lab/packets/flow_control/pfc.hpp"
#include "lab/packets/flow_control/portfc.hpp"
#include "lab/packets/oracle.hpp"

namespace lldp::lab::packets {
namespace {

constexpr Picoseconds kOracleEvery = 10 * kMicrosecond;

/// The class of a port that has layers, which the operator says; else the agents find its order.
std::optional<qos::PortClass> class_said(const Fabric& fabric, std::size_t link, std::size_t end) {
  const Link& l = fabric.links[link];
  if (!layers_of(l, end)) return std::nullopt;
  return port_class_of(fabric, l, end, Span::kLayers).value_or(qos::PortClass{});
}

std::string names(const Fabric& fabric, const Path& path) {
  std::string text;
  for (const std::size_t node : path.nodes)
    text += (text.empty() ? "" : ", ") + escape(fabric.nodes[node].name);
  return text;
}

/// A run under way. What is not packets (agents, links that fail, who looks on) happens between
/// two calls of the engine.
template <class FlowControl, class Detector>
class Run {
 public:
  Run(const Plan& plan, const Hooks& hooks, Prepared prepared)
      : plan_(plan),
        hooks_(hooks),
        agents_(std::move(prepared.agents)),
        paths_(std::move(prepared.paths)),
        failed_(plan.failed),
        engine_(std::move(prepared.network)) {
    failed_.resize(plan.fabric.links.size());
    outcome_.levels_agreed = agents_.agreed();
  }

  Outcome go() {
    for (std::size_t l = 0; l < failed_.size(); ++l) {
      if (!failed_[l]) continue;
      engine_.cut(l);
      agents_.set_link(l, false);
    }
    agents_react(0);
    for (const Storm& s : plan_.storms) storms_.push_back({s, s.from, true});
    const bool agents_move = !plan_.events.empty();
    Picoseconds sample = hooks_.sample_every != 0 ? hooks_.sample_every : kNever;
    Picoseconds oracle = kOracleEvery;
    const Picoseconds half = plan_.duration / 2;
    bool halved = false;
    auto event = plan_.events.begin();
    while (engine_.network().now < plan_.duration) {
      Picoseconds stop = std::min({plan_.duration, sample, oracle, halved ? kNever : half});
      if (event != plan_.events.end()) stop = std::min(stop, event->at);
      for (const Storming& s : storms_) stop = std::min(stop, s.next);
      if (agents_move) stop = std::min(stop, std::max(agents_.next(), engine_.network().now));
      pass(stop);
      if (agents_move && agents_.next() <= stop) agents_react(stop);
      for (; event != plan_.events.end() && event->at <= stop; ++event) change(*event);
      for (Storming& s : storms_) storm(s, stop);
      if (!halved && stop >= half) {
        halved = true;
        for (const Flow& f : engine_.network().flows) at_half_.push_back(f.received);
      }
      if (stop == sample) {
        hooks_.sample(engine_.network());
        sample += hooks_.sample_every;
      }
      if (stop < oracle && stop != plan_.duration) continue;
      oracle = stop + kOracleEvery;
      look();
      if (hooks_.go_on && !hooks_.go_on(engine_.network())) {
        outcome_.stopped = true;
        break;
      }
      if (event == plan_.events.end() && !sampling() && all_done()) break;
    }
    finish();
    return std::move(outcome_);
  }

 private:
  struct Storming {
    Storm storm{};
    Picoseconds next = 0;
    bool stops = false;  ///< then
  };
  void storm(Storming& s, Picoseconds now) {
    if (now < s.next) return;
    const Network& n = engine_.network();
    for (Arc in = 0; in < n.arcs(); ++in)
      if (n.ports[reversed(in)].node == s.storm.host)
        engine_.host_pauses(in, plan_.settings.policy.lossless()[0].priority.value(), s.stops);
    if (!s.stops && now + (s.storm.every - s.storm.pause) >= s.storm.until)
      s.next = kNever;
    else
      s.next = now + (s.stops ? s.storm.pause : s.storm.every - s.storm.pause);
    s.stops = !s.stops;
  }

  [[nodiscard]] bool sampling() const { return hooks_.sample_every != 0; }
  [[nodiscard]] bool all_done() const {
    const auto& flows = engine_.network().flows;
    return std::all_of(flows.begin(), flows.end(),
                       [](const Flow& f) { return f.finish != kNever; });
  }

  void pass(Picoseconds stop) {
    const Picoseconds before = engine_.network().now;
    engine_.run_until(stop);
    if (exposed_) outcome_.exposed += stop - before;
  }

  void agents_react(Picoseconds now) {
    for (const auto& [link, end] : agents_.advance(now))
      if (!class_said(plan_.fabric, link, end))
        engine_.network().install(link, end, {.order = agents_.order(link, end)});
    exposed_ = agents_.exposed() != 0;
  }

  void change(const LinkEvent& event) {
    if (failed_[event.link] != event.up) return;
    failed_[event.link] = !event.up;
    agents_.set_link(event.link, event.up);
    agents_react(engine_.network().now);
    for (std::uint32_t f = 0; f < plan_.flows.size(); ++f) {
      const auto path = path_of(plan_.fabric, failed_, plan_.flows[f].way);
      if (path)
        engine_.network().reroute(f, *path);
      else
        ++outcome_.unroutable;
    }
    if (event.up)
      engine_.mend(event.link);
    else
      engine_.cut(event.link);
  }

  void look() {
    const Network& n = engine_.network();
    const auto stuck = stuck_queues(n);
    if (!stuck.empty()) {
      if (!deadlocked_) ++outcome_.deadlocks;
      if (deadlocked_) outcome_.deadlocked_for += n.now - looked_at_;
      if (!deadlocked_) since_ = n.now;
      outcome_.longest_deadlock = std::max(outcome_.longest_deadlock, n.now - since_);
    }
    if (!stuck.empty() && !outcome_.deadlocked_at) {
      outcome_.deadlocked_at = n.now;
      for (const Stuck& s : stuck) {
        const Link& link = plan_.fabric.links[s.arc / 2];
        const auto name = [&](std::size_t end) {
          return escape(plan_.fabric.nodes[link.ends[end].node].name);
        };
        outcome_.deadlock.push_back({name(s.arc % 2), name(1 - s.arc % 2), s.priority});
      }
    }
    deadlocked_ = !stuck.empty();
    looked_at_ = n.now;
  }

  void finish() {
    const Network& n = engine_.network();
    outcome_.duration = n.now;
    outcome_.count = n.count;
    outcome_.verdicts = n.verdicts;
    outcome_.slots = n.pool.size();
    outcome_.queued_octets = n.count.sent - n.count.delivered - n.count.dropped -
                             n.count.lost_octets - n.count.discarded_octets;
    at_half_.resize(n.flows.size());
    const Picoseconds rest = n.now > plan_.duration / 2 ? n.now - plan_.duration / 2 : 0;
    for (std::size_t i = 0; i < n.flows.size(); ++i) {
      const Flow& f = n.flows[i];
      FlowResult r{.name = plan_.flows[i].spec.name,
                   .path = paths_[i],
                   .received_octets = f.received,
                   .sent_again = f.again};
      if (f.waits_for == 0) r.start = f.start;
      std::uint64_t octets = f.received;
      Picoseconds time = rest;
      if (f.finish != kNever)
        time = *(r.fct = f.finish - f.start);
      else
        octets -= at_half_[i];
      if (time != 0)
        r.throughput_bps =
            static_cast<std::uint64_t>(static_cast<unsigned __int128>(octets) * 8 * kSecond / time);
      outcome_.flows.push_back(std::move(r));
    }
  }

  const Plan& plan_;
  const Hooks& hooks_;
  AgentsInside agents_;
  std::vector<std::string> paths_;
  FailedLinks failed_;
  Engine<FlowControl, Detector> engine_;
  Outcome outcome_{};
  std::vector<std::uint64_t> at_half_{};
  std::vector<Storming> storms_{};
  Picoseconds looked_at_ = 0;
  Picoseconds since_ = 0;  ///< of the deadlock that there is
  bool deadlocked_ = false;
  bool exposed_ = false;
};

template <class FlowControl, class Detector>
Outcome run_with(const Plan& plan, const Hooks& hooks, Prepared prepared) {
  return Run<FlowControl, Detector>(plan, hooks, std::move(prepared)).go();
}

bool has_asymmetry(const Fabric& fabric) {
  const auto links = adjacencies(fabric);
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i)
    if (fabric.nodes[i].relays)
      for (const Adjacency& a : links[i])
        if (fabric.links[a.link].rate_bps != fabric.links[links[i].front().link].rate_bps)
          return true;
  return false;
}

/// What NDC's schemes ask for, and how the devices are set up for them.
Result<void> set_up_ndc(const Plan& plan, Network& n) {
  const auto refuse = [](std::string_view key, std::string_view what) {
    return fail(Error{0, std::string(key), std::string(what)});
  };
  if (plan.settings.ate_percent != 0 && !has_asymmetry(plan.fabric))
    return refuse("settings.ate_percent", "no node that relays has links of two rates");
  const FlowControlKind kind = plan.settings.flow_control;
  const bool portfc = kind == FlowControlKind::kPortFc;
  if (kind != FlowControlKind::kPfcStar && !portfc) return {};
  constexpr std::size_t kAny = ~std::size_t{0};
  auto fits = check_ndc(plan.fabric, portfc ? kQueues : kAny, plan.settings.any_k ? kAny : 1);
  if (!fits) return fits;
  if (std::find(plan.failed.begin(), plan.failed.end(), true) != plan.failed.end())
    return refuse("failed", "in an NDC with this flow control no link may fail");
  if (!plan.events.empty()) return refuse("events", "in an NDC with this flow control none may be");
  if (!plan.storms.empty()) return refuse("storms", "in an NDC with this flow control none may be");
  if (plan.settings.protection != Protection::kOff)
    return refuse("settings.protect", "with this flow control: none");
  if (portfc) {
    n.control = kQueues - 1;
    n.lossless = static_cast<QueueMask>(~(1U << n.control));
    return {};
  }
  const auto lossless = plan.settings.policy.lossless();
  if (lossless.size() < 2)
    return refuse("settings.lossless", "pfc-star needs a priority for each of two hops");
  for (Arc a = 0; a < n.arcs(); ++a) {
    if (!n.ports[a].relays) continue;
    n.tags[reversed(a)] = 1;  // what comes in at a node, and goes on, changes
    n.ports[a].turning = 2;
    n.ports[a].after_turn[lossless[0].priority.value()] = lossless[1].priority.value();
  }
  return {};
}

/// The other of the two ways in NDC(n, 1), if its first link has another rate.
std::optional<Path> other_way(const Fabric& fabric,
                              const std::vector<std::vector<Adjacency>>& links,
                              const FailedLinks& failed, lab::Flow way) {
  const auto rate = [&](std::size_t peer) {
    for (const Adjacency& a : links[way.from])
      if (a.peer == peer) return fabric.links[a.link].rate_bps;
    return std::uint64_t{0};
  };
  for (const auto& via : ndc_ways(fabric, links, way.from, way.to)) {
    if (way.via.empty() || rate(via.front()) == rate(way.via.front())) continue;
    way.via = via;
    if (auto path = laid_path(fabric, failed, way)) return std::move(*path);
  }
  return std::nullopt;
}

/// Which flows wait for which.
Result<void> order_flows(const Plan& plan, Network& n) {
  std::vector<std::vector<std::uint32_t>> followers(plan.flows.size());
  for (std::uint32_t f = 0; f < plan.flows.size(); ++f)
    for (const std::uint32_t before : plan.flows[f].after) {
      if (before >= f || plan.flows[before].way.to != plan.flows[f].way.from)
        return fail(Error{0, fmt::format("flow {}: after", escape(plan.flows[f].spec.name)),
                          "those that it waits for come before it, and end where it begins"});
      if (plan.flows[before].spec.octets == 0)
        return fail(Error{0, fmt::format("flow {}: after", escape(plan.flows[f].spec.name)),
                          fmt::format("`{}` has no end", escape(plan.flows[before].spec.name))});
      followers[before].push_back(f);
    }
  for (std::uint32_t f = 0; f < followers.size(); ++f)
    for (const std::uint32_t next : followers[f]) n.add_follower(f, next);
  return {};
}

}  // namespace

Result<Prepared> prepare(const Plan& plan) {
  auto network = Network::of(plan.fabric, plan.settings);
  if (!network) return fail(network.error());
  if (const auto set_up = set_up_ndc(plan, *network); !set_up) return fail(set_up.error());
  Prepared p{std::move(*network), AgentsInside(plan.fabric, plan.settings.seed)};
  for (std::size_t l = 0; l < plan.fabric.links.size(); ++l)
    for (std::size_t e = 0; e < 2; ++e)
      p.network.install(
          l, e,
          class_said(plan.fabric, l, e).value_or(qos::PortClass{.order = p.agents.order(l, e)}));
  FailedLinks failed = plan.failed;
  failed.resize(plan.fabric.links.size());
  p.network.flows.reserve(plan.flows.size());
  const bool relays = has_relays(plan.fabric);
  const auto links = relays ? adjacencies(plan.fabric) : std::vector<std::vector<Adjacency>>{};
  std::optional<NdcMap> map;
  if (plan.settings.flow_control == FlowControlKind::kPortFc) map.emplace(p.network);
  for (const PlannedFlow& f : plan.flows) {
    lab::Flow way = f.way;
    if (relays) give_way(plan.fabric, links, way);
    const auto path = relays && !way.via.empty() ? laid_path(plan.fabric, failed, way)
                                                 : path_of(plan.fabric, failed, way);
    if (!path) return fail(path.error());
    for (const std::size_t station : f.way.via)
      if (std::find(path->nodes.begin(), path->nodes.end(), station) == path->nodes.end())
        return fail(
            Error{0, fmt::format("flow {}: via", escape(f.spec.name)),
                  fmt::format("`{}` is on none of the ways that switches take: {}",
                              escape(plan.fabric.nodes[station].name), names(plan.fabric, *path))});
    if (map && !plan.settings.any_k && path->links.size() > 4)
      return fail(Error{0, fmt::format("flow {}: via", escape(f.spec.name)),
                        fmt::format("over two nodes that relay, between which nothing stops it: {}",
                                    names(plan.fabric, *path))});
    const std::uint32_t flow = p.network.add_flow(f.spec, *path);
    Flow& added = p.network.flows[flow];
    if (relays && plan.settings.ate_percent != 0 && f.way.via.empty())
      if (const auto other = other_way(plan.fabric, links, failed, way))
        p.network.add_other_way(flow, *other);
    if (map) {
      added.priority = map->queue_of(p.network, added.route);
      if (added.other_route != 0)
        added.other_priority = map->queue_of(p.network, added.other_route);
    }
    p.paths.push_back(names(plan.fabric, *path));
  }
  if (const auto ordered = order_flows(plan, p.network); !ordered) return fail(ordered.error());
  return p;
}

Result<Outcome> run(const Plan& plan, const Hooks& hooks) {
  auto prepared = prepare(plan);
  if (!prepared) return fail(prepared.error());
  prepared->network.trace = hooks.trace;
  switch (plan.settings.flow_control) {
    case FlowControlKind::kPfc:
      switch (plan.settings.protection) {
        case Protection::kWatchdog:
          return run_with<Pfc, Watchdog>(plan, hooks, std::move(*prepared));
        case Protection::kItsy:
          return run_with<Pfc, Itsy>(plan, hooks, std::move(*prepared));
        case Protection::kOff:
        case Protection::kDownUp:
          return run_with<Pfc, NoDetector>(plan, hooks, std::move(*prepared));
      }
      break;
    case FlowControlKind::kPfcStar:
      return run_with<Pfc, NoDetector>(plan, hooks, std::move(*prepared));
    case FlowControlKind::kPortFc:
      return run_with<PortFc, NoDetector>(plan, hooks, std::move(*prepared));
    case FlowControlKind::kOff:
      return run_with<NoFlowControl, NoDetector>(plan, hooks, std::move(*prepared));
  }
  return fail(Error{0, "flow_control", "there is none such"});
}

}  // namespace lldp::lab::packets
