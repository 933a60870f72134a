// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/spelling.hpp"

namespace lldp {

/// Names by patterns: `swp*,-swp48`.
struct NameSelection {
  std::vector<std::string> wanted{};    ///< globs; none: the caller has names of its own
  std::vector<std::string> unwanted{};  ///< globs; they go before those that are wanted

  [[nodiscard]] bool excludes(std::string_view name) const {
    return any_name_match(unwanted, name);
  }
  friend bool operator==(const NameSelection&, const NameSelection&) = default;
};

}  // namespace lldp
