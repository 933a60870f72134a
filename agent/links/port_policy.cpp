// SPDX-License-Identifier: Apache-2.0
#include "agent/links/port_policy.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace lldp::io {
namespace {
constexpr std::string_view kOpenVswitch = "openvswitch";
}

bool is_port(const Interface& link, const NameSelection& ports, const Machine& machine) {
  if (!link.ethernet || ports.excludes(link.name)) return false;
  if (ports.wanted.empty()) return machine.is_default_port(link);
  const bool has_cable =
      link.kind.empty() || link.kind == "veth" || link.kind == "tun" || link.kind == "dsa";
  return std::ranges::any_of(ports.wanted, [&](const std::string& glob) {
    return glob == "*" ? has_cable : glob_match(glob, link.name);
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
