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
#include "qos/chains.hpp"

namespace lldp::qos {

/// A packet that comes with the mark `from` leaves with the mark `to`.
struct Remap {
  Class from{};
  Class to{};
  friend auto operator<=>(const Remap&, const Remap&) = default;
};

/// A fabric's classes: chains of lossless ones, and the lossy one that packets get after the last
/// of each. Always valid: no priority and no DSCP stands twice.
///
/// The default is 5:dscp43>6:dscp51 and lossy 0:dscp0. 43 and 51 (101011 and 110011) are of pool 2
/// of the DSCP registry, which stays for local use (RFC 2474 6, RFC 8436), so no well-known class
/// has them. Their upper three bits are the priority: a switch, NIC or router that knows nothing of
/// us and maps DSCP / 8 to a priority, as many do by default, uses the same queues.
class Policy {
 public:
  static constexpr std::string_view kDefaultLossless = "5:dscp43,6:dscp51";
  static constexpr std::string_view kDefaultLossy = "0:dscp0";

  Policy();
  /// The values of `qos.lossless` (parse_chains() has its forms) and `qos.lossy` (PRIORITY:dscpN).
  /// An error's `where` is the option's name.
  [[nodiscard]] static Result<Policy> parse(std::string_view lossless, std::string_view lossy);
  /// The same of values: fails as parse() does.
  [[nodiscard]] static Result<Policy> make(Chains chains, Class lossy);

  /// One chain of `count` (1 to 7) classes, two being the default: priorities from 5 on, or from
  /// lower where 7 would be passed, in the order of turns; DSCP 8 * priority + 3.
  [[nodiscard]] static Policy with_lossless(std::size_t count);

  [[nodiscard]] const Chains& chains() const { return chains_; }  ///< empty: nothing is lossless
  [[nodiscard]] Class lossy() const { return lossy_; }
  /// All lossless classes, chain after chain.
  [[nodiscard]] std::vector<LosslessClass> classes() const;
  /// The marks of the first chain's classes; empty if there is none.
  [[nodiscard]] std::vector<Class> lossless() const;
  /// What a turn makes of a packet of class `c`: of a lossless one the next of its chain, of the
  /// last the lossy one; any other stays.
  [[nodiscard]] Class after_turn(Class c) const;
  /// What restoring makes of it: of a spare the application class of its chain; any other stays.
  [[nodiscard]] Class restored(Class c) const;
  /// Turns as a table: one row for each DSCP of each lossless class, class after class, of
  /// each the one to write first.
  [[nodiscard]] std::vector<Remap> turns() const;
  /// One bit per lossless priority, bit n for priority n, as in the PFC TLV.
  [[nodiscard]] std::uint8_t pfc_enable() const;
  /// The same of application classes alone: what a host needs where spares are restored.
  [[nodiscard]] std::uint8_t application_priorities() const;

  [[nodiscard]] std::string lossless_text() const;  ///< what parse() reads
  [[nodiscard]] std::string lossy_text() const;

  friend bool operator==(const Policy&, const Policy&) = default;

 private:
  Policy(Chains chains, Class lossy) : chains_(std::move(chains)), lossy_(lossy) {}

  Chains chains_{};
  Class lossy_{};
};

/// The name under which a DSCP is registered (`CS5`, `EF`, `VOICE-ADMIT`), empty if it has none.
/// IANA "Differentiated Services Field Codepoints": RFC 2474, 2597, 3246, 5865, 8622, 9956.
[[nodiscard]] std::string_view well_known_name(Dscp dscp);

}  // namespace lldp::qos
