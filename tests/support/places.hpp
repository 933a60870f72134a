// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lldp::support {

/// Where this tree and its build stand. One file is compiled with their names and no other, so the
/// compiler's cache serves every checkout of the tree.
[[nodiscard]] std::string source_dir();
/// The path of a program that was built here.
[[nodiscard]] std::string program(std::string_view name);

}  // namespace lldp::support
