// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/live/place.hpp"

namespace lldp::lab::live {

/// Starts `PROGRAM switch FILE` in the namespace of each node for which there is a file's text, and
/// none is running; the kernel forwards there no more.
[[nodiscard]] Result<void> start_switches(const Place& place,
                                          const std::map<std::string, std::string>& files,
                                          const std::string& program);

/// Stops the switches of these nodes, and only those; known by the file on their command line.
void stop_switches(const Place& place, const std::vector<std::string>& nodes);

}  // namespace lldp::lab::live
