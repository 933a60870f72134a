// SPDX-License-Identifier: Apache-2.0
#include "cabling/drawing.hpp"

#include <algorithm>

namespace lldp::cabling {

const std::string* Attributes::find(std::string_view name) const {
  const auto at =
      std::find_if(all_.begin(), all_.end(), [&](const auto& a) { return a.first == name; });
  return at == all_.end() ? nullptr : &at->second;
}

void Attributes::set(std::string_view name, std::string value) {
  const auto at =
      std::find_if(all_.begin(), all_.end(), [&](const auto& a) { return a.first == name; });
  if (at == all_.end())
    all_.emplace_back(name, std::move(value));
  else
    at->second = std::move(value);
}

std::vector<std::string> first_notes(const Drawing& drawing) {
  constexpr std::size_t kMost = 10;
  const std::size_t shown = std::min(kMost, drawing.notes.size());
  std::vector<std::string> out(drawing.notes.begin(),
                               drawing.notes.begin() + static_cast<std::ptrdiff_t>(shown));
  if (const std::size_t more = drawing.notes.size() - shown; more > 0)
    out.push_back("and " + std::to_string(more) + " more");
  return out;
}

std::string place_of(const Drawing& drawing, const Link& link) {
  return link.line != 0 ? "line " + std::to_string(link.line)
                        : "links[" + std::to_string(&link - drawing.links.data()) + "]";
}

Result<Drawing> read(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return fail(Error{0, "line 1", "the file is empty"});
  const bool json = text[first] == '{' || text[first] == '[';
  if (json) return read_json(text);
  return looks_like_csv(text) ? read_csv(text) : read_dot(text);
}

}  // namespace lldp::cabling
