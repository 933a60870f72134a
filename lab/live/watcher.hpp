// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/live/observation.hpp"
#include "lab/live/place.hpp"
#include "os/fd.hpp"

namespace lldp::lab::live {

/// Watches the agents of a fabric by their control sockets: what each says of itself, as it
/// changes. All that waits ends, as if too late, where a signal is held back that is to end us
/// (is_ending()).
class Watcher {
 public:
  using Clock = std::chrono::steady_clock;

  Watcher(const FabricPlace& place, const Fabric& fabric);

  /// Until everything is right (true) or `deadline`. Agents may come and go in between.
  [[nodiscard]] bool wait_until_right(Clock::time_point deadline);
  /// Until every location is right, too.
  [[nodiscard]] bool wait_until_located(Clock::time_point deadline);
  /// Until the agents of these nodes have their level and no port of a wrong type, and the switches
  /// among them are protected if that is wanted. Returns one that is not so by `deadline`.
  [[nodiscard]] std::optional<std::size_t> wait_until_settled(const std::vector<std::size_t>& nodes,
                                                              bool is_protected,
                                                              Clock::time_point deadline);
  /// Until the agent of this switch says that it is protected, or has nothing to protect.
  [[nodiscard]] bool wait_until_protected(std::size_t node, Clock::time_point deadline);
  /// Until every agent that is there has answered once, or `deadline`.
  void look(Clock::time_point deadline);

  [[nodiscard]] const Observation& seen() const { return seen_; }

 private:
  struct Connection {
    UniqueFd fd{};
    std::string received{};
    bool right = false;
  };
  /// Connects to every agent that is there; true if one is not there yet.
  bool connect_all();
  void wait(Clock::time_point deadline);
  void read_from(std::size_t node);
  void forget(std::size_t node);

  const FabricPlace& place_;
  const Fabric& fabric_;
  std::vector<std::vector<Adjacency>> ports_;
  std::vector<Connection> connections_;
  Observation seen_;
  std::size_t right_ = 0;
  UniqueFd epoll_{};
  UniqueFd ending_{};
};

}  // namespace lldp::lab::live
