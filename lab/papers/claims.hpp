// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lldp::lab {

/// Of what is taken for a match.
inline constexpr double kNoLimit = std::numeric_limits<double>::max();

/// What a paper says of how its scheme behaves, and what we find; not a cell of a table.
struct Claim {
  std::string place{};     ///< `V, Figure 5`
  std::string scenario{};  ///< what was run
  std::string metric{};
  double ours = 0;
  std::optional<double> published{};
  double least = 0;  ///< what is taken for a match
  double most = 0;   ///< kNoLimit: whatever is not less

  [[nodiscard]] const char* verdict() const;  ///< match, off or unpublished
};

/// A metric's name, for a person.
[[nodiscard]] std::string readable(std::string metric);

struct ClaimOptions {
  bool quick = false;
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  std::size_t sets = 0;         ///< of links that fail (dot1); 0: as many as fit
  std::optional<int> figure{};  ///< only what is in this one; not all papers' claims are in figures
};
/// Calls `found` with each as soon as it is known; `tell` hears how far it is, from 0 to 1.
using FindClaims = void (*)(const ClaimOptions& options,
                            const std::function<void(const Claim&)>& found,
                            const std::function<void(double)>& tell);

/// What "ITSY: Initial Trigger-Based PFC Deadlock Detection in the Data Plane" (Wu and Ng) says.
void reproduce_itsy(const ClaimOptions& options, const std::function<void(const Claim&)>& found,
                    const std::function<void(double)>& tell);

/// What "Revisiting Flow Control in Node-Centric Datacenter Networks" (Cao et al.) says of PortFC.
void reproduce_portfc(const ClaimOptions& options, const std::function<void(const Claim&)>& found,
                      const std::function<void(double)>& tell);
/// The figures of that paper which can be asked for.
inline constexpr int kPortFcFigures[] = {4, 5, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19};

/// What "PFC Deadlock Free in Data Center Network" (Yu, IEEE 802.1, September 2019) says: changing
/// the priority on the turn, beside recovery by a watchdog and nothing at all.
void reproduce_dot1(const ClaimOptions& options, const std::function<void(const Claim&)>& found,
                    const std::function<void(double)>& tell);

[[nodiscard]] std::string to_json_line(const Claim& claim);
[[nodiscard]] std::string to_text_line(const Claim& claim);
[[nodiscard]] std::string to_csv(const std::vector<Claim>& claims);
/// One page: a table.
[[nodiscard]] std::string to_html(const std::vector<Claim>& claims, const std::string& paper,
                                  const std::string& command);

}  // namespace lldp::lab
