// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/platform.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "dataplane/sonic/buffers.hpp"

namespace lldp::dataplane::sonic {
namespace {

std::optional<Priority> priority(const QosMap& map, unsigned key) {
  const auto at = map.find(key);
  return at == map.end() ? std::nullopt : Priority::make(at->second);
}

QosMap map_named(const View& view, std::string_view table, const std::string& name) {
  const Row* row = name.empty() ? nullptr : view.row(std::string(table) + "|" + name);
  return row == nullptr ? QosMap() : map_of(*row);
}

/// From DSCP by the traffic class to the priority group, which is the priority that PFC pauses.
/// Where no map names the group, it has the number of the traffic class.
PlatformClasses::Port port_of(const View& view, const std::string& name) {
  PlatformClasses::Port port;
  port.pfc = mask_of_list(view.original(name, "pfc_enable"));
  const QosMap classes = map_named(view, "DSCP_TO_TC_MAP", view.original(name, "dscp_to_tc_map"));
  const QosMap groups =
      map_named(view, "TC_TO_PRIORITY_GROUP_MAP", view.original(name, "tc_to_pg_map"));
  for (const auto& [dscp, tc] : classes) {
    if (dscp > Dscp::kMax) continue;
    const auto p = groups.empty() ? Priority::make(tc) : priority(groups, tc);
    if (p) port.dscps.at(p->value()) |= std::uint64_t{1} << dscp;
  }
  return port;
}

bool remaps_tunnels(const View& view) {
  const Row* row = view.row("SYSTEM_DEFAULTS|tunnel_qos_remap");
  if (row == nullptr) return false;
  const auto status = row->find("status");
  return status != row->end() && status->second == "enabled";
}

/// SONiC's own turns at a port. `watched`: its application classes.
void take_turns(const View& view, const PlatformClasses::Port& port, unsigned watched,
                qos::Chains& chains) {
  const QosMap queues = map_named(view, "TC_TO_QUEUE_MAP", "AZURE_TUNNEL");
  const QosMap marks = map_named(view, "TC_TO_DSCP_MAP", "AZURE_TUNNEL");
  for (unsigned p = 1; p <= Priority::kMax; ++p) {
    const qos::DscpSet dscps(port.dscps.at(p));
    const auto spare = priority(queues, p);
    const auto mark = marks.find(p);
    const auto dscp = mark == marks.end() ? std::nullopt : Dscp::make(mark->second);
    if ((watched >> p & 1U) == 0 || dscps.empty() || !spare || !dscp) continue;
    const unsigned q = spare->value();
    if ((port.pfc >> q & 1U) == 0 || (watched >> q & 1U) != 0) continue;
    const auto known = std::ranges::find(
        chains, *Priority::make(p), [](const qos::Chain& c) { return c.application().priority; });
    if (known != chains.end()) continue;
    chains.push_back({{qos::lossless_class(*Priority::make(p), dscps),
                       qos::lossless_class(qos::Class{*spare, *dscp})}});
  }
}

}  // namespace

PlatformClasses platform_of(const View& view) {
  PlatformClasses out{.most_classes = most_lossless(view.traffic_classes)};
  const bool remaps = remaps_tunnels(view);
  for (auto at = view.config.lower_bound("PORT|");
       at != view.config.end() && at->first.starts_with("PORT|"); ++at) {
    const std::string name = at->first.substr(5);
    PlatformClasses::Port port = port_of(view, name);
    if (port == PlatformClasses::Port()) continue;
    const unsigned watched = mask_of_list(view.original(name, "pfcwd_sw_enable"));
    if (remaps && watched != 0) {
      take_turns(view, port, watched, out.chains);
      port.pfc = static_cast<std::uint8_t>(port.pfc & watched);
    }
    if (std::ranges::find(out.ports, port) == out.ports.end()) out.ports.push_back(port);
  }
  return out;
}

}  // namespace lldp::dataplane::sonic
