// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// The reactive way: a queue of a switch that is paused without a break for `detection` is taken
/// for deadlocked. For `restoration` it ignores the pause and sends on, or throws away what it has
/// and gets; then it obeys again. Yu, "PFC Deadlock Free in Data Center Network" (IEEE 802.1,
/// Edinburgh, September 2019), "Current mechanism".
class Watchdog {
 public:
  explicit Watchdog(const Network& network)
      : s_(network.settings.watchdog), episodes_(network.arcs()) {}

  template <class Engine>
  void paused(Engine& e, Arc out, QueueMask priorities) {
    if (!e.network().ports[out].forwards) return;
    for (unsigned mask = priorities; mask != 0; mask &= mask - 1) {
      // A pause that comes while one is ignored is ignored too, until restoration is over.
      if ((e.network().ports[out].ignored & (mask & -mask)) != 0) continue;
      const auto priority = static_cast<std::uint32_t>(std::countr_zero(mask));
      const std::uint32_t episode = ++episodes_[out][priority];
      e.after(s_.detection, Kind::kDetector, out, priority, episode);
    }
  }
  template <class Engine>
  void resumed(Engine& e, Arc out, QueueMask priorities) {
    const auto& port = e.network().ports[out];
    for (unsigned mask = priorities; mask != 0; mask &= mask - 1)
      if ((port.ignored & (mask & -mask)) == 0)
        ++episodes_[out][static_cast<std::size_t>(std::countr_zero(mask))];
  }
  template <class Engine>
  void telling(Engine& /*e*/, Arc /*out*/, std::uint32_t /*slot*/, std::uint8_t /*fresh*/) {}
  void cut(Arc /*arc*/) {}
  template <class Engine>
  void heard(Engine& /*e*/, const Slot& /*frame*/) {}
  template <class Engine>
  void timer(Engine& e, std::uint32_t slot) {
    Network& n = e.network();
    const Slot s = e.pool()[slot];
    e.pool().release(slot);
    if (episodes_[s.arc][s.number] != s.flow) return;
    Port& port = n.ports[s.arc];
    const auto bit = static_cast<std::uint8_t>(1U << s.number);
    if ((port.ignored & bit) == 0) {
      ++e.count().detections;
      port.ignored |= bit;
      if (s_.drops) {
        port.discarding |= bit;
        e.discard(s.arc, static_cast<std::uint8_t>(s.number));
      }
      e.after(s_.restoration, Kind::kDetector, s.arc, s.number, s.flow);
      return e.obey(s.arc);
    }
    port.ignored &= static_cast<std::uint8_t>(~bit);
    port.discarding &= static_cast<std::uint8_t>(~bit);
    ++episodes_[s.arc][s.number];
    e.obey(s.arc);
    if ((port.stopped & bit) != 0) paused(e, s.arc, bit);
  }

 private:
  const WatchdogSettings& s_;
  std::vector<std::array<std::uint32_t, kPriorities>> episodes_;  ///< by arc: of pauses, by number
};

}  // namespace lldp::lab::packets
