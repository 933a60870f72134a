// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/fabric.hpp"

namespace lldp::tlv {

/// What a device says of itself and of the port it sends on: the one meaning of the `tr` and the
/// `contribution` TLV, which number ports differently. Reserved wire values become kUnknown,
/// nullopt and kUnmarked here; the TLV structs keep them as numbers.
struct Claim {
  DeviceType device = DeviceType::kUnknown;
  std::optional<Level> level{};  ///< nullopt: unknown
  PortType port = PortType::kUnmarked;
  friend bool operator==(const Claim&, const Claim&) = default;
};

}  // namespace lldp::tlv
