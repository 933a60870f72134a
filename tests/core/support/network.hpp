// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "lab/agents/network.hpp"
#include "tests/core/support/names.hpp"

namespace lldp::test {

inline Settings pinned_to(std::size_t level) {
  Settings s;
  s.pinned_level = lldp::test::level(level);
  return s;
}

/// The lab's network of agents on virtual time, with every agent's events kept. Devices are called
/// `host0`, `switch1`, ... by their index.
class Network : public lab::agents::Network, private lab::agents::Observer {
 public:
  explicit Network(std::uint64_t seed = 1) : lab::agents::Network(seed) {
    keep_events = true;
    watch(*this);
  }

  /// Sees every frame that is sent.
  std::function<void(TimePoint, std::size_t node, const core::Send&)> on_send{};

  std::size_t add(Role role, Settings settings = {}) {
    settings.role = role;
    settings.system_name = (role == Role::kHost ? "host" : "switch") + std::to_string(nodes.size());
    return lab::agents::Network::add(std::move(settings));
  }

 private:
  void acted(std::size_t node, const core::Actions& actions) override {
    if (!on_send) return;
    for (const core::Send& send : actions.sends) on_send(now, node, send);
  }
};

}  // namespace lldp::test
