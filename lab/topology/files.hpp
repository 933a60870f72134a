// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// Is told what a reader left out or filled in, one line each.
using NoteSink = std::function<void(const std::string& note)>;
void print_note(const std::string& note);  ///< on standard error

/// Reads a fabric file, JSON, DOT or HPCC's topology.txt by its content; `-` is standard input.
/// Errors and notes name the file.
[[nodiscard]] Result<Fabric> load_fabric(const std::string& path,
                                         const NoteSink& tell = print_note);

/// Writes a whole file, or nothing of it; an empty path or `-` is standard output. Symbolic links
/// are followed; what is no file (a device, a pipe) is written to as it is.
/// can_save(): whether it could now, before hours go into what is to be written.
[[nodiscard]] Result<void> can_save(const std::string& path);
[[nodiscard]] Result<void> save_text(const std::string& path, std::string_view text);

}  // namespace lldp::lab
