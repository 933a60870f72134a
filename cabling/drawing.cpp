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

std::string place_of(const Drawing& drawing, const Link& link) {
  return link.line != 0 ? "line " + std::to_string(link.line)
                        : "links[" + std::to_string(&link - drawing.links.data()) + "]";
}

Result<Drawing> read(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first == text.npos || text[first] == '{' || text[first] == '[';
  return json ? read_json(text) : read_dot(text);
}

}  // namespace lldp::cabling
