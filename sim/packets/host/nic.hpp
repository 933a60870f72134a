// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// Buffers of hosts' NICs, which empty as fast as a host takes frames.
template <class Engine>
class Nics {
 public:
  explicit Nics(Engine& engine) : e_(engine), n_(engine.network()) {}

  /// The NIC of the host has room for the frame; if little is left, it stops what it can.
  bool take_in(const Slot& f) {
    Nic& nic = n_.nics[f.arc];
    const Picoseconds takes = Picoseconds{f.octets} * n_.nic_ps_per_octet;
    const Picoseconds empty_at = std::max(nic.empty_at, e_.now()) + takes;
    if (empty_at - e_.now() > nic.room) {
      Counters& count = e_.count();
      ++count.nic_drops;
      count.dropped += f.octets;
      if (f.priority != n_.flows[f.flow].priority) ++count.nic_drops_turned;
      return false;
    }
    nic.empty_at = empty_at;
    if (empty_at - e_.now() >= nic.stops_at && !nic.timer) {
      nic.timer = true;
      pause(f.arc, true);
      e_.after(takes_until_it_goes_on(nic), Kind::kNic, f.arc);
    }
    return true;
  }
  void look(std::uint32_t slot) {
    const Arc in = e_.pool()[slot].arc;
    Nic& nic = n_.nics[in];
    e_.pool().release(slot);
    if (const Picoseconds more = takes_until_it_goes_on(nic); more != 0)
      return e_.after(more, Kind::kNic, in);
    nic.timer = false;
    pause(in, false);
  }

 private:
  void pause(Arc in, bool stop) {
    for (unsigned mask = n_.settings.nic.pfc & n_.lossless; mask != 0; mask &= mask - 1)
      e_.host_pauses(in, static_cast<std::uint8_t>(std::countr_zero(mask)), stop);
  }
  /// Until it has room for three frames more than where it stops.
  [[nodiscard]] Picoseconds takes_until_it_goes_on(const Nic& nic) const {
    const Picoseconds goes_on =
        nic.stops_at - Picoseconds{3} * n_.frame_octets * n_.nic_ps_per_octet;
    const Picoseconds left = nic.empty_at - std::min(nic.empty_at, e_.now());
    return left > goes_on ? left - goes_on : 0;
  }

  Engine& e_;
  Network& n_;
};

}  // namespace lldp::lab::packets
