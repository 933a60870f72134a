// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "agent/core/settings.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace lldp::cli {

/// `replay FILE --port P`: runs the agent's core, no daemon, on the capture's own times, as if port
/// P of a device without other ports had received its LLDP frames, those apart that it sent from
/// address `own` itself. Prints what changed and when, then `show` as of the last frame, as JSON
/// or for a person. Returns what else is to be said of the capture, a line each: frames that are
/// not whole, or that the daemon would have ignored.
[[nodiscard]] Result<std::vector<std::string>> replay_capture(const std::string& file,
                                                              const std::string& port,
                                                              const std::optional<MacAddress>& own,
                                                              bool json, core::Settings settings,
                                                              std::ostream& out);

}  // namespace lldp::cli
