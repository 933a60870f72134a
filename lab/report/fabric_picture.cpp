// SPDX-License-Identifier: Apache-2.0
#include "lab/report/fabric_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>

#include "base/text.hpp"
#include "lab/report/html.hpp"

namespace lldp::lab {
namespace {

constexpr std::size_t kManyHosts = 120;
constexpr double kNamed = 34;  ///< a node so far from the next has its name beside it
constexpr double kRowHigh = 150;
constexpr double kMargin = 70;

struct Point {
  double x = 0;
  double y = 0;
};

struct Layout {
  std::vector<std::optional<Point>> at{};  ///< nullopt: left out
  std::vector<std::pair<double, std::string>> rows{};
  double wide = 0;
  double high = 0;
  double apart = 0;  ///< of two nodes at least
};

Layout ring(const Fabric& fabric, const std::vector<std::size_t>& nodes) {
  Layout layout{.at = std::vector<std::optional<Point>>(fabric.nodes.size())};
  const auto n = static_cast<double>(nodes.size());
  const double radius = std::clamp(n * 5, 200.0, 480.0);
  layout.wide = layout.high = 2 * (radius + kMargin);
  layout.apart = 2 * std::numbers::pi * radius / n;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / n;
    layout.at[nodes[i]] = {
        {layout.wide / 2 + radius * std::sin(angle), layout.high / 2 - radius * std::cos(angle)}};
  }
  return layout;
}

Layout layers(const Fabric& fabric, const std::map<int, std::vector<std::size_t>>& by_level) {
  Layout layout{.at = std::vector<std::optional<Point>>(fabric.nodes.size())};
  std::size_t longest = 1;
  for (const auto& [level, nodes] : by_level) longest = std::max(longest, nodes.size());
  const double inner = std::clamp(static_cast<double>(longest) * 40, 500.0, 1400.0);
  layout.wide = inner + 2 * kMargin;
  layout.apart = inner / static_cast<double>(longest);
  double y = kMargin;
  for (auto row = by_level.rbegin(); row != by_level.rend(); ++row, y += kRowHigh) {
    const auto& nodes = row->second;
    layout.rows.emplace_back(y, row->first < 0    ? "no level"
                                : row->first == 0 ? "hosts"
                                                  : fmt::format("level {}", row->first));
    for (std::size_t i = 0; i < nodes.size(); ++i)
      layout.at[nodes[i]] = {
          {kMargin + inner * (static_cast<double>(i) + 0.5) / static_cast<double>(nodes.size()),
           y}};
  }
  layout.high = y - kRowHigh + kMargin;
  return layout;
}

Layout layout_of(const Fabric& fabric) {
  std::map<int, std::vector<std::size_t>> by_level;
  std::vector<std::size_t> switches;
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    const Node& node = fabric.nodes[i];
    by_level[node.level ? node.level->value() : -1].push_back(i);
    if (node.role == Role::kSwitch) switches.push_back(i);
  }
  if (by_level[0].size() > kManyHosts) by_level.erase(0);
  std::erase_if(by_level, [](const auto& row) { return row.second.empty(); });
  const std::size_t switch_rows = by_level.size() - by_level.count(0);
  const bool relays =
      std::any_of(fabric.nodes.begin(), fabric.nodes.end(), [](const Node& n) { return n.relays; });
  if (switch_rows == 1 && switches.size() > 2 && !relays) return ring(fabric, switches);
  return layers(fabric, by_level);
}

}  // namespace

std::string fabric_picture(const Fabric& fabric, const Marks& marks) {
  const Layout layout = layout_of(fabric);
  std::vector<const char*> set_off(fabric.links.size());
  for (const std::size_t l : marks.failed) set_off[l] = "failed";
  for (const std::size_t l : marks.cycle) set_off[l] = "cycle";
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n"
      "<style>text{{font:11px sans-serif;fill:#222}}line{{stroke:#8aa;stroke-opacity:.45}}"
      "line.failed{{stroke:#d55e00;stroke-width:2;stroke-dasharray:5 4;stroke-opacity:1}}"
      "line.cycle{{stroke:#b00;stroke-width:3;stroke-opacity:1}}"
      "line:hover{{stroke:#000;stroke-width:2;stroke-opacity:1}}"
      "circle{{fill:#0072b2}}rect.host{{fill:#999}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      layout.wide, layout.high, entities(escape(fabric.name)));
  for (const auto& [y, name] : layout.rows)
    out += fmt::format("<text x=\"6\" y=\"{:.0f}\">{}</text>\n", y + 4, name);
  const auto draw = [&](bool above) {  // what is set off goes over the others
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
      const auto& [a, b] = fabric.links[l].ends;
      if (!layout.at[a.node] || !layout.at[b.node] || (set_off[l] != nullptr) != above) continue;
      const auto end = [&](const LinkEnd& e) {
        return entities(escape(fabric.nodes[e.node].name + ":" + e.port)) +
               (e.layer ? fmt::format(" (layer {})", e.layer->value()) : "");
      };
      if (marks.halves) {
        const auto half = [&](std::size_t from) {
          const LinkEnd& sender = fabric.links[l].ends[from];
          const LinkEnd& receiver = fabric.links[l].ends[1 - from];
          const Point& p = *layout.at[sender.node];
          const Point& q = *layout.at[receiver.node];
          return fmt::format(
              "<line id=\"a{}\"{} x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\">"
              "<title>{} to {}{}</title></line>\n",
              2 * l + from, above ? fmt::format(" class=\"{}\"", set_off[l]) : "", p.x, p.y,
              (p.x + q.x) / 2, (p.y + q.y) / 2, end(sender), end(receiver),
              above ? fmt::format(": {}", set_off[l]) : "");
        };
        out += half(0) + half(1);
        continue;
      }
      out += fmt::format(
          "<line{} x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"><title>{} - "
          "{}{}</title></line>\n",
          above ? fmt::format(" class=\"{}\"", set_off[l]) : "", layout.at[a.node]->x,
          layout.at[a.node]->y, layout.at[b.node]->x, layout.at[b.node]->y, end(a), end(b),
          above ? fmt::format(": {}", set_off[l]) : "");
    }
  };
  draw(false);
  draw(true);
  const double size = std::clamp(layout.apart / 3, 2.0, 7.0);
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    if (!layout.at[i]) continue;
    const auto& [x, y] = *layout.at[i];
    const std::string name = entities(escape(fabric.nodes[i].name));
    const std::string title = fmt::format(
        "<title>{}{}</title>", name,
        fabric.nodes[i].level ? fmt::format(", level {}", fabric.nodes[i].level->value()) : "");
    const std::string id = marks.halves ? fmt::format(" id=\"n{}\"", i) : "";
    if (fabric.nodes[i].role == Role::kHost)
      out += fmt::format(
          "<rect{} class=\"host\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{:.1f}\">{}</rect>\n",
          id, x - size, y - size, 2 * size, 2 * size, title);
    else
      out += fmt::format("<circle{} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">{}</circle>\n", id, x,
                         y, size, title);
    if (layout.apart < kNamed) continue;
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
                       y - size - 4, name);
  }
  return out + "</svg>\n";
}

}  // namespace lldp::lab
