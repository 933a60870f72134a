// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "lab/agents/network.hpp"
#include "lab/agents/truth.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab::converge {

/// What befalls whole fabrics, by name:
///   rolling-upgrade  one switch after the other stops and starts again
///   late-pod         a pod with its hosts is added last (of two levels: a leaf)
///   empty-racks      the hosts of every other leaf come last
///   hosts-on-spine   a host is plugged into a top switch, and taken away again
///   miswired         of two leaves a cable each is exchanged with one of top switches', and
///   repaired moved            a leaf and a top switch change places, without a restart
inline constexpr std::string_view kScripts[] = {"rolling-upgrade", "late-pod", "empty-racks",
                                                "hosts-on-spine",  "miswired", "moved"};

class Script {
 public:
  /// Fails for a name that is none, and a fabric that has not what it needs.
  [[nodiscard]] static Result<void> check(const Fabric& fabric, std::string_view name);

  /// `network` is the fabric's, which is looked at here alone, and nothing runs yet. What it needs
  /// besides is added, and it stands as it will at the end: the time to ask for the truth.
  Script(const Fabric& fabric, std::string_view name, agents::Network& network);
  [[nodiscard]] const agents::Levels& levels() const { return levels_; }
  /// Makes it as it is at the beginning.
  void set_back();
  /// Whether a device is not there at first.
  [[nodiscard]] bool comes_late(std::size_t node) const { return late_[node]; }
  /// Lets it all happen within the span; late devices start at its end.
  void play(TimePoint from, Duration span);

 private:
  using Network = agents::Network;
  struct Move {
    std::size_t cable = 0;
    Network::End a{};  ///< where its ends are at first
    Network::End b{};
    Network::End a_then{};
    Network::End b_then{};
    Duration delay{};
  };
  [[nodiscard]] static std::vector<std::size_t> leaves(const Fabric& fabric);
  [[nodiscard]] static std::vector<std::size_t> top(const Fabric& fabric);
  void lay_out_move(std::size_t leaf, std::size_t spine);
  void find_pod(const Fabric& fabric, std::size_t leaf);
  void find_cables_to_cross(const Fabric& fabric);
  void replug(std::vector<std::size_t>& cables, bool then);

  std::string_view name_;
  Network& network_;
  agents::Levels levels_{};
  std::vector<bool> late_{};
  std::vector<Move> moves_{};
  std::vector<std::size_t> moved_cables_{};
  std::size_t stray_ = 0;
  Network::End stray_port_{};
};

}  // namespace lldp::lab::converge
