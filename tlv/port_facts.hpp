// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"

/// What an agent tells of the port that it sends by: the TLVs of IEEE 802.3.
namespace lldp::tlv {

/// 0: it does not tell.
struct PortFacts {
  std::uint32_t speed_mbps = 0;    ///< by the type of its MAU
  std::uint16_t frame_octets = 0;  ///< Maximum Frame Size
  friend bool operator==(const PortFacts&, const PortFacts&) = default;
};
[[nodiscard]] PortFacts port_facts(ByteSpan lldpdu);

/// In Mb/s by the name of a MAU type, ours or that of lldpctl: `100gbase-cr4`, `1000BaseTFD - ...`,
/// `2p5GbaseT - ...`; 0: it tells none.
[[nodiscard]] std::uint32_t speed_of_mau(std::string_view name);

inline constexpr unsigned kFrameHeader = 14;  ///< what a frame has beside its MTU, for Linux
inline constexpr unsigned kTagAndCheck = 8;   ///< counted by some agents, and not by others

/// The MTU behind a Maximum Frame Size: without the check sequence and a tag if that gives a round
/// number. The true one may be up to kTagAndCheck octets from it.
[[nodiscard]] unsigned mtu_of(unsigned frame_octets);

}  // namespace lldp::tlv
