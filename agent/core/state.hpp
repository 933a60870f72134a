// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bounded.hpp"
#include "base/fabric.hpp"
#include "base/time.hpp"
#include "qos/chains.hpp"

namespace lldp::core {

/// Who was heard on a port last: what its order goes by, and what silence does not change.
/// docs/rules.md O2.
struct PortMemory {
  enum class Kind : std::uint8_t {
    kNobody,
    kHost,
    kSwitch,
    kAbove,  ///< a switch, and the carrier went since: the device there now may stand above us
    kLeft,   ///< no neighbor; a switch fell silent, and no other was heard since
  };
  Kind kind = Kind::kNobody;
  Position at{};        ///< of kSwitch: the highest that was told
  std::string tiers{};  ///< of kSwitch: the octets of the LocationTlv that it told
  std::optional<Layers>
      layers{};  ///< the layers that all neighbors told of their end, if they agreed
  /// What was set here when they did, and has not been set anew since: docs/rules.md O6.
  std::optional<Layers> own_layers{};
  /// Of kAbove and kLeft: ours when the carrier went. Whoever it is may hold us for no more.
  std::optional<Position> place{};
  [[nodiscard]] bool is_switch() const { return kind == Kind::kSwitch || kind == Kind::kAbove; }
  /// One is, or was and has not been followed by anybody.
  [[nodiscard]] bool misses_switch() const { return is_switch() || kind == Kind::kLeft; }
  friend bool operator==(const PortMemory&, const PortMemory&) = default;
};

/// A port's memory, by the port's name. It holds on if the port is the same one and its carrier has
/// not gone since.
struct PortState {
  std::string name{};
  PortMemory memory{};
  Ifindex ifindex{};
  std::optional<std::uint32_t> carrier_changes{};  ///< nullopt: the carrier has gone since
  friend bool operator==(const PortState&, const PortState&) = default;
};

/// What outlives a restart: the content of the state file as a value. docs/rules.md, "State of the
/// device".
struct State {
  std::optional<ChassisId> chassis_id{};
  std::optional<Level> level{};
  Duration supported{};                       ///< S: total time with support at this level
  std::vector<std::uint64_t> surroundings{};  ///< A: hashes of chassis IDs, rising
  std::optional<Position> place{};            ///< P; level 0: it was a host
  std::optional<Role> role{};
  Tiers location{};
  std::optional<TimePoint>
      location_until{};            ///< of what no port tells (P4); nothing: they tell all
  std::vector<PortState> ports{};  ///< that remember somebody; by name
  /// False: who is not among `ports` may be a port of which nothing was heard yet. docs/rules.md O4
  bool knows_ports = true;
  qos::Chains classes{};  ///< in force, as they were learned
  friend bool operator==(const State&, const State&) = default;
};

}  // namespace lldp::core
