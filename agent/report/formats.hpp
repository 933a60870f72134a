// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

/// The answer to Show or Detail for other programs than those that read JSON.
namespace lldp::report {

/// A line for each value, `ports.swp1.neighbors.0.level=2`: ports by name, lists by number, null
/// as nothing. A value holds no line break, as whatever came over the wire is escaped.
[[nodiscard]] Result<std::string> keyvalue(std::string_view json);
/// RFC 4180: a heading, and a row for each neighbor of each port, or for the port alone. What a
/// spreadsheet would take for a formula gets an apostrophe in front.
[[nodiscard]] Result<std::string> csv(std::string_view json);

}  // namespace lldp::report
