// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.hpp"

namespace lldp {

/// The opposite of to_hex(), either case; nullopt: something else stands there.
[[nodiscard]] std::optional<Bytes> from_hex(std::string_view text);

}  // namespace lldp
