// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "tlv/layout.hpp"
#include "tlv/lldpdu.hpp"

/// Which classes a neighbor holds for lossless.
namespace lldp::tlv {

/// One class of a chain: the application class is step 0, then come the spares that its packets
/// take, one by each turn.
struct ClassTlv {
  /// Of Hops: the chain is in force, and no device is known whose own configuration asks for it.
  static constexpr std::uint8_t kNoEvidence = 255;
  std::uint8_t chain = 0;
  std::uint8_t step = 0;
  std::uint8_t priority = 0;
  std::uint8_t dscp = 0;    ///< what a turn into the class writes; of step 0 what restoring writes
  std::uint8_t hops = 0;    ///< devices between the sender and the one that has evidence of its own
  std::uint64_t dscps = 0;  ///< bit n: DSCP n leads to the priority
  static constexpr void layout(auto& io, auto& v) {
    constexpr Name kHops[] = {{kNoEvidence, "no-evidence"}};
    io.field("chain", v.chain, 8).field("step", v.step, 8);
    io.field("priority", v.priority, 8).field("dscp", v.dscp, 8);
    io.choice("hops", v.hops, 8, kHops).flags("dscps", v.dscps, 64);
  }
  friend bool operator==(const ClassTlv&, const ClassTlv&) = default;
};

/// The lossless classes of a switch: a TLV of ours, subtype 5 under the OUI of the contribution
/// TLV. Information string: for each class chain:8 | step:8 | priority:8 | DSCP:8 | hops:8 |
/// DSCPs:64, in the order of chains and steps. Without any class: the switch turns none.
struct ClassesTlv {
  static constexpr Key kKey{kOrganizational, 0x024c56, 0x05};  ///< the default OUI
  static constexpr std::size_t kMost = 7;                      ///< priorities 1 to 7
  List<ClassTlv, kMost> classes{};
  /// Chains and steps count up from 0; no priority and no DSCP stands twice; the DSCP that marks a
  /// class is one of its own.
  [[nodiscard]] bool consistent() const;
  static constexpr void layout(auto& io, auto& v) { io.list("classes", v.classes); }
  friend bool operator==(const ClassesTlv&, const ClassesTlv&) = default;
};

/// What an LLDPDU tells of lossless classes, by the sender's class TLV, and by its DCBX.
struct ClassClaims {
  std::optional<ClassesTlv> classes{};  ///< nullopt: it sends no such TLV
  /// PFC by IEEE 802.1Q D.2.10, else by CEE; bit n for priority n. nullopt: it does not say.
  std::optional<std::uint8_t> pfc{};
  bool willing = false;  ///< of PFC: the sender takes over what its neighbor tells
  /// Of each priority, the DSCPs that lead to it by Application Priority, bit n for DSCP n.
  std::array<std::uint64_t, 8> dscps{};
  std::uint8_t rocev2 = 0;  ///< priorities of an entry for UDP port 4791, bit n for priority n
  friend bool operator==(const ClassClaims&, const ClassClaims&) = default;
};
/// Of a valid LLDPDU. IEEE goes before CEE, TLV by TLV.
[[nodiscard]] ClassClaims class_claims_of(ByteSpan lldpdu, const Dialect& dialect);

}  // namespace lldp::tlv
