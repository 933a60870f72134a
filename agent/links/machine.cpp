// SPDX-License-Identifier: Apache-2.0
#include "agent/links/machine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "agent/links/port_policy.hpp"
#include "base/text.hpp"

namespace lldp::io {
namespace {

/// So many sockets of one ASIC are a front panel. Network cards have switch IDs too, and up to two
/// sockets below one.
constexpr std::size_t kPanel = 4;
/// So many physical ports a machine has that forwards IP as its purpose.
constexpr std::size_t kRouter = 4;
constexpr std::size_t kBridge = 2;

/// Since Linux 6.1 these have a kind; before, they are told by their switch ID.
bool is_dsa(const Interface& link) { return link.kind == "dsa"; }
bool is_hardware(const Interface& link) { return link.physical || is_dsa(link); }

using Interfaces = std::map<Ifindex, Interface>;

/// The cable that a bridge's port leads to: its own, or that of what it stands on; a bond's are
/// one.
std::optional<Ifindex> cable_of(const Interface& port, const Interfaces& interfaces,
                                const std::set<Ifindex>& bonds) {
  const Interface* link = &port;
  for (int depth = 0; link->kind == "vlan" && depth < 8; ++depth) {
    const auto lower = interfaces.find(link->lower);
    if (lower == interfaces.end()) return std::nullopt;
    link = &lower->second;
  }
  return is_hardware(*link) || bonds.contains(link->ifindex) ? std::optional(link->ifindex)
                                                             : std::nullopt;
}

std::string ports(std::size_t n) { return fmt::format("{} physical port{}", n, n == 1 ? "" : "s"); }

}  // namespace

Machine::Machine(const Interfaces& interfaces) {
  std::map<std::string, std::size_t> sockets;  // by switch ID
  std::set<Ifindex> bonds;                     // of physical ports
  std::size_t dsa_ports = 0;
  for (const auto& [ifindex, link] : interfaces) {
    if (!is_hardware(link)) continue;
    ++physical_ports_;
    if (is_dsa(link))
      ++dsa_ports;
    else if (!link.switch_id.empty())
      ++sockets[link.switch_id];
    if (port_of(link).hearing == Hearing::kBound) bonds.insert(link.master);
  }
  panel_ports_ = dsa_ports;
  for (const auto& [id, count] : sockets) {
    if (count < kPanel) continue;
    panels_.push_back(id);
    panel_ports_ += count;
  }

  std::map<Ifindex, std::set<Ifindex>> cables;  // by bridge
  for (const auto& [ifindex, link] : interfaces)
    if (is_bridged(link))
      if (const auto cable = cable_of(link, interfaces, bonds)) cables[link.master].insert(*cable);
  for (const auto& [bridge, of_it] : cables) {
    if (of_it.size() < kBridge || of_it.size() <= bridge_ports_) continue;
    bridge_ports_ = of_it.size();
    const auto link = interfaces.find(bridge);
    bridge_ = link == interfaces.end() ? std::string() : escape(link->second.name);
  }
}

bool Machine::is_default_port(const Interface& link) const {
  if (panel_ports_ == 0) return link.physical;
  return is_dsa(link) || (link.physical && std::ranges::binary_search(panels_, link.switch_id));
}

Machine::Verdict Machine::role(Forwards forwards) const {
  if (panel_ports_ != 0)
    return {Role::kSwitch, fmt::format("it has a front panel of {}", ports(panel_ports_))};
  if (bridge_ports_ != 0)
    return {Role::kSwitch, fmt::format("its bridge {} has {}", bridge_, ports(bridge_ports_))};
  switch (forwards) {
    case Forwards::kByAll:
      if (physical_ports_ >= kRouter)
        return {Role::kSwitch, fmt::format("it forwards IP, with {}", ports(physical_ports_))};
      return {Role::kHost,
              fmt::format("it forwards IP with {} only, and bridges none", ports(physical_ports_)),
              true};
    case Forwards::kBySome:
      return {Role::kHost, "it forwards IP by some interfaces only, and bridges none", true};
    case Forwards::kNothing:
      break;
  }
  return {Role::kHost, "it forwards nothing between physical ports"};
}

}  // namespace lldp::io
