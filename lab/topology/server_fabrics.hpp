// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "lab/topology/builder.hpp"

namespace lldp::lab {

/// NDC(n, k), a BCube (SIGCOMM 2009): n^(k+1) servers of k + 1 ports, named after their k + 1
/// digits, and on each of k + 1 layers n^k switches of n ports, which join the servers that differ
/// in that digit alone. Servers relay. n from 2 to 36, k from 1.
[[nodiscard]] Result<Fabric> ndc(std::size_t n, std::size_t k, const LinkQuality& quality = {});

/// `domains` servers of `rails` accelerators each (nodes `gpu1-1`, ...): a switch inside each, and
/// one per rail that joins the accelerators of equal rank of all servers. Nothing above:
/// accelerators relay. `inside_bps`: rate inside a server.
struct RailShape {
  std::size_t domains = 4;
  std::size_t rails = 8;
  std::size_t spines = 0;  ///< more than 0: rail-optimized, every rail switch to each; none relays
  std::uint64_t inside_bps = 160'000'000'000;
  LinkQuality quality{};
};
[[nodiscard]] Result<Fabric> rails(const RailShape& shape);

/// The Clos that a flat fabric of N switches of 32 ports is compared with (FC, appendix A.3): h
/// hosts and 32 - h uplinks per ToR, pods of 16 ToRs and 32 - h aggregation switches, half as many
/// cores in all as there are of those. h is chosen so that the number of switches is nearest N.
struct ClosLike {
  std::size_t hosts_per_tor = 0;
  std::size_t tors = 0;
  std::size_t pods = 0;
  std::size_t aggs = 0;
  std::size_t cores = 0;
  [[nodiscard]] std::size_t switches() const { return tors + aggs + cores; }
};
[[nodiscard]] Result<ClosLike> clos_like_parameters(std::size_t switches, std::size_t hosts);
[[nodiscard]] Result<Fabric> clos_like(std::size_t switches, std::size_t hosts,
                                       const LinkQuality& quality = {});

}  // namespace lldp::lab
