// SPDX-License-Identifier: Apache-2.0
#include "agent/core/receiver.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace lldp::core {

void Agent::Impl::Receiver::rxInitializeLLDP() {
  remove_if([](const Neighbor&) { return true; }, "reception disabled");
  std::erase_if(port.held, [this](const HeldFrame& h) { return h.scope == agent.scope; });
  agent.tooManyNeighborsTimer = agent.own_frame_forgotten = kNever;
}

void Agent::Impl::Receiver::rxProcessFrame(RxVars& v) {
  if (!counted) port.statistics.count_received();
  known = port.table.find(agent.scope, msap_of(lldpdu));
  if (known != nullptr && !begins_with(source.data(), known->last_source)) note_source();
  if (known != nullptr && known->same(lldpdu)) {
    v.rxTTL = known->rxTTL;
    if (known->device == DeviceType::kHost && known->last_heard() < impl.tell_all_.since) {
      // A host that was down when that was told says what it said before, as one that was not.
      agent.tell_at = std::min(agent.tell_at, next_fast_moment(now, *impl.settings_, agent.phase));
      impl.due_.set(port.slot, now);
    }
    if (known->asks) impl.repeat(port, agent, now);
    known->rxInfoTTL = now + std::chrono::seconds(known->rxTTL);
    count_tlvs(*known);
    // Nothing new, and yet a change where another was this sender until now.
    if (supersedes() && !may_change()) return hold();
    if (!port.held.empty()) forget_held();
    if (proves_layers()) table_changed = spoken = true;
    supersede();
    return;
  }
  const auto decoded = tlv::decode(lldpdu, {.contribution_ouis = impl.settings_->accepted_ouis});
  if (!decoded) {
    count(&Statistics::statsFramesDiscardedTotal);
    count(&Statistics::statsFramesInErrorsTotal);
    v.badFrame = true;
    return;
  }
  view = *decoded;
  count_tlvs(*view);
  v.rxTTL = view->ttl;
  if (is_own()) {
    v.badFrame = true;  // valid, but nothing to learn from
    // By its own chassis ID, which it may have again in the next moment, it goes as it did before.
    impl.hear_order(port, agent, view->order, {}, nullptr, now, out);
    const TimePoint until = view->ttl == 0 ? kNever : now + std::chrono::seconds(view->ttl);
    const bool news = until < agent.own_frame_forgotten || (view->ttl == 0 && agent.hears_itself());
    if (news && !may_change()) return hold();
    if (!port.held.empty()) forget_held();
    table_changed = news;
    agent.own_frame_forgotten = until;
    return;
  }
  // A new neighbor needs no permission: each must have room in the table.
  if (known != nullptr && !may_change()) {
    v.badFrame = true;
    return hold();
  }
  if (!port.held.empty()) forget_held();
  if (view->ttl == 0) return;
  if (known == nullptr && !has_room()) {
    // 9.2.7.7.5: a newcomer never displaces a known neighbor.
    count(&Statistics::statsFramesDiscardedTotal);
    count(&Statistics::statsTooManyNeighborsTotal);
    const TimePoint until = now + std::chrono::seconds(view->ttl);
    table_changed = !agent.tooManyNeighbors();
    agent.tooManyNeighborsTimer =
        agent.tooManyNeighbors() ? std::max(agent.tooManyNeighborsTimer, until) : until;
    v.badFrame = true;
    // It may be the switch above: the order has room of its own for it.
    if (!view->order.empty())
      impl.hear_order(port, agent, view->order,
                      {{view->chassis_subtype, std::string(as_text(view->chassis_octets))}},
                      nullptr, now, out);
    return;
  }
  v.rxChanges = true;
}

void Agent::Impl::Receiver::mibDeleteObjects() {
  if (!lldpdu.empty()) {
    if (known != nullptr) remove(*known, "shut down");
  } else if (!agent.rx.portEnabled) {
    remove_if([](const Neighbor&) { return true; }, "link down");
    port.held.clear();
  } else {
    const std::size_t before = port.table.size();
    remove_if([this](const Neighbor& n) { return n.rxInfoTTL <= now; }, "aged out");
    port.statistics.add(&Statistics::statsAgeoutsTotal, before - port.table.size());
  }
  impl.note_memory(forget_former_port(port), now, out);
}

void Agent::Impl::Receiver::mibUpdateObjects() {
  Event event{.kind = Event::Kind::kNeighborChanged, .port = port.link.ifindex};
  if (known == nullptr) {
    known = &port.table.insert(Neighbor(agent.scope, lldpdu, *view, *impl.settings_));
    ++impl.neighbors_;
    known->last_source = source;
    recall_claim();
    agent.tx.newNeighbor = table_changed = spoken = true;
    event.kind = Event::Kind::kNeighborAdded;
    event.text = describe(*known);
    event.neighbor = to_string(known->chassis_id());
  } else {
    const Told before = *known;
    const auto last_level = known->last_level;
    known->asks = false;
    if (known->tr || known->contribution) known->claim_until = known->rxInfoTTL;
    event.before.assign(known->lldpdu().begin(), known->lldpdu().end());
    const bool relocated = known->told_location() != as_text(view->location);
    known->replace(lldpdu, *view, *impl.settings_);
    known->uphold(last_level, now);
    doubt(port, *known);
    event.was = before;
    event.is = *known;
    // It has restarted, or lost us: it should not have to wait for our next periodic frame. More
    // than one, as to a newcomer: if it starts once more before it is answered, it sends the same
    // octets again, which tell nothing.
    const bool unmarked_by_levels =
        known->level && type_of_port(known->level, impl.level()) == PortType::kUnmarked;
    if (before.port != PortType::kUnmarked && known->port == PortType::kUnmarked &&
        !unmarked_by_levels) {
      agent.tx.newNeighbor = true;
    }
    // The plan goes by names, too.
    const bool proves = proves_layers();
    Told then = before;
    then.rxTTL = known->rxTTL;  // for how long it says it is nothing that it says
    spoken = proves || relocated || then != static_cast<const Told&>(*known);
    table_changed = spoken || impl.settings_->expected;
    note_support(before.level);
    event.lldpdu.assign(lldpdu.begin(), lldpdu.end());
  }
  const TimePoint expires = now + std::chrono::seconds(view->ttl);
  if (expires < known->rxInfoTTL)
    impl.due_.set(port.slot, now);  // though that alone is nothing new
  known->rxInfoTTL = expires;
  known->source = source;
  known->changed_at = now;
  supersede();
  out.events.push_back(std::move(event));
  if (view->order.empty()) impl.hear_other(port, out);
  impl.hear_order(port, agent, view->order, known->chassis_id(), known, now, out);
}

void Agent::Impl::Receiver::note_source() {
  constexpr std::uint8_t kTurns = 2;  // to another and back
  if (source == MacAddress{}) return;
  const bool first = std::exchange(known->last_source, source) == MacAddress{};
  if (first) return;
  if (known->source_changes == 0 || now - known->first_source_change > impl.ttl()) {
    known->source_changes = 0;
    known->first_source_change = now;
  }
  if (++known->source_changes < kTurns) return;
  known->source_changes = 0;
  table_changed |= port.shared_until == kNever;
  port.shared_until = now + std::chrono::seconds(std::max<unsigned>(known->rxTTL, 1));
  impl.due_.set(port.slot, now);
}

bool Agent::Impl::Receiver::proves_layers() {
  return !known->claim_stands && std::exchange(known->layers_unproved, false);
}

void Agent::Impl::Receiver::recall_claim() {
  const PortMemory& memory = port.memory;
  if (known->tr || known->contribution || memory.kind != PortMemory::Kind::kSwitch ||
      !port.is_young(now) || memory.at.chassis != known->chassis_id())
    return;
  // What was heard before the layers were set as they are proves nothing (docs/develop/rules.md
  // O6).
  const bool proved = memory.own_layers == port.link.layers;
  known->claimed = {.device = DeviceType::kSwitch,
                    .level = memory.at.level,
                    .claims_switch = true,
                    .forwards = true,
                    .layers = proved ? memory.layers : std::nullopt};
  known->claim_until = port.silent_at;
  known->uphold(memory.at.level, now);
}

void Agent::Impl::Receiver::remove(const Neighbor& neighbor, std::string_view why) {
  out.events.push_back({.kind = Event::Kind::kNeighborRemoved,
                        .port = port.link.ifindex,
                        .text = describe(neighbor).append(": ").append(why),
                        .neighbor = to_string(neighbor.chassis_id())});
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

bool Agent::Impl::Receiver::is_another_self(const Neighbor& n) const {
  return n.scope == agent.scope && n.source == source && n.speaks_for_itself() &&
         known->speaks_for_itself();
}

bool Agent::Impl::Receiver::supersedes() const {
  if (known->superseded) return true;  // it is not any more
  if (source == MacAddress{}) return false;
  const auto& all = port.table.all();
  return std::any_of(all.begin(), all.end(), [this](const Neighbor& n) {
    return &n != known && is_another_self(n) && !n.superseded;
  });
}

void Agent::Impl::Receiver::supersede() {
  if (std::exchange(known->superseded, false)) {
    table_changed = spoken = true;
  }
  if (source == MacAddress{}) return;
  for (Neighbor& n : port.table.all()) {
    if (&n == known || !is_another_self(n) || std::exchange(n.superseded, true)) continue;
    table_changed = spoken = true;
    note_support(n.level);
  }
}

void Agent::Impl::Receiver::note_support(std::optional<Level> before) {
  const auto support = impl.inference_.supporting();
  renounced |= support && before == support && (!known->level || *known->level > *support);
}

bool Agent::Impl::Receiver::may_change() {
  // Waiting neighbors go before new ones.
  return (counted || port.held.empty()) && port.changes.admit(now);
}

bool Agent::Impl::Receiver::is_of_sender(const HeldFrame& frame) const {
  if (frame.scope != agent.scope) return false;
  return (source != MacAddress{} && frame.source == source) ||
         as_text(msap_of(frame.lldpdu)) == as_text(msap_of(lldpdu));
}

void Agent::Impl::Receiver::hold() {
  const auto at = std::find_if(port.held.begin(), port.held.end(),
                               [this](const HeldFrame& h) { return is_of_sender(h); });
  if (at != port.held.end()) {
    port.statistics.add(&Statistics::statsFramesDiscardedTotal);  // the one that this replaces
    at->source = source;
    at->lldpdu.assign(lldpdu.begin(), lldpdu.end());
  } else if (port.held.size() < impl.settings_->max_neighbors_per_port) {
    port.held.push_back({agent.scope, source, Bytes(lldpdu.begin(), lldpdu.end())});
    held_first = true;
  } else {
    port.statistics.add(&Statistics::statsFramesDiscardedTotal);
  }
}

void Agent::Impl::Receiver::forget_held() {
  const std::size_t gone =
      std::erase_if(port.held, [this](const HeldFrame& h) { return is_of_sender(h); });
  port.statistics.add(&Statistics::statsFramesDiscardedTotal, gone);
}

bool Agent::Impl::Receiver::is_own() const {
  return view->chassis_subtype == impl.chassis_id_.subtype &&
         as_text(view->chassis_octets) == impl.chassis_id_.octets;
}

bool Agent::Impl::Receiver::has_room() const {
  return port.table.size() < impl.settings_->max_neighbors_per_port &&
         impl.neighbors_ < impl.settings_->max_neighbors;
}

}  // namespace lldp::core
