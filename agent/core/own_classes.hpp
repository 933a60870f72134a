// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qos/chains.hpp"

namespace lldp::core {

/// What a device itself knows of its lossless classes.
struct OwnClasses {
  /// By its configuration; `none` is an empty list. nullopt: `auto`, they are learned.
  std::optional<qos::Chains> configured{};
  qos::Chains platform{};  ///< that the platform has turns for (SONiC's tunnel_qos_remap)
  /// By the platform's PFC and its map of DSCPs. What we set ourselves is not among them.
  std::vector<qos::LosslessClass> applications{};
  qos::DscpSet lossy_dscps{};         ///< that the platform's map leads to a lossy priority
  std::uint8_t lossy_priorities = 0;  ///< with a lossy queue in use; bit n for priority n
  std::string unexplained{};          ///< PFC that is no evidence, and why; empty: there is none
  friend bool operator==(const OwnClasses&, const OwnClasses&) = default;
};

}  // namespace lldp::core
