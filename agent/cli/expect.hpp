// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/report/text.hpp"
#include "base/result.hpp"
#include "cabling/expect.hpp"

namespace lldp::cli {

/// How the cables of a device are, by name of the port.
struct Cabling {
  std::string device{};  ///< as the drawing calls it
  std::vector<cabling::Finding> ports{};
  [[nodiscard]] bool as_expected() const;
};

/// Holds what a daemon answers to `show` against a drawing. `as`: the device's name in the drawing;
/// empty: its system name, else its chassis ID.
[[nodiscard]] Result<Cabling> check_cabling(const cabling::Drawing& drawing, std::string_view show,
                                            std::string_view as);

/// A row for each port, a count of those that are not as expected, and a line for each two that are
/// to be exchanged.
[[nodiscard]] std::string cabling_text(const Cabling& cabling, const report::Style& style);
/// `{"version": 1, "device": ..., "as_expected": false, "ports": [{"name": ..., "verdict":
/// "as-expected|wrong|swapped|missing|unplanned", "expected": "spine1:swp1" or null, "exchange":
/// "swp3" where swapped, "heard": [...]}]}`
[[nodiscard]] std::string cabling_json(const Cabling& cabling);

}  // namespace lldp::cli
