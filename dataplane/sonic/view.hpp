// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/sonic/maps.hpp"
#include "dataplane/sonic/memory.hpp"

namespace lldp::dataplane::sonic {

inline constexpr std::string_view kPortMaps = "PORT_QOS_MAP|";
inline constexpr std::string_view kWatchdogs = "PFC_WD|";
/// Rows of CONFIG_DB in which earlier versions kept the notes.
inline constexpr std::string_view kOldNotes = "LLDP_LEVEL|";

/// Attributes of a port that are no map of ours.
inline constexpr const char* kPfcAttribute = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL";
inline constexpr const char* kPfcSentAttribute = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX";
inline constexpr const char* kPfcModeAttribute = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE";
inline constexpr const char* kRewriteAttribute = "SAI_PORT_ATTR_UPDATE_DSCP";

/// Which buffers the ASIC has for a port, as far as SONiC tells its priority groups and queues
/// apart (COUNTERS_PG_NAME_MAP, COUNTERS_QUEUE_NAME_MAP): a bit for each priority.
struct AsicBuffers {
  std::uint8_t groups_known = 0;
  std::uint8_t groups_lossless = 0;  ///< with a profile that has an xoff
  std::uint8_t queues_known = 0;
  std::uint8_t queues_set = 0;          ///< with a profile
  std::uint8_t queues_watched = 0;      ///< by the chip's own PFC watchdog
  std::array<std::uint64_t, 8> room{};  ///< octets of each priority group that is lossless
  friend bool operator==(const AsicBuffers&, const AsicBuffers&) = default;
};

/// One reading of the databases, and the notes of ports.
struct View {
  Rows config{};                                    ///< of the tables in use, by `TABLE|KEY`
  Memory notes{};                                   ///< of ports that have, or had, rules of ours
  unsigned traffic_classes = kUsualTrafficClasses;  ///< of the chip, where STATE_DB says it
  std::map<std::string, std::string> oids{};        ///< of ports, by name
  std::map<std::string, Row> asic{};                ///< a port's attributes, by its name
  std::map<std::string, AsicBuffers> buffers{};     ///< by the port's name
  std::map<std::string, QosMaps> qos_maps{};  ///< of the ASIC, by object id; taken for each kind
  /// Octets that all priority groups of a port can have, by its name; absent: no limit.
  std::map<std::string, std::uint64_t> most_room{};
  friend bool operator==(const View&, const View&) = default;

  [[nodiscard]] const Row* row(const std::string& key) const;
  /// A field of the port's row of PORT_QOS_MAP; empty: absent.
  [[nodiscard]] std::string field(const std::string& port, const char* name) const;
  /// The notes of the port; null: none.
  [[nodiscard]] const Row* note(const std::string& port) const;
  /// The originals are noted, and the rules have not been removed.
  [[nodiscard]] bool is_noted(const std::string& port) const;
  /// The port has our rules by its notes or, where the notes were lost, names a map of ours.
  [[nodiscard]] bool is_ours(const std::string& port) const;
  [[nodiscard]] std::vector<std::string> our_ports() const;
  /// Ports without rules whose buffers or watchdog wait for the ASIC to follow.
  [[nodiscard]] std::vector<std::string> leaving_ports() const;
  /// The field of a port of ours still has the value that we wrote.
  [[nodiscard]] bool holds_ours(const std::string& port, const Field& f) const;
  /// The value of the field without our rules; empty: none.
  [[nodiscard]] std::string original(const std::string& port, const char* name) const;
  /// Another client has given the row of PORT_QOS_MAP a map of DSCPs.
  [[nodiscard]] bool is_loaded(const std::string& port) const;
  /// Another client has replaced the row: it names maps, and none of ours.
  [[nodiscard]] bool is_made_anew(const std::string& port) const;
  /// Another client has deleted or remade the row of a port with rules of ours, as `config qos
  /// reload` does. False for a port that had no row before.
  [[nodiscard]] bool is_being_loaded(const std::string& port) const;
  /// The originals to restore later of a port with this row of PORT_QOS_MAP; null: none.
  [[nodiscard]] const Row* originals_of(const Row* there) const;
  /// The value of `pfc_enable` that a removal restores.
  [[nodiscard]] std::string original_pfc(const Row& originals) const;
  /// The maps that ports had before ours: those of the first that had any, the same at each start.
  [[nodiscard]] QosMaps before() const;
  /// Priorities that had PFC on this port before our rules and have none by them.
  [[nodiscard]] unsigned pfc_taken(const std::string& port) const;
  /// PFC of a port in the ASIC, that of sent frames where it is asymmetric; nothing: not known.
  [[nodiscard]] std::optional<std::uint8_t> asic_pfc(const std::string& port) const;
  /// The ASIC is told to rewrite DSCPs by the port's map.
  [[nodiscard]] bool rewrites(const std::string& port) const;
  /// The priorities of `mask` that the map in `field` of the port, if any, leads to another number.
  [[nodiscard]] std::uint8_t led_elsewhere(const std::string& port, const char* field,
                                           const char* table, std::uint8_t mask) const;
  /// The field of the port's row of PORT_QOS_MAP that names a map of others without a row, and that
  /// map: orchagent applies nothing of such a row. Empty: there is none.
  [[nodiscard]] std::pair<std::string, std::string> absent_map(const std::string& port) const;
  /// The table whose rows for this part the ASIC does not have; COUNTERS_PORT_NAME_MAP: it does not
  /// have the port.
  [[nodiscard]] std::optional<std::string> ignored(const std::string& port, Part part) const;
};

/// The note that keeps the value we wrote to a field that names no map.
[[nodiscard]] std::string note_of(const Field& f);
/// The value of the field; empty: absent.
[[nodiscard]] std::string value_of(const Row* row, const std::string& name);

}  // namespace lldp::dataplane::sonic
