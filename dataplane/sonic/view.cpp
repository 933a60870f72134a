// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "dataplane/sonic/buffers.hpp"

namespace lldp::dataplane::sonic {
namespace {

bool is_map(const Field& f) { return f.map.has_value(); }

bool is_leaving(const Row& note) { return note.contains(kLeaving); }

}  // namespace

std::string note_of(const Field& f) { return std::string("set:") + f.name; }

std::string value_of(const Row* row, const std::string& name) {
  if (row == nullptr) return {};
  const auto at = row->find(name);
  return at == row->end() ? std::string() : at->second;
}

const Row* View::row(const std::string& key) const {
  const auto at = config.find(key);
  return at == config.end() ? nullptr : &at->second;
}

std::string View::field(const std::string& port, const char* name) const {
  return value_of(row(std::string(kPortMaps) + port), name);
}

const Row* View::note(const std::string& port) const {
  const auto at = notes.find(port);
  return at == notes.end() ? nullptr : &at->second;
}

bool View::is_noted(const std::string& port) const {
  const Row* noted = note(port);
  return noted != nullptr && !is_leaving(*noted);
}

bool View::is_ours(const std::string& port) const {
  return is_noted(port) || std::ranges::any_of(kFields, [&](const Field& f) {
           return is_map(f) && is_our_map(field(port, f.name));
         });
}

std::vector<std::string> View::our_ports() const {
  std::set<std::string> ports;
  for (const auto& [port, noted] : notes)
    if (!is_leaving(noted)) ports.insert(port);
  for (auto at = config.lower_bound(std::string(kPortMaps));
       at != config.end() && at->first.starts_with(kPortMaps); ++at)
    if (std::string port = at->first.substr(kPortMaps.size()); is_ours(port))
      ports.insert(std::move(port));
  return {ports.begin(), ports.end()};
}

std::vector<std::string> View::leaving_ports() const {
  std::vector<std::string> ports;
  for (const auto& [port, noted] : notes)
    if (is_leaving(noted)) ports.push_back(port);
  return ports;
}

bool View::holds_ours(const std::string& port, const Field& f) const {
  const std::string now = field(port, f.name);
  // Down ports have no rewriting.
  if (is_map(f)) return is_our_map(now) || (now.empty() && f.map == MapKind::kTcToDscp);
  const Row* noted = note(port);
  // The notes were lost: the row counts as ours as a whole, or not at all.
  if (noted == nullptr) return is_ours(port);
  const auto ours = noted->find(note_of(f));
  if (ours == noted->end() || now == ours->second) return true;
  return f.name == std::string_view("pfc_enable") && noted->contains(kStepPfc) &&
         now == noted->at(kStepPfc);
}

bool View::is_loaded(const std::string& port) const {
  const std::string map = field(port, kFields[0].name);
  return !map.empty() && !is_our_map(map);
}

bool View::is_made_anew(const std::string& port) const {
  return is_loaded(port) && std::ranges::none_of(kFields, [&](const Field& f) {
           return is_map(f) && is_our_map(field(port, f.name));
         });
}

bool View::is_being_loaded(const std::string& port) const {
  if (!is_noted(port)) return false;
  return row(std::string(kPortMaps) + port) == nullptr ? !note(port)->contains(kNoRow)
                                                       : is_made_anew(port);
}

std::string View::original(const std::string& port, const char* name) const {
  const auto f = std::ranges::find(kFields, std::string_view(name), &Field::name);
  const Row* there = row(std::string(kPortMaps) + port);
  if (!is_ours(port) || f == std::end(kFields) || !holds_ours(port, *f))
    return value_of(there, name);
  const Row* before = is_noted(port) ? note(port) : originals_of(there);
  if (before == nullptr) return {};
  return f->name == std::string_view("pfc_enable") ? original_pfc(*before) : value_of(before, name);
}

const Row* View::originals_of(const Row* there) const {
  if (there == nullptr ||
      std::ranges::none_of(*there, [](const auto& field) { return is_our_map(field.second); }))
    return there;
  // The notes of this port were lost, and its present row is ours. SONiC gives all ports the same
  // row, so the originals of another port are the best guess.
  for (const auto& [port, noted] : notes)
    if (!is_leaving(noted) && !noted.contains(kNoRow)) return &noted;
  for (auto at = config.lower_bound("PORT|"); at != config.end() && at->first.starts_with("PORT|");
       ++at)
    if (const std::string port = at->first.substr(5); !is_ours(port))
      if (const Row* theirs = row(std::string(kPortMaps) + port)) return theirs;
  return nullptr;
}

std::string View::original_pfc(const Row& originals) const {
  return value_of(&originals, originals.contains(kAcceptedPfc) ? kAcceptedPfc : "pfc_enable");
}

QosMaps View::before() const {
  for (const auto& [key, unused] : config) {
    if (!key.starts_with("PORT|")) continue;
    const std::string port = key.substr(5);
    // The row of a port that leaves is its own again; its note has no originals.
    const Row* originals = is_noted(port) ? note(port) : nullptr;
    const auto name_of = [&](const Field& f) {
      return originals == nullptr ? field(port, f.name) : value_of(originals, f.name);
    };
    if (name_of(kFields[0]).empty() || is_our_map(name_of(kFields[0]))) continue;
    QosMaps maps;
    for (const Field& f : kFields)
      if (const Row* map = is_map(f) ? row(std::string(f.table) + "|" + name_of(f)) : nullptr)
        maps[index(*f.map)] = map_of(*map);
    return maps;
  }
  return {};
}

unsigned View::pfc_taken(const std::string& port) const {
  const Row* originals = note(port);
  if (originals == nullptr || !originals->contains(kSetPfc)) return 0;
  return static_cast<unsigned>(mask_of_list(original_pfc(*originals))) &
         ~static_cast<unsigned>(mask_of_list(originals->at(kSetPfc)));
}

std::optional<std::uint8_t> View::asic_pfc(const std::string& port) const {
  const auto attributes = asic.find(port);
  if (attributes == asic.end()) return std::nullopt;
  const bool apart = value_of(&attributes->second, kPfcModeAttribute) ==
                     "SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE";
  const std::string value =
      value_of(&attributes->second, apart ? kPfcSentAttribute : kPfcAttribute);
  unsigned mask = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), mask);
  if (value.empty()) return std::uint8_t{0};  // never set
  if (code != std::errc{} || end != value.data() + value.size() || mask > 255) return std::nullopt;
  return static_cast<std::uint8_t>(mask);
}

bool View::rewrites(const std::string& port) const {
  const auto attributes = asic.find(port);
  return attributes != asic.end() && value_of(&attributes->second, kRewriteAttribute) == "true";
}

std::uint8_t View::led_elsewhere(const std::string& port, const char* name, const char* table,
                                 std::uint8_t mask) const {
  const std::string map = field(port, name);
  if (map.empty()) return 0;  // each to its own number
  const Row* entries = row(std::string(table) + "|" + map);
  unsigned elsewhere = 0;
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((mask >> p & 1U) != 0 && value_of(entries, std::to_string(p)) != std::to_string(p))
      elsewhere |= 1U << p;
  return static_cast<std::uint8_t>(elsewhere);
}

std::pair<std::string, std::string> View::absent_map(const std::string& port) const {
  constexpr std::pair<const char*, const char*> kNamed[] = {
      {"pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE|"},
      {"pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|"}};
  for (const auto& [name, table] : kNamed)
    if (const std::string map = field(port, name); !map.empty() && row(table + map) == nullptr)
      return {name, table + map};
  return {};
}

std::optional<std::string> View::ignored(const std::string& port, Part part) const {
  const auto attributes = asic.find(port);
  if (attributes == asic.end()) return "COUNTERS_PORT_NAME_MAP";
  for (const Field& f : kFields) {
    if (f.part != part || *f.attribute == '\0') continue;
    const std::string wanted = field(port, f.name);
    const std::string value = value_of(&attributes->second, f.attribute);
    if (!f.map) {
      if (asic_pfc(port) != mask_of_list(wanted)) return fmt::format("PORT_QOS_MAP: {}", f.name);
      continue;
    }
    const bool none = value.empty() || value == "oid:0x0";
    if (wanted.empty() && none) continue;
    const auto object = qos_maps.find(value);
    const Row* map = row(std::string(f.table) + "|" + wanted);
    if (none != wanted.empty() || object == qos_maps.end() || map == nullptr) return f.table;
    const QosMap& there = object->second[index(*f.map)];
    for (const auto& [key, number] : map_of(*map)) {
      const auto entry = there.find(key);
      if (entry == there.end() || entry->second != number) return f.table;
    }
  }
  return std::nullopt;
}

}  // namespace lldp::dataplane::sonic
