// SPDX-License-Identifier: Apache-2.0
#include "lab/routing/tagger.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace lldp::lab {
namespace {

/// Which ingress port waits for which within one priority.
class Waits {
 public:
  explicit Waits(std::size_t arcs) : next_(arcs), mark_(arcs) {}

  /// Adds waits of `before` for `arc`, unless that would close a circle.
  bool add(const std::vector<Arc>& before, Arc arc) {
    ++stamp_;
    std::vector<Arc> open{arc};
    mark_[arc] = stamp_;
    while (!open.empty()) {
      const Arc at = open.back();
      open.pop_back();
      for (const Arc n : next_[at]) {
        if (mark_[n] == stamp_) continue;
        mark_[n] = stamp_;
        open.push_back(n);
      }
    }
    if (std::any_of(before.begin(), before.end(), [&](Arc b) { return mark_[b] == stamp_; }))
      return false;
    for (const Arc b : before)
      if (std::find(next_[b].begin(), next_[b].end(), arc) == next_[b].end())
        next_[b].push_back(arc);
    return true;
  }

 private:
  std::vector<std::vector<Arc>> next_;
  std::vector<std::uint32_t> mark_;
  std::uint32_t stamp_ = 0;
};

}  // namespace

std::size_t tagger_priorities(const Graph& graph, std::span<const SourcePaths> paths) {
  // hops[i]: every arc that is the i-th of some path, and the arcs before it there.
  std::vector<std::vector<std::vector<Arc>>> hops;
  const auto note = [&](std::size_t hop, Arc before, Arc arc) {
    if (hops.size() <= hop) hops.resize(hop + 1);
    auto& of = hops[hop];
    if (of.empty()) of.resize(graph.arcs());
    if (of[arc].empty() || std::find(of[arc].begin(), of[arc].end(), before) == of[arc].end())
      of[arc].push_back(before);
  };
  for (const SourcePaths& s : paths)
    s.for_each([&](std::size_t, std::span<const Arc> path) {
      const std::size_t n = path.size();
      for (std::size_t i = 0; i < n; ++i) {  // the first arc stands for what is before it, too
        note(i, path[i == 0 ? 0 : i - 1], path[i]);
        note(i, reversed(path[i == 0 ? n - 1 : n - i]), reversed(path[n - 1 - i]));
      }
    });
  if (hops.empty()) return 0;
  std::size_t priority = 1;
  Waits waits(graph.arcs());
  std::vector<std::size_t> last(graph.arcs());
  std::vector<std::size_t> now(graph.arcs());
  for (std::size_t hop = 0; hop < hops.size(); ++hop) {
    bool more = false;
    for (Arc arc = 0; arc < graph.arcs(); ++arc) {
      if (hops[hop].empty() || hops[hop][arc].empty()) continue;
      std::vector<Arc> same;
      if (hop > 0)
        for (const Arc before : hops[hop][arc])
          if (last[before] == priority) same.push_back(before);
      const bool fits = waits.add(same, arc);
      now[arc] = fits ? priority : priority + 1;
      more = more || !fits;
    }
    if (more) {
      ++priority;
      waits = Waits(graph.arcs());
    }
    last = now;
  }
  return priority;
}

}  // namespace lldp::lab
