// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "sim/lossless/switch_file.hpp"

namespace lldp::lab::lossless {

/// Runs as the switch of the present network namespace until SIGTERM or SIGINT: takes its ports by
/// packet sockets, and answers clients on its socket (dataplane/soft/messages.hpp). Refuses where
/// the kernel forwards too.
[[nodiscard]] Result<void> run_switch(const SwitchFile& file);

}  // namespace lldp::lab::lossless
