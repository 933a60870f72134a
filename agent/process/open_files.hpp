// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

#include "base/result.hpp"

namespace lldp::io {

/// What the daemon opens, whatever the number of its ports is, and some clients.
inline constexpr rlim_t kLeastOpenFiles = 64;
/// The usual limit of a process.
inline constexpr rlim_t kUsualOpenFiles = 1024;

/// The limit of open files for a process that has `now`: the same if that is enough, else as much
/// as it may set itself. An error: that is too little.
[[nodiscard]] Result<rlimit> open_files_for(rlimit now);

/// Sets it. Before anything is opened: a file that is missing later may be any, and its error names
/// that one.
[[nodiscard]] Result<void> make_room_for_open_files();

}  // namespace lldp::io
