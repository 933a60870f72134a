// SPDX-License-Identifier: Apache-2.0
#include "cabling/drawing.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

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

std::string place_of(const Link& link) {
  return link.line != 0 ? "line " + std::to_string(link.line)
                        : "links[" + std::to_string(link.entry) + "]";
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

Result<Drawing> read_plan(std::string_view text) {
  auto plan = read(text);
  if (!plan) return plan;
  const auto port_of = [](const End& end) { return std::pair(end.node, end.port); };
  std::map<std::pair<std::size_t, std::string>, std::size_t> link_at;  // of those that are kept
  std::vector<Link> kept;
  const auto leave_out = [&](const Link& link, std::size_t e, const std::string& why) {
    const End& end = link.ends[e];
    plan->notes.push_back(place_of(link) + ": " + escape(plan->nodes[end.node].name) + ":" +
                          escape(end.port) + why + ": left out");
  };
  for (Link& link : plan->links) {
    if (port_of(link.ends[0]) == port_of(link.ends[1])) {
      leave_out(link, 0, " is both ends of a cable");
      continue;
    }
    const auto is_taken = [&] {
      for (std::size_t e = 0; e < 2; ++e) {
        const auto at = link_at.find(port_of(link.ends[e]));
        if (at == link_at.end()) continue;
        const auto& there = kept[at->second].ends;
        const bool is_same = std::ranges::any_of(
            there, [&](const End& end) { return port_of(end) == port_of(link.ends[1 - e]); });
        if (!is_same) leave_out(link, e, " has a cable already, by " + place_of(kept[at->second]));
        return true;
      }
      return false;
    };
    if (is_taken()) continue;
    for (const End& end : link.ends) link_at.emplace(port_of(end), kept.size());
    kept.push_back(std::move(link));
  }
  plan->links = std::move(kept);
  return plan;
}

}  // namespace lldp::cabling
