// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.hpp"

/// What TLVs hold, as it is shown and compared.
namespace lldp::tlv {

/// Without the NULs that some agents end a string with. For texts only: in an identifier every
/// octet counts.
[[nodiscard]] constexpr std::string_view without_padding(std::string_view text) {
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  return text;
}

/// A text, escaped.
[[nodiscard]] std::string show_text(std::string_view text);

/// An object identifier, which is its BER contents (X.690 8.19) with or without their tag and
/// length, as `1.3.6.1.2.1.31`; in hexadecimal what is none.
[[nodiscard]] std::string object_identifier_to_string(ByteSpan octets);

}  // namespace lldp::tlv
