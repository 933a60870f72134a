// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// Priority-based Flow Control, IEEE 802.1Q-2018 clause 36. Every ingress port counts what waits in
/// its node of each lossless priority. At XOFF it tells the far end to stop that priority, and has
/// headroom for what comes until that is obeyed; at XON to go on. A pause ends by itself after its
/// quanta, and is told again after half of them.
class Pfc {
 public:
  static constexpr bool kPerPort = false;
  explicit Pfc(const Network& network)
      : s_(network.settings.pfc), until_(network.arcs()), frame_(network.frame_octets) {}

  template <class Engine>
  bool accept(Engine& e, Arc in, std::uint8_t priority, std::uint32_t octets) {
    Ingress& g = e.network().ingress[in];
    Buffer& buffer = e.buffer_at_head(in);
    const std::uint64_t limit = xoff(buffer);
    const auto bit = static_cast<std::uint8_t>(1U << priority);
    if (g.octets[priority] < limit && buffer.used + octets <= buffer.shared) {
      g.octets[priority] += octets;
      buffer.used += octets;
    } else {
      if (g.headroom[priority] + octets > g.headroom_limit) return false;
      g.headroom[priority] += octets;
      g.beyond |= bit;
      Counters& count = e.count();
      count.peak_headroom = std::max(count.peak_headroom, g.headroom[priority]);
    }
    if ((g.pausing & bit) == 0 && ((g.beyond & bit) != 0 || g.octets[priority] >= limit)) {
      g.pausing |= bit;
      ++e.count().pauses;
      e.want_control(reversed(in));
    }
    return true;
  }

  template <class Engine>
  void released(Engine& e, Arc in, std::uint8_t priority, std::uint32_t octets) {
    Ingress& g = e.network().ingress[in];
    Buffer& buffer = e.buffer_at_head(in);
    const auto bit = static_cast<std::uint8_t>(1U << priority);
    if ((g.beyond & bit) != 0) {  // the headroom empties first
      const std::uint32_t beyond = std::min(octets, g.headroom[priority]);
      g.headroom[priority] -= beyond;
      octets -= beyond;
      if (g.headroom[priority] == 0) g.beyond &= static_cast<std::uint8_t>(~bit);
    }
    g.octets[priority] -= octets;
    buffer.used -= octets;
    if ((g.pausing & bit) == 0 || (g.beyond & bit) != 0 || g.octets[priority] > xon(buffer)) return;
    g.pausing &= static_cast<std::uint8_t>(~bit);
    e.want_control(reversed(in));
  }

  /// The PAUSE frame that is due on `out`, composed as late as it can be: one for all priorities.
  template <class Engine>
  std::uint32_t control_frame(Engine& e, Arc out) {
    Network& n = e.network();
    Ingress& g = n.ingress[reversed(out)];
    const auto go = static_cast<std::uint8_t>(g.announced & ~g.pausing);
    if (g.pausing == 0 && go == 0) return kNone;
    const auto fresh = static_cast<std::uint8_t>(g.pausing & ~g.announced);
    g.announced = g.pausing;
    if (g.pausing != 0 && !g.timer) {
      g.timer = true;
      e.after(quanta_time(n, reversed(out), s_.quanta) / 2, Kind::kFlowControl, reversed(out));
    }
    ++e.count().pause_frames;
    const std::uint32_t slot = e.pool().take();
    e.pool()[slot] = Slot{.flow = go,
                          .number = pause_of(g.pausing, s_.quanta),
                          .octets = kControlOctets,
                          .kind = Kind::kPause};
    e.telling(out, slot, fresh);
    return slot;
  }

  template <class Engine>
  void received(Engine& e, const Slot& frame) {
    Network& n = e.network();
    const Arc out = reversed(frame.arc);
    const std::uint8_t stop = stops_of(frame);
    const Picoseconds until = e.now() + quanta_time(n, out, quanta_of(frame));
    for (unsigned mask = stop; mask != 0; mask &= mask - 1)
      until_[out].priority[static_cast<std::size_t>(std::countr_zero(mask))] = until;
    const auto go = static_cast<std::uint8_t>(frame.flow);
    if (stop != 0 && until < until_[out].due) {
      until_[out].due = until;
      e.after(until - e.now(), Kind::kPauseExpires, out);
    }
    if (stop != 0) e.stop(out, stop);
    if (go != 0) e.go(out, go);
  }

  template <class Engine>
  void timer(Engine& e, std::uint32_t slot) {
    Network& n = e.network();
    const Arc arc = e.pool()[slot].arc;
    const bool refresh = e.pool()[slot].kind == Kind::kFlowControl;
    e.pool().release(slot);
    if (refresh) {
      Ingress& g = n.ingress[arc];
      g.timer = g.pausing != 0;
      if (!g.timer) return;
      e.after(quanta_time(n, arc, s_.quanta) / 2, Kind::kFlowControl, arc);
      return e.want_control(reversed(arc));
    }
    Pause& pause = until_[arc];
    if (pause.due > e.now()) return;  // a shorter pause came later, and has been seen to
    pause.due = kNever;
    std::uint8_t over = 0;
    Picoseconds next = kNever;
    for (unsigned mask = n.ports[arc].stopped; mask != 0; mask &= mask - 1) {
      const auto priority = static_cast<std::size_t>(std::countr_zero(mask));
      if (pause.priority[priority] <= e.now())
        over |= static_cast<std::uint8_t>(1U << priority);
      else
        next = std::min(next, pause.priority[priority]);
    }
    if (over != 0) e.go(arc, over);
    if (next == kNever) return;
    pause.due = next;
    e.after(next - e.now(), Kind::kPauseExpires, arc);
  }

  /// The carrier of `arc` is back. Both ends kept what they knew, as MACs do; frames that told of a
  /// change may have been lost with it, so all is told again.
  template <class Engine>
  void mended(Engine& e, Arc arc) {
    Network& n = e.network();
    n.ingress[arc].announced = static_cast<std::uint8_t>(n.lossless);
    e.want_control(reversed(arc));
  }

 private:
  struct Pause {
    std::array<Picoseconds, kPriorities> priority{};
    Picoseconds due = kNever;  ///< of the timer
  };

  [[nodiscard]] std::uint64_t xoff(const Buffer& buffer) const {
    return s_.alpha_256 == 0 ? s_.xoff_octets : (buffer.shared - buffer.used) * s_.alpha_256 / 256;
  }
  [[nodiscard]] std::uint64_t xon(const Buffer& buffer) const {
    if (s_.alpha_256 == 0) return s_.xon_octets;
    const std::uint64_t limit = xoff(buffer);
    return limit > 2 * frame_ ? limit - 2 * frame_ : 0;
  }
  [[nodiscard]] static Picoseconds quanta_time(const Network& n, Arc arc, std::uint32_t quanta) {
    return n.time_of(arc, quanta * 64U);
  }

  const PfcSettings& s_;
  std::vector<Pause> until_;
  std::uint64_t frame_;
};

}  // namespace lldp::lab::packets
