// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"

namespace lldp::qos {

/// A priority and the DSCP to write for it. In text `5:dscp43`.
struct Class {
  Priority priority{};
  Dscp dscp{};
  friend auto operator<=>(const Class&, const Class&) = default;
};

/// A set of DSCPs.
class DscpSet {
 public:
  constexpr DscpSet() = default;
  constexpr explicit DscpSet(std::uint64_t mask) : mask_(mask) {}
  constexpr explicit DscpSet(Dscp dscp) : mask_(std::uint64_t{1} << dscp.value()) {}
  constexpr void insert(Dscp dscp) { mask_ |= std::uint64_t{1} << dscp.value(); }
  [[nodiscard]] constexpr bool contains(Dscp dscp) const {
    return (mask_ >> dscp.value() & 1) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return mask_ == 0; }
  [[nodiscard]] constexpr std::size_t size() const {
    return static_cast<std::size_t>(std::popcount(mask_));
  }
  [[nodiscard]] constexpr std::uint64_t mask() const { return mask_; }  ///< bit n for DSCP n
  [[nodiscard]] std::vector<Dscp> members() const;                      ///< rising
  friend constexpr DscpSet operator|(DscpSet a, DscpSet b) { return DscpSet(a.mask_ | b.mask_); }
  friend constexpr DscpSet operator&(DscpSet a, DscpSet b) { return DscpSet(a.mask_ & b.mask_); }
  friend constexpr auto operator<=>(DscpSet, DscpSet) = default;

 private:
  std::uint64_t mask_ = 0;
};

/// A lossless class: a priority and all DSCPs that lead to it. In text `3:dscp26+24-31`, the DSCP
/// to write first.
struct LosslessClass {
  Priority priority{};
  Dscp dscp{};      ///< what a turn into this class writes, and what restoring writes; in `dscps`
  DscpSet dscps{};  ///< never empty
  [[nodiscard]] Class mark() const { return {priority, dscp}; }
  friend auto operator<=>(const LosslessClass&, const LosslessClass&) = default;
};
/// A class of one DSCP.
[[nodiscard]] constexpr LosslessClass lossless_class(Class c) {
  return {c.priority, c.dscp, DscpSet(c.dscp)};
}
/// A class of DSCPs of which none was named: `dscps`, or 8 * priority + 2 if there are none. The
/// one to write is 8 * priority + 2 where that is among them, else the lowest.
[[nodiscard]] LosslessClass lossless_class(Priority priority, DscpSet dscps);

/// The classes that the packets of an application go through, one by each turn: the application's
/// own, then the spares, of one DSCP each; after the last the packet is lossy. In text
/// `3:dscp26+24-31>2:dscp19`, without a spare `3:dscp26>lossy`.
struct Chain {
  std::vector<LosslessClass> classes{};  ///< at least one
  [[nodiscard]] const LosslessClass& application() const { return classes.front(); }
  friend bool operator==(const Chain&, const Chain&) = default;
};
/// A fabric's lossless classes: no priority and no DSCP stands twice. None: nothing is lossless.
using Chains = std::vector<Chain>;

/// Turns that are in force go forward in this order of priorities, in every device.
/// So devices that know different chains make no cycle of classes together: a packet only goes on.
inline constexpr Priority kTurnOrder[] = {Priority::of<3>(), Priority::of<4>(), Priority::of<2>(),
                                          Priority::of<5>(), Priority::of<1>(), Priority::of<6>(),
                                          Priority::of<7>()};
/// The place of a priority in that order, 0 to 6. Priority 0 is never lossless and comes last, 7.
[[nodiscard]] unsigned turn_rank(Priority priority);
/// The first chain that has a turn against that order, with the line that mends it.
[[nodiscard]] std::optional<Error> against_turn_order(const Chains& chains);

/// The chains that a device gives these application classes: 3 takes the first free priority of 2,
/// 5, 1; 4 of 5, 1; 2 of 5, 1; 5 of 1, in the order of turns. Any other class, and one that finds
/// none, has no spare. A spare has DSCP 8 * priority + 3; a priority whose DSCP is a class's
/// already is not free, nor is one of `taken` (bit n for priority n), as the platform's lossy ones.
/// `applications`: no priority and no DSCP twice. The order in which they stand makes no
/// difference.
[[nodiscard]] Chains with_spares(std::vector<LosslessClass> applications, std::uint8_t taken = 0);

/// A name for chains that fabrics use, as a value of `qos.lossless`.
struct Preset {
  std::string_view name{};
  std::string_view chains{};
};
inline constexpr Preset kPresets[] = {
    {"roce", "3:dscp26+24-31>2:dscp19"},             // RoCE as NICs and Cumulus Linux have it
    {"sonic", "3:dscp3>2:dscp19,4:dscp4>5:dscp43"},  // SONiC's two lossless priorities
    {"pcbb", "3:dscp3>2:dscp2,4:dscp4>6:dscp6"},     // SONiC's dual ToR (tunnel_qos_remap)
    {"slides", "5:dscp43>6:dscp51"},                 // the 802.1 proposal's example
};

/// Reads a value of `qos.lossless`: a preset's name, `none`, chains with `>`, or without any `>`
/// the old form, the classes of a single chain. An error's `where` is `qos.lossless`.
[[nodiscard]] Result<Chains> parse_chains(std::string_view text);
/// A class in text, `5:dscp43`; an error's `where` is `option`.
[[nodiscard]] Result<Class> parse_class(std::string_view option, std::string_view text);

[[nodiscard]] std::string to_string(Class c);                 ///< 5:dscp43
[[nodiscard]] std::string to_string(const LosslessClass& c);  ///< 3:dscp26+24-31
[[nodiscard]] std::string to_string(const Chain& chain);      ///< 3:dscp26+24-31>2:dscp19
/// What parse_chains() reads; `none` if there are none.
[[nodiscard]] std::string to_string(const Chains& chains);
/// The DSCPs of a class as its text has them, `26+24-31`; as a person reads them, `24-31`.
[[nodiscard]] std::string to_string(DscpSet dscps);

}  // namespace lldp::qos
