// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/topology/builder.hpp"

namespace lldp::lab {

/// A flat fabric of ToR switches `tor1`, `tor2`, ..., each with hosts. Everything that is wired at
/// random comes from the seed. No two links join the same pair of switches.
struct ExpanderShape {
  std::size_t switches = 0;  ///< N
  std::size_t ports = 18;    ///< s: to other switches, per switch; even
  std::size_t hosts_per_switch = 1;
  std::uint64_t seed = 1;
  LinkQuality quality{};
};

/// FC+ ("FC+: Near-optimal Deadlock-free Expander Data Center Networks"): every switch is split
/// into v virtual ones on k = (s - 2) / 2 + 2 layers, N links between any two layers. The first
/// has one port, on layer 1, the last one, on layer k, the others (s - 2) / (v - 2) each, half up,
/// half down, on one of the layers of their group. Links carry layers 1 to k at both ends.
struct FcPlus {
  std::size_t virtual_switches = 0;  ///< v
  std::size_t layers = 0;            ///< k
  std::size_t group_layers = 0;      ///< N_gl, layers of a group
};
/// The paper's choice (Eq. 4, 5): the smallest v >= 2 + (s - 2) / 10 for which N_gl is whole; or
/// what follows from `v`. Refuses with the values of v, s or N that are nearest.
[[nodiscard]] Result<FcPlus> fcplus_parameters(const ExpanderShape& shape,
                                               std::optional<std::size_t> v = {});
[[nodiscard]] Result<Fabric> fcplus(const ExpanderShape& shape, std::optional<std::size_t> v = {});

/// FC (Flattened Clos, NSDI 2023): v = k; every switch has a virtual switch on each layer, and
/// `degrees[l]` links from that of layer l + 1 up to layer l + 2.
/// Degrees of k layers: s / 2 spread evenly, more above. Without `k`: the smallest from 4 that
/// leaves less than one pair of switches without an up-down path, as expected by
/// expected_updown_paths().
[[nodiscard]] Result<std::vector<std::size_t>> fc_degrees(const ExpanderShape& shape,
                                                          std::optional<std::size_t> k = {});
[[nodiscard]] Result<Fabric> fc(const ExpanderShape& shape,
                                const std::vector<std::size_t>& degrees);
/// Up-down paths of a pair of N switches by counting: what random wiring comes close to.
[[nodiscard]] double expected_updown_paths(std::size_t switches,
                                           const std::vector<std::size_t>& degrees);

/// Jellyfish (NSDI 2012): a random regular graph, without layers.
[[nodiscard]] Result<Fabric> jellyfish(const ExpanderShape& shape);

}  // namespace lldp::lab
