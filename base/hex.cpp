// SPDX-License-Identifier: Apache-2.0
#include "base/hex.hpp"

#include <charconv>

namespace lldp {

std::optional<Bytes> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes out(text.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char* last = text.data() + 2 * i + 2;
    const auto [end, error] = std::from_chars(last - 2, last, out[i], 16);
    if (error != std::errc() || end != last) return std::nullopt;
  }
  return out;
}

}  // namespace lldp
