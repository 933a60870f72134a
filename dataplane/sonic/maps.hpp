// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "qos/ruleset.hpp"

/// The rules as SONiC's QoS maps. Pure.
namespace lldp::dataplane::sonic {

/// A row of a table: field to value.
using Row = std::map<std::string, std::string>;
/// Rows by their key, `TABLE|NAME`.
using Rows = std::map<std::string, Row>;

/// What the port's own maps were before ours: they say which lossy DSCPs somebody tells apart.
struct Base {
  Row dscp_to_tc{};
  Row tc_to_queue{};
  Row tc_to_pg{};
};

/// What one port needs.
struct Maps {
  Rows rows{};  ///< shared by all ports that need the same
  Row port{};   ///< fields of its PORT_QOS_MAP row; empty: the field must not be there
  /// DSCPs with a traffic class of their own before, for which none is left: they leave up ports as
  /// the lossy class does.
  std::vector<Dscp> collapsed{};
};

/// The fields of PORT_QOS_MAP that are ours, and the table that each refers to; none for PFC.
struct Field {
  const char* name = "";
  const char* table = "";
};
inline constexpr Field kFields[] = {{"dscp_to_tc_map", "DSCP_TO_TC_MAP"},
                                    {"tc_to_dscp_map", "TC_TO_DSCP_MAP"},
                                    {"tc_to_queue_map", "TC_TO_QUEUE_MAP"},
                                    {"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"},
                                    {"pfc_enable", ""},
                                    {"pfcwd_sw_enable", ""}};
/// Down ports have no rewriting.
[[nodiscard]] constexpr bool may_lack(const Field& f) {
  return std::string_view(f.name) == "tc_to_dscp_map";
}

/// The traffic class carries whether a packet came in by an up port: each lossless class has one
/// for either way, its priority, and another for what came from above. Where it leaves, that class
/// becomes the next one at an up port, and itself at any other. A port of unknown order has the
/// maps of a down port: nothing turns there.
[[nodiscard]] Result<Maps> maps_of(const qos::Ruleset& rules, const Base& base);

}  // namespace lldp::dataplane::sonic
