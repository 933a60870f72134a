// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "lab/des/parallel.hpp"
#include "lab/packets/flow_control/ndc.hpp"
#include "lab/packets/run.hpp"
#include "lab/packets/workload/traffic.hpp"
#include "lab/papers/claims.hpp"
#include "lab/papers/statistics.hpp"
#include "lab/topology/server_fabrics.hpp"

namespace lldp::lab {
namespace {

using packets::FlowControlKind;
using packets::kMicrosecond;
using packets::kMillisecond;
using packets::Picoseconds;
using packets::Plan;
using packets::Traffic;
using packets::Transport;

constexpr std::uint64_t kMegabyte = 1'000'000;

/// The paper's set-ups.
struct Scheme {
  const char* name = "";
  FlowControlKind control{};
  Transport transport{};
  std::uint32_t ate_percent = 0;
};
constexpr Scheme kPortFc{"PortFC", FlowControlKind::kPortFc, Transport::kGoBackN};
constexpr Scheme kIrn{"IRN", FlowControlKind::kOff, Transport::kSelective};
constexpr Scheme kPfcStar{"PFC*", FlowControlKind::kPfcStar, Transport::kGoBackN};
constexpr Scheme kGoBackN{"go-back-N", FlowControlKind::kOff, Transport::kGoBackN};
constexpr Scheme kPfc{"PFC", FlowControlKind::kPfc, Transport::kGoBackN};
constexpr Scheme kPortFcAte{"PortFC and ATE", FlowControlKind::kPortFc, Transport::kGoBackN, 90};

/// V-A: thresholds of 6 and 4 times 12.5 KB, buffers of 5 MB, DCQCN, RTOs.
Plan plan_in(Fabric fabric, const Scheme& scheme, std::uint64_t seed) {
  Plan plan;
  plan.fabric = std::move(fabric);
  plan.failed.resize(plan.fabric.links.size());
  auto& s = plan.settings;
  s.flow_control = scheme.control;
  s.protection = packets::Protection::kOff;
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

/// What one kind of flow found.
struct Part {
  std::vector<double> fct_us{};  ///< of one that has not ended, until the end of the run
  std::vector<double> gbps{};
  double octets = 0;   ///< that arrived
  double last_ms = 0;  ///< when the last one had arrived
  std::size_t unfinished = 0;
};
struct SeenOfPortfc {
  std::array<Part, 2> parts{};  ///< background and incast, or push and broadcast
  double drops = 0;
  double pause_hops = 0;
  double deadlocks = 0;
  double queue_peak = 0;             ///< of a switch's port
  std::vector<double> queue_top{};   ///< the longest one, every 10 us
  std::vector<double> throughput{};  ///< by flow, Gb/s

  void add(const SeenOfPortfc& o) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Part& p = parts[i];
      const Part& q = o.parts[i];
      p.fct_us.insert(p.fct_us.end(), q.fct_us.begin(), q.fct_us.end());
      p.gbps.insert(p.gbps.end(), q.gbps.begin(), q.gbps.end());
      p.octets += q.octets;
      p.last_ms = std::max(p.last_ms, q.last_ms);
      p.unfinished += q.unfinished;
    }
    drops += o.drops;
    pause_hops = std::max(pause_hops, o.pause_hops);
    deadlocks += o.deadlocks;
    queue_peak = std::max(queue_peak, o.queue_peak);
    queue_top.insert(queue_top.end(), o.queue_top.begin(), o.queue_top.end());
  }
};

/// Runs a plan whose flows from `second` on are the second part; queues are looked at until then.
SeenOfPortfc simulate(const Plan& plan, std::size_t second, Picoseconds until = packets::kNever) {
  SeenOfPortfc seen;
  packets::Hooks hooks;
  hooks.go_on = [&](const packets::Network& n) {
    if (n.now > until) return true;
    std::uint64_t longest = 0;
    for (const packets::Port& p : n.ports) {
      if (!p.forwards || p.relays) continue;
      std::uint64_t octets = 0;
      for (const packets::Queue& q : p.queues) octets += q.octets;
      longest = std::max(longest, octets);
    }
    seen.queue_top.push_back(static_cast<double>(longest));
    seen.queue_peak = std::max(seen.queue_peak, static_cast<double>(longest));
    return true;
  };
  const auto o = packets::run(plan, hooks);
  if (!o) return seen;
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

class Portfc {
 public:
  Portfc(const ClaimOptions& options, const std::function<void(const Claim&)>& found,
         const std::function<void(double)>& tell)
      : o_(options), found_(found), tell_(tell) {}

  void all() {
    const std::vector<std::pair<std::vector<int>, void (Portfc::*)()>> parts = {
        {{}, &Portfc::queue_counts},  {{4}, &Portfc::victim},
        {{5, 7}, &Portfc::deadlock},  {{8, 9, 10, 11}, &Portfc::small},
        {{12, 14}, &Portfc::large},   {{15, 16}, &Portfc::parameter_server},
        {{17, 18}, &Portfc::experts}, {{19}, &Portfc::testbed},
        {{}, &Portfc::relayed_twice}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      begin_ = static_cast<double>(i) / static_cast<double>(parts.size());
      share_ = 1 / static_cast<double>(parts.size());
      const auto& figures = parts[i].first;
      if (!o_.figure || std::find(figures.begin(), figures.end(), *o_.figure) != figures.end())
        (this->*parts[i].second)();
    }
    tell_(1);
  }

 private:
  void say(int figure, const std::string& section, const std::string& scenario,
           const std::string& metric, double ours, std::optional<double> published = {},
           double least = 0, double most = 0) {
    if (o_.figure && figure != *o_.figure) return;
    const std::string place = figure == 0 ? section : fmt::format("{}, Figure {}", section, figure);
    found_({place, scenario, metric, ours, published, least, most});
  }
  /// Ours over the other's: that it is below (above) 1 is the claim; by how much depends on a load
  /// that the paper does not state.
  void below(int figure, const std::string& section, const std::string& scenario,
             const std::string& metric, double ours, double published) {
    say(figure, section, scenario, metric, ours, published, 0, 1);
  }
  void above(int figure, const std::string& section, const std::string& scenario,
             const std::string& metric, double ours, double published) {
    say(figure, section, scenario, metric, ours, published, 1, kNoLimit);
  }

  /// What each of `count` jobs sees; they run beside each other.
  template <class Job>
  std::vector<SeenOfPortfc> run_all(std::size_t count, const Job& job) {
    std::vector<SeenOfPortfc> seen(count);
    parallel_for(
        count, o_.threads, [&](std::size_t i, std::size_t) { seen[i] = job(i); },
        [&](std::size_t done, std::size_t total) {
          tell_(begin_ + share_ * static_cast<double>(done) / static_cast<double>(total));
        });
    return seen;
  }

  static std::size_t node(const Fabric& fabric, std::string_view name) {
    return static_cast<std::size_t>(std::find_if(fabric.nodes.begin(), fabric.nodes.end(),
                                                 [&](const Node& n) { return n.name == name; }) -
                                    fabric.nodes.begin());
  }
  /// An endless flow over these nodes, and the switches that each has in common with the next.
  static void add_flow(Plan& plan, const std::vector<std::string_view>& names) {
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
    lab::Flow flow{.name = std::string(names[0]), .from = way.front(), .to = way.back()};
    flow.via.assign(way.begin() + 1, way.end() - 1);
    plan.flows.push_back({.spec = {.name = flow.name}, .way = flow});
  }

  /// III-B: by the flows of all pairs over all their ways.
  void queue_counts() {
    for (const std::size_t n : {std::size_t{4}, std::size_t{8}}) {
      Plan plan = plan_in(*ndc(n, 1), kPortFc, o_.seed);
      const auto& nodes = plan.fabric.nodes;
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t b = 0; b < nodes.size(); ++b)
          for (const std::uint64_t hash : {1U, 3U})
            if (a != b && nodes[a].relays && nodes[b].relays)
              plan.flows.push_back(
                  {.spec = {.name = "", .octets = 1},
                   .way = {.name = "", .from = a, .to = b, .via = {}, .hash = hash}});
      const auto prepared = packets::prepare(plan);
      if (!prepared) continue;
      const packets::Network& network = prepared->network;
      const packets::NdcMap map(network);
      std::vector<std::set<unsigned>> used(network.arcs());
      for (const packets::Flow& f : network.flows)
        for (std::uint32_t r = f.route; network.routes[r] != packets::kNone; ++r)
          used[network.routes[r]].insert(map.queue_of(network, r));
      std::array<std::size_t, 2> most{};
      for (Arc a = 0; a < network.arcs(); ++a) {
        std::size_t& m = most[map.is_switch(a) ? 0 : 1];
        m = std::max(m, used[a].size() + 1);  // and that of control
      }
      const std::string where = fmt::format("NDC({}, 1)", n);
      const auto same = [&](const char* metric, std::size_t ours, std::size_t published) {
        const auto p = static_cast<double>(published);
        say(0, "III-B", where, metric, static_cast<double>(ours), p, p, p);
      };
      same("queues_of_a_switch_port", most[0], n + 1);
      same("queues_of_a_node_port", most[1], 2 * (n - 1) + 2);
    }
  }

  /// Three flows to one node stop those who send them, one of which has a fourth, to one that is
  /// free.
  void victim() {
    std::array<double, 2> rate{};
    const std::array schemes{kPfcStar, kPortFc};
    for (std::size_t i = 0; i < schemes.size(); ++i) {
      Plan plan = plan_in(*ndc(4, 1), schemes[i], o_.seed);
      plan.settings.dcqcn.on = plan.settings.ecn.on = false;
      for (const std::string_view from : {"node01", "node02", "node03"})
        add_flow(plan, {from, "node00"});
      add_flow(plan, {"node01", "node02"});
      plan.duration = 4 * kMillisecond;
      rate[i] = simulate(plan, plan.flows.size()).throughput[3];
      say(4, "II-C", schemes[i].name, "victim_gbps", rate[i]);
    }
    say(4, "II-C", "PortFC / PFC*", "victim_gbps_ratio", rate[1] / rate[0]);
  }

  void deadlock() {
    for (const Scheme& scheme : {kPfc, kPfcStar, kPortFc}) {
      Plan plan = *packets::plan_of_case("ndc-loop", 2, 1);
      plan.settings.flow_control = scheme.control;
      plan.duration = (o_.quick ? 5 : 50) * kMillisecond;
      const SeenOfPortfc seen = simulate(plan, plan.flows.size());
      const bool dies = scheme.control == FlowControlKind::kPfc;
      say(5, "II-C", scheme.name, "deadlocks", seen.deadlocks, dies ? 1 : 0, dies ? 1 : 0,
          dies ? 1 : 0);
      say(5, "II-C", scheme.name, "least_gbps_of_a_flow",
          *std::min_element(seen.throughput.begin(), seen.throughput.end()));
    }
    Plan plan = plan_in(*ndc(4, 1), kPortFc, o_.seed);
    plan.settings.dcqcn.on = plan.settings.ecn.on = false;
    plan.duration = 100 * kMillisecond;
    Traffic most{.kind = "incast", .octets = kMegabyte, .senders = 15};
    most.transport = Transport::kPaced;
    if (!add_traffic(plan, most) ||
        !add_traffic(plan, {.kind = "all-to-all", .octets = kMegabyte / 5}))
      return;
    const SeenOfPortfc seen = simulate(plan, plan.flows.size());
    const char* const where = "NDC(4, 1), all to one and all to all";
    say(7, "III-D", where, "pause_hops", seen.pause_hops, 3, 1, 3);
    say(7, "III-D", where, "drops", seen.drops, 0, 0, 0);
    say(7, "III-D", where, "unfinished", static_cast<double>(seen.parts[0].unfinished), 0, 0, 0);
  }

  // V-B and V-C

  struct Load {
    std::size_t n = 4;
    std::uint32_t senders = 8;  ///< of an incast
    Picoseconds every = kMillisecond;
    Picoseconds until = 4 * kMillisecond;
    std::size_t seeds = 1;
  };
  struct Workload {
    const char* sizes = "";
    const char* name = "";
    double irn_avg = 0;  ///< published of NDC(4, 1): PortFC's average FCT over IRN's
    double pfc_star_throughput = 0;
  };
  static constexpr std::array<Workload, 3> kWorkloads{{{"websearch", "WebSearch", 1 - 0.692, 2},
                                                       {"hadoop", "Hadoop", 1 - 0.117, 2},
                                                       {"storage", "Storage", 1 - 0.409, 8}}};
  static constexpr std::array kSchemes{kPortFc, kIrn, kPfcStar, kGoBackN, kPfc};

  /// Half of a link's rate from every node, to any; and again and again many to one, 1 MB each.
  static SeenOfPortfc one_run(const Load& load, const Workload& workload, const Scheme& scheme,
                              std::uint64_t seed) {
    Plan plan = plan_in(*ndc(load.n, 1), scheme, seed);
    Traffic poisson{.kind = "poisson", .load_percent = 50, .sizes = workload.sizes};
    poisson.until = load.until;
    poisson.transport = scheme.transport;
    if (!add_traffic(plan, poisson)) return {};
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
      if (!add_traffic(plan, incast)) return {};
    }
    plan.duration = load.until + 100 * kMillisecond;
    return simulate(plan, second, load.until);
  }

  void traffic(const Load& load, int fct_figure, int cdf_figure, int throughput_figure) {
    const std::string section = load.n == 4 ? "V-B" : "V-C";
    const std::size_t runs = kWorkloads.size() * kSchemes.size() * load.seeds;
    const auto all = run_all(runs, [&](std::size_t i) {
      return one_run(load, kWorkloads[i / load.seeds / kSchemes.size()],
                     kSchemes[i / load.seeds % kSchemes.size()], o_.seed + i % load.seeds);
    });
    for (std::size_t w = 0; w < kWorkloads.size(); ++w) {
      std::array<SeenOfPortfc, kSchemes.size()> seen{};
      for (std::size_t i = 0; i < kSchemes.size() * load.seeds; ++i)
        seen[i / load.seeds].add(all[w * kSchemes.size() * load.seeds + i]);
      const std::string where = fmt::format("NDC({}, 1), {}", load.n, kWorkloads[w].name);
      for (std::size_t i = 0; i < kSchemes.size(); ++i)
        values(section, fmt::format("{}, {}", where, kSchemes[i].name), seen[i], fct_figure,
               cdf_figure, throughput_figure);
      compare(section, where, kWorkloads[w], load, seen, fct_figure, throughput_figure);
      if (w == 0 && load.n == 4) queues(where, seen);
    }
  }

  void values(const std::string& section, const std::string& where, const SeenOfPortfc& seen,
              int fct_figure, int cdf_figure, int throughput_figure) {
    constexpr std::array<const char*, 2> kParts{"background", "incast"};
    for (std::size_t p = 0; p < kParts.size(); ++p) {
      const Part& part = seen.parts[p];
      const auto metric = [&](const char* what) { return fmt::format("{}_{}", kParts[p], what); };
      const int figure = p == 0 ? fct_figure : cdf_figure;
      say(figure, section, where, metric("fct_us_avg"), mean_of(part.fct_us));
      say(figure, section, where, metric("fct_us_p95"), percentile(part.fct_us, 0.95));
      say(figure, section, where, metric("fct_us_p99"), percentile(part.fct_us, 0.99));
      say(figure, section, where, metric("fct_us_p99.9"), percentile(part.fct_us, 0.999));
      say(throughput_figure, section, where, metric("gbps_avg"), mean_of(part.gbps));
      say(throughput_figure, section, where, metric("gbps_by_octets"), by_octets(part));
      if (part.unfinished != 0)
        say(figure, section, where, metric("unfinished"), static_cast<double>(part.unfinished));
    }
    if (!where.ends_with("FC*") && !where.ends_with("PortFC"))
      say(fct_figure, section, where, "drops", seen.drops);
    else
      say(fct_figure, section, where, "drops", seen.drops, 0, 0, 0);
    if (where.ends_with(", PFC"))
      say(fct_figure, section, where, "deadlocked_runs", seen.deadlocks);
  }

  /// All that arrived by the time of all flows: long ones count for what they carry.
  static double by_octets(const Part& part) {
    const double us = mean_of(part.fct_us) * static_cast<double>(part.fct_us.size());
    return us == 0 ? 0 : part.octets * 8 / (us * 1e3);
  }

  void compare(const std::string& section, const std::string& where, const Workload& workload,
               const Load& load, const std::array<SeenOfPortfc, kSchemes.size()>& seen,
               int fct_figure, int throughput_figure) {
    const auto avg = [&](std::size_t scheme, std::size_t part) {
      return mean_of(seen[scheme].parts[part].fct_us);
    };
    const auto tail = [&](std::size_t scheme) {
      return percentile(seen[scheme].parts[0].fct_us, 0.999);
    };
    const auto rate = [&](std::size_t scheme, std::size_t part) {
      return mean_of(seen[scheme].parts[part].gbps);
    };
    const bool small = load.n == 4;
    const bool web = workload.sizes == std::string_view("websearch");
    // Published: the value of the workload, else the best of three ("at most").
    below(fct_figure, section, where, "fct_avg_over_IRN", avg(0, 0) / avg(1, 0),
          small ? workload.irn_avg : 1 - 0.417);
    below(fct_figure, section, where, "fct_avg_over_PFC*", avg(0, 0) / avg(2, 0),
          small ? 1 - 0.873 : 1 - 0.198);
    below(fct_figure, section, where, "fct_avg_over_go-back-N", avg(0, 0) / avg(3, 0),
          small ? 1 - 0.584 : 1 - 0.965);
    below(fct_figure, section, where, "fct_p99.9_over_IRN", tail(0) / tail(1),
          small ? 1 - 0.413 : 1 - 0.166);
    below(fct_figure, section, where, "fct_p99.9_over_PFC*", tail(0) / tail(2),
          small ? 1 - 0.877 : 1 - 0.855);
    // IRN is the second best.
    below(fct_figure, section, where, "fct_avg_of_IRN_over_PFC*", avg(1, 0) / avg(2, 0), 1);
    below(fct_figure, section, where, "fct_avg_of_IRN_over_go-back-N", avg(1, 0) / avg(3, 0), 1);
    above(throughput_figure, section, where, "throughput_over_IRN", rate(0, 0) / rate(1, 0),
          web && !small ? 2.3 : 1.7);
    above(throughput_figure, section, where, "throughput_over_PFC*", rate(0, 0) / rate(2, 0),
          small ? workload.pfc_star_throughput : 2.0);
    above(throughput_figure, section, where, "throughput_over_go-back-N", rate(0, 0) / rate(3, 0),
          web && !small ? 4.7 : 2.4);
    const auto weighed = [&](std::size_t scheme) { return by_octets(seen[scheme].parts[0]); };
    above(throughput_figure, section, where, "throughput_by_octets_over_IRN",
          weighed(0) / weighed(1), web && !small ? 2.3 : 1.7);
    above(throughput_figure, section, where, "throughput_by_octets_over_PFC*",
          weighed(0) / weighed(2), small ? workload.pfc_star_throughput : 2.0);
    above(throughput_figure, section, where, "throughput_by_octets_over_go-back-N",
          weighed(0) / weighed(3), web && !small ? 4.7 : 2.4);
    above(throughput_figure, section, where, "incast_throughput_over_IRN", rate(0, 1) / rate(1, 1),
          1.9);
    above(throughput_figure, section, where, "incast_throughput_over_PFC*", rate(0, 1) / rate(2, 1),
          2.2);
    above(throughput_figure, section, where, "incast_throughput_over_go-back-N",
          rate(0, 1) / rate(3, 1), small ? 2.4 : 21.6);
    say(fct_figure, section, where, "pause_hops", seen[0].pause_hops, 3, 0, 3);
  }

  /// Figure 9: the longest queue of a switch's port.
  void queues(const std::string& where, const std::array<SeenOfPortfc, kSchemes.size()>& seen) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string scheme = fmt::format("{}, {}", where, kSchemes[i].name);
      say(9, "V-B", scheme, "longest_queue_octets_avg", mean_of(seen[i].queue_top));
      say(9, "V-B", scheme, "longest_queue_octets", seen[i].queue_peak);
      if (i == 0) continue;
      const std::string pair = fmt::format("{}, PortFC / {}", where, kSchemes[i].name);
      below(9, "V-B", pair, "longest_queue_ratio", seen[0].queue_peak / seen[i].queue_peak, 1);
      below(9, "V-B", pair, "longest_queue_avg_ratio",
            mean_of(seen[0].queue_top) / mean_of(seen[i].queue_top), 1);
    }
    // "the queue length at the switch can reach MB levels"
    say(9, "V-B", where + ", without flow control", "longest_queue_octets",
        std::max(seen[1].queue_peak, seen[3].queue_peak), 1e6, 1e6, kNoLimit);
  }

  void small() {
    traffic({.n = 4,
             .senders = 8,
             .every = kMillisecond,
             .until = (o_.quick ? 4 : 20) * kMillisecond,
             .seeds = o_.quick ? std::size_t{1} : std::size_t{3}},
            8, 10, 11);
  }
  void large() {
    traffic({.n = 8,
             .senders = 32,
             .every = 2 * kMillisecond,
             .until = (o_.quick ? 2 : 10) * kMillisecond,
             .seeds = o_.quick ? std::size_t{1} : std::size_t{2}},
            12, 12, 14);
  }

  // V-D

  void parameter_server() {
    constexpr std::array kThree{kPortFc, kIrn, kPfcStar};
    struct Case {
      std::size_t n = 4;
      std::uint64_t megabytes = 1;
    };
    std::vector<Case> cases{{4, 1}, {4, 2}};
    if (!o_.quick)
      for (const Case c : {Case{4, 4}, Case{4, 8}, Case{8, 1}, Case{8, 2}, Case{8, 4}})
        cases.push_back(c);
    const auto all = run_all(cases.size() * kThree.size(), [&](std::size_t i) {
      const Case& c = cases[i / kThree.size()];
      const Scheme& scheme = kThree[i % kThree.size()];
      Plan plan = plan_in(*ndc(c.n, 1), scheme, o_.seed);
      if (!add_traffic(plan, {.kind = "parameter-server",
                              .octets = c.megabytes * kMegabyte,
                              .transport = scheme.transport}))
        return SeenOfPortfc{};
      plan.duration = packets::kSecond;
      return simulate(plan, plan.flows.size() / 2);
    });
    double best_irn = kNoLimit;
    double best_star = kNoLimit;
    for (std::size_t c = 0; c < cases.size(); ++c) {
      const SeenOfPortfc* seen = &all[c * kThree.size()];
      const std::string where = fmt::format("NDC({}, 1), {} MB", cases[c].n, cases[c].megabytes);
      const auto push = [&](std::size_t i) { return seen[i].parts[0].last_ms; };
      const auto broadcast = [&](std::size_t i) {
        return seen[i].parts[1].last_ms - seen[i].parts[0].last_ms;
      };
      for (std::size_t i = 0; i < kThree.size(); ++i) {
        const std::string scheme = fmt::format("{}, {}", where, kThree[i].name);
        say(15, "V-D", scheme, "push_ms", push(i));
        say(15, "V-D", scheme, "broadcast_ms", broadcast(i));
        if (cases[c].n != 4 || cases[c].megabytes != (o_.quick ? 2U : 8U)) continue;
        auto fct = seen[i].parts[0].fct_us;
        fct.insert(fct.end(), seen[i].parts[1].fct_us.begin(), seen[i].parts[1].fct_us.end());
        say(16, "V-D", scheme, "fct_us_avg", mean_of(fct));
        say(16, "V-D", scheme, "fct_us_p99", percentile(fct, 0.99));
      }
      say(15, "V-D", where, "broadcast_over_IRN", broadcast(0) / broadcast(1), 1, 0.95, 1.05);
      say(15, "V-D", where, "broadcast_over_PFC*", broadcast(0) / broadcast(2), 1, 0.95, 1.05);
      below(15, "V-D", where, "push_over_IRN", push(0) / push(1), 1);
      below(15, "V-D", where, "push_over_PFC*", push(0) / push(2), 1);
      if (cases[c].n != 4) continue;
      best_irn = std::min(best_irn, push(0) / push(1));
      best_star = std::min(best_star, push(0) / push(2));
    }
    below(15, "V-D", "NDC(4, 1), best size", "push_over_IRN", best_irn, 1 - 0.126);
    below(15, "V-D", "NDC(4, 1), best size", "push_over_PFC*", best_star, 1 - 0.792);
  }

  // V-E

  void experts() {
    constexpr std::array kFour{kPortFcAte, kPortFc, kIrn, kPfcStar};
    for (const std::size_t n : {std::size_t{4}, std::size_t{8}}) {
      const int figure = n == 4 ? 17 : 18;
      if (o_.figure && figure != *o_.figure) continue;
      const std::size_t seeds = o_.quick ? 4 : 20;
      for (const std::uint32_t top : {1U, 2U}) {
        const auto all = run_all(kFour.size() * seeds, [&](std::size_t i) {
          const Scheme& scheme = kFour[i / seeds];
          Plan plan = plan_in(*rails({.domains = n, .rails = n}), scheme, o_.seed + i % seeds);
          Traffic moe{.kind = "moe", .octets = kMegabyte};
          moe.experts = static_cast<std::uint32_t>(n);
          moe.top_k = top;
          moe.transport = scheme.transport;
          if (!add_traffic(plan, moe)) return SeenOfPortfc{};
          plan.duration = packets::kSecond;
          return simulate(plan, plan.flows.size());
        });
        const std::string where = fmt::format("rail-only {} x {}, top-{}", n, n, top);
        std::array<SeenOfPortfc, kFour.size()> seen{};
        for (std::size_t i = 0; i < all.size(); ++i) seen[i / seeds].add(all[i]);
        const auto fct = [&](std::size_t i) -> const std::vector<double>& {
          return seen[i].parts[0].fct_us;
        };
        for (std::size_t i = 0; i < kFour.size(); ++i) {
          const std::string scheme = fmt::format("{}, {}", where, kFour[i].name);
          say(figure, "V-E", scheme, "fct_us_avg", mean_of(fct(i)));
          say(figure, "V-E", scheme, "fct_us_p99", percentile(fct(i), 0.99));
          say(figure, "V-E", scheme, "gbps_avg", mean_of(seen[i].parts[0].gbps));
          if (kFour[i].control != FlowControlKind::kOff)
            say(figure, "V-E", scheme, "drops", seen[i].drops, 0, 0, 0);
        }
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
          const std::string ours = fmt::format("{}, {}", where, kFour[i].name);
          below(figure, "V-E", ours, "fct_p99_over_IRN",
                percentile(fct(i), 0.99) / percentile(fct(2), 0.99), 1 - 0.79);
          below(figure, "V-E", ours, "fct_avg_over_IRN", mean_of(fct(i)) / mean_of(fct(2)), 1);
          below(figure, "V-E", ours, "fct_avg_over_PFC*", mean_of(fct(i)) / mean_of(fct(3)), 1);
        }
        say(figure, "V-E", where, "fct_avg_with_ATE_over_without",
            mean_of(fct(0)) / mean_of(fct(1)));
      }
    }
  }

  /// V-F: from the start a flow from each node to the next of the ring; from 1 ms on (there 1 s)
  /// those that produce the loop. Throughput of the former after 3 ms. The paper does not say what
  /// they send: a quarter of a link each here, and a whole one.
  void testbed() {
    const std::array kThree{kPfc, kPfcStar, kPortFc};
    for (const std::uint64_t gbps : {std::uint64_t{25}, std::uint64_t{100}}) {
      std::array<double, 3> after{};
      for (std::size_t i = 0; i < kThree.size(); ++i) {
        Plan plan = *packets::plan_of_case("ndc-loop", 2, 1);
        plan.settings.flow_control = kThree[i].control;
        for (packets::PlannedFlow& f : plan.flows) f.spec.start = kMillisecond;
        constexpr std::array<std::string_view, 5> kRing{"node00", "node01", "node11", "node10",
                                                        "node00"};
        for (std::size_t j = 0; j + 1 < kRing.size(); ++j) {
          add_flow(plan, {kRing[j], kRing[j + 1]});
          plan.flows.back().spec.rate_bps = gbps * 1'000'000'000;
        }
        plan.duration = 6 * kMillisecond;
        const SeenOfPortfc seen = simulate(plan, plan.flows.size());
        for (std::size_t j = 4; j < 8; ++j) after[i] += seen.throughput[j] / 4;
        const std::string where = fmt::format("NDC(2, 1), {} Gb/s each, {}", gbps, kThree[i].name);
        if (i == 0 && gbps == 25)
          say(19, "V-F", where, "background_gbps", after[i], 0, 0, 0.001);
        else
          say(19, "V-F", where, "background_gbps", after[i]);
      }
      const std::string where = fmt::format("NDC(2, 1), {} Gb/s each, PortFC / PFC*", gbps);
      if (gbps == 25)
        say(19, "V-F", where, "background_ratio", after[2] / after[1], 1.9, 1.9 * 0.75, 1.9 * 1.25);
      else
        say(19, "V-F", where, "background_ratio", after[2] / after[1]);
    }
  }

  /// k = 2: a node's own traffic can be stopped, but not what it relays to another that relays it
  /// again. Two such flows meet at a switch.
  void relayed_twice() {
    for (const std::size_t flows : {std::size_t{1}, std::size_t{2}}) {
      Plan plan = plan_in(*ndc(3, 2), kPortFc, o_.seed);
      plan.settings.any_k = true;
      plan.settings.dcqcn.on = plan.settings.ecn.on = false;
      plan.duration = 4 * kMillisecond;
      add_flow(plan, {"node111", "node011", "node001", "node000"});
      if (flows == 2) add_flow(plan, {"node121", "node021", "node001", "node000"});
      const SeenOfPortfc seen = simulate(plan, flows);
      const std::string where = fmt::format("NDC(3, 2), {} relayed twice", flows);
      say(0, "III-D, VI-B", where, "drops", seen.drops);
      say(0, "III-D, VI-B", where, "longest_queue_octets", seen.queue_peak);
    }
  }

  const ClaimOptions& o_;
  const std::function<void(const Claim&)>& found_;
  const std::function<void(double)>& tell_;
  double begin_ = 0;  ///< of the part under way, of all
  double share_ = 1;
};

}  // namespace

void reproduce_portfc(const ClaimOptions& options, const std::function<void(const Claim&)>& found,
                      const std::function<void(double)>& tell) {
  Portfc(options, found, tell).all();
}

}  // namespace lldp::lab
