// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace lldp::report {

/// Which ports and neighbors are to be shown: all that is asked for must hold.
class ShowFilter {
 public:
  /// `KEY=VALUE,...`; a value is a glob, and `-` what is not known.
  [[nodiscard]] static Result<ShowFilter> parse(std::string_view text);
  /// The answer to Show or Detail without what does not match; a port of which no neighbor does
  /// is left out where neighbors are asked for.
  [[nodiscard]] Result<std::string> apply(std::string_view json) const;

 private:
  std::vector<std::pair<std::string, std::string>> port_{};      ///< member, glob
  std::vector<std::pair<std::string, std::string>> neighbor_{};  ///< member, glob
};

}  // namespace lldp::report
