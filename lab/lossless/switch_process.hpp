// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "lab/lossless/switch_file.hpp"

namespace lldp::lab::lossless {

/// Is the switch of the network namespace it is called in, until SIGTERM or SIGINT: takes its
/// ports by packet sockets, and answers whoever connects to its socket
/// (dataplane/soft/messages.hpp). Refuses to where the kernel forwards too.
[[nodiscard]] Result<void> run_switch(const SwitchFile& file);

}  // namespace lldp::lab::lossless
