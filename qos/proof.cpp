// SPDX-License-Identifier: Apache-2.0
#include "qos/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cassert>
#include <limits>
#include <optional>

#include "base/text.hpp"

namespace lldp::qos {
namespace {

using Index = std::uint32_t;
constexpr Index kNone = std::numeric_limits<Index>::max();

/// A link in one direction: 2i from a to b, 2i + 1 from b to a; ^ 1 is the way back.
struct Direction {
  Index from = 0;
  Index to = 0;
  Index exit = 0;   ///< its exit at `from`
  Index entry = 0;  ///< its entry at `to`
};

/// All links that come into one switch by ports of one class. What a packet may do next depends on
/// nothing else of where it came from, so entries stand for links in the search, and it is linear
/// in the ports of a switch where pairs of links would be quadratic.
struct Entry {
  Index at = 0;
  PortClass port{};
  Index links = 0;
};

/// The buffers and their dependencies. A state is an entry in a lossless class.
class Dependencies {
 public:
  Dependencies(const Forwarding& fabric, const Policy& policy, OnTurn on_turn) : on_turn_(on_turn) {
    for (const Chain& chain : policy.chains()) {
      const Index application = classes_;
      for (std::size_t i = 0; i < chain.classes.size(); ++i) {
        const bool is_last = i + 1 == chain.classes.size();
        steps_.push_back({!is_last                               ? classes_ + 1
                          : on_turn == OnTurn::kStaysInLastClass ? classes_
                                                                 : kNone,
                          application});
        ++classes_;
      }
    }
    directions_.reserve(2 * fabric.links.size());
    for (const auto& link : fabric.links) {
      assert(link.a < fabric.switches.size() && link.b < fabric.switches.size());
      const auto a = static_cast<Index>(link.a);
      const auto b = static_cast<Index>(link.b);
      directions_.push_back({a, b});
      directions_.push_back({b, a});
    }
    index_by_switch(fabric.switches.size());
    find_entries_and_exits(fabric);
  }

  [[nodiscard]] Index classes() const { return classes_; }
  [[nodiscard]] Index directions() const { return static_cast<Index>(directions_.size()); }
  [[nodiscard]] Index states() const { return static_cast<Index>(entries_.size()) * classes_; }
  [[nodiscard]] const Direction& direction(Index d) const { return directions_[d]; }
  [[nodiscard]] const Entry& entry_of(Index state) const { return entries_[state / classes_]; }
  /// Where a packet is that came by direction `d` in class `c`.
  [[nodiscard]] Index state(Index d, Index c) const { return directions_[d].entry * classes_ + c; }

  /// Whether packets of lossless classes stay so over direction `d`.
  [[nodiscard]] bool is_crossed(Index d) const {
    return exits_[directions_[d].exit].order != Order::kShut;
  }

  /// The class in which a packet in `state` leaves by direction `d` of the same switch; kNone when
  /// that is lossy: it is dropped rather than waits.
  [[nodiscard]] Index class_after(Index state, Index d) const {
    return class_after(entry_of(state).port, state % classes_, exits_[directions_[d].exit]);
  }

  /// Calls f(direction, class) for all that may follow `state`, the ways back included.
  template <class F>
  void for_each_next(Index state, F f) const {
    const Entry& entry = entry_of(state);
    const Index first = first_exit_[entry.at];
    boost::container::small_vector<Index, 8> after;  // by exit
    for (Index e = first; e < first_exit_[entry.at + 1]; ++e)
      after.push_back(class_after(entry.port, state % classes_, exits_[e]));
    const bool alike = after.size() == 1;  // as without rules: there is nothing to look up
    for (Index i = first_out_[entry.at], end = first_out_[entry.at + 1]; i < end; ++i) {
      const Index c = alike ? after.front() : after[directions_[out_[i]].exit - first];
      if (c != kNone) f(out_[i], c);
    }
  }

 private:
  [[nodiscard]] Index class_after(PortClass in, Index c, PortClass out) const {
    if (on_turn_ == OnTurn::kStays) return c;
    if (in.order == Order::kShut || out.order == Order::kShut) return kNone;
    const Index after = turns(in, out) ? steps_[c].next : c;
    return after != kNone && out.restores() ? steps_[after].application : after;
  }

  void index_by_switch(std::size_t switches) {
    first_out_.assign(switches + 1, 0);
    for (const Direction& d : directions_) ++first_out_[d.from + 1];
    for (std::size_t s = 0; s < switches; ++s) first_out_[s + 1] += first_out_[s];
    out_.resize(directions_.size());
    auto next = first_out_;
    for (Index d = 0; d < directions(); ++d) out_[next[directions_[d].from]++] = d;
  }

  void find_entries_and_exits(const Forwarding& fabric) {
    for (Index s = 0; s + 1 < first_out_.size(); ++s) {
      const auto first_entry = static_cast<std::ptrdiff_t>(entries_.size());
      const auto first_exit = static_cast<std::ptrdiff_t>(exits_.size());
      first_exit_.push_back(static_cast<Index>(first_exit));
      for (Index i = first_out_[s]; i < first_out_[s + 1]; ++i) {
        const auto& link = fabric.links[out_[i] / 2];
        const bool from_a = out_[i] % 2 == 0;
        const PortClass here = from_a ? link.at_a : link.at_b;
        const PortClass there = from_a ? link.at_b : link.at_a;
        const auto entry = std::find_if(entries_.begin() + first_entry, entries_.end(),
                                        [&](const Entry& e) { return e.port == here; });
        directions_[out_[i] ^ 1].entry = static_cast<Index>(entry - entries_.begin());
        if (entry == entries_.end())
          entries_.push_back({s, here, 1});
        else
          ++entry->links;
        PortClass leaves = here;
        if (on_turn_ == OnTurn::kStays)
          leaves = {};  // without rules, all are one
        else if (there.order == Order::kShut)
          leaves.order = Order::kShut;
        const auto exit = std::find(exits_.begin() + first_exit, exits_.end(), leaves);
        directions_[out_[i]].exit = static_cast<Index>(exit - exits_.begin());
        if (exit == exits_.end()) exits_.push_back(leaves);
      }
    }
    first_exit_.push_back(static_cast<Index>(exits_.size()));
  }

  /// A lossless class: what a turn and what restoring makes of it.
  struct Turn {
    Index next = kNone;
    Index application = 0;
  };
  Index classes_ = 0;
  std::vector<Turn> steps_{};
  OnTurn on_turn_ = OnTurn::kChangesClass;
  std::vector<Direction> directions_{};
  std::vector<Index> first_out_{};  ///< per switch: where its directions begin in out_
  std::vector<Index> out_{};        ///< directions by the switch that they leave
  std::vector<Entry> entries_{};
  std::vector<Index> first_exit_{};  ///< per switch: where its exits begin
  /// The classes of ports by which packets leave a switch. A link that is shut at either end is so.
  std::vector<PortClass> exits_{};
};

/// The states left when those that nothing leads to are taken away, again and again: all of them
/// are on a cycle or behind one.
std::vector<bool> states_behind_cycles(const Dependencies& deps) {
  std::vector<Index> leading_here(deps.states(), 0);
  for (Index s = 0; s < deps.states(); ++s)
    deps.for_each_next(s, [&](Index d, Index c) { ++leading_here[deps.state(d, c)]; });
  std::vector<Index> free;
  for (Index s = 0; s < deps.states(); ++s)
    if (leading_here[s] == 0) free.push_back(s);
  std::vector<bool> left(deps.states(), true);
  while (!free.empty()) {
    const Index s = free.back();
    free.pop_back();
    left[s] = false;
    deps.for_each_next(s, [&](Index d, Index c) {
      if (--leading_here[deps.state(d, c)] == 0) free.push_back(deps.state(d, c));
    });
  }
  return left;
}

/// Shortest cycle of buffers: breadth first from each buffer in turn, no deeper than the best that
/// is known, and then without that buffer, as no better cycle goes through it.
class ShortestCycle {
 public:
  struct Step {
    Index direction = 0;
    Index cls = 0;
  };

  ShortestCycle(const Dependencies& deps, const std::vector<bool>& candidates, bool ways_back)
      : deps_(deps),
        ways_back_(ways_back),
        done_(std::size_t{deps.directions()} * deps.classes(), false),
        seen_(deps.states()) {
    for (Index c = 0; c < deps_.classes(); ++c)
      for (Index d = 0; d < deps_.directions(); ++d) {
        if (candidates[deps_.state(d, c)]) search({d, c});
        done_[buffer(d, c)] = true;
      }
  }

  std::vector<Step> take() { return std::move(best_); }

 private:
  /// An arrival in a state. All that may follow it follows the first arrival in that state, but for
  /// the way back of that first one; a second arrival, by another link, adds just this.
  struct Arrival {
    Step step{};
    Index parent = kNone;
    Index length = 0;    ///< buffers from the start to here
    Index only = kNone;  ///< the one direction to go on by, or kNone: all but the way back
  };
  struct Seen {
    Index search = 0;  ///< the last search that came here
    Index first = 0;   ///< by this direction
    bool again = false;
  };

  [[nodiscard]] std::size_t buffer(Index d, Index c) const {
    return std::size_t{d} * deps_.classes() + c;
  }

  void search(Step start) {
    ++search_;
    start_ = start;
    arrivals_.clear();
    arrive(start, kNone, 1);
    for (Index i = 0; i < arrivals_.size(); ++i) {
      const Arrival a = arrivals_[i];
      if (!best_.empty() && a.length >= best_.size()) return;
      if (closes(a)) return keep(i);
      if (!best_.empty() && a.length + 1 >= best_.size()) continue;
      const Index state = deps_.state(a.step.direction, a.step.cls);
      const auto go_on = [&](Index d, Index c) {
        if (!done_[buffer(d, c)]) arrive({d, c}, i, a.length + 1);
      };
      if (a.only == kNone) {
        deps_.for_each_next(state, [&](Index d, Index c) {
          if (ways_back_ || d != (a.step.direction ^ 1)) go_on(d, c);
        });
      } else if (const Index c = deps_.class_after(state, a.only); c != kNone) {
        go_on(a.only, c);
      }
    }
  }

  /// Whether the start may follow.
  [[nodiscard]] bool closes(const Arrival& a) const {
    const Index d = start_.direction;
    if (deps_.direction(a.step.direction).to != deps_.direction(d).from) return false;
    if (a.only != kNone ? a.only != d : !ways_back_ && d == (a.step.direction ^ 1)) return false;
    return deps_.class_after(deps_.state(a.step.direction, a.step.cls), d) == start_.cls;
  }

  void arrive(Step step, Index parent, Index length) {
    Seen& seen = seen_[deps_.state(step.direction, step.cls)];
    if (seen.search != search_) {
      seen = {search_, step.direction, false};
      arrivals_.push_back({step, parent, length, kNone});
    } else if (!ways_back_ && !seen.again && seen.first != step.direction) {
      seen.again = true;
      arrivals_.push_back({step, parent, length, seen.first ^ 1});
    }
  }

  void keep(Index last) {
    best_.clear();
    for (Index i = last; i != kNone; i = arrivals_[i].parent) best_.push_back(arrivals_[i].step);
    std::reverse(best_.begin(), best_.end());
  }

  const Dependencies& deps_;
  bool ways_back_ = false;
  std::vector<bool> done_{};
  std::vector<Seen> seen_{};
  std::vector<Arrival> arrivals_{};
  std::vector<Step> best_{};
  Step start_{};
  Index search_ = 0;
};

}  // namespace

Proof prove(const Forwarding& fabric, const Policy& policy, OnTurn on_turn) {
  const Dependencies deps(fabric, policy, on_turn);
  Proof proof;
  if (deps.classes() == 0) return proof;
  for (Index d = 0; d < deps.directions(); ++d)
    if (deps.is_crossed(d)) proof.buffers += deps.classes();
  for (Index s = 0; s < deps.states(); ++s)
    deps.for_each_next(s, [&](Index, Index) { proof.dependencies += deps.entry_of(s).links; });

  const auto candidates = states_behind_cycles(deps);
  if (std::find(candidates.begin(), candidates.end(), true) == candidates.end()) return proof;
  auto steps = ShortestCycle(deps, candidates, false).take();
  if (steps.empty()) steps = ShortestCycle(deps, candidates, true).take();
  const auto classes = policy.classes();
  for (const auto& [d, c] : steps) {
    const Direction& direction = deps.direction(d);
    proof.cycle.push_back(
        {.link = d / 2, .from = direction.from, .to = direction.to, .cls = classes[c].mark()});
  }
  return proof;
}

std::string to_string(const std::vector<Buffer>& cycle, const Forwarding& fabric) {
  if (cycle.empty()) return {};
  std::string text = escape(fabric.switches[cycle.front().from]);
  for (const Buffer& b : cycle)
    text += fmt::format(" -> {} [p{}]", escape(fabric.switches[b.to]), b.cls.priority.value());
  return text;
}

}  // namespace lldp::qos
