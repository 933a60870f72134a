// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/options.hpp"

#include <fmt/format.h>

#include <sstream>
#include <system_error>

#include "base/text.hpp"
#include "lab/topology/files.hpp"

namespace lldp::lab {

std::optional<po::variables_map> parse(po::options_description options, std::string_view usage,
                                       const Arguments& arguments,
                                       std::vector<std::string>& words) {
  options.add_options()("help,h", "print this");
  po::options_description all;
  all.add(options).add_options()("words", po::value(&words));
  po::positional_options_description positional;
  positional.add("words", -1);
  po::variables_map values;
  po::store(po::command_line_parser(arguments).options(all).positional(positional).run(), values);
  po::notify(values);
  if (values.count("help") == 0) {
    for (const char* file : {"output", "csv"})
      if (values.count(file) != 0)
        if (const auto can = can_save(values[file].as<std::string>()); !can)
          throw std::system_error(can.error().code, std::generic_category(),
                                  values[file].as<std::string>());
    return values;
  }
  std::ostringstream text;
  text << options;
  fmt::print("usage: lldp-level-lab {}\n{}", usage, text.str());
  return std::nullopt;
}

std::string command_line(std::string_view command, const Arguments& arguments) {
  std::string text = fmt::format("lldp-level-lab {}", command);
  for (const std::string& a : arguments) text += " " + escape(a);
  return text;
}

std::optional<std::pair<std::size_t, std::size_t>> flow_counts(std::string_view text) {
  std::size_t x = 0;
  std::size_t y = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, x);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '+') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, y);
  if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
  return std::pair(x, y);
}

}  // namespace lldp::lab
