// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "lab/agents/network.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab::agents {

/// The fabric's devices and cables, nothing started: node n is node n, cable l is link l. Switches
/// of a layered expander are told their ports' layers, as a configuration would tell them. `adjust`
/// may change the settings that all hosts share, and those of all switches.
[[nodiscard]] Network network_of(const Fabric& fabric, std::uint64_t seed,
                                 const std::function<void(core::Settings&)>& adjust = {});

}  // namespace lldp::lab::agents
