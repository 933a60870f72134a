// SPDX-License-Identifier: Apache-2.0
#include "agent/report/table.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace lldp::report {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;  ///< no column is cut below it
constexpr std::size_t kLong = 32;      ///< a cell that is longer may stand out of its column
constexpr std::size_t kFew = 4;        ///< if it is one of so many

/// Characters, not octets: names may hold UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string cut(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end)
    if (!continues_character(text[end]) && ++seen == width) break;
  return std::string(text.substr(0, end)) + "…";
}

/// As wide as its widest cell, those apart that are few and long: they shift their own row alone.
std::size_t column_width(const std::vector<std::vector<Cell>>& rows, std::size_t column) {
  std::size_t widest = 0;
  std::size_t usual = 0;
  std::size_t long_ones = 0;
  for (const auto& row : rows) {
    if (column >= row.size()) continue;
    const std::size_t width = width_of(row[column].text);
    widest = std::max(widest, width);
    if (width > kLong) {
      ++long_ones;
    } else {
      usual = std::max(usual, width);
    }
  }
  return long_ones * kFew <= rows.size() ? usual : widest;
}

}  // namespace

std::string paint(std::string_view text, Ink ink, const Style& style) {
  if (!style.colour || text.empty() || ink == Ink::kPlain) return std::string(text);
  const char* code = "";
  switch (ink) {
    case Ink::kPlain:
      break;
    case Ink::kBold:
      code = "1";
      break;
    case Ink::kGood:
      code = "32";
      break;
    case Ink::kWarn:
      code = "33";
      break;
    case Ink::kBad:
      code = "1;31";
      break;
    case Ink::kFaint:
      code = "2";
      break;
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

Table::Table(std::vector<Cell> heading) {
  for (Cell& cell : heading) cell.ink = Ink::kBold;
  rows_.push_back(std::move(heading));
}

std::string Table::text(const Style& style) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = column_width(rows_, i);
  auto spare = static_cast<std::size_t>(-1);  // in a row, for what is longer than its column
  if (style.width > 0) {
    std::size_t total = kGap * (widths.size() - 1);
    for (const std::size_t w : widths) total += w;
    spare = style.width - std::min(style.width, total);
    for (; total > style.width; --total) {
      const auto widest = std::max_element(widths.begin(), widths.end());
      if (*widest <= kNarrowest) break;
      --*widest;
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    std::size_t left = spare;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t over = width_of(row[i].text) - std::min(width_of(row[i].text), widths[i]);
      const std::string shown = cut(row[i].text, widths[i] + std::min(over, left));
      left -= std::min(over, left);
      const std::string fill(widths[i] - std::min(widths[i], width_of(shown)), ' ');
      if (row[i].right) line += fill;
      line += paint(shown, row[i].ink, style);
      if (!row[i].right) line += fill;
      line.append(i + 1 < row.size() ? kGap : 0, ' ');
    }
    out.append(line, 0, line.find_last_not_of(' ') + 1) += '\n';
  }
  return out;
}

}  // namespace lldp::report
