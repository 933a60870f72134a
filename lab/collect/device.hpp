// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fabric.hpp"

/// What devices tell of themselves and of their neighbors, with any LLDP agent. Every text is
/// escaped, as `lldp-level show` prints it.
namespace lldp::lab::collect {

/// A neighbor, as a port hears it. An empty text is not known.
struct HeardNeighbor {
  std::string chassis{};
  std::string name{};
  std::string port{};         ///< Port ID
  std::string description{};  ///< Port Description
  std::optional<Role> role{};
  std::optional<Level> level{};    ///< only agents of ours tell one
  std::optional<Layers> layers{};  ///< what its end of the link joins, by its own word; the same
  /// Of its port, by the 802.3 TLVs that it sends; 0: not told. Details alone have them:
  /// `lldp-level show detail`, and those of lldpcli.
  std::uint32_t speed_mbps = 0;
  std::uint32_t frame_octets = 0;  ///< its Maximum Frame Size
  friend bool operator==(const HeardNeighbor&, const HeardNeighbor&) = default;
};

struct Port {
  std::string name{};
  std::string port_id{};  ///< what it tells of itself, where that is not its name
  Order order = Order::kUnknown;
  std::optional<Layers> layers{};  ///< what its link joins, in a layered expander
  /// Why packets are not treated by that order here; empty: they are, or nothing is known.
  std::string unprotected{};
  bool up = false;               ///< only agents of ours tell
  std::uint32_t speed_mbps = 0;  ///< 0: not told; the same
  std::uint32_t mtu = 0;
  std::string rail{};  ///< the group of a NIC; empty: none; the same
  /// The agent's alarm that the port leads to a device and hears none; empty: no such alarm.
  std::string unheard{};
  std::vector<HeardNeighbor> heard{};
  friend bool operator==(const Port&, const Port&) = default;
};

/// An entry of a device's answer that is half-written, and was left out.
struct LeftOut {
  std::string port{};  ///< empty: not known
  std::string why{};
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

enum class AgentKind : std::uint8_t { kAgent, kLldpcli, kSonic };

struct Device {
  std::string source{};  ///< the file or the host that told it
  AgentKind dialect = AgentKind::kAgent;
  std::string chassis{};
  std::string name{};
  std::optional<Role> role{};
  std::optional<Level> level{};
  std::string lossless{};  ///< `5,6`, or with their DSCPs `5:dscp43,6:dscp51`; empty: not known
  std::vector<Port> ports{};
  std::vector<LeftOut> left_out{};
  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace lldp::lab::collect
