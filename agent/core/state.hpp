// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/port_order.hpp"
#include "base/bounded.hpp"
#include "base/fabric.hpp"
#include "base/time.hpp"
#include "qos/chains.hpp"

namespace lldp::core {

/// The last neighbor of a port by what all LLDP agents tell, unchanged by silence: its location,
/// its layers, and its order where no agent of ours was ever heard. docs/develop/rules.md A3.
struct PortMemory {
  enum class Kind : std::uint8_t {
    kNobody,
    kHost,
    kSwitch,
    kAbove,  ///< a switch, and the carrier went since: the device there now may stand above us
    kLeft,   ///< no neighbor; a switch fell silent, and no other was heard since
  };
  Kind kind = Kind::kNobody;
  std::optional<Layers>
      layers{};  ///< the layers that all neighbors told of their end, if they agreed
  /// What was set here when they did, and has not been set anew since: docs/develop/rules.md O6.
  std::optional<Layers> own_layers{};
  Position at{};        ///< of kSwitch: the highest that was told
  std::string tiers{};  ///< of kSwitch: the octets of the LocationTlv that it told
  [[nodiscard]] bool is_switch() const { return kind == Kind::kSwitch || kind == Kind::kAbove; }
  /// A switch is there, or was and no other neighbor has followed it.
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
  std::vector<KnownAgent> agents{};                ///< that were ever heard there
  std::optional<Position> others{};                ///< the lowest belief of those without room
  bool ever_heard = false;                         ///< something was
  std::uint64_t born_before = 0;                   ///< agents heard anywhere when the carrier came
  Order in_force = Order::kUnknown;
  std::uint8_t requested = 0;  ///< bit n: the Order of that number may be under way
  friend bool operator==(const PortState&, const PortState&) = default;
};

/// Boots of one agent ID are numbered up to here.
inline constexpr std::uint32_t kLastBoot = ~std::uint32_t{};

/// What outlives a restart: the content of the state file as a value. docs/develop/rules.md, "State
/// of the device".
struct State {
  std::optional<ChassisId> chassis_id{};
  std::optional<Level> level{};
  Duration supported{};                       ///< S: total time with support at this level
  std::vector<std::uint64_t> surroundings{};  ///< A: hashes of chassis IDs, rising
  AgentId agent = 0;                          ///< 0: no order was ever kept
  std::optional<ChassisId> rank_id{};         ///< the chassis ID at the first start
  std::uint32_t boot = 0;
  Position rank{};             ///< R
  Position bound{};            ///< B
  bool lost = false;           ///< docs/develop/rules.md A9: it was, and R is at the bottom
  std::uint64_t births = 0;    ///< agents that were heard first, on all ports
  std::optional<Role> role{};  ///< as it was told
  Tiers location{};
  std::optional<TimePoint>
      location_until{};            ///< of what no port tells (P4); nothing: they tell all
  std::vector<PortState> ports{};  ///< with a memory; by name
  qos::Chains classes{};           ///< in force, as they were learned
  friend bool operator==(const State&, const State&) = default;
};

}  // namespace lldp::core
