// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/qos_maps.hpp"
#include "qos/ruleset.hpp"

/// The rules as SONiC's QoS maps. Pure.
namespace lldp::dataplane::sonic {

/// A row of a table: field to value.
using Row = std::map<std::string, std::string>;
/// Rows by their key, `TABLE|NAME`.
using Rows = std::map<std::string, Row>;

/// What one port needs.
struct Maps {
  Rows rows{};  ///< shared by all ports that need the same
  Row port{};   ///< fields of its PORT_QOS_MAP row; empty: the field must not be there
  MapCosts costs{};
  bool last_hop_lossy = false;       ///< PortMaps::last_hop_lossy
  std::optional<unsigned> merged{};  ///< PortMaps::merged
};

/// A field of PORT_QOS_MAP that is ours, and how it is found in the ASIC.
struct Field {
  const char* name = "";
  Part part{};
  /// If the field names a map of ours: its kind, its table, and the members of the keys and values
  /// of the ASIC's object.
  std::optional<MapKind> map{};
  const char* table = "";
  const char* key = "";
  const char* value = "";
  const char* attribute = "";  ///< of the port; empty: the watchdog is SONiC's own
};
inline constexpr Field kFields[] = {
    {"dscp_to_tc_map", Part::kClassify, MapKind::kDscpToTc, "DSCP_TO_TC_MAP", "dscp", "tc",
     "SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP"},
    {"tc_to_dscp_map", Part::kRemap, MapKind::kTcToDscp, "TC_TO_DSCP_MAP", "tc", "dscp",
     "SAI_PORT_ATTR_QOS_TC_AND_COLOR_TO_DSCP_MAP"},
    {"tc_to_queue_map", Part::kRemap, MapKind::kTcToQueue, "TC_TO_QUEUE_MAP", "tc", "qidx",
     "SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP"},
    {"tc_to_pg_map", Part::kQueues, MapKind::kTcToGroup, "TC_TO_PRIORITY_GROUP_MAP", "tc", "pg",
     "SAI_PORT_ATTR_QOS_TC_TO_PRIORITY_GROUP_MAP"},
    {.name = "pfc_enable", .part = Part::kPfc, .attribute = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL"},
    {.name = "pfcwd_sw_enable", .part = Part::kPfc}};

/// True for the name of a map of ours; an operator's own may be like it.
[[nodiscard]] bool is_our_map(std::string_view name);
/// A row of a map's table; what is no number is left out.
[[nodiscard]] QosMap map_of(const Row& row);
/// The rules as rows, for a chip with that many traffic classes.
[[nodiscard]] Result<Maps> maps_of(const qos::Ruleset& rules, const QosMaps& before,
                                   unsigned classes);

}  // namespace lldp::dataplane::sonic
