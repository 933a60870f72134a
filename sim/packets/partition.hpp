// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/packets/by_node.hpp"
#include "sim/packets/choices.hpp"
#include "sim/packets/host/host.hpp"
#include "sim/packets/host/nic.hpp"
#include "sim/packets/look_ahead.hpp"
#include "sim/packets/network.hpp"
#include "sim/packets/port_queues.hpp"

namespace lldp::lab::packets {

/// Whether a flow control is told of every frame that is sent and of every one that goes on without
/// waiting, as one by credits has to be.
template <class FlowControl>
inline constexpr bool kHasCredits = requires {
  FlowControl::kCredits;
};

/// Links in one direction, in a large network.
inline constexpr std::size_t kMany = 2048;

/// Moves frames through the part of a network that one thread has. A frame is in one place: on a
/// link, in a queue, or gone; it stands in a node's buffer from its arrival until it begins to
/// leave. So a frame that finds its port idle costs one event a hop, and one that has to wait two.
///
/// Of what Network has by arc it writes to that of its own nodes: ports by their tail, counters of
/// what came in by their head. What goes to another part's node is handed over when a window ends.
template <class FlowControl, class Detector>
class Partition {
 public:
  /// `window`: for so long nothing that a node does reaches another one, and each may run by itself
  /// meanwhile; 0: all that happens has to happen in the order of time.
  Partition(Network& network, std::uint32_t index, std::size_t parts, Picoseconds window)
      : n_(network),
        index_(index),
        large_(n_.arcs() >= kMany),
        wheel_(part_.pool, large_),
        flow_control_(n_),
        detector_(n_),
        queues_(n_, part_),
        nics_(*this),
        look_ahead_(n_, part_, wheel_),
        hosts_(*this) {
    if (window != 0) by_node_.emplace(n_, part_.pool, window);
    for (auto& sent : away_) sent.resize(parts);
    for (Arc a = 0; a < n_.arcs(); ++a) part_.pool[part_.pool.take()].arc = a;
  }
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  /// Everything that happens by `end`, or until halt().
  void run_until(Picoseconds end) {
    end_ = end;
    if (by_node_)
      by_node_->run_until(
          end,
          [this](Picoseconds at, std::uint32_t s) {
            begin_event(at);
            frame(s);
          },
          [this](Picoseconds at, std::uint32_t s) {
            begin_event(at);
            happen_rarely(s);
          },
          [this](Picoseconds at, Arc out) {
            begin_event(at);
            port_free(out);
          });
    for (std::uint32_t s = wheel_.pop(end_); s != kNone; s = wheel_.pop(end_)) {
      if (large_) look_ahead_.fetch();
      begin_event(part_.pool[s].at);
      happen(s);
    }
    part_.now = end_;
  }
  /// From within a run: what happens at this very moment is the last.
  void halt() { end_ = part_.now; }

  /// Lets a flow of one of its hosts begin.
  void begin(std::uint32_t flow) {
    after(n_.flows[flow].start - std::min(part_.now, n_.flows[flow].start), Kind::kStart, 0, 0,
          flow);
  }

  /// A frame of outside arrives now. A data frame's number becomes its slot.
  std::uint32_t inject(const Slot& frame) {
    const std::uint32_t s = part_.pool.take();
    part_.pool[s] = frame;
    if (frame.kind == Kind::kData) part_.pool[s].number = s;
    part_.pool[s].at = part_.now;
    wheel_.push(s);
    return s;
  }

  // The carrier of an arc goes, or comes: first both ends of the link see it.

  void lower(Arc out) {
    Port& p = n_.ports[out];
    if (p.down) return;
    p.down = true;
    n_.cut_at[out] = part_.now;
    n_.any_cut = true;
    detector_.cut(out);
  }
  /// What waits for it has to find another way.
  void clear(Arc out) {
    for (std::uint8_t priority = 0; priority < n_.queues_of(out).size(); ++priority)
      empty(out, priority, [&](std::uint32_t s) {
        if constexpr (kHasCredits<FlowControl>)
          if (const Slot& f = part_.pool[s]; (n_.lossless >> f.arrival & 1) != 0)
            flow_control_.taken_back(*this, f.arc, f.arrival, octets_of(f));
        redirect(s);
      });
  }
  void raise(Arc out) {
    n_.ports[out].down = false;
    if constexpr (kHasCredits<FlowControl>) flow_control_.raised(*this, out);
    arm(out);
  }
  void mended(Arc in) { flow_control_.mended(*this, in); }

  // Windows. What is sent in one arrives after its end.

  /// The window is over: when the next thing happens, of what is here and of what was sent away.
  [[nodiscard]] Picoseconds close() const {
    return std::min(by_node_ ? by_node_->next() : wheel_.next(), first_away_);
  }
  /// What `from` has sent here in it.
  void take(const Partition& from) {
    for (const Slot& frame : from.away_[window_ % 2][index_]) {
      const std::uint32_t s = part_.pool.take();
      part_.pool[s] = frame;
      push_frame(s, frame.arc);
    }
  }
  /// Another one begins; others may still look at what was sent in the one before.
  void open() {
    first_away_ = kNever;
    for (auto& frames : away_[++window_ % 2]) frames.clear();
  }

  // For flow control, detectors and hosts

  [[nodiscard]] Network& network() { return n_; }
  [[nodiscard]] Part& part() { return part_; }
  [[nodiscard]] Picoseconds now() const { return part_.now; }
  [[nodiscard]] Pool& pool() { return part_.pool; }
  [[nodiscard]] Counters& count() { return part_.count; }
  void after(Picoseconds delay, Kind kind, Arc arc, std::uint32_t number = 0,
             std::uint32_t flow = 0) {
    const std::uint32_t s = part_.pool.take();
    part_.pool[s] =
        Slot{.at = part_.now + delay, .arc = arc, .flow = flow, .number = number, .kind = kind};
    push_timer(s);
  }
  void again(std::uint32_t slot, Picoseconds at) {
    part_.pool[slot].at = at;
    push_timer(slot);
  }
  [[nodiscard]] Buffer& buffer_at_head(Arc arc) { return n_.buffers[n_.ports[reversed(arc)].node]; }
  /// The flow control has something to tell on `out`, as soon as the wire is free.
  void want_control(Arc out) {
    if (n_.ports[out].down) return;
    n_.ports[out].control_due = true;
    arm(out);
  }
  /// The far end of `out` stops these queues, or lets them go on.
  void stop(Arc out, QueueMask queues) {
    Port& p = n_.ports[out];
    const auto fresh = static_cast<QueueMask>(queues & ~p.stopped);
    p.stopped |= queues;
    obey(out);
    if (fresh != 0) detector_.paused(*this, out, fresh);
  }
  void go(Arc out, QueueMask queues) {
    Port& p = n_.ports[out];
    const auto over = static_cast<QueueMask>(queues & p.stopped);
    p.stopped &= static_cast<QueueMask>(~queues);
    if (over != 0) detector_.resumed(*this, out, over);
    obey(out);
  }
  /// What the far end says, or the detector of it, has changed.
  void obey(Arc out) {
    Port& p = n_.ports[out];
    const QueueMask before = p.paused;
    p.paused = static_cast<QueueMask>(p.stopped & ~p.ignored);
    if ((before == 0) != (p.paused == 0)) queues_.list_paused(out, p.paused != 0);
    if ((before & ~p.paused) != 0) arm(out);
  }
  /// Throws away what waits in a queue.
  void discard(Arc out, std::uint8_t priority) {
    empty(out, priority, [&](std::uint32_t s) {
      ++part_.count.discarded;
      part_.count.discarded_octets += part_.pool[s].kind == Kind::kData ? part_.pool[s].octets : 0U;
      part_.pool.release(s);
    });
  }
  /// Throws away one frame that a counter counts, wherever it waits in that node; false: none does.
  bool drain(Arc in, std::uint8_t arrival) {
    for (Arc out = 0; out < n_.arcs(); ++out) {
      Port& p = n_.ports[out];
      if (p.node != n_.ports[reversed(in)].node) continue;
      for (unsigned mask = p.waiting; mask != 0; mask &= mask - 1) {
        const auto priority = static_cast<std::uint8_t>(std::countr_zero(mask));
        std::uint32_t before = kNone;
        for (std::uint32_t s = n_.queue(out, priority).first; s != kNone; s = part_.pool[s].next) {
          if (part_.pool[s].arc == in && part_.pool[s].arrival == arrival) {
            queues_.unlink(out, priority, s, before);
            leave(p, part_.pool[s], out);
            ++part_.count.discarded;
            part_.count.discarded_octets +=
                part_.pool[s].kind == Kind::kData ? part_.pool[s].octets : 0U;
            part_.pool.release(s);
            return true;
          }
          before = s;
        }
      }
    }
    return false;
  }
  /// A host stops the far end of its link, or lets it go on.
  void host_pauses(Arc in, std::uint8_t priority, bool stop) {
    Ingress& g = n_.ingress[in];
    const auto bit = static_cast<std::uint8_t>(1U << priority);
    if (((g.pausing & bit) != 0) == stop) return;
    g.pausing ^= bit;
    part_.count.pauses += stop ? 1U : 0U;
    want_control(reversed(in));
  }
  /// A PAUSE frame is about to go on `out`, which tells `fresh` for the first time.
  void telling(Arc out, std::uint32_t slot, std::uint8_t fresh) {
    detector_.telling(*this, out, slot, fresh);
  }
  /// The port looks for something to send when it is free, or at once.
  void arm(Arc arc) {
    Port& p = n_.ports[arc];
    if (p.timer) return;
    p.timer = true;
    const Picoseconds at = std::max(part_.now, p.free_at);
    if (by_node_) return by_node_->push_port(arc, at);
    part_.pool[arc].at = at;  // the first slots are the ports' own
    wheel_.push(arc);
  }
  /// Puts a frame on the wire, which must be free.
  void transmit(std::uint32_t slot, Arc out) {
    Port& p = n_.ports[out];
    Slot& f = part_.pool[slot];
    f.arc = out;
    if (n_.trace || !n_.sent_octets.empty() || !n_.loss_ppb.empty()) [[unlikely]]
      observe(slot, p, out);
    p.free_at = part_.now + n_.time_of(out, octets_of(f));
    part_.count.hops += f.kind == Kind::kData ? 1U : 0U;
    f.at = p.free_at + p.delay;
    if constexpr (kHasCredits<FlowControl>)
      if (f.kind == Kind::kData && (n_.lossless >> f.priority & 1) != 0)
        flow_control_.sent(*this, out, f);
    if (p.to_part != index_) return send_away(slot, p.to_part);
    push_frame(slot, out);
  }
  /// A frame that is at the tail of `out` goes out there, now or later; `arc` says whence it came.
  void enqueue(std::uint32_t slot, Arc out) {
    Port& p = n_.ports[out];
    Slot& f = part_.pool[slot];
    const std::uint8_t priority = f.priority;
    const auto bit = static_cast<QueueMask>(1U << priority);
    if ((p.waiting & ~p.paused) == 0 && part_.now >= p.free_at && !p.control_due &&
        ((p.paused | p.discarding) & bit) == 0) {
      pass(f);
      return transmit(slot, out);
    }
    const std::uint32_t octets = octets_of(f);
    if ((p.discarding & bit) != 0) [[unlikely]]
      return refuse(slot, part_.count.discarded, part_.count.discarded_octets);
    if (p.forwards && !admit(p, f, octets, out)) [[unlikely]] {
      const bool lossless = (n_.lossless >> priority & 1) != 0;
      return refuse(slot, lossless ? part_.count.drops : part_.count.drops_lossy,
                    part_.count.dropped);
    }
    Queue& q = n_.queue(out, priority);
    if (n_.settings.ecn.on && f.kind == Kind::kData && q.octets > n_.settings.ecn.kmin_octets &&
        marks(n_, q.octets, out)) {
      f.marked = true;
      ++part_.count.ecn_marks;
    }
    q.octets += octets;
    f.next = kNone;
    if (q.first == kNone) {
      q.first = slot;
      p.waiting |= bit;
    } else {
      part_.pool[q.last].next = slot;
    }
    q.last = slot;
    count_wait(p, f, out, octets, false);
    if ((p.paused & bit) == 0) arm(out);
  }

 private:
  /// A frame that is not taken into its queue is gone; both of these count it.
  [[gnu::noinline]] void refuse(std::uint32_t slot, std::uint64_t& frames, std::uint64_t& octets) {
    const Slot& f = part_.pool[slot];
    pass(f);
    ++frames;
    octets += f.kind == Kind::kData ? f.octets : 0U;
    part_.pool.release(slot);
  }

  // What few runs want stands in functions of its own: what all frames go through saves fewer
  // registers then.

  /// What is asked for of a frame that begins to go over a link.
  [[gnu::noinline]] void observe(std::uint32_t slot, const Port& p, Arc out) {
    Slot& f = part_.pool[slot];
    if (n_.trace) n_.trace(part_.now, f);
    if (!n_.sent_octets.empty() && f.kind == Kind::kData) tell_of_link(slot, p, out);
    if (!n_.loss_ppb.empty() && f.kind >= Kind::kData)
      f.broken = n_.loss_ppb[out] != 0 && n_.random[out].below(1'000'000'000) < n_.loss_ppb[out];
  }
  /// What a switch writes into a frame that leaves it, for congestion controls that ask for it.
  void tell_of_link(std::uint32_t slot, const Port& p, Arc out) {
    const Slot& f = part_.pool[slot];
    n_.sent_octets[out] += f.octets;
    if (p.forwards)
      part_.trail_of(slot).add({.at = part_.now,
                                .sent_octets = n_.sent_octets[out],
                                .rate_bps = n_.rates[out],
                                .queued_octets = n_.queue(out, f.priority).octets,
                                .arc = out});
  }

  [[gnu::noinline]] void send_away(std::uint32_t slot, std::uint32_t part) {
    first_away_ = std::min(first_away_, part_.pool[slot].at);
    away_[window_ % 2][part].push_back(part_.pool[slot]);
    part_.pool.release(slot);
  }

  void push_frame(std::uint32_t slot, Arc arc) {
    if (by_node_) return by_node_->push_frame(slot, arc);
    wheel_.push(slot);
  }
  void push_timer(std::uint32_t slot) {
    if (by_node_) return by_node_->push_timer(slot);
    wheel_.push(slot);
  }

  void begin_event(Picoseconds at) {
    part_.now = at;
    ++part_.count.events;
  }
  void port_free(Arc arc) {
    n_.ports[arc].timer = false;
    serve(arc);
  }
  void frame(std::uint32_t s) {
    if (const Kind kind = part_.pool[s].kind; kind == Kind::kData || kind == Kind::kAck)
      return arrive(s);
    happen_rarely(s);
  }
  void happen(std::uint32_t s) {
    switch (const Slot& slot = part_.pool[s]; slot.kind) {
      case Kind::kPortFree:
        return port_free(slot.arc);
      case Kind::kData:
      case Kind::kAck:
        return arrive(s);
      default:
        return happen_rarely(s);
    }
  }
  /// What is no frame and no port's turn; apart, so that these two need no room for it.
  [[gnu::noinline]] void happen_rarely(std::uint32_t s) {
    switch (const Slot& slot = part_.pool[s]; slot.kind) {
      case Kind::kHostWake:
        return hosts_.wake(s);
      case Kind::kRetransmit:
        return hosts_.timeout(s);
      case Kind::kNic:
        return nics_.look(s);
      case Kind::kStart:
        hosts_.start(slot.flow);
        return part_.pool.release(s);
      case Kind::kFinished:
      case Kind::kMoment:
        return notice(s);
      case Kind::kPauseExpires:
      case Kind::kFlowControl:
        return flow_control_.timer(*this, s);
      case Kind::kDetector:
        return detector_.timer(*this, s);
      case Kind::kPause:
      case Kind::kCheck:
        return told(s);
      case Kind::kPortFree:
      case Kind::kData:
      case Kind::kAck:
        return;  // happen() has seen to them
    }
  }

  /// The callback may add flows: no lock is held meanwhile.
  void notice(std::uint32_t s) {
    const Slot about = part_.pool[s];
    part_.pool.release(s);
    if (!n_.notice) return;
    n_.gather();
    n_.notice(about.kind, about.kind == Kind::kFinished ? about.flow : about.number);
  }

  void arrive(std::uint32_t s) {
    const Slot& f = part_.pool[s];
    const Arc in = f.arc;
    if (n_.any_cut && n_.cut_at[in] != kNever && on_the_cut_wire(f)) [[unlikely]]
      return lose(s);
    if (f.broken) [[unlikely]] {
      part_.pool[s].arrival = f.priority;
      pass(f);  // the far end is told what was sent, so no credit is missing for good
      return lose(s);
    }
    forward(s);
  }
  /// What the far end of a link has to say.
  void told(std::uint32_t s) {
    const Slot frame = part_.pool[s];
    if (n_.any_cut && n_.cut_at[frame.arc] != kNever && on_the_cut_wire(frame)) return lose(s);
    part_.pool.release(s);
    if (frame.kind == Kind::kPause) flow_control_.received(*this, frame);
    detector_.heard(*this, frame);
  }

  /// Sends a frame on, or gives it to the host whose it is.
  void forward(std::uint32_t s) {
    Slot& f = part_.pool[s];
    const bool forth = f.kind == Kind::kData;
    if (!n_.ways.empty() && forth && n_.routes[f.route - 1] == kNone)
      f.route = way_for(n_, f, part_.now);
    const std::uint32_t step = forth ? f.route + 1 : f.route - 1;
    const std::uint32_t on = n_.routes[step];
    f.arrival = f.priority;
    if (on == kNone) {
      pass(f);
      if (!n_.nics.empty() && forth && !nics_.take_in(f)) return part_.pool.release(s);
      return hosts_.receive(s);
    }
    f.route = step;
    const Arc out = forth ? on : reversed(on);
    const Port& p = n_.ports[out];
    if (p.down) return redirect(s);
    if constexpr (FlowControl::kPerPort)
      f.priority = flow_control_.queue_of(n_, f) & 0xf;
    else
      turn(f, p);
    enqueue(s, out);
  }

  /// What the rules of the egress port make of a frame's class.
  void turn(Slot& f, const Port& p) {
    const std::uint8_t tag = n_.tags[f.arc];
    if (tag == Network::kShutTag) [[unlikely]] {
      if ((n_.lossless >> f.priority & 1) != 0) {
        pass(f);  // as what it arrived as: from here on it is lossy
        f.begin_in(n_.settings.policy.lossy().priority.value());
      }
      return;
    }
    if ((p.turning >> tag & 1) == 0) {
      f.priority = p.leaving[f.priority] & 0xf;
      return;
    }
    const std::uint8_t to = p.after_turn[f.priority];
    if (to == f.priority) return;
    f.priority = to & 0xf;
    ++part_.count.turned;
    if ((n_.lossless >> to & 1) == 0) ++part_.count.turned_lossy;
  }

  bool admit(const Port& p, const Slot& f, std::uint32_t octets, Arc out) {
    if constexpr (FlowControl::kPerPort) {
      return flow_control_.queued(*this, out, f, octets);
    } else {
      Buffer& buffer = n_.buffers[p.node];
      const bool lossy = f.priority != n_.control && (n_.lossless >> f.priority & 1) == 0;
      if (lossy && n_.queue(out, f.priority).octets + octets > buffer.shared - buffer.used)
        return false;
      if ((n_.lossless >> f.arrival & 1) != 0)
        return flow_control_.accept(*this, f.arc, f.arrival, octets);
      if (buffer.used + octets > buffer.shared) return false;
      buffer.used += octets;
      return true;
    }
  }
  void leave(const Port& p, const Slot& f, Arc out) {
    if (!p.forwards) return;
    count_wait(p, f, out, octets_of(f), true);
    if constexpr (FlowControl::kPerPort) {
      flow_control_.left(*this, out, f, octets_of(f));
    } else if ((n_.lossless >> f.arrival & 1) != 0) {
      flow_control_.released(*this, f.arc, f.arrival, octets_of(f));
    } else {
      n_.buffers[p.node].used -= octets_of(f);
    }
  }

  [[nodiscard]] std::uint32_t cost_of(std::uint32_t octets) const {
    if constexpr (kHasCredits<FlowControl>) return n_.cost_of(octets);
    return octets;
  }
  /// Network::waits() gets so many more, or less.
  void count_wait(const Port& p, const Slot& f, Arc out, std::uint32_t octets, bool less) {
    if constexpr (!FlowControl::kPerPort)
      if (p.forwards && (n_.lossless >> f.priority & n_.lossless >> f.arrival & 1) != 0)
        n_.waits(out, f.priority, f.arc, f.arrival) +=
            less ? 0U - cost_of(octets) : cost_of(octets);
  }
  /// A frame that came by `f.arc` does not wait here.
  void pass(const Slot& f) {
    if constexpr (kHasCredits<FlowControl>)
      if (f.kind == Kind::kData && (n_.lossless >> f.arrival & 1) != 0)
        flow_control_.passed(*this, f.arc, f.arrival, octets_of(f));
  }
  void serve(Arc arc) {
    Port& p = n_.ports[arc];
    if (p.down) return;
    if (part_.now < p.free_at) return arm(arc);
    if (const auto may = static_cast<QueueMask>(p.waiting & ~p.paused);
        !(p.control_due && send_control(p, arc)) && may != 0 && !yields(p, arc)) {
      const std::uint32_t s = queues_.take_first(p, arc, queues_.pick(p, arc, may));
      leave(p, part_.pool[s], arc);
      transmit(s, arc);
    } else if (has_flows(p) && part_.now >= p.free_at && n_.sources[arc].any()) {
      hosts_.send(arc);
    }
    if (p.control_due || (p.waiting & ~p.paused) != 0 || (has_flows(p) && hosts_.ready(arc)))
      arm(arc);
  }
  /// Whether flows may begin at the port: it is a host's.
  [[nodiscard]] static bool has_flows(const Port& p) { return !p.forwards || p.relays; }
  /// A node that relays has one queue for all, into which its own come as fast as its link is: two
  /// of them to one of others. PortFC's has queues of their own, and those of others go first.
  bool yields(Port& p, Arc arc) {
    const RelayOrder order = n_.settings.relay_order;
    if (!p.relays || order == RelayOrder::kFirst) return false;
    if (FlowControl::kPerPort && order == RelayOrder::kAsUsual) return false;
    const bool own = p.own_turns < 2 && part_.now >= p.free_at && hosts_.ready(arc);
    p.own_turns = static_cast<std::uint8_t>(own ? p.own_turns + 1 : 0);
    return own;
  }
  [[gnu::noinline]] bool send_control(Port& p, Arc arc) {
    p.control_due = false;
    const std::uint32_t s = flow_control_.control_frame(*this, arc);
    if (s != kNone) transmit(s, arc);
    return s != kNone;
  }

  // Links that go

  template <class Do>
  void empty(Arc out, std::uint8_t priority, Do&& each) {
    Port& p = n_.ports[out];
    while ((p.waiting >> priority & 1) != 0) {
      const std::uint32_t s = queues_.take_first(p, out, priority);
      leave(p, part_.pool[s], out);
      each(s);
    }
  }
  [[nodiscard, gnu::noinline]] bool on_the_cut_wire(const Slot& f) const {
    const Port& p = n_.ports[f.arc];
    const Picoseconds cut = n_.cut_at[f.arc];
    const Picoseconds begun = f.at - p.delay - n_.time_of(f.arc, octets_of(f));
    return begun <= cut && cut < f.at;
  }
  [[gnu::noinline]] void lose(std::uint32_t s) {
    const Slot& f = part_.pool[s];
    ++part_.count.lost;
    part_.count.lost_octets += f.kind == Kind::kData ? f.octets : 0U;
    part_.pool.release(s);
  }
  /// The frame's next link is down: it goes on by its flow's present way, if that comes by here.
  [[gnu::noinline]] void redirect(std::uint32_t s) {
    Slot& f = part_.pool[s];
    if (f.kind == Kind::kCheck) return lose(s);
    const std::uint32_t here = n_.ports[reversed(f.arc)].node;
    for (std::uint32_t r = n_.flows[f.flow].route; n_.routes[r] != kNone; ++r) {
      const bool forth = f.kind == Kind::kData;
      const Arc out = forth ? n_.routes[r] : reversed(n_.routes[r]);
      if (n_.ports[out].node != here || n_.ports[out].down) continue;
      f.route = r;
      f.priority = f.arrival;
      turn(f, n_.ports[out]);
      return enqueue(s, out);
    }
    pass(f);
    lose(s);
  }

  Network& n_;
  const std::uint32_t index_;
  const bool large_;
  Part part_{};
  Wheel wheel_;
  std::optional<ByNode> by_node_{};                       ///< in place of the wheel
  std::array<std::vector<std::vector<Slot>>, 2> away_{};  ///< by window, part; frames on the wire
  std::uint32_t window_ = 0;
  Picoseconds first_away_ = kNever;
  Picoseconds end_ = 0;  ///< of the run under way
  FlowControl flow_control_;
  Detector detector_;
  PortQueues queues_;
  Nics<Partition> nics_;
  LookAhead look_ahead_;
  Hosts<Partition> hosts_;
};

}  // namespace lldp::lab::packets
