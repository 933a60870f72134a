// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "lab/papers/claims.hpp"
#include "lab/papers/fcplus.hpp"
#include "lab/report/html.hpp"

namespace lldp::lab::fcplus_paper {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTitles[kTables] = {
    "Up-down paths of FC, s = 18",
    "K2: paths to look at for K with two lossless priorities, FC+, s = 18",
    "Up-down paths by the number of layers k, FC",
    "Paths and their lengths by the number of virtual switches v, FC+",
    "Near-worst throughput by v, FC+ (1L-32)",
    "Edge-disjoint paths of FC, s = 18",
    "Edge-disjoint paths of FC, s = 22",
    "Throughput and completion times of five set-ups",
};
constexpr const char* kRoman[kTables] = {"I", "II", "III", "IV", "V", "VI", "VII", "VIII"};

/// What a figure's curves are over.
double x_of(const Cell& c) {
  if (c.figure == 3) {
    const std::size_t layers_of_a_group = (c.row.s - 2) / 2 / (c.row.v - 2);  // whole: Eq. 5
    return static_cast<double>(layers_of_a_group);
  }
  return static_cast<double>(c.row.switches);
}

std::string line_of(const Cell& c) {
  return c.figure == 3 ? fmt::format("s = {}", c.row.s) : c.row.scheme;
}

std::string figure_html(int figure, const std::vector<Cell>& cells) {
  std::map<std::string, std::map<std::string, std::map<double, double>>> curves;
  for (const Cell& c : cells)
    if (c.figure == figure) curves[c.metric][line_of(c)][x_of(c)] = c.ours;
  if (curves.empty()) return {};
  std::string out = fmt::format("<h2>Figure {}</h2>\n", figure);
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
    out += svg(chart);
  }
  return out;
}

std::string table_html(int number, const std::vector<Cell>& cells) {
  std::string rows;
  for (const Cell& c : cells) {
    if (c.table != number) continue;
    rows += fmt::format(
        "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td>{}</td><td>{}</td><td class=\"n\">{:.3f}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"{}\">{}</td></tr>\n",
        c.row.switches, c.row.s, c.row.k != 0 ? std::to_string(c.row.k) : "",
        c.row.v != 0 ? std::to_string(c.row.v) : "", entities(c.row.scheme),
        entities(readable(c.metric)), c.ours, c.published ? fmt::format("{}", *c.published) : "",
        c.published ? fmt::format("{:+.1f} %", 100 * (c.ours / *c.published - 1)) : "", c.verdict(),
        c.verdict());
  }
  if (rows.empty()) return {};
  constexpr std::string_view kHead =
      "<tr><th class=\"n\">switches</th><th class=\"n\">s</th><th class=\"n\">k</th>"
      "<th class=\"n\">v</th><th>scheme</th><th>metric</th><th class=\"n\">ours</th>"
      "<th class=\"n\">published</th><th class=\"n\">off by</th><th></th></tr>\n";
  return fmt::format("<h2>Table {}: {}</h2>\n{}", kRoman[number - 1], kTitles[number - 1],
                     table(std::string(kHead) + rows));
}

}  // namespace

std::string place_of(const Cell& cell) {
  return cell.table != 0 ? fmt::format("Table {}", kRoman[cell.table - 1])
                         : fmt::format("Figure {}", cell.figure);
}

std::string to_json_line(const Cell& c) {
  Json j;
  if (c.table != 0)
    j["table"] = c.table;
  else
    j["figure"] = c.figure;
  j["row"] = {{"switches", c.row.switches},
              {"s", c.row.s},
              {"k", c.row.k},
              {"v", c.row.v},
              {"scheme", c.row.scheme}};
  j["metric"] = c.metric;
  j["ours"] = c.ours;
  j["published"] = c.published ? Json(*c.published) : Json(nullptr);
  j["tolerance"] = c.tolerance;
  j["verdict"] = c.verdict();
  return j.dump() + "\n";
}

std::string to_csv(const std::vector<Cell>& cells) {
  std::string out = "table,figure,switches,s,k,v,scheme,metric,ours,published,tolerance,verdict\n";
  for (const Cell& c : cells)
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{}\n", c.table != 0 ? std::to_string(c.table) : "",
        c.figure != 0 ? std::to_string(c.figure) : "", c.row.switches, c.row.s, c.row.k, c.row.v,
        c.row.scheme, c.metric, c.ours, c.published ? fmt::format("{}", *c.published) : "",
        c.tolerance, c.verdict());
  return out;
}

std::string to_html(const std::vector<Cell>& cells, const std::string& command) {
  std::size_t match = 0;
  std::size_t off = 0;
  for (const Cell& c : cells) {
    if (std::string_view(c.verdict()) == "match") ++match;
    if (std::string_view(c.verdict()) == "off") ++off;
  }
  const std::size_t published = match + off;
  std::string body = fmt::format(
      "<p><code>{}</code></p>\n<p>{} values; {}.</p>\n", entities(command), cells.size(),
      published == 0 ? "none of them is published"
                     : fmt::format("of the {} that are published, {} match within the tolerance",
                                   published, match));
  for (int t = 1; t <= kTables; ++t) body += table_html(t, cells);
  for (int f = kFirstFigure; f <= kLastFigure; ++f) body += figure_html(f, cells);
  const bool packets = std::any_of(cells.begin(), cells.end(),
                                   [](const Cell& c) { return c.metric.starts_with("fct_"); });
  body += "<h2>What is not here</h2>\n";
  if (packets)
    body +=
        "<p>The paper states neither the size of a flow nor the unit of its times. What is "
        "compared "
        "is the factor over FC+ (2L-32), in a full run, and the order of the five set-ups: the "
        "part "
        "of those that the paper tells apart which stand in its order. docs/lab.md has the rest; "
        "paths and throughput are `reproduce fcplus`.</p>\n";
  else
    body +=
        "<p>Completion times of flows (the rest of Table VIII, Figure 7) are packets: `reproduce "
        "fcplus --fct`. The paper does not say for which five s Figure 3 was drawn, nor how the "
        "random choices were made; ours come from the seed. A throughput is the middle of its two "
        "proven bounds. The Clos is by the closed form, uplinks over hosts of a ToR: a random "
        "matrix in which some receive more than others carries less.</p>\n";
  return page("FC+, reproduced", body);
}

}  // namespace lldp::lab::fcplus_paper
