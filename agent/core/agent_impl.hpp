// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/core/agent.hpp"
#include "agent/core/announcement.hpp"
#include "agent/core/classes.hpp"
#include "agent/core/deadline_queue.hpp"
#include "agent/core/inference.hpp"
#include "agent/core/location.hpp"
#include "agent/core/port.hpp"
#include "agent/core/rank.hpp"

namespace lldp::core {

/// Ties the parts together. The way of a change: frame or link event -> neighbor table of the port
/// -> what is heard on the port -> level of the device -> labels (type, order, alarms) of this
/// port, or of all if the level has changed -> frames.
class Agent::Impl {
 public:
  Impl(std::shared_ptr<const Settings> settings, Identity self, const State& restored,
       TimePoint now);

  void set_link(const Link& link, TimePoint now, Actions& out);
  void remove_link(Ifindex port, TimePoint now, Actions& out);
  void leave_link(Ifindex port, TimePoint now, Actions& out);
  void receive(Ifindex port, ByteSpan frame, TimePoint now, Actions& out);
  void in_force(Ifindex port, std::uint32_t generation, TimePoint now, Actions& out);
  void advance(TimePoint now, Actions& out);
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;
  void configure(Settings settings, TimePoint now, Actions& out);
  void forget(std::optional<Ifindex> port, TimePoint now, Actions& out);
  void forget_classes(TimePoint now, Actions& out);
  void assume_rules(TimePoint now, Actions& out);
  bool renew_location(TimePoint now, Actions& out);
  [[nodiscard]] Bytes announcement(Ifindex port) const;
  void announce(TimePoint now);
  [[nodiscard]] bool announce(Ifindex port, TimePoint now);
  void shutdown(TimePoint now, Actions& out);
  void raise_alarm(AlarmCode code, std::string_view port, std::string text, TimePoint now,
                   Actions& out) {
    raise({}, code, port, std::move(text), now, out);
  }
  void clear_alarm(AlarmCode code, std::string_view port, Actions& out) {
    clear({}, code, port, out);
  }

  [[nodiscard]] const Settings& settings() const { return *settings_; }
  [[nodiscard]] State state() const;
  [[nodiscard]] std::optional<Level> level() const { return inference_.level(); }
  [[nodiscard]] const Tiers& location() const { return location_.tiers; }
  [[nodiscard]] const ChassisId& chassis_id() const { return chassis_id_; }
  [[nodiscard]] const Classes& classes() const { return classes_; }
  [[nodiscard]] bool ports_restored() const { return restored_; }
  [[nodiscard]] const Port* find(Ifindex ifindex) const;
  [[nodiscard]] std::size_t neighbor_count() const { return neighbors_; }
  [[nodiscard]] Snapshot snapshot(TimePoint now, Depth depth) const;

 private:
  struct Sender;    ///< procedures of the transmit machine
  struct Receiver;  ///< procedures of the receive machine

  [[nodiscard]] Port* look_up(Ifindex ifindex) const;
  [[nodiscard]] Port* find(Ifindex ifindex);
  /// By its name as alarms have it.
  [[nodiscard]] const Port* find(std::string_view escaped_name) const;
  Port& add_port(const Link& link);
  /// Has one agent per scope of the settings stand on the port; those that go say so.
  void set_scopes(Port& port, TimePoint now, Actions& out);
  void take_chassis_id(const ChassisId& id, Actions& out);
  /// A port that appears remembers its earlier neighbor, if port and carrier are still the same.
  void recall(Port& port, TimePoint now, Actions& out);
  /// The port has another name: what it remembers goes with it, or is what that name remembers.
  void rename_memory(Port& port, TimePoint now, Actions& out);
  /// The carrier of a port went: what was heard goes with it.
  void lose_carrier(Port& port, TimePoint now, Actions& out);
  /// The carrier is back, or the port may hear again.
  void begin_to_hear(Port& port, TimePoint now);
  void send(Port& port, PortAgent& agent, bool shutdown, TimePoint now, Actions& out);
  /// Has the port send, now or when its txCredit is back.
  void announce(Port& port, TimePoint now);
  /// Every agent of the port says that what it said before is void.
  void retract(Port& port, Actions& out);

  struct Frame {
    ByteSpan lldpdu{};
    MacAddress source{};
    bool counted = false;  ///< it was held back when it came
  };
  void take(Port& port, PortAgent& agent, const Frame& frame, TimePoint now, Actions& out);
  /// Hands the link's state to the port's machines.
  void enable(Port& port, TimePoint now, Actions& out);
  void run_due(TimePoint now, Actions& out);
  void age(Port& port, TimePoint now, Actions& out);
  /// Looks at frames that had to wait, as far as the gate lets them pass.
  void take_held(Port& port, TimePoint now, Actions& out);
  /// The port's table, or what it is held against, has changed.
  void reconsider(Port& port, TimePoint now, Actions& out, bool renounced = false);
  /// Asks the inference; if the level has changed, labels all ports and tells everyone. True then.
  bool decide(TimePoint now, Actions& out, bool renounced = false);
  /// The level is another one than `before`: tells the owner, and everyone.
  void follow_level(std::optional<Level> before, TimePoint now, Actions& out);
  void summarize_port(Port& port, TimePoint now);
  void label(Port& port, Standing own, TimePoint now, Actions& out);
  void label_all(TimePoint now, Actions& out);
  /// A switch is heard or remembered on some port.
  [[nodiscard]] bool has_switch_port() const;
  /// Ports where nothing was ever heard, apart from this one: whether that is an alarm depends on
  /// other ports.
  void label_unheard(const Port& changed, TimePoint now, Actions& out);
  /// A new type alone can wait for the port's next fast moment unless credit is full: what is left
  /// is for a new level.
  void announce_type(PortAgent& agent, TimePoint now) const;
  /// When to spend credit on a changed level. txCredit allows some frames and then one a second,
  /// but while a fabric comes up a level may fall several times within milliseconds; without credit
  /// at the end, neighbors would keep a wrong level. So a neighbor whose own level waits for ours
  /// hears of it at once, and all neighbors of our first level; the others, which only label a port
  /// by it, hear a little later, when it may have fallen further; and a port without a neighbor yet
  /// sends at its next fast moment, as a newcomer is answered anyway.
  void announce_level(Port& port, std::optional<Level> before, TimePoint now) const;
  /// Raises the alarm for ports that the cabling plan has and the device has not.
  void look_for_absent_ports(TimePoint now, Actions& out);
  void forget_absent_ports(Actions& out);
  static constexpr AlarmReason kAbsent{AlarmReason::Found::kByAbsence};
  static constexpr AlarmReason kOfLevel{AlarmReason::Found::kByLevel};
  void raise(const AlarmReason& reason, AlarmCode code, std::string_view port, std::string text,
             TimePoint now, Actions& out);
  void clear(const AlarmReason& reason, AlarmCode code, std::string_view port, Actions& out);
  /// `raised`: its text; nothing: it was cleared.
  static void tell(Ifindex port, AlarmCode code, std::optional<std::string> raised, Actions& out);
  void set_alarms(const Port& port, AlarmSet wanted, TimePoint now, Actions& out);
  /// The alarms of the device that are the agent's own.
  void set_level_alarms(TimePoint now, Actions& out);
  /// Sets no_level_at_.
  void watch_for_no_level(TimePoint now);
  [[nodiscard]] std::vector<Alarm> alarms(TimePoint now) const;
  [[nodiscard]] std::string level_alarm_text(AlarmCode code, TimePoint now) const;
  /// What makes the levels uneven; empty: nothing does.
  [[nodiscard]] std::string uneven_text() const;
  /// The port with the neighbor of the lowest level.
  [[nodiscard]] const Port* lowest_port() const;
  /// Labels all ports and tells their neighbors.
  void announce_all(std::optional<Level> before, TimePoint now, Actions& out);
  /// Where the device stands follows its level and what its ports remember. Tells no neighbor.
  /// `anew`: the level has changed.
  void locate(TimePoint now, Actions& out, bool anew = false);
  [[nodiscard]] Survey take_survey(TimePoint now) const;
  /// The same, and tells the neighbors for which the location is new.
  void relocate(TimePoint now, Actions& out);
  /// The same when what changes together has changed.
  void locate_soon(TimePoint now);
  /// What is told of the location, for a TLV (docs/develop/rules.md P5).
  struct Telling {
    std::string octets{};
    std::uint32_t version = version_of({});  ///< of the octets
    static std::uint32_t version_of(const std::string& octets) {
      return static_cast<std::uint32_t>(std::hash<std::string>{}(octets));
    }
    TimePoint since{};
    bool final = true;  ///< every neighbor that could tell more has done so
  };
  /// An uplink is not kept waiting for the tiers above, nor told of none while they are known.
  [[nodiscard]] const Telling& location_for(const Port& port) const {
    return port.type == PortType::kUplink && tell_all_.octets.empty() ? tell_own_ : tell_all_;
  }
  /// Puts the location into words, if they are final, or have waited long enough to be.
  void word_location(TimePoint now, bool anew);
  /// Has the port tell it, if it has not.
  void announce_location(Port& port, TimePoint now);
  /// What the neighbor sent last, by the settings and at the time that are now. True, and told, if
  /// it amounts to something else.
  bool read_anew(Port& port, Neighbor& neighbor, TimePoint now, Actions& out);
  /// What the port remembers has changed, or not.
  void note_memory(bool changed, TimePoint now, Actions& out);
  /// The same, by what it has forgotten.
  void note_forgotten(bool changed, TimePoint now, Actions& out) {
    memories_moved_ |= changed;
    note_memory(changed, now, out);
  }
  /// A switch was heard on a port that has lost its carrier, or is not there: that switch may have
  /// told more than the neighbors that are heard.
  [[nodiscard]] bool misses_switch() const;
  // docs/develop/rules.md, "Order"
  void take_order_identity();
  [[nodiscard]] std::uint32_t new_session();
  [[nodiscard]] core::Speaker speaker() const;
  /// A host that was a switch may have rules still. A port of layers has the order of its layers,
  /// whatever a neighbor believes of ranks (O6).
  [[nodiscard]] PortOrder::Own own(const Port& port) const {
    const bool host = role_ == Role::kHost && port.orders.requests.is_only(Order::kUnknown);
    return {rank_.acting(), host || port.link.layers, lost_ && is_any_down()};
  }
  /// Where the rank is to go.
  [[nodiscard]] Position target() const;
  /// The next boot. Behind the last one it is the first of another agent ID, of which no neighbor
  /// has heard a boot.
  [[nodiscard]] std::uint32_t boot_after(std::uint32_t boot);
  /// Another boot of the same process: sessions are new, and nothing has counted.
  void begin_boot(std::uint32_t boot, TimePoint now);
  /// The role that is told follows the one that is set, when it may (A12). True then.
  bool follow_role(TimePoint now, Actions& out);
  /// What was told before this start is not known (A9).
  void lose_state(std::uint32_t boot, TimePoint now, Actions& out);
  void hear_order(Port& port, PortAgent& agent, ByteSpan octets, const ChassisId& chassis,
                  Neighbor* neighbor, TimePoint now, Actions& out);
  /// Has the port tell again what it told, soon.
  void repeat(Port& port, PortAgent& agent, TimePoint now);
  [[nodiscard]] decltype(Self::order) order_octets(const Port& port) const;
  /// A frame with the present bound goes out.
  void note_told(Port& port, TimePoint now, Actions& out);
  /// No limit is found for it in what other ports know.
  [[nodiscard]] bool is_excused(const Port& port) const;
  /// Its limit goes by what other ports know, too (A6, the clause of the new carrier).
  [[nodiscard]] bool goes_by_others(const Port& port) const {
    return port.link.up && !port.orders.any_counted() && !is_excused(port);
  }
  /// The highest rank that the port allows (A6); null: any. Holds until something changes.
  [[nodiscard]] const Position* limit(const Port& port, const Position& target);
  /// Sets low_, if beliefs were doubted since; marks the ports that go by it if it is another.
  void find_low_beliefs(const Position& target);
  /// A frame without the order TLV.
  void hear_other(Port& port, Actions& out);
  /// How long the port ends at a host by what it remembers (A3, A10).
  void watch_for_stock_host(Port& port, TimePoint now);
  [[nodiscard]] Order wanted_order(const Port& port, const Position& target);
  /// True if the data plane is asked for another one.
  bool request_order(Port& port, const Position& target, Actions& out);
  /// Sets the port's type, and has its order follow; tells the owner.
  void follow_labels(Port& port, const Position& target, Actions& out);
  /// A newcomer waits for no neighbor any more (A10); sets settled_at_.
  bool is_ready(TimePoint now);
  /// It is time to ask that again. True then.
  bool look_for_readiness(TimePoint now) {
    if (std::min(settled_at_, linked_at_) > now) return false;
    if (linked_at_ <= now) linking_ = false;
    settled_at_ = linked_at_ = kNever;
    return unsettled_ = true;
  }
  /// Sets whether a rise to `target` waits for the port; `rises`: there is one.
  void watch_for_rise(Port& port, const Position& target, bool rises, TimePoint now);
  /// Sets whether the port is one of those that `of` counts.
  static void count(bool& counts, bool now, std::size_t& of) {
    if (std::exchange(counts, now) != now) now ? ++of : --of;
  }
  /// The requests of the port, or its order, have changed, or it goes.
  void count_down(Port& port, bool there);
  [[nodiscard]] bool may_fall() const { return !linking_ && falling_ == 0; }
  /// In force or requested, also on a port of the state file that has not been told yet.
  [[nodiscard]] bool is_any_down() const { return linking_ || down_ != 0; }
  void hold(Port& port, bool holds, TimePoint now);
  /// Bound, orders, rank and acknowledgements follow what has changed: those of stale ports, or of
  /// all if something of the device has (Ground).
  void settle(TimePoint now, Actions& out) {
    if (unsettled_ && agent_id_ != 0) settle_anew(now, out);
  }
  void settle_anew(TimePoint now, Actions& out);
  /// The port is stale: the next settle() goes over it. To be called when anything changes that its
  /// order, its acknowledgements or a rise goes by.
  void mark(const Port& port) {
    if (!all_stale_) stale_.insert(port.slot);
  }
  void mark_all() {
    low_known_ = false;
    all_stale_ = true;
  }
  /// The same, and there is something to settle.
  void unsettle(const Port& port) {
    mark(port);
    unsettled_ = true;
  }
  void unsettle_all() {
    mark_all();
    unsettled_ = true;
  }
  /// What agents of some port believe may have changed, and so the limit of ports that go by
  /// others.
  void doubt_beliefs() { low_known_ = false; }
  [[nodiscard]] bool is_stale(const Port& port) const {
    return all_stale_ || stale_.contains(port.slot);
  }
  /// In the order of slots. `what` may mark no other port.
  template <class Do>
  void for_each_stale(Do what) {
    if (all_stale_) {
      for (const auto& port : ports_)
        if (port) what(*port);
    } else {
      for (const std::uint32_t slot : stale_)
        if (ports_[slot]) what(*ports_[slot]);
    }
  }
  void acknowledge(Port& port, TimePoint now);
  void announce_bound(bool rose, TimePoint now);
  /// Says so when the device ends up with something else to keep.
  void note_state(bool changed, Actions& out) const {
    if (changed) out.save();
  }
  // Lossless classes (agent_classes.cpp)
  [[nodiscard]] bool has_classes() const {
    return settings_->classes && settings_->role == Role::kSwitch;
  }
  /// What neighbors of the port tell of classes may be different.
  void touch_classes(Port& port, TimePoint now) {
    if (!has_classes()) return;
    port.classes_stale = true;
    classes_at_ = std::min(classes_at_, now);
  }
  void set_own_classes(TimePoint now);
  void follow_classes(TimePoint now, Actions& out);
  void tell_class_alarms(TimePoint now, Actions& out);
  void tell_class_alarm(Ifindex port, std::string_view name, std::optional<std::string> text,
                        TimePoint now, Actions& out);
  [[nodiscard]] std::vector<ClassPeer> class_peers(const Port& port) const;
  // Rails (agent_rails.cpp)
  /// What is heard on some port, or which ports there are, may be different.
  void touch_rails(TimePoint now) {
    if (has_rails() || !rail_alarms_.empty()) rails_at_ = now;
  }
  [[nodiscard]] bool has_rails() const {
    return settings_->rails != cabling::RailDesign::kNone && settings_->role == Role::kHost;
  }
  void follow_rails(TimePoint now, Actions& out);
  void describe_agents(const Port& port, PortInfo& info) const;
  [[nodiscard]] Duration ttl() const;
  /// However short the TTL is, silence is no shorter: all repeats may be lost.
  static constexpr std::chrono::seconds kLeastPatience{60};
  [[nodiscard]] static bool remembers(const Port& port);
  [[nodiscard]] static PortState port_state(const Port& port);
  /// A frame without our TLV of a device that was heard with it makes no host of it (A3).
  static void doubt(const Port& port, Neighbor& neighbor);
  /// What the neighbor said last, to a port that has forgotten it.
  void read_order(Port& port, Neighbor& neighbor, TimePoint now, Actions& out);
  /// Runs the transmit machines and sets when the port is next due.
  void run(Port& port, TimePoint now, Actions& out);

  [[nodiscard]] Inference::Rules rules() const;
  [[nodiscard]] Standing standing() const;
  [[nodiscard]] tlv::Claim claim(const Port& port) const;
  [[nodiscard]] const std::string& system_name() const {
    return settings_->system_name.empty() ? system_name_ : settings_->system_name;
  }
  [[nodiscard]] Self self(const Port& port, std::string_view location) const;

  std::shared_ptr<const Settings> settings_;
  std::string system_name_;  ///< if the settings have none
  ChassisId chassis_id_{};
  std::uint32_t device_phase_ = 0;
  Inference inference_;
  const bool restored_;  ///< the order was
  AgentId agent_id_;
  ChassisId rank_id_;
  std::uint32_t saved_boot_;  ///< of the start before
  std::uint32_t first_boot_;  ///< of this process
  std::uint32_t boot_;
  Role role_;  ///< as it is told, and as the order goes by it
  Rank rank_;
  bool lost_;
  bool newcomer_;  ///< at the bottom, and without rules yet
  std::uint64_t births_;
  std::uint64_t random_;
  /// What the order of each port goes by of the device, and settings and identity, which
  /// mark_all().
  struct Ground {
    Position target{};
    Position acting{};
    std::optional<Level> level{};
    Role role = Role::kSwitch;
    bool newcomer = false;
    bool linking = false;
    friend bool operator==(const Ground&, const Ground&) = default;
  };
  bool unsettled_ = true;
  bool all_stale_ = true;
  boost::container::flat_set<std::uint32_t> stale_{};  ///< slots; where all are, any
  Ground ground_{};                ///< on which the ports stand that are not stale
  std::size_t by_others_ = 0;      ///< ports with Port::by_others
  std::size_t blocking_ = 0;       ///< ports with Port::blocks
  std::size_t down_ = 0;           ///< ports with Port::is_down
  std::size_t falling_ = 0;        ///< ports with Port::falls
  bool linking_ = true;            ///< links are being told, and all count before rank or role move
  TimePoint linked_at_ = kNever;   ///< when that ends
  TimePoint settled_at_ = kNever;  ///< when a newcomer has waited for long enough
  /// By birth: what agents believe that is lower than where we are or want to be.
  std::vector<std::pair<std::uint64_t, Position>> low_{};
  bool low_known_ = false;
  std::size_t unheard_ = 0;  ///< ports
  Location location_{};
  Telling tell_all_{};               ///< all tiers; of a host nothing
  Telling tell_own_{};               ///< the device's own tier alone
  TimePoint tell_by_ = kNever;       ///< when it is told though it is not final
  TimePoint locate_at_ = kNever;     ///< when relocate() is due
  bool memories_moved_ = false;      ///< since locate(): forgotten or recalled, not by a frame
  TimePoint located_at_{};           ///< when it was done last
  TimePoint memory_until_ = kNever;  ///< how long what no port tells counts
  TimePoint started_;
  /// The start itself changed what is to be saved, a new chassis ID say, and no frame has told it.
  bool not_told_ = false;
  /// Of ports that are not there: not yet, or no more.
  std::map<std::string, PortState, std::less<>> absent_{};
  std::vector<std::unique_ptr<Port>> ports_{};  ///< by slot; null: free
  std::vector<std::uint32_t> free_slots_{};
  boost::container::flat_map<Ifindex, Port*> by_ifindex_{};
  std::uint32_t first_ifindex_ = 0;  ///< of the port in slot 0
  DeadlineQueue due_{};
  AlarmStore alarms_{};
  Classes classes_;
  TimePoint classes_at_ = kNever;                  ///< when follow_classes() is due
  std::map<Ifindex, std::string> class_alarms_{};  ///< under which name each stands
  TimePoint rails_at_ = kNever;                    ///< when follow_rails() is due
  std::map<Ifindex, std::string> rail_alarms_{};   ///< under which name each stands
  /// When a switch without a level, with a port up, becomes an alarm: after the time in which every
  /// neighbor with a level would have been heard. kNever: it has one.
  TimePoint no_level_at_ = kNever;
  bool no_level_told_ = false;
  TimePoint absent_due_ = kNever;  ///< when to look for them
  std::size_t neighbors_ = 0;
  bool finished_ = false;
};

}  // namespace lldp::core
