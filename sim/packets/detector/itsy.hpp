// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <vector>

#include "sim/packets/detector/itsy_state.hpp"
#include "sim/packets/oracle.hpp"

namespace lldp::lab::packets {

/// Deadlocks found in the data plane from what first paused: Wu and Ng, "ITSY: Initial
/// Trigger-Based PFC Deadlock Detection in the Data Plane". A check rides on every PAUSE and names
/// the counter that began (III-A); switches pass it on to the ports whose pause it explains
/// (III-B). A switch that receives its own check, or the same check again, has a loop of causes,
/// and proves that the loop stands still (temporal consistency). docs/research/sim.md says what the
/// paper leaves open, and how it is read here.
class Itsy {
 public:
  explicit Itsy(const Network& network)
      : s_(network.settings.itsy), patience_(s_.patience), book_(network) {
    if (patience_ != 0) return;
    patience_ = kMicrosecond;
    for (const Port& p : network.ports) patience_ = std::max(patience_, p.delay);
    patience_ *= 32;
  }

  template <class Engine>
  void paused(Engine& e, Arc out, QueueMask priorities) {
    for (unsigned mask = priorities; mask != 0; mask &= mask - 1)
      book_.queue(key_of(out, mask)).paused_at = e.now();
  }
  template <class Engine>
  void resumed(Engine& /*e*/, Arc out, QueueMask priorities) {
    for (unsigned mask = priorities; mask != 0; mask &= mask - 1) {
      book_.queue(key_of(out, mask)) = {};
      book_.counter(key_of(out, mask)).handled = false;  // the next pause is another episode
    }
  }

  /// The carrier of a link is gone: what was known of both its ends means nothing.
  void cut(Arc arc) {
    for (std::uint8_t i = 0; i < kPriorities; ++i) book_.queue(key_of_priority(arc, i)) = {};
  }

  /// A PAUSE frame is about to go on `out`: the checks of the counters that it is for.
  template <class Engine>
  void telling(Engine& e, Arc out, std::uint32_t slot, std::uint8_t fresh) {
    const auto priorities = static_cast<std::uint8_t>(e.pool()[slot].number);
    for (unsigned mask = priorities; mask != 0; mask &= mask - 1) {
      const Key counter = key_of(reversed(out), mask);
      const bool first = (fresh & mask & -mask) != 0;
      for (const Mark& mark : explanations(e.network(), counter, first)) {
        Slot& pause = e.pool()[slot];
        const ItsyCheck check{
            .id = mark.id, .seq = mark.seq, .priority = priority_of(counter), .again = !first};
        pause.marked ? send(e, counter, check) : put(pause, check);
      }
    }
  }

  /// A check that came with a PAUSE frame, or alone.
  template <class Engine>
  void heard(Engine& e, const Slot& frame) {
    Network& n = e.network();
    const Arc out = reversed(frame.arc);
    if (!n.ports[out].forwards) return;
    if (frame.kind == Kind::kPause) {
      if (frame.marked) trace_back(e, out, check_of(frame));
      for (unsigned mask = published() ? 0 : frame.number & n.ports[out].stopped; mask != 0;
           mask &= mask - 1)
        if (book_.queue(key_of(out, mask)).paused_at < e.now())
          suspect(e, key_of(out, mask), kNone);
      return;
    }
    const ItsyCheck check = check_of(frame);
    if ((n.ports[out].stopped >> check.priority & 1) == 0) return;
    check.round == 0 ? trace_back(e, out, check) : prove(e, out, check);
  }

  template <class Engine>
  void timer(Engine& e, std::uint32_t slot) {
    Network& n = e.network();
    const Key q = key_of_priority(
        e.pool()[slot].arc, static_cast<std::uint8_t>(e.pool()[slot].number & (kGivesBack - 1)));
    const std::uint32_t left = e.pool()[slot].flow;
    const bool gives_back = e.pool()[slot].number >= kGivesBack;
    e.pool().release(slot);
    if (gives_back) return give_back(e, q, left);
    Stored& at = book_.queue(q);
    if (!at.watched || !stopped(n, q)) return;
    suspect(e, q, kNone);
    at.watched = left != 0;
    if (left != 0) e.after(patience_ / 16, Kind::kDetector, arc_of(q), priority_of(q), left - 1);
  }

 private:
  static constexpr std::uint32_t kLooks = 128;
  static constexpr std::uint32_t kGivesBack = kPriorities;  ///< in a timer's number

  /// All that a counter's frames wait in is stopped.
  [[nodiscard]] bool blocked(const Network& n, Key counter) const {
    const auto held = book_.queues_of(n, counter);
    return std::all_of(held.begin(), held.end(), [&](Key k) { return stopped(n, k); });
  }

  /// By the text one round, of temporal consistency, after that which found the loop.
  [[nodiscard]] std::uint8_t rounds() const { return published() ? 2 : 5; }
  [[nodiscard]] bool published() const { return s_.variant == ItsyVariant::kPublished; }

  /// What a counter's pause is told to be caused by: what its paused queues have heard, or else
  /// itself.
  std::vector<Mark> explanations(const Network& n, Key counter, bool fresh) {
    std::vector<Mark> marks;
    bool begins = true;
    if (n.ports[reversed(arc_of(counter))].forwards)
      for (const Key q : book_.queues_of(n, counter)) {
        if (!stopped(n, q)) continue;
        begins = false;
        const Mark& trigger = book_.queue(q).trigger;
        if (trigger && std::find(marks.begin(), marks.end(), trigger) == marks.end())
          marks.push_back(trigger);
      }
    if (!begins) return marks;
    Counter& own = book_.counter(counter);
    if (fresh) own.seq = next(own.seq);
    return {{.id = counter, .seq = own.seq}};
  }

  /// A check of an initial trigger comes to the egress port that its PAUSE stops.
  template <class Engine>
  void trace_back(Engine& e, Arc out, const ItsyCheck& check) {
    Network& n = e.network();
    const Key q = key_of_priority(out, check.priority);
    const Mark mark{.id = check.id, .seq = check.seq};
    Stored& at = book_.queue(q);
    if (book_.is_at(n, check.id, out)) {
      Counter& own = book_.counter(check.id);
      if (!pausing(n, check.id) || own.seq != check.seq || !book_.holds(n, q, check.id)) return;
      at.trigger = mark;
      if (check.again || under_way(e.now(), own)) return;
      if (!published() && !blocked(n, check.id)) return suspect(e, q, kNone);
      own = {.seq = own.seq, .round = 2, .proving = true, .handled = own.handled, .since = e.now()};
      return send(e, check.id, {.id = check.id, .seq = own.seq, .round = 2});
    }
    if (at.trigger == mark) {
      if (!check.again && !published()) suspect(e, q, kNone);
      return;
    }
    if (!published() && at.trigger && at.trigger.id < check.id) return;
    const bool elsewhere = book_.elsewhere(n, q, check.id);
    at.trigger = mark;
    for (const Key counter : book_.counters_of(n, q)) send(e, counter, check);
    if (elsewhere) suspect(e, q, check.seq);
  }

  /// Signs of a loop at a queue: all whose frames wait here, and have nothing that can leave, begin
  /// a proof of their own. If some still have, the switch looks again for a while.
  template <class Engine>
  void suspect(Engine& e, Key q, std::uint32_t seq) {
    Network& n = e.network();
    Stored& at = book_.queue(q);
    for (const Key counter : book_.counters_of(n, q)) {
      Counter& own = book_.counter(counter);
      if (under_way(e.now(), own)) continue;
      if (!published() && !blocked(n, counter)) {
        if (at.watched) continue;
        at.watched = true;
        e.after(patience_ / 16, Kind::kDetector, arc_of(q), priority_of(q), kLooks - 1);
        continue;
      }
      const bool usable = seq != kNone && seq != own.seq;
      own = {.seq = usable ? static_cast<std::uint8_t>(seq) : next(own.seq),
             .round = 1,
             .proving = true,
             .handled = own.handled,
             .since = e.now()};
      send(e, counter, {.id = counter, .seq = own.seq, .round = 1});
    }
  }
  [[nodiscard]] bool under_way(Picoseconds now, const Counter& c) const {
    return c.proving && now < c.since + patience_;
  }

  /// A round of a proof has come to the queue that its counter stops. It goes on to those whose
  /// frames wait here and in queues that the round before has reached.
  template <class Engine>
  void prove(Engine& e, Arc out, const ItsyCheck& check) {
    Network& n = e.network();
    const Key q = key_of_priority(out, check.priority);
    Stored& at = book_.queue(q);
    const Mark mark{.id = check.id, .seq = check.seq};
    const std::uint8_t before = reached(at, mark);
    if (check.round != before + 1) return;
    if (!published() && at.proof && !(at.proof == mark) && e.now() < at.since + patience_ &&
        at.proof.id < check.id)
      return;
    at.proof = mark;
    at.round = check.round;
    at.since = e.now();
    for (const Key counter : book_.counters_of(n, q)) {
      if (counter == check.id) continue;
      const auto [least, most] = reach(n, counter, mark);
      if (published()) {  // a port is a cause if any of its frames wait here
        send(e, counter, {.id = check.id, .seq = check.seq, .round = check.round});
        continue;
      }
      const auto round = std::min<std::uint8_t>(most, static_cast<std::uint8_t>(least + 1));
      if (round != 0) send(e, counter, {.id = check.id, .seq = check.seq, .round = round});
    }
    if (!book_.is_at(n, check.id, out) || !pausing(n, check.id)) return;
    Counter& own = book_.counter(check.id);
    if (!own.proving || own.seq != check.seq) return;
    const auto [least, most] = reach(n, check.id, mark);
    if (published() ? !book_.holds(n, q, check.id) : (own.round == 1 ? most : least) < own.round)
      return;
    if (own.round == rounds()) return declare(e, check.id, mark, q);
    ++own.round;
    own.since = e.now();
    own.was_real = own.round == rounds() && real(n, check.id);
    send(e, check.id, {.id = check.id, .seq = own.seq, .round = own.round});
  }

  [[nodiscard]] static std::uint8_t reached(const Stored& at, const Mark& mark) {
    if (at.proof == mark) return at.round;
    return at.trigger == mark ? 1 : 0;
  }
  /// The rounds that have come to all, and to any, of the queues that hold a counter's frames.
  [[nodiscard]] std::pair<std::uint8_t, std::uint8_t> reach(const Network& n, Key counter,
                                                            const Mark& mark) {
    std::uint8_t least = 0xff;
    std::uint8_t most = 0;
    for (const Key q : book_.queues_of(n, counter)) {
      const std::uint8_t round = reached(book_.queue(q), mark);
      least = std::min(least, round);
      most = std::max(most, round);
    }
    return {most == 0 ? std::uint8_t{0} : least, most};
  }

  /// What the oracle says of the queue that a counter stops.
  [[nodiscard]] static bool real(const Network& n, Key counter) {
    const auto stuck = stuck_queues(n);
    return std::find(stuck.begin(), stuck.end(), Stuck{arc_of(counter), priority_of(counter)}) !=
           stuck.end();
  }

  template <class Engine>
  void declare(Engine& e, Key counter, const Mark& mark, Key q) {
    Network& n = e.network();
    Counter& own = book_.counter(counter);
    own.proving = false;
    ++e.count().detections;
    const Mark& trigger = book_.queue(q).trigger;
    Verdict v{.at = e.now(), .counter = counter, .trigger = trigger ? trigger.id : counter};
    v.real = own.was_real || real(n, counter);
    v.loop = book_.way(n, counter, counter,
                       [&](Key k) { return reached(book_.queue(k), mark) == rounds(); });
    for (const Key k : v.loop) v.formed = std::max(v.formed, book_.queue(k).paused_at);
    v.on_loop = std::find(v.loop.begin(), v.loop.end(), v.trigger) != v.loop.end();
    if (!v.on_loop)
      v.chain = book_.way(n, counter, v.trigger, [&](Key k) { return stopped(n, k); });
    if (s_.handle) handle(e, v.trigger, counter);
    if (s_.break_up) {
      std::vector<Key> held = v.loop;  // a queue and the counter that stops it have one key
      if (std::find(held.begin(), held.end(), counter) == held.end()) held.push_back(counter);
      for (const Key k : held)
        while (e.drain(arc_of(k), priority_of(k))) ++v.drained;
    }
    n.verdicts.push_back(std::move(v));
  }

  /// IV: a host that pauses is not obeyed any more; where a switch's counter waits, the flow
  /// that has most there is slowed to half its rate, once for each time that the trigger pauses.
  template <class Engine>
  void handle(Engine& e, Key trigger, Key counter) {
    Network& n = e.network();
    Port& far = n.ports[arc_of(trigger)];
    if (!n.ports[reversed(arc_of(trigger))].forwards) {
      far.ignored |= static_cast<std::uint8_t>(1U << priority_of(trigger));
      return e.obey(arc_of(trigger));
    }
    Counter& at = book_.counter(trigger);
    if (at.handled) return;
    at.handled = true;
    std::uint32_t flow = book_.heaviest(n, trigger);
    if (flow == kNone) flow = book_.heaviest(n, counter);
    if (flow == kNone) return;
    Flow& slowed = n.flows[flow];
    slowed_.try_emplace(flow, slowed.rate_bps);
    slowed.limit(std::max<std::uint64_t>(slowed.rate_bps / 2, s_.least_bps));
    e.after(s_.slow_for, Kind::kDetector, arc_of(trigger), kGivesBack | priority_of(trigger), flow);
  }
  /// A flow that was slowed gets the rate back that it had, when its trigger does not pause.
  template <class Engine>
  void give_back(Engine& e, Key trigger, std::uint32_t flow) {
    const auto slowed = slowed_.find(flow);
    if (slowed == slowed_.end()) return;
    if (pausing(e.network(), trigger))
      return e.after(s_.slow_for, Kind::kDetector, arc_of(trigger),
                     kGivesBack | priority_of(trigger), flow);
    e.network().flows[flow].limit(slowed->second);
    slowed_.erase(slowed);
  }

  template <class Engine>
  void send(Engine& e, Key counter, ItsyCheck check) {
    Network& n = e.network();
    const Arc out = reversed(arc_of(counter));
    if (!n.ports[arc_of(counter)].forwards || n.ports[out].down) return;  // to a host
    check.priority = priority_of(counter);
    const std::uint32_t slot = e.pool().take();
    e.pool()[slot] = Slot{.arc = arc_of(counter), .octets = kControlOctets, .kind = Kind::kCheck};
    e.pool()[slot].begin_in(n.control);
    put(e.pool()[slot], check);
    ++e.count().checks;
    e.enqueue(slot, out);
  }

  [[nodiscard]] static bool stopped(const Network& n, Key q) {
    return (n.ports[arc_of(q)].stopped >> priority_of(q) & 1) != 0;
  }
  [[nodiscard]] static bool pausing(const Network& n, Key counter) {
    return (n.ingress[arc_of(counter)].pausing >> priority_of(counter) & 1) != 0;
  }

  const ItsySettings& s_;
  Picoseconds patience_;
  ItsyBook book_;
  std::map<std::uint32_t, std::uint64_t> slowed_{};  ///< flows, and the rates that they had
};

}  // namespace lldp::lab::packets
