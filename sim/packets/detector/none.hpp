// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// Looks for no deadlocks.
class NoDetector {
 public:
  explicit NoDetector(const Network& /*network*/) {}
  template <class Engine>
  void paused(Engine& /*e*/, Arc /*out*/, QueueMask /*queues*/) {}
  template <class Engine>
  void resumed(Engine& /*e*/, Arc /*out*/, QueueMask /*queues*/) {}
  template <class Engine>
  void telling(Engine& /*e*/, Arc /*out*/, std::uint32_t /*slot*/, std::uint8_t /*fresh*/) {}
  void cut(Arc /*arc*/) {}
  template <class Engine>
  void heard(Engine& /*e*/, const Slot& /*frame*/) {}
  template <class Engine>
  void timer(Engine& e, std::uint32_t slot) {
    e.pool().release(slot);
  }
};

}  // namespace lldp::lab::packets
