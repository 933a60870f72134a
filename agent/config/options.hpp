// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "agent/config/config.hpp"

/// Inside of the room: the one description of every option.
namespace lldp::config {

struct Number {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  void (*set)(Config&, std::uint32_t) = nullptr;
};
struct Choice {
  std::string_view names{};  ///< a|b|c
  void (*set)(Config&, std::size_t index) = nullptr;
};
struct Flag {
  void (*set)(Config&, bool) = nullptr;
};
/// Anything else. `set` returns what is wrong and what to do, or nothing.
struct Text {
  std::string_view values{};
  std::optional<std::string> (*set)(Config&, std::string_view) = nullptr;
};

struct Row {
  std::string_view name{};
  std::string_view argument{};
  std::string_view preset{};
  std::variant<Number, Choice, Flag, Text> kind{};
  std::string_view help{};
};

[[nodiscard]] std::span<const Row> rows();
[[nodiscard]] std::string values_of(const Row& row);
/// Sets one option from text; returns what is wrong and what to do, or nothing.
[[nodiscard]] std::optional<std::string> set(const Row& row, Config& config, std::string_view text);

}  // namespace lldp::config
