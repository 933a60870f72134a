// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/bytes.hpp"

/// The words of the fabric, which the wire, the inference, the rules and the lab share.
namespace lldp {

/// What a device is to the fabric: a host ends paths, a switch forwards.
enum class Role : std::uint8_t { kHost, kSwitch };
enum class DeviceType : std::uint8_t { kHost, kSwitch, kUnknown };
/// A layer of virtual switches in a layered expander (FC, FC+). A Clos switch has a single one, 0.
using Layer = Bounded<struct LayerTag, std::uint8_t, 31>;
/// What a link of a layered expander joins, as one of its ends sees it.
struct Layers {
  Layer near{};  ///< of the virtual switch here that owns the port
  Layer far{};   ///< of the neighbor's that the link leads to
  [[nodiscard]] constexpr Layers mirrored() const { return {far, near}; }
  friend bool operator==(const Layers&, const Layers&) = default;
};

/// How a port stands to its neighbor, by level; what the TLVs carry and `show` prints.
enum class PortType : std::uint8_t { kUnmarked, kUplink, kDownlink, kCrosslink };
/// How a port stands in the total order of devices; what the rules go by (see Position).
enum class Order : std::uint8_t {
  kUnknown,  ///< no device was ever heard there
  kDown,     ///< the neighbor stands lower
  kUp,       ///< the neighbor may stand higher: always safe
  kShut,     ///< no lossless class crosses the port, in either direction
};

[[nodiscard]] std::string_view to_string(Role r);        ///< host, switch
[[nodiscard]] std::string_view to_string(DeviceType t);  ///< host, switch, unknown
[[nodiscard]] std::string_view to_string(PortType t);    ///< unmarked, uplink, downlink, crosslink
[[nodiscard]] std::string_view to_string(Order o);       ///< unknown, down, up, shut
[[nodiscard]] std::string to_string(Layers layers);      ///< 3:4, the near one first
[[nodiscard]] std::optional<Layers> parse_layers(std::string_view text);  ///< what that writes

/// A chassis or port identifier: subtype and 1 to 255 octets. Compares as octets, subtype first, so
/// that both ends of a link agree on the order. IEEE 802.1AB-2016 8.5.2.2, 8.5.3.2.
struct Identifier {
  std::uint8_t subtype = 0;
  std::string octets{};  ///< std::string for its short form: a MAC address needs no allocation
  friend bool operator==(const Identifier&, const Identifier&) = default;
  friend std::strong_ordering operator<=>(const Identifier& a, const Identifier& b) {
    if (auto c = a.subtype <=> b.subtype; c != 0) return c;
    return a.octets.compare(b.octets) <=> 0;  // char_traits<char> compares as unsigned octets
  }
};
struct ChassisId : Identifier {
  static constexpr std::uint8_t kMacAddress = 4;  ///< subtype, IEEE 802.1AB-2016 Table 8-2
  static constexpr std::uint8_t kLocal = 7;
  friend bool operator==(const ChassisId&, const ChassisId&) = default;
  friend auto operator<=>(const ChassisId&, const ChassisId&) = default;
};
struct PortId : Identifier {
  static constexpr std::uint8_t kMacAddress = 3;  ///< subtype, IEEE 802.1AB-2016 Table 8-3
  static constexpr std::uint8_t kInterfaceName = 5;
  static constexpr std::uint8_t kLocal = 7;
  friend bool operator==(const PortId&, const PortId&) = default;
  friend auto operator<=>(const PortId&, const PortId&) = default;
};

[[nodiscard]] ChassisId chassis_id_from_mac(const MacAddress& mac);

/// Where a device stands in the fabric's total order. Any total order makes "up" acyclic, so
/// crosslinks and miswired links are safe too (up*/down* routing).
struct Position {
  Level level{};
  ChassisId chassis{};
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// A tier of the fabric as it is known by name: the chassis ID of a leaf that is or was below.
/// docs/develop/rules.md P1 to P7.
struct Tier {
  Level level{};
  ChassisId id{};
  /// Minutes that the ID has been this tier's for, at least. It doubles, so that frames stay the
  /// same. 0: remembered, and told by no neighbor now. Of a leaf's own tier: for how long its ID
  /// has also been that of a tier above.
  std::uint32_t age = 0;
  friend auto operator<=>(const Tier&, const Tier&) = default;
};
using Tiers = std::vector<Tier>;  ///< rising

/// The order of a port between `self` and the neighbor heard there. A neighbor that is a host is
/// below whatever its identifier says; a device without a level has no order. Equal positions
/// (ourselves, heard over a loop) are unknown.
[[nodiscard]] Order order_of_port(const std::optional<Position>& self,
                                  const std::optional<Position>& neighbor);

}  // namespace lldp
