// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif/routes.hpp"

#include <algorithm>
#include <limits>

namespace lldp::lab::whatif {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Routes::Routes(const Fabric& fabric) : number_of_(fabric.links.size(), kNone) {
  std::vector<std::uint32_t> index(fabric.nodes.size(), kNone);
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].role == Role::kHost) continue;
    index[n] = static_cast<std::uint32_t>(node_of_.size());
    node_of_.push_back(n);
  }
  std::vector<bool> has_hosts(switches());
  std::vector<bool> has_below(switches());
  for (std::size_t l = 0; l < fabric.links.size(); ++l) {
    const Link& link = fabric.links[l];
    const std::uint32_t ends[] = {index[link.ends[0].node], index[link.ends[1].node]};
    for (std::size_t e = 0; e < 2; ++e)
      if (ends[e] != kNone && ends[1 - e] == kNone) has_hosts[ends[e]] = true;
    const Order order = true_order(fabric, link, 0);
    if (ends[0] == kNone || ends[1] == kNone || order == Order::kUnknown) continue;
    number_of_[l] = static_cast<std::uint32_t>(link_of_.size());
    link_of_.push_back(l);
    has_below[ends[order == Order::kUp ? 1 : 0]] = true;
    for (std::size_t e = 0; e < 2; ++e) {
      const bool up = (order == Order::kUp) == (e == 0);
      tail_.push_back(ends[e]);
      up_.push_back(up);
      const auto& set = link.ends[e].order;
      rule_up_.push_back(set ? *set == Order::kUp : up);
      rules_are_right_ &= !set || (*set == Order::kUp) == up;
    }
  }
  first_.assign(switches() + 1, 0);
  for (Arc a = 0; a < arcs(); ++a) ++first_[tail_[a] + 1];
  for (std::size_t s = 0; s < switches(); ++s) first_[s + 1] += first_[s];
  hops_.resize(arcs());
  auto next = first_;
  for (Arc a = 0; a < arcs(); ++a) hops_[next[tail_[a]]++] = {a, head(a), up(a)};

  const bool any_hosts = std::find(has_hosts.begin(), has_hosts.end(), true) != has_hosts.end();
  for (std::uint32_t s = 0; s < switches(); ++s)
    if (any_hosts ? has_hosts[s] : !has_below[s]) destinations_.push_back(s);
  descending_.assign(destinations() * switches(), kFar);
  legal_.assign(destinations() * switches(), kFar);
  flow_.assign(destinations(), Bits(arcs()));
  std::vector<Bits> follows(arcs());
  for (Arc a = 0; a < arcs(); ++a) follows[a] = Bits(hops(head(a)).size());
  for (std::size_t d = 0; d < destinations(); ++d) {
    measure(d);
    let_flow(d, follows);
  }
  first_follower_.push_back(0);
  for (Arc a = 0; a < arcs(); ++a) {
    const auto out = hops(head(a));
    for (std::size_t i = 0; i < out.size(); ++i)
      if (follows[a].test(i)) followers_.push_back(out[i].arc);
    first_follower_.push_back(static_cast<std::uint32_t>(followers_.size()));
  }
}

std::optional<std::size_t> Routes::number_of(std::size_t link) const {
  if (number_of_[link] == kNone) return std::nullopt;
  return number_of_[link];
}

/// Breadth first from `queue`, whose distances are known, nearest first, over hops that are
/// reversed moves up or down.
void Routes::spread(std::size_t row, std::vector<std::uint16_t>& distance,
                    std::vector<std::uint32_t> queue, bool upwards) {
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto far = static_cast<std::uint16_t>(distance[row + queue[i]] + 1);
    for (const Hop& hop : hops(queue[i])) {
      if (hop.up != upwards || distance[row + hop.peer] <= far) continue;
      distance[row + hop.peer] = far;
      queue.push_back(hop.peer);
    }
  }
}

void Routes::measure(std::size_t d) {
  const std::size_t row = d * switches();
  descending_[row + destinations_[d]] = 0;
  spread(row, descending_, {destinations_[d]}, true);  // a switch above can go down to it
  std::vector<std::uint32_t> sources;
  for (std::uint32_t s = 0; s < switches(); ++s) {
    legal_[row + s] = descending_[row + s];
    if (legal_[row + s] != kFar) sources.push_back(s);
  }
  std::stable_sort(sources.begin(), sources.end(), [&](std::uint32_t a, std::uint32_t b) {
    return legal_[row + a] < legal_[row + b];
  });
  spread(row, legal_, std::move(sources), false);  // and switches below those can climb to them
}

void Routes::let_flow(std::size_t d, std::vector<Bits>& follows) {
  std::vector<Arc> queue;
  const auto leave = [&](std::size_t s, bool descends, Bits* follow) {
    if (s == destinations_[d]) return;
    const auto out = hops(s);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!forwards(d, s, descends, out[i])) continue;
      if (follow != nullptr) follow->set(i);
      if (flow_[d].test(out[i].arc)) continue;
      flow_[d].set(out[i].arc);
      queue.push_back(out[i].arc);
    }
  };
  for (const std::uint32_t source : destinations_) leave(source, false, nullptr);
  for (std::size_t i = 0; i < queue.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows
    const Arc a = queue[i];
    leave(head(a), !up(a), &follows[a]);
  }
}

std::vector<Routes::Narrow> Routes::narrow(std::size_t most) const {
  std::vector<Narrow> all;
  std::vector<bool> is_source(switches());
  for (const std::uint32_t s : destinations_) is_source[s] = true;
  for (std::uint32_t d = 0; d < destinations(); ++d)
    for (std::uint32_t s = 0; s < switches(); ++s) {
      if (s == destinations_[d]) continue;
      for (const bool descends : {false, true}) {
        bool used = !descends && is_source[s];
        for (const Hop& hop : hops(s))
          used |= up(reversed(hop.arc)) != descends && carries(d, reversed(hop.arc));
        if (!used) continue;
        Narrow n{d, s, descends, {}};
        for (const Hop& hop : hops(s))
          if (forwards(d, s, descends, hop)) n.links.push_back(hop.arc / 2);
        if (!n.links.empty() && n.links.size() <= most) all.push_back(std::move(n));
      }
    }
  return all;
}

}  // namespace lldp::lab::whatif
