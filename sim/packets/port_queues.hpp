// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// The queues of the ports that one part has, and which of these ports may not send.
class PortQueues {
 public:
  PortQueues(Network& network, Part& part) : n_(network), part_(part) {}

  /// The next queue's turn: acknowledgements first, then the one that has had least, in octets.
  [[nodiscard]] std::uint8_t pick(Port& p, Arc out, QueueMask may) {
    if ((may >> n_.control & 1) != 0) return n_.control;
    std::uint8_t best = 0;
    std::uint32_t least = kNone;
    for (unsigned mask = may; mask != 0; mask &= mask - 1) {
      const auto priority = static_cast<std::uint8_t>(std::countr_zero(mask));
      const auto ahead = static_cast<std::int32_t>(n_.queue(out, priority).served - p.served);
      const auto tag = static_cast<std::uint32_t>(std::max(ahead, 0));
      if (tag >= least) continue;
      least = tag;
      best = priority;
    }
    p.served += least;
    Queue& q = n_.queue(out, best);
    q.served = p.served + octets_of(part_.pool[q.first]);
    return best;
  }

  std::uint32_t take_first(Port& p, Arc out, std::uint8_t priority) {
    Queue& q = n_.queue(out, priority);
    const std::uint32_t s = q.first;
    q.first = part_.pool[s].next;
    part_.pool.fetch(q.first);
    q.octets -= octets_of(part_.pool[s]);
    if (q.first == kNone) p.waiting &= static_cast<QueueMask>(~(1U << priority));
    return s;
  }
  /// Takes out the frame `s`, which stands behind `before`; kNone: it is the first.
  void unlink(Arc out, std::uint8_t priority, std::uint32_t s, std::uint32_t before) {
    Port& p = n_.ports[out];
    Queue& q = n_.queue(out, priority);
    (before == kNone ? q.first : part_.pool[before].next) = part_.pool[s].next;
    if (q.last == s) q.last = before;
    q.octets -= octets_of(part_.pool[s]);
    if (q.first == kNone) p.waiting &= static_cast<QueueMask>(~(1U << priority));
  }

  /// Some queue of the port may not send, or all may.
  void list_paused(Arc out, bool is) {
    std::uint32_t& place = n_.place_in_paused[out];
    if (is) {
      place = static_cast<std::uint32_t>(part_.paused.size());
      part_.paused.push_back(out);
      return;
    }
    const Arc last = part_.paused.back();
    part_.paused[place] = last;
    n_.place_in_paused[last] = place;
    place = kNone;
    part_.paused.pop_back();
  }

 private:
  Network& n_;
  Part& part_;
};

}  // namespace lldp::lab::packets
