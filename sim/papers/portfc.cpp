// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "lab/topology/server_fabrics.hpp"
#include "sim/packets/flow_control/ndc.hpp"
#include "sim/packets/workload/traffic.hpp"
#include "sim/papers/portfc_study.hpp"
#include "sim/papers/statistics.hpp"

namespace lldp::lab {
namespace portfc_paper {
namespace {

using packets::Traffic;

/// What the paper draws by hand, and what it leaves open.
class Cases : public PortfcStudy {
 public:
  explicit Cases(const PortfcStudy& study) : PortfcStudy(study) {}

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
                  {.spec = {.octets = 1},
                   .way = {.name = {}, .from = a, .to = b, .via = {}, .hash = hash}});
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
      const WatchedFlows watched{3, 4};
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
    most.transport = HostTransport::kPaced;
    if (!add_traffic(plan, most) ||
        !add_traffic(plan, {.kind = "all-to-all", .octets = kMegabyte / 5}))
      return;
    const SeenOfPortfc seen = simulate(plan, plan.flows.size());
    const char* const where = "NDC(4, 1), all to one and all to all";
    states(7, "III-C", where, "pause_hops", seen.pause_hops, kThreeHops, Test::kBelow, 4);
    states(7, "III-D", where, "drops", seen.drops, kLossless, Test::kEqual, 0);
    states(7, "III-D", where, "unfinished", static_cast<double>(seen.parts[0].unfinished),
           "break the flow control loop, effectively avoiding the aforementioned deadlock issue",
           Test::kEqual, 0);
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
        const SeenOfPortfc seen =
            simulate(plan, plan.flows.size(), packets::kNever, WatchedFlows{4, 8});
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
        return SeenOfPortfc::unknown(0);
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
};

struct PartOfPaper {
  std::vector<int> figures{};  ///< none: it is in no figure
  void (*run)(const PortfcStudy& study) = nullptr;
};
template <void (Cases::*part)()>
void in_cases(const PortfcStudy& study) {
  (Cases(study).*part)();
}
const PartOfPaper kPartsOfPaper[] = {{{}, in_cases<&Cases::queue_counts>},
                                     {{4}, in_cases<&Cases::victim>},
                                     {{5, 7}, in_cases<&Cases::deadlock>},
                                     {{8, 9, 10, 11}, loads_small},
                                     {{12, 14}, loads_large},
                                     {{15, 16}, parameter_server},
                                     {{17, 18}, experts},
                                     {{19}, in_cases<&Cases::testbed>},
                                     {{}, in_cases<&Cases::relay_orders>},
                                     {{}, in_cases<&Cases::without_dcqcn>},
                                     {{}, in_cases<&Cases::relayed_twice>}};

}  // namespace
}  // namespace portfc_paper

void reproduce_portfc(const ReproduceOptions& options, const Sink& sink) {
  using portfc_paper::kPartsOfPaper;
  const double share = 1 / static_cast<double>(std::size(kPartsOfPaper));
  double begin = 0;
  for (const auto& [figures, run] : kPartsOfPaper) {
    if (!options.figure ||
        std::find(figures.begin(), figures.end(), *options.figure) != figures.end())
      run(portfc_paper::PortfcStudy(options, sink, begin, share));
    begin += share;
  }
  sink.tell(1);
}

}  // namespace lldp::lab
