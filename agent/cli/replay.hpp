// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>

#include "agent/core/settings.hpp"
#include "base/result.hpp"

namespace lldp::cli {

/// `replay FILE --port P`: runs the agent's core, no daemon, on the capture's own times, as if port
/// P of a device without other ports had received its LLDP frames. Prints what changed and when,
/// then `show` as of the last frame, as JSON or for a person.
[[nodiscard]] Result<void> replay_capture(const std::string& file, const std::string& port,
                                          bool json, core::Settings settings, std::ostream& out);

}  // namespace lldp::cli
