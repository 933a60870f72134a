// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/agents_inside.hpp"

#include <chrono>

#include "lab/topology/forwarding.hpp"

namespace lldp::lab::packets {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A cold start is over within seconds where all agents answer (docs/develop/rules.md A6, A10).
constexpr seconds kMost{600};

bool between_forwarders(const Fabric& fabric, const Link& link) {
  return forwards(fabric.nodes[link.ends[0].node]) && forwards(fabric.nodes[link.ends[1].node]);
}

}  // namespace

AgentsInside::AgentsInside(const Fabric& fabric, std::uint64_t seed, bool links_change)
    : fabric_(fabric),
      network_(agents::network_of(fabric, seed)),
      orders_(2 * fabric.links.size(), Order::kUnknown) {
  network_->saves_at_once = false;  // no agent of a run of packets dies
  network_->start_all();
  // `all`: at ports to hosts as well.
  const auto right = [&](bool all) {
    for (std::size_t l = 0; l < fabric.links.size(); ++l)
      for (std::size_t e = 0; e < 2; ++e)
        if (const Link& link = fabric.links[l];
            (all ? forwards(fabric.nodes[link.ends[e].node]) : between_forwarders(fabric, link)) &&
            order(l, e) != true_class(fabric, link, e).order)
          return false;
    return true;
  };
  // Where links will change packets begin at a whole second of the agents. Else what the agents do
  // once all is right is of no use, and most of what they do in the first second comes after.
  const TimePoint start = network_->now;
  const auto in_first_second = [&] { return network_->now < start + seconds(1); };
  while (!agreed_ && network_->now < start + kMost) {
    const bool early = !links_change && in_first_second();
    network_->run_for(early ? Duration(milliseconds(10)) : Duration(seconds(1)));
    begin_ = network_->now;
    advance(0);
    agreed_ = right(early && in_first_second());
  }
  if (!links_change) network_.reset();
}

Picoseconds AgentsInside::next() const {
  if (!network_ || network_->idle()) return kNever;
  const auto ns = (network_->next_time() - begin_).count();
  return static_cast<Picoseconds>(std::max<Duration::rep>(ns, 0)) * kNanosecond;
}

std::vector<AgentsInside::End> AgentsInside::advance(Picoseconds now) {
  if (!network_) return {};
  network_->run_until(begin_ + Duration(static_cast<Duration::rep>(now / kNanosecond)));
  std::vector<End> changed;
  for (std::size_t l = 0; l < fabric_.links.size(); ++l)
    for (std::size_t e = 0; e < 2; ++e) {
      const std::size_t node = fabric_.links[l].ends[e].node;
      const Order is = network_->agent(node).order(network_->port_at(l, node));
      if (is == orders_[2 * l + e]) continue;
      orders_[2 * l + e] = is;
      changed.push_back({l, e});
    }
  return changed;
}

std::size_t AgentsInside::exposed() const {
  std::size_t links = 0;
  for (std::size_t l = 0; l < fabric_.links.size(); ++l)
    links += (!network_ || network_->cables[l].up) &&
                     between_forwarders(fabric_, fabric_.links[l]) &&
                     (order(l, 0) == Order::kUnknown || order(l, 1) == Order::kUnknown)
                 ? 1U
                 : 0U;
  return links;
}

}  // namespace lldp::lab::packets
