// SPDX-License-Identifier: Apache-2.0
#include "lab/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace lldp::lab {
namespace {

constexpr double kWide = 640;
constexpr double kHigh = 300;
constexpr std::size_t kMostMarks = 60;  ///< of a line: more would hide it
/// Told apart by the color-blind too (Okabe and Ito), and by their marks.
constexpr std::array<std::string_view, 8> kColours = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "currentColor", "#999999"};

/// Light or dark as the reader has it; what is wider than the window scrolls by itself.
constexpr std::string_view kPageStyle =
    ":root{color-scheme:light dark;--rule:#ddd;--match:#070;--off:#b00;--half:#850;--faint:#777}"
    "@media(prefers-color-scheme:dark){:root{--rule:#444;--match:#7c7;--off:#f77;--half:#fb6;--"
    "faint:#999}}"
    "body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em;"
    "overflow-wrap:break-word}"
    "pre,.wide{overflow-x:auto}figure{margin:1em 0}figcaption{font-weight:bold}"
    "svg{fill:currentColor}svg text{font:12px sans-serif}.grid{stroke:var(--rule)}"
    ".axis{stroke:currentColor;fill:none}.legend "
    "span{display:inline-block;max-width:100%;margin-right:1.2em}"
    ".legend svg{width:1em;height:1em;margin-right:.3em;vertical-align:-.1em}"
    "table{border-collapse:collapse;margin:1em 0}"
    "td,th{padding:.2em .7em;text-align:left;border-bottom:1px solid var(--rule)}"
    "th.place{min-width:7em}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".match,.holds{color:var(--match)}.off,.fails{color:var(--off);font-weight:bold}"
    ".direction-only{color:var(--half);white-space:nowrap}"
    ".headline{font-size:1.15em}td.note{color:var(--faint);font-size:90%;padding-top:0}"
    "td.note b{color:CanvasText;font-weight:normal}"
    ".zoom{float:right;font-weight:normal}.zoom button{font:inherit;padding:0 .5em}";

/// Every curve can be looked at more closely: by its buttons, or drawn with the pointer.
constexpr std::string_view kZoom = R"(<script>
for (const figure of document.querySelectorAll("figure.curve")) {
  const svg = figure.querySelector("svg"), whole = svg.getAttribute("viewBox").split(" ").map(Number);
  let box = whole.slice(), held = null;
  const show = () => svg.setAttribute("viewBox", box.join(" "));
  const zoom = (by, x = box[0] + box[2] / 2, y = box[1] + box[3] / 2) => {
    const wide = Math.min(whole[2], box[2] * by), high = wide * whole[3] / whole[2];
    box = [x - (x - box[0]) * wide / box[2], y - (y - box[1]) * high / box[3], wide, high];
    if (wide === whole[2]) box = whole.slice();
    show();
  };
  const tools = document.createElement("span");
  tools.className = "zoom";
  for (const [text, title, act] of [["+", "closer", () => zoom(0.5)], ["−", "farther", () => zoom(2)], ["1:1", "all", () => zoom(1e9)]]) {
    const button = tools.appendChild(document.createElement("button"));
    button.textContent = text; button.title = title; button.type = "button"; button.onclick = act;
  }
  figure.querySelector("figcaption").append(tools);
  svg.onpointerdown = e => { if (box[2] < whole[2]) { held = e; svg.setPointerCapture(e.pointerId); } };
  svg.onpointerup = svg.onpointercancel = () => { held = null; };
  svg.onpointermove = e => {
    if (!held) return;
    const scale = box[2] / svg.clientWidth;
    box[0] -= (e.clientX - held.clientX) * scale; box[1] -= (e.clientY - held.clientY) * scale; held = e;
    show();
  };
  svg.ondblclick = e => {
    const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
    zoom(e.shiftKey ? 2 : 0.5, at.x, at.y);
  };
}
</script>
)";

/// A step of 1, 2 or 5 times a power of ten that makes about five of `range`.
double step_for(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (const double m : {1.0, 2.0, 5.0})
    if (range / (m * power) <= 6) return m * power;
  return 10 * power;
}

std::string tick(double value) { return fmt::format("{:.12g}", value); }

/// What stands left of the vertical axis: its name beside its widest number.
class LeftSide {
 public:
  void add(const std::string& text) {
    wide_ = std::max(wide_, kLetter * static_cast<double>(text.size()));
  }
  [[nodiscard]] double name_at() const { return -(kGap + wide_ + kGap); }
  [[nodiscard]] double width() const { return kGap + wide_ + 2 * kGap + kLetter; }

  static constexpr double kGap = 8;

 private:
  static constexpr double kLetter = 7.2;  ///< of a digit, at 12 px
  double wide_ = 3 * kLetter;
};

std::string mark(std::size_t kind, double x, double y, std::string_view colour) {
  switch (kind % 4) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>", x, y, colour);
    case 1:
      return fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"8\" fill=\"none\" "
          "stroke=\"{}\" stroke-width=\"2\"/>",
          x - 4, y - 4, colour);
    case 2:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l5 9h-10z\" fill=\"{}\"/>", x, y - 6, colour);
    default:
      return fmt::format(
          "<path d=\"M{:.1f} {:.1f}l8 8m0 -8l-8 8\" stroke=\"{}\" "
          "stroke-width=\"2\"/>",
          x - 4, y - 4, colour);
  }
}

}  // namespace

std::string entities(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')  // XML ends a section at ]]>
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string label(std::string_view name, std::size_t most) {
  std::string text = escape(name);
  std::vector<std::size_t> letters;  // where they begin
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!continues_character(text[i])) letters.push_back(i);
  if (letters.size() > most) {
    const std::size_t first = most / 2;
    const std::size_t last = most - first - 1;
    text.replace(letters[first], letters[letters.size() - last] - letters[first], "…");
  }
  return entities(text);
}

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<style>{1}</style>\n"
      "<h1>{0}</h1>\n{2}{3}</html>\n",
      entities(title), kPageStyle, body,
      body.find("<figure class=\"curve\">") == std::string_view::npos ? "" : kZoom);
}

std::string table(std::string_view rows) {
  return fmt::format("<div class=\"wide\"><table>\n{}</table></div>\n", rows);
}

std::string svg(const Chart& given) {
  Chart chart = given;
  if (chart.log_x)
    for (auto& line : chart.lines)
      for (auto& [x, y] : line.points) x = std::log10(std::max(x, 1e-9));
  double left = 1e300;
  double right = -1e300;
  double top = 0;
  for (const auto& line : chart.lines)
    for (const auto& [x, y] : line.points) {
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::max(top, y);
    }
  if (left > right) return {};
  if (left == right) right = left + 1;
  const double x_step =
      chart.log_x ? std::max(1.0, step_for(right - left)) : step_for(right - left);
  const double y_step = step_for(top > 0 ? top : 1);
  top = std::max(y_step, std::ceil(top / y_step - 1e-9) * y_step);
  const auto at_x = [&](double x) { return (x - left) / (right - left) * kWide; };
  const auto at_y = [&](double y) { return kHigh - y / top * kHigh; };
  LeftSide side;
  for (double y = 0; y <= top * 1.0001; y += y_step) side.add(tick(y));
  std::string out = fmt::format(
      "<figure class=\"curve\"><figcaption>{0}</figcaption>\n<svg viewBox=\"{5:.0f} -12 {1:.0f} "
      "{2}\" width=\"100%\" "
      "role=\"img\" aria-label=\"{0}\">\n<path class=\"axis\" d=\"M0 0V{3}H{4}\"/>\n",
      entities(chart.title), kWide + side.width() + 20, kHigh + 62, kHigh, kWide, -side.width());
  std::string legend;
  for (double y = 0; y <= top * 1.0001; y += y_step)
    out += fmt::format(
        "<path class=\"grid\" d=\"M0 {0:.1f}H{1}\"/><text x=\"-8\" y=\"{2:.1f}\" "
        "text-anchor=\"end\">{3}</text>\n",
        at_y(y), kWide, at_y(y) + 4, tick(y));
  for (double x = std::ceil(left / x_step) * x_step; x <= right * 1.0001; x += x_step)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", at_x(x),
                       kHigh + 18, tick(chart.log_x ? std::pow(10, x) : x));
  out += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n"
      "<text transform=\"translate({:.0f} {}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>\n",
      kWide / 2, kHigh + 40, entities(chart.x_label), side.name_at(), kHigh / 2,
      entities(chart.y_label));
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const auto& line = chart.lines[i];
    const std::string_view colour = kColours[i % kColours.size()];
    std::string path;
    std::string marks;
    for (const auto& [x, y] : line.points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at_x(x), at_y(y));
      if (line.points.size() <= kMostMarks) marks += mark(i, at_x(x), at_y(y), colour);
    }
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>{}\n", path,
                       colour, marks);
    legend +=
        fmt::format("<span><svg viewBox=\"-6 -6 12 12\" aria-hidden=\"true\">{}</svg>{}</span>\n",
                    mark(i, 0, 0, colour), entities(line.name));
  }
  return out + fmt::format("</svg>\n<div class=\"legend\">\n{}</div></figure>\n", legend);
}

std::string svg(const Bars& bars) {
  double most = 0;
  double least = 1e300;
  for (const auto& s : bars.series)
    for (const double v : s.values) {
      most = std::max(most, v);
      if (v > 0) least = std::min(least, v);
    }
  if (bars.groups.empty() || bars.series.empty()) return {};
  double bottom = 0;
  double top = most > 0 ? most : 1;
  double step = step_for(top);
  if (bars.log_y) {
    bottom = most > 0 ? std::floor(std::log10(least)) : 0;
    top = most > 0 ? std::max(bottom + 1, std::ceil(std::log10(most))) : 1;
    step = 1;
  } else {
    top = std::max(step, std::ceil(top / step - 1e-9) * step);
  }
  const auto height = [&](double v) {
    const double at = bars.log_y ? (v > 0 ? std::log10(v) : bottom) : v;
    return std::clamp((at - bottom) / (top - bottom), 0.0, 1.0) * kHigh;
  };
  const auto text_at = [&](double y) { return tick(bars.log_y ? std::pow(10, y) : y); };
  LeftSide side;
  for (double y = bottom; y <= top + step * 1e-6; y += step) side.add(text_at(y));
  std::string out = fmt::format(
      "<figure><figcaption>{0}</figcaption>\n<svg viewBox=\"{3:.0f} -12 {1:.0f} {2}\" "
      "width=\"100%\" role=\"img\" aria-label=\"{0}\">\n",
      entities(bars.title), kWide + side.width() + 20, kHigh + 48, -side.width());
  for (double y = bottom; y <= top + step * 1e-6; y += step)
    out += fmt::format(
        "<path class=\"grid\" d=\"M0 {0:.1f}H{1}\"/><text x=\"-8\" y=\"{2:.1f}\" "
        "text-anchor=\"end\">{3}</text>\n",
        kHigh - (y - bottom) / (top - bottom) * kHigh, kWide,
        kHigh - (y - bottom) / (top - bottom) * kHigh + 4, text_at(y));
  const double wide = kWide / static_cast<double>(bars.groups.size());
  const double bar = wide * 0.8 / static_cast<double>(bars.series.size());
  std::string legend;
  for (std::size_t s = 0; s < bars.series.size(); ++s) {
    const std::string_view colour = kColours[s % kColours.size()];
    for (std::size_t g = 0; g < std::min(bars.groups.size(), bars.series[s].values.size()); ++g) {
      const double v = bars.series[s].values[g];
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\">"
          "<title>{}, {}: {:.4g}</title></rect>\n",
          wide * (static_cast<double>(g) + 0.1) + bar * static_cast<double>(s), kHigh - height(v),
          bar * 0.9, height(v), colour, entities(bars.groups[g]), entities(bars.series[s].name), v);
    }
    legend += fmt::format(
        "<span><svg viewBox=\"-6 -6 12 12\" aria-hidden=\"true\"><rect x=\"-5\" y=\"-5\" "
        "width=\"10\" height=\"10\" fill=\"{}\"/></svg>{}</span>\n",
        colour, entities(bars.series[s].name));
  }
  for (std::size_t g = 0; g < bars.groups.size(); ++g)
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                    wide * (static_cast<double>(g) + 0.5), kHigh + 20, label(bars.groups[g], 24));
  return out + fmt::format(
                   "<path class=\"axis\" d=\"M0 0V{0}H{1}\"/><text transform=\"translate({5:.0f} "
                   "{2}) rotate(-90)\" text-anchor=\"middle\">{3}</text></svg>\n<div "
                   "class=\"legend\">\n{4}</div></figure>\n",
                   kHigh, kWide, kHigh / 2, entities(bars.y_label), legend, side.name_at());
}

}  // namespace lldp::lab
