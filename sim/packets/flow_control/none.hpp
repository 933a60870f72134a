// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// No port is stopped: a frame that finds no room is dropped.
class NoFlowControl {
 public:
  static constexpr bool kPerPort = false;
  explicit NoFlowControl(const Network& /*network*/) {}
  template <class Engine>
  bool accept(Engine& e, Arc in, std::uint8_t /*priority*/, std::uint32_t octets) {
    Buffer& buffer = e.buffer_at_head(in);
    if (buffer.used + octets > buffer.shared) return false;
    buffer.used += octets;
    return true;
  }
  template <class Engine>
  void released(Engine& e, Arc in, std::uint8_t /*priority*/, std::uint32_t octets) {
    e.buffer_at_head(in).used -= octets;
  }
  template <class Engine>
  std::uint32_t control_frame(Engine& /*e*/, Arc /*out*/) {
    return kNone;
  }
  template <class Engine>
  void received(Engine& /*e*/, const Slot& /*frame*/) {}
  template <class Engine>
  void timer(Engine& e, std::uint32_t slot) {
    e.pool().release(slot);
  }
  template <class Engine>
  void mended(Engine& /*e*/, Arc /*arc*/) {}
};

}  // namespace lldp::lab::packets
