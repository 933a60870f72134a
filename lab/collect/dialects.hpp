// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "lab/collect/device.hpp"
#include "lab/collect/json_text.hpp"

/// What read_device() tells apart. Each adds to the device what one text says.
namespace lldp::lab::collect {

[[nodiscard]] inline auto refuse(std::string where, std::string what) {
  return fail(Error{0, std::move(where), std::move(what)});
}

/// `lldp-level show --json`
[[nodiscard]] Result<void> add_show(const Json& show, Device& device);
/// `lldp-level rules --json`, after show
[[nodiscard]] Result<void> add_rules(const Json& rules, Device& device);

/// Any answer of lldpcli, json or json0.
[[nodiscard]] bool is_lldpcli(const Json& answer);
[[nodiscard]] Result<void> add_lldpcli(const Json& answer, Device& device);

/// A dump of APPL_DB.
[[nodiscard]] bool is_sonic_database(const Json& dump);
[[nodiscard]] Result<void> add_sonic_database(const Json& dump, Device& device);
/// `show lldp table`
[[nodiscard]] bool is_sonic_table(std::string_view text);
[[nodiscard]] Result<void> add_sonic_table(std::string_view text, Device& device);

}  // namespace lldp::lab::collect
