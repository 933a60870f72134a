// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

namespace lldp {

std::optional<std::size_t> json_length(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepestJson) return std::nullopt;
    } else if ((c == '}' || c == ']') && (depth == 0 || --depth == 0)) {
      return i + 1;
    }
  }
  return 0;
}

}  // namespace lldp
