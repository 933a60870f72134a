// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bounded.hpp"
#include "base/bytes.hpp"

namespace lldp::lab::bounce {

/// What a packet is treated by.
struct Marking {
  Dscp dscp{};
  std::uint8_t ecn = 0;           ///< 0 to 3, RFC 3168
  std::optional<Priority> pcp{};  ///< of its VLAN tag, if it has one
  friend bool operator==(const Marking&, const Marking&) = default;
};

/// A UDP packet that is sent to be looked at wherever it passes.
struct ProbePacket {
  std::uint32_t serial = 0;  ///< in its payload, by which it is known again
  std::size_t flow = 0;
  bool v6 = false;
  Marking marking{};
};

/// Every flow has addresses of its own, so that every switch can send it its own way: out of the
/// blocks for benchmarking, RFC 2544 (198.18.0.0/15) and RFC 5180 (2001:2::/48).
[[nodiscard]] std::array<std::uint8_t, 4> ipv4_of(std::size_t flow, bool destination);
[[nodiscard]] std::array<std::uint8_t, 16> ipv6_of(std::size_t flow, bool destination);
/// Where a bridged flow goes, and what every flow comes from.
[[nodiscard]] MacAddress mac_of(std::size_t flow, bool destination);

inline constexpr std::uint8_t kHopLimit = 64;  ///< TTL or hop limit at the start

[[nodiscard]] Bytes frame_of(const ProbePacket& probe, const MacAddress& to);

/// A probe as it was found on a link.
struct Sighting {
  std::uint32_t serial = 0;
  Marking marking{};
  std::uint8_t hop_limit = 0;
  bool checksums_right = false;  ///< of IPv4 and UDP
  MacAddress to{};
  MacAddress from{};
  Bytes rest{};  ///< all octets after the addresses, with what stands above as zero
};

/// Nothing for a frame that is no probe. VLAN tag included in `frame`.
[[nodiscard]] std::optional<Sighting> recognise(ByteSpan frame);

}  // namespace lldp::lab::bounce
