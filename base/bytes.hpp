// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lldp {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;
using MacAddress = std::array<std::uint8_t, 6>;

/// The same octets, seen as text; borrows.
inline std::string_view as_text(ByteSpan octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}
/// The same text, seen as octets; borrows.
inline ByteSpan as_octets(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace lldp
