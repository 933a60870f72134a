// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/commands/command.hpp"

namespace lldp::lab {

namespace po = boost::program_options;

/// Parses a subcommand's arguments by `options`, to which it adds --help; words that belong to no
/// option go to `words`. Nullopt: help was asked for and printed. Throws po::error.
[[nodiscard]] std::optional<po::variables_map> parse(po::options_description options,
                                                     std::string_view usage,
                                                     const Arguments& arguments,
                                                     std::vector<std::string>& words);

}  // namespace lldp::lab
