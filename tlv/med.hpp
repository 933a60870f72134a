// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tlv/layout.hpp"

/// Of the TLVs of LLDP-MED (OUI 00-12-BB, ANSI/TIA-1057) the one that says what a device is.
namespace lldp::tlv {

/// 10.2.2
struct MedCapabilities {
  static constexpr Key kKey{kOrganizational, kTia, 0x01};
  static constexpr std::uint8_t kNetworkConnectivity = 4;
  std::uint16_t capabilities = 0;
  std::uint8_t device_class = 0;
  /// Classes I to III: what stands at the edge of the network. 10.2.2.2.
  [[nodiscard]] constexpr bool is_endpoint() const {
    return device_class >= 1 && device_class < kNetworkConnectivity;
  }
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kCapabilities[] = {{0, "capabilities"}, {1, "network-policy"}, {2, "location"},
                                      {3, "power-pse"},    {4, "power-pd"},       {5, "inventory"}};
    constexpr Name kClasses[] = {{1, "endpoint-1"},
                                 {2, "endpoint-2"},
                                 {3, "endpoint-3"},
                                 {kNetworkConnectivity, "network-connectivity"}};
    io.flags("capabilities", v.capabilities, 16, kCapabilities);
    io.choice("class", v.device_class, 8, kClasses);
  }
  friend bool operator==(const MedCapabilities&, const MedCapabilities&) = default;
};

}  // namespace lldp::tlv
