// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

/// The one loop that matches patterns with * and ?, whatever notation their octets are written in.
namespace lldp {

enum class GlobKind { kOctet, kAnyOctet, kAnyText };

/// What the first characters of a pattern ask for.
struct GlobPiece {
  std::size_t length = 1;  ///< in the pattern
  GlobKind kind = GlobKind::kOctet;
  char octet{};  ///< of kOctet
};

/// `octet` where * and ? are wildcards.
[[nodiscard]] constexpr GlobPiece wildcard_or(char octet) {
  switch (octet) {
    case '*':
      return {1, GlobKind::kAnyText, {}};
    case '?':
      return {1, GlobKind::kAnyOctet, {}};
    default:
      return {1, GlobKind::kOctet, octet};
  }
}

/// Whether `pattern` matches the whole of `text`. `first(rest)` is the first piece of a pattern
/// that is not empty. Greedy with one point of return: quadratic at worst, never exponential.
template <class First>
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view text, First first) {
  std::string_view behind_star;  // the pattern behind the last * that was met
  std::string_view resume;       // the text that this * has not taken yet
  bool has_star = false;
  for (;;) {
    const GlobPiece piece = pattern.empty() ? GlobPiece{0} : first(pattern);
    if (piece.length != 0 && piece.kind == GlobKind::kAnyText) {
      pattern.remove_prefix(piece.length);
      behind_star = pattern;
      resume = text;
      has_star = true;
    } else if (text.empty()) {
      return pattern.empty();  // one more octet for a * leaves still less for what is behind it
    } else if (piece.length != 0 &&
               (piece.kind == GlobKind::kAnyOctet || piece.octet == text.front())) {
      pattern.remove_prefix(piece.length);
      text.remove_prefix(1);
    } else if (has_star) {
      resume.remove_prefix(1);
      pattern = behind_star;
      text = resume;
    } else {
      return false;
    }
  }
}

}  // namespace lldp
