// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "dataplane/sonic/maps.hpp"

namespace lldp::dataplane::sonic {

/// Where the ports' fields were before ours: ours too, so that they outlive us and are saved along.
inline constexpr std::string_view kOriginals = "LLDP_LEVEL|";
inline constexpr std::string_view kPortMaps = "PORT_QOS_MAP|";
inline constexpr std::string_view kWatchdogs = "PFC_WD|";

/// In our row of a port: its watchdog is to take other priorities, once the ASIC has them.
inline constexpr const char* kTouchDue = "touch";

/// What the databases say.
struct View {
  Rows config{};                              ///< of the tables that matter, by `TABLE|KEY`
  std::map<std::string, std::string> oids{};  ///< of ports, by name
  std::map<std::string, Row> asic{};          ///< a port's attributes, by its name
  std::map<std::string, QosMaps> qos_maps{};  ///< of the ASIC, by object id; taken for each kind
  friend bool operator==(const View&, const View&) = default;

  [[nodiscard]] const Row* row(const std::string& key) const;
  /// Of the port's row of PORT_QOS_MAP; empty: not there.
  [[nodiscard]] std::string field(const std::string& port, const char* name) const;
  /// What was there before our rules is noted.
  [[nodiscard]] bool is_noted(const std::string& port) const;
  /// It has rules of ours, or at least goes by a map of ours: somebody may have taken the note
  /// away.
  [[nodiscard]] bool is_ours(const std::string& port) const;
  [[nodiscard]] std::vector<std::string> our_ports() const;
  /// Nobody has set that field of a port of ours since we did.
  [[nodiscard]] bool holds_ours(const std::string& port, const Field& f) const;
  /// The port's field without our rules; empty: it has none.
  [[nodiscard]] std::string original(const std::string& port, const char* name) const;
  /// What is to be put back one day of a port whose row of PORT_QOS_MAP this is; null: nothing.
  [[nodiscard]] const Row* originals_of(const Row* there) const;
  /// The maps that ports had before ours: those of the first that had any, the same at each start.
  [[nodiscard]] QosMaps before() const;
  /// Priorities that had PFC on this port of ours before, and are none of the rules'.
  [[nodiscard]] unsigned pfc_taken(const std::string& port) const;
  /// The table of which the ASIC has not what CONFIG_DB says of a part; COUNTERS_PORT_NAME_MAP: it
  /// has not even the port.
  [[nodiscard]] std::optional<std::string> ignored(const std::string& port, Part part) const;
};

/// The priorities of a list as SONiC writes it, `3,4`; bit n for priority n.
[[nodiscard]] unsigned priorities_of(std::string_view list);
/// Of a field without a reference: the name, in our row of the port, of what we have set it to.
[[nodiscard]] std::string note_of(const Field& f);

}  // namespace lldp::dataplane::sonic
