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
};
[[nodiscard]] std::string svg(const Chart& chart);

}  // namespace lldp::lab
