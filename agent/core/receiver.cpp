// SPDX-License-Identifier: Apache-2.0
#include "agent/core/receiver.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace lldp::core {

void Agent::Impl::Receiver::rxInitializeLLDP() {
  remove_if([](const Neighbor&) { return true; }, "reception disabled");
  agent.tooManyNeighborsTimer = agent.own_frame_forgotten = kNever;
}

void Agent::Impl::Receiver::rxProcessFrame(RxVars& v) {
  Statistics& count = port.statistics;
  ++count.statsFramesInTotal;
  if (Neighbor* n = port.table.find_same(agent.scope, lldpdu)) {
    v.rxTTL = n->rxTTL;
    n->rxInfoTTL = now + std::chrono::seconds(n->rxTTL);
    count.statsTLVsDiscardedTotal += n->tlvs_discarded;
    count.statsTLVsUnrecognizedTotal += n->tlvs_unrecognized;
    count.statsFramesInErrorsTotal += n->in_error;
    return;
  }
  const auto decoded = tlv::decode(lldpdu, {.contribution_ouis = impl.settings_.accepted_ouis});
  if (!decoded) {
    ++count.statsFramesDiscardedTotal;
    ++count.statsFramesInErrorsTotal;
    v.badFrame = true;
    return;
  }
  view = *decoded;
  count.statsTLVsDiscardedTotal += view->tlvs_discarded;
  count.statsTLVsUnrecognizedTotal += view->tlvs_unrecognized;
  count.statsFramesInErrorsTotal += view->in_error;
  v.rxTTL = view->ttl;
  if (is_own()) {
    agent.own_frame_forgotten = view->ttl == 0 ? kNever : now + std::chrono::seconds(view->ttl);
    table_changed = true;
    v.badFrame = true;  // valid, but nothing to learn from
    return;
  }
  if (view->ttl == 0) return;
  if (port.table.find(agent.scope, msap_of(lldpdu)) == nullptr && !has_room()) {
    // 9.2.7.7.5: nobody who is known is thrown out for a newcomer.
    ++count.statsFramesDiscardedTotal;
    ++count.statsTooManyNeighborsTotal;
    const TimePoint until = now + std::chrono::seconds(view->ttl);
    table_changed = !agent.tooManyNeighbors();
    agent.tooManyNeighborsTimer =
        agent.tooManyNeighbors() ? std::max(agent.tooManyNeighborsTimer, until) : until;
    v.badFrame = true;
    return;
  }
  v.rxChanges = true;
}

void Agent::Impl::Receiver::mibDeleteObjects() {
  if (!lldpdu.empty()) {
    if (const Neighbor* n = port.table.find(agent.scope, msap_of(lldpdu))) remove(*n, "shut down");
  } else if (!agent.rx.portEnabled) {
    remove_if([](const Neighbor&) { return true; }, "link down");
  } else {
    const std::size_t before = port.table.size();
    remove_if([this](const Neighbor& n) { return n.rxInfoTTL <= now; }, "aged out");
    port.statistics.statsAgeoutsTotal += before - port.table.size();
  }
}

void Agent::Impl::Receiver::mibUpdateObjects() {
  table_changed = true;
  Neighbor* n = port.table.find(agent.scope, msap_of(lldpdu));
  const bool added = n == nullptr;
  if (added) {
    n = &port.table.insert(Neighbor(agent.scope, lldpdu, *view, impl.settings_));
    ++impl.neighbors_;
    agent.tx.newNeighbor = true;
  } else {
    const bool knew_us = n->port != PortType::kUnmarked;
    n->replace(lldpdu, *view, impl.settings_);
    // It has restarted, or lost us: it should not have to wait for our next periodic frame.
    if (knew_us && n->port == PortType::kUnmarked) agent.tx.localChange = true;
  }
  n->rxInfoTTL = now + std::chrono::seconds(view->ttl);
  tell(added ? Event::Kind::kNeighborAdded : Event::Kind::kNeighborChanged, *n);
}

void Agent::Impl::Receiver::tell(Event::Kind kind, const Neighbor& neighbor, std::string_view why) {
  std::string text = name_of(neighbor);
  text.append(" port ").append(to_string(neighbor.port_id()));
  if (!why.empty()) text.append(": ").append(why);
  out.events.push_back({.kind = kind, .port = port.link.ifindex, .text = std::move(text)});
}

void Agent::Impl::Receiver::remove(const Neighbor& neighbor, std::string_view why) {
  tell(Event::Kind::kNeighborRemoved, neighbor, why);
  port.table.erase(&neighbor);
  --impl.neighbors_;
  table_changed = true;
}

template <class Predicate>
void Agent::Impl::Receiver::remove_if(Predicate gone, std::string_view why) {
  for (std::size_t i = port.table.size(); i-- > 0;) {
    const Neighbor& n = port.table.all()[i];
    if (n.scope == agent.scope && gone(n)) remove(n, why);
  }
}

bool Agent::Impl::Receiver::is_own() const {
  return view->chassis_subtype == impl.chassis_id_.subtype &&
         as_text(view->chassis_octets) == impl.chassis_id_.octets;
}

bool Agent::Impl::Receiver::has_room() const {
  return port.table.size() < impl.settings_.max_neighbors_per_port &&
         impl.neighbors_ < impl.settings_.max_neighbors;
}

}  // namespace lldp::core
