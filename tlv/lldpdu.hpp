// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tl/expected.hpp>

#include "base/bytes.hpp"
#include "tlv/claim.hpp"

namespace lldp::tlv {

inline constexpr std::uint16_t kEtherType = 0x88cc;  ///< IEEE 802.1AB-2016 7.2
using Oui = std::array<std::uint8_t, 3>;

/// Why a whole LLDPDU is discarded. IEEE 802.1AB-2016 9.2.7.7.1, 9.2.7.7.2.
enum class Discard : std::uint8_t {
  kChassisId,  ///< first TLV is no Chassis ID of 2 to 256 octets
  kPortId,     ///< second TLV is no Port ID of 2 to 256 octets
  kTtl,        ///< third TLV is no Time To Live of 2 or more octets
  kDuplicate,  ///< a second Chassis ID, Port ID or Time To Live TLV
  kEndLength,  ///< End TLV with information
};
[[nodiscard]] std::string_view to_string(Discard d);  ///< one line for a person

/// What a receiver makes of organizational TLVs: the OUIs under which subtype 1 is the contribution
/// TLV.
struct Dialect {
  std::span<const Oui> contribution_ouis;
};

/// System Capabilities TLV: bits as in IEEE 802.1AB-2016 Table 8-4 (bit 0 = Other).
struct Capabilities {
  static constexpr std::uint16_t kBridge = 1U << 2;
  static constexpr std::uint16_t kRouter = 1U << 4;
  static constexpr std::uint16_t kStationOnly = 1U << 7;
  std::uint16_t system = 0;
  std::uint16_t enabled = 0;
  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

/// A valid LLDPDU, seen in place: everything borrows from the octets that were decoded.
struct LldpduView {
  std::uint8_t chassis_subtype = 0;
  ByteSpan chassis_octets;
  std::uint8_t port_subtype = 0;
  ByteSpan port_octets;
  std::uint16_t ttl = 0;  ///< seconds; 0: shutdown, and nothing after it was read
  std::optional<std::string_view> port_description{};
  std::optional<std::string_view> system_name{};
  std::optional<std::string_view> system_description{};
  std::optional<Capabilities> capabilities{};
  std::optional<Claim> tr{};
  std::optional<Claim> contribution{};
  std::uint16_t tlvs_discarded = 0;     ///< for statsTLVsDiscardedTotal
  std::uint16_t tlvs_unrecognized = 0;  ///< for statsTLVsUnrecognizedTotal
  bool in_error = false;                ///< for statsFramesInErrorsTotal
  ByteSpan octets;                      ///< the LLDPDU as far as it was read, without padding
};

/// Validates an LLDPDU (what follows the EtherType) by the receive rules. Allocates nothing.
[[nodiscard]] tl::expected<LldpduView, Discard> decode(ByteSpan lldpdu, const Dialect& dialect);

}  // namespace lldp::tlv
