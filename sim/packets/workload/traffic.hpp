// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sim/packets/plan.hpp"

namespace lldp::lab::packets {

/// Flows by a rule.
struct Traffic {
  std::string kind{};                ///< one of kTraffics
  std::uint64_t octets = 1'000'000;  ///< of every flow; of moe: of a host's tokens; not of poisson
  std::uint32_t senders = 8;         ///< of an incast
  std::string to{};  ///< of an incast or parameter server: the host; empty: the first
  std::uint32_t load_percent = 50;  ///< of poisson: of every host's link
  std::string sizes = "websearch";  ///< of poisson: one of kSizes
  Picoseconds start = 0;
  Picoseconds until = kMillisecond;  ///< of poisson: no flow starts later
  std::uint32_t experts = 4;         ///< of moe: hosts that have one, drawn at random
  std::uint32_t top_k = 2;           ///< of moe: experts that each token goes to
  std::uint32_t skew = 1;            ///< of moe: the n-th expert is drawn in proportion to n^-skew
  HostTransport transport = HostTransport::kGoBackN;
};

/// permutation: every host to one, no two to the same. all-to-all: every host to all others.
/// incast: some, drawn at random, to one. poisson: to hosts drawn at random, at times drawn at
/// random. parameter-server: every host to one, which sends as much to each when it has all.
/// moe: tokens of every host to the experts that they are for, each of which sends them back when
/// it has all of its own.
inline constexpr std::string_view kTraffics[] = {"permutation", "all-to-all",       "incast",
                                                 "poisson",     "parameter-server", "moe"};

/// Adds the flows to the plan; chance comes from the plan's seed. Every flow takes one of the ways
/// that are as good, by a hash. Errors name the member of `Traffic`.
[[nodiscard]] Result<void> add_traffic(Plan& plan, const Traffic& traffic);

}  // namespace lldp::lab::packets
