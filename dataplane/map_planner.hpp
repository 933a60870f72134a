// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataplane/backend.hpp"
#include "dataplane/qos_maps.hpp"

/// Planner and read-back of rules that are QoS maps per port, over a store that has them.
namespace lldp::dataplane {

/// Where the maps of ports stand: SONiC's databases, or the objects of a chip. Answers by what was
/// last read.
class MapStore {
 public:
  MapStore() = default;
  MapStore(const MapStore&) = delete;
  MapStore& operator=(const MapStore&) = delete;

  /// Why nothing is known at present.
  [[nodiscard]] virtual std::optional<Error> why_unread() const = 0;
  /// Why no port can have such rules, in a line; nothing: they can.
  [[nodiscard]] virtual std::optional<std::string> why_never(const qos::Ruleset& rules) const = 0;
  /// Fails if the store does not know the port, with what to do.
  [[nodiscard]] virtual Result<void> find_port(const PortRef& port) const = 0;
  /// Something of ours is on the port.
  [[nodiscard]] virtual bool has_ours(const std::string& port) const = 0;
  /// The same of one part, where parts can be there alone.
  [[nodiscard]] virtual bool has_part(const std::string& port, Part) const {
    return has_ours(port);
  }
  /// What the port had before ours is kept.
  [[nodiscard]] virtual bool is_kept(const std::string& port) const { return has_ours(port); }
  /// Fails if what the port had before ours is not known.
  [[nodiscard]] virtual Result<void> can_restore(const std::string& /*port*/) const { return {}; }
  /// The store sets this part of ports.
  [[nodiscard]] virtual bool can_set(Part) const { return true; }
  /// What the rules cost lossy DSCPs. Fails if a chip cannot have the rules.
  [[nodiscard]] virtual Result<MapCosts> costs_of(const qos::Ruleset& rules) = 0;
  /// The port has what the rules say of this part.
  [[nodiscard]] virtual bool is_set(const std::string& port, Part part,
                                    const qos::Ruleset& rules) = 0;
  /// What stands otherwise than the plan says; `set`: the plan has nothing to change of the part.
  [[nodiscard]] virtual std::optional<PartReading> why_not_done(const std::string& port, Part part,
                                                                const qos::Ruleset& rules,
                                                                bool set) = 0;

 protected:
  ~MapStore() = default;
};

/// Backend::plan() and plan_removal(): `want` empty: all that is ours goes. Rules that no port can
/// have are none at all, for half of them is worse. `costs`: of the rules wanted.
[[nodiscard]] Result<PortPlan> plan_maps(MapStore& store, const PortRef& port,
                                         std::optional<qos::Ruleset> want, MapCosts& costs);
/// Backend::verify().
[[nodiscard]] Result<Reading> read_maps(MapStore& store, const PortRef& port,
                                        const qos::Ruleset& want, MapCosts& costs);

/// The end of a back end's description: lossy DSCPs that share a traffic class or move to another
/// queue, and priorities on which these rules have turned PFC off.
[[nodiscard]] std::string map_notes(const MapCosts& costs, unsigned pfc_taken);

}  // namespace lldp::dataplane
