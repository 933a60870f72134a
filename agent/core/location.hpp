// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/state.hpp"
#include "base/bytes.hpp"
#include "base/fabric.hpp"
#include "tlv/claim.hpp"

/// Where the device stands in the fabric: docs/develop/rules.md P1 to P6.
namespace lldp::core {

/// The tiers that the octets of a LocationTlv name; none if they are no such octets.
[[nodiscard]] Tiers tiers_of(std::string_view octets);
/// The other way round: as many as one TLV holds, the lowest first.
[[nodiscard]] std::string octets_of(std::span<const Tier> tiers);
/// What a TLV of one that is `level` and has `chassis` as its chassis ID says is not against that
/// (P6).
[[nodiscard]] bool fits(ByteSpan location, std::optional<Level> level, const ChassisId& chassis);
/// `1 02:00:00:00:00:01, 2 02:00:00:00:00:01`, or none.
[[nodiscard]] std::string location_text(std::span<const Tier> tiers);

/// What the ports remember amounts to (P1 to P4).
class Survey {
 public:
  Survey(Level own, const ChassisId& chassis);
  /// `young`: the neighbor there may be about to be heard first, or to tell more.
  void add(const PortMemory& memory, bool young);
  /// What no port tells of is as it was `known`.
  [[nodiscard]] Tiers tiers(const Tiers& known) const;
  /// Every neighbor that could tell the own tier, or any, has done so.
  [[nodiscard]] bool own_is_final() const { return own_is_final_; }
  [[nodiscard]] bool all_is_final() const { return own_is_final_ && above_is_final_; }

 private:
  void take(Level level, const ChassisId& id);

  Level own_;
  std::optional<ChassisId> own_id_{};
  Tiers above_{};
  bool own_is_final_ = true;
  bool above_is_final_ = true;
};

}  // namespace lldp::core
