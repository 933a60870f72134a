// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"

namespace lldp {

/// No configuration and no fabric that a switch stands in is longer.
inline constexpr std::size_t kMaxFileOctets = std::size_t{64} << 20;

/// A whole file, or what kept it from being read; `-` is standard input. A file that is longer than
/// `most` is refused.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t most = kMaxFileOctets);

}  // namespace lldp
