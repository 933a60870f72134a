// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/collect/device.hpp"

namespace lldp::lab::collect {

/// What a device printed, at once or by pieces.
struct Printed {
  std::string where{};  ///< the file; empty: nothing to be said of it
  std::string text{};
  bool rules = false;  ///< it is called the rules, and is nothing without any
};

/// What one device printed, in whatever order and one after the other:
/// - `lldp-level show --json`, and `lldp-level rules --json` beside it;
/// - `lldpcli show neighbors`, and `show chassis` and `show interfaces` beside it, with `-f json`
/// or
///   `-f json0`;
/// - SONiC's APPL_DB as `sonic-db-dump -n APPL_DB -y` has it, or its `show lldp table`.
/// `source` names the device where it does not do so itself. Errors say what is wrong with the
/// text, after where it stands, without the source.
[[nodiscard]] Result<Device> read_device(const std::vector<Printed>& texts,
                                         const std::string& source);
[[nodiscard]] Result<Device> read_device(std::string_view text, const std::string& source);

}  // namespace lldp::lab::collect
