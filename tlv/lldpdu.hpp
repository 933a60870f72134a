// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tl/expected.hpp>

#include "base/bytes.hpp"
#include "tlv/basic.hpp"
#include "tlv/claim.hpp"
#include "tlv/layout.hpp"

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
/// TLV, subtype 2 the one of the location, 3 the one of layers, 4 the one of the order, and 5 the
/// one of classes.
struct Dialect {
  std::span<const Oui> contribution_ouis;
};

/// A valid LLDPDU, seen in place: everything borrows from the octets that were decoded.
struct LldpduView {
  // NOLINTNEXTLINE(modernize-use-equals-default): decode() would zero what it then fills
  LldpduView() {}
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
  ByteSpan location{};             ///< of a LocationTlv; empty: there is none
  ByteSpan order{};                ///< of an OrderTlv; empty: there is none
  std::optional<Layers> layers{};  ///< as the sender sees them
  /// By the PFC TLV, else by DCBX of old; bit n = priority n.
  std::optional<std::uint8_t> pfc_enabled{};
  std::uint16_t tlvs_discarded = 0;     ///< for statsTLVsDiscardedTotal
  std::uint16_t tlvs_unrecognized = 0;  ///< for statsTLVsUnrecognizedTotal
  bool in_error = false;                ///< for statsFramesInErrorsTotal
  ByteSpan octets;                      ///< the LLDPDU as far as it was read, without padding
};

/// Validates an LLDPDU (what follows the EtherType) by the receive rules of IEEE
/// 802.1AB-2016 9.2.7.7. Allocates nothing. Where the standard leaves room: of a TLV that may come
/// once the first stands and the others are discarded as TLVs; a known TLV with octets too many is
/// discarded.
[[nodiscard]] tl::expected<LldpduView, Discard> decode(ByteSpan lldpdu, const Dialect& dialect);

/// What a valid LLDPDU says for and against its sender being a host, System Capabilities apart.
struct Evidence {
  bool endpoint = false;  ///< LLDP-MED class I, II or III: an end of the network
  /// LLDP-MED class IV, or an 802.1 TLV that only a bridge has a use for: a port VLAN, a protocol
  /// VLAN, a protocol identity, a VID usage digest, a management VID. A VLAN name is none: hosts
  /// name the VLANs of their interfaces.
  bool bridge = false;
};
[[nodiscard]] Evidence evidence_of(ByteSpan lldpdu);

struct Row;

/// One TLV, seen in place.
struct Tlv {
  enum class Status : std::uint8_t {
    kValid,
    kUnrecognized,  ///< unknown type, or OUI and subtype: valid, and counted
    kDiscarded,     ///< length or shape is not the TLV's, one too many, or it runs past the end
  };
  Key key{};  ///< of a discarded TLV of type 127 too short to have them, OUI and subtype are 0
  ByteSpan information{};  ///< of type 127: what follows OUI and subtype
  std::uint8_t row_number = 255;
  [[nodiscard]] const Row* row() const;  ///< nullptr: unknown
  Status status = Status::kValid;
};

/// The TLVs of an LLDPDU one after another, each checked. decode() goes by it; over
/// LldpduView::octets it serves to print what decode() went over.
class TlvWalk {
 public:
  TlvWalk(ByteSpan lldpdu, const Dialect& dialect) : octets_(lldpdu), dialect_(dialect) {}
  /// False at the End TLV (which is not shown), at the end of data, or when the frame is to be
  /// discarded.
  bool next(Tlv& tlv);
  /// Why the frame is to be discarded: a second TLV of the first three, or an End TLV with length.
  [[nodiscard]] std::optional<Discard> discard() const {
    return refused_ ? std::optional(discard_) : std::nullopt;
  }
  /// How many octets were read, the End TLV's included.
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  friend tl::expected<LldpduView, Discard> decode(ByteSpan, const Dialect&);
  bool step(Tlv& tlv);
  bool stop();
  bool refuse(Discard why);

  ByteSpan octets_;
  Dialect dialect_;
  std::size_t position_ = 0;
  std::uint64_t seen_ = 0;  ///< rows of which a valid TLV was seen
  bool refused_ = false;
  Discard discard_{};
};

}  // namespace lldp::tlv
