// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/sonic/maps.hpp"
#include "dataplane/sonic/memory.hpp"

namespace lldp::dataplane::sonic {

inline constexpr std::string_view kPortMaps = "PORT_QOS_MAP|";
inline constexpr std::string_view kWatchdogs = "PFC_WD|";
/// Where the ports' fields were kept before there was a file for them.
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

/// What the databases say, and what is kept of the ports.
struct View {
  Rows config{};                                    ///< of the tables that matter, by `TABLE|KEY`
  Memory notes{};                                   ///< of ports that have, or had, rules of ours
  unsigned traffic_classes = kUsualTrafficClasses;  ///< of the chip, where STATE_DB says it
  std::map<std::string, std::string> oids{};        ///< of ports, by name
  std::map<std::string, Row> asic{};                ///< a port's attributes, by its name
  std::map<std::string, AsicBuffers> buffers{};     ///< by the port's name
  std::map<std::string, QosMaps> qos_maps{};  ///< of the ASIC, by object id; taken for each kind
  /// Octets that the priority groups of a port can have in all, by its name; not there: any.
  std::map<std::string, std::uint64_t> most_room{};
  friend bool operator==(const View&, const View&) = default;

  [[nodiscard]] const Row* row(const std::string& key) const;
  /// Of the port's row of PORT_QOS_MAP; empty: not there.
  [[nodiscard]] std::string field(const std::string& port, const char* name) const;
  /// What is kept of the port; null: nothing.
  [[nodiscard]] const Row* note(const std::string& port) const;
  /// What was there before our rules is noted, and they have not been taken off.
  [[nodiscard]] bool is_noted(const std::string& port) const;
  /// It has rules of ours, or at least goes by a map of ours: somebody may have taken the note
  /// away.
  [[nodiscard]] bool is_ours(const std::string& port) const;
  [[nodiscard]] std::vector<std::string> our_ports() const;
  /// Ports without rules whose buffers or watchdog wait for the ASIC to follow.
  [[nodiscard]] std::vector<std::string> leaving_ports() const;
  /// Nobody has set that field of a port of ours since we did.
  [[nodiscard]] bool holds_ours(const std::string& port, const Field& f) const;
  /// The port's field without our rules; empty: it has none.
  [[nodiscard]] std::string original(const std::string& port, const char* name) const;
  /// Others have given the row of PORT_QOS_MAP a map of DSCPs.
  [[nodiscard]] bool is_loaded(const std::string& port) const;
  /// The row was made anew by others: it names maps, and none of ours.
  [[nodiscard]] bool is_made_anew(const std::string& port) const;
  /// What is to be put back one day of a port whose row of PORT_QOS_MAP this is; null: nothing.
  [[nodiscard]] const Row* originals_of(const Row* there) const;
  /// What PFC is put back to.
  [[nodiscard]] std::string original_pfc(const Row& originals) const;
  /// The maps that ports had before ours: those of the first that had any, the same at each start.
  [[nodiscard]] QosMaps before() const;
  /// Priorities that had PFC on this port of ours before, and are none of the rules'.
  [[nodiscard]] unsigned pfc_taken(const std::string& port) const;
  /// PFC of a port as the ASIC has it: where it is asymmetric, as it is sent. Nothing: not known.
  [[nodiscard]] std::optional<std::uint8_t> asic_pfc(const std::string& port) const;
  /// The ASIC is told to rewrite DSCPs by the port's map.
  [[nodiscard]] bool rewrites(const std::string& port) const;
  /// Of these priorities those that a map of the port, if it names one, leads elsewhere.
  [[nodiscard]] std::uint8_t led_elsewhere(const std::string& port, const char* field,
                                           const char* table, std::uint8_t mask) const;
  /// The table of which the ASIC has not what CONFIG_DB says of a part; COUNTERS_PORT_NAME_MAP: it
  /// has not even the port.
  [[nodiscard]] std::optional<std::string> ignored(const std::string& port, Part part) const;
};

/// Of a field without a reference: the name, in what is kept of the port, of what we have set it
/// to.
[[nodiscard]] std::string note_of(const Field& f);
/// Empty where it is not there.
[[nodiscard]] std::string value_of(const Row* row, const std::string& name);

}  // namespace lldp::dataplane::sonic
