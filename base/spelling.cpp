// SPDX-License-Identifier: Apache-2.0
#include "base/spelling.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace lldp {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

struct Piece {
  std::size_t length = 1;       ///< in the text
  char octet{};                 ///< that it stands for
  bool begins_nothing = false;  ///< a backslash that stands for itself
};

/// The first octet of a text that is not empty.
Piece first_piece(std::string_view text) {
  if (text.front() != '\\') return {.octet = text.front()};
  if (text.size() > 1 && text[1] == '\\') return {2, '\\'};
  if (text.size() > 3 && text[1] == 'x' && digit(text[2]) >= 0 && digit(text[3]) >= 0)
    return {4, static_cast<char>(digit(text[2]) << 4 | digit(text[3]))};
  return {1, '\\', true};
}

/// It means nothing but itself in a file of ours, a list, a pattern and a shell.
bool is_ordinary(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("_.@%+-:").find(c) != std::string_view::npos;
}

std::string quoted(std::string_view name, std::string_view quote) {
  std::string word = spell(name);
  if (word.find('\\') == word.npos && std::ranges::all_of(word, is_ordinary)) return word;
  return std::string(quote) + word + "'";
}

}  // namespace

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    if (piece.begins_nothing) return std::nullopt;
    out += piece.octet;
    text.remove_prefix(piece.length);
  }
  return out;
}

std::string spell(std::string_view name) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  const std::string escaped = escape(name);
  for (std::string_view rest = escaped; !rest.empty();) {
    const char c = rest.front();
    const bool leads_option = c == '-' && out.empty();
    const std::size_t length = c == '\\' ? first_piece(rest).length : 1;
    if (c == '\\' || static_cast<unsigned char>(c) >= 0x80 || (is_ordinary(c) && !leads_option)) {
      out += rest.substr(0, length);
    } else {
      out += "\\x";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15U];
    }
    rest.remove_prefix(length);
  }
  return out;
}

std::string printable(std::string_view sentence) {
  std::string out;
  for (;;) {
    const std::size_t end = std::min(sentence.find('\\'), sentence.size());
    out += escape(sentence.substr(0, end));
    if (end == sentence.size()) return out;
    out += '\\';
    sentence.remove_prefix(end + 1);
  }
}

std::string argument(std::string_view name) { return quoted(name, "'"); }

std::string shell_word(std::string_view name) { return quoted(name, "$'"); }

bool name_match(std::string_view pattern, std::string_view name) {
  return matches_glob(pattern, name, [](std::string_view rest) -> GlobPiece {
    if (rest.front() != '\\') return wildcard_or(rest.front());
    const Piece piece = first_piece(rest);
    return {piece.length, GlobKind::kOctet, piece.octet};
  });
}

bool any_name_match(std::span<const std::string> patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const auto& p) { return name_match(p, name); });
}

bool has_wildcard(std::string_view pattern) { return pattern.find_first_of("*?") != pattern.npos; }

}  // namespace lldp
