// SPDX-License-Identifier: Apache-2.0
#include "lab/report/nearby.hpp"

#include <algorithm>

namespace lldp::lab {
namespace {

/// Neighbors of what is set off fill a picture up to so many nodes, and no further.
constexpr std::size_t kWithNeighbors = 32;
/// Hosts are drawn beside all switches up to so many.
constexpr std::size_t kManyHosts = 120;

/// What is set off, the most telling first; none twice.
std::vector<std::size_t> set_off(const Fabric& fabric, const Marks& marks) {
  std::vector<std::size_t> all;
  std::vector<bool> taken(fabric.nodes.size());
  const auto take = [&](std::size_t n) {
    if (taken[n]) return;
    taken[n] = true;
    all.push_back(n);
  };
  const auto take_ends = [&](std::size_t link) {
    for (const LinkEnd& e : fabric.links[link].ends) take(e.node);
  };
  for (const Marks::Way& w : marks.cycle) take_ends(w.link);
  for (const std::size_t l : marks.failed) take_ends(l);
  for (const std::size_t n : marks.turning) take(n);
  for (const auto& [l, why] : marks.doubtful_links) take_ends(l);
  for (const auto& [n, why] : marks.doubtful_nodes) take(n);
  for (const std::size_t n : marks.near) take(n);
  return all;
}

}  // namespace

std::vector<bool> nodes_to_draw(const Fabric& fabric, const Marks& marks) {
  const std::size_t count = fabric.nodes.size();
  std::vector<bool> drawn(count, true);
  if (count <= kReadable) return drawn;
  std::vector<std::size_t> core = set_off(fabric, marks);
  const auto is_end = [&](std::size_t n) { return !forwards(fabric.nodes[n]); };
  std::size_t ends = 0;
  for (std::size_t n = 0; n < count; ++n) ends += is_end(n) ? 1U : 0U;
  if (core.empty() || count - ends <= kReadable) {
    if (ends <= kManyHosts && core.empty()) return drawn;
    for (std::size_t n = 0; n < count; ++n) drawn[n] = !is_end(n);
    for (const std::size_t n : core) drawn[n] = true;
    return drawn;
  }
  drawn.assign(count, false);
  core.resize(std::min(core.size(), kReadable));
  for (const std::size_t n : core) drawn[n] = true;
  std::size_t left = kWithNeighbors - std::min(core.size(), kWithNeighbors);
  const auto links = adjacencies(fabric);
  for (const std::size_t n : core)
    for (const Adjacency& a : links[n]) {
      if (left == 0) return drawn;
      if (drawn[a.peer] || is_end(a.peer)) continue;
      drawn[a.peer] = true;
      --left;
    }
  return drawn;
}

}  // namespace lldp::lab
