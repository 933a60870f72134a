// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lldp {

/// How deep lists and objects may stand in each other in what is read: deeper than in anything of
/// ours. What walks over a value calls itself at every level of it.
inline constexpr std::size_t kDeepestJson = 32;

/// Where the first list or object of the text ends, by its brackets; 0: there is none that ends;
/// nothing: it is deeper than that.
[[nodiscard]] std::optional<std::size_t> json_length(std::string_view text);
/// For parsers: behind its first list or object a text is read no further.
[[nodiscard]] inline bool is_too_deep(std::string_view text) { return !json_length(text); }

/// JSON from outside, as a value of the library; discarded: it is not JSON, or too deep.
template <class Json>
[[nodiscard]] Json parse_json(std::string_view text) {
  if (is_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace lldp
