// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// What ITSY's switches keep, and how they look at their queues.

[[nodiscard]] constexpr Key key_of_priority(Arc arc, std::uint8_t priority) {
  return arc << 3 | priority;
}
/// Of the first priority of a mask.
[[nodiscard]] constexpr Key key_of(Arc arc, unsigned mask) {
  return key_of_priority(arc, static_cast<std::uint8_t>(std::countr_zero(mask)));
}

/// The counter that began, and in which episode.
struct Mark {
  Key id = kNone;
  std::uint8_t seq = 0;
  explicit operator bool() const { return id != kNone; }
  friend bool operator==(const Mark&, const Mark&) = default;
};

/// Stored for an egress queue; erased when that is told to go on (so its absence is the RESUME
/// tag).
struct Stored {
  Mark trigger{};
  Mark proof{};
  std::uint8_t round = 0;  ///< of the proof
  Picoseconds since = 0;   ///< of that
  Picoseconds paused_at = 0;
  bool watched = false;  ///< a packet comes round to look again
};

/// Stored for an ingress counter.
struct Counter {
  std::uint8_t seq = 0;  ///< of the last check that it began
  std::uint8_t round = 0;
  bool proving = false;
  bool handled = false;   ///< in this episode
  bool was_real = false;  ///< as the oracle said when the last round began: for the report
  Picoseconds since = 0;
};

/// A check as frames carry it. round 0: what explains a PAUSE; else of a proof.
struct ItsyCheck {
  Key id = kNone;
  std::uint8_t seq = 0;
  std::uint8_t round = 0;
  std::uint8_t priority = 0;  ///< that is paused
  bool again = false;         ///< with a PAUSE that was told before
};
inline void put(Slot& slot, const ItsyCheck& c) {
  slot.route = c.id;
  slot.octets = static_cast<std::uint16_t>(c.seq | c.priority << 4 | c.round << 8);
  slot.nack = c.again;
  slot.marked = true;
}
[[nodiscard]] inline ItsyCheck check_of(const Slot& slot) {
  return {.id = slot.route,
          .seq = static_cast<std::uint8_t>(slot.octets & 0xf),
          .round = static_cast<std::uint8_t>(slot.octets >> 8),
          .priority = static_cast<std::uint8_t>(slot.octets >> 4 & 7),
          .again = slot.nack};
}

inline constexpr unsigned kItsySeqBits = 4;
[[nodiscard]] constexpr std::uint8_t next(std::uint8_t seq) {
  return static_cast<std::uint8_t>((seq + 1) & ((1U << kItsySeqBits) - 1));
}

/// Bits that a switch needs for one lossless priority: the traffic map; by port whether it pauses
/// and its RESUME tag, two marks, of the proof's the round and an age of two bits, whether it is
/// watched, its own Seq and round.
[[nodiscard]] constexpr std::uint64_t itsy_bits(std::uint64_t ports, unsigned switch_bits,
                                                unsigned port_bits) {
  const unsigned mark = switch_bits + port_bits + kItsySeqBits;
  return ports * ports + ports * (1 + 1 + 2 * mark + 3 + 2 + 1 + kItsySeqBits + 3);
}

/// The state of all switches. Their traffic maps are read from the queues, when they are asked for:
/// the way of a frame costs nothing more.
class ItsyBook {
 public:
  explicit ItsyBook(const Network& n)
      : queues_(n.arcs() << 3), counters_(n.arcs() << 3), out_(n.buffers.size()) {
    for (Arc a = 0; a < n.arcs(); ++a) out_[n.ports[a].node].push_back(a);
  }

  Stored& queue(Key q) { return queues_[q]; }
  Counter& counter(Key c) { return counters_[c]; }

  [[nodiscard]] bool is_at(const Network& n, Key counter, Arc out) const {
    return n.ports[reversed(arc_of(counter))].node == n.ports[out].node;
  }

  /// Counters that stop their far ends, and whose frames wait in a queue.
  [[nodiscard]] std::vector<Key> counters_of(const Network& n, Key q) const {
    std::vector<Key> found;
    each_frame(n, q, [&](const Slot& f) {
      const Key c = key_of_priority(f.arc, f.arrival);
      if ((n.ingress[f.arc].pausing >> f.arrival & 1) != 0 &&
          std::find(found.begin(), found.end(), c) == found.end())
        found.push_back(c);
      return true;
    });
    return found;
  }
  [[nodiscard]] bool holds(const Network& n, Key q, Key counter) const {
    return !each_frame(n, q,
                       [&](const Slot& f) { return key_of_priority(f.arc, f.arrival) != counter; });
  }
  /// Queues in which a counter's frames wait.
  [[nodiscard]] std::vector<Key> queues_of(const Network& n, Key counter) const {
    std::vector<Key> found;
    for (const Arc out : out_[n.ports[reversed(arc_of(counter))].node])
      for (unsigned mask = n.ports[out].waiting; mask != 0; mask &= mask - 1)
        if (holds(n, key_of(out, mask), counter)) found.push_back(key_of(out, mask));
    return found;
  }
  /// Whether another queue of the same switch has heard of the same trigger.
  [[nodiscard]] bool elsewhere(const Network& n, Key q, Key trigger) const {
    const auto& out = out_[n.ports[arc_of(q)].node];
    return std::any_of(out.begin(), out.end(), [&](Arc a) {
      return a != arc_of(q) && queues_[key_of_priority(a, priority_of(q))].trigger.id == trigger;
    });
  }
  /// The flow that has most, by its rate and what it has in the queues in which a counter waits.
  [[nodiscard]] std::uint32_t heaviest(const Network& n, Key counter) const {
    std::map<std::uint32_t, std::uint64_t> weights;
    for (const Key q : queues_of(n, counter))
      each_frame(n, q, [&](const Slot& f) {
        weights[f.flow] += f.octets * (n.flows[f.flow].rate_bps / 1'000'000);
        return true;
      });
    const auto most =
        std::max_element(weights.begin(), weights.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == weights.end() ? kNone : most->first;
  }
  /// The shortest way from a counter along what it waits for to another: the queues on it. A queue
  /// that `may` refuses is not taken.
  template <class May>
  [[nodiscard]] std::vector<Key> way(const Network& n, Key from, Key to, const May& may) const {
    std::map<Key, Key> came;  // queue: the one before it
    std::vector<std::pair<Key, Key>> next{{from, kNone}};
    for (std::size_t i = 0; i < next.size(); ++i) {
      const auto [counter, by] = next[i];
      if (i != 0 && counter == to) {
        std::vector<Key> path;
        for (Key k = by; k != kNone; k = came.at(k)) path.push_back(k);
        std::reverse(path.begin(), path.end());
        return path;
      }
      if (!n.ports[reversed(arc_of(counter))].forwards) continue;
      for (const Key q : queues_of(n, counter))
        if (may(q) && came.try_emplace(q, by).second) next.emplace_back(q, q);
    }
    return {};
  }

 private:
  /// Calls each(frame) until that is false; returns whether it never was.
  template <class Each>
  static bool each_frame(const Network& n, Key q, const Each& each) {
    const Port& p = n.ports[arc_of(q)];
    const Pool& pool = n.pool_of(p);
    if ((p.waiting >> priority_of(q) & 1) == 0) return true;
    for (std::uint32_t f = n.queue(arc_of(q), priority_of(q)).first; f != kNone; f = pool[f].next)
      if (!each(pool[f])) return false;
    return true;
  }

  std::vector<Stored> queues_;
  std::vector<Counter> counters_;
  std::vector<std::vector<Arc>> out_;  ///< by node
};

}  // namespace lldp::lab::packets
