// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"

namespace lldp::qos {

/// A priority and the one DSCP that marks it. In text `5:dscp43`.
struct Class {
  Priority priority{};
  Dscp dscp{};
  friend auto operator<=>(const Class&, const Class&) = default;
};

/// A packet of class `from` that makes a turn leaves in class `to`.
struct Remap {
  Class from{};
  Class to{};
  friend auto operator<=>(const Remap&, const Remap&) = default;
};

/// The operator's classes: the lossless ones in the order in which turns go through them, and the
/// lossy one after the last. Always valid: priorities of the lossless classes rise, no priority and
/// no DSCP stands twice.
///
/// The default is 5:dscp43, 6:dscp51 and lossy 0:dscp0. 43 and 51 (101011 and 110011) are of pool 2
/// of the DSCP registry, which stays for local use (RFC 2474 6, RFC 8436), so no well-known class
/// has them. Their upper three bits are the priority: a switch, NIC or router that knows nothing of
/// us and maps DSCP / 8 to a priority, as many do by default, uses the same queues.
class Policy {
 public:
  static constexpr std::string_view kDefaultLossless = "5:dscp43,6:dscp51";
  static constexpr std::string_view kDefaultLossy = "0:dscp0";

  Policy();
  /// The values of `qos.lossless` (PRIORITY:dscpN, comma-separated) and `qos.lossy` (one of them).
  /// An error's `where` is the option's name.
  [[nodiscard]] static Result<Policy> parse(std::string_view lossless, std::string_view lossy);

  /// `count` (1 to 7) lossless classes, two being the default: priorities from 5 on, or from lower
  /// where 7 would be passed; DSCP 8 * priority + 3.
  [[nodiscard]] static Policy with_lossless(std::size_t count);

  [[nodiscard]] const std::vector<Class>& lossless() const { return lossless_; }  ///< 1 to 7
  [[nodiscard]] Class lossy() const { return lossy_; }
  /// What a turn makes of class `c`: of a lossless one the next, of the last the lossy one;
  /// any other stays.
  [[nodiscard]] Class after_turn(Class c) const;
  /// The same as a table: one row for each lossless class, in order.
  [[nodiscard]] std::vector<Remap> turns() const;
  /// One bit per lossless priority, bit n for priority n, as in the PFC TLV.
  [[nodiscard]] std::uint8_t pfc_enable() const;

  [[nodiscard]] std::string lossless_text() const;  ///< what parse() reads
  [[nodiscard]] std::string lossy_text() const;

  friend bool operator==(const Policy&, const Policy&) = default;

 private:
  Policy(std::vector<Class> lossless, Class lossy)
      : lossless_(std::move(lossless)), lossy_(lossy) {}

  std::vector<Class> lossless_{};
  Class lossy_{};
};

[[nodiscard]] std::string to_string(Class c);  ///< 5:dscp43

/// The name under which a DSCP is registered (`CS5`, `EF`, `VOICE-ADMIT`), empty if it has none.
/// IANA "Differentiated Services Field Codepoints": RFC 2474, 2597, 3246, 5865, 8622, 9956.
[[nodiscard]] std::string_view well_known_name(Dscp dscp);

}  // namespace lldp::qos
