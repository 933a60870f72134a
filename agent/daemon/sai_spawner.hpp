// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "dataplane/sai/spawner.hpp"

namespace lldp::io {

/// Forks what starts the process with this libsai, with all that this process may do: vendors'
/// libraries want device files and shared memory. Call it while there is one thread.
/// `profile`: empty: none.
[[nodiscard]] Result<std::shared_ptr<dataplane::sai::Spawner>> fork_sai_spawner(
    const std::string& library, const std::string& profile);

}  // namespace lldp::io
