// SPDX-License-Identifier: Apache-2.0
#include "agent/core/snapshot.hpp"

#include <algorithm>
#include <tuple>

#include "agent/core/agent_impl.hpp"

namespace lldp::core {
namespace {

constexpr std::ptrdiff_t kEthernetHeader = 14;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Numbers in names compare as numbers: swp2 stands before swp10.
bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [](std::string_view s, std::size_t& at) {
      while (at < s.size() && s[at] == '0') ++at;
      const std::size_t start = at;
      while (at < s.size() && is_digit(s[at])) ++at;
      return s.substr(start, at - start);
    };
    const std::string_view x = number(a, i);
    const std::string_view y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a < b;
}

NeighborInfo describe(const Neighbor& n, TimePoint now, bool decisive, Depth depth) {
  const auto left = std::chrono::ceil<std::chrono::seconds>(n.rxInfoTTL - now);
  std::optional<ReceivedFrame> frame;
  if (depth == Depth::kOctets)
    frame = {.scope = n.scope,
             .source = n.source,
             .unchanged_for = std::chrono::floor<std::chrono::seconds>(now - n.changed_at),
             .lldpdu = Bytes(n.lldpdu().begin(), n.lldpdu().end())};
  return {.chassis_id = n.chassis_id(),
          .port_id = n.port_id(),
          .port_description = std::string(n.port_description()),
          .system_name = std::string(n.system_name()),
          .device_type = n.device,
          .level = n.level,
          .port_type = n.port,
          .tr = n.tr,
          .contribution = n.contribution,
          .pfc_enabled = n.pfc_enabled,
          .layers = n.layers,
          .ttl = n.rxTTL,
          .expires_in = std::max(left, std::chrono::seconds(0)),
          .decisive = decisive,
          .frame = std::move(frame)};
}

PortInfo describe(const Port& port, TimePoint now, Depth depth) {
  PortInfo info{
      .name = port.link.name,
      .ifindex = port.link.ifindex,
      .up = port.link.up,
      .type = port.type,
      .order = port.order,
      .admin = port.link.adminStatus,
      .pfc_enabled = port.link.pfc ? std::optional(port.link.pfc->enabled) : std::nullopt,
      .pfc_cap = port.link.pfc ? port.link.pfc->cap : std::uint8_t{0},
      .layers = port.link.layers,
      .speed_mbps = port.link.details->mac_phy ? port.link.details->mac_phy->speed_mbps : 0,
      .mtu = port.link.mtu,
      .rail_group = port.link.details->rail_group,
      .silent = port.silent || (port.awaited && port.memory.kind == PortMemory::Kind::kLeft),
      .may_be_unheard = port.link.may_be_unheard};
  info.unprotected = port.unprotected_at != kNever ||
                     (info.silent && !port.memory.is_switch() && !port.orders.any());
  for (const Neighbor& n : port.table.all()) {
    info.neighbors.push_back(describe(n, now, port.decisive_neighbor() == &n, depth));
  }
  return info;
}

}  // namespace

std::string_view to_string(LevelSource s) {
  switch (s) {
    case LevelSource::kHost:
      return "host";
    case LevelSource::kNeighbor:
      return "neighbor";
    case LevelSource::kPinned:
      return "pinned";
    case LevelSource::kRestored:
      return "restored";
    case LevelSource::kNone:
      break;
  }
  return "none";
}

void Agent::Impl::describe_agents(const Port& port, PortInfo& info) const {
  if (port.holds_since != kNever) info.holds_since = port.holds_since;
  for (const KnownAgent& v : port.orders.agents())
    info.agents.push_back({.agent = v.agent,
                           .chassis_id = v.chassis,
                           .host = v.host,
                           .heard = v.heard,
                           .counted = v.counted,
                           .bound = v.bound,
                           .belief = v.belief,
                           .awaited = v.heard && !v.host && v.belief < rank_.bound()});
}

Snapshot Agent::Impl::snapshot(TimePoint now, Depth depth) const {
  Snapshot s{.role = settings_->role,
             .level = inference_.level(),
             .level_source = inference_.source(),
             .rank = rank_.acting(),
             .bound = rank_.bound(),
             .location = location_.tiers,
             .tier_notes = location_.notes(),
             .chassis_id = chassis_id_,
             .system_name = system_name(),
             .alarms = alarms(now)};
  if (has_classes()) {
    s.classes_unknown = classes_.unknown();
    auto evidence = classes_.evidence(now);
    for (std::size_t i = 0; i < evidence.size(); ++i)
      s.classes.push_back({classes_.chains()[i], std::move(evidence[i])});
  }
  std::vector<const Port*> ports;
  ports.reserve(ports_.size());
  for (const auto& port : ports_)
    if (port) ports.push_back(port.get());
  const auto by_name = [](const Port* a, const Port* b) {
    return natural_less(a->link.name, b->link.name);
  };
  // As a rule the system's interfaces come in the order of their names.
  if (!std::ranges::is_sorted(ports, by_name)) std::ranges::sort(ports, by_name);
  s.ports.reserve(ports.size());
  for (const Port* port : ports) {
    PortInfo& info = s.ports.emplace_back(describe(*port, now, depth));
    describe_agents(*port, info);
    if (depth != Depth::kOctets) continue;
    const Bytes frame = announcement(port->link.ifindex);
    if (frame.size() > kEthernetHeader)
      info.announced.assign(frame.begin() + kEthernetHeader, frame.end());
  }
  return s;
}

}  // namespace lldp::core
