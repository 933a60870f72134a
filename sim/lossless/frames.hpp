// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bounded.hpp"
#include "base/bytes.hpp"

/// Real frames, as far as a lossless IPv4 switch has to know them.
namespace lldp::lab::lossless {

/// Octets of a frame on the wire that a packet socket does not see.
inline constexpr std::uint32_t kFcsOctets = 4;

/// Priority-based Flow Control, IEEE 802.1Q-2018 clause 36: for how many times 512 bit times each
/// priority is to stop, 0 to go on; nothing for a priority that the frame does not speak of.
struct PfcFrame {
  std::array<std::optional<std::uint16_t>, 8> quanta{};
  friend bool operator==(const PfcFrame&, const PfcFrame&) = default;
};
[[nodiscard]] Bytes format(const PfcFrame& pause, const MacAddress& from);
/// Nothing for a frame that is none.
[[nodiscard]] std::optional<PfcFrame> parse_pfc(ByteSpan frame);

using Ipv4 = std::array<std::uint8_t, 4>;

/// What a router looks at in an Ethernet frame with an IPv4 packet.
struct Ipv4Frame {
  Dscp dscp{};
  std::uint8_t ttl = 0;
  Ipv4 to{};
};
/// Nothing for a frame that is none, is tagged, or whose header or checksum is wrong.
[[nodiscard]] std::optional<Ipv4Frame> parse_ipv4(ByteSpan frame);

/// What a router does to a frame that parse_ipv4() took: addresses of the next link, the hop limit
/// one less, and the DSCP, with the checksum.
void forward(Bytes& frame, const MacAddress& from, const MacAddress& to, Dscp dscp);

/// A packet of the lab's own traffic.
struct Load {
  std::uint16_t flow = 0;
  std::uint32_t number = 0;  ///< in the flow
  Dscp dscp{};
  friend bool operator==(const Load&, const Load&) = default;
};
/// `octets` on the wire, FCS included: 90 at least.
[[nodiscard]] Bytes format(const Load& load, std::size_t octets, const MacAddress& from,
                           const MacAddress& to);
[[nodiscard]] std::optional<Load> parse_load(ByteSpan frame);

}  // namespace lldp::lab::lossless
