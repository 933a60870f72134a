// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/text.hpp"

namespace lldp::lab {

/// The words of a text file of others, one after the other, wherever its lines end. Errors name the
/// line.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// Empty: there are no more.
  std::string_view next() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  /// Whether another word stands on this line.
  [[nodiscard]] bool more_on_line() const {
    std::size_t at = at_;
    while (at < text_.size() && is_space(text_[at]) && text_[at] != '\n') ++at;
    return at < text_.size() && text_[at] != '\n';
  }
  [[nodiscard]] bool at_end() {
    skip();
    return at_ == text_.size();
  }
  /// A whole number; `what` names it in the error.
  Result<std::uint64_t> number(std::string_view what, std::uint64_t least, std::uint64_t most) {
    return number(next(), what, least, most);
  }
  [[nodiscard]] Result<std::uint64_t> number(std::string_view word, std::string_view what,
                                             std::uint64_t least, std::uint64_t most) const {
    std::uint64_t v = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), v);
    if (word.empty() || code != std::errc{} || end != word.data() + word.size() || v < least ||
        v > most)
      return refuse(shown(word) + ": " + std::string(what) + " is a whole number from " +
                    std::to_string(least) + " to " + std::to_string(most));
    return v;
  }
  /// A number that may have a fraction or an exponent, times `scale`, to the nearest whole one.
  Result<std::uint64_t> scaled(std::string_view what, double scale, double most) {
    return scaled(next(), what, scale, most);
  }
  Result<std::uint64_t> scaled(std::string_view word, std::string_view what, double scale,
                               double most) {
    double v = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), v);
    if (word.empty() || code != std::errc{} || end != word.data() + word.size() ||
        !(v >= 0 && v * scale <= most))
      return refuse(shown(word) + ": " + std::string(what) +
                    " is a number from 0, and not too large");
    return static_cast<std::uint64_t>(std::llround(v * scale));
  }
  [[nodiscard]] tl::unexpected<Error> refuse(const std::string& what) const {
    return fail(Error{0, "line " + std::to_string(line_), what});
  }
  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] static std::string shown(std::string_view word) {
    return word.empty() ? "the end of the file" : "`" + escape(word.substr(0, 40)) + "`";
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  void skip() {
    for (; at_ < text_.size() && is_space(text_[at_]); ++at_) line_ += text_[at_] == '\n' ? 1U : 0U;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace lldp::lab
