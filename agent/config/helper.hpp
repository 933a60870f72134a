// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lldp::config {

/// The path of an internal program of ours: beside the calling one in a build tree, below libexec
/// once installed.
[[nodiscard]] std::string helper_path(std::string_view name);

}  // namespace lldp::config
