// SPDX-License-Identifier: Apache-2.0
#include "lab/report/fabric_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/range/adaptor/reversed.hpp>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>

#include "base/text.hpp"
#include "lab/report/html.hpp"
#include "lab/report/nearby.hpp"

namespace lldp::lab {
namespace {

/// Of this picture alone: a page may have others. Light or dark as the reader has it.
constexpr std::string_view kFabricStyle =
    ".fabric{--ground:#fff;--text:#222;--cycle:#b00;--doubtful:#a0379a;--failed:#d55e00;"
    "--turn:#e6a800}"
    "@media(prefers-color-scheme:dark){"
    ".fabric{--ground:#1b1b1b;--text:#ddd;--cycle:#f66;--doubtful:#d77fd2;--failed:#f08030}}"
    ".fabric .ground{fill:var(--ground)}.fabric text{font:11px sans-serif;fill:var(--text)}"
    ".fabric text.name{stroke:var(--ground);stroke-width:3px;stroke-opacity:.8;paint-order:stroke}"
    ".fabric line{stroke:#8aa;stroke-opacity:.45}"
    ".fabric line.failed{stroke:var(--failed);stroke-width:2;stroke-dasharray:5 4;stroke-opacity:1}"
    ".fabric line.cycle{stroke:var(--cycle);stroke-width:2.5;stroke-opacity:1}"
    ".fabric line.doubtful{stroke:var(--doubtful);stroke-width:2;stroke-dasharray:2 3;"
    "stroke-opacity:1}"
    ".fabric circle.doubtful,.fabric rect.doubtful{stroke:var(--doubtful);stroke-width:3;"
    "stroke-dasharray:2 3}"
    ".fabric tspan.failed{fill:var(--failed)}.fabric tspan.cycle,.fabric .tip{fill:var(--cycle)}"
    ".fabric tspan.doubtful{fill:var(--doubtful)}"
    ".fabric tspan.turn{fill:var(--turn)}.fabric circle.turn,.fabric rect.turn{stroke:var(--turn);"
    "stroke-width:4}"
    ".fabric path.loop{fill:none;stroke:#8aa}"
    ".fabric line:hover{stroke:var(--text);stroke-width:2;stroke-opacity:1}"
    ".fabric circle{fill:#0072b2}.fabric rect.host{fill:#999}";
constexpr std::size_t kMostReadable = 500;
constexpr double kLetter = 6.2;       ///< width of one, on average
constexpr std::size_t kLetters = 22;  ///< of a name; pointed at, a node tells all of it
/// A node so far from the next has its name beside it, aslant: 60 degrees leave the height of a
/// line.
constexpr double kNamed = 15;
constexpr double kAslant = -60;  ///< degrees
constexpr double kRowHigh = 150;
constexpr double kMargin = 70;
constexpr double kLine = 16;              ///< from one line of text to the next
constexpr std::size_t kMostReasons = 20;  ///< that are written below the picture
constexpr double kBeside = 3;             ///< so far right of the middle goes each way of a cycle

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
  bool ring = false;
  double widest = 0;  ///< name
  double left = kMargin;
  std::vector<std::string> hidden{};  ///< levels of which nothing is drawn, and how many they are

  [[nodiscard]] bool is_highest(Point p) const {
    return !rows.empty() && p.y == rows.front().first;
  }
  [[nodiscard]] bool is_lowest(Point p) const { return !rows.empty() && p.y == rows.back().first; }
  /// A node's half width.
  [[nodiscard]] double size() const { return std::clamp(apart / 3, 2.0, 7.0); }
  /// Of a name from its node's middle.
  [[nodiscard]] double away() const { return size() + 5; }
  /// No name has room beside its node.
  [[nodiscard]] bool crowded() const { return apart < widest + 2 * away(); }
  /// For names that reach out of the margin.
  void make_room(double beside, double above) {
    for (auto& p : at)
      if (p) p = Point{p->x + beside, p->y + above};
    for (auto& row : rows) row.first += above;
    wide += 2 * beside;
    high += 2 * above;
  }
};

/// The line from one node to the other, with the arrow's head before the node.
std::string way(Point p, Point q, double size) {
  const double length = std::max(std::hypot(q.x - p.x, q.y - p.y), 1.0);
  const Point along{(q.x - p.x) / length, (q.y - p.y) / length};
  const auto at = [&](Point from, double ahead) {
    return Point{from.x + along.x * ahead - along.y * kBeside,
                 from.y + along.y * ahead + along.x * kBeside};
  };
  const Point a = at(p, size);
  const Point b = at(q, -size - 2);
  return fmt::format("x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"", a.x, a.y, b.x, b.y);
}

/// A node's name, where few lines go: outside of a ring, above the highest row, below the lowest,
/// else beside it; aslant where there is no room for that.
std::string name_text(const Layout& layout, Point p, const std::string& name) {
  const double away = layout.away();
  const bool crowded = layout.crowded();
  std::string_view anchor = "middle";
  double x = 0;
  double y = 4;
  double turned = 0;
  if (layout.ring) {
    const Point out{p.x - layout.wide / 2, p.y - layout.high / 2};
    const double length = std::max(std::hypot(out.x, out.y), 1.0);
    const bool left = out.x < -0.3 * length || (crowded && out.x < 0);
    if (left || crowded || out.x > 0.3 * length) anchor = left ? "end" : "start";
    if (crowded) {
      turned = std::atan2(out.y, out.x) * 180 / std::numbers::pi + (left ? 180 : 0);
      x = left ? -away : away;
    } else {
      x = out.x / length * away;
      y += out.y / length * (away + 4);
    }
  } else {
    const bool below = layout.is_lowest(p);
    if (crowded) {
      anchor = below ? "end" : "start";
      turned = kAslant;
      x = below ? -away : away;
    } else if (below || layout.is_highest(p)) {
      y = below ? away + 10 : -away + 1;
    } else {  // lines go up and down
      anchor = "start";
      x = away;
    }
  }
  return fmt::format(
      "<text class=\"name\" transform=\"translate({:.1f} {:.1f}){}\" x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"{}\">{}</text>\n",
      p.x, p.y, turned == 0 ? "" : fmt::format(" rotate({:.1f})", turned), x, y, anchor, name);
}

/// What the colors that are there mean.
std::string legend(const Marks& marks) {
  std::string out;
  const auto add = [&](bool there, std::string_view kind, std::string_view text) {
    if (there)
      out += fmt::format("{}<tspan class=\"{}\">{}</tspan>", out.empty() ? "" : "; ", kind, text);
  };
  add(!marks.failed.empty(), "failed", "dashed: failed");
  add(!marks.cycle.empty(), "cycle", "arrows: a cycle of buffers, each waits for the next");
  add(!marks.turning.empty(), "turn", "yellow edge: packets turn there");
  add(!marks.doubtful_links.empty() || !marks.doubtful_nodes.empty(), "doubtful",
      "dotted: in doubt, see below");
  return out;
}

/// Text in lines of at most so many letters, cut at spaces.
void wrap(std::vector<std::string>& lines, const std::string& text, std::size_t letters) {
  std::string line;
  for (const std::string& word : split_list(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > letters) {
      lines.push_back(std::move(line));
      line = "   ";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
}

/// Why something is in doubt, as lines below the picture.
std::vector<std::string> reasons(const Fabric& fabric, const Marks& marks, std::size_t letters) {
  std::vector<std::string> lines;
  std::size_t told = 0;
  const auto tell = [&](const std::string& what, const std::string& why) {
    if (told++ < kMostReasons) wrap(lines, escape(what) + ": " + escape(why), letters);
  };
  for (const auto& [n, why] : marks.doubtful_nodes) tell(fabric.nodes[n].name, why);
  for (const auto& [l, why] : marks.doubtful_links) {
    const auto& [a, b] = fabric.links[l].ends;
    tell(
        fabric.nodes[a.node].name + ":" + a.port + " - " + fabric.nodes[b.node].name + ":" + b.port,
        why);
  }
  if (told > kMostReasons)
    lines.push_back(fmt::format("... and {} more, which the report has", told - kMostReasons));
  return lines;
}

Layout ring(const Fabric& fabric, const std::vector<std::size_t>& nodes) {
  Layout layout{.at = std::vector<std::optional<Point>>(fabric.nodes.size())};
  const auto n = static_cast<double>(nodes.size());
  const double circumference = std::min<double>(n, kMostReadable) * kNamed;
  const double radius =
      std::max(std::clamp(n * 5, 200.0, 480.0), circumference / (2 * std::numbers::pi));
  layout.ring = true;
  layout.wide = layout.high = 2 * (radius + kMargin);
  layout.apart = 2 * std::numbers::pi * radius / n;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / n;
    layout.at[nodes[i]] = {
        {layout.wide / 2 + radius * std::sin(angle), layout.high / 2 - radius * std::cos(angle)}};
  }
  return layout;
}

/// The nodes of a level: those that are drawn, and how many there are.
struct Row {
  std::vector<std::size_t> nodes{};
  std::size_t count = 0;
};

std::string title_of(int level, const Row& row) {
  std::string title = level < 0    ? "no level"
                      : level == 0 ? "hosts"
                                   : fmt::format("level {}", level);
  if (row.nodes.size() < row.count) title += fmt::format(": {} of {}", row.nodes.size(), row.count);
  return title;
}

Layout layers(const Fabric& fabric, const std::map<int, Row>& by_level) {
  Layout layout{.at = std::vector<std::optional<Point>>(fabric.nodes.size())};
  for (const auto& [level, row] : by_level)
    layout.left = std::max(
        layout.left, static_cast<double>(title_of(level, row).size()) * kLetter + 2 * kLetter);
  std::size_t longest = 1;
  for (const auto& [level, row] : by_level) longest = std::max(longest, row.nodes.size());
  const double readable = static_cast<double>(std::min(longest, kMostReadable)) * kNamed;
  const double inner =
      std::clamp(static_cast<double>(longest) * 40, 500.0, std::max(1400.0, readable));
  layout.wide = layout.left + inner + kMargin;
  layout.apart = inner / static_cast<double>(longest);
  double y = kMargin;
  for (const auto& row : boost::adaptors::reverse(by_level)) {
    const auto& nodes = row.second.nodes;
    if (nodes.empty()) {
      layout.hidden.push_back(title_of(row.first, row.second));
      continue;
    }
    layout.rows.emplace_back(y, title_of(row.first, row.second));
    for (std::size_t i = 0; i < nodes.size(); ++i)
      layout.at[nodes[i]] = {
          {layout.left + inner * (static_cast<double>(i) + 0.5) / static_cast<double>(nodes.size()),
           y}};
    layout.high = y + kMargin;
    y += kRowHigh;
  }
  return layout;
}

Layout layout_of(const Fabric& fabric, const std::vector<bool>& drawn) {
  std::map<int, Row> by_level;
  std::vector<std::size_t> switches;
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    const Node& node = fabric.nodes[i];
    Row& row = by_level[node.level ? node.level->value() : -1];
    ++row.count;
    if (!drawn[i]) continue;
    row.nodes.push_back(i);
    if (node.role == Role::kSwitch) switches.push_back(i);
  }
  const std::size_t switch_rows = by_level.size() - by_level.count(0);
  const bool relays =
      std::any_of(fabric.nodes.begin(), fabric.nodes.end(), [](const Node& n) { return n.relays; });
  Layout layout = switch_rows == 1 && switches.size() > 2 && !relays ? ring(fabric, switches)
                                                                     : layers(fabric, by_level);
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i)
    if (layout.at[i])
      layout.widest =
          std::max(layout.widest,
                   static_cast<double>(std::min(fabric.nodes[i].name.size(), kLetters)) * kLetter);
  const double reach = layout.widest + layout.away() + kLetter;
  const double aslant = reach * std::sin(-kAslant * std::numbers::pi / 180);
  if (layout.ring)
    layout.make_room(std::max(reach - kMargin, 0.0), std::max(reach - kMargin, 0.0));
  else if (layout.crowded())
    layout.make_room(0, std::max(aslant - kMargin, 0.0));
  return layout;
}

}  // namespace

std::string fabric_picture(const Fabric& fabric, const Marks& marks) {
  const std::vector<bool> drawn = nodes_to_draw(fabric, marks);
  Layout layout = layout_of(fabric, drawn);
  std::vector<std::string> below;  // in this order
  if (const std::string colors = legend(marks); !colors.empty()) below.push_back(colors);
  for (const std::string& level : layout.hidden) below.push_back(level);
  const auto shown = std::count_if(layout.at.begin(), layout.at.end(),
                                   [](const auto& at) { return at.has_value(); });
  if (static_cast<std::size_t>(shown) < fabric.nodes.size())
    below.push_back(fmt::format("{} of {} nodes are drawn", shown, fabric.nodes.size()));
  const auto letters = static_cast<std::size_t>((layout.wide - 12) / kLetter);
  for (const std::string& line : reasons(fabric, marks, letters)) below.push_back(entities(line));
  const double picture_high = layout.high;
  layout.high += static_cast<double>(below.size()) * kLine;
  const bool named = layout.apart >= kNamed;  // else no name has room
  std::vector<const char*> set_off(fabric.links.size());
  for (const auto& [l, why] : marks.doubtful_links) set_off[l] = "doubtful";
  for (const std::size_t l : marks.failed) set_off[l] = "failed";
  std::vector<bool> turns(fabric.nodes.size());
  for (const std::size_t n : marks.turning) turns[n] = true;
  std::string out = fmt::format(
      "<svg class=\"fabric\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n"
      "<style>{3}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n",
      layout.wide, layout.high, entities(escape(fabric.name)), kFabricStyle);
  if (!marks.cycle.empty())
    out +=
        "<defs><marker id=\"way\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"5\" "
        "markerHeight=\"5\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" class=\"tip\"/></marker>"
        "</defs>\n";
  for (const auto& [y, name] : layout.rows)
    out += fmt::format("<text x=\"6\" y=\"{:.0f}\">{}</text>\n", y + 4, name);
  const auto tell = [&](const LinkEnd& e) {
    return entities(escape(fabric.nodes[e.node].name + ":" + e.port)) +
           (e.layer ? fmt::format(" (layer {})", e.layer->value()) : "");
  };
  const auto why = [](const std::map<std::size_t, std::string>& doubts, std::size_t of) {
    const auto at = doubts.find(of);
    return at == doubts.end() ? std::string() : ": " + entities(escape(at->second));
  };
  const auto draw = [&](bool above) {  // what is set off goes over the others
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
      const auto& [a, b] = fabric.links[l].ends;
      if (!layout.at[a.node] || !layout.at[b.node] || (set_off[l] != nullptr) != above) continue;
      if (a.node == b.node) {
        out += fmt::format(
            "<path class=\"loop\" d=\"M{:.1f} {:.1f}c-22 -26 22 -26 0 0\"><title>{} - "
            "{}</title></path>\n",
            layout.at[a.node]->x, layout.at[a.node]->y, tell(a), tell(b));
        continue;
      }
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
              (p.x + q.x) / 2, (p.y + q.y) / 2, tell(sender), tell(receiver),
              above ? fmt::format(": {}", set_off[l]) : "");
        };
        out += half(0) + half(1);
        continue;
      }
      out += fmt::format(
          "<line{} x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"><title>{} - "
          "{}{}</title></line>\n",
          above ? fmt::format(" class=\"{}\"", set_off[l]) : "", layout.at[a.node]->x,
          layout.at[a.node]->y, layout.at[b.node]->x, layout.at[b.node]->y, tell(a), tell(b),
          marks.doubtful_links.count(l) != 0 ? why(marks.doubtful_links, l)
          : above                            ? fmt::format(": {}", set_off[l])
                                             : "");
    }
  };
  draw(false);
  draw(true);
  const double size = layout.size();
  for (const auto& [link, from] : marks.cycle) {
    const LinkEnd& sender = fabric.links[link].ends[from];
    const LinkEnd& receiver = fabric.links[link].ends[1 - from];
    if (!layout.at[sender.node] || !layout.at[receiver.node]) continue;
    out += fmt::format(
        "<line class=\"cycle\" marker-end=\"url(#way)\" {}><title>{} to {}: in the "
        "cycle</title></line>\n",
        way(*layout.at[sender.node], *layout.at[receiver.node], size), tell(sender),
        tell(receiver));
  }
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) {
    if (!layout.at[i]) continue;
    const auto& [x, y] = *layout.at[i];
    const std::string name = entities(escape(fabric.nodes[i].name));
    const std::string title = fmt::format(
        "<title>{}{}{}</title>", name,
        fabric.nodes[i].level ? fmt::format(", level {}", fabric.nodes[i].level->value()) : "",
        why(marks.doubtful_nodes, i));
    const std::string id = marks.halves ? fmt::format(" id=\"n{}\"", i) : "";
    const char* const kind = marks.doubtful_nodes.count(i) != 0 ? "doubtful"
                             : turns[i]                         ? "turn"
                                                                : "";
    if (fabric.nodes[i].role == Role::kHost)
      out += fmt::format(
          "<rect{} class=\"host{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{:.1f}\">{}</rect>\n",
          id, *kind != 0 ? fmt::format(" {}", kind) : "", x - size, y - size, 2 * size, 2 * size,
          title);
    else
      out += fmt::format("<circle{}{} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">{}</circle>\n", id,
                         *kind != 0 ? fmt::format(" class=\"{}\"", kind) : "", x, y, size, title);
    if (!named) continue;
    out += name_text(layout, *layout.at[i], label(fabric.nodes[i].name, kLetters));
  }
  for (std::size_t i = 0; i < below.size(); ++i)
    out += fmt::format("<text x=\"6\" y=\"{:.0f}\" xml:space=\"preserve\">{}</text>\n",
                       picture_high + static_cast<double>(i) * kLine, below[i]);
  return out + "</svg>\n";
}

}  // namespace lldp::lab
