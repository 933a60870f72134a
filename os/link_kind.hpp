// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lldp {

/// Whether an interface of this kind (IFLA_INFO_KIND; empty: a device of its own) stands on other
/// interfaces, or is made of them: a VLAN, bond, macvlan, bridge, VRF, tunnel. `linked`: it has an
/// IFLA_LINK.
[[nodiscard]] inline bool is_stacked(std::string_view kind, bool linked) {
  constexpr std::string_view kMadeOfOthers[] = {"batadv", "bond", "bridge",    "geneve",
                                                "gretap", "hsr",  "ip6gretap", "openvswitch",
                                                "team",   "vrf",  "vxlan"};
  // Their IFLA_LINK is the other end of a cable, or the switch's own interface.
  constexpr std::string_view kLinked[] = {"dsa", "netkit", "veth"};
  const auto is_of = [&](const auto& kinds) {
    return std::ranges::find(kinds, kind) != std::end(kinds);
  };
  if (kind.empty() || is_of(kLinked)) return false;
  return linked || is_of(kMadeOfOthers);
}

}  // namespace lldp
