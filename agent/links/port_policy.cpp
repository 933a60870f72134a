// SPDX-License-Identifier: Apache-2.0
#include "agent/links/port_policy.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "base/spelling.hpp"
#include "os/link_kind.hpp"

namespace lldp::io {
namespace {
constexpr std::string_view kOpenVswitch = "openvswitch";

using Interfaces = std::map<Ifindex, Interface>;

/// The VRF that packets of the interface are routed in; 0: none.
Ifindex vrf_of(const Interfaces& all, const Interface& link) {
  constexpr int kDeepest = 8;
  const Interface* at = &link;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const auto master = all.find(at->master);
    if (master == all.end()) break;
    at = &master->second;
    if (at->kind == "vrf") return at->ifindex;
  }
  return {};
}

/// A port stands on the interface, directly or not, and has the rules of its packets.
bool carries(const Interfaces& all, const Interface& lower, const auto& is_one) {
  std::set<Ifindex> known{lower.ifindex};
  std::vector<Ifindex> next{lower.ifindex};
  while (!next.empty()) {
    const Ifindex at = next.back();
    next.pop_back();
    const auto below = all.find(at);
    const Ifindex master =
        below == all.end() || is_bridged(below->second) ? Ifindex() : below->second.master;
    for (const auto& entry : all) {
      const Interface& upper = entry.second;
      const bool bound = master != Ifindex() && master == upper.ifindex;
      if ((upper.lower != at && !bound) || !known.insert(upper.ifindex).second) continue;
      if (is_one(entry)) return true;
      next.push_back(upper.ifindex);
    }
  }
  return false;
}

/// An address that routers share (VRRP, RFC 9568 section 7.3).
bool is_of_routers(const MacAddress& address) {
  constexpr std::uint8_t kPrefix[] = {0x00, 0x00, 0x5e, 0x00};
  constexpr std::uint8_t kIpv4 = 1;
  constexpr std::uint8_t kIpv6 = 2;
  return std::equal(std::begin(kPrefix), std::end(kPrefix), address.begin()) &&
         (address[4] == kIpv4 || address[4] == kIpv6);
}

/// An interface for which a machine may forward IP that is no router: it leads to containers,
/// virtual machines or a VPN.
bool leads_to_guests(const Interface& link) {
  if (link.kind == "macvlan" && is_of_routers(link.address)) return false;
  constexpr std::string_view kNone[] = {"bond",   "dsa",   "dummy", "hsr",  "ifb",
                                        "macsec", "nlmon", "team",  "vlan", "vrf"};
  // Without a carrier too: as long as no guest runs, docker0 has none.
  constexpr std::string_view kAlways[] = {"bridge", "ipvlan",      "ipvtap", "macvlan", "macvtap",
                                          "netkit", "openvswitch", "tun",    "veth"};
  const auto is_of = [&](const auto& kinds) {
    return std::ranges::find(kinds, link.kind) != std::end(kinds);
  };
  if (link.kind.empty()) return link.ethernet && !link.physical;  // a function for a guest
  return !is_of(kNone) && (link.up || is_of(kAlways));
}

/// What its packets leave by: itself, what it stands on, or the bond of that.
Ifindex cable_of(const Interfaces& all, const Interface& port) {
  constexpr int kDeepest = 8;
  const Interface* at = &port;
  for (int depth = 0; depth < kDeepest && is_stacked(*at); ++depth) {
    const auto lower = all.find(at->lower);
    if (lower == all.end()) break;
    at = &lower->second;
  }
  return port_of(*at).hearing == Hearing::kBound ? at->master : at->ifindex;
}

}  // namespace

bool is_stacked(const Interface& link) {
  return lldp::is_stacked(link.kind, link.lower != Ifindex());
}

bool is_port(const Interface& link, const NameSelection& ports, const Machine& machine) {
  if (!link.ethernet || ports.excludes(link.name)) return false;
  if (ports.wanted.empty()) return machine.is_default_port(link);
  const bool has_cable =
      link.kind.empty() || link.kind == "veth" || link.kind == "tun" || link.kind == "dsa";
  return std::ranges::any_of(ports.wanted, [&](const std::string& glob) {
    if (glob == "*") return has_cable;
    return name_match(glob, link.name) && (!has_wildcard(glob) || !is_stacked(link));
  });
}

std::vector<std::string> left_out(const Interfaces& interfaces, const NameSelection& ports,
                                  const Machine& machine, bool forwards_ip) {
  std::vector<std::string> names;
  if (ports.wanted.empty()) return names;
  const auto is_one = [&](const auto& entry) { return is_port(entry.second, ports, machine); };
  for (const auto& [ifindex, link] : interfaces) {
    if (!link.up || !machine.is_default_port(link) || ports.excludes(link.name)) continue;
    if (is_port(link, ports, machine)) continue;
    const auto reaches = [&, &left = link](const auto& entry) {
      const bool bridged = is_bridged(left) && left.master == entry.second.master;
      const bool routed =
          forwards_ip && vrf_of(interfaces, left) == vrf_of(interfaces, entry.second);
      return is_one(entry) && (bridged || routed);
    };
    if (std::ranges::any_of(interfaces, reaches) && !carries(interfaces, link, is_one))
      names.push_back(link.name);
  }
  return names;
}

bool forwards_for_guests(const Interfaces& interfaces, const NameSelection& ports,
                         const Machine& machine) {
  const auto port = [&](const Interface& link) { return is_port(link, ports, machine); };
  const auto bridges_ports_alone = [&](const Interface& link) {
    bool any = false;
    for (const auto& [ifindex, member] : interfaces) {
      if (member.master != link.ifindex) continue;
      if (!port(member)) return false;
      any = true;
    }
    return any && link.kind == "bridge";
  };
  return std::ranges::any_of(interfaces, [&](const auto& entry) {
    const Interface& link = entry.second;
    return leads_to_guests(link) && !port(link) && !bridges_ports_alone(link);
  });
}

std::vector<Ifindex> routed_together(const Interfaces& interfaces,
                                     const std::vector<Ifindex>& ports) {
  std::map<Ifindex, std::map<Ifindex, Ifindex>> routed;  // port by cable by VRF
  for (const Ifindex port : ports)
    if (const auto link = interfaces.find(port); link != interfaces.end())
      routed[vrf_of(interfaces, link->second)].try_emplace(cable_of(interfaces, link->second),
                                                           port);
  std::vector<Ifindex> most;
  for (const auto& [vrf, cables] : routed) {
    if (cables.size() <= most.size()) continue;
    most.clear();
    for (const auto& [cable, port] : cables) most.push_back(port);
  }
  std::ranges::sort(most);
  return most;
}

Port port_of(const Interface& link) {
  Port port{.ifindex = link.ifindex, .master = link.master};
  if (link.master_kind == kOpenVswitch)
    port.hearing = Hearing::kTap;
  else if (link.master_kind == "bond" || link.master_kind == "team")
    port.hearing = Hearing::kBound;
  return port;
}

bool is_bridged(const Interface& link) {
  return link.master_kind == "bridge" || link.master_kind == kOpenVswitch;
}

}  // namespace lldp::io
