// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/agents/network.hpp"

namespace lldp::lab::agents {

using Levels = std::vector<std::optional<Level>>;  ///< by node

/// Every node's distance to its nearest host in links that are up, as the fabric is cabled now:
/// nullopt where there is none. Agents need not run.
[[nodiscard]] Levels distances_to_hosts(const Network& network);

/// Holds the levels and the port types that running agents have found against the right ones, as
/// they change: in constant time per change; where ports have layers also what their rules go by
/// (docs/develop/rules.md O6). Of an agent that does not run all is wrong. Stands as long as no
/// cable is moved.
class Truth : public Observer {
 public:
  Truth(const Network& network, Levels right);

  [[nodiscard]] std::size_t wrong_levels() const { return wrong_levels_; }
  [[nodiscard]] std::size_t wrong_ports() const { return wrong_ports_; }
  [[nodiscard]] std::size_t wrong() const { return wrong_levels_ + wrong_ports_; }
  [[nodiscard]] std::size_t total() const { return total_; }
  /// `leaf1: 2, not 1`, `leaf1: stopped`
  [[nodiscard]] std::vector<std::string> list_wrong_levels() const;
  /// `leaf1:swp2: unmarked, not uplink`, `tor1:p3: up, not down by its layers`; of the agents that
  /// run
  [[nodiscard]] std::vector<std::string> list_wrong_ports() const;

  void started(std::size_t node) override;
  void stopped(std::size_t node) override;
  void acted(std::size_t node, const core::Actions& actions) override;

 private:
  struct Port {
    PortType truth = PortType::kUnmarked;
    Order order = Order::kUnknown;  ///< by its layers; unknown: it has none
    bool right = false;
  };
  struct Node {
    std::optional<Level> truth{};
    bool right = false;
    std::uint32_t first_port = 0;  ///< in ports_
    std::uint32_t ports = 0;
  };
  [[nodiscard]] std::span<Port> ports_of(std::size_t node) {
    return std::span(ports_).subspan(nodes_[node].first_port, nodes_[node].ports);
  }
  [[nodiscard]] bool is_ordered(std::size_t node, std::size_t slot) const;
  void check_level(std::size_t node);
  void check_port(std::size_t node, std::size_t slot);

  const Network& network_;
  std::vector<Node> nodes_;
  std::vector<Port> ports_{};
  std::size_t wrong_levels_ = 0;
  std::size_t wrong_ports_ = 0;
  std::size_t total_ = 0;
};

}  // namespace lldp::lab::agents
