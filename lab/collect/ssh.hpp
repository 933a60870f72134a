// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace lldp::lab::collect {

struct SshSettings {
  std::string command{};  ///< on the far machine
  std::chrono::duration<double> timeout{15};
  std::size_t at_once = 32;
};

/// What the command prints on each host, in the order of the hosts; or why there is nothing, with
/// its standard error. `ssh` is the one in PATH; it never asks for a password. `progress` is called
/// with the number of hosts that have answered.
[[nodiscard]] std::vector<Result<std::string>> ask_by_ssh(
    const std::vector<std::string>& hosts, const SshSettings& settings,
    const std::function<void(std::size_t)>& progress = {});

}  // namespace lldp::lab::collect
