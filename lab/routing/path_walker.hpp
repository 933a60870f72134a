// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lab/topology/graph.hpp"

namespace lldp::lab {

/// As often as it likes.
inline constexpr std::size_t kAnyTurns = std::numeric_limits<std::size_t>::max();

/// How often a path turns down-up (T_du), moves inside a switch included: as often as a packet on
/// it changes its class by the rules (qos::turns()).
[[nodiscard]] std::size_t turns_of(const Graph& graph, std::span<const Arc> path);

/// Walks along every path from a source that visits no node twice.
class PathWalker {
 public:
  explicit PathWalker(const Graph& graph) : graph_(graph), visited_(graph.nodes()) {}

  /// Calls visit(target, path, turns) for every path of exactly `hops` hops and at most `max_turns`
  /// turns. `near` says for every node how many hops it is away from what is looked for at least:
  /// a path that could not end on a node with 0 is not followed.
  template <class Visit>
  void walk(std::uint32_t source, std::size_t hops, std::size_t max_turns,
            std::span<const std::uint16_t> near, Visit&& visit) {
    path_.resize(hops);
    expanded_ = 0;
    visited_[source] = 1;
    if (hops > 0) step(source, nullptr, 0, 0, max_turns, near.data(), visit);
    visited_[source] = 0;
  }

  /// How many times the last walk went on from a node: what it cost.
  [[nodiscard]] std::size_t expanded() const { return expanded_; }

 private:
  template <class Visit>
  void step(std::uint32_t node, const bool* turns_at, std::size_t depth, std::size_t turns,
            std::size_t max_turns, const std::uint16_t* near, Visit& visit) {
    const std::size_t left = path_.size() - depth - 1;
    ++expanded_;
    for (const Graph::Hop& hop : graph_.hops(node)) {
      if (near[hop.peer] > left || visited_[hop.peer] != 0) continue;
      const std::size_t now = turns + (turns_at != nullptr && turns_at[hop.out] ? 1 : 0);
      if (now > max_turns) continue;
      path_[depth] = hop.arc;
      if (left == 0) {
        visit(hop.peer, std::span<const Arc>(path_), now);
      } else if (graph_.forwards(hop.peer)) {
        visited_[hop.peer] = 1;
        step(hop.peer, graph_.turns_row(hop.in), depth + 1, now, max_turns, near, visit);
        visited_[hop.peer] = 0;
      }
    }
  }

  const Graph& graph_;
  std::vector<std::uint8_t> visited_;
  std::vector<Arc> path_{};
  std::size_t expanded_ = 0;
};

}  // namespace lldp::lab
