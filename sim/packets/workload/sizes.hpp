// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lab/des/random.hpp"

namespace lldp::lab::packets {

/// How large flows are: so many of 10,000 are at most so large, evenly between two points.
struct SizePoint {
  std::uint64_t octets = 0;
  std::uint32_t of_10000 = 0;
};

/// The distributions that are used with HPCC (Li et al., SIGCOMM 2019): of a web search (after
/// Alizadeh et al., "Data Center TCP", SIGCOMM 2010), a Hadoop cluster (after Roy et al.,
/// "Inside the Social Network's (Datacenter) Network", SIGCOMM 2015) and a storage cluster.
inline constexpr std::string_view kSizes[] = {"websearch", "hadoop", "storage"};
/// Empty for a name that is none of kSizes.
[[nodiscard]] std::span<const SizePoint> sizes_named(std::string_view name);

[[nodiscard]] std::uint64_t mean_of(std::span<const SizePoint> sizes);
/// At least one octet.
[[nodiscard]] std::uint64_t draw(std::span<const SizePoint> sizes, Random& random);

/// Of the exponential distribution, with this mean: by comparisons of whole numbers alone (von
/// Neumann 1951), and so the same on every machine.
[[nodiscard]] std::uint64_t draw_exponential(std::uint64_t mean, Random& random);

}  // namespace lldp::lab::packets
