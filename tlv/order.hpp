// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/fabric.hpp"
#include "tlv/layout.hpp"

/// The order by acknowledgement: a TLV of ours, subtype 4 under the OUI of the contribution TLV.
/// docs/develop/rules.md A1 says what it means.
namespace lldp::tlv {

/// 64 random bits that identify a device, in two numbers.
struct AgentIdField {
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  [[nodiscard]] constexpr std::uint64_t value() const { return std::uint64_t{high} << 32 | low; }
  static constexpr AgentIdField of(std::uint64_t id) {
    return {static_cast<std::uint32_t>(id >> 32), static_cast<std::uint32_t>(id)};
  }
  friend bool operator==(const AgentIdField&, const AgentIdField&) = default;
};

/// A neighbor that the sender hears on the port.
struct OrderEntry {
  static constexpr std::size_t kOctets = 21;
  static constexpr std::uint8_t kWaits = 1;
  AgentIdField agent{};
  std::uint32_t boot = 0;
  std::uint32_t session = 0;
  std::uint32_t acknowledged = 0;  ///< the highest sequence number; 0: none
  std::uint8_t flags = 0;
  [[nodiscard]] bool waits() const { return (flags & kWaits) != 0; }
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kFlags[] = {{0, "waits"}};
    io.field("agent-id-high", v.agent.high, 32)
        .field("agent-id-low", v.agent.low, 32)
        .field("boot", v.boot, 32)
        .field("session", v.session, 32)
        .field("acknowledged", v.acknowledged, 32)
        .flags("flags", v.flags, 8, kFlags);
  }
  friend bool operator==(const OrderEntry&, const OrderEntry&) = default;
};

struct OrderTlv {
  static constexpr Key kKey{kOrganizational, 0x024c56, 0x04};  ///< the default OUI
  static constexpr std::uint8_t kHost = 1;
  static constexpr std::uint8_t kMore = 2;  ///< more neighbors are heard than there are entries
  static constexpr std::uint8_t kNoLevel = 255;
  static constexpr std::size_t kMostEntries = 22;
  std::uint8_t flags = 0;
  AgentIdField agent{};
  std::uint32_t boot = 0;
  std::uint32_t session = 0;
  std::uint32_t sequence = 0;
  std::uint8_t level = kNoLevel;  ///< of the bound
  Octets rank_id{};               ///< of the bound: subtype and chassis ID; empty: the bottom
  std::uint8_t count = 0;         ///< of entries
  List<OrderEntry, kMostEntries> entries{};
  /// Of a bound that can be; the bottom has neither level nor rank ID.
  [[nodiscard]] bool consistent() const {
    const bool bottom = level == kNoLevel;
    return count == entries.count && agent.value() != 0 &&
           (bottom ? rank_id.empty() : level > 0 && level <= Level::kMax && rank_id.size() >= 2);
  }
  /// Entries for which a TLV with such a rank ID has room.
  [[nodiscard]] static constexpr std::size_t room(std::size_t rank_id_octets) {
    const std::size_t octets = kMaxInformation - 4 - 24 - rank_id_octets;
    return octets / OrderEntry::kOctets < kMostEntries ? octets / OrderEntry::kOctets
                                                       : kMostEntries;
  }
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kFlags[] = {{0, "host"}, {1, "more"}};
    constexpr Name kLevels[] = {{kNoLevel, "none"}};
    io.flags("flags", v.flags, 8, kFlags)
        .field("agent-id-high", v.agent.high, 32)
        .field("agent-id-low", v.agent.low, 32)
        .field("boot", v.boot, 32)
        .field("session", v.session, 32)
        .field("sequence", v.sequence, 32)
        .choice("level", v.level, 8, kLevels)
        .counted("rank-id", v.rank_id, 0, 255)
        .field("entries", v.count, 8)
        .list("neighbors", v.entries);
  }
  friend bool operator==(const OrderTlv&, const OrderTlv&) = default;
};

}  // namespace lldp::tlv
