// SPDX-License-Identifier: Apache-2.0
// The order by acknowledgement: docs/develop/rules.md A1 to A13.
#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <utility>

#include "agent/core/agent_impl.hpp"
#include "agent/core/event.hpp"
#include "tlv/writer.hpp"

namespace lldp::core {
namespace {

/// The next of a row of numbers that no one can tell from random ones (splitmix64).
std::uint64_t draw(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e37'79b9'7f4a'7c15U;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9U;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebU;
  return z ^ z >> 31;
}

const Position kBottom{};

/// While a fabric comes up, what follows each other so closely is told in one frame.
constexpr std::chrono::milliseconds kTogether{5};

}  // namespace

// Identity of this device

void Agent::Impl::take_order_identity() {
  random_ ^= std::hash<std::string>{}(chassis_id_.octets);
  if (agent_id_ == 0) agent_id_ = std::max<std::uint64_t>(draw(random_), 1);
  if (rank_id_.octets.empty()) rank_id_ = chassis_id_;
}

std::uint32_t Agent::Impl::boot_after(std::uint32_t boot) {
  if (boot < kLastBoot) return boot + 1;
  agent_id_ = std::max<std::uint64_t>(draw(random_), 1);
  return 1;
}

std::uint32_t Agent::Impl::new_session() {
  return std::max(static_cast<std::uint32_t>(draw(random_) >> 32), std::uint32_t{1});
}

core::Speaker Agent::Impl::speaker() const {
  return {.agent = agent_id_, .boot = boot_, .chassis = chassis_id_, .rank_id = rank_id_};
}

Position Agent::Impl::target() const {
  if (settings_->role == Role::kHost || role_ == Role::kHost) return {};
  const auto level = inference_.level();
  if (!level || rank_id_.octets.empty()) return rank_.acting();  // a withdrawn level moves nothing
  if (*level == Level::of<0>()) return {};
  return {.level = *level, .chassis = rank_id_};
}

void Agent::Impl::begin_boot(std::uint32_t boot, TimePoint now) {
  mark_all();
  boot_ = boot;
  rank_.restart();
  for (const auto& port : ports_) {
    if (!port) continue;
    port->orders.begin_session(new_session());
    port->orders.count_nobody();
    port->first_told = kNever;
    announce(*port, now);
  }
}

bool Agent::Impl::follow_role(TimePoint now, Actions& out) {
  if (role_ == settings_->role || linking_) return false;
  for (const auto& port : ports_) {
    if (!port) continue;
    OrderRequests& requests = port->orders.requests;
    if (role_ == Role::kSwitch ? requests.has(Order::kDown) : !requests.is_only(Order::kUp))
      return false;
  }
  if (role_ == Role::kSwitch && rank_.acting() != kBottom) return false;
  role_ = settings_->role;
  newcomer_ = role_ == Role::kSwitch;
  begin_boot(boot_after(boot_), now);
  note_state(true, out);
  return true;
}

void Agent::Impl::lose_state(std::uint32_t boot, TimePoint now, Actions& out) {
  lost_ = newcomer_ = true;
  rank_ = Rank();
  for (const auto& port : ports_)
    if (port) port->orders.believe_nothing();
  for (auto& [name, absent] : absent_) {
    for (KnownAgent& v : absent.agents) v.belief = {};
    if (absent.others) absent.others = Position{};
  }
  begin_boot(boot, now);
  note_state(true, out);
  unsettle_all();
}

// Frames

void Agent::Impl::hear_order(Port& port, PortAgent& agent, ByteSpan octets,
                             const ChassisId& chassis, Neighbor* neighbor, TimePoint now,
                             Actions& out) {
  if (octets.empty() || agent_id_ == 0) return;
  const auto tlv = tlv::decode_as<tlv::OrderTlv>(octets);
  if (!tlv) return;
  const auto alarming = [&port] { return port.orders.several_heard() || port.orders.loops(); };
  const bool alarmed = alarming();
  const PortOrder::Hearing heard = port.orders.hear(*tlv, chassis, speaker(), rank_, births_);
  port.relabel |= alarming() != alarmed;
  if (neighbor != nullptr) neighbor->asks = heard.asks;
  note_state(heard.changed, out);
  if (heard.changed) {
    unsettle(port);
    doubt_beliefs();
  }
  if (heard.nonsense) port.statistics.add(&Statistics::statsTLVsDiscardedTotal);
  if (heard.shown > boot_ || (heard.shown > saved_boot_ && heard.shown < first_boot_))
    return lose_state(boot_after(std::max(heard.shown, boot_)), now, out);
  agent.greets |= heard.first;
  if (heard.answer)
    agent.tx.localChange = true;
  else if (heard.late || (heard.asks && !heard.changed))
    repeat(port, agent, now);
  due_.set(port.slot, now);
}

void Agent::Impl::hear_other(Port& port, Actions& out) {
  note_state(port.orders.hear_other(), out);
  mark(port);
}

void Agent::Impl::watch_for_stock_host(Port& port, TimePoint now) {
  if (!port.link.up || port.memory.kind != PortMemory::Kind::kHost) {
    port.stock = false;
    port.stock_at = kNever;
  } else if (!port.stock && port.stock_at == kNever) {
    port.stock = settings_->newcomer_wait == Duration{};
    if (port.stock) return;
    port.stock_at = now + settings_->newcomer_wait;
    due_.set(port.slot, std::min(port.stock_at, port.deadline()));
  }
}

void Agent::Impl::repeat(Port& port, PortAgent& agent, TimePoint now) {
  agent.tell_at = std::min(agent.tell_at, next_fast_moment(now, *settings_, agent.phase));
  due_.set(port.slot, std::min(agent.tell_at, port.deadline()));
}

decltype(Self::order) Agent::Impl::order_octets(const Port& port) const {
  const Position& bound = rank_.bound();
  boost::container::small_vector<std::uint8_t, 32> id;
  if (bound != kBottom) {
    id.push_back(bound.chassis.subtype);
    const ByteSpan octets = as_octets(bound.chassis.octets);
    id.insert(id.end(), octets.data(), octets.data() + octets.size());
  }
  bool more = false;
  tlv::OrderTlv tlv{
      .agent = tlv::AgentIdField::of(agent_id_),
      .boot = boot_,
      .session = port.orders.session(),
      .sequence = rank_.sequence(),
      .level = bound == kBottom ? tlv::OrderTlv::kNoLevel : bound.level.value(),
      .rank_id = ByteSpan(id.data(), id.size()),
      .entries = port.orders.entries(bound, own(port), tlv::OrderTlv::room(id.size()), more)};
  tlv.count = static_cast<std::uint8_t>(tlv.entries.count);
  tlv.flags = static_cast<std::uint8_t>((role_ == Role::kHost ? tlv::OrderTlv::kHost : 0) |
                                        (more ? tlv::OrderTlv::kMore : 0));
  std::array<std::uint8_t, tlv::kMaxInformation> room;
  const ByteSpan octets = tlv::encode_info(tlv, room);
  return {octets.data(), octets.data() + octets.size()};
}

void Agent::Impl::note_told(Port& port, TimePoint now, Actions& out) {
  if (port.first_told == kNever) {
    port.first_told = now;
    if (newcomer_) settled_at_ = std::min(settled_at_, now + settings_->newcomer_wait);
  }
  if (!port.orders.tell(rank_)) return;
  mark(port);
  doubt_beliefs();
  note_state(true, out);
}

// The order of a port

bool Agent::Impl::is_excused(const Port& port) const {
  return port.excused || (port.host_port && !port.orders.any());
}

const Position* Agent::Impl::limit(const Port& port, const Position& target) {
  const Position* least = port.orders.limit(port.link.up);
  if (!goes_by_others(port)) return least;
  find_low_beliefs(target);
  const auto take = [&](const Position& belief) {
    if (least == nullptr || belief < *least) least = &belief;
  };
  for (const auto& [birth, belief] : low_)
    if (birth <= port.orders.born_before()) take(belief);
  if (lost_) take(kBottom);
  return least;
}

void Agent::Impl::find_low_beliefs(const Position& target) {
  if (std::exchange(low_known_, true)) return;
  const auto before = std::exchange(low_, {});
  low_.reserve(before.size());
  const Position& highest = std::max(target, rank_.acting());
  const auto look = [&](std::span<const KnownAgent> agents, const std::optional<Position>& others) {
    for (const KnownAgent& v : agents)
      if (!v.host && v.belief < highest) low_.emplace_back(v.birth, v.belief);
    if (others && *others < highest) low_.emplace_back(0, *others);
  };
  for (const auto& port : ports_)
    if (port) look(port->orders.agents(), port->orders.others());
  for (const auto& [name, absent] : absent_) look(absent.agents, absent.others);
  if (low_ == before) return;
  for (const auto& port : ports_)
    if (port && port->by_others) mark(*port);
}

Order Agent::Impl::wanted_order(const Port& port, const Position& target) {
  if (role_ == Role::kHost)  // on its way to be a switch it is up first
    return settings_->role == Role::kHost ? Order::kUnknown : Order::kUp;
  if (newcomer_ && !lost_) return port.order;  // what it has: none at a first start
  const Position& rank = std::min(rank_.acting(), target);
  const Position* limit = this->limit(port, target);
  const Position& highest = port.link.up ? rank_.acting() : std::max(rank_.acting(), target);
  if (limit != nullptr && *limit < highest) return Order::kShut;
  // Until nothing is down any more the rank may be what it was: what is shut opens last (A9).
  if (lost_ && port.order == Order::kShut && is_any_down()) return Order::kShut;
  const Order order = order_of(port, rank, speaker(), settings_->layered);
  return lost_ && order == Order::kUnknown ? Order::kUp : order;
}

bool Agent::Impl::request_order(Port& port, const Position& target, Actions& out) {
  const Order order = wanted_order(port, target);
  OrderRequests& requests = port.orders.requests;
  // Where nothing was asked for, nothing has to be asked for to have no rules.
  if (order == Order::kUnknown && requests.generation() == 0 && requests.is_only(Order::kUnknown))
    return false;
  // Restoring is as `down` is: out of force before the port is anything else.
  const bool restores = settings_->restores && order == Order::kDown && ends_at_host(port);
  if (!requests.request(order, restores)) return false;
  port.order = order;
  port.restores = restores;
  note_state(true, out);
  mark(port);
  return unsettled_ = true;
}

void Agent::Impl::follow_labels(Port& port, const Position& target, Actions& out) {
  const PortLabel before{port.type, port.order, port.restores};
  // What an operator says of host-ports goes before what a neighbor says of itself; the order,
  // which errs towards up, goes by the agents that were heard all the same (docs/develop/rules.md
  // A3).
  port.type =
      settings_->role != Role::kSwitch
          ? PortType::kUnmarked
          : type_of_port(inference_.level(),
                         port.host_port && port.link.up ? Level::of<0>() : port.heard.lowest);
  const bool requested = request_order(port, target, out);
  count_down(port, true);
  if (requested || port.type != before.type)
    out.events.push_back(
        {.kind = Event::Kind::kPort,
         .port = port.link.ifindex,
         .text = port_change_text(before, {port.type, port.order, port.restores})});
}

void Agent::Impl::in_force(Ifindex ifindex, std::uint32_t generation, TimePoint now, Actions& out) {
  Port* port = find(ifindex);
  if (finished_ || port == nullptr) return;
  if (!port->orders.requests.confirm(generation)) return;
  count_down(*port, true);
  note_state(true, out);
  unsettle(*port);
  settle(now, out);
}

// The rank

bool Agent::Impl::is_ready(TimePoint now) {
  settled_at_ = kNever;
  for (const auto& port : ports_) {
    if (!port || !port->link.up || port->orders.any_heard() || is_excused(*port)) continue;
    if (lost_) continue;  // it waits for its limit
    if (port->first_told == kNever) {
      if (may_send(port->link.adminStatus)) return false;
      continue;
    }
    const TimePoint until = port->first_told + settings_->newcomer_wait;
    if (until > now) {
      settled_at_ = std::min(settled_at_, until);
      return false;
    }
  }
  return true;
}

void Agent::Impl::watch_for_rise(Port& port, const Position& target, bool rises, TimePoint now) {
  bool holds = false;
  const OrderRequests& requests = port.orders.requests;
  if (rises && !requests.is_only(Order::kShut)) {
    const Position* limit = this->limit(port, target);
    holds = limit != nullptr && *limit < target;
  }
  hold(port, holds && port.link.up, now);
  // Before the first rank what was found, and `up`, is in force.
  count(port.blocks, holds || (rises && rank_.acting() == kBottom && !requests.settled()),
        blocking_);
}

void Agent::Impl::count_down(Port& port, bool there) {
  const bool down = there && port.orders.requests.has(Order::kDown);
  count(port.is_down, down, down_);
  count(port.falls, down && port.order != Order::kDown, falling_);
}

void Agent::Impl::hold(Port& port, bool holds, TimePoint now) {
  holds |= port.link.up && port.order == Order::kShut;
  if (holds == (port.holds_since != kNever)) return;
  port.holds_since = holds ? now : kNever;
  port.relabel = true;
  due_.set(port.slot, std::min(port.deadline(), now));
}

void Agent::Impl::settle_anew(TimePoint now, Actions& out) {
  if (!all_stale_ && by_others_ != 0)
    find_low_beliefs(ground_.target);  // before they are gone over
  for (bool moved = true; moved;) {
    moved = follow_role(now, out);
    Position wanted = this->target();
    const Position& bound = std::max(rank_.acting(), wanted);
    const bool higher = rank_.bound() < bound;
    if (rank_.set_bound(bound)) {
      note_state(true, out);
      announce_bound(higher, now);
    }
    if (newcomer_ && role_ == Role::kSwitch && !linking_ && is_ready(now)) {
      newcomer_ = false;
      moved = true;
    }
    Ground ground{std::move(wanted), rank_.acting(), inference_.level(), role_,
                  newcomer_,         linking_};
    // Where the state is lost, what one port may do goes by the rules of the others (A9).
    if (lost_ || ground != ground_) mark_all();
    ground_ = std::move(ground);
    const Position& target = ground_.target;
    const Position& acting = ground_.acting;
    for_each_stale([&](Port& port) { follow_labels(port, target, out); });
    const bool rises = acting < target && !newcomer_ && !linking_;
    if (rises || target == acting)
      for_each_stale([&](Port& port) { watch_for_rise(port, target, rises, now); });
    if (target < acting ? may_fall() : rises && blocking_ == 0) {
      rank_.set_acting(target);
      lost_ &= target < acting;
      moved = true;
      note_state(true, out);
      out.events.push_back(
          {.kind = Event::Kind::kPlace, .text = level_change_text(acting.level, target.level)});
    }
  }
  for_each_stale([&](Port& port) {
    count(port.by_others, (!newcomer_ || lost_) && goes_by_others(port), by_others_);
    acknowledge(port, now);
  });
  stale_.clear();
  all_stale_ = unsettled_ = false;
}

void Agent::Impl::acknowledge(Port& port, TimePoint now) {
  const bool lists_all = port.orders.lists_all(own(port));
  const bool listed_all = std::exchange(port.listed_all, lists_all);
  const bool lists_more = lists_all && !listed_all;
  if (!port.orders.acknowledge(own(port)) && !lists_more) return;
  due_.set(port.slot, now);
  for (PortAgent& a : port.agents) a.tell_at = std::min(a.tell_at, now + kTogether);
}

void Agent::Impl::announce_bound(bool rose, TimePoint now) {
  for (const auto& port : ports_) {
    if (!port || !port->link.up) continue;
    for (PortAgent& a : port->agents) {
      if (rose)
        a.tx.localChange = true;
      else
        a.tell_at = std::min(a.tell_at, next_fast_moment(now, *settings_, a.phase));
    }
    due_.set(port->slot, now);
  }
}

}  // namespace lldp::core
