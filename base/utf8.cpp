// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <algorithm>
#include <iterator>

namespace lldp {
namespace {

struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Cc, Zl, Zp, the interlinear annotations, the two that XML may not have, and Unicode 15's
/// Default_Ignorable_Code_Point (DerivedCoreProperties). Ascending.
constexpr Range kUnsafe[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

}  // namespace

CodePoint first_code_point(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(s[i]); };
  const std::uint8_t lead = at(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || s.size() < length) return {};
  std::uint32_t v = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues_character(s[i])) return {};
    v = v << 6 | (at(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (v < kLeast[length] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff)) return {};
  return {v, length};
}

bool is_unsafe_to_show(std::uint32_t c) {
  const auto* const at =
      std::find_if(std::begin(kUnsafe), std::end(kUnsafe), [c](Range r) { return c <= r.last; });
  return at != std::end(kUnsafe) && c >= at->first;
}

}  // namespace lldp
