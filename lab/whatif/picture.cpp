// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "lab/report/html.hpp"

namespace lldp::lab::whatif {
namespace {

/// Light or dark as the reader has it.
constexpr std::string_view kPictureStyle =
    ":root{--ground:#fff;--text:#222;--edge:#333;--faint:#666;--link:#ccc;--turn:#fe9;--failed:#"
    "c00}"
    "@media(prefers-color-scheme:dark){:root{--ground:#1b1b1b;--text:#ddd;--edge:#aaa;"
    "--faint:#999;--link:#555;--turn:#770;--failed:#f66}}"
    "text{font:12px sans-serif;text-anchor:middle;fill:var(--text)}"
    ".f{fill:var(--faint);text-anchor:start}.l{stroke:var(--link)}"
    ".x{stroke:var(--failed);stroke-width:2.5;stroke-dasharray:6 4}"
    ".c{stroke:#e80;stroke-width:3}rect{fill:var(--ground);stroke:var(--edge)}"
    ".t{fill:var(--turn);stroke:#b60;stroke-width:2}";
constexpr std::size_t kLetters = 10;  ///< of a name, in a box; pointed at, it tells all of it
constexpr std::size_t kMost = 48;     ///< switches that a picture can hold and be read
constexpr double kApart = 84;
constexpr double kLevel = 120;
constexpr double kLeast = 860;  ///< the legend needs it

/// What the set concerns comes first; then what is beside it, as long as there is room.
std::vector<std::uint32_t> chosen(const Routes& routes, const std::vector<std::uint32_t>& set,
                                  const Effect& effect, const std::vector<Arc>& cycle) {
  std::vector<std::uint32_t> all;
  std::vector<bool> taken(routes.switches());
  const auto take = [&](std::uint32_t s) {
    if (taken[s] || all.size() >= kMost) return;
    taken[s] = true;
    all.push_back(s);
  };
  for (const Arc a : cycle) take(routes.tail(a));
  for (const std::uint32_t l : set) {
    take(routes.tail(2 * l));
    take(routes.head(2 * l));
  }
  for (const auto& [at, to] : effect.bounces) take(at);
  if (routes.switches() <= kMost)
    for (std::uint32_t s = 0; s < routes.switches(); ++s) take(s);
  for (std::size_t i = 0; i < all.size() && all.size() < kMost; ++i)
    for (const auto& hop : routes.hops(all[i])) take(hop.peer);
  std::sort(all.begin(), all.end());
  return all;
}

/// From a box's middle to its edge, towards where a line goes.
double side(double way) { return way > 0 ? 12 : way < 0 ? -12 : 0; }

struct Point {
  double x = 0;
  double y = 0;
};

}  // namespace

std::string to_svg(const Fabric& fabric, const Routes& routes,
                   const std::vector<std::uint32_t>& set, const Effect& effect,
                   const std::vector<Arc>& cycle) {
  const auto shown = chosen(routes, set, effect, cycle);
  const auto node = [&](std::uint32_t s) -> const Node& { return fabric.nodes[routes.node_of(s)]; };
  std::map<int, std::vector<std::uint32_t>, std::greater<>> rows;
  for (const std::uint32_t s : shown)
    rows[node(s).level ? node(s).level->value() : 255].push_back(s);
  std::size_t widest = 1;
  for (const auto& [level, row] : rows) widest = std::max(widest, row.size());
  const double wide = std::max(static_cast<double>(widest) * kApart + 120, kLeast);
  std::map<std::uint32_t, Point> at;
  double y = 60;
  std::string out;
  std::string labels;
  for (const auto& [level, row] : rows) {
    const double gap = (wide - 120) / static_cast<double>(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      at[row[i]] = {90 + gap * (static_cast<double>(i) + 0.5), y};
    labels += fmt::format("<text x=\"10\" y=\"{}\" class=\"f\">{}</text>\n", y + 4,
                          level == 255 ? std::string("no level") : fmt::format("level {}", level));
    y += kLevel;
  }
  const double high = y - kLevel + 90;
  out += fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\">\n"
      "<style>{}</style>\n"
      "<defs><marker id=\"a\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"6\" "
      "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" "
      "fill=\"#e80\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" style=\"stroke:none\"/>\n",
      wide, high, wide, kPictureStyle);
  const auto line = [&](Arc a, const char* kind, const char* more) {
    const Point p = at.at(routes.tail(a));
    const Point q = at.at(routes.head(a));
    out += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"{}/>\n", kind,
        p.x, p.y + side(q.y - p.y), q.x, q.y + side(p.y - q.y), more);
  };
  const std::set<std::uint32_t> failed(set.begin(), set.end());
  for (std::uint32_t l = 0; l < routes.links(); ++l)
    if (failed.count(l) == 0 && at.count(routes.tail(2 * l)) != 0 &&
        at.count(routes.head(2 * l)) != 0)
      line(2 * l, "l", "");
  for (const std::uint32_t l : set) line(2 * l, "x", "");
  for (const Arc a : cycle)
    if (at.count(routes.tail(a)) != 0 && at.count(routes.head(a)) != 0)
      line(a, "c", " marker-end=\"url(#a)\"");
  std::set<std::uint32_t> turning;
  for (const auto& [s, to] : effect.bounces) turning.insert(s);
  for (const std::uint32_t s : shown) {
    const Point p = at.at(s);
    out += fmt::format(
        "<g><title>{}</title><rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"72\" "
        "height=\"24\" rx=\"4\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
        entities(escape(node(s).name)), turning.count(s) != 0 ? "t" : "s", p.x - 36, p.y - 12, p.x,
        p.y + 4, label(node(s).name, kLetters));
  }
  out += labels;
  out += fmt::format(
      "<text x=\"10\" y=\"{:.0f}\" class=\"f\">dashed red: failed; yellow: packets turn here; "
      "orange: "
      "a cycle of buffers if they kept their class{}</text>\n</svg>\n",
      high - 14, shown.size() < routes.switches() ? "; only what is near is drawn" : "");
  return out;
}

}  // namespace lldp::lab::whatif
