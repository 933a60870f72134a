// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "agent/control/connection.hpp"

namespace lldp::control {

/// The daemon that a program beside it asks: at a path, where daemons come and go, or for "-" the
/// one at the other end of standard input, whose end is the program's.
class DaemonSource {
 public:
  explicit DaemonSource(std::string path);
  [[nodiscard]] bool given() const { return given_.has_value(); }
  /// Of the one given, which tells of something: whether it is still there.
  [[nodiscard]] bool stays() { return given_->stays(); }

  /// The answers to methods that take no parameters, one after the other, all within `patience`.
  template <std::size_t N>
  [[nodiscard]] Result<std::array<std::string, N>> ask(const char* const (&methods)[N],
                                                       std::chrono::milliseconds patience) {
    std::array<std::string, N> answers;
    if (const auto asked = ask(methods, answers, patience); !asked) return fail(asked.error());
    return answers;
  }

  /// What is to be said of what came of asking: why it failed, when that begins or changes and not
  /// every time; else nothing.
  template <class T>
  [[nodiscard]] std::optional<std::string> news(const Result<T>& outcome) {
    std::string wrong = outcome ? std::string() : to_string(outcome.error());
    if (wrong == std::exchange(said_, wrong) || wrong.empty()) return std::nullopt;
    return wrong;
  }

 private:
  [[nodiscard]] Result<void> ask(std::span<const char* const> methods,
                                 std::span<std::string> answers,
                                 std::chrono::milliseconds patience);

  std::string path_;
  std::optional<Connection> given_{};
  std::string said_{};
};

}  // namespace lldp::control
