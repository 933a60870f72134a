// SPDX-License-Identifier: Apache-2.0
// V-B and V-C: Poisson arrivals and incasts, in two sizes.
#include <algorithm>
#include <array>

#include "sim/papers/portfc_study.hpp"
#include "sim/papers/statistics.hpp"

namespace lldp::lab::portfc_paper {
namespace {

class Loads : public PortfcStudy {
 public:
  explicit Loads(const PortfcStudy& study) : PortfcStudy(study) {}

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

 private:
  void traffic(const Load& load, int fct_figure, int cdf_figure, int throughput_figure) {
    const std::string section = load.n == 4 ? "V-B" : "V-C";
    const std::size_t runs = kWorkloads.size() * kSchemes.size() * load.seeds;
    const auto all = run_all(runs, [&](std::size_t i) {
      return one_run(load, kWorkloads[i / load.seeds / kSchemes.size()],
                     kSchemes[i / load.seeds % kSchemes.size()],
                     seed_of(i % load.seeds, load.seeds));
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
};

}  // namespace

void loads_small(const PortfcStudy& study) { Loads(study).small(); }
void loads_large(const PortfcStudy& study) { Loads(study).large(); }

}  // namespace lldp::lab::portfc_paper
