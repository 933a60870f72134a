// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <tuple>

#include "base/text.hpp"
#include "lab/topology/forwarding.hpp"
#include "sim/packets/detector/itsy.hpp"
#include "sim/packets/detector/none.hpp"
#include "sim/packets/detector/watchdog.hpp"
#include "sim/packets/engine.hpp"
#include "sim/packets/flow_control/cbfc.hpp"
#include "sim/packets/flow_control/none.hpp"
#include "sim/packets/flow_control/pfc.hpp"
#include "sim/packets/flow_control/portfc.hpp"
#include "sim/packets/oracle.hpp"

namespace lldp::lab::packets {
namespace {

constexpr Picoseconds kOracleEvery = 10 * kMicrosecond;
constexpr std::size_t kMostRoutes = 1U << 16;  ///< that are kept
constexpr std::size_t kLinksOfAWay = 7;        ///< of a fat tree, and what ends it
constexpr std::uint64_t kLeastDelayNs = 100;   ///< of links, for more than one thread

std::string names(const Fabric& fabric, const Path& path) {
  std::string text;
  for (const std::size_t node : path.nodes)
    text += (text.empty() ? "" : ", ") + escape(fabric.nodes[node].name);
  return text;
}

using Links = std::vector<std::vector<Adjacency>>;
/// adjacencies() where nodes relay, which need them; else nothing.
Links links_of_relays(const Fabric& fabric) {
  return has_relays(fabric) ? adjacencies(fabric) : Links{};
}

/// The flow's different ways by the links that are up: those of other hashes, kMostWays at most.
std::vector<Path> all_ways(Ways& ways, const FailedLinks& failed, const lab::FlowPath& way) {
  constexpr std::uint64_t kMostWays = 64;
  std::vector<Path> all;
  for (std::uint64_t hash = 1; hash <= 4 * kMostWays && all.size() < kMostWays; ++hash) {
    lab::FlowPath other = way;
    other.hash = hash;
    auto path = ways.path_of(failed, other);
    if (!path) return all;
    if (std::none_of(all.begin(), all.end(),
                     [&](const Path& known) { return known.links == path->links; }))
      all.push_back(std::move(*path));
  }
  return all;
}

/// The way of a flow by the links that are up; `way` has what was asked for, and where nodes relay
/// what they lay.
Result<Path> way_of(const Plan& plan, Ways& ways, const FailedLinks& failed, const Links& links,
                    const PlannedFlow& f, lab::FlowPath& way) {
  way = f.way;
  const bool relays = !links.empty();
  if (relays) give_way(plan.fabric, links, way);
  auto path =
      relays && !way.via.empty() ? laid_path(plan.fabric, failed, way) : ways.path_of(failed, way);
  if (!path) return path;
  const auto refuse = [&](std::string_view what) {
    return fail(Error{0, fmt::format("flow {}: via", escape(flow_name(plan, f))),
                      fmt::format("{}: {}", what, names(plan.fabric, *path))});
  };
  const auto missed = [&](const Path& p) {
    return std::find_if(f.way.via.begin(), f.way.via.end(), [&](std::size_t station) {
      return std::find(p.nodes.begin(), p.nodes.end(), station) == p.nodes.end();
    });
  };
  if (!relays && missed(*path) != f.way.via.end())  // another hash may come by there
    for (Path& other : all_ways(ways, failed, way))
      if (missed(other) == f.way.via.end()) {
        *path = std::move(other);
        break;
      }
  if (const auto station = missed(*path); station != f.way.via.end())
    return refuse(fmt::format("`{}` is on none of the ways that switches take",
                              escape(plan.fabric.nodes[*station].name)));
  if (plan.settings.flow_control == FlowControlKind::kPortFc && !plan.settings.any_k &&
      path->links.size() > 4)
    return refuse("over two nodes that relay, between which nothing stops it");
  return path;
}

template <class FlowControl, class Detector>
class Run : public Simulation {
 public:
  Run(const Plan& plan, const Hooks& hooks, Prepared prepared, std::size_t threads, bool in_order)
      : plan_(plan),
        hooks_(hooks),
        agents_(std::move(prepared.agents)),
        ways_(std::move(prepared.ways)),
        failed_(plan.failed),
        engine_(std::move(prepared.network), threads, in_order),
        links_(links_of_relays(plan.fabric)),
        sample_(hooks.sample_every != 0 ? hooks.sample_every : kNever),
        half_(plan.duration / 2),
        event_(plan.events.begin()) {
    failed_.resize(plan.fabric.links.size());
    outcome_.levels_agreed = agents_.agreed();
    for (std::size_t l = 0; l < failed_.size(); ++l) {
      if (!failed_[l]) continue;
      engine_.cut(l);
      agents_.set_link(l, false);
    }
    agents_react(0);
    for (const Storm& s : plan_.storms) storms_.push_back({s, s.from, true});
    std::vector<std::uint32_t> routes(plan_.flows.size());
    for (std::size_t i = 0; i < routes.size(); ++i) routes[i] = engine_.network().flows[i].route;
    outcome_.flows = FlowResults(std::move(routes));  // before links come and go
  }

  Outcome outcome() override {
    finish();
    return std::move(outcome_);
  }
  Network& network() override { return engine_.network(); }
  bool deadlocked() override { return !stuck_queues(engine_.network()).empty(); }
  void halt() override { stop_for(Halt::kAsked); }

  Halt run_until(Picoseconds end) override {
    halted_.reset();
    for (;;) {
      if (halted_) return *halted_;
      if (end == kNever && idle()) return Halt::kIdle;
      if (engine_.network().now >= end) return Halt::kTime;
      until_idle_ = end == kNever;
      step(end);
    }
  }

  Result<std::uint32_t> send(const PlannedFlow& flow) override {
    const auto route = route_of(flow);
    if (!route) return fail(route.error());
    Network& n = engine_.network();
    const std::uint32_t number = n.add_flow(flow.spec, *route);
    n.flows[number].start = std::max(n.now, flow.spec.start);
    later_.push_back(flow.way);
    if constexpr (FlowControl::kPerPort) {
      if (!map_) map_.emplace(n);
      n.flows[number].priority = map_->queue_of(n, *route);
    }
    engine_.begin(number);
    return number;
  }
  void release(std::uint32_t flow) override {
    engine_.network().flows[flow].start = engine_.network().now;
    engine_.begin(flow);
  }
  void call_at(Picoseconds at, std::uint32_t number) override {
    const Picoseconds now = engine_.network().now;
    ++moments_;
    engine_.moment(at - std::min(at, now), number);
  }
  /// Calls the callback, and checks whether anything is left to do.
  void notified(const Notice& tell, Kind what, std::uint32_t which) {
    if (what == Kind::kMoment) --moments_;
    tell(what, which);
    if (until_idle_ && idle()) engine_.halt();
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

  /// Runs the events up to the next observation.
  void step(Picoseconds end) {
    Picoseconds stop = std::min({end, sample_, oracle_, halved_ ? kNever : half_});
    const bool agents_move = !plan_.events.empty();
    if (event_ != plan_.events.end()) stop = std::min(stop, event_->at);
    for (const Storming& s : storms_) stop = std::min(stop, s.next);
    if (agents_move) stop = std::min(stop, std::max(agents_.next(), engine_.network().now));
    pass(stop);
    if (engine_.network().now < stop) return;  // halted
    if (agents_move && agents_.next() <= stop) agents_react(stop);
    for (; event_ != plan_.events.end() && event_->at <= stop; ++event_) change(*event_);
    for (Storming& s : storms_) storm(s, stop);
    if (!halved_ && stop >= half_) {
      halved_ = true;
      outcome_.flows.note_half(engine_.network().flows);
    }
    if (stop == sample_) {
      hooks_.sample(engine_.network());
      sample_ += hooks_.sample_every;
    }
    if (stop < oracle_ && stop != plan_.duration) return;
    oracle_ = stop + kOracleEvery;
    look();
    if (hooks_.go_on && !hooks_.go_on(engine_.network())) {
      outcome_.stopped = true;
      stop_for(Halt::kAsked);
    }
    const Network& n = engine_.network();
    if (end == plan_.duration && event_ == plan_.events.end() && !sampling() && idle() &&
        n.endless == 0)
      stop_for(Halt::kIdle);
  }
  void stop_for(Halt why) {
    if (!halted_) halted_ = why;
    engine_.halt();
  }
  [[nodiscard]] bool sampling() const { return hooks_.sample_every != 0 && hooks_.to_the_end; }
  [[nodiscard]] bool idle() const { return engine_.network().unfinished == 0 && moments_ == 0; }

  /// Flows between the same two, by the same hash, go the same way: it is looked for once.
  Result<std::uint32_t> route_of(const PlannedFlow& flow) {
    const lab::FlowPath& w = flow.way;
    const auto key = std::tuple(w.from, w.to, w.hash);
    if (const auto known = routes_.find(key); w.via.empty() && known != routes_.end())
      return known->second;
    lab::FlowPath way;
    const auto path = way_of(plan_, ways_, failed_, links_, flow, way);
    if (!path) return fail(path.error());
    const std::uint32_t route = engine_.network().route_of(*path);
    if (!w.via.empty()) return route;
    if (routes_.size() >= kMostRoutes) routes_.clear();
    routes_.emplace(key, route);
    return route;
  }

  void pass(Picoseconds stop) {
    const Picoseconds before = engine_.network().now;
    engine_.run_until(stop);
    if (exposed_) outcome_.exposed += engine_.network().now - before;
  }

  void agents_react(Picoseconds now) {
    for (const auto& [link, end] : agents_.advance(now))
      if (!layers_of(plan_.fabric.links[link], end))
        engine_.network().install(link, end, {.order = agents_.order(link, end)});
    exposed_ = agents_.exposed() != 0;
  }

  void change(const LinkEvent& event) {
    if (failed_[event.link] != event.up) return;
    failed_[event.link] = !event.up;
    agents_.set_link(event.link, event.up);
    agents_react(engine_.network().now);
    routes_.clear();
    for (std::uint32_t f = 0; f < engine_.network().flows.size(); ++f) {
      const std::size_t planned = plan_.flows.size();
      const Flow& flow = engine_.network().flows[f];
      if (f >= planned && flow.done && flow.finish != kNever) continue;  // there may be very many
      const auto path =
          ways_.path_of(failed_, f < planned ? plan_.flows[f].way : later_[f - planned]);
      if (path)
        engine_.network().reroute(f, *path);
      else
        ++outcome_.unroutable;
      if (path && f < planned && flow.ways != 0)
        engine_.network().spread(f, all_ways(ways_, failed_, plan_.flows[f].way));
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
      if (!deadlocked_ && plan_.duration == kNever) stop_for(Halt::kDeadlock);
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
    if (deadlocked_ && !stuck.empty() && until_idle_ && stands_still()) stop_for(Halt::kDeadlock);
    deadlocked_ = !stuck.empty();
    looked_at_ = n.now;
  }

  /// Of the flows that have an end, none has got an octet for a while and none is still to begin:
  /// in a run until nothing is under way, what a deadlock holds would be waited for in vain.
  [[nodiscard]] bool stands_still() {
    constexpr Picoseconds kWhile = 10 * kMillisecond;
    const Network& n = engine_.network();
    if (moments_ != 0 || n.now - moved_at_ < kWhile) return false;
    std::uint64_t received = 0;
    for (const Flow& f : n.flows) {
      if (f.finish != kNever || f.frames == kNone || f.start == kNever) continue;
      if (f.start > n.now) return false;
      received += f.received;
    }
    moved_at_ = n.now;
    return std::exchange(received_, received) == received;
  }

  void finish() {
    engine_.network().gather();  // a run that memory ended has not
    const Network& n = engine_.network();
    outcome_.duration = n.now;
    outcome_.count = n.count;
    outcome_.verdicts = n.verdicts;
    outcome_.queued_octets = n.count.sent - n.count.delivered - n.count.dropped -
                             n.count.lost_octets - n.count.discarded_octets;
    const Picoseconds rest = n.now > plan_.duration / 2 ? n.now - plan_.duration / 2 : 0;
    outcome_.flows.close(std::move(engine_.network().flows), rest);
    outcome_.routes = std::move(engine_.network().routes);
  }

  const Plan& plan_;
  const Hooks& hooks_;
  AgentsInside agents_;
  Ways ways_;
  FailedLinks failed_;
  Engine<FlowControl, Detector> engine_;
  Links links_;                  ///< where nodes relay
  Picoseconds sample_ = kNever;  ///< time of the next observation
  Picoseconds oracle_ = kOracleEvery;
  Picoseconds half_ = 0;
  std::vector<LinkEvent>::const_iterator event_;
  std::optional<Halt> halted_{};
  std::vector<lab::FlowPath> later_{};  ///< ways of the flows that are none of the plan's
  std::map<std::tuple<std::size_t, std::size_t, std::uint64_t>, std::uint32_t> routes_{};
  std::optional<NdcMap> map_{};
  std::size_t moments_ = 0;  ///< moments that are waited for
  Outcome outcome_{};  ///< of its flows: routes, and from half of the time on what had come then
  std::vector<Storming> storms_{};
  Picoseconds looked_at_ = 0;
  Picoseconds moved_at_ = 0;    ///< when stands_still() last looked
  std::uint64_t received_ = 0;  ///< then, by the flows under way
  Picoseconds since_ = 0;       ///< of the deadlock that there is
  bool deadlocked_ = false;
  bool exposed_ = false;
  bool halved_ = false;
  bool until_idle_ = false;
};

template <class FlowControl, class Detector>
std::unique_ptr<Simulation> run_with(const Plan& plan, const Hooks& hooks, Prepared prepared,
                                     Notice notice, std::size_t threads) {
  const bool in_order = static_cast<bool>(notice) || !needs_one_thread(plan, hooks).empty();
  auto run = std::make_unique<Run<FlowControl, Detector>>(plan, hooks, std::move(prepared),
                                                          in_order ? 1 : threads, in_order);
  if (notice)
    run->network().notice = [r = run.get(), tell = std::move(notice)](
                                Kind what, std::uint32_t which) { r->notified(tell, what, which); };
  return run;
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
  if (plan.settings.protection != ProtectionScheme::kOff)
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
    n.ports[a].after_turn.set(lossless[0].priority.value(), lossless[1].priority.value());
  }
  return {};
}

/// The other of the two ways in NDC(n, 1), if its first link has another rate.
std::optional<Path> other_way(const Fabric& fabric, const Links& links, const FailedLinks& failed,
                              lab::FlowPath way) {
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
  std::map<std::uint32_t, std::vector<std::uint32_t>> followers;
  for (const auto& [f, waits_for] : plan.after)
    for (const std::uint32_t before : waits_for) {
      if (before >= f || plan.flows[before].way.to != plan.flows[f].way.from)
        return fail(Error{0, fmt::format("flow {}: after", escape(flow_name(plan, plan.flows[f]))),
                          "those that it waits for come before it, and end where it begins"});
      if (plan.flows[before].spec.octets == 0)
        return fail(
            Error{0, fmt::format("flow {}: after", escape(flow_name(plan, plan.flows[f]))),
                  fmt::format("`{}` has no end", escape(flow_name(plan, plan.flows[before])))});
      followers[before].push_back(f);
    }
  for (const auto& [f, those] : followers)
    for (const std::uint32_t next : those) n.add_follower(f, next);
  return {};
}

Result<void> check_congestion(const Plan& plan) {
  if (plan.settings.dcqcn.on && plan.settings.hpcc.on)
    return fail(Error{0, "settings.hpcc", "dcqcn is given too: a flow has one congestion control"});
  return {};
}

/// What frames that overtake each other do without.
Result<void> check_spread(const Plan& plan) {
  const auto refuse = [](std::string where, std::string_view what) {
    return fail(Error{0, std::move(where), std::string(what)});
  };
  if (plan.settings.spread == Spread::kFlow) return {};
  if (plan.settings.flow_control == FlowControlKind::kPortFc || has_relays(plan.fabric))
    return refuse("settings.spread", "where nodes relay a flow has one way");
  for (const PlannedFlow& f : plan.flows) {
    if (f.spec.transport == HostTransport::kGoBackN)
      return refuse(fmt::format("flow {}: transport", escape(flow_name(plan, f))),
                    "go-back-n takes a frame that overtakes another for a loss: with "
                    "settings.spread give irn or paced");
    if (!f.way.via.empty())
      return refuse(fmt::format("flow {}: via", escape(flow_name(plan, f))),
                    "a flow that is spread has no way of its own");
  }
  return {};
}

/// What credits do without.
Result<void> check_cbfc(const Plan& plan, const Hooks& hooks) {
  const auto refuse = [](std::string_view key, std::string_view what) {
    return fail(Error{0, std::string(key), std::string(what)});
  };
  if (plan.settings.flow_control != FlowControlKind::kCbfc) return {};
  if (plan.settings.protection == ProtectionScheme::kWatchdog ||
      plan.settings.protection == ProtectionScheme::kItsy)
    return refuse("settings.protect", "with credits: none or down-up");
  if (!plan.storms.empty()) return refuse("storms", "a host pauses by PFC: none with credits");
  if (hooks.trace) return refuse("trace", "messages of credits have no known format: no capture");
  return {};
}

/// A NIC pauses by PFC, or not at all.
Result<void> check_nic(const Plan& plan) {
  if (!plan.settings.nic.on || plan.settings.flow_control == FlowControlKind::kPfc ||
      plan.settings.flow_control == FlowControlKind::kOff)
    return {};
  return fail(Error{0, "settings.nic", "with flow control pfc or none"});
}

}  // namespace

void FlowResults::note_half(const std::vector<Flow>& flows) {
  for (std::size_t i = 0; i < size(); ++i) at_half_[i] = flows[i].received;
}

void FlowResults::close(std::vector<Flow>&& flows, Picoseconds rest) {
  flows_ = std::move(flows);
  rest_ = rest;
}

FlowResult FlowResults::operator[](std::size_t flow) const {
  const Flow& f = flows_[flow];
  FlowResult r{.received_octets = f.received, .sent_again = f.again, .route = routes_[flow]};
  if (f.waits_for == 0 && f.start != kNever) r.start = f.start;
  if (f.finish != kNever) r.fct = f.finish - f.start;
  const std::uint64_t octets = r.fct ? f.received : f.received - at_half_[flow];
  if (const Picoseconds time = r.fct.value_or(rest_); time != 0)
    r.throughput_bps =
        static_cast<std::uint64_t>(static_cast<unsigned __int128>(octets) * 8 * kSecond / time);
  return r;
}

std::string path_text(const Plan& plan, const Outcome& outcome, const FlowResult& flow) {
  const auto name = [&](Arc arc, std::size_t end) {
    return escape(plan.fabric.nodes[plan.fabric.links[arc / 2].ends[end].node].name);
  };
  std::string text = name(outcome.routes[flow.route], outcome.routes[flow.route] % 2);
  for (std::uint32_t step = flow.route; outcome.routes[step] != kNone; ++step)
    text += ", " + name(outcome.routes[step], 1 - outcome.routes[step] % 2);
  return text;
}

Result<Prepared> prepare(const Plan& plan) {
  const bool links_change =
      !plan.events.empty() || std::ranges::find(plan.failed, true) != plan.failed.end();
  AgentsInside agents(plan.fabric, plan.settings.seed, links_change);
  auto network = Network::of(plan.fabric, plan.settings);
  if (!network) return fail(network.error());
  if (const auto set_up = set_up_ndc(plan, *network); !set_up) return fail(set_up.error());
  Prepared p{std::move(*network), std::move(agents), Ways(plan.fabric)};
  for (std::size_t l = 0; l < plan.fabric.links.size(); ++l)
    for (std::size_t e = 0; e < 2; ++e) {
      // The operator says the layers of a port that has any; else the agents find its order.
      const Link& link = plan.fabric.links[l];
      qos::PortClass port = layers_of(link, e) ? true_class(plan.fabric, link, e)
                                               : qos::PortClass{.order = p.agents.order(l, e)};
      const Node& peer = plan.fabric.nodes[link.ends[1 - e].node];
      port.restore = plan.settings.restore && peer.role == Role::kHost && !peer.relays;
      p.network.install(l, e, port);
    }
  FailedLinks failed = plan.failed;
  failed.resize(plan.fabric.links.size());
  p.network.flows.reserve(plan.flows.size());
  p.network.routes.reserve(plan.flows.size() * kLinksOfAWay);
  const Links links = links_of_relays(plan.fabric);
  std::optional<NdcMap> map;
  if (plan.settings.flow_control == FlowControlKind::kPortFc) map.emplace(p.network);
  for (const PlannedFlow& f : plan.flows) {
    lab::FlowPath way;
    const auto path = way_of(plan, p.ways, failed, links, f, way);
    if (!path) return fail(path.error());
    const std::uint32_t flow = p.network.add_flow(f.spec, *path);
    Flow& added = p.network.flows[flow];
    if (!links.empty() && plan.settings.ate_percent != 0 && f.way.via.empty())
      if (const auto other = other_way(plan.fabric, links, failed, way))
        p.network.add_other_way(flow, *other);
    if (map) {
      added.priority = map->queue_of(p.network, added.route);
      if (added.extras && added.extras->other_route != 0)
        added.extras->other_priority = map->queue_of(p.network, added.extras->other_route);
    }
    if (plan.settings.spread != Spread::kFlow)
      p.network.spread(flow, all_ways(p.ways, failed, way));
  }
  if (const auto ordered = order_flows(plan, p.network); !ordered) return fail(ordered.error());
  return p;
}

/// The least delay between two devices that forward: threads meet about that often.
static std::uint64_t shortest_link(const Fabric& fabric) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Link& link : fabric.links)
    if (forwards(fabric.nodes[link.ends[0].node]) && forwards(fabric.nodes[link.ends[1].node]))
      least = std::min(least, link.delay_ns);
  return least;
}

std::string_view needs_one_thread(const Plan& plan, const Hooks& hooks) {
  if (hooks.trace) return "a capture has all frames in the order in which they are sent";
  if (plan.settings.protection == ProtectionScheme::kItsy)
    return "what itsy declares is compared with all switches at that moment";
  if (plan.settings.hpcc.on) return "what HPCC's frames tell stays with the thread that moves them";
  if (!plan.program.operations.empty())
    return "operations of a GOAL trace begin at other hosts at the moment in which one ends";
  if (shortest_link(plan.fabric) < kLeastDelayNs)
    return "some links are so short that threads would wait for each other most of the time";
  return {};
}

Result<std::unique_ptr<Simulation>> simulate(const Plan& plan, const Hooks& hooks, Notice notice,
                                             std::size_t threads) {
  if (const auto fits = check_cbfc(plan, hooks); !fits) return fail(fits.error());
  if (const auto fits = check_nic(plan); !fits) return fail(fits.error());
  if (const auto fits = check_congestion(plan); !fits) return fail(fits.error());
  if (const auto fits = check_spread(plan); !fits) return fail(fits.error());
  auto prepared = prepare(plan);
  if (!prepared) return fail(prepared.error());
  prepared->network.trace = hooks.trace;
  switch (plan.settings.flow_control) {
    case FlowControlKind::kPfc:
      switch (plan.settings.protection) {
        case ProtectionScheme::kWatchdog:
          return run_with<Pfc, Watchdog>(plan, hooks, std::move(*prepared), std::move(notice),
                                         threads);
        case ProtectionScheme::kItsy:
          return run_with<Pfc, Itsy>(plan, hooks, std::move(*prepared), std::move(notice), threads);
        case ProtectionScheme::kOff:
        case ProtectionScheme::kDownUp:
          return run_with<Pfc, NoDetector>(plan, hooks, std::move(*prepared), std::move(notice),
                                           threads);
      }
      break;
    case FlowControlKind::kPfcStar:
      return run_with<Pfc, NoDetector>(plan, hooks, std::move(*prepared), std::move(notice),
                                       threads);
    case FlowControlKind::kPortFc:
      return run_with<PortFc, NoDetector>(plan, hooks, std::move(*prepared), std::move(notice),
                                          threads);
    case FlowControlKind::kCbfc:
      return run_with<Cbfc, NoDetector>(plan, hooks, std::move(*prepared), std::move(notice),
                                        threads);
    case FlowControlKind::kOff:
      return run_with<NoFlowControl, NoDetector>(plan, hooks, std::move(*prepared),
                                                 std::move(notice), threads);
  }
  return fail(Error{0, "flow_control", "there is none such"});
}

Result<Outcome> run(const Plan& plan, const Hooks& hooks, std::size_t threads) {
  std::optional<ProgramRun> program;
  Notice notice;
  if (!plan.program.operations.empty())
    notice = [&](Kind what, std::uint32_t which) { program->notice(what, which); };
  auto simulation = simulate(plan, hooks, std::move(notice), threads);
  if (!simulation) return fail(simulation.error());
  if (!plan.program.operations.empty()) program.emplace(plan.program, **simulation).begin();
  bool exhausted = false;
  try {
    (*simulation)->run_until(plan.duration);
  } catch (const std::bad_alloc&) {  // of any thread; what all have simulated is told
    exhausted = true;
  }
  Outcome outcome = (*simulation)->outcome();
  outcome.memory_ran_out = exhausted;
  outcome.stopped |= exhausted;
  return outcome;
}

}  // namespace lldp::lab::packets
