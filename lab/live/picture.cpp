// SPDX-License-Identifier: Apache-2.0
#include "lab/live/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace lldp::lab::live {
namespace {

using Kind = Verdict::Kind;

constexpr std::size_t kMargin = 12;      ///< left of a row: its level
constexpr std::size_t kPortGlyphs = 12;  ///< a device with more ports gets numbers instead
constexpr std::size_t kListed = 12;      ///< of what is wrong, and of the alarms

/// Text with its width on the screen, which neither colors nor multi-octet characters change.
struct Cell {
  std::string text{};
  std::size_t width = 0;
};

class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  void put(Cell& cell, std::string_view text, std::size_t width, std::string_view sgr = {}) const {
    if (colour_ && !sgr.empty())
      cell.text += fmt::format("\x1b[{}m{}\x1b[0m", sgr, text);
    else
      cell.text += text;
    cell.width += width;
  }
  [[nodiscard]] std::string paint(std::string_view text, std::string_view sgr) const {
    Cell cell;
    put(cell, text, 0, sgr);
    return cell.text;
  }

 private:
  bool colour_;
};

constexpr std::string_view kGood = "32";
constexpr std::string_view kBad = "1;31";
constexpr std::string_view kQuiet = "2";
constexpr std::string_view kBold = "1";

std::string_view glyph(const Verdict& v) {
  if (v.kind == Kind::kUnseen) return "?";
  if (v.kind == Kind::kDown) return "×";
  switch (v.seen) {
    case PortType::kUplink:
      return "↑";
    case PortType::kDownlink:
      return "↓";
    case PortType::kCrosslink:
      return "↔";
    case PortType::kUnmarked:
      break;
  }
  return "·";
}

std::string_view colour_of(Kind kind) {
  return kind == Kind::kRight ? kGood : kind == Kind::kUnseen ? kQuiet : kBad;
}

std::string level_text(const std::optional<Level>& level) {
  return level ? std::to_string(level->value()) : "–";
}

/// A fabric and what is seen of it, judged once.
struct Judged {
  const Fabric& fabric;
  const Observation& seen;
  std::vector<std::vector<Adjacency>> ports;
  std::vector<std::vector<Verdict>> verdicts{};

  Judged(const Fabric& f, const Observation& s) : fabric(f), seen(s), ports(adjacencies(f)) {
    for (std::size_t n = 0; n < f.nodes.size(); ++n) {
      verdicts.emplace_back();
      for (const Adjacency& a : ports[n]) verdicts[n].push_back(judge(f, s[n], a));
    }
  }
  [[nodiscard]] bool level_right(std::size_t n) const {
    return seen[n].answers && seen[n].level == fabric.nodes[n].level;
  }
  [[nodiscard]] bool right(std::size_t n) const { return all_right(fabric, n, seen[n], ports[n]); }
  [[nodiscard]] std::size_t count(std::size_t n, Kind kind) const {
    return static_cast<std::size_t>(std::count_if(
        verdicts[n].begin(), verdicts[n].end(), [&](const Verdict& v) { return v.kind == kind; }));
  }
  [[nodiscard]] const std::string& port_name(std::size_t n, std::size_t p) const {
    const Adjacency& a = ports[n][p];
    return fabric.links[a.link].ends[a.own_end].port;
  }
};

/// Nodes by their true level, the top first; those without one last.
std::map<int, std::vector<std::size_t>, std::greater<>> rows_of(const Fabric& fabric) {
  std::map<int, std::vector<std::size_t>, std::greater<>> rows;
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n)
    rows[fabric.nodes[n].level ? fabric.nodes[n].level->value() : -1].push_back(n);
  return rows;
}

/// `2 ✓ ↑↑↓↓`: the level learned, whether it is right, and every port.
Cell status(const Judged& j, std::size_t n, const Painter& painter) {
  Cell cell;
  if (!j.seen[n].answers) {
    painter.put(cell, "no agent", 8, kBad);
    return cell;
  }
  const std::string level = level_text(j.seen[n].level);
  painter.put(cell, level, j.seen[n].level ? level.size() : 1, kBold);
  painter.put(cell, j.level_right(n) ? " ✓ " : " ✗ ", 3, j.level_right(n) ? kGood : kBad);
  const auto& verdicts = j.verdicts[n];
  if (verdicts.size() <= kPortGlyphs) {
    for (const Verdict& v : verdicts) painter.put(cell, glyph(v), 1, colour_of(v.kind));
    return cell;
  }
  std::map<std::string_view, std::pair<std::size_t, Kind>> groups;  // wrong ones show as such
  for (const Verdict& v : verdicts) {
    auto& [count, kind] = groups.emplace(glyph(v), std::pair(0, Kind::kRight)).first->second;
    ++count;
    if (v.kind != Kind::kRight) kind = v.kind;
  }
  for (const auto& [g, group] : groups) {
    const std::string text = fmt::format("{}{} ", group.first, g);
    painter.put(cell, text, std::to_string(group.first).size() + 2, colour_of(group.second));
  }
  return cell;
}

std::string padded(const Cell& cell, std::size_t width) {
  return cell.text + std::string(width - std::min(width, cell.width), ' ');
}

void draw_row(std::string& out, const std::string& title, const std::vector<std::size_t>& nodes,
              const Judged& j, const PictureStyle& style, const Painter& painter) {
  std::vector<std::pair<Cell, Cell>> cells;
  std::size_t widest = 0;
  for (const std::size_t n : nodes) {
    const std::string name = escape(j.fabric.nodes[n].name);
    Cell head;
    painter.put(head, name, name.size(), j.right(n) ? std::string_view() : kBad);
    cells.emplace_back(head, status(j, n, painter));
    widest = std::max({widest, head.width, cells.back().second.width});
  }
  const std::size_t column = widest + 3;
  const std::size_t room = style.width > kMargin ? style.width - kMargin : 1;
  const std::size_t per_line = std::max<std::size_t>(room / column, 1);
  for (std::size_t first = 0; first < cells.size(); first += per_line) {
    const std::size_t last = std::min(first + per_line, cells.size());
    std::string heads = fmt::format("{:<{}}", first == 0 ? title : "", kMargin);
    std::string states(kMargin, ' ');
    for (std::size_t i = first; i < last; ++i) {
      heads += padded(cells[i].first, column);
      states += padded(cells[i].second, column);
    }
    for (std::string* line : {&heads, &states}) {
      line->erase(line->find_last_not_of(' ') + 1);
      out += *line + "\n";
    }
  }
  out += "\n";
}

std::string row_title(int level) {
  return level == 0 ? " hosts" : level < 0 ? " no level" : fmt::format(" level {}", level);
}

struct Counts {
  std::size_t devices = 0;
  std::size_t right = 0;
  std::size_t up = 0;
  std::size_t down = 0;
  std::size_t wrong = 0;
  std::size_t alarms = 0;
};

std::string table(const Judged& j, const Painter& painter) {
  std::string out =
      painter.paint(fmt::format(" {:<10}{:>8}{:>8}{:>10}{:>12}{:>13}{:>8}\n", "", "devices",
                                "right", "ports up", "ports down", "ports wrong", "alarms"),
                    kQuiet);
  for (const auto& [level, nodes] : rows_of(j.fabric)) {
    Counts c{.devices = nodes.size()};
    for (const std::size_t n : nodes) {
      c.right += j.right(n) ? 1U : 0U;
      c.up += j.count(n, Kind::kRight) + j.count(n, Kind::kWrong);
      c.down += j.count(n, Kind::kDown);
      c.wrong += j.count(n, Kind::kWrong);
      c.alarms += j.seen[n].alarms.size();
    }
    out += fmt::format("{:<11}{:>8}{:>8}{:>10}{:>12}{:>13}{:>8}\n", row_title(level), c.devices,
                       c.right, c.up, c.down, c.wrong, c.alarms);
  }
  return out;
}

/// What is wrong, and the alarms, one a line.
std::vector<std::string> complaints(const Judged& j) {
  std::vector<std::string> out;
  for (std::size_t n = 0; n < j.fabric.nodes.size(); ++n) {
    const std::string name = escape(j.fabric.nodes[n].name);
    if (!j.seen[n].answers) {
      out.push_back(name + ": no agent answers");
      continue;
    }
    if (!j.level_right(n))
      out.push_back(fmt::format("{}: level {}, not {}", name, level_text(j.seen[n].level),
                                level_text(j.fabric.nodes[n].level)));
    for (std::size_t p = 0; p < j.ports[n].size(); ++p) {
      const Verdict& v = j.verdicts[n][p];
      const std::string port = name + ":" + escape(j.port_name(n, p));
      if (v.kind == Kind::kDown) out.push_back(port + ": link down");
      if (v.kind == Kind::kUnseen) out.push_back(port + ": not a port of the agent");
      if (v.kind == Kind::kWrong)
        out.push_back(fmt::format("{}: {}, not {}", port, to_string(v.seen), to_string(v.truth)));
    }
    for (const std::string& alarm : j.seen[n].alarms)
      out.push_back(fmt::format("{}: alarm {}", name, alarm));
  }
  return out;
}

}  // namespace

std::string picture(const Fabric& fabric, const Observation& seen, const PictureStyle& style) {
  const Judged j(fabric, seen);
  const Painter painter(style.colour);
  std::string out = "\n";
  for (const auto& [level, nodes] : rows_of(fabric))
    draw_row(out, row_title(level), nodes, j, style, painter);
  out += painter.paint(
      " ↑ uplink  ↓ downlink  ↔ crosslink  · unmarked  × link down      ✓ ✗ level right, wrong\n\n",
      kQuiet);
  out += table(j, painter);
  const auto lines = complaints(j);
  if (!lines.empty()) out += "\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kListed); ++i)
    out += " " + painter.paint(lines[i], kBad) + "\n";
  if (lines.size() > kListed) out += fmt::format(" ... and {} more\n", lines.size() - kListed);
  return out;
}

std::string to_json(const Fabric& fabric, const Observation& seen) {
  using nlohmann::ordered_json;
  const Judged j(fabric, seen);
  ordered_json devices = ordered_json::array();
  bool right = true;
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n) {
    const Node& node = fabric.nodes[n];
    right = right && j.right(n);
    ordered_json device{{"name", escape(node.name)}, {"answers", seen[n].answers},
                        {"level", nullptr},          {"true_level", nullptr},
                        {"right", j.right(n)},       {"ports", ordered_json::array()},
                        {"alarms", seen[n].alarms}};
    if (seen[n].level) device["level"] = seen[n].level->value();
    if (node.level) device["true_level"] = node.level->value();
    for (std::size_t p = 0; p < j.ports[n].size(); ++p) {
      const Verdict& v = j.verdicts[n][p];
      device["ports"].push_back({{"name", escape(j.port_name(n, p))},
                                 {"up", v.kind == Kind::kRight || v.kind == Kind::kWrong},
                                 {"type", to_string(v.seen)},
                                 {"true_type", to_string(v.truth)}});
    }
    devices.push_back(std::move(device));
  }
  return ordered_json{{"version", 1}, {"right", right}, {"devices", std::move(devices)}}.dump() +
         "\n";
}

}  // namespace lldp::lab::live
