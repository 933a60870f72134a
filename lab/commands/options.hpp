// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/commands/command.hpp"

namespace lldp::lab {

namespace po = boost::program_options;

/// The value of an option that is a number, from `least` to `most`. Everything else is refused: the
/// library's own takes -1 for an unsigned number, and wraps it, and nan for a number.
template <class T>
class NumberOption : public po::typed_value<T> {
 public:
  NumberOption(T* into, T least, T most) : po::typed_value<T>(into), least_(least), most_(most) {}

 private:
  void xparse(boost::any& store, const std::vector<std::string>& words) const override {
    if (!store.empty()) throw po::multiple_occurrences();
    const std::string& text = words.empty() ? std::string() : words.front();
    T value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (words.size() != 1 || code != std::errc{} || end != text.data() + text.size() ||
        !(value >= least_ && value <= most_))
      throw po::error_with_option_name("%canonical_option%: give " +
                                       wanted(code == std::errc::result_out_of_range));
    store = value;
  }
  [[nodiscard]] std::string wanted(bool too_large) const {
    return most_ == std::numeric_limits<T>::max() && !too_large
               ? fmt::format("a number, {} or more", least_)
               : fmt::format("a number from {} to {}", least_, most_);
  }

  T least_{};
  T most_{};
};

/// For `add_options()`, as po::value() is.
template <class T>
[[nodiscard]] po::typed_value<T>* number(T* into, T least, T most = std::numeric_limits<T>::max()) {
  return new NumberOption<T>(into, least, most);  // which owns it, as it does po::value()'s
}
template <class T>
[[nodiscard]] po::typed_value<T>* number(T least, T most = std::numeric_limits<T>::max()) {
  return number<T>(nullptr, least, most);
}

/// Parses a subcommand's arguments by `options`, to which it adds --help; words that belong to no
/// option go to `words`. Nullopt: help was asked for and printed. Throws po::error.
[[nodiscard]] std::optional<po::variables_map> parse(po::options_description options,
                                                     std::string_view usage,
                                                     const Arguments& arguments,
                                                     std::vector<std::string>& words);

/// What was typed, for a report to say.
[[nodiscard]] std::string command_line(std::string_view command, const Arguments& arguments);

/// `X+Y`: how many flows of each of a case's two directions.
[[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> flow_counts(std::string_view text);

}  // namespace lldp::lab
