// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/maps.hpp"

#include <utility>

namespace lldp::dataplane::sonic {
namespace {

constexpr std::string_view kUp = "LLDP_LEVEL_UP";
constexpr std::string_view kDown = "LLDP_LEVEL_DOWN";
constexpr std::string_view kHost = "LLDP_LEVEL_HOST";
constexpr std::string_view kShut = "LLDP_LEVEL_SHUT";
constexpr std::string_view kWhateverOrder = "LLDP_LEVEL";

/// A number of one digit or two, as SONiC writes it.
std::optional<unsigned> number(const std::string& text) {
  unsigned n = 0;
  if (text.empty() || text.size() > 2) return std::nullopt;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    n = 10 * n + static_cast<unsigned>(c - '0');
  }
  return n;
}

Row row_of(const QosMap& map) {
  Row row;
  for (const auto& [key, value] : map) row[std::to_string(key)] = std::to_string(value);
  return row;
}

}  // namespace

bool is_our_map(std::string_view name) {
  return name == kUp || name == kDown || name == kHost || name == kShut || name == kWhateverOrder;
}

QosMap map_of(const Row& row) {
  QosMap map;
  for (const auto& [key, value] : row)
    if (const auto k = number(key), v = number(value); k && v) map[*k] = *v;
  return map;
}

Result<Maps> maps_of(const qos::Ruleset& rules, const QosMaps& before, unsigned classes) {
  auto wanted = dataplane::maps_of(rules, before, classes);
  if (!wanted) return fail(wanted.error());
  Maps maps{.costs = std::move(wanted->costs),
            .last_hop_lossy = wanted->last_hop_lossy,
            .merged = wanted->merged};
  const bool restores = rules.port.restores() && !wanted->last_hop_lossy;
  const std::string_view order = !rules.entering.empty() ? kShut
                                 : !rules.remaps.empty() ? kUp
                                 : restores              ? kHost
                                                         : kDown;
  for (const Field& f : kFields) {
    if (!f.map) {
      maps.port[f.name] = priorities_text(rules.pfc_enable, ",");
      continue;
    }
    const QosMap& map = wanted->maps[index(*f.map)];
    const std::string name(map.empty()                     ? ""
                           : *f.map == MapKind::kTcToGroup ? kWhateverOrder
                                                           : order);
    maps.port[f.name] = name;
    if (!name.empty()) maps.rows[std::string(f.table) + "|" + name] = row_of(map);
  }
  return maps;
}

}  // namespace lldp::dataplane::sonic
