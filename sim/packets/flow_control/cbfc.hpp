// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// Credit-Based Flow Control of Ultra Ethernet (UE specification 1.0, 5.2, by SAI's description of
/// it). Lossless classes travel in virtual channels. A sender may send in a channel while what it
/// has consumed, less what the far end has told to be free again, leaves credits for a whole frame
/// below the channel's limit. Both counts are of all time, modulo 2^32, so a message that is lost
/// is made good by the next. A frame is free when it begins to leave the node, or at once where it
/// ends. Messages keep a spacing, so many octets of the link.
///
/// Acknowledgements and lossy frames are best effort: they take no credits.
class Cbfc {
 public:
  static constexpr bool kPerPort = false;
  static constexpr bool kCredits = true;
  explicit Cbfc(const Network& network)
      : s_(network.settings.cbfc), senders_(network.arcs()), receivers_(network.arcs()) {}

  template <class Engine>
  bool accept(Engine& e, Arc in, std::uint8_t priority, std::uint32_t octets) {
    e.buffer_at_head(in).used += octets;
    receivers_[in].held[channel(e, priority)] += e.network().cost_of(octets);
    return true;
  }
  template <class Engine>
  void released(Engine& e, Arc in, std::uint8_t priority, std::uint32_t octets) {
    e.buffer_at_head(in).used -= octets;
    receivers_[in].held[channel(e, priority)] -= e.network().cost_of(octets);
    passed(e, in, priority, octets);
  }
  /// A frame that came by `in` goes on at once, ends here or is thrown away.
  template <class Engine>
  void passed(Engine& e, Arc in, std::uint8_t priority, std::uint32_t octets) {
    Receiver& r = receivers_[in];
    const std::uint8_t c = channel(e, priority);
    r.freed[c] += e.network().cost_of(octets);
    r.to_tell |= 1U << c;
    tell(e, in);
  }
  /// What was released has to be placed again, and comes back by accept() or passed().
  template <class Engine>
  void taken_back(Engine& e, Arc in, std::uint8_t priority, std::uint32_t octets) {
    receivers_[in].freed[channel(e, priority)] -= e.network().cost_of(octets);
  }
  /// A frame begins to go on `out`.
  template <class Engine>
  void sent(Engine& e, Arc out, const Slot& frame) {
    const std::uint8_t c = channel(e, frame.priority);
    senders_[out].consumed[c] += e.network().cost_of(frame.octets);
    look(e, out, c);
  }

  /// One message for each channel of which there is something to tell, in turn: a channel with
  /// much traffic keeps none from another.
  template <class Engine>
  std::uint32_t control_frame(Engine& e, Arc out) {
    const Arc in = reversed(out);
    Receiver& r = receivers_[in];
    if (r.to_tell == 0) return kNone;
    const std::uint32_t later = r.to_tell & ~((std::uint32_t{2} << r.told_last) - 1);
    const auto c = static_cast<std::uint32_t>(std::countr_zero(later != 0 ? later : r.to_tell));
    r.to_tell &= ~(1U << c);
    r.told_last = static_cast<std::uint8_t>(c);
    const Network& n = e.network();
    r.next_at = e.now() + n.time_of(out, s_.cf_min_spacing);
    if (r.to_tell != 0) tell(e, in);
    ++e.count().pause_frames;
    const std::uint32_t slot = e.pool().take();
    e.pool()[slot] =
        Slot{.flow = c, .number = r.freed[c], .octets = kControlOctets, .kind = Kind::kPause};
    return slot;
  }
  template <class Engine>
  void received(Engine& e, const Slot& frame) {
    Sender& s = senders_[reversed(frame.arc)];
    s.freed[frame.flow] = frame.number;
    s.silent &= ~(1U << frame.flow);
    look(e, reversed(frame.arc), static_cast<std::uint8_t>(frame.flow));
  }
  template <class Engine>
  void timer(Engine& e, std::uint32_t slot) {
    const Arc in = e.pool()[slot].arc;
    e.pool().release(slot);
    receivers_[in].timer = false;
    if (receivers_[in].to_tell != 0) tell(e, in);
  }

  /// The carrier of `out` is back: counts begin anew, and nothing goes before the far end has told
  /// what it still holds.
  template <class Engine>
  void raised(Engine& e, Arc out) {
    senders_[out] = {};
    senders_[out].silent = ~0U;
    for (std::uint8_t c = 0; c < e.network().channels; ++c) look(e, out, c);
  }
  template <class Engine>
  void mended(Engine& e, Arc in) {
    Receiver& r = receivers_[in];
    for (std::uint8_t c = 0; c < e.network().channels; ++c) {
      r.freed[c] = 0U - r.held[c];
      r.to_tell |= 1U << c;
    }
    r.next_at = 0;
    tell(e, in);
  }

 private:
  struct Sender {
    std::array<std::uint32_t, kPriorities> consumed{};  ///< by channel
    std::array<std::uint32_t, kPriorities> freed{};     ///< as last told
    std::uint32_t silent = 0;                           ///< channels of which nothing was told yet
  };
  struct Receiver {
    std::array<std::uint32_t, kPriorities> freed{};
    std::array<std::uint32_t, kPriorities> held{};  ///< what waits in the node
    std::uint32_t to_tell = 0;
    std::uint8_t told_last = 0;  ///< the channel
    Picoseconds next_at = 0;     ///< no message before
    bool timer = false;
  };

  template <class Engine>
  static std::uint8_t channel(Engine& e, std::uint8_t priority) {
    return e.network().channel_of[priority];
  }
  template <class Engine>
  void tell(Engine& e, Arc in) {
    Receiver& r = receivers_[in];
    if (e.now() >= r.next_at) return e.want_control(reversed(in));
    if (r.timer) return;
    r.timer = true;
    e.after(r.next_at - e.now(), Kind::kFlowControl, in);
  }
  /// Stops a channel that has no credits for a whole frame, or lets it go on.
  template <class Engine>
  void look(Engine& e, Arc out, std::uint8_t c) {
    const Network& n = e.network();
    const Sender& s = senders_[out];
    const std::uint32_t used = s.consumed[c] - s.freed[c];
    const bool enough =
        (s.silent >> c & 1) == 0 && used + n.cost_of(n.frame_octets) <= s_.credit_limit;
    const QueueMask queues = n.together[n.first_of_channel[c]];
    const bool stopped = (n.ports[out].stopped & queues) != 0;
    if (enough == !stopped) return;
    e.count().pauses += enough ? 0U : 1U;
    enough ? e.go(out, queues) : e.stop(out, queues);
  }

  const CbfcSettings& s_;
  std::vector<Sender> senders_;      ///< by the arc that is sent on
  std::vector<Receiver> receivers_;  ///< by the arc that comes in
};

}  // namespace lldp::lab::packets
