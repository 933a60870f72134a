// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Rails: the NICs of one host that belong to one group, and the leaves that they lead to.
namespace lldp::cabling {

/// What the NICs of one group have in common.
enum class RailDesign : std::uint8_t {
  kNone,          ///< nothing is checked
  kSameLeaf,      ///< all lead to one leaf
  kDistinctLeaf,  ///< each leads to another leaf
  kPortNumber,    ///< all lead to the same port number, each on its leaf
};
inline constexpr std::string_view kRailDesigns = "none|same-leaf|distinct-leaf|port-number";
[[nodiscard]] std::string_view to_string(RailDesign design);  ///< none, same-leaf, ...

/// The number of a switch's port, as operators count ports: of `FourHundredGigE1/0/98` 98, of
/// `Ethernet19/1:2` 19/1's last number 1, of `Ethernet54p2` `54p2`, of `swp1s0` `1s0`. Empty: the
/// text is a MAC address, or has no number.
[[nodiscard]] std::string port_number_of(std::string_view port);

/// The cable of one NIC. Every text is as `show` prints it, escaped.
struct RailCable {
  std::string nic{};
  std::string group{};
  std::string leaf{};       ///< what makes it this leaf: its chassis ID; empty: not known
  std::string leaf_name{};  ///< for people
  std::string port{};       ///< of the leaf
};

/// Two cables to exchange, or one that is against the design and has no known counterpart.
struct RailFinding {
  std::size_t cable = 0;                  ///< index; against the design
  std::optional<std::size_t> other{};     ///< the cable of this host to exchange it with
  std::array<std::string, 2> exchange{};  ///< the ends to exchange; empty: not known
  std::string text{};                     ///< what is against the design
  std::string remedy{};                   ///< empty: the other cable is at another host
};

/// The cables of one host against the design, in their order. A cable with an unknown leaf is
/// not judged, nor is a group of one. Cables beyond the first 64 are left out.
[[nodiscard]] std::vector<RailFinding> judge_rails(RailDesign design,
                                                   std::span<const RailCable> cables);

}  // namespace lldp::cabling
