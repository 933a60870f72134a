// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/config/config.hpp"
#include "base/result.hpp"

namespace lldp::io {

/// Takes off every port of this network namespace what a daemon with this configuration has left
/// there; nothing else is touched, and nothing to remove is no error. A port that cannot be cleared
/// does not keep the others from it; the error names the first. What another back end than the
/// configured one has left, as far as it can be found, is an error that says how it goes; so is a
/// daemon that runs here, for it puts them back.
[[nodiscard]] Result<void> remove_rules(const config::Config& config);

}  // namespace lldp::io
