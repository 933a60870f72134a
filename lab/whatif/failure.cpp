// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif/failure.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace lldp::lab::whatif {
namespace {

constexpr unsigned kMostTurns = 3;
constexpr unsigned kClasses = 2;  ///< lossless ones; beyond them a packet is lossy
constexpr std::size_t kMatrixArcs = 16'384;

template <class T>
void drop_repeated(std::vector<T>& sorted) {
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}
template <class T>
void make_unique(std::vector<T>& all) {
  std::sort(all.begin(), all.end());
  drop_repeated(all);
}

/// Both are sorted, and stay so.
template <class T>
void merge_into(std::vector<T>& all, const std::vector<T>& more) {
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), more.begin(), more.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end());
}

}  // namespace

Evaluator::Evaluator(const Routes& routes, std::size_t most)
    : routes_(routes),
      narrow_(routes.narrow(most)),
      narrow_of_(routes.links()),
      alone_(routes.links()),
      known_(routes.links()),
      failed_(routes.links()),
      seen_(routes.arcs() * (kMostTurns + 1) * (kClasses + 1)),
      visited_(2 * routes.switches()),
      known_ways_(2 * routes.switches()),
      colour_(routes.arcs() * kClasses) {
  for (std::uint32_t i = 0; i < narrow_.size(); ++i)
    for (const std::uint32_t l : narrow_[i].links) narrow_of_[l].push_back(i);
  if (routes.arcs() <= kMatrixArcs) reach_all();
}

/// Which arcs can be come to from each without a turn. Downward arcs in the order of falling heads
/// lead to downward ones only, so each needs those that follow it.
void Evaluator::reach_all() {
  reach_.assign(routes_.arcs(), Bits());
  std::vector<std::uint8_t> done(routes_.arcs());
  std::vector<Arc> stack;
  for (Arc start = 0; start < routes_.arcs(); ++start) {
    stack.push_back(start);
    while (!stack.empty()) {
      const Arc a = stack.back();
      const bool came_up = routes_.up(a);
      bool ready = true;
      for (const auto& hop : routes_.hops(routes_.head(a)))
        if ((came_up || !hop.up) && hop.arc != reversed(a) && done[hop.arc] == 0) {
          stack.push_back(hop.arc);
          ready = false;
        }
      if (!ready) continue;
      stack.pop_back();
      if (done[a] != 0) continue;
      done[a] = 1;
      reach_[a] = Bits(routes_.arcs());
      reach_[a].set(a);
      for (const auto& hop : routes_.hops(routes_.head(a)))
        if ((came_up || !hop.up) && hop.arc != reversed(a)) reach_[a].unite(reach_[hop.arc]);
    }
  }
  reached_from_.assign(routes_.arcs(), Bits(routes_.arcs()));
  for (Arc a = 0; a < routes_.arcs(); ++a)
    reach_[a].for_each([&](std::size_t to) { reached_from_[to].set(a); });
}

/// Of dependencies_.
Bits Evaluator::leading_to_turns() const {
  Bits leads(routes_.arcs());
  std::optional<Arc> last;
  for (const Dependency& d : dependencies_) {  // sorted
    if (!d.turn || last == d.in) continue;
    last = d.in;
    leads.unite(reached_from_[d.in]);
  }
  return leads;
}

bool Evaluator::failed(Arc a) {
  if (looked_at_ != nullptr) looked_at_->set(a / 2);
  return failed_[a / 2];
}

/// Whether what comes to `from` comes to `d` as switches forward, past `avoid` and failed links.
/// Packets by different arcs ask the same one after the other.
bool Evaluator::reaches(std::size_t d, std::uint32_t from, bool descends, std::uint32_t avoid) {
  Reached& known = known_ways_[2 * from + descends];
  if (known.set != anew_ || known.destination != d || known.avoid != avoid)
    known = {anew_, d, avoid, finds(d, from, descends, avoid)};
  return known.reaches;
}

bool Evaluator::finds(std::size_t d, std::uint32_t from, bool descends, std::uint32_t avoid) {
  ++visit_;
  stack_.assign(1, 2 * from + descends);
  visited_[stack_[0]] = visit_;
  while (!stack_.empty()) {
    const std::uint32_t at = stack_.back() / 2;
    const bool down = stack_.back() % 2 != 0;
    stack_.pop_back();
    if (at == routes_.destination(d)) return true;
    for (const auto& hop : routes_.hops(at)) {
      if (!routes_.forwards(d, at, down, hop) || hop.peer == avoid || failed(hop.arc)) continue;
      const std::uint32_t next = 2 * hop.peer + (hop.up ? 0 : 1);
      if (visited_[next] == visit_) continue;
      visited_[next] = visit_;
      stack_.push_back(next);
    }
  }
  return false;
}

void Evaluator::go(std::size_t d, const State* came, Arc out) {
  State next{.arc = out};
  if (came != nullptr) {
    const bool turn = !routes_.up(came->arc) && routes_.up(out);
    const bool change = routes_.changes_class(came->arc, out);
    next.turns = static_cast<std::uint8_t>(std::min<unsigned>(came->turns + turn, kMostTurns));
    next.cls = static_cast<std::uint8_t>(std::min<unsigned>(came->cls + change, kClasses));
    dependencies_.push_back({came->arc, came->cls, out, next.cls, turn});
    if (turn) effect_.bounces.emplace_back(routes_.tail(out), routes_.destination(d));
    if (turn && next.turns > 1)
      effect_.second.emplace_back(routes_.tail(out), routes_.destination(d));
    effect_.most_turns = std::max<unsigned>(effect_.most_turns, next.turns);
    effect_.lossy |= next.cls == kClasses;
  }
  std::uint32_t& seen = seen_[(out * (kMostTurns + 1) + next.turns) * (kClasses + 1) + next.cls];
  if (seen == stamp_) return;
  seen = stamp_;
  queue_.push_back(next);
}

/// What arrived with `came` (nothing: it begins here) leaves.
void Evaluator::leave(std::size_t d, std::uint32_t at, const State* came) {
  const bool descends = came != nullptr && !routes_.up(came->arc);
  bool any = false;
  for (const auto& hop : routes_.hops(at)) {
    if (!routes_.forwards(d, at, descends, hop)) continue;
    if ((came != nullptr && hop.arc == reversed(came->arc)) || failed(hop.arc)) continue;
    go(d, came, hop.arc);
    any = true;
  }
  for (const bool up : {true, false}) {
    if (any) return;
    for (const auto& hop : routes_.hops(at)) {
      if (hop.up != up || (came != nullptr && hop.arc == reversed(came->arc)) || failed(hop.arc) ||
          !reaches(d, hop.peer, !up, at))
        continue;
      go(d, came, hop.arc);
      any = true;
    }
  }
  if (!any) ++effect_.cut_off;
}

/// All that comes to a switch which has none of its next hops left for a destination.
void Evaluator::follow(std::size_t d, const Routes::Narrow& stuck) {
  ++stamp_;
  queue_.clear();
  bool begins_here = false;
  if (!stuck.descends)
    for (std::size_t s = 0; s < routes_.destinations(); ++s)
      begins_here |= routes_.destination(s) == stuck.at;
  if (begins_here) leave(d, stuck.at, nullptr);
  for (const auto& hop : routes_.hops(stuck.at)) {
    const Arc in = reversed(hop.arc);
    if (routes_.up(in) == stuck.descends || !routes_.carries(d, in) || failed(in)) continue;
    const State came{.arc = in};
    leave(d, stuck.at, &came);
  }
  for (std::size_t i = 0; i < queue_.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows
    const State s = queue_[i];
    const std::uint32_t at = routes_.head(s.arc);
    if (at != routes_.destination(d) && s.turns < kMostTurns) leave(d, at, &s);
  }
}

bool Evaluator::has_cycle(bool with_classes) {
  // Depth first from what follows turns: every cycle holds one, so what leads to none is left out.
  // Nodes are arcs, in a class or not.
  const unsigned classes = with_classes ? kClasses : 1;
  const auto node = [&](Arc a, unsigned cls) { return with_classes ? a * kClasses + cls : a; };
  enum : std::uint8_t { kNew, kOpen, kClosed };
  const auto leads = [&](Arc a) { return reach_.empty() || leads_.test(a); };
  const auto paint = [&](std::uint32_t n, std::uint8_t colour) {
    if (colour_[n] == kNew) coloured_.push_back(n);
    colour_[n] = colour;
  };
  struct Frame {
    std::uint32_t node = 0;
    std::size_t next = 0;
  };
  std::vector<Frame> path;
  // The followers of a node from the one numbered `skip` on, until `visit` says false.
  const auto neighbors = [&](std::uint32_t n, std::size_t skip, auto visit) {
    const Arc a = n / classes;
    const unsigned cls = n % classes;
    const auto normal = routes_.followers(a);  // traffic is in the first class
    const std::size_t count = cls == 0 && !failed_[a / 2] ? normal.size() : 0;
    for (std::size_t i = skip; i < count; ++i)
      if (!failed_[normal[i] / 2] && leads(normal[i]) && !visit(node(normal[i], 0), i)) return;
    auto more = std::lower_bound(
        dependencies_.begin(), dependencies_.end(), std::pair(a, cls),
        [&](const Dependency& d, const std::pair<Arc, unsigned>& key) {
          return with_classes ? std::pair<Arc, unsigned>(d.in, d.cls_in) < key : d.in < key.first;
        });
    more += static_cast<std::ptrdiff_t>(std::min<std::size_t>(
        skip - std::min(skip, count), static_cast<std::size_t>(dependencies_.end() - more)));
    for (std::size_t i = std::max(skip, count); more != dependencies_.end(); ++more, ++i) {
      if (more->in != a || (with_classes && more->cls_in != cls)) return;
      if ((with_classes && more->cls_out >= kClasses) || !leads(more->out)) continue;
      if (!visit(node(more->out, more->cls_out), i)) return;
    }
  };
  const auto search = [&](std::uint32_t start) {
    path.assign(1, {start, 0});
    paint(start, kOpen);
    while (!path.empty()) {
      std::uint32_t into = 0;
      bool found = false;
      bool closes = false;
      std::size_t next = 0;
      neighbors(path.back().node, path.back().next, [&](std::uint32_t n, std::size_t i) {
        if (colour_[n] == kClosed) return true;
        into = n;
        next = i + 1;
        found = true;
        closes = colour_[n] == kOpen;
        return false;
      });
      if (closes) {
        auto from =
            std::find_if(path.begin(), path.end(), [&](const Frame& f) { return f.node == into; });
        if (!with_classes) cycle_.clear();
        for (; from != path.end() && !with_classes; ++from) cycle_.push_back(from->node);
        return true;
      }
      if (found) {
        path.back().next = next;
        paint(into, kOpen);
        path.push_back({into, 0});
      } else {
        paint(path.back().node, kClosed);
        path.pop_back();
      }
    }
    return false;
  };
  bool cyclic = false;
  for (const Dependency& d : dependencies_) {
    if (!d.turn || (with_classes && d.cls_out >= kClasses) || !leads(d.out)) continue;
    const std::uint32_t start = node(d.out, d.cls_out);
    if (colour_[start] == kNew && (cyclic = search(start))) break;
  }
  for (const std::uint32_t n : coloured_) colour_[n] = kNew;
  coloured_.clear();
  return cyclic;
}

Effect Evaluator::evaluate_anew(std::span<const std::uint32_t> links) {
  ++anew_;
  effect_ = {};
  dependencies_.clear();
  for (const std::uint32_t l : links) failed_[l] = true;
  std::vector<std::uint32_t> stuck;
  for (const std::uint32_t l : links)
    for (const std::uint32_t i : narrow_of_[l])
      if (std::all_of(narrow_[i].links.begin(), narrow_[i].links.end(),
                      [&](std::uint32_t other) { return failed_[other]; }))
        stuck.push_back(i);
  make_unique(stuck);
  for (const std::uint32_t i : stuck) follow(narrow_[i].destination, narrow_[i]);
  make_unique(effect_.bounces);
  make_unique(effect_.second);
  make_unique(dependencies_);
  if (!effect_.bounces.empty()) {
    if (!reach_.empty()) leads_ = leading_to_turns();
    effect_.one_class_deadlocks = has_cycle(false);
    if (!routes_.rules_are_right()) effect_.two_classes_deadlock = has_cycle(true);
  }
  for (const std::uint32_t l : links) failed_[l] = false;
  return effect_;
}

void Evaluator::know(std::uint32_t link) {
  if (known_[link]) return;
  known_[link] = true;
  Alone& alone = alone_[link];
  alone.looked_at = Bits(routes_.links());
  looked_at_ = &alone.looked_at;
  alone.effect = evaluate_anew(std::span(&link, 1));
  looked_at_ = nullptr;
  for (const std::uint32_t i : narrow_of_[link])
    for (const std::uint32_t other : narrow_[i].links) alone.looked_at.set(other);
  alone.dependencies = dependencies_;
  alone.turns_from = Bits(routes_.arcs());
  alone.reached = Bits(routes_.arcs());
  for (const Dependency& d : dependencies_) {
    if (!d.turn) continue;
    alone.turns_from.set(d.in);
    alone.reached.unite(reach_[d.out]);
  }
  alone.leads = leading_to_turns();
  alone.loops = alone.turns_from.meets(alone.reached);
}

Effect Evaluator::evaluate(std::span<const std::uint32_t> links) {
  if (reach_.empty() || !routes_.rules_are_right()) return evaluate_anew(links);
  for (const std::uint32_t l : links) know(l);
  bool apart = true;
  bool may_loop = false;
  for (std::size_t i = 0; i < links.size() && apart; ++i) {
    const Alone& a = alone_[links[i]];
    may_loop |= a.loops;
    for (std::size_t j = i + 1; j < links.size(); ++j) {
      const Alone& b = alone_[links[j]];
      apart &= !a.looked_at.test(links[j]) && !b.looked_at.test(links[i]);
      // With more than two, a longer way round needs each to lead to another.
      may_loop |= links.size() == 2
                      ? a.reached.meets(b.turns_from) && b.reached.meets(a.turns_from)
                      : a.reached.meets(b.turns_from) || b.reached.meets(a.turns_from);
    }
  }
  if (!apart) return evaluate_anew(links);
  Effect whole;
  for (const std::uint32_t l : links) {
    const Effect& e = alone_[l].effect;
    merge_into(whole.bounces, e.bounces);
    merge_into(whole.second, e.second);
    whole.most_turns = std::max(whole.most_turns, e.most_turns);
    whole.cut_off += e.cut_off;
    whole.lossy |= e.lossy;
  }
  drop_repeated(whole.bounces);
  drop_repeated(whole.second);
  if (may_loop) {
    dependencies_.clear();
    for (const std::uint32_t l : links) merge_into(dependencies_, alone_[l].dependencies);
    leads_ = alone_[links[0]].leads;
    for (const std::uint32_t l : links.subspan(1)) leads_.unite(alone_[l].leads);
    for (const std::uint32_t l : links) failed_[l] = true;
    whole.one_class_deadlocks = has_cycle(false);
    for (const std::uint32_t l : links) failed_[l] = false;
  }
  return whole;
}

}  // namespace lldp::lab::whatif
