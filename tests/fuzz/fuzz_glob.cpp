// SPDX-License-Identifier: Apache-2.0
// A pattern, and behind the first line feed a name of any octets: the loop with one point of return
// must find what the plain table of all pairs of prefixes finds, in both notations; a name's own
// spelling must match that name alone.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/spelling.hpp"
#include "base/text.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

enum class Wild { kNone, kOne, kAny };
struct Asked {
  Wild wild = Wild::kNone;
  char octet{};
};

Asked plain(char c) { return {c == '*' ? Wild::kAny : c == '?' ? Wild::kOne : Wild::kNone, c}; }

std::vector<Asked> without_escapes(std::string_view pattern) {
  std::vector<Asked> all;
  for (const char c : pattern) all.push_back(plain(c));
  return all;
}

std::vector<Asked> with_escapes(std::string_view pattern) {
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  std::vector<Asked> all;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = pattern.substr(i);
    if (rest.starts_with("\\\\")) {
      all.push_back({Wild::kNone, '\\'});
      i += 1;
    } else if (rest.starts_with("\\x") && rest.size() > 3 && kDigits.find(rest[2]) < 22 &&
               kDigits.find(rest[3]) < 22) {
      all.push_back(
          {Wild::kNone, static_cast<char>(std::stoi(std::string(rest.substr(2, 2)), nullptr, 16))});
      i += 3;
    } else if (rest.front() == '\\') {
      all.push_back({Wild::kNone, '\\'});
    } else {
      all.push_back(plain(rest.front()));
    }
  }
  return all;
}

bool by_table(const std::vector<Asked>& pattern, std::string_view text) {
  std::vector<bool> row(text.size() + 1);  // [n]: the pattern so far matches n octets of the text
  row[0] = true;
  for (const Asked& asked : pattern) {
    std::vector<bool> next(text.size() + 1);
    for (std::size_t n = 0; n <= text.size(); ++n) {
      if (asked.wild == Wild::kAny)
        next[n] = row[n] || (n > 0 && next[n - 1]);
      else
        next[n] = n > 0 && row[n - 1] && (asked.wild == Wild::kOne || asked.octet == text[n - 1]);
    }
    row = next;
  }
  return row[text.size()];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp;
  if (size > 2000) return 0;  // the table is of size times size
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\n'), size);
  const std::string_view pattern = all.substr(0, end);
  const std::string_view name = all.substr(std::min(end + 1, size));
  require(glob_match(pattern, name) == by_table(without_escapes(pattern), name));
  require(name_match(pattern, name) == by_table(with_escapes(pattern), name));
  const std::string spelled = spell(name);
  require(unescape(spelled) == name);
  require(!has_wildcard(spelled));
  require(name_match(spelled, name));
  require(name_match(spelled, pattern) == (name == pattern));
  return 0;
}
