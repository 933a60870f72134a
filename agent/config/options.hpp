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
/// A choice for each port: the key is `port.PORT.NAME`, where the row's name has `NAME` for PORT.
struct PortChoice {
  std::string_view names{};  ///< a|b|c
  void (*set)(Config&, std::string_view port, std::size_t index) = nullptr;
};
/// The same of anything else.
struct PortText {
  std::string_view values{};
  std::optional<std::string> (*set)(Config&, std::string_view port, std::string_view) = nullptr;
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
  std::variant<Number, Choice, Flag, PortChoice, PortText, Text> kind{};
  std::string_view help{};
  std::string_view field{};  ///< in rows of CONFIG_DB; empty: it is in files alone
};
[[nodiscard]] inline bool is_of_ports(const Row& row) {
  return std::holds_alternative<PortChoice>(row.kind) || std::holds_alternative<PortText>(row.kind);
}
[[nodiscard]] inline bool is_text(const Row& row) {
  return std::holds_alternative<Text>(row.kind) || std::holds_alternative<PortText>(row.kind);
}

[[nodiscard]] std::span<const Row> rows();
/// The row of a key as it is written; nullptr: there is none.
[[nodiscard]] const Row* find_row(std::string_view key);
/// The row of a field of CONFIG_DB, of the device or of a port; nullptr: there is none.
[[nodiscard]] const Row* find_field(std::string_view field, bool of_ports);
/// Its key for that port.
[[nodiscard]] std::string key_of(const Row& row, std::string_view port);
/// `key`, of that row, as settings() has it, however the name in it is spelled.
[[nodiscard]] std::string uniform(const Row& row, std::string_view key);
/// Whether a key begins with it and a dot.
[[nodiscard]] bool is_section(std::string_view name);
[[nodiscard]] std::string values_of(const Row& row);
/// Sets one option, written as `key`, from text; returns what is wrong and what to do, or nothing.
[[nodiscard]] std::optional<std::string> set(const Row& row, Config& config, std::string_view key,
                                             std::string_view text);

}  // namespace lldp::config
