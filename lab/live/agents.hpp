// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/live/place.hpp"

namespace lldp::lab::live {

/// `lldp-leveld` beside this program, else the one in PATH.
[[nodiscard]] std::string default_agent();

/// This program itself.
[[nodiscard]] std::string own_program();

/// Starts an agent in the namespace of every node that has none running: own control socket, state
/// file and log, its node's name as system name, its role and its ports' layers as the fabric has
/// them; in `arguments` its name stands for `{node}`. Returns how many were started.
[[nodiscard]] Result<std::size_t> start_agents(const FabricPlace& place, const Fabric& fabric,
                                               const std::vector<std::string>& nodes,
                                               const std::string& agent,
                                               const std::vector<std::string>& arguments);

/// Stops the agents of these nodes, and only those: they are known by the socket and state file on
/// their command line, so that none is missed if their starter died. SIGKILL for an agent that has
/// not ended 2 s after SIGTERM.
void stop_agents(const FabricPlace& place, const std::vector<std::string>& nodes);

/// SIGKILL, at once. Returns when they are gone.
void kill_agents(const FabricPlace& place, const std::vector<std::string>& nodes);

}  // namespace lldp::lab::live
