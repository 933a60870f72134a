// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/links/link_message.hpp"
#include "agent/links/link_table.hpp"
#include "base/fabric.hpp"

namespace lldp::io {

/// What the interfaces of a namespace say of the machine: which ports are its own, and whether it
/// is a switch. A server that forwards for its containers and virtual machines is none: what they
/// are connected to, veth, tap and the bridges between, counts for nothing.
class Machine {
 public:
  Machine() = default;
  explicit Machine(const std::map<Ifindex, Interface>& interfaces);

  /// Whether to speak on it by default: the front panel, if the machine has one, else every
  /// physical port.
  [[nodiscard]] bool is_default_port(const Interface& link) const;

  /// Ports of the front panel of a switch chip; 0: there is none.
  [[nodiscard]] std::size_t panel_ports() const { return panel_ports_; }

  struct Verdict {
    Role role = Role::kHost;
    std::string why{};  ///< for a person
    /// A host that forwards IP. What for, auto_role.hpp judges: by its interfaces alone a router of
    /// few ports is not told from a server with containers.
    bool forwards = false;
  };
  /// A switch has a front panel, or a bridge with two physical ports, or forwards IP by all
  /// interfaces, of which four are physical ports.
  [[nodiscard]] Verdict role(Forwards forwards) const;

  friend bool operator==(const Machine&, const Machine&) = default;

 private:
  std::vector<std::string> panels_;  ///< switch IDs of the front panel
  std::size_t panel_ports_ = 0;
  std::size_t physical_ports_ = 0;
  std::string bridge_;  ///< one with two physical ports or more
  std::size_t bridge_ports_ = 0;
};

}  // namespace lldp::io
