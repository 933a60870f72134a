// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/packets/plan.hpp"

namespace lldp::lab::packets {

/// Flows by a rule.
struct Traffic {
  std::string kind{};                ///< one of kTraffics
  std::uint64_t octets = 1'000'000;  ///< of every flow; not of poisson
  std::uint32_t senders = 8;         ///< of an incast
  std::string to{};                  ///< of an incast: the host; empty: the first
  std::uint32_t load_percent = 50;   ///< of poisson: of every host's link
  std::string sizes = "websearch";   ///< of poisson: one of kSizes
  Picoseconds start = 0;
  Picoseconds until = kMillisecond;  ///< of poisson: no flow starts later
  Transport transport = Transport::kGoBackN;
};

/// permutation: every host to one, no two to the same. all-to-all: every host to all others.
/// incast: some, drawn at random, to one. poisson: to hosts drawn at random, at times drawn at
/// random.
inline constexpr std::string_view kTraffics[] = {"permutation", "all-to-all", "incast", "poisson"};

/// Adds the flows to the plan; chance comes from the plan's seed. Every flow takes one of the ways
/// that are as good, by a hash. Errors name the member of `Traffic`.
[[nodiscard]] Result<void> add_traffic(Plan& plan, const Traffic& traffic);

}  // namespace lldp::lab::packets
