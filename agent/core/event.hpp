// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/fabric.hpp"

/// What events say, in words.
namespace lldp::core {

/// 3, or none.
[[nodiscard]] std::string level_text(std::optional<Level> level);
/// none -> 3
[[nodiscard]] std::string level_change_text(std::optional<Level> before,
                                            std::optional<Level> after);

/// What a port is to the device.
struct PortLabel {
  PortType type = PortType::kUnmarked;
  Order order = Order::kUnknown;
  bool restores = false;  ///< spare classes end there
  friend bool operator==(const PortLabel&, const PortLabel&) = default;
};
/// unmarked -> uplink, order unknown -> up; where the two stay, `downlink, spare classes restored`.
[[nodiscard]] std::string port_change_text(PortLabel before, PortLabel after);

}  // namespace lldp::core
