// SPDX-License-Identifier: Apache-2.0
// V-D and V-E: a parameter server, and a mixture of experts.
#include <algorithm>
#include <array>

#include "lab/topology/server_fabrics.hpp"
#include "sim/packets/workload/traffic.hpp"
#include "sim/papers/portfc_study.hpp"
#include "sim/papers/statistics.hpp"

namespace lldp::lab::portfc_paper {
namespace {

using packets::Traffic;

class Training : public PortfcStudy {
 public:
  explicit Training(const PortfcStudy& study) : PortfcStudy(study) {}

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
        return SeenOfPortfc::unknown(0);
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
          Plan plan =
              plan_in(*rails({.domains = n, .rails = n}), scheme, seed_of(i % seeds, seeds));
          Traffic moe{.kind = "moe", .octets = kMegabyte};
          moe.experts = static_cast<std::uint32_t>(n);
          moe.top_k = top;
          moe.transport = scheme.transport;
          if (!add_traffic(plan, moe)) return SeenOfPortfc::unknown(0);
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
};

}  // namespace

void parameter_server(const PortfcStudy& study) { Training(study).parameter_server(); }
void experts(const PortfcStudy& study) { Training(study).experts(); }

}  // namespace lldp::lab::portfc_paper
