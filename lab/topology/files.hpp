// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// Reads a fabric file, JSON, DOT or HPCC's topology.txt by its content; `-` is standard input.
/// Errors name the file.
[[nodiscard]] Result<Fabric> load_fabric(const std::string& path);

/// Writes a whole file, or nothing of it; an empty path or `-` is standard output. Symbolic links
/// are followed; what is no file (a device, a pipe) is written to as it is.
/// can_save(): whether it could now, before hours go into what is to be written.
[[nodiscard]] Result<void> can_save(const std::string& path);
[[nodiscard]] Result<void> save_text(const std::string& path, std::string_view text);

}  // namespace lldp::lab
