// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/settings.hpp"
#include "agent/core/told.hpp"
#include "base/bytes.hpp"
#include "base/fabric.hpp"
#include "base/time.hpp"
#include "tlv/lldpdu.hpp"

namespace lldp::core {

/// One neighbor: the LLDPDU it sent last, and what that tells.
class Neighbor : public Told {
 public:
  /// `view` is what `lldpdu` decodes to.
  Neighbor(Scope scope, ByteSpan lldpdu, const tlv::LldpduView& view, const Settings& settings);
  /// Takes over another LLDPDU of the same MSAP; its storage is used again.
  void replace(ByteSpan lldpdu, const tlv::LldpduView& view, const Settings& settings);

  [[nodiscard]] bool same(ByteSpan lldpdu) const {
    return lldpdu.size() == lldpdu_.size() && as_text(lldpdu) == as_text(lldpdu_);  // memcmp
  }
  [[nodiscard]] ByteSpan lldpdu() const { return lldpdu_; }
  [[nodiscard]] ChassisId chassis_id() const;
  [[nodiscard]] PortId port_id() const;
  [[nodiscard]] std::string_view system_name() const { return text(name_); }
  [[nodiscard]] std::string_view port_description() const { return text(description_); }
  /// What it tells of where it stands, the octets of a LocationTlv; empty: nothing that is taken.
  [[nodiscard]] std::string_view location() const {
    return location_conflicts ? std::string_view() : told_location();
  }
  [[nodiscard]] std::string_view told_location() const { return text(location_); }
  /// The MSAP identifier as it stands in the frame: Chassis ID and Port ID TLV.
  [[nodiscard]] ByteSpan msap() const { return ByteSpan(lldpdu_).first(msap_length_); }

  [[nodiscard]] TimePoint last_heard() const { return rxInfoTTL - std::chrono::seconds(rxTTL); }
  /// By a TLV of ours, now or in a claim that stands.
  [[nodiscard]] bool speaks_for_itself() const { return tr || contribution || claims_switch; }

  Scope scope{};
  bool tr = false;
  bool contribution = false;
  std::optional<Level> last_level{};  ///< the last one it told; stays when it tells none
  bool superseded =
      false;  ///< the same device has since spoken under another MSAP, and this one not
  bool asks =
      false;  ///< it waits for us to acknowledge, or has not heard us (docs/develop/rules.md A13)
  /// It has not been heard since layers were set anew here (docs/develop/rules.md O6).
  bool layers_unproved = false;
  /// Until claim_until it counts, though a frame without such a TLV has come since, of a station:
  /// an lldpd sends that on a switch whose kernel forwards nothing, before it has our TLVs.
  bool claim_stands = false;
  MacAddress source{};              ///< of its frames; all 0: not known
  MacAddress last_source{};         ///< of the last frame, also of one that said nothing new
  std::uint8_t source_changes = 0;  ///< of last_source, since first_source_change
  TimePoint first_source_change{};
  bool in_error = false;  ///< this and the next two: for the statistics, frame by frame
  std::uint16_t tlvs_discarded = 0;
  std::uint16_t tlvs_unrecognized = 0;
  TimePoint rxInfoTTL{};   ///< when it ages out
  TimePoint changed_at{};  ///< when it was heard first, or said something else
  /// What it said last by a TLV of ours, and when that loses its validity.
  Told claimed{};
  TimePoint claim_until{};

  /// After replace(): takes over what it claims, if by that it is a switch, which is still valid,
  /// and only its System Capabilities speak against it now. `last`: last_level before.
  void uphold(std::optional<Level> last, TimePoint now);

 private:
  Bytes lldpdu_{};
  /// A text within the LLDPDU.
  struct Place {
    std::uint16_t at = 0;
    std::uint16_t length = 0;
  };
  [[nodiscard]] static Place place(ByteSpan lldpdu, std::optional<std::string_view> text);
  [[nodiscard]] std::string_view text(Place place) const {
    return as_text(ByteSpan(lldpdu_).subspan(place.at, place.length));
  }

  std::uint16_t msap_length_ = 0;
  Place name_{};
  Place description_{};
  Place location_{};
};

/// The Chassis ID and Port ID TLV of a valid LLDPDU; of others the first two TLVs, or nothing if
/// there are no two.
[[nodiscard]] ByteSpan msap_of(ByteSpan lldpdu);
/// The system name, or the chassis ID if there is none; escaped.
[[nodiscard]] std::string name_of(const Neighbor& neighbor);
/// Its port as a person knows it: the port ID, but for a MAC address the description where there is
/// one (lldpd sends the interface's name so); escaped.
[[nodiscard]] std::string port_name_of(const Neighbor& neighbor);
/// Both.
[[nodiscard]] std::string describe(const Neighbor& neighbor);

/// Neighbors learned on one port, in the order of their MSAP.
class NeighborTable {
 public:
  [[nodiscard]] Neighbor* find(Scope scope, ByteSpan msap);
  Neighbor& insert(Neighbor neighbor);  ///< of an MSAP that is not there
  void erase(const Neighbor* neighbor);

  [[nodiscard]] std::span<const Neighbor> all() const {
    return {neighbors_.data(), neighbors_.size()};
  }
  [[nodiscard]] std::span<Neighbor> all() { return {neighbors_.data(), neighbors_.size()}; }
  [[nodiscard]] std::size_t size() const { return neighbors_.size(); }

 private:
  /// One is the rule, and stands with its port: a frame looks at both.
  using Neighbors = boost::container::small_vector<Neighbor, 1>;
  [[nodiscard]] Neighbors::iterator place(Scope scope, ByteSpan msap);

  Neighbors neighbors_{};
};

}  // namespace lldp::core
