// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/report/text.hpp"

namespace lldp::report {

enum class Ink : std::uint8_t { kPlain, kBold, kGood, kWarn, kBad, kFaint };

[[nodiscard]] std::string paint(std::string_view text, Ink ink, const Style& style);

struct Cell {
  std::string text{};
  Ink ink = Ink::kPlain;
  bool right = false;  ///< numbers
  /// Of a heading: characters that the column keeps where it is cut to fit the screen.
  std::size_t least = 8;
};

/// The port of a row: by its first letters alone two ports look alike.
inline Cell port_heading() {
  constexpr std::size_t kInterfaceName = 15;
  return {.text = "PORT", .least = kInterfaceName};
}

/// Columns as wide as their widest cell, two blanks between; but a few cells of unusual length
/// shift the rest of their own row and no other. The first row is the heading.
class Table {
 public:
  /// Of a text that is all of use: it goes on in lines below instead of being cut.
  enum class LastColumn : std::uint8_t { kAsOthers, kWrapped };
  explicit Table(std::vector<Cell> heading, LastColumn last = LastColumn::kAsOthers);
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text(const Style& style) const;

 private:
  /// Rows whose last cells are at most `width` wide, with more rows below for the rest.
  [[nodiscard]] static std::vector<std::vector<Cell>> wrapped(
      const std::vector<std::vector<Cell>>& rows, std::size_t width);

  std::vector<std::vector<Cell>> rows_;
  LastColumn last_;
};

}  // namespace lldp::report
