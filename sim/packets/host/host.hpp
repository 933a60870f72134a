// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// What hosts do: flows take turns at a port, each at its own pace; receivers acknowledge.
template <class Engine>
class Hosts {
 public:
  explicit Hosts(Engine& engine) : e_(engine), n_(engine.network()), part_(engine.part()) {}

  void start(std::uint32_t flow) {
    Flow& w = n_.flows[flow];
    if (w.extras && w.extras->other_route != 0) choose_way(w);
    w.allowed_at = w.progress_at = part_.now;
    offer(flow);
  }

  /// Whether a flow of the port could send at once.
  [[nodiscard]] bool ready(Arc arc) const {
    const EventSource& source = n_.sources[arc];
    if (source.first == kNone) return false;
    const QueueMask paused = n_.ports[arc].paused;
    if (paused == 0) return true;
    for (std::uint32_t f = source.first; f != kNone; f = n_.flows[f].next_ready)
      if ((paused >> n_.flows[f].priority & 1) == 0) return true;
    return false;
  }

  /// The port is free: the next flow's frame goes.
  void send(Arc arc) {
    EventSource& source = n_.sources[arc];
    admit_due(source);
    for (std::uint32_t f = take(source, n_.ports[arc].paused); f != kNone;
         f = take(source, n_.ports[arc].paused)) {
      Flow& w = n_.flows[f];
      const std::uint32_t number = next_number(w);
      if (number == kNone) continue;  // all has been acknowledged meanwhile
      emit(arc, f, number);
      offer(f);
      break;
    }
    wake_later(arc, source);
  }

  void wake(std::uint32_t slot) {
    const Arc arc = part_.pool[slot].arc;
    part_.pool.release(slot);
    EventSource& source = n_.sources[arc];
    if (source.wake_at <= part_.now) source.wake_at = kNever;
    admit_due(source);  // now: something else may take the port's next turn
    wake_later(arc, source);
    e_.arm(arc);
  }

  void receive(std::uint32_t slot) {
    const Slot& f = part_.pool[slot];
    Counters& count = part_.count;
    std::uint64_t h = (f.at ^ std::uint64_t{f.flow} << 40) + f.number * 0x9e37'79b9'7f4a'7c15;
    h = (h ^ h >> 29) * 0xbf58'476d'1ce4'e5b9;
    count.digest += h ^ h >> 32;  // a sum: the order of hosts that receive together is no matter
    if (f.kind == Kind::kAck) return acknowledged(slot);
    count.delivered += f.octets;
    Flow& w = n_.flows[f.flow];
    switch (w.receiver) {
      case HostTransport::kPaced:
        in_order(w, f);
        return part_.pool.release(slot);
      case HostTransport::kGoBackN:
        return receive_go_back(w, slot);
      case HostTransport::kSelective:
        return receive_selective(w, slot);
    }
  }

  void timeout(std::uint32_t slot) {
    const std::uint32_t flow = part_.pool[slot].flow;
    Flow& w = n_.flows[flow];
    if (w.done || w.acked == w.next) {
      w.timer = false;
      return part_.pool.release(slot);
    }
    const Picoseconds due = w.progress_at + rto(w);
    if (due > part_.now) return e_.again(slot, due);
    w.progress_at = part_.now;
    if (w.transport == HostTransport::kGoBackN) {
      go_back(w);
    } else {
      Selective& s = *w.selective();
      s.recovering = true;
      s.recovery_until = w.next;
      s.repair = w.acked;
      s.highest_sacked = std::max(s.highest_sacked, w.acked + 1);
    }
    e_.again(slot, part_.now + rto(w));
    offer(flow);
  }

 private:
  static bool later(const EventSource::Later& a, const EventSource::Later& b) {
    return a.at != b.at ? a.at > b.at : a.flow > b.flow;
  }
  void admit_due(EventSource& source) {
    while (!source.later.empty() && source.later.front().at <= part_.now) {
      append(source, source.later.front().flow);
      std::pop_heap(source.later.begin(), source.later.end(), later);
      source.later.pop_back();
    }
  }
  void append(EventSource& source, std::uint32_t flow) {
    n_.flows[flow].next_ready = kNone;
    if (source.first == kNone)
      source.first = flow;
    else
      n_.flows[source.last].next_ready = flow;
    source.last = flow;
  }
  /// Sees to it that the port looks again when the first of the later flows may send.
  void wake_later(Arc arc, EventSource& source) {
    if (source.later.empty() || source.later.front().at >= source.wake_at) return;
    source.wake_at = source.later.front().at;
    e_.after(source.wake_at - std::min(source.wake_at, part_.now), Kind::kHostWake, arc);
  }
  /// The first flow whose priority is not paused; kNone: there is none.
  std::uint32_t take(EventSource& source, QueueMask paused) {
    std::uint32_t before = kNone;
    for (std::uint32_t f = source.first; f != kNone; before = f, f = n_.flows[f].next_ready) {
      Flow& w = n_.flows[f];
      if ((paused >> w.priority & 1) != 0) continue;
      (before == kNone ? source.first : n_.flows[before].next_ready) = w.next_ready;
      if (source.last == f) source.last = before;
      w.queued = false;
      return f;
    }
    return kNone;
  }

  /// Puts a flow that has something to send among its source's, and wakes the port.
  void offer(std::uint32_t flow) {
    Flow& w = n_.flows[flow];
    if (w.queued || next_number(w, true) == kNone) return;
    const Arc arc = n_.routes[w.route];
    EventSource& source = n_.sources[arc];
    w.queued = true;
    if (w.allowed_at <= std::max(part_.now, n_.ports[arc].free_at)) {
      append(source, flow);
      return e_.arm(arc);
    }
    source.later.push_back({w.allowed_at, flow});
    std::push_heap(source.later.begin(), source.later.end(), later);
    wake_later(arc, source);
  }

  /// The frame to send now; kNone: none may be sent.
  std::uint32_t next_number(Flow& w, bool look = false) {
    if (w.done) return kNone;
    if (w.transport == HostTransport::kSelective && w.selective()->recovering) {
      Selective& s = *w.selective();
      while (s.repair < s.highest_sacked && s.test(s.sacked, s.repair)) ++s.repair;
      if (s.repair < s.highest_sacked && s.repair < w.next) {
        if (look) return s.repair;
        ++w.again;
        return s.repair++;
      }
    }
    if (w.next == w.frames || w.next - w.acked >= w.window) return kNone;
    return look ? w.next : w.next++;
  }

  void emit(Arc arc, std::uint32_t flow, std::uint32_t number) {
    Flow& w = n_.flows[flow];
    const std::uint32_t slot = part_.pool.take();
    const std::uint32_t payload =
        number + 1 == w.frames ? w.last_octets : n_.settings.payload_octets;
    part_.pool[slot] =
        Slot{.flow = flow,
             .number = number,
             .route = w.route,
             .octets = static_cast<std::uint16_t>(payload + n_.settings.header_octets),
             .kind = Kind::kData};
    part_.pool[slot].begin_in(w.priority);
    const std::uint32_t octets = part_.pool[slot].octets;
    part_.count.sent += octets;
    if (n_.settings.hpcc.on) part_.trail_of(slot).links = 0;
    if (!n_.asymmetry.empty()) sent_own(arc, octets);
    e_.transmit(slot, arc);
    const std::uint64_t line = n_.rates[arc];
    if (w.paced_until <= part_.now) {
      const TimedRate pace = w.control()->pace(n_.settings, line, part_.now);
      w.paced_bps = std::min(w.rate_bps, pace.bps);
      w.paced_until = pace.until;
    }
    w.allowed_at = w.paced_bps == line
                       ? n_.ports[arc].free_at
                       : part_.now + std::uint64_t{octets} * 8 * kSecond / w.paced_bps;
    if (w.transport == HostTransport::kPaced) {
      if (w.next == w.frames) w.done = true;
      return;
    }
    if (number == w.acked) w.progress_at = part_.now;  // nothing else is under way
    if (w.timer) return;
    w.timer = true;
    e_.after(rto(w), Kind::kRetransmit, arc, 0, flow);
  }

  // Asymmetric traffic engineering

  /// Counts by windows: what was sent in the one before says what part of the flows that start now
  /// begins with the faster link.
  void turn_window(Asymmetry& a) {
    if (part_.now < a.window + kAsymmetryWindow) return;
    const bool next = part_.now < a.window + 2 * kAsymmetryWindow;
    const std::uint64_t octets = next ? a.octets : 0;
    a.window = part_.now / kAsymmetryWindow * kAsymmetryWindow;
    a.octets = 0;
    if (octets == 0) return;
    const auto bps = static_cast<std::uint64_t>(static_cast<unsigned __int128>(octets) * 8 *
                                                kSecond / kAsymmetryWindow);
    const std::uint64_t most = n_.rates[a.fast] / 100 * n_.settings.ate_percent;
    a.share_of_2_20 = static_cast<std::uint32_t>(std::min<unsigned __int128>(
        a.most_of_2_20, static_cast<unsigned __int128>(a.share_of_2_20) * most / bps));
    // From nothing no product comes back.
    a.share_of_2_20 = std::max(a.share_of_2_20, a.most_of_2_20 / 64);
  }
  void choose_way(Flow& w) {
    const Arc arc = n_.routes[w.route];
    Asymmetry& a = n_.asymmetry[n_.ports[arc].node];
    turn_window(a);
    const bool fast = n_.random[a.fast].below(1U << 20) < a.share_of_2_20;
    if (fast == (arc == a.fast)) return;
    std::swap(w.route, w.extras->other_route);
    std::swap(w.priority, w.extras->other_priority);
  }
  void sent_own(Arc arc, std::uint32_t octets) {
    Asymmetry& a = n_.asymmetry[n_.ports[arc].node];
    if (arc != a.fast) return;
    turn_window(a);
    a.octets += octets;
  }

  [[nodiscard]] Picoseconds rto(const Flow& w) const {
    if (w.transport == HostTransport::kGoBackN) return n_.settings.go_back_rto;
    return w.next - w.acked < n_.settings.rto_low_frames ? n_.settings.rto_low
                                                         : n_.settings.rto_high;
  }

  // The receiver

  void in_order(Flow& w, const Slot& f) {
    ++w.expected;
    w.received += f.octets - n_.settings.header_octets;
    if (w.received >= w.octets) finish(w, f.flow);
  }
  void finish(Flow& w, std::uint32_t flow) {
    if (w.finish != kNever) return;
    w.finish = part_.now;
    ++part_.finished;
    if (n_.notice) e_.after(0, Kind::kFinished, 0, 0, flow);
    for (std::uint32_t i = 0; w.extras && i < w.extras->followers; ++i) {
      const std::uint32_t next = n_.followers[w.extras->first_follower + i];
      if (--n_.flows[next].waits_for != 0) continue;
      n_.flows[next].start += part_.now;
      e_.begin(next);
    }
  }

  void receive_go_back(Flow& w, std::uint32_t slot) {
    Slot& f = part_.pool[slot];
    bool nack = false;
    if (f.number == w.expected) {
      w.nacked = false;
      in_order(w, f);
    } else if (f.number > w.expected) {
      if (w.nacked) return part_.pool.release(slot);
      w.nacked = nack = true;
    }
    answer(slot, w, nack, 0);
  }

  void receive_selective(Flow& w, std::uint32_t slot) {
    const Slot& f = part_.pool[slot];
    Selective& s = *w.selective();
    const std::uint32_t number = f.number;
    if (number < w.expected) return answer(slot, w, false, 0);
    std::uint64_t& word = s.received[number / 64 % s.words];
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    if ((word & bit) == 0) {
      word |= bit;
      w.received += f.octets - n_.settings.header_octets;
    }
    while (s.test(s.received, w.expected)) {
      s.received[w.expected / 64 % s.words] &= ~(std::uint64_t{1} << w.expected % 64);
      ++w.expected;
    }
    if (w.received >= w.octets) finish(w, f.flow);
    answer(slot, w, number >= w.expected, number - std::min(number, w.expected));
  }

  /// The frame becomes its acknowledgement, and goes the way back that it came.
  void answer(std::uint32_t slot, const Flow& w, bool nack, std::uint32_t beyond) {
    Slot& f = part_.pool[slot];
    f.kind = Kind::kAck;
    f.nack = nack;
    f.number = w.expected;
    f.octets = static_cast<std::uint16_t>(beyond);
    f.begin_in(n_.control);
    const Arc out = reversed(f.arc);
    if (n_.ports[out].down) return part_.pool.release(slot);
    e_.enqueue(slot, out);
  }

  // The sender

  void acknowledged(std::uint32_t slot) {
    const Slot f = part_.pool[slot];
    part_.pool.release(slot);  // its trail stays until the slot is taken again
    Flow& w = n_.flows[f.flow];
    if (w.done) return;
    const bool selective = w.transport == HostTransport::kSelective;
    if (f.marked || w.hears_all) hand_on(w, f, slot);
    if (f.number > w.acked) {
      if (selective) forget_sacked(*w.selective(), w.acked, f.number);
      w.acked = f.number;
      w.next = std::max(w.next, w.acked);
      w.progress_at = part_.now;
      if (w.acked == w.frames) {
        w.done = true;
        return;
      }
    }
    if (selective)
      selective_news(w, f);
    else if (f.nack && f.number == w.acked)
      go_back(w);
    offer(f.flow);
  }
  void hand_on(Flow& w, const Slot& f, std::uint32_t slot) {
    CongestionControl* control = w.control();
    if (control == nullptr) return;
    Acknowledged news{.now = part_.now, .marked = f.marked, .wanted = f.number, .next = w.next};
    if (n_.settings.hpcc.on) news.trail = part_.trail_of(slot).all();
    control->acknowledged(n_.settings, news);
    w.window = control->window(w.extras->most_window);
    w.paced_until = 0;
  }
  void go_back(Flow& w) {
    w.again += w.next - w.acked;
    w.next = w.acked;
  }
  static void forget_sacked(Selective& s, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t n = from; n < to && n < s.highest_sacked; ++n)
      s.sacked[n / 64 % s.words] &= ~(std::uint64_t{1} << n % 64);
    s.repair = std::max(s.repair, to);
  }
  void selective_news(Flow& w, const Slot& f) {
    Selective& s = *w.selective();
    if (s.recovering && w.acked >= s.recovery_until) s.recovering = false;
    if (!f.nack) return;
    const std::uint32_t got = f.number + f.octets;
    if (got < w.acked || got >= w.next) return;
    s.sacked[got / 64 % s.words] |= std::uint64_t{1} << got % 64;
    s.highest_sacked = std::max(s.highest_sacked, got);
    // Where frames overtake each other a gap is no loss: only a timeout is.
    if (s.recovering || w.ways > 1) return;
    s.recovering = true;
    s.recovery_until = w.next;
    s.repair = w.acked;
  }

  Engine& e_;
  Network& n_;
  Part& part_;
};

}  // namespace lldp::lab::packets
