// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::lab::live {

/// Starts a program in the namespaces of the calling thread, in a session of its own, with no
/// signal blocked; what it says goes to the file `log`.
[[nodiscard]] Result<void> spawn(const std::vector<std::string>& words, const std::string& log);

/// What a program said last, by its log.
[[nodiscard]] std::string last_line(const std::string& log);

/// Processes by their node, held by pidfd.
using Processes = std::map<std::string, UniqueFd>;

/// All of the machine for whose command line `node_of` gives a node; empty: it is not one of ours.
[[nodiscard]] Processes find_processes(
    const std::function<std::string(const std::vector<std::string>& words)>& node_of);

/// SIGTERM, and SIGKILL for a process that has not ended 2 s later.
void end_processes(const Processes& processes);
/// SIGKILL, at once. Returns when they are gone.
void kill_processes(const Processes& processes);

}  // namespace lldp::lab::live
