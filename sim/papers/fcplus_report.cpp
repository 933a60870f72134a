// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lab/report/html.hpp"
#include "sim/papers/fcplus.hpp"

namespace lldp::lab::fcplus_paper {
namespace {

constexpr const char* kRoman[kTables] = {"I", "II", "III", "IV", "V", "VI", "VII", "VIII"};

/// What a figure's curves are over.
double x_of(const TableCell& c) {
  if (c.figure == 3) {
    const std::size_t layers_of_a_group = (c.row.s - 2) / 2 / (c.row.v - 2);  // whole: Eq. 5
    return static_cast<double>(layers_of_a_group);
  }
  return static_cast<double>(c.row.switches);
}

std::string line_of(const TableCell& c) {
  return c.figure == 3 ? fmt::format("s = {}", c.row.s) : c.row.scheme;
}

std::vector<std::string> figure_svgs(int figure, const std::vector<TableCell>& cells) {
  std::map<std::string, std::map<std::string, std::map<double, double>>> curves;
  for (const TableCell& c : cells)
    if (c.figure == figure && c.row.switches != 0) curves[c.metric][line_of(c)][x_of(c)] = c.ours;
  std::vector<std::string> out;
  for (auto& [metric, lines] : curves) {
    Chart chart{
        .title = figure == 3 ? "near-worst throughput, best of each s = 1" : readable(metric),
        .x_label = figure == 3 ? "layers of a group" : "switches",
        .y_label = metric.starts_with("path_length") ? "hops" : "throughput"};
    for (auto& [name, points] : lines) {
      double best = 1;
      if (figure == 3) {
        best = 0;
        for (const auto& [x, y] : points) best = std::max(best, y);
      }
      Chart::Line line{.name = name};
      for (const auto& [x, y] : points) line.points.emplace_back(x, y / best);
      chart.lines.push_back(std::move(line));
    }
    out.push_back(svg(chart));
  }
  return out;
}

/// Figure 7: completion times of the five set-ups.
std::vector<std::string> completion_svgs(const std::vector<TableCell>& cells) {
  std::vector<std::string> out;
  for (const std::string kind : {"all_to_all", "uniform", "near_worst"}) {
    Bars bars{.title = readable(kind) + ": completion times", .y_label = "ms", .log_y = true};
    for (const std::string p : {"p50", "p99"}) {
      bars.groups.push_back(p);
      std::size_t i = 0;
      for (const TableCell& c : cells) {
        if (c.metric != fmt::format("fct_{}_{}_ms", p, kind)) continue;
        if (i == bars.series.size()) bars.series.push_back({c.row.scheme, {}});
        bars.series[i++].values.push_back(c.ours);
      }
    }
    if (!bars.series.empty()) out.push_back(svg(bars));
  }
  return out;
}

}  // namespace

std::string place_of(const TableCell& cell) {
  return cell.table != 0 ? fmt::format("Table {}", kRoman[cell.table - 1])
                         : fmt::format("Figure {}", cell.figure);
}

Finding finding_of(const TableCell& c) {
  Finding f{.place = place_of(c),
            .metric = c.metric,
            .ours = c.ours,
            .published = c.published,
            .statement = c.statement,
            .scheme = c.row.scheme};
  f.keys = {{"switches", c.row.switches}, {"s", c.row.s}, {"k", c.row.k}, {"v", c.row.v}};
  f.scenario =
      fmt::format("{}s={}{}{} {}", c.row.switches != 0 ? fmt::format("N={} ", c.row.switches) : "",
                  c.row.s, c.row.k != 0 ? fmt::format(" k={}", c.row.k) : "",
                  c.row.v != 0 ? fmt::format(" v={}", c.row.v) : "", c.row.scheme);
  return f;
}

std::vector<PaperFigure> drawings_of(const std::vector<TableCell>& cells) {
  std::vector<PaperFigure> all;
  for (int f = kFirstFigure; f <= kLastFigure; ++f)
    for (std::string& picture : figure_svgs(f, cells))
      all.push_back({fmt::format("Figure {}", f), std::move(picture)});
  for (std::string& picture : completion_svgs(cells))
    all.push_back({"Figure 7", std::move(picture)});
  return all;
}

}  // namespace lldp::lab::fcplus_paper
