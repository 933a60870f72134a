// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

/// What frames are written and read with.
namespace lldp::lab {

inline void put16(Bytes& to, std::size_t v) {
  to.push_back(static_cast<std::uint8_t>(v >> 8));
  to.push_back(static_cast<std::uint8_t>(v));
}
template <class Octets>
void put(Bytes& to, const Octets& octets) {
  to.insert(to.end(), octets.begin(), octets.end());
}
[[nodiscard]] inline unsigned get16(ByteSpan from, std::size_t at) {
  return unsigned{from[at]} << 8 | from[at + 1];
}

/// RFC 1071: the sum of 16-bit words, folded, not yet complemented: 0xffff of a header that has its
/// checksum.
[[nodiscard]] inline std::uint32_t ones_sum(ByteSpan octets, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < octets.size(); ++i)
    sum += static_cast<std::uint32_t>(octets[i]) << (i % 2 == 0 ? 8 : 0);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

}  // namespace lldp::lab
