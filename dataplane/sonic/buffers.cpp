// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/buffers.hpp"

#include "base/text.hpp"

namespace lldp::dataplane::sonic {
namespace {

constexpr std::string_view kProfiles = "BUFFER_PROFILE|";

std::string value_of(const Row& row, const char* name) {
  const auto at = row.find(name);
  return at == row.end() ? std::string() : at->second;
}

/// The buffer manager's definition of lossless: has an xoff, or leaves the size to the manager.
bool is_lossless_group(const Rows& config, const std::string& profile) {
  if (profile == "NULL") return true;  // the dynamic model: to be computed
  const auto row = config.find(std::string(kProfiles) + profile);
  return row != config.end() &&
         (row->second.contains("xoff") || value_of(row->second, "headroom_type") == "dynamic");
}

/// By its name or its pool's: no attribute of a queue's profile says so.
bool is_lossless_queue(const Rows& config, const std::string& profile) {
  const auto row = config.find(std::string(kProfiles) + profile);
  if (row == config.end() || profile.find("lossy") != profile.npos) return false;
  return profile.find("lossless") != profile.npos ||
         value_of(row->second, "pool").find("lossless") != std::string::npos;
}

/// Of `Ethernet0,Ethernet4|3-4`, behind the table's name.
struct Key {
  std::string ports{};
  std::string range{};
};
Key key_of(std::string_view text) {
  const auto bar = text.rfind('|');
  if (bar == text.npos) return {};
  return {std::string(text.substr(0, bar)), std::string(text.substr(bar + 1))};
}

}  // namespace

std::uint8_t mask_of_range(std::string_view range) {
  const auto digit = [](char c) { return c >= '0' && c <= '7'; };
  if (range.size() == 1 && digit(range[0]))
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(range[0] - '0'));
  if (range.size() != 3 || !digit(range[0]) || range[1] != '-' || !digit(range[2])) return 0;
  unsigned mask = 0;
  for (char c = range[0]; c <= range[2]; ++c) mask |= 1U << static_cast<unsigned>(c - '0');
  return static_cast<std::uint8_t>(mask);
}

std::uint8_t mask_of_list(std::string_view priorities) {
  unsigned mask = 0;
  while (!priorities.empty()) {
    const std::size_t comma = priorities.find(',');
    std::string_view item = priorities.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    // `13` and `-1` are no priorities, to SONiC's orchagent neither.
    if (item.size() == 1 && item[0] >= '0' && item[0] <= '7')
      mask |= 1U << static_cast<unsigned>(item[0] - '0');
    priorities.remove_prefix(comma == std::string_view::npos ? priorities.size() : comma + 1);
  }
  return static_cast<std::uint8_t>(mask);
}

std::vector<std::string> ranges_of(std::uint8_t mask) {
  std::vector<std::string> ranges;
  for (unsigned p = 0; p < 8; ++p) {
    if ((mask >> p & 1U) == 0) continue;
    const unsigned first = p;
    while (p < 7 && (mask >> (p + 1) & 1U) != 0) ++p;
    ranges.push_back(std::to_string(first) + (p == first ? "" : "-" + std::to_string(p)));
  }
  return ranges;
}

PortBuffers::PortBuffers(const Rows& config) : pool_(config.contains(std::string(kLosslessPool))) {
  if (const auto device = config.find("DEVICE_METADATA|localhost"); device != config.end())
    dynamic_ = value_of(device->second, "buffer_model") == "dynamic";
  for (const std::string_view table : {kGroupRows, kQueueRows})
    for (auto at = config.lower_bound(std::string(table));
         at != config.end() && at->first.starts_with(table); ++at) {
      const Key key = key_of(std::string_view(at->first).substr(table.size()));
      const std::string profile = value_of(at->second, "profile");
      const std::vector<std::string> names = split_list(key.ports);
      for (const std::string& name : names) {
        Port& port = ports_[name];
        if (table == kQueueRows) {
          port.queues.push_back(
              {key.ports, key.range, profile, is_lossless_queue(config, profile)});
          continue;
        }
        if (names.size() == 1) port.ranges[key.range] = profile;
        if (is_lossless_group(config, profile))
          port.groups = static_cast<std::uint8_t>(port.groups | mask_of_range(key.range));
      }
    }
}

const PortBuffers::Port* PortBuffers::find(const std::string& port) const {
  const auto at = ports_.find(port);
  return at == ports_.end() ? nullptr : &at->second;
}

std::uint8_t PortBuffers::lossless_groups(const std::string& port) const {
  const Port* known = find(port);
  return known == nullptr ? std::uint8_t{0} : known->groups;
}

std::uint8_t PortBuffers::lossless_queues(const std::string& port) const {
  unsigned lossless = 0;
  unsigned others = 0;
  for (const QueueRow& row : queue_rows(port))
    (row.lossless ? lossless : others) |= mask_of_range(row.range);
  return static_cast<std::uint8_t>(lossless & ~others);
}

const std::vector<QueueRow>& PortBuffers::queue_rows(const std::string& port) const {
  static const std::vector<QueueRow> kNone;
  const Port* known = find(port);
  return known == nullptr ? kNone : known->queues;
}

std::vector<std::string> PortBuffers::group_ranges(const std::string& port) const {
  std::vector<std::string> ranges;
  if (const Port* known = find(port))
    for (const auto& [range, profile] : known->ranges) ranges.push_back(range);
  return ranges;
}

bool PortBuffers::is_automatic(const std::string& port, const std::string& range) const {
  const Port* known = find(port);
  if (known == nullptr) return false;
  const auto at = known->ranges.find(range);
  return at != known->ranges.end() && at->second.starts_with("pg_lossless_") &&
         at->second.ends_with("_profile");
}

}  // namespace lldp::dataplane::sonic
