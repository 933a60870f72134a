// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lldp {

/// Of UTF-8: it belongs to the character that an octet before it begins.
[[nodiscard]] constexpr bool continues_character(char octet) {
  return (static_cast<unsigned char>(octet) & 0xc0U) == 0x80;
}

}  // namespace lldp
