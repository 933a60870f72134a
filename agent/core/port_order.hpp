// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "agent/core/rank.hpp"
#include "base/fabric.hpp"
#include "base/rare.hpp"
#include "tlv/order.hpp"

namespace lldp::core {

/// What a port knows of one agent that was ever heard there, and keeps over restarts and carrier
/// loss. docs/develop/rules.md, "Terms".
struct KnownAgent {
  AgentId agent = 0;
  ChassisId chassis{};
  Position belief{};        ///< A(v): the lowest rank that it may still believe us to have
  std::uint64_t birth = 0;  ///< when it was first heard, among all agents of this device
  std::uint32_t boot = 0;
  std::uint32_t session = 0;
  std::uint32_t sequence = 0;  ///< the highest counted of that boot
  Position bound{};            ///< with that sequence number
  bool host = false;
  // The rest is of the present carrier.
  bool heard = false;
  bool speaks = false;             ///< its own frame arrived: else another one lists it
  bool counted = false;            ///< a frame of it named us as we are now
  std::uint32_t acknowledged = 0;  ///< of its sequence numbers, by us
  bool asks = false;               ///< and it waits for that
  bool more = false;               ///< and hears more agents than it lists
  AgentId former = 0;              ///< under which the same chassis ID was heard before
  friend bool operator==(const KnownAgent&, const KnownAgent&) = default;
};

/// The orders that the data plane was asked for, by number, and what of them may be in force.
class OrderRequests {
 public:
  OrderRequests() = default;
  /// Rules were found in the data plane, and their order is not known.
  static OrderRequests found() { return {Order::kUnknown, 0xff}; }
  /// What an earlier process left behind: `others` may be in force or under way, too.
  OrderRequests(Order in_force, std::uint8_t others) : in_force_(in_force) {
    for (std::size_t o = 0; o < newest_.size(); ++o) newest_[o] = others >> o & 1U;
    generation_ = 1;
    wanted_ = in_force;
    asked_ = false;
    // Whether these restored is not known.
    restores_ = in_force == Order::kDown;
    newest_restoring_ = newest_[index(Order::kDown)];
  }

  [[nodiscard]] Order wanted() const { return wanted_; }
  [[nodiscard]] std::uint32_t generation() const { return asked_ ? generation_ : 0; }
  /// In force or requested.
  [[nodiscard]] bool has(Order order) const {
    return in_force_ == order || newest_[index(order)] > confirmed_;
  }
  /// Rules that restore spare classes are in force or requested.
  [[nodiscard]] bool may_restore() const { return restores_ || newest_restoring_ > confirmed_; }
  /// In force, and no other is requested.
  [[nodiscard]] bool is_only(Order order) const { return in_force_ == order && mask() == 0; }
  [[nodiscard]] bool settled() const { return is_only(wanted_); }
  [[nodiscard]] Order in_force() const { return in_force_; }
  /// Bit n: the Order of that number may be under way.
  [[nodiscard]] std::uint8_t mask() const {
    std::uint8_t bits = 0;
    for (std::size_t o = 0; o < newest_.size(); ++o)
      if (newest_[o] > confirmed_) bits = static_cast<std::uint8_t>(bits | 1U << o);
    return bits;
  }

  /// True if it is a new request. `restores`: spare classes end at the port, which is down to a
  /// host.
  bool request(Order order, bool restores = false);
  /// True if that is new.
  bool confirm(std::uint32_t generation);
  /// A port on which nothing of ours can be.
  void clear() { *this = {}; }

 private:
  static constexpr std::size_t index(Order order) { return static_cast<std::size_t>(order); }
  Order wanted_ = Order::kUnknown;
  Order in_force_ = Order::kUnknown;
  bool asked_ = false;  ///< in this life of the agent
  std::uint32_t generation_ = 0;
  std::uint32_t confirmed_ = 0;
  std::array<std::uint32_t, 4> newest_{};  ///< by order, when it was requested last
  bool wants_restoring_ = false;
  bool restores_ = false;               ///< the rules in force do
  std::uint32_t newest_restoring_ = 0;  ///< when that was requested last
};

/// Identity of this device in frames, at present: a view, made for each look at a port.
struct Speaker {
  AgentId agent = 0;
  std::uint32_t boot = 0;
  const ChassisId& chassis;
  const ChassisId& rank_id;
};

/// The agents that were ever heard on a port, what each may believe and has acknowledged, and the
/// orders that were asked for there: docs/develop/rules.md A1 to A5, A8, A12. Pure: events in, what
/// follows is asked for.
class PortOrder {
 public:
  /// More agents than pass by one port in its life; of those beyond, the lowest belief stays.
  static constexpr std::size_t kMostAgents = 64;

  /// What acknowledging goes by of the device.
  struct Own {
    const Position& rank;  ///< R
    bool host = false;     ///< it holds no rules, or none that go by the rank
    bool lost = false;     ///< its state is, and a `down` of before may be in force somewhere
  };
  /// What a frame amounts to.
  struct Hearing {
    bool changed = false;     ///< something that is saved
    bool first = false;       ///< the sender was never heard here
    bool answer = false;      ///< the sender is to hear from us
    bool late = false;        ///< it is older than one that counted, and says nothing
    bool nonsense = false;    ///< it acknowledges what was never told
    bool asks = false;        ///< it waits for an acknowledgement, or has not heard us
    std::uint32_t shown = 0;  ///< a boot of ours that is not this one; 0: none
  };
  Hearing hear(const tlv::OrderTlv& tlv, const ChassisId& chassis, const Speaker& self,
               const Rank& rank, std::uint64_t& births);
  /// A frame with the present bound goes out. True if a belief fell.
  bool tell(const Rank& rank);
  /// A new start or a lost carrier: nothing was heard, and nothing was told, in this session.
  void begin_session(std::uint32_t session);
  /// The same, and what was heard is remembered. True if that is new.
  bool lose_carrier(std::uint32_t session);
  /// The carrier came, after so many agents were heard anywhere.
  void gain_carrier(std::uint64_t births) { born_before_ = births; }
  /// Nothing was ever heard here. True if that is new.
  bool forget();
  /// A neighbor that counted before does not count now: docs/develop/rules.md A12.
  void count_nobody();
  /// Nothing is known any more of what they may believe: docs/develop/rules.md A9.
  void believe_nothing();

  /// The order by the agents that were heard; nothing where none was ever.
  [[nodiscard]] std::optional<Order> order(const Position& rank, const Speaker& self) const;
  /// The frame names every agent that has to know that it is heard.
  [[nodiscard]] bool lists_all(const Own& own) const;
  /// Acknowledges what may be. True if a neighbor that waits for that is to be told.
  bool acknowledge(const Own& own);
  /// The entries of a frame, one for each agent heard; the number of neighbors without room in
  /// `more`.
  [[nodiscard]] tlv::List<tlv::OrderEntry, tlv::OrderTlv::kMostEntries> entries(
      const Position& bound, const Own& own, std::size_t room, bool& more) const;
  /// A neighbor that is heard has not acknowledged the bound, or not counted.
  [[nodiscard]] bool waits(const Position& bound) const;
  /// It has waited long enough to report neighbors that have not counted, too.
  void nag() { nags_ = true; }

  [[nodiscard]] std::span<const KnownAgent> agents() const { return agents_; }
  [[nodiscard]] const std::optional<Position>& others() const { return *others_; }
  [[nodiscard]] std::uint64_t born_before() const { return born_before_; }
  [[nodiscard]] bool any_heard() const;
  [[nodiscard]] bool several_heard() const;
  [[nodiscard]] bool any_counted() const;
  [[nodiscard]] bool any() const { return !agents_.empty() || *others_; }
  [[nodiscard]] bool ever_heard() const { return ever_heard_ || any(); }
  [[nodiscard]] bool loops() const { return loops_; }
  /// A switch that is heard here, or was under this chassis ID.
  [[nodiscard]] bool knows_switch(const ChassisId& chassis) const;
  /// Something was heard that sends no such TLV. True if that is new.
  bool hear_other() { return !std::exchange(ever_heard_, true); }
  /// A6's limit as far as this port's agents go; null: there is none. Holds until the next frame.
  [[nodiscard]] const Position* limit(bool lit) const;
  [[nodiscard]] std::uint32_t session() const { return session_; }

  void restore(std::vector<KnownAgent> agents, std::optional<Position> others, bool ever_heard,
               std::uint64_t born_before);

  OrderRequests requests{};

 private:
  KnownAgent* find(AgentId agent);
  KnownAgent& add(AgentId agent, const ChassisId& chassis, const Position& belief,
                  std::uint64_t& births);
  /// It is the one agent that is heard here.
  [[nodiscard]] const KnownAgent* only_one() const;
  /// A4. A port without rules acts as one that is down.
  [[nodiscard]] bool may_list(const KnownAgent& v, const Own& own) const {
    if (!v.heard || !v.speaks || own.lost) return false;
    // A switch is promised nothing while spare classes that come to it are restored.
    if (!own.host && !v.host && requests.may_restore()) return false;
    if (own.host || (v.counted && v.bound < own.rank)) return true;
    return !requests.has(Order::kDown) && !requests.has(Order::kUnknown);
  }

  std::uint32_t session_ = 0;
  std::vector<KnownAgent> agents_{};
  Rare<std::optional<Position>> others_{};  ///< the lowest belief of those without room
  std::uint64_t born_before_ = 0;
  std::uint32_t told_ = 0;   ///< the highest sequence number in this session
  bool ever_heard_ = false;  ///< anything
  bool loops_ = false;       ///< our own agent ID was heard on this carrier
  bool nags_ = false;        ///< see nag()
  bool crowded_ = false;     ///< there are more than it can tell apart
};

}  // namespace lldp::core
