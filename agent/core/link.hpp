// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/settings.hpp"
#include "base/bytes.hpp"
#include "base/rare.hpp"

namespace lldp::core {

/// How Priority-based Flow Control stands on a port. IEEE 802.1Q-2018 D.2.10.
struct Pfc {
  std::uint8_t enabled = 0;  ///< bit n = priority n
  std::uint8_t cap = 0;      ///< traffic classes that can do PFC at once
  bool mbc = false;          ///< MACsec bypass capability
  friend bool operator==(const Pfc&, const Pfc&) = default;
};

/// How a link's hardware negotiates, in the numbers of the TLV. IEEE 802.3-2018 79.3.1.
struct MacPhy {
  bool autoneg_supported = false;
  bool autoneg_enabled = false;
  std::uint16_t advertised = 0;
  std::uint16_t mau_type = 0;
  std::uint32_t speed_mbps = 0;  ///< at which the link runs; no TLV; 0: not known
  friend bool operator==(const MacPhy&, const MacPhy&) = default;
};

/// What neighbors are told of a link, and many have nothing of.
struct LinkDetails {
  std::optional<PortId> port_id{};     ///< becomes the Port ID in place of the link's name
  std::string description{};           ///< Port Description TLV; empty: the name
  Ifindex aggregate{};                 ///< the link aggregation it is a member of; 0: none
  std::optional<MacPhy> mac_phy{};     ///< nullopt: the driver does not say
  std::uint16_t port_vlan = 0;         ///< VLAN of untagged frames; 0: none
  std::vector<std::uint16_t> vlans{};  ///< that pass here, rising
  std::string rail_group{};            ///< of NICs, for Settings::rails; empty: none
  friend bool operator==(const LinkDetails&, const LinkDetails&) = default;
};

/// A link that the agent speaks on, as the kernel reports it.
struct Link {
  Ifindex ifindex{};
  std::string name{};    ///< becomes the Port ID
  MacAddress address{};  ///< source address of frames
  bool up = false;       ///< carrier and admin state: frames pass
  /// Counts up at each change of carrier, so that one that came and went between two reports is
  /// seen.
  std::uint32_t carrier_changes = 0;
  std::uint32_t mtu = 1500;
  std::optional<Pfc> pfc{};                            ///< nullopt: the driver does not say
  std::optional<Layers> layers{};                      ///< what the operator says that it joins
  AdminStatus adminStatus = AdminStatus::enabledRxTx;  ///< leaving Tx sends a shutdown LLDPDU
  bool may_be_unheard = false;    ///< `port.NAME.unheard = ok`: no alarm that nothing is heard
  bool may_be_crosslink = false;  ///< `port.NAME.crosslink = yes`: no alarm that it is one
  Rare<LinkDetails> details{};
  friend bool operator==(const Link&, const Link&) = default;
};

}  // namespace lldp::core
