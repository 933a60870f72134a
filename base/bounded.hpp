// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>

namespace lldp {

/// An unsigned number with a meaning and a range; no implicit way in or out.
template <class Tag, class Rep, Rep Max>
class Bounded {
 public:
  static constexpr Rep kMax = Max;
  /// The smallest value, 0.
  constexpr Bounded() = default;
  /// For constants: the compiler checks the range.
  template <std::uint64_t N>
  requires(N <= Max) static constexpr Bounded of() { return Bounded(N); }
  /// For input: nullopt when out of range.
  static constexpr std::optional<Bounded> make(std::uint64_t v) {
    return v <= Max ? std::optional(Bounded(v)) : std::nullopt;
  }
  [[nodiscard]] constexpr Rep value() const { return v_; }
  friend constexpr auto operator<=>(Bounded, Bounded) = default;

 private:
  constexpr explicit Bounded(std::uint64_t v) : v_(static_cast<Rep>(v)) {}
  Rep v_ = 0;
};

using Priority = Bounded<struct PriorityTag, std::uint8_t, 7>;  ///< IEEE 802.1Q priority (PCP)
using Dscp = Bounded<struct DscpTag, std::uint8_t, 63>;         ///< RFC 2474
/// Level in the Clos fabric: 0 host, 1 leaf, ... 255 is "unknown" on the wire and no Level.
using Level = Bounded<struct LevelTag, std::uint8_t, 254>;
using Ifindex = Bounded<struct IfindexTag, std::uint32_t, 0x7fff'ffff>;

}  // namespace lldp

template <>
struct std::hash<lldp::Ifindex> {
  std::size_t operator()(lldp::Ifindex i) const noexcept { return i.value(); }
};
