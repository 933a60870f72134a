// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lldp::config {

/// Where to listen for HTTP, in full: `PORT` and `:PORT` are on loopback, an IPv6 address stands in
/// brackets. Names are not looked up. 127.0.0.1:9888
[[nodiscard]] Result<std::string> parse_listen(std::string_view text);

}  // namespace lldp::config
