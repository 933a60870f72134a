// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/settings.hpp"
#include "base/fabric.hpp"
#include "base/result.hpp"
#include "qos/ruleset.hpp"

namespace lldp::lab {

/// A device of a fabric.
struct Node {
  std::string name{};
  Role role = Role::kSwitch;
  /// The truth that what is learned is held against: 0 for a host; nullopt for a switch from which
  /// no host can be reached.
  std::optional<Level> level{};
  ChassisId chassis{};
  bool relays = false;  ///< a host that forwards, as servers do in a BCube
  friend bool operator==(const Node&, const Node&) = default;
};

/// Whether packets pass through the node, and not only begin and end there.
[[nodiscard]] inline bool forwards(const Node& node) {
  return node.role == Role::kSwitch || node.relays;
}

/// One end of a link.
struct LinkEnd {
  std::size_t node = 0;  ///< index into Fabric::nodes
  std::string port{};
  std::optional<qos::Layer> layer{};  ///< of the virtual switch that owns the port, in FC and FC+
  /// By which its packets are treated, in a fabric that was collected from running switches.
  std::optional<Order> order{};
  /// Other names of the port, as its neighbor hears them: its alias, its MAC address.
  std::vector<std::string> aliases{};
  friend bool operator==(const LinkEnd&, const LinkEnd&) = default;
};

/// A full-duplex cable between two ports, of two nodes or of one (a loop).
struct Link {
  std::array<LinkEnd, 2> ends{};
  std::uint64_t rate_bps = 100'000'000'000;
  std::uint64_t delay_ns = 1000;  ///< one way
  std::uint64_t loss_ppb = 0;     ///< of 10^9 frames that it carries, so many are destroyed
  friend bool operator==(const Link&, const Link&) = default;
};

/// Devices and the links between their ports: what every subcommand of the lab works on. Comes from
/// a generator or a parser, and so always as complete() leaves it.
struct Fabric {
  std::string name{};
  std::vector<Node> nodes{};
  std::vector<Link> links{};
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

/// A link as one of its two nodes sees it.
struct Adjacency {
  std::size_t link = 0;
  std::size_t own_end = 0;  ///< 0 or 1: which of Link::ends is the node's own
  std::size_t peer = 0;     ///< the node at the other end
};

/// The links of every node, in the order of Fabric::links.
[[nodiscard]] std::vector<std::vector<Adjacency>> adjacencies(const Fabric& fabric);

/// Every node's distance to its nearest host, counted in links, hosts being ends and never on the
/// way; nullopt where there is none or it does not fit a Level.
[[nodiscard]] std::vector<std::optional<Level>> distances_to_hosts(const Fabric& fabric);

/// Where a node stands in the order of devices when its level is right; nullopt without a level.
[[nodiscard]] std::optional<Position> position_of(const Node& node);

/// Where the far end of `link` stands to the node at `link.ends[end]` when every level is right;
/// unknown where that is the node itself, for no path goes by a loop.
[[nodiscard]] Order true_order(const Fabric& fabric, const Link& link, std::size_t end);

/// What a port is between two devices whose levels are right. Hosts leave theirs unmarked.
[[nodiscard]] PortType true_port_type(Role own_role, std::optional<Level> own, Role peer_role,
                                      std::optional<Level> peer);

/// What the port at `link.ends[end]` is when every level is right.
[[nodiscard]] PortType true_port_type(const Fabric& fabric, const Link& link, std::size_t end);

/// A locally administered address for the port at `links[link].ends[end]`; no two are equal, and
/// none is a chassis ID that complete() gave.
[[nodiscard]] MacAddress port_address(std::size_t link, std::size_t end);

/// Checks a fabric and fills what was left open: a level by the distance to the hosts, a chassis ID
/// by a locally administered MAC address after the node's index. Refuses empty and repeated names,
/// repeated chassis IDs, a port with two cables, a link that destroys all frames, a host above
/// level 0 and a switch on it.
[[nodiscard]] Result<Fabric> complete(Fabric fabric);

}  // namespace lldp::lab
