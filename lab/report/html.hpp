// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lldp::lab {

/// Text as HTML shows it. What came from elsewhere is escaped for a terminal before.
[[nodiscard]] std::string entities(std::string_view text);

/// A name where there is room for so many letters: its beginning and its end; as HTML shows it.
[[nodiscard]] std::string label(std::string_view name, std::size_t most);

/// One self-contained page; `body` is HTML.
[[nodiscard]] std::string page(std::string_view title, std::string_view body);

/// A table of such rows, which scrolls where it is wider than the window.
[[nodiscard]] std::string table(std::string_view rows);

/// Lines over a common axis, with marks where the values are if they are few, as SVG for a page.
struct Chart {
  struct Line {
    std::string name{};
    std::vector<std::pair<double, double>> points{};  ///< x rises
  };
  std::string title{};
  std::string x_label{};
  std::string y_label{};
  std::vector<Line> lines{};
  bool log_x = false;  ///< by powers of ten; every x is above 0
};
[[nodiscard]] std::string svg(const Chart& chart);

/// Values by group, a bar for each series.
struct Bars {
  struct Series {
    std::string name{};
    std::vector<double> values{};  ///< by group
  };
  std::string title{};
  std::string y_label{};
  std::vector<std::string> groups{};
  std::vector<Series> series{};
  bool log_y = false;  ///< by powers of ten: what is 0 or less has no bar
};
[[nodiscard]] std::string svg(const Bars& bars);

}  // namespace lldp::lab
