// SPDX-License-Identifier: Apache-2.0
#include "tlv/text.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace lldp::tlv {

std::string show_text(std::string_view text) { return escape(without_padding(text)); }

std::string object_identifier_to_string(ByteSpan octets) {
  constexpr std::uint8_t kTag = 6;
  ByteSpan contents = octets;
  if (octets.size() > 2 && octets[0] == kTag && octets[1] == octets.size() - 2)
    contents = octets.subspan(2);
  std::string out;
  std::uint64_t arc = 0;
  bool whole = true;
  for (const std::uint8_t o : contents) {
    // Arcs have 32 bits at most (RFC 2578 3.5), and none begins with zeros.
    if ((whole && o == 0x80) || arc >> 32 != 0) return to_hex(octets);
    arc = (whole ? 0 : arc << 7) | (o & 0x7fU);
    whole = (o & 0x80U) == 0;
    if (!whole) continue;
    if (out.empty()) {  // the first two arcs are one number
      const std::uint64_t first = std::min<std::uint64_t>(arc / 40, 2);
      out = std::to_string(first);
      arc -= 40 * first;
    }
    out += '.' + std::to_string(arc);
  }
  return whole ? out : to_hex(octets);
}

}  // namespace lldp::tlv
