// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/collect/assemble.hpp"
#include "lab/collect/ssh.hpp"

namespace lldp::lab::collect {

/// Devices that told of themselves, and what could not be read.
struct DeviceFacts {
  std::vector<Device> devices{};
  std::vector<CollectedProblem> findings{};
};

/// Progress of a collection, for a display.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// Files, and all files of directories (not those below them, nor hidden ones), in the order of
/// their names. A file is one device; LEAF.rules.json (or .rules) beside LEAF.show.json, LEAF.json
/// or LEAF belongs to it. The device's name, where it does not tell one, is the file's without
/// extensions.
[[nodiscard]] DeviceFacts read_files(const std::vector<std::string>& paths,
                                     const Progress& progress = {});

/// What hosts print. `user@leaf1` is called leaf1 where it does not tell its name.
[[nodiscard]] DeviceFacts read_hosts(const std::vector<std::string>& hosts,
                                     const SshSettings& settings, const Progress& progress = {});

/// `leaf1,leaf2`, or @FILE with one host a line (# begins a comment). A name that ssh would take
/// for an option is refused.
[[nodiscard]] Result<std::vector<std::string>> hosts_from(const std::string& text);

}  // namespace lldp::lab::collect
