// SPDX-License-Identifier: Apache-2.0
#include "agent/report/manual.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"

namespace lldp::report {
namespace {

constexpr std::string_view kPunctuation = ".,:;)]?!";

bool is_punctuation(std::string_view word) {
  return word.find_first_not_of(kPunctuation) == word.npos;
}

/// Text in which words are joined by blanks, lines of a paragraph filled.
class Filled {
 public:
  explicit Filled(std::size_t columns) : columns_(columns) {}

  void word(std::string_view text) {
    if (text.empty()) return;
    if (joins_ || line_.empty() || is_punctuation(text)) {
      // It stands without a blank before it.
    } else {
      line_ += ' ';
    }
    line_ += text;
    joins_ = false;
    if (line_.size() <= columns_) return;
    const std::size_t at = line_.rfind(' ', columns_);
    if (at == line_.npos || at == 0) return;
    out_.append(line_, 0, at) += '\n';
    line_.erase(0, at + 1);
  }
  void open(std::string_view bracket) {
    word(bracket);
    joins_ = true;
  }
  void paragraph() {
    if (!line_.empty()) out_ += line_ + "\n";
    line_.clear();
  }
  [[nodiscard]] std::string text() {
    paragraph();
    return std::move(out_);
  }

 private:
  std::size_t columns_;
  std::string out_{};
  std::string line_{};
  bool joins_ = false;
};

/// The words of a macro's line; names of macros among them are left out, and what they mean with
/// them, but for quotes.
void add_macro(Filled& out, std::string_view line) {
  std::vector<std::string> words = split_list(line, ' ');
  if (words.empty()) return;
  const std::string name = words.front();
  words.erase(words.begin());
  if (name == "Pp" || name == "It" || name == "Bl" || name == "El") return out.paragraph();
  if (name == "Xr" && words.size() > 1) {
    out.word(words[0] + "(" + words[1] + ")");
    words.erase(words.begin(), words.begin() + 2);
  }
  const bool in_brackets = name == "Pq";
  std::vector<std::string> behind;  // the bracket
  while (in_brackets && !words.empty() && is_punctuation(words.back())) {
    behind.insert(behind.begin(), words.back());
    words.pop_back();
  }
  if (name == "Po" || in_brackets) out.open("(");
  if (name == "Pc") out.word(")");
  constexpr std::array<std::string_view, 11> kMacros{"No", "Cm", "Ar", "Ql", "Pa", "Sy",
                                                     "Em", "Fl", "Op", "Dv", "Ns"};
  for (const std::string& word : words)
    if (std::ranges::find(kMacros, word) == kMacros.end()) out.word(word);
  if (in_brackets) out.word(")");
  for (const std::string& word : behind) out.word(word);
}

}  // namespace

std::optional<std::string> manual_of_alarm(std::string_view page, std::string_view name,
                                           std::size_t columns) {
  const std::string item = ".It Sy " + std::string(name);
  Filled out(columns);
  bool in_section = false;
  bool in_item = false;
  bool found = false;
  int depth = 0;  // of lists
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    const std::string_view line = page.substr(at, end - at);
    at = end + 1;
    if (line.starts_with(".Sh ")) in_section = line == ".Sh ALARMS";
    if (!in_section) continue;
    if (line.starts_with(".Bl ")) ++depth;
    if (line == ".El") --depth;
    if (depth == 1 && line.starts_with(".It ")) {
      in_item = line == item;
      found |= in_item;
      continue;
    }
    if (depth == 0) in_item = false;
    if (!in_item) continue;
    if (line.starts_with('.'))
      add_macro(out, line.substr(1));
    else
      for (const std::string& word : split_list(line, ' ')) out.word(word);
  }
  return found ? std::optional(out.text()) : std::nullopt;
}

}  // namespace lldp::report
