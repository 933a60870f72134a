// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lldp::lab {

/// What a paper says of how its scheme behaves, and what we find; not a cell of a table.
struct Claim {
  std::string place{};     ///< `V, Figure 5`
  std::string scenario{};  ///< what was run
  std::string metric{};
  double ours = 0;
  std::optional<double> published{};
  double least = 0;  ///< what is taken for a match
  double most = 0;

  [[nodiscard]] const char* verdict() const;  ///< match, off or unpublished
};

struct ClaimOptions {
  bool quick = false;
  std::uint64_t seed = 1;
};
/// Calls `found` with each as soon as it is known; `tell` hears how far it is, from 0 to 1.
using FindClaims = void (*)(const ClaimOptions& options,
                            const std::function<void(const Claim&)>& found,
                            const std::function<void(double)>& tell);

/// What "ITSY: Initial Trigger-Based PFC Deadlock Detection in the Data Plane" (Wu and Ng) says.
void reproduce_itsy(const ClaimOptions& options, const std::function<void(const Claim&)>& found,
                    const std::function<void(double)>& tell);

[[nodiscard]] std::string to_json_line(const Claim& claim);
[[nodiscard]] std::string to_text_line(const Claim& claim);
[[nodiscard]] std::string to_csv(const std::vector<Claim>& claims);
/// One page: a table.
[[nodiscard]] std::string to_html(const std::vector<Claim>& claims, const std::string& paper,
                                  const std::string& command);

}  // namespace lldp::lab
