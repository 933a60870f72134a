// SPDX-License-Identifier: Apache-2.0
#include "agent/links/port_policy.hpp"

#include <algorithm>

#include "base/spelling.hpp"
#include "os/link_kind.hpp"

namespace lldp::io {
namespace {
constexpr std::string_view kOpenVswitch = "openvswitch";

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
