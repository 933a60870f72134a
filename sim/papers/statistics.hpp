// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace lldp::lab {

/// 0 of nothing.
[[nodiscard]] inline double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The least value that `share` of them do not exceed; 0 of nothing. NaN if one of them is.
[[nodiscard]] inline double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto nan =
      std::find_if(values.begin(), values.end(), [](double v) { return std::isnan(v); });
  if (nan != values.end()) return *nan;
  const auto rank =
      static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + std::max<std::ptrdiff_t>(rank, 1) - 1;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace lldp::lab
