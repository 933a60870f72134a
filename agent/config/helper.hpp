// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lldp::config {

/// The path of a program of ours that nobody calls by hand: beside the calling one in a build tree,
/// below libexec once installed.
[[nodiscard]] std::string helper_path(std::string_view name);

}  // namespace lldp::config
