// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

/// What the manual says, for a screen.
namespace lldp::report {

/// What a page in mdoc(7) says of an item, `.It Sy NAME`, of its section ALARMS: as plain text in
/// lines of at most `columns`. nullopt: it has no such item.
[[nodiscard]] std::optional<std::string> manual_of_alarm(std::string_view page,
                                                         std::string_view name,
                                                         std::size_t columns = 80);

}  // namespace lldp::report
