// SPDX-License-Identifier: Apache-2.0
#include "sim/papers/fcplus.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "lab/routing/counts.hpp"
#include "lab/routing/edge_disjoint.hpp"
#include "lab/routing/yen.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/server_fabrics.hpp"
#include "sim/flow/throughput.hpp"
#include "sim/papers/measure.hpp"
#include "sim/papers/statistics.hpp"

namespace lldp::lab::fcplus_paper {
namespace {

constexpr std::size_t kPorts = 32;  ///< of a switch; those not to other switches are for hosts

/// Values as printed. `at`: switches, or what else the row goes by.
struct Printed {
  std::size_t at = 0;
  std::string_view metric{};
  double value = 0;
};
constexpr Printed kTable1[] = {{100, "updown_paths", 31.67}, {100, "edge_disjoint", 6.48},
                               {200, "updown_paths", 16.07}, {200, "edge_disjoint", 5.01},
                               {300, "updown_paths", 10.78}, {300, "edge_disjoint", 4.22},
                               {400, "updown_paths", 22.83}, {400, "edge_disjoint", 4.92},
                               {500, "updown_paths", 18.35}, {500, "edge_disjoint", 4.55}};
constexpr Printed kTable2[] = {
    {100, "K2_32", 36.67},  {100, "K2_64", 82.67},   {100, "K2_100", 144.69},
    {500, "K2_32", 50.07},  {500, "K2_64", 104.08},  {500, "K2_100", 165.45},
    {1000, "K2_32", 51.53}, {1000, "K2_64", 119.41}, {1000, "K2_100", 231.86},
    {1500, "K2_32", 53.69}, {1500, "K2_64", 145.83}, {1500, "K2_100", 257.91}};
/// By switches and a parameter: k, or v.
struct PrintedOf {
  std::size_t switches = 0;
  std::size_t parameter = 0;
  std::array<double, 3> values{};
};
constexpr std::array<std::string_view, 3> kMetrics3 = {"N_P", "N_P6", "N_P4"};
constexpr PrintedOf kTable3[] = {
    {400, 4, {8.13, 8.13, 4.13}},    {400, 6, {37.67, 23.76, 6.08}},
    {400, 8, {133.90, 43.59, 7.72}}, {400, 10, {411.75, 63.41, 8.95}},
    {600, 4, {5.43, 5.43, 2.76}},    {600, 6, {25.33, 15.93, 4.06}},
    {600, 8, {90.51, 29.22, 5.16}},  {600, 10, {279.42, 42.51, 5.98}},
    {800, 4, {4.08, 4.08, 2.07}},    {800, 6, {19.07, 11.97, 3.05}},
    {800, 8, {68.15, 21.96, 3.87}},  {800, 10, {211.89, 31.96, 4.48}},
    {1000, 4, {3.27, 3.27, 1.65}},   {1000, 6, {15.30, 9.59, 2.44}},
    {1000, 8, {54.78, 17.59, 3.10}}, {1000, 10, {170.42, 25.61, 3.59}}};
constexpr std::array<std::string_view, 3> kMetrics4 = {"P_ave_max", "P_ave_min", "N_P4"};
constexpr PrintedOf kTable4[] = {
    {400, 3, {6.00, 3.00, 37.56}},  {400, 4, {5.03, 3.34, 20.82}}, {400, 6, {5.38, 3.63, 12.14}},
    {400, 10, {5.47, 4.15, 8.95}},  {600, 3, {6.15, 3.00, 30.83}}, {600, 4, {5.43, 3.56, 13.87}},
    {600, 6, {5.81, 3.69, 8.11}},   {600, 10, {6.03, 4.41, 5.98}}, {800, 3, {6.49, 3.06, 24.24}},
    {800, 4, {5.75, 3.59, 10.42}},  {800, 6, {5.91, 4.01, 6.08}},  {800, 10, {6.28, 4.72, 4.48}},
    {1000, 3, {6.97, 3.26, 19.46}}, {1000, 4, {5.81, 3.68, 8.35}}, {1000, 6, {5.96, 4.03, 4.86}},
    {1000, 10, {6.44, 5.00, 3.59}}};
constexpr Printed kTable5[] = {{10, "throughput_near_worst", 0.278},
                               {6, "throughput_near_worst", 0.287},
                               {4, "throughput_near_worst", 0.297},
                               {3, "throughput_near_worst", 0.142}};
// Tables VI and VII go by servers: 14 and 10 a switch.
constexpr Printed kTable6[] = {{52, "edge_disjoint", 7.85},  {100, "edge_disjoint", 6.46},
                               {152, "edge_disjoint", 5.55}, {200, "edge_disjoint", 5.02},
                               {252, "edge_disjoint", 4.56}, {300, "edge_disjoint", 4.29},
                               {400, "edge_disjoint", 4.91}, {500, "edge_disjoint", 4.55}};
constexpr Printed kTable7[] = {{100, "edge_disjoint", 10.44}, {300, "edge_disjoint", 7.69},
                               {500, "edge_disjoint", 6.50},  {1000, "edge_disjoint", 5.93},
                               {1500, "edge_disjoint", 8.58}, {2000, "edge_disjoint", 8.11}};

std::optional<double> find(std::span<const Printed> table, std::size_t at,
                           std::string_view metric) {
  for (const Printed& p : table)
    if (p.at == at && p.metric == metric) return p.value;
  return std::nullopt;
}
std::optional<double> find(std::span<const PrintedOf> table, std::size_t switches,
                           std::size_t parameter, std::size_t column) {
  for (const PrintedOf& p : table)
    if (p.switches == switches && p.parameter == parameter) return p.values[column];
  return std::nullopt;
}

/// How a fabric is routed.
struct Scheme {
  std::string name{};
  std::size_t max_turns = 0;
  std::size_t paths = 0;
  bool edge_disjoint = false;  ///< FC: on its own topology
};
Scheme fcplus_scheme(std::size_t lossless, std::size_t paths) {
  return {fmt::format("FC+ ({}L-{})", lossless, paths), lossless - 1, paths};
}
Scheme ksp_scheme(std::size_t paths) { return {fmt::format("KSP-{}", paths), kAnyTurns, paths}; }
const Scheme kFcScheme{.name = "FC", .edge_disjoint = true};

constexpr std::array<std::string_view, 3> kTrafficMetrics = {
    "throughput_all_to_all", "throughput_uniform", "throughput_near_worst"};
constexpr std::size_t kNearWorst = 2;

/// The graph of a fabric of switches alone; hosts would only be ends.
struct Network {
  Row row{};
  Graph graph;
  std::vector<std::uint32_t> tors{};
  std::vector<Sender> senders{};
};

class Study {
 public:
  Study(const FcplusOptions& options, const std::function<void(const TableCell&)>& found,
        const std::function<void(const std::string&)>& refused, const Progress& tell)
      : o_(options), found_(found), refused_(refused), tell_(tell) {}

  void run() {
    const std::array tables = {&Study::table1, &Study::table2, &Study::table3, &Study::table4,
                               &Study::table5, &Study::table6, &Study::table7, &Study::table8};
    const bool all = !o_.table && !o_.figure;
    for (int t = 1; t <= kTables; ++t)
      if (all || o_.table == t) (this->*tables[static_cast<std::size_t>(t - 1)])();
    const std::array figures = {&Study::figure3, &Study::figure4, &Study::figure5, &Study::figure6};
    for (int f = kFirstFigure; f <= kLastFigure; ++f)
      if (all || o_.figure == f) (this->*figures[static_cast<std::size_t>(f - kFirstFigure)])();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      tell_(jobs_[i].first, i, jobs_.size());
      jobs_[i].second();
    }
  }

 private:
  // ---- the sizes of each table and figure
  [[nodiscard]] std::vector<std::size_t> sizes(const std::vector<std::size_t>& full,
                                               const std::vector<std::size_t>& quick) const {
    if (o_.switches) return {*o_.switches};
    return o_.quick ? quick : full;
  }
  template <class Work>
  void job(std::string note, Work work) {
    jobs_.emplace_back(std::move(note), std::move(work));
  }

  void table1() {
    for (const std::size_t n : sizes({100, 200, 300, 400, 500}, {100, 300}))
      job(fmt::format("Table I, {} switches", n), [this, n] {
        const auto net = fc_network(n, 18);
        if (!net) return;
        const auto counts = count_updown_paths(net->graph, net->tors, kAll, 0, o_.threads);
        cell(1, net->row, "updown_paths", counts.all, find(kTable1, n, "updown_paths"), 0.01);
        cell(1, net->row, "edge_disjoint", disjoint(*net), find(kTable1, n, "edge_disjoint"), 0.04);
      });
  }

  void table2() {
    for (const std::size_t n : sizes({100, 500, 1000, 1500}, {100}))
      job(fmt::format("Table II, {} switches", n), [this, n] {
        auto net = fcplus_network(n, 18);
        if (!net) return;
        net->row.scheme = "FC+ (2L)";
        for (const std::size_t k : {32U, 64U, 100U}) {
          const std::string metric = fmt::format("K2_{}", k);
          cell(2, net->row, metric, paths_to_look_at(net->graph, net->tors, k, 1, o_.threads),
               find(kTable2, n, metric), 0.05);
        }
      });
  }

  void table3() {
    const std::vector<std::vector<std::size_t>> all = {
        {3, 3, 3}, {2, 1, 3, 1, 2}, {1, 1, 2, 1, 2, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}};
    for (const std::size_t n : sizes({400, 600, 800, 1000}, {400}))
      for (const auto& degrees : all) {
        if (o_.quick && degrees.size() > 5) continue;
        job(fmt::format("Table III, {} switches, k = {}", n, degrees.size() + 1),
            [this, n, degrees] {
              const auto net = fc_network(n, 18, degrees);
              if (!net) return;
              const auto c = count_updown_paths(net->graph, net->tors, kAll, 0, o_.threads);
              const std::array values{c.all, c.within_6, c.within_4};
              for (std::size_t m = 0; m < values.size(); ++m)
                cell(3, net->row, kMetrics3[m], values[m], find(kTable3, n, net->row.k, m), 0.01);
            });
      }
  }

  void table4() {
    for (const std::size_t n : sizes({400, 600, 800, 1000}, {400}))
      for (const std::size_t v : {3U, 4U, 6U, 10U})
        job(fmt::format("Table IV, {} switches, v = {}", n, v), [this, n, v] {
          auto net = fcplus_network(n, 18, v);
          if (!net) return;
          net->row.scheme = "FC+ (1L-32)";
          // With v = 3 the paper stopped at 64 paths of a pair.
          const auto c = count_updown_paths(net->graph, net->tors, 4, v == 3 ? 64 : 0, o_.threads);
          const auto lengths = path_lengths(
              shortest_paths(net->graph, all_pairs(net->tors),
                             {.paths = 32, .max_turns = 0, .seed = o_.seed}, o_.threads),
              32);
          const std::array values{lengths.longest, lengths.shortest, c.within_4};
          for (std::size_t m = 0; m < values.size(); ++m)
            cell(4, net->row, kMetrics4[m], values[m], find(kTable4, n, v, m), m < 2 ? 0.1 : 0.01);
        });
  }

  void table5() {
    for (const std::size_t n : sizes({400}, {200}))
      for (const std::size_t v : {10U, 6U, 4U, 3U})
        job(fmt::format("Table V, {} switches, v = {}", n, v), [this, n, v] {
          const auto net = fcplus_network(n, 18, v);
          if (!net) return;
          const auto published =
              n == 400 ? find(kTable5, v, "throughput_near_worst") : std::nullopt;
          carry(5, 0, *net, fcplus_scheme(1, 32), 2, 0.05, published);
        });
  }

  void table6() {
    for (const std::size_t n : sizes({52, 100, 152, 200, 252, 300, 400, 500}, {52, 152, 252}))
      job(fmt::format("Table VI, {} switches", n), [this, n] {
        const auto net = fc_network(n, 18);
        if (net)
          cell(6, net->row, "edge_disjoint", disjoint(*net), find(kTable6, n, "edge_disjoint"),
               0.04);
      });
  }

  void table7() {
    for (const std::size_t n : sizes({100, 300, 500, 1000, 1500, 2000}, {100, 300}))
      job(fmt::format("Table VII, {} switches", n), [this, n] {
        const auto net = fc_network(n, 22);
        if (net)
          cell(7, net->row, "edge_disjoint", disjoint(*net), find(kTable7, n, "edge_disjoint"),
               0.04);
      });
  }

  void table8() {
    struct Values {
      Scheme scheme{};
      std::array<double, 3> published{};
      std::array<double, 3> tolerance{};
    };
    const std::vector<Values> all = {
        {fcplus_scheme(2, 32), {1.204, 1.101, 0.634}, {0.01, 0.03, 0.05}},
        {fcplus_scheme(1, 32), {1.157, 1.021, 0.600}, {0.01, 0.03, 0.05}},
        {ksp_scheme(32), {1.204, 1.101, 0.624}, {0.01, 0.03, 0.05}},
        {kFcScheme, {1.102, 0.882, 0.413}, {0.08, 0.08, 0.05}}};
    for (const std::size_t n : sizes({120}, {120}))
      for (const Values& values : all)
        job(fmt::format("Table VIII, {} switches, {}", n, values.scheme.name), [this, n, values] {
          const auto net = values.scheme.edge_disjoint ? fc_network(n, 22) : fcplus_network(n, 22);
          if (!net) return;
          for (std::size_t t = 0; t < 3; ++t)
            carry(8, 0, *net, values.scheme, t, values.tolerance[t],
                  n == 120 ? std::optional(values.published[t]) : std::nullopt);
          if (values.scheme.edge_disjoint) return;
          Row row = net->row;
          row.scheme = values.scheme.name;
          cell(8, row, "throughput_near_worst_paths_by_chance",
               carries(*net, values.scheme, kNearWorst, 0.02, true), {}, 0);
        });
    for (const std::size_t n : sizes({120}, {120}))
      job(fmt::format("Table VIII, {} switches, Clos", n), [this, n] {
        for (std::size_t t = 0; t < 3; ++t) {
          auto c = clos(n, 10, t);
          if (!c) return;
          c->table = 8;
          if (n == 120) c->published = Published{0.524, 0.01};
          found_(*c);
        }
      });
  }

  /// The paper does not say which s: five whose interior layers divide well.
  void figure3() {
    struct Size {
      std::size_t s = 0;
      std::size_t n = 0;
    };
    for (const auto& [s, n] :
         {Size{14, 204}, Size{18, 200}, Size{22, 200}, Size{26, 204}, Size{30, 210}}) {
      if (o_.quick && s != 18 && s != 22) continue;
      const std::size_t inner = (s - 2) / 2;
      for (std::size_t group = 1; group <= inner; ++group) {
        if (inner % group != 0) continue;
        const std::size_t switches = o_.switches.value_or(n);
        job(fmt::format("Figure 3, s = {}, {} layers a group", s, group),
            [this, s = s, switches, v = inner / group + 2] {
              const auto net = fcplus_network(switches, s, v);
              if (net) carry(0, 3, *net, fcplus_scheme(1, 32), 2, 0);
            });
      }
    }
  }

  void figure4() {
    for (const std::size_t n : sizes({52, 100, 152, 200, 252, 300, 400, 500}, {52, 100}))
      for (std::size_t t = 0; t < 3; ++t)
        job(fmt::format("Figure 4, {} switches, {}", n, kTrafficMetrics[t]), [this, n, t] {
          if (const auto net = fcplus_network(n, 18))
            for (const Scheme& scheme :
                 {fcplus_scheme(2, 32), fcplus_scheme(1, 32), ksp_scheme(32)})
              curves_[{4, t, scheme.name}][n] = carry(0, 4, *net, scheme, t, 0);
          if (const auto net = fc_network(n, 18))
            curves_[{4, t, "FC"}][n] = carry(0, 4, *net, kFcScheme, t, 0);
          if (const auto carried = clos_curve(4, n, 14, t)) curves_[{4, t, "Clos"}][n] = *carried;
        });
    job("Figure 4, what the text says of it", [this] { text_of_figure4(); });
  }

  /// One curve over another, size by size: of those that both have.
  std::vector<double> ratios(int figure, std::size_t kind, const std::string& a,
                             const std::string& b) {
    const auto& above = curves_[{figure, kind, a}];
    const auto& below = curves_[{figure, kind, b}];
    std::vector<double> all;
    for (const auto& [size, value] : above)
      if (const auto at = below.find(size); at != below.end()) all.push_back(value / at->second);
    return all;
  }
  double mean_ratio(int figure, std::size_t kind, const std::string& a, const std::string& b) {
    const auto all = ratios(figure, kind, a, b);
    return all.empty() ? kNotMeasured : mean_of(all);
  }
  /// `published`: over all sizes of the paper, which a quick run has not, nor one of other sizes.
  void text_cell(int figure, std::size_t s, const std::string& scheme, std::string metric,
                 double ours, std::optional<Published> published,
                 std::optional<Statement> statement = {}) {
    const bool whole = !o_.quick && !o_.switches;
    found_({.figure = figure,
            .row = {.s = s, .scheme = scheme},
            .metric = std::move(metric),
            .ours = ours,
            .published = whole ? std::move(published) : std::nullopt,
            .statement = whole ? std::move(statement) : std::nullopt});
  }
  /// I and V-A, of the sizes of Figure 4: the gaps to KSP on average, and near-worst traffic.
  void text_of_figure4() {
    struct Gap {
      const char* scheme = "";
      std::array<double, 3> percent{};
    };
    for (const Gap& gap : {Gap{"FC", {17, 23, 53}}, Gap{"FC+ (1L-32)", {9, 10, 16}}})
      for (std::size_t t = 0; t < 3; ++t) {
        const double mean = mean_ratio(4, t, "KSP-32", gap.scheme);
        text_cell(4, 18, gap.scheme, fmt::format("ksp_over_it_{}", kTrafficMetrics[t]), mean,
                  Published{1 + gap.percent[t] / 100, kTolerance, true,
                            fmt::format("a gap of {:g} %", gap.percent[t])});
      }
    for (std::size_t t = 0; t < 3; ++t)
      text_cell(4, 18, "FC+ (2L-32)", fmt::format("ksp_over_it_{}", kTrafficMetrics[t]),
                mean_ratio(4, t, "KSP-32", "FC+ (2L-32)"), {},
                Statement{"the average performance gap relative to KSP diminishes to less than 1%",
                          Statement::Test::kBelow, 1.01});
    auto over_fc = ratios(4, 2, "FC+ (1L-32)", "FC");
    std::sort(over_fc.begin(), over_fc.end());
    if (over_fc.empty()) return;
    text_cell(4, 18, "FC+ (1L-32)", "over_FC_near_worst_least", over_fc.front(),
              Published{1.4, kTolerance, true, "1.4x to 2x"});
    text_cell(4, 18, "FC+ (1L-32)", "over_FC_near_worst_most", over_fc.back(),
              Published{2, kTolerance, true, "1.4x to 2x"});
    clos_text(4, 18);
  }
  void clos_text(int figure, std::size_t s) {
    const auto all = ratios(figure, 2, figure == 4 ? "FC+ (1L-32)" : "FC+ (1L-40)", "Clos");
    if (all.empty()) return;
    text_cell(figure, s, "FC+ (1L)", "over_Clos_near_worst_least",
              *std::min_element(all.begin(), all.end()), {},
              Statement{"Remarkably, even FC+ (1L) achieves superior performance compared to Clos.",
                        Statement::Test::kAbove, 1});
  }

  void figure5() {
    for (const std::size_t n : sizes({100, 200, 300, 400, 500}, {100, 200}))
      for (std::size_t t = 0; t < 3; ++t)
        job(fmt::format("Figure 5, {} switches, {}", n, kTrafficMetrics[t]), [this, n, t] {
          const auto net = fcplus_network(n, 18);
          if (!net) return;
          for (const std::size_t paths : {32U, 64U, 128U}) {
            if (t != 2 && paths != 32) continue;  // 32 paths reach the bound
            carry(0, 5, *net, fcplus_scheme(2, paths), t, 0);
            carry(0, 5, *net, ksp_scheme(paths), t, 0);
          }
          Row row = net->row;
          row.scheme = "bound";
          figure_cell(5, row, kTrafficMetrics[t], throughput_bound(net->graph, traffic(*net, t)));
        });
  }

  void figure6() {
    for (const std::size_t n : sizes({100, 300, 500, 1000, 1500, 2000}, {100, 300})) {
      job(fmt::format("Figure 6, {} switches, near worst", n), [this, n] {
        if (const auto net = fcplus_network(n, 22))
          for (const Scheme& scheme : {fcplus_scheme(2, 40), fcplus_scheme(1, 40), ksp_scheme(40)})
            curves_[{6, 2, scheme.name}][n] = carry(0, 6, *net, scheme, 2, 0);
        if (const auto net = fc_network(n, 22))
          curves_[{6, 2, "FC"}][n] = carry(0, 6, *net, kFcScheme, 2, 0);
        if (const auto carried = clos_curve(6, n, 10, 2)) curves_[{6, 2, "Clos"}][n] = *carried;
      });
      job(fmt::format("Figure 6, {} switches, path lengths", n), [this, n] {
        if (const auto net = fcplus_network(n, 22)) lengths(*net, 40, "path_length_s22");
      });
    }
    for (const std::size_t n : sizes({100, 200, 300, 400, 500}, {100, 200}))
      job(fmt::format("Figure 6, {} switches of 18 ports, path lengths", n), [this, n] {
        if (const auto net = fcplus_network(n, 18)) lengths(*net, 32, "path_length_s18");
      });
    job("Figure 6, what the text says of it", [this] {
      const auto over_fc = ratios(6, 2, "FC+ (1L-40)", "FC");
      if (over_fc.empty()) return;
      text_cell(6, 22, "FC+ (1L-40)", "over_FC_near_worst", mean_of(over_fc),
                Published{1.7, kTolerance, true, "nearly 1.7x"});
      clos_text(6, 22);
    });
  }

  // ---- fabrics
  std::optional<Network> network(const Result<Fabric>& fabric, Row row) {
    if (!fabric) {
      refused_(to_string(fabric.error()));
      return std::nullopt;
    }
    Network net{std::move(row), Graph::of(*fabric)};
    net.tors.resize(net.row.switches);
    std::iota(net.tors.begin(), net.tors.end(), 0U);
    for (const std::uint32_t t : net.tors)
      net.senders.push_back({t, static_cast<double>(kPorts - std::min(kPorts - 1, net.row.s))});
    return net;
  }
  ExpanderShape shape(std::size_t n, std::size_t s) const {
    return {.switches = n, .ports = s, .hosts_per_switch = 0, .seed = o_.seed};
  }
  std::optional<Network> fcplus_network(std::size_t n, std::size_t s,
                                        std::optional<std::size_t> v = {}) {
    const auto p = fcplus_parameters(shape(n, s), v);
    if (!p) {
      refused_(to_string(p.error()));
      return std::nullopt;
    }
    return network(fcplus(shape(n, s), v), {n, s, p->layers, p->virtual_switches, ""});
  }
  std::optional<Network> fc_network(std::size_t n, std::size_t s,
                                    std::vector<std::size_t> degrees = {}) {
    if (degrees.empty()) {
      const auto chosen = fc_layers(shape(n, s));
      if (!chosen) {
        refused_(to_string(chosen.error()));
        return std::nullopt;
      }
      degrees = *chosen;
    }
    const std::size_t k = degrees.size() + 1;
    return network(fc(shape(n, s), degrees), {n, s, k, k, "FC"});
  }

  // ---- measurements
  std::vector<TrafficMatrix> traffic(const Network& net, std::size_t kind) {
    if (kind == 0) return all_to_all(net.senders);
    if (kind == 1) return uniform_random(net.senders, 0.125, o_.seed);
    auto [known, fresh] = near_worst_.try_emplace(name_of(net.row));
    if (fresh) known->second = near_worst(net.graph, net.senders, o_.seed, o_.threads);
    return known->second;
  }

  double carry(int table, int figure, const Network& net, const Scheme& scheme, std::size_t kind,
               double tolerance, std::optional<double> published = {}) {
    const double gap = table != 0 && !o_.quick ? 0.005 : 0.02;
    Row row = net.row;
    row.scheme = scheme.name;
    const auto [known, fresh] =
        carried_.try_emplace(fmt::format("{} {} {} {}", name_of(row), row.scheme, kind, gap));
    if (fresh) known->second = carries(net, scheme, kind, gap);
    found_({table, figure, std::move(row), std::string(kTrafficMetrics[kind]), known->second,
            printed(published, tolerance)});
    return known->second;
  }

  /// `evenly`: near-worst traffic on a random choice of equally long paths as well.
  [[nodiscard]] double carries(const Network& net, const Scheme& scheme, std::size_t kind,
                               double gap, bool evenly = false) {
    const auto matrix = traffic(net, kind);
    const auto pairs = pairs_of(net.graph, matrix);
    const PathChoice choice{.paths = scheme.paths, .max_turns = scheme.max_turns, .seed = o_.seed};
    // Which of equally long paths are taken matters where every switch sends to one other alone.
    const auto paths = scheme.edge_disjoint ? edge_disjoint_paths(net.graph, pairs, o_.threads)
                       : kind == kNearWorst && !evenly
                           ? yen_paths(net.graph, pairs, choice, o_.threads)
                           : shortest_paths(net.graph, pairs, choice, o_.threads);
    const auto result =
        throughput(net.graph, paths, matrix, {.gap = gap, .max_rounds = 10'000}, o_.threads);
    return (result.lower + std::min(result.upper, 2 * result.lower)) / 2;
  }

  /// Uplinks over hosts of a ToR: what a Clos that is full below and above carries of anything that
  /// no receiver gets too much of.
  std::optional<TableCell> clos(std::size_t n, std::size_t hosts, std::size_t kind) {
    const auto p = clos_like_parameters(n, n * hosts);
    if (!p) {
      refused_(to_string(p.error()));
      return std::nullopt;
    }
    const std::size_t uplinks = kPorts - p->hosts_per_tor;
    return TableCell{.row = {p->switches(), uplinks, 3, 0, "Clos"},
                     .metric = std::string(kTrafficMetrics[kind]),
                     .ours = static_cast<double>(uplinks) / static_cast<double>(p->hosts_per_tor)};
  }
  std::optional<double> clos_curve(int figure, std::size_t n, std::size_t hosts, std::size_t kind) {
    auto c = clos(n, hosts, kind);
    if (!c) return std::nullopt;
    c->figure = figure;
    c->row.switches = n;
    found_(*c);
    return c->ours;
  }

  void lengths(const Network& net, std::size_t paths, const std::string& metric) {
    for (const Scheme& scheme :
         {fcplus_scheme(2, paths), fcplus_scheme(1, paths), ksp_scheme(paths)}) {
      double hops = 0;
      double count = 0;
      std::vector<std::pair<double, double>> sums(std::max<std::size_t>(1, o_.threads));
      for_each_source(net.graph, all_pairs(net.tors),
                      {.paths = scheme.paths, .max_turns = scheme.max_turns, .seed = o_.seed},
                      o_.threads, [&](const SourcePaths& p, std::size_t worker) {
                        sums[worker].first += static_cast<double>(p.arcs.size());
                        sums[worker].second += static_cast<double>(p.hops.size());
                      });
      for (const auto& [h, c] : sums) {
        hops += h;
        count += c;
      }
      Row row = net.row;
      row.scheme = scheme.name;
      figure_cell(6, row, metric, hops / count);
    }
  }

  double disjoint(const Network& net) {
    const auto [known, fresh] = disjoint_.try_emplace(name_of(net.row));
    if (fresh)
      known->second =
          edge_disjoint_count(net.graph, net.tors, o_.quick ? 2'000 : 20'000, o_.seed, o_.threads);
    return known->second;
  }

  void cell(int table, const Row& row, std::string_view metric, double ours,
            std::optional<double> published, double tolerance) {
    found_({table, 0, row, std::string(metric), ours, printed(published, tolerance)});
  }
  static std::optional<Published> printed(std::optional<double> value, double tolerance) {
    if (!value) return std::nullopt;
    return Published{*value, tolerance};
  }
  void figure_cell(int figure, const Row& row, std::string_view metric, double ours) {
    found_({0, figure, row, std::string(metric), ours});
  }

  static constexpr std::size_t kAll = 64;  ///< hops: no up-down path of these layers is longer
  const FcplusOptions& o_;
  const std::function<void(const TableCell&)>& found_;
  const std::function<void(const std::string&)>& refused_;
  const Progress& tell_;
  std::vector<std::pair<std::string, std::function<void()>>> jobs_{};

  // What several tables and figures show is computed once. The seed chooses all that chance does,
  // so these sizes stand for the fabric.
  static std::string name_of(const Row& row) {
    return fmt::format("{}{} {} {} {}", row.scheme == kFcScheme.name ? "FC " : "", row.switches,
                       row.s, row.k, row.v);
  }
  using Curve = std::map<std::size_t, double>;  ///< by switches
  std::map<std::tuple<int, std::size_t, std::string>, Curve> curves_{};
  std::map<std::string, double> carried_{};
  std::map<std::string, double> disjoint_{};
  std::map<std::string, std::vector<TrafficMatrix>> near_worst_{};
};

}  // namespace

Result<std::vector<std::size_t>> fc_layers(const ExpanderShape& shape) {
  if (shape.ports != kSecondSet) return fc_degrees(shape);
  if (shape.switches <= 500) return std::vector<std::size_t>{2, 3, 4, 2};
  if (shape.switches <= 1000) return std::vector<std::size_t>{3, 2, 3, 3};
  return std::vector<std::size_t>{1, 1, 1, 1, 1, 1, 1, 2, 2};
}

void reproduce(const FcplusOptions& options, const std::function<void(const TableCell&)>& found,
               const std::function<void(const std::string&)>& refused, const Progress& tell) {
  Study(options, found, refused, tell).run();
}

}  // namespace lldp::lab::fcplus_paper
