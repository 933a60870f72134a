// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lldp {

/// Of UTF-8: it belongs to the character that an octet before it begins.
[[nodiscard]] constexpr bool continues_character(char octet) {
  return (static_cast<unsigned char>(octet) & 0xc0U) == 0x80;
}

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  ///< octets; 0: not valid UTF-8
};

/// The first code point of a text that is not empty; shortest form only, no surrogates (RFC 3629
/// section 4).
[[nodiscard]] CodePoint first_code_point(std::string_view text);

/// True of code points that would move the cursor, end the line, reorder the text around them, or
/// show nothing, so that two names look alike.
[[nodiscard]] bool is_unsafe_to_show(std::uint32_t code_point);

}  // namespace lldp
