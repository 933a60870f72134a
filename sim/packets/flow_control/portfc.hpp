// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "sim/packets/flow_control/ndc.hpp"

namespace lldp::lab::packets {

/// PortFC for NDC(n, 1): Cao et al., "Revisiting Flow Control in Node-Centric Datacenter Networks".
/// Switches watch the octets that wait at their egress ports: for nodes that relay them (A) or for
/// nodes that they are addressed to (B). Too much of A stops the nodes' own four-hop traffic to
/// that port; too much of B stops their two-hop traffic, and the switches that send there by way of
/// them. Relayed traffic is never stopped.
class PortFc {
 public:
  /// Frames wait by where they go, and are accounted for at the egress.
  static constexpr bool kPerPort = true;

  explicit PortFc(const Network& network)
      : map_(network), s_(network.settings.pfc), ports_(network.arcs()) {}

  [[nodiscard]] std::uint8_t queue_of(const Network& n, const Slot& f) const {
    return f.kind == Kind::kData ? map_.queue_of(n, f.route) : n.control;
  }

  /// Algorithm 1. What the buffer has no room for is dropped.
  template <class Engine>
  bool queued(Engine& e, Arc out, const Slot& f, std::uint32_t octets) {
    Network& n = e.network();
    Buffer& buffer = n.buffers[n.ports[out].node];
    if (buffer.used + octets > buffer.shared) return false;
    buffer.used += octets;
    if (!map_.is_switch(out) || f.priority == n.control) return true;
    const Class c = class_of(f);
    EgressPort& p = ports_[out];
    p.octets[c] += octets;
    if (p.pausing[c] || p.octets[c] < s_.xoff_octets) return true;
    ++e.count().pauses;
    // A port that is full because it is stopped passes that on.
    tell(e, out, c, true,
         static_cast<std::uint8_t>(c == kRelayed && n.ports[out].stopped != 0 ? p.heard_hops : 0));
    return true;
  }
  /// Algorithm 2.
  template <class Engine>
  void left(Engine& e, Arc out, const Slot& f, std::uint32_t octets) {
    Network& n = e.network();
    n.buffers[n.ports[out].node].used -= octets;
    if (!map_.is_switch(out) || f.priority == n.control) return;
    const Class c = class_of(f);
    EgressPort& p = ports_[out];
    p.octets[c] -= octets;
    if (p.pausing[c] && p.octets[c] <= s_.xon_octets) tell(e, out, c, false, 0);
  }

  /// One message at a time: `number` is the port and the class, `flow` whether it is a pause,
  /// `route` how far it is from where it began.
  template <class Engine>
  std::uint32_t control_frame(Engine& e, Arc out) {
    EgressPort& p = ports_[out];
    const std::uint32_t news = p.wanted ^ p.told;
    if (news == 0) return kNone;
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(news));
    p.told ^= std::uint32_t{1} << bit;
    if (p.told != p.wanted) e.want_control(out);
    ++e.count().pause_frames;
    const std::uint32_t slot = e.pool().take();
    e.pool()[slot] = Slot{.flow = p.wanted >> bit & 1,
                          .number = bit,
                          .route = p.hops[bit],
                          .octets = kControlOctets,
                          .kind = Kind::kPause};
    return slot;
  }

  /// Algorithm 3 at a node, 4 at a switch.
  template <class Engine>
  void received(Engine& e, const Slot& frame) {
    Network& n = e.network();
    const Arc out = reversed(frame.arc);
    const bool stop = frame.flow != 0;
    const std::uint32_t port = frame.number >> 1;
    const Class c = (frame.number & 1) != 0 ? kDirect : kRelayed;
    e.count().pause_hops = std::max(e.count().pause_hops, frame.route);
    if (map_.is_switch(out)) {
      ports_[out].heard_hops = static_cast<std::uint8_t>(frame.route);
      return set(e, out, port, stop);
    }
    const std::uint32_t rank = map_.rank(port, frame.arc);
    const std::uint32_t kinds = map_.k();  // of own traffic that is relayed
    if (c == kRelayed) {
      for (std::uint32_t i = 0; i < kinds; ++i) set(e, out, i * (map_.n() - 1) + rank, stop);
      return;
    }
    set(e, out, kinds * (map_.n() - 1) + rank, stop);
    for (const Arc other : map_.ports_of(n.ports[out].node))
      if (other != out) want(e, other, rank << 1 | 1U, stop, frame.route + 1);
  }

  template <class Engine>
  void timer(Engine& e, std::uint32_t slot) {
    e.pool().release(slot);
  }
  template <class Engine>
  void mended(Engine& /*e*/, Arc /*arc*/) {}

 private:
  enum Class : std::uint8_t { kRelayed, kDirect };
  struct EgressPort {
    std::array<std::uint32_t, 2> octets{};  ///< that wait, by class
    std::array<bool, 2> pausing{};          ///< upstream is paused: by port and class
    std::uint32_t wanted = 0;               ///< messages to the far end, a bit each
    std::uint32_t told = 0;
    std::array<std::uint8_t, 32> hops{};  ///< of each
    std::uint8_t heard_hops = 0;          ///< of the last one heard
  };

  [[nodiscard]] Class class_of(const Slot& f) const {
    return f.priority == map_.n() - 1 ? kDirect : kRelayed;
  }
  template <class Engine>
  void set(Engine& e, Arc out, std::uint32_t queue, bool stop) {
    const auto bit = static_cast<QueueMask>(1U << queue);
    stop ? e.stop(out, bit) : e.go(out, bit);
  }
  template <class Engine>
  void want(Engine& e, Arc out, std::uint32_t bit, bool stop, std::uint32_t hops) {
    EgressPort& p = ports_[out];
    const std::uint32_t mask = std::uint32_t{1} << bit;
    p.wanted = stop ? p.wanted | mask : p.wanted & ~mask;
    p.hops[bit] = static_cast<std::uint8_t>(hops);
    e.want_control(out);
  }
  template <class Engine>
  void tell(Engine& e, Arc out, Class c, bool stop, std::uint8_t hops) {
    ports_[out].pausing[c] = stop;
    for (const Arc other : map_.ports_of(e.network().ports[out].node))
      if (other != out)
        want(e, other, map_.index(out) << 1 | (c == kDirect ? 1U : 0U), stop, hops + 1U);
  }

  NdcMap map_;
  const PfcSettings& s_;
  std::vector<EgressPort> ports_;
};

}  // namespace lldp::lab::packets
