// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace lldp::dataplane::sonic {
namespace {

/// "AZURE"; older releases write "[DSCP_TO_TC_MAP|AZURE]".
std::string bare(const std::string& reference) {
  if (!reference.starts_with('[')) return reference;
  const auto bar = reference.find('|');
  return reference.substr(bar + 1, reference.size() - bar - 2);
}

bool names_ours(const std::string& reference) { return is_our_map(bare(reference)); }

/// Empty where it is not there.
std::string value_of(const Row* row, const std::string& name) {
  if (row == nullptr) return {};
  const auto at = row->find(name);
  return at == row->end() ? std::string() : at->second;
}

}  // namespace

unsigned priorities_of(std::string_view list) {
  unsigned mask = 0;
  for (const char c : list)
    if (c >= '0' && c <= '7') mask |= 1U << static_cast<unsigned>(c - '0');
  return mask;
}

std::string note_of(const Field& f) { return std::string("set:") + f.name; }

const Row* View::row(const std::string& key) const {
  const auto at = config.find(key);
  return at == config.end() ? nullptr : &at->second;
}

std::string View::field(const std::string& port, const char* name) const {
  return bare(value_of(row(std::string(kPortMaps) + port), name));
}

bool View::is_noted(const std::string& port) const {
  return row(std::string(kOriginals) + port) != nullptr;
}

bool View::is_ours(const std::string& port) const {
  return is_noted(port) || std::ranges::any_of(kFields, [&](const Field& f) {
           return f.map && names_ours(field(port, f.name));
         });
}

std::vector<std::string> View::our_ports() const {
  std::set<std::string> ports;
  for (const std::string_view table : {kOriginals, kPortMaps})
    for (auto at = config.lower_bound(std::string(table));
         at != config.end() && at->first.starts_with(table); ++at)
      if (std::string port = at->first.substr(table.size()); is_ours(port))
        ports.insert(std::move(port));
  return {ports.begin(), ports.end()};
}

bool View::holds_ours(const std::string& port, const Field& f) const {
  const std::string now = field(port, f.name);
  // Down ports have no rewriting.
  if (f.map) return names_ours(now) || (now.empty() && f.map == MapKind::kTcToDscp);
  const Row* noted = row(std::string(kOriginals) + port);
  // Whoever took the note away has left the row as we had set it: all of it, or nothing.
  if (noted == nullptr) return is_ours(port);
  const auto ours = noted->find(note_of(f));
  return ours == noted->end() || now == ours->second;
}

std::string View::original(const std::string& port, const char* name) const {
  const auto f = std::ranges::find(kFields, std::string_view(name), &Field::name);
  const Row* there = row(std::string(kPortMaps) + port);
  if (!is_ours(port) || f == std::end(kFields) || !holds_ours(port, *f))
    return bare(value_of(there, name));
  const Row* noted = row(std::string(kOriginals) + port);
  return bare(value_of(noted != nullptr ? noted : originals_of(there), name));
}

const Row* View::originals_of(const Row* there) const {
  if (there == nullptr ||
      std::ranges::none_of(*there, [](const auto& field) { return names_ours(field.second); }))
    return there;
  // Somebody took away the row that says what was there before ours, and ours is no original: what
  // another port had, or has, is the best guess, for SONiC gives all ports the same.
  const auto noted = config.lower_bound(std::string(kOriginals));
  if (noted != config.end() && noted->first.starts_with(kOriginals)) return &noted->second;
  for (auto at = config.lower_bound("PORT|"); at != config.end() && at->first.starts_with("PORT|");
       ++at)
    if (const std::string port = at->first.substr(5); !is_ours(port))
      if (const Row* theirs = row(std::string(kPortMaps) + port)) return theirs;
  return nullptr;
}

QosMaps View::before() const {
  for (const auto& [key, unused] : config) {
    if (!key.starts_with("PORT|")) continue;
    const std::string port = key.substr(5);
    const Row* originals = row(std::string(kOriginals) + port);
    const auto name_of = [&](const Field& f) {
      return originals == nullptr ? field(port, f.name) : bare(value_of(originals, f.name));
    };
    if (name_of(kFields[0]).empty() || names_ours(name_of(kFields[0]))) continue;
    QosMaps maps;
    for (const Field& f : kFields)
      if (const Row* map = f.map ? row(std::string(f.table) + "|" + name_of(f)) : nullptr)
        maps[index(*f.map)] = map_of(*map);
    return maps;
  }
  return {};
}

unsigned View::pfc_taken(const std::string& port) const {
  const Row* originals = row(std::string(kOriginals) + port);
  if (originals == nullptr || !originals->contains("set:pfc_enable")) return 0;
  return priorities_of(value_of(originals, "pfc_enable")) &
         ~priorities_of(value_of(originals, "set:pfc_enable"));
}

std::optional<std::string> View::ignored(const std::string& port, Part part) const {
  const auto attributes = asic.find(port);
  if (attributes == asic.end()) return "COUNTERS_PORT_NAME_MAP";
  for (const Field& f : kFields) {
    if (f.part != part || *f.attribute == '\0') continue;
    const std::string wanted = field(port, f.name);
    const std::string value = value_of(&attributes->second, f.attribute);
    if (!f.map) {
      if (value != std::to_string(priorities_of(wanted)))
        return fmt::format("PORT_QOS_MAP: {}", f.name);
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
