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
#include "lab/papers/finding.hpp"
#include "lab/papers/statistics.hpp"
#include "lab/report/html.hpp"
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
  double queue_peak = 0;                             ///< of a switch's port
  std::vector<double> queue_top{};                   ///< the longest one, every 10 us
  std::vector<double> throughput{};                  ///< by flow, Gb/s
  std::vector<std::pair<double, double>> watched{};  ///< us, and Gb/s of the flows looked at

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
/// Flows whose throughput over time is drawn: from the first to before the last.
struct Watched {
  std::size_t first = 0;
  std::size_t last = 0;
};
SeenOfPortfc simulate(const Plan& plan, std::size_t second, Picoseconds until = packets::kNever,
                      Watched watched = {}) {
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
  Portfc(const ReproduceOptions& options, const Sink& sink) : o_(options), sink_(sink) {}

  void all() {
    const std::vector<std::pair<std::vector<int>, void (Portfc::*)()>> parts = {
        {{}, &Portfc::queue_counts},  {{4}, &Portfc::victim},
        {{5, 7}, &Portfc::deadlock},  {{8, 9, 10, 11}, &Portfc::small},
        {{12, 14}, &Portfc::large},   {{15, 16}, &Portfc::parameter_server},
        {{17, 18}, &Portfc::experts}, {{19}, &Portfc::testbed},
        {{}, &Portfc::relay_orders},  {{}, &Portfc::without_dcqcn},
        {{}, &Portfc::relayed_twice}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      begin_ = static_cast<double>(i) / static_cast<double>(parts.size());
      share_ = 1 / static_cast<double>(parts.size());
      const auto& figures = parts[i].first;
      if (!o_.figure || std::find(figures.begin(), figures.end(), *o_.figure) != figures.end())
        (this->*parts[i].second)();
    }
    sink_.tell(1);
  }

 private:
  using Test = Statement::Test;
  void find(int figure, const std::string& section, Finding f) {
    if (o_.figure && figure != *o_.figure) return;
    f.place = figure == 0 ? section : fmt::format("{}, Figure {}", section, figure);
    sink_.found(f);
  }
  /// What the paper prints nothing of.
  void say(int figure, const std::string& section, const std::string& scenario,
           const std::string& metric, double ours) {
    find(figure, section, {.scenario = scenario, .metric = metric, .ours = ours});
  }
  void states(int figure, const std::string& section, const std::string& scenario,
              const std::string& metric, double ours, std::string quote, Test test, double bound) {
    find(figure, section,
         {.scenario = scenario,
          .metric = metric,
          .ours = ours,
          .statement = Statement{std::move(quote), test, bound}});
  }
  /// A ratio of two set-ups that is printed as `printed`.
  void ratio(int figure, const std::string& section, const std::string& scenario,
             const std::string& metric, double ours, double published, std::string printed,
             double tolerance = kTolerance) {
    find(figure, section,
         {.scenario = scenario,
          .metric = metric,
          .ours = ours,
          .published = Published{published, tolerance, true, std::move(printed)}});
  }
  /// `percent` less: a ratio that is as much below 1.
  void less(int figure, const std::string& section, const std::string& scenario,
            const std::string& metric, double ours, double percent, double tolerance = kTolerance) {
    ratio(figure, section, scenario, metric, ours, 1 - percent / 100,
          fmt::format("{:g} % less", percent), tolerance);
  }
  void times(int figure, const std::string& section, const std::string& scenario,
             const std::string& metric, double ours, double published) {
    ratio(figure, section, scenario, metric, ours, published, fmt::format("{:g} times", published));
  }
  void draw(int figure, std::string picture) {
    if (o_.figure && figure != *o_.figure) return;
    sink_.draw({fmt::format("Figure {}", figure), std::move(picture)});
  }

  /// What each of `count` jobs sees; they run beside each other.
  template <class Job>
  std::vector<SeenOfPortfc> run_all(std::size_t count, const Job& job) {
    std::vector<SeenOfPortfc> seen(count);
    parallel_for(
        count, o_.threads, [&](std::size_t i, std::size_t) { seen[i] = job(i); },
        [&](std::size_t done, std::size_t total) {
          sink_.tell(begin_ + share_ * static_cast<double>(done) / static_cast<double>(total));
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
      const auto same = [&](const char* metric, std::size_t ours, std::size_t published,
                            const char* formula) {
        find(0, "III-B",
             {.scenario = where,
              .metric = metric,
              .ours = static_cast<double>(ours),
              .published = Published{static_cast<double>(published), 0, false, formula}});
      };
      same("queues_of_a_switch_port", most[0], n + 1, "n + 1");
      same("queues_of_a_node_port", most[1], 2 * (n - 1) + 2, "(k + 1)(n - 1) + 2");
    }
  }

  /// Three flows to one node stop their senders; one of the senders has a fourth flow, to a node
  /// that is free.
  void victim() {
    std::array<double, 2> rate{};
    const std::array schemes{kPfcStar, kPortFc};
    Chart chart{.title = "the victim's throughput", .x_label = "time, us", .y_label = "Gb/s"};
    for (std::size_t i = 0; i < schemes.size(); ++i) {
      Plan plan = plan_in(*ndc(4, 1), schemes[i], o_.seed);
      plan.settings.dcqcn.on = plan.settings.ecn.on = false;
      for (const std::string_view from : {"node01", "node02", "node03"})
        add_flow(plan, {from, "node00"});
      add_flow(plan, {"node01", "node02"});
      plan.duration = 4 * kMillisecond;
      const Watched watched{3, 4};
      const SeenOfPortfc seen = simulate(plan, plan.flows.size(), packets::kNever, watched);
      rate[i] = seen.throughput[3];
      chart.lines.push_back({schemes[i].name, seen.watched});
      say(4, "II-C", schemes[i].name, "victim_gbps", rate[i]);
    }
    states(4, "II-C", "PortFC / PFC*", "victim_gbps_ratio", rate[1] / rate[0],
           "Consequently, the victim flow 3 will also be paused.", Test::kAbove, 1);
    draw(4, svg(chart));
  }

  void deadlock() {
    for (const Scheme& scheme : {kPfc, kPfcStar, kPortFc}) {
      Plan plan = *packets::plan_of_case("ndc-loop", 2, 1);
      plan.settings.flow_control = scheme.control;
      plan.duration = (o_.quick ? 5 : 50) * kMillisecond;
      const SeenOfPortfc seen = simulate(plan, plan.flows.size());
      const bool dies = scheme.control == FlowControlKind::kPfc;
      const char* const quote =
          dies ? "Every switch queue within this loop is in a paused state"
          : scheme.control == FlowControlKind::kPfcStar
              ? "we enhance PFC to avoid partial deadlocks, segregating traffic into distinct "
                "queues at each hop"
              : "PortFC successfully avoids deadlock and HoLB problems in BCube.";
      states(5, "II-C", scheme.name, "deadlocks", seen.deadlocks, quote, Test::kEqual,
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
    states(7, "III-C", where, "pause_hops", seen.pause_hops, kThreeHops, Test::kBelow, 4);
    states(7, "III-D", where, "drops", seen.drops, kLossless, Test::kEqual, 0);
    states(7, "III-D", where, "unfinished", static_cast<double>(seen.parts[0].unfinished),
           "breaks the flow control loop, effectively avoiding the aforementioned deadlock issue",
           Test::kEqual, 0);
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
    double irn_less = 0;  ///< published of NDC(4, 1): by how many percent IRN's average FCT falls
    double pfc_star_throughput = 0;  ///< and by how many times PFC*'s throughput rises
  };
  static constexpr std::array<Workload, 3> kWorkloads{{{"websearch", "WebSearch", 69.2, 2},
                                                       {"hadoop", "Hadoop", 11.7, 2},
                                                       {"storage", "Storage", 40.9, 8}}};
  static constexpr const char* kThreeHops =
      "congestion will at most propagate three hops in the network";
  static constexpr const char* kLossless = "PortFC is free from retransmission";
  static constexpr std::array kSchemes{kPortFc, kIrn, kPfcStar, kGoBackN, kPfc};

  /// Half of a link's rate from every node, to any; and again and again many to one, 1 MB each.
  static SeenOfPortfc one_run(const Load& load, const Workload& workload, const Scheme& scheme,
                              std::uint64_t seed,
                              packets::RelayOrder order = packets::RelayOrder::kAsUsual,
                              bool dcqcn = true) {
    Plan plan = plan_in(*ndc(load.n, 1), scheme, seed);
    plan.settings.relay_order = order;
    plan.settings.dcqcn.on = plan.settings.ecn.on = dcqcn;
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
    std::array<Ratios, kWorkloads.size()> ratios{};
    std::array<std::array<SeenOfPortfc, kSchemes.size()>, kWorkloads.size()> seen{};
    for (std::size_t w = 0; w < kWorkloads.size(); ++w) {
      for (std::size_t i = 0; i < kSchemes.size() * load.seeds; ++i)
        seen[w][i / load.seeds].add(all[w * kSchemes.size() * load.seeds + i]);
      const std::string where = fmt::format("NDC({}, 1), {}", load.n, kWorkloads[w].name);
      for (std::size_t i = 0; i < kSchemes.size(); ++i)
        values(section, fmt::format("{}, {}", where, kSchemes[i].name), seen[w][i], fct_figure,
               cdf_figure, throughput_figure);
      ratios[w] = ratios_of(seen[w]);
      if (w == 0 && load.n == 4) queues(where, seen[w]);
    }
    load.n == 4 ? judge_small(ratios) : judge_large(ratios);
    draw_traffic(load, seen, fct_figure, cdf_figure, throughput_figure);
  }

  /// PortFC's over the others': IRN's, PFC*'s, go-back-N's.
  struct Ratios {
    std::array<double, 3> avg{};
    std::array<double, 3> tail{};  ///< P99.9
    std::array<double, 3> rate{};
    std::array<double, 3> octets{};
    std::array<double, 3> incast{};
    std::array<double, 2> second{};  ///< mean FCT of IRN over PFC*'s and go-back-N's
    double pause_hops = 0;
  };
  static Ratios ratios_of(const std::array<SeenOfPortfc, kSchemes.size()>& seen) {
    Ratios r{.pause_hops = seen[0].pause_hops};
    const auto avg = [&](std::size_t i) { return mean_of(seen[i].parts[0].fct_us); };
    const auto tail = [&](std::size_t i) { return percentile(seen[i].parts[0].fct_us, 0.999); };
    const auto rate = [&](std::size_t i, std::size_t part) {
      return mean_of(seen[i].parts[part].gbps);
    };
    const auto octets = [&](std::size_t i) { return by_octets(seen[i].parts[0]); };
    for (std::size_t o = 0; o < 3; ++o) {
      r.avg[o] = avg(0) / avg(o + 1);
      r.tail[o] = tail(0) / tail(o + 1);
      r.rate[o] = rate(0, 0) / rate(o + 1, 0);
      r.octets[o] = octets(0) / octets(o + 1);
      r.incast[o] = rate(0, 1) / rate(o + 1, 1);
    }
    r.second = {avg(1) / avg(2), avg(1) / avg(3)};
    return r;
  }
  static constexpr std::array<const char*, 3> kOthers{"IRN", "PFC*", "go-back-N"};
  using AllRatios = std::array<Ratios, kWorkloads.size()>;
  static std::pair<double, double> range(const AllRatios& all, std::array<double, 3> Ratios::*what,
                                         std::size_t other) {
    double least = (all[0].*what)[other];
    double most = least;
    for (const Ratios& r : all) {
      least = std::min(least, (r.*what)[other]);
      most = std::max(most, (r.*what)[other]);
    }
    return {least, most};
  }
  static std::string over(std::string_view what, std::size_t other) {
    return fmt::format("{}_over_{}", what, kOthers[other]);
  }

  /// V-B, Figures 8 and 11: NDC(4, 1).
  void judge_small(const AllRatios& all) {
    constexpr const char* kLowest =
        "PortFC achieves the lowest average and tail FCT across all three patterns.";
    constexpr const char* kSecond = "compared with the second-best method, i.e. IRN";
    constexpr const char* kThree = "NDC(4, 1), of three workloads";
    for (std::size_t w = 0; w < all.size(); ++w) {
      const std::string where = fmt::format("NDC(4, 1), {}", kWorkloads[w].name);
      const Ratios& r = all[w];
      less(8, "V-B", where, "fct_avg_over_IRN", r.avg[0], kWorkloads[w].irn_less);
      for (const std::size_t o : {std::size_t{1}, std::size_t{2}})
        states(8, "V-B", where, over("fct_avg", o), r.avg[o], kLowest, Test::kBelow, 1);
      for (std::size_t o = 0; o < 3; ++o)
        states(8, "V-B", where, over("fct_p99.9", o), r.tail[o], kLowest, Test::kBelow, 1);
      states(8, "V-B", where, "fct_avg_of_IRN_over_PFC*", r.second[0], kSecond, Test::kBelow, 1);
      states(8, "V-B", where, "fct_avg_of_IRN_over_go-back-N", r.second[1], kSecond, Test::kBelow,
             1);
      states(8, "III-C", where, "pause_hops", r.pause_hops, kThreeHops, Test::kBelow, 4);
      times(11, "V-B", where, "throughput_over_PFC*", r.rate[1], kWorkloads[w].pfc_star_throughput);
      times(11, "V-B", where, "throughput_by_octets_over_PFC*", r.octets[1],
            kWorkloads[w].pfc_star_throughput);
      for (std::size_t o = 0; o < 3; ++o)
        say(10, "V-B", where, over("incast_throughput", o), r.incast[o]);
    }
    const auto fct = [&](std::array<double, 3> Ratios::*what, const char* name, std::size_t other,
                         double least_less, double most_less, double tolerance) {
      const auto [least, most] = range(all, what, other);
      less(8, "V-B", kThree, over(name, other) + "_least", least, most_less, tolerance);
      less(8, "V-B", kThree, over(name, other) + "_most", most, least_less, tolerance);
    };
    fct(&Ratios::avg, "fct_avg", 1, 49.9, 87.3, kTolerance);
    // Which tail is not stated; V-C has the 99.9th percentile.
    fct(&Ratios::tail, "fct_p99.9", 0, 16.9, 41.3, kTailTolerance);
    fct(&Ratios::tail, "fct_p99.9", 1, 53.3, 87.7, kTailTolerance);
    const auto rates = [&](std::size_t other, double least_times, double most_times) {
      for (const auto& [what, name] : {std::pair(&Ratios::rate, "throughput"),
                                       std::pair(&Ratios::octets, "throughput_by_octets")}) {
        const auto [least, most] = range(all, what, other);
        times(11, "V-B", kThree, over(name, other) + "_least", least, least_times);
        times(11, "V-B", kThree, over(name, other) + "_most", most, most_times);
      }
    };
    rates(0, 1.7, 2.3);
    rates(2, 2.4, 3.9);
  }

  /// V-C, Figures 12 and 14: NDC(8, 1).
  void judge_large(const AllRatios& all) {
    constexpr const char* kReduces =
        "PortFC significantly reduces FCT compared to the PFC*, IRN and Go-Back-N algorithms.";
    constexpr const char* kImproves =
        "across the three traffic scenarios, PortFC significantly improves the average throughput";
    constexpr const char* kThree = "NDC(8, 1), best of three workloads";
    struct WebSearch {
      double poisson = 0;
      double incast = 0;
    };
    constexpr std::array<WebSearch, 3> kWebSearch{{{2.3, 1.9}, {2.0, 2.2}, {4.7, 21.6}}};
    for (std::size_t w = 0; w < all.size(); ++w) {
      const std::string where = fmt::format("NDC(8, 1), {}", kWorkloads[w].name);
      const Ratios& r = all[w];
      for (std::size_t o = 0; o < 3; ++o) {
        states(12, "V-C", where, over("fct_avg", o), r.avg[o], kReduces, Test::kBelow, 1);
        states(12, "V-C", where, over("fct_p99.9", o), r.tail[o], kReduces, Test::kBelow, 1);
        const std::string rate = over("throughput", o);
        const std::string octets = over("throughput_by_octets", o);
        const std::string incast = over("incast_throughput", o);
        if (w == 0) {
          times(14, "V-C", where, rate, r.rate[o], kWebSearch[o].poisson);
          times(14, "V-C", where, octets, r.octets[o], kWebSearch[o].poisson);
          times(14, "V-C", where, incast, r.incast[o], kWebSearch[o].incast);
        } else {
          states(14, "V-C", where, rate, r.rate[o], kImproves, Test::kAbove, 1);
          states(14, "V-C", where, octets, r.octets[o], kImproves, Test::kAbove, 1);
          states(14, "V-C", where, incast, r.incast[o], kImproves, Test::kAbove, 1);
        }
      }
      states(12, "III-C", where, "pause_hops", r.pause_hops, kThreeHops, Test::kBelow, 4);
    }
    const auto best = [&](std::array<double, 3> Ratios::*what, const char* name, std::size_t other,
                          double percent, double tolerance) {
      less(12, "V-C", kThree, over(name, other) + "_least", range(all, what, other).first, percent,
           tolerance);
    };
    best(&Ratios::avg, "fct_avg", 0, 41.7, kTolerance);
    best(&Ratios::avg, "fct_avg", 1, 19.8, kTolerance);
    best(&Ratios::avg, "fct_avg", 2, 96.5, kTolerance);
    best(&Ratios::tail, "fct_p99.9", 0, 16.6, kTailTolerance);
    best(&Ratios::tail, "fct_p99.9", 1, 85.5, kTailTolerance);
    best(&Ratios::tail, "fct_p99.9", 2, 97.9, kTailTolerance);
  }

  template <class Seen>
  void draw_traffic(const Load& load, const Seen& seen, int fct_figure, int cdf_figure,
                    int throughput_figure) {
    Bars rates{.title = fmt::format("NDC({}, 1): mean throughput", load.n), .y_label = "Gb/s"};
    for (const Scheme& s : kSchemes) rates.series.push_back({s.name, {}});
    for (std::size_t w = 0; w < kWorkloads.size(); ++w) {
      const char* const name = kWorkloads[w].name;
      Bars fct{.title = fmt::format("NDC({}, 1), {}: completion times", load.n, name),
               .y_label = "us",
               .groups = {"average", "P95", "P99", "P99.9"},
               .log_y = true};
      std::array<Chart, 2> cdf{};
      for (const std::size_t part : {0U, 1U}) {
        cdf[part].title = fmt::format("NDC({}, 1), {}{}: completion times", load.n, name,
                                      part == 0 ? "" : ", incast");
        cdf[part].x_label = "us";
        cdf[part].y_label = "part of the flows";
        cdf[part].log_x = true;
      }
      for (const std::size_t part : {0U, 1U})
        rates.groups.push_back(fmt::format("{}{}", name, part == 0 ? "" : ", incast"));
      for (std::size_t i = 0; i < kSchemes.size(); ++i) {
        const auto& parts = seen[w][i].parts;
        const auto& us = parts[0].fct_us;
        fct.series.push_back(
            {kSchemes[i].name,
             {mean_of(us), percentile(us, 0.95), percentile(us, 0.99), percentile(us, 0.999)}});
        for (std::size_t part = 0; part < 2; ++part) {
          rates.series[i].values.push_back(mean_of(parts[part].gbps));
          Chart::Line line{.name = kSchemes[i].name};
          for (int q = 0; q <= 100 && !parts[part].fct_us.empty(); q += 2)
            line.points.emplace_back(percentile(parts[part].fct_us, q / 100.0), q / 100.0);
          cdf[part].lines.push_back(std::move(line));
        }
      }
      draw(fct_figure, svg(fct));
      if (cdf_figure == fct_figure) continue;
      for (const Chart& chart : cdf) draw(cdf_figure, svg(chart));
    }
    draw(throughput_figure, svg(rates));
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
    if (!where.ends_with("PortFC"))
      say(fct_figure, section, where, "drops", seen.drops);
    else
      states(fct_figure, section, where, "drops", seen.drops, kLossless, Test::kEqual, 0);
    if (where.ends_with(", PFC"))
      say(fct_figure, section, where, "deadlocked_runs", seen.deadlocks);
  }

  /// All that arrived by the time of all flows: long ones count for what they carry.
  static double by_octets(const Part& part) {
    const double us = mean_of(part.fct_us) * static_cast<double>(part.fct_us.size());
    return us == 0 ? 0 : part.octets * 8 / (us * 1e3);
  }

  /// Figure 9: the longest queue of a switch's port.
  void queues(const std::string& where, const std::array<SeenOfPortfc, kSchemes.size()>& seen) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string scheme = fmt::format("{}, {}", where, kSchemes[i].name);
      say(9, "V-B", scheme, "longest_queue_octets_avg", mean_of(seen[i].queue_top));
      say(9, "V-B", scheme, "longest_queue_octets", seen[i].queue_peak);
      if (i == 0) continue;
      const std::string pair = fmt::format("{}, PortFC / {}", where, kSchemes[i].name);
      constexpr const char* kShortest =
          "PortFC maintains the shortest queue length at the switch ports compared with other "
          "methods";
      states(9, "V-B", pair, "longest_queue_ratio", seen[0].queue_peak / seen[i].queue_peak,
             kShortest, Test::kBelow, 1);
      states(9, "V-B", pair, "longest_queue_avg_ratio",
             mean_of(seen[0].queue_top) / mean_of(seen[i].queue_top), kShortest, Test::kBelow, 1);
    }
    states(9, "V-B", where + ", without flow control", "longest_queue_octets",
           std::max(seen[1].queue_peak, seen[3].queue_peak),
           "the queue length at the switch can reach MB levels", Test::kAbove, 1e6);
    Chart chart{.title = where + ": the longest queue of a switch's port",
                .x_label = "time, us",
                .y_label = "KB"};
    for (std::size_t i = 0; i < 4; ++i) {
      Chart::Line line{.name = kSchemes[i].name};
      const auto& top = seen[i].queue_top;
      for (std::size_t t = 0; t < std::min<std::size_t>(top.size(), 400); ++t)
        line.points.emplace_back(10.0 * static_cast<double>(t + 1), top[t] / 1e3);
      chart.lines.push_back(std::move(line));
    }
    draw(9, svg(chart));
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
    double best_irn = 1e9;
    double best_star = 1e9;
    std::array<Chart::Line, kThree.size()> pushes{};
    std::array<Chart::Line, kThree.size()> broadcasts{};
    Bars last{.title = "completion times of the largest size, NDC(4, 1)",
              .y_label = "us",
              .groups = {"average", "P99"}};
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
        last.series.push_back({kThree[i].name, {mean_of(fct), percentile(fct, 0.99)}});
      }
      for (std::size_t i = 1; i < last.series.size() && last.series.size() == kThree.size() &&
                              cases[c].megabytes == (o_.quick ? 2U : 8U);
           ++i)
        for (std::size_t v = 0; v < 2; ++v)
          states(16, "V-D", where,
                 fmt::format("fct_{}_over_{}", v == 0 ? "avg" : "p99", kThree[i].name),
                 last.series[0].values[v] / last.series[i].values[v],
                 "outperforms the other algorithms in terms of both average FCT and tail latency",
                 Test::kBelow, 1);
      constexpr const char* kNoDifference =
          "there is no performance difference among the three algorithms in the broadcast "
          "communication mode";
      constexpr const char* kHighest = "PortFC gets the highest performance with each flow size.";
      constexpr const char* kTrend =
          "The evaluation trend of larger-scale NDC(8, 1) is consistent with the aforementioned "
          "one.";
      states(15, "V-D", where, "broadcast_over_IRN", broadcast(0) / broadcast(1), kNoDifference,
             Test::kAbout, 1);
      states(15, "V-D", where, "broadcast_over_PFC*", broadcast(0) / broadcast(2), kNoDifference,
             Test::kAbout, 1);
      const char* const quote = cases[c].n == 4 ? kHighest : kTrend;
      states(15, "V-D", where, "push_over_IRN", push(0) / push(1), quote, Test::kBelow, 1);
      states(15, "V-D", where, "push_over_PFC*", push(0) / push(2), quote, Test::kBelow, 1);
      if (cases[c].n != 4) continue;
      for (std::size_t i = 0; i < kThree.size(); ++i) {
        pushes[i].points.emplace_back(cases[c].megabytes, push(i));
        broadcasts[i].points.emplace_back(cases[c].megabytes, broadcast(i));
      }
      best_irn = std::min(best_irn, push(0) / push(1));
      best_star = std::min(best_star, push(0) / push(2));
    }
    // Of fewer sizes the best is another one.
    if (o_.quick) {
      say(15, "V-D", "NDC(4, 1), best size", "push_over_IRN", best_irn);
      say(15, "V-D", "NDC(4, 1), best size", "push_over_PFC*", best_star);
    } else {
      less(15, "V-D", "NDC(4, 1), best size", "push_over_IRN", best_irn, 12.6);
      less(15, "V-D", "NDC(4, 1), best size", "push_over_PFC*", best_star, 79.2);
    }
    Chart chart{
        .title = "push (first stage) and broadcast, NDC(4, 1)", .x_label = "MB", .y_label = "ms"};
    for (auto* lines : {&pushes, &broadcasts})
      for (std::size_t i = 0; i < kThree.size(); ++i) {
        (*lines)[i].name =
            fmt::format("{}, {}", kThree[i].name, lines == &pushes ? "push" : "broadcast");
        chart.lines.push_back(std::move((*lines)[i]));
      }
    draw(15, svg(chart));
    draw(16, svg(last));
  }

  // V-E

  void experts() {
    constexpr std::array kFour{kPortFcAte, kPortFc, kIrn, kPfcStar};
    for (const std::size_t n : {std::size_t{4}, std::size_t{8}}) {
      const int figure = n == 4 ? 17 : 18;
      if (o_.figure && figure != *o_.figure) continue;
      const std::size_t seeds = o_.quick ? 4 : 20;
      double best = 1e9;
      Bars bars{.title = fmt::format("rail-only {} x {}: completion times", n, n), .y_label = "us"};
      for (const Scheme& s : kFour) bars.series.push_back({s.name, {}});
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
          if (kFour[i].control == FlowControlKind::kPortFc)
            states(figure, "V-E", scheme, "drops", seen[i].drops, kLossless, Test::kEqual, 0);
        }
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
          const std::string ours = fmt::format("{}, {}", where, kFour[i].name);
          const char* const quote =
              n == 4 ? "PortFC achieves maximum throughput and noticeably lower average and tail "
                       "latency compared to IRN"
                     : "the advantage of PortFC remains consistent when the scale is expanded to "
                       "NDC(8,1)";
          const double tail = percentile(fct(i), 0.99) / percentile(fct(2), 0.99);
          best = std::min(best, tail);
          states(figure, "V-E", ours, "fct_p99_over_IRN", tail, quote, Test::kBelow, 1);
          states(figure, "V-E", ours, "fct_avg_over_IRN", mean_of(fct(i)) / mean_of(fct(2)), quote,
                 Test::kBelow, 1);
          states(figure, "V-E", ours, "throughput_over_IRN",
                 mean_of(seen[i].parts[0].gbps) / mean_of(seen[2].parts[0].gbps), quote,
                 Test::kAbove, 1);
          say(figure, "V-E", ours, "fct_avg_over_PFC*", mean_of(fct(i)) / mean_of(fct(3)));
        }
        bars.groups.push_back(fmt::format("top-{}: average", top));
        bars.groups.push_back(fmt::format("top-{}: P99", top));
        for (std::size_t i = 0; i < kFour.size(); ++i) {
          bars.series[i].values.push_back(mean_of(fct(i)));
          bars.series[i].values.push_back(percentile(fct(i), 0.99));
        }
        say(figure, "V-E", where, "fct_avg_with_ATE_over_without",
            mean_of(fct(0)) / mean_of(fct(1)));
      }
      if (n == 4)
        less(17, "V-E", "rail-only 4 x 4, best", "fct_p99_over_IRN", best, 79, kTailTolerance);
      draw(figure, svg(bars));
    }
  }

  /// V-F: from the start a flow from each node to the next of the ring; from 1 ms on (there 1 s)
  /// those that produce the loop. Throughput of the former after 3 ms. The paper does not say what
  /// they send: a quarter of a link each here, and a whole one.
  void testbed() {
    const std::array kThree{kPfc, kPfcStar, kPortFc};
    for (const std::uint64_t gbps : {std::uint64_t{25}, std::uint64_t{100}}) {
      std::array<double, 3> after{};
      Chart chart{.title = fmt::format("background of {} Gb/s each, all four", gbps),
                  .x_label = "time, us",
                  .y_label = "Gb/s"};
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
        const SeenOfPortfc seen = simulate(plan, plan.flows.size(), packets::kNever, Watched{4, 8});
        for (std::size_t j = 4; j < 8; ++j) after[i] += seen.throughput[j] / 4;
        const std::string where = fmt::format("NDC(2, 1), {} Gb/s each, {}", gbps, kThree[i].name);
        if (i == 0 && gbps == 25)
          states(19, "V-F", where, "background_gbps", after[i],
                 "the network throughput of PFC drops to zero", Test::kBelow, 0.001);
        else
          say(19, "V-F", where, "background_gbps", after[i]);
        chart.lines.push_back({kThree[i].name, seen.watched});
      }
      draw(19, svg(chart));
      const std::string where = fmt::format("NDC(2, 1), {} Gb/s each, PortFC / PFC*", gbps);
      if (gbps == 25)
        times(19, "V-F", where, "background_ratio", after[2] / after[1], 1.9);
      else
        say(19, "V-F", where, "background_ratio", after[2] / after[1]);
    }
  }

  /// The paper does not say what a node sends next; each order with each scheme.
  void relay_orders() {
    constexpr std::array kOrders{packets::RelayOrder::kFirst, packets::RelayOrder::kOwnTwice};
    constexpr std::array kFour{kPortFc, kIrn, kPfcStar, kGoBackN};
    const Load load{.until = (o_.quick ? 2 : 8) * kMillisecond};
    const auto all = run_all(kFour.size() * kOrders.size(), [&](std::size_t i) {
      return one_run(load, kWorkloads[0], kFour[i / kOrders.size()], o_.seed,
                     kOrders[i % kOrders.size()]);
    });
    const auto avg = [&](std::size_t scheme, std::size_t order) {
      return mean_of(all[scheme * kOrders.size() + order].parts[0].fct_us);
    };
    for (std::size_t o = 0; o < kOrders.size(); ++o) {
      const std::string where =
          fmt::format("NDC(4, 1), WebSearch, {}", o == 0 ? "relayed first" : "own twice");
      for (std::size_t i = 0; i < kFour.size(); ++i)
        say(0, "III-D", fmt::format("{}, {}", where, kFour[i].name), "fct_us_avg", avg(i, o));
      for (std::size_t i = 1; i < kFour.size(); ++i)
        say(0, "III-D", where, over("fct_avg", i - 1), avg(0, o) / avg(i, o));
    }
  }

  /// What of the difference is the congestion control's: a push, and WebSearch, with it and
  /// without.
  void without_dcqcn() {
    constexpr std::array kThree{kPortFc, kIrn, kPfcStar};
    const Load load{.until = (o_.quick ? 2 : 8) * kMillisecond};
    const auto all = run_all(kThree.size() * 4, [&](std::size_t i) {
      const Scheme& scheme = kThree[i / 4];
      const bool on = i % 2 == 0;
      if (i % 4 >= 2)
        return one_run(load, kWorkloads[0], scheme, o_.seed, packets::RelayOrder::kAsUsual, on);
      Plan plan = plan_in(*ndc(4, 1), scheme, o_.seed);
      plan.settings.dcqcn.on = plan.settings.ecn.on = on;
      if (!add_traffic(plan, {.kind = "parameter-server",
                              .octets = (o_.quick ? 2 : 8) * kMegabyte,
                              .transport = scheme.transport}))
        return SeenOfPortfc{};
      plan.duration = packets::kSecond;
      return simulate(plan, plan.flows.size() / 2);
    });
    for (std::size_t i = 0; i < 4; ++i) {
      const auto value = [&](std::size_t scheme) {
        const Part& part = all[scheme * 4 + i].parts[0];
        return i < 2 ? part.last_ms : mean_of(part.fct_us);
      };
      const std::string where = fmt::format("NDC(4, 1), {}, {} DCQCN", i < 2 ? "push" : "WebSearch",
                                            i % 2 == 0 ? "with" : "without");
      const char* const metric = i < 2 ? "push" : "fct_avg";
      say(0, "V-A", where, fmt::format("{}_over_IRN", metric), value(0) / value(1));
      say(0, "V-A", where, fmt::format("{}_over_PFC*", metric), value(0) / value(2));
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

  const ReproduceOptions& o_;
  const Sink& sink_;
  double begin_ = 0;  ///< of the part under way, of all
  double share_ = 1;
};

}  // namespace

void reproduce_portfc(const ReproduceOptions& options, const Sink& sink) {
  Portfc(options, sink).all();
}

}  // namespace lldp::lab
