// SPDX-License-Identifier: Apache-2.0
#include "agent/core/port_order.hpp"

#include <algorithm>
#include <utility>

namespace lldp::core {
namespace {

Position bound_of(const tlv::OrderTlv& tlv) {
  if (tlv.level == tlv::OrderTlv::kNoLevel) return {};
  Position bound{.level = *Level::make(tlv.level)};
  bound.chassis.subtype = tlv.rank_id[0];
  bound.chassis.octets = as_text(tlv.rank_id.subspan(1));
  return bound;
}

}  // namespace

bool OrderRequests::request(Order order, bool restores) {
  if (asked_ && order == wanted_ && restores == wants_restoring_) return false;
  asked_ = true;
  wanted_ = order;
  wants_restoring_ = restores;
  newest_[index(order)] = ++generation_;
  if (restores) newest_restoring_ = generation_;
  return true;
}

bool OrderRequests::confirm(std::uint32_t generation) {
  if (!asked_ || generation > generation_ || generation <= confirmed_) return false;
  for (std::size_t o = 0; o < newest_.size(); ++o)
    // One that was requested again since is under way still.
    if (newest_[o] == generation) in_force_ = static_cast<Order>(o);
  restores_ = newest_restoring_ == generation;
  confirmed_ = generation;
  return true;
}

KnownAgent* PortOrder::find(AgentId agent) {
  const auto at = std::ranges::find(agents_, agent, &KnownAgent::agent);
  return at == agents_.end() ? nullptr : &*at;
}

KnownAgent& PortOrder::add(AgentId agent, const ChassisId& chassis, const Position& belief,
                           std::uint64_t& births) {
  // Another agent ID of one chassis ID is the same device, installed anew; unless both are heard.
  crowded_ |= std::ranges::find(agents_, agent, &KnownAgent::former) != agents_.end();
  const auto same = std::ranges::find(agents_, chassis, &KnownAgent::chassis);
  if (!chassis.octets.empty() && same != agents_.end() && !crowded_) {
    *same = {.agent = agent,
             .chassis = chassis,
             .belief = std::min(same->belief, belief),
             .birth = same->birth,
             .heard = same->heard,
             .former = same->agent};
    return *same;
  }
  if (agents_.size() >= kMostAgents) {
    auto least = std::ranges::find(agents_, false, &KnownAgent::heard);
    if (least == agents_.end()) least = agents_.begin();
    others_ = std::optional(*others_ ? std::min(**others_, least->belief) : least->belief);
    crowded_ |= least->heard;
    agents_.erase(least);
  }
  agents_.push_back({.agent = agent, .belief = belief, .birth = ++births});
  return agents_.back();
}

PortOrder::Hearing PortOrder::hear(const tlv::OrderTlv& tlv, const ChassisId& chassis,
                                   const Speaker& self, const Rank& rank, std::uint64_t& births) {
  Hearing out;
  const AgentId agent = tlv.agent.value();
  if (agent == self.agent) {  // a loop, or a device whose state was copied
    out.changed = !std::exchange(loops_, true);
    return out;
  }
  const bool known = find(agent) != nullptr;
  // Above the bottom it may be `down` for another agent, in our place or beside us.
  const Position bottom{};
  KnownAgent& v =
      known ? *find(agent)
            : add(agent, chassis, bound_of(tlv) == bottom ? rank.acting() : bottom, births);
  const KnownAgent before = v;
  const tlv::OrderEntry* us = nullptr;
  for (const tlv::OrderEntry& entry : tlv.entries.view())
    if (entry.agent.value() == self.agent) us = &entry;
  if (us != nullptr && us->boot != self.boot) out.shown = us->boot;
  const bool counts = us != nullptr && us->boot == self.boot && us->session == session_ &&
                      tlv.boot >= v.boot && (tlv.boot > v.boot || tlv.sequence >= v.sequence);
  out.late = tlv.boot < v.boot ||
             (!counts && us != nullptr && us->boot == self.boot && us->session == session_);
  v.heard = true;
  // It gets an entry, which shows it the newer boot: its state is older than what it told here, or
  // another device has its state.
  v.speaks |= tlv.boot < v.boot;
  if (!out.late) {
    out.answer = !v.speaks || v.boot != tlv.boot || v.session != tlv.session;
    v.speaks = true;
    if (!chassis.octets.empty()) v.chassis = chassis;
    v.more = (tlv.flags & tlv::OrderTlv::kMore) != 0;
    if ((tlv.flags & tlv::OrderTlv::kHost) == 0) v.host = false;
    if (v.boot != tlv.boot) {  // a newer one forgets what an older one told
      v.boot = tlv.boot;
      v.sequence = 0;
      v.bound = {};
      v.counted = false;
    }
    if (out.answer) v.acknowledged = 0;
    v.session = tlv.session;
  }
  if (counts) {
    v.counted = true;
    v.sequence = tlv.sequence;
    v.bound = bound_of(tlv);
    v.host = (tlv.flags & tlv::OrderTlv::kHost) != 0;
    out.asks = v.asks = us->waits();
    out.nonsense = us->acknowledged > told_;
    if (us->acknowledged != 0 && !out.nonsense)
      v.belief = std::max(v.belief, rank.lowest_since(us->acknowledged));
  }
  out.asks |= out.late || (us != nullptr && !counts) || (us == nullptr && v.acknowledged == 0);
  out.first = !known;
  out.changed = !known || v != before;
  // An agent that the one neighbor does not hear any more, and that never spoke here, is not there:
  // as this device itself, under the agent ID that it had before its state was lost.
  const bool alone = std::ranges::none_of(agents_, [&](const KnownAgent& other) {
    return other.agent != agent && other.heard && other.speaks;
  });
  if (counts && alone && !find(agent)->more)
    for (KnownAgent& other : agents_)
      if (!other.speaks) out.changed |= std::exchange(other.heard, false);
  // An agent that the neighbor hears beside us is heard here, too; its own frame is yet to come.
  for (const tlv::OrderEntry& entry : tlv.entries.view()) {
    const AgentId listed = entry.agent.value();
    if (listed == self.agent || listed == agent || listed == 0) continue;
    KnownAgent* other = find(listed);
    out.changed |= other == nullptr || !other->heard;
    if (other == nullptr) other = &add(listed, {}, Position{}, births);
    other->heard = true;
  }
  return out;
}

bool PortOrder::tell(const Rank& rank) {
  told_ = rank.sequence();
  bool fell = false;
  for (KnownAgent& v : agents_)
    if (rank.bound() < v.belief) v.belief = rank.bound(), fell = true;
  if (*others_ && rank.bound() < **others_) others_ = std::optional(rank.bound()), fell = true;
  return fell;
}

void PortOrder::begin_session(std::uint32_t session) {
  session_ = session;
  told_ = 0;
  nags_ = false;
}

void PortOrder::count_nobody() {
  for (KnownAgent& v : agents_) {
    v.counted = v.asks = false;
    v.acknowledged = 0;
    v.more = false;
    v.former = 0;
  }
}

bool PortOrder::lose_carrier(std::uint32_t session) {
  begin_session(session);
  bool changed = std::exchange(loops_, false) || std::exchange(crowded_, false);
  count_nobody();
  for (KnownAgent& v : agents_) {
    changed |= v.heard;
    v.heard = v.speaks = false;
  }
  return changed;
}

bool PortOrder::forget() {
  const bool changed = any() || loops_ || crowded_ || ever_heard_;
  agents_.clear();
  others_ = {};
  loops_ = crowded_ = ever_heard_ = false;
  return changed;
}

void PortOrder::believe_nothing() {
  for (KnownAgent& v : agents_) v.belief = {};
  if (*others_) others_ = std::optional(Position{});
}

const KnownAgent* PortOrder::only_one() const {
  const KnownAgent* one = nullptr;
  for (const KnownAgent& v : agents_) {
    if (!v.heard) continue;
    if (one != nullptr) return nullptr;
    one = &v;
  }
  return one;
}

std::optional<Order> PortOrder::order(const Position& rank, const Speaker& self) const {
  if (!any() && !loops_) return std::nullopt;
  const KnownAgent* one = loops_ || crowded_ ? nullptr : only_one();
  if (one == nullptr || one->more || !one->counted || !(one->bound < rank)) return Order::kUp;
  const bool cloned = one->chassis == self.chassis || one->bound.chassis == self.rank_id;
  return cloned ? Order::kUp : Order::kDown;
}

bool PortOrder::acknowledge(const Own& own) {
  bool news = false;
  for (KnownAgent& v : agents_) {
    if (!v.counted || !may_list(v, own) || v.acknowledged == v.sequence) continue;
    v.acknowledged = v.sequence;
    news |= v.asks;
  }
  return news;
}

tlv::List<tlv::OrderEntry, tlv::OrderTlv::kMostEntries> PortOrder::entries(const Position& bound,
                                                                           const Own& own,
                                                                           std::size_t room,
                                                                           bool& more) const {
  tlv::List<tlv::OrderEntry, tlv::OrderTlv::kMostEntries> out;
  more = crowded_;
  for (const KnownAgent& v : agents_) {
    more |= v.heard && v.speaks && !may_list(v, own);
    if (!may_list(v, own)) continue;
    if (out.count >= room) {
      more = true;
      break;
    }
    const bool waits = (!v.host && v.belief < bound) || (nags_ && !v.counted);
    out.items[out.count++] = {.agent = tlv::AgentIdField::of(v.agent),
                              .boot = v.boot,
                              .session = v.session,
                              .acknowledged = v.acknowledged,
                              .flags = waits ? tlv::OrderEntry::kWaits : std::uint8_t{}};
  }
  return out;
}

bool PortOrder::waits(const Position& bound) const {
  return std::ranges::any_of(agents_, [&](const KnownAgent& v) {
    return v.heard && v.speaks && (!v.counted || (!v.host && v.belief < bound));
  });
}

bool PortOrder::lists_all(const Own& own) const {
  return std::ranges::all_of(
      agents_, [&](const KnownAgent& v) { return !v.heard || !v.speaks || may_list(v, own); });
}

bool PortOrder::several_heard() const {
  return crowded_ || std::ranges::count(agents_, true, &KnownAgent::heard) > 1;
}

bool PortOrder::any_heard() const {
  return std::ranges::any_of(agents_, [](const KnownAgent& v) { return v.heard; });
}

bool PortOrder::any_counted() const {
  return std::ranges::any_of(agents_, [](const KnownAgent& v) { return v.counted; });
}

bool PortOrder::knows_switch(const ChassisId& chassis) const {
  return std::ranges::any_of(
      agents_, [&](const KnownAgent& v) { return !v.host && (v.heard || v.chassis == chassis); });
}

const Position* PortOrder::limit(bool lit) const {
  const Position* least = !lit && *others_ ? &**others_ : nullptr;
  for (const KnownAgent& v : agents_)
    if (!v.host && (v.heard || !lit) && (least == nullptr || v.belief < *least)) least = &v.belief;
  return least;
}

void PortOrder::restore(std::vector<KnownAgent> agents, std::optional<Position> others,
                        bool ever_heard, std::uint64_t born_before) {
  agents_ = std::move(agents);
  others_ = std::move(others);
  ever_heard_ = ever_heard;
  born_before_ = born_before;
}

}  // namespace lldp::core
