// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/fabric.hpp"

namespace lldp::core {

/// What the agent goes by of what a neighbor tells.
struct Told {
  DeviceType device = DeviceType::kUnknown;
  std::optional<Level> level{};  ///< of a host 0; of others never 0
  PortType port = PortType::kUnmarked;
  bool tlvs_conflict = false;
  bool location_conflicts = false;  ///< with its level or its chassis ID, and so is not taken
  bool claims_switch = false;       ///< by a TLV of ours
  bool forwards = false;            ///< a switch by a TLV of ours, else by what it shows
  std::optional<std::uint8_t> pfc_enabled{};  ///< bit n = priority n; nullopt: it does not say
  std::optional<Layers> layers{};             ///< what its end of the link joins, by its own word
  std::uint16_t rxTTL = 0;
  friend bool operator==(const Told&, const Told&) = default;
};

}  // namespace lldp::core
