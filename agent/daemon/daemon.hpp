// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/config/config.hpp"
#include "base/result.hpp"

namespace lldp::io {

/// The daemon: brings frames, link events, the time and control requests to the core, and carries
/// out what it asks for. Returns after SIGTERM or SIGINT, when every port has been sent a shutdown
/// frame, or with what kept it from starting. `invocation` is what a reload (SIGHUP) goes by.
[[nodiscard]] Result<void> run_daemon(const config::Invocation& invocation, config::Config config);

}  // namespace lldp::io
