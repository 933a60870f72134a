// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace lldp {

/// How deep lists and objects may stand in each other in what is read: deeper than in anything of
/// ours. What walks over a value calls itself at every level of it.
inline constexpr std::size_t kDeepestJson = 32;

/// Whether a text that may be JSON passes that.
[[nodiscard]] bool is_too_deep(std::string_view text);

/// JSON that somebody else has written, as a value of the library's; discarded: it is none, or too
/// deep.
template <class Json>
[[nodiscard]] Json parse_json(std::string_view text) {
  if (is_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace lldp
