// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
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
  std::size_t most_classes = 0;       ///< that the chip can tell apart; 0: all of them
  std::optional<qos::Class> lossy{};  ///< where the last turn of each chain leads, on a switch
  std::string unexplained{};          ///< PFC that is no evidence, and why; empty: there is none
  friend bool operator==(const OwnClasses&, const OwnClasses&) = default;
};

/// PFC and the DSCP map of one port, without what we set there.
struct PortClasses {
  std::uint8_t pfc = 0;                  ///< bit n: PFC is on for priority n
  std::array<std::uint64_t, 8> dscps{};  ///< of each priority the DSCPs that lead to it, as bits
  friend bool operator==(const PortClasses&, const PortClasses&) = default;
};
/// Sets what `ports` amount to: applications, lossy DSCPs, and what is unexplained. Without
/// DSCPs in a map a class of priority p gets those of 8p to 8p + 7 that lead nowhere else.
void take_ports(OwnClasses& own, std::span<const PortClasses> ports);

}  // namespace lldp::core
