// SPDX-License-Identifier: Apache-2.0
#include "agent/report/table.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace lldp::report {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;  ///< a last column that is wrapped is no narrower
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

Table::Table(std::vector<Cell> heading, LastColumn last) : last_(last) {
  for (Cell& cell : heading) cell.ink = Ink::kBold;
  rows_.push_back(std::move(heading));
}

std::vector<std::vector<Cell>> Table::wrapped(const std::vector<std::vector<Cell>>& rows,
                                              std::size_t width) {
  std::vector<std::vector<Cell>> out;
  for (const auto& row : rows) {
    out.push_back(row);
    if (row.size() != rows.front().size()) continue;
    std::string_view rest = row.back().text;
    while (width_of(rest) > width) {
      std::size_t end = 0;  // of what fits, at the last blank
      for (std::size_t at = rest.find(' ');
           at != rest.npos && width_of(rest.substr(0, at)) <= width; at = rest.find(' ', at + 1))
        end = at;
      if (end == 0) break;
      out.back().back().text = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      out.emplace_back(row.size() - 1);
      out.back().push_back({std::string(rest), row.back().ink});
    }
  }
  return out;
}

std::string Table::text(const Style& style) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = column_width(rows_, i);
  std::vector<std::vector<Cell>> rows = rows_;
  if (style.width > 0 && last_ == LastColumn::kWrapped) {
    std::size_t others = kGap * (widths.size() - 1);
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) others += widths[i];
    widths.back() = std::max(kNarrowest, style.width - std::min<std::size_t>(style.width, others));
    rows = wrapped(rows_, widths.back());
    for (const auto& row : rows)  // a word that is longer than that stands out
      widths.back() = std::max(
          widths.back(), row.size() == widths.size() ? width_of(row.back().text) : std::size_t{0});
  }
  auto spare = static_cast<std::size_t>(-1);  // in a row, for what is longer than its column
  if (style.width > 0) {
    std::size_t total = kGap * (widths.size() - 1);
    for (const std::size_t w : widths) total += w;
    spare = style.width - std::min(style.width, total);
    const std::size_t end = widths.size() - (last_ == LastColumn::kWrapped ? 1 : 0);
    for (; total > style.width; --total) {
      std::size_t* widest = nullptr;
      for (std::size_t i = 0; i < end; ++i)
        if (widths[i] > rows_.front()[i].least && (widest == nullptr || widths[i] > *widest))
          widest = &widths[i];
      if (widest == nullptr) break;
      --*widest;
    }
  }
  std::string out;
  for (const auto& row : rows) {
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
