// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <vector>

#include "agent/core/change_gate.hpp"
#include "agent/core/deadline_queue.hpp"
#include "agent/core/inference.hpp"
#include "agent/core/link.hpp"
#include "agent/core/neighbor_table.hpp"
#include "agent/core/port_order.hpp"
#include "agent/core/port_statistics.hpp"
#include "agent/core/rx_machine.hpp"
#include "agent/core/state.hpp"
#include "agent/core/tx_timer_machine.hpp"

namespace lldp::core {

/// The 802.1AB machines of one (port, destination address).
struct PortAgent {
  Scope scope{};
  Phase phase{};  ///< see phase_of()
  TxState tx_state = TxState::TX_LLDP_INITIALIZE;
  TxTimerState tx_timer_state = TxTimerState::TX_TIMER_INITIALIZE;
  RxState rx_state = RxState::LLDP_WAIT_PORT_OPERATIONAL;
  bool greets = false;  ///< an agent that was never heard is to hear us
  TxVars tx{};
  RxVars rx{};
  std::uint32_t told_location = 0;  ///< its version in the frame sent last
  std::uint32_t told_own_tier = 0;
  TimePoint tooManyNeighborsTimer = kNever;  ///< when tooManyNeighbors becomes false; kNever: it is
  TimePoint own_frame_forgotten = kNever;    ///< when an own frame heard here has lost its validity
  TimePoint tell_at =
      kNever;  ///< when a change that can wait is a localChange; a frame tells it too

  [[nodiscard]] bool tooManyNeighbors() const { return tooManyNeighborsTimer != kNever; }
  [[nodiscard]] bool hears_itself() const { return own_frame_forgotten != kNever; }
};

/// A frame that said something new while the port's gate for changes was shut: the last one of its
/// sender.
struct HeldFrame {
  Scope scope{};
  MacAddress source{};
  Bytes lldpdu{};
};

/// All that the agent keeps of one link. What takes an octet stands together: there may be very
/// many.
struct Port {
  Link link{};
  std::uint32_t slot = 0;
  std::uint32_t decisive = kNobody;  ///< index in the table of the neighbor that `heard` goes by
  bool host_port = false;            ///< `host-ports` names it
  bool hears_switch = false;         ///< by a TLV of ours
  bool classes_stale = false;        ///< what its neighbors tell of lossless classes is to be read
  /// Priorities with PFC by the TLVs sent since the carrier came; bit n for priority n.
  std::uint8_t offered_pfc = 0;
  bool cut_short = false;  ///< the last frame had no room for what neighbors go by
  bool silent = false;
  /// A switch is remembered, none has been heard since the start or the carrier, and it is not yet
  /// time to call that silence. It may have heard us all the same.
  bool awaited = false;
  bool switch_left =
      false;  ///< the switch that hears_switch meant last has left; also one that told no level
  PortType type = PortType::kUnmarked;
  Order order = Order::kUnknown;
  bool restores = false;      ///< spare classes end here: Request::restore
  bool excused = false;       ///< an operator has it forget, on this carrier
  bool listed_all = true;     ///< its frames named every agent that it hears
  bool stock = false;         ///< stock_at is over, since it is a host on this carrier
  bool blocks = false;        ///< a rise waits for it, lit or dark
  bool by_others = false;     ///< its limit goes by what other ports know, too
  bool is_down = false;       ///< Order::kDown is in force or requested
  bool falls = false;         ///< and it is to have another order
  bool relabel = false;       ///< its alarms may be others
  bool heard_any = false;     ///< a neighbor was heard since the carrier came
  bool heard_before = false;  ///< one was heard before that
  bool unheard = false;       ///< unheard_at is over
  /// In the order of Settings::scopes.
  boost::container::small_vector<PortAgent, 1> agents{};
  NeighborTable table{};
  ChangeGate changes{};
  std::vector<HeldFrame> held{};  ///< in the order in which their senders are to be looked at
  PortStatistics statistics{};
  Heard heard{};
  PortOrder orders{};
  TimePoint first_told = kNever;   ///< our first frame since the start
  TimePoint stock_at = kNever;     ///< when a host without our TLV is no agent about to speak
  TimePoint repeat_at = kNever;    ///< when neighbors that have not acknowledged are told again
  TimePoint holds_since = kNever;  ///< since when a rise waits for it, or it is shut with a carrier
  PortMemory memory{};
  TimePoint memory_until =
      kNever;  ///< when a neighbor that is heard is not kAbove; kNever: while the carrier is gone
  /// From when on it counts that a switch is remembered and none is heard.
  TimePoint silent_at{};
  TimePoint labelled_at{};  ///< when its type, order and alarms were last looked at
  /// When a switch heard here that tells no level and has no order becomes an alarm; kNever: there
  /// is none.
  TimePoint unprotected_at = kNever;
  /// When two TLVs of a neighbor that disagree become an alarm; kNever: there are none.
  TimePoint conflict_at = kNever;
  /// When silence where a neighbor is expected becomes an alarm; kNever: there is none.
  TimePoint missing_at = kNever;
  /// Until then it counts that devices with one MSAP are heard; kNever: none are.
  TimePoint shared_until = kNever;
  /// When silence where nothing was ever heard becomes an alarm; kNever: something was.
  TimePoint unheard_at = kNever;

  /// How long an acknowledgement may take: in that time it is asked for several times.
  static constexpr std::chrono::seconds kHoldGrace{5};
  static constexpr std::uint32_t kNobody = ~std::uint32_t{};
  [[nodiscard]] const Neighbor* decisive_neighbor() const {
    return decisive == kNobody ? nullptr : &table.all()[decisive];
  }
  /// A link on which silence means a host.
  [[nodiscard]] bool counts_as_host() const;
  /// A neighbor here has no level yet, or a higher one than it will have from this one of ours.
  [[nodiscard]] bool waits_for(Level level) const;
  /// The carrier is there, and the neighbor may be about to be heard first.
  [[nodiscard]] bool is_young(TimePoint now) const { return link.up && now < silent_at; }
  /// A switch is remembered: whether one is heard counts.
  [[nodiscard]] bool expects_switch() const { return memory.is_switch(); }
  /// When it becomes an alarm that a rise waits for this port.
  [[nodiscard]] TimePoint held_at() const {
    return holds_since == kNever ? kNever : holds_since + kHoldGrace;
  }
  /// When an alarm that waits is to be raised; kNever: none does.
  [[nodiscard]] TimePoint alarm_due() const {
    const auto waits = [this](TimePoint due) { return due > labelled_at ? due : kNever; };
    return earliest(waits(unprotected_at), waits(conflict_at), waits(missing_at), waits(held_at()),
                    waits(unheard_at), awaited ? silent_at : kNever);
  }
  /// When one of the machines, the neighbors or the alarm is due.
  [[nodiscard]] TimePoint deadline() const;
};

/// What the neighbors in the table amount to; sets heard, decisive and hears_switch. A host wins
/// over all others on its port, else the lowest level does.
void summarize(Port& port);
/// Records the neighbor of the port, after a frame (docs/develop/rules.md A3). True if that is new.
bool remember(Port& port);
/// A neighbor has gone: if the switch that is remembered speaks under another port ID, too, what it
/// tells there holds. True if that is new.
bool forget_former_port(Port& port);
/// Layers that were set again do not hold for neighbors heard before. True if that is new.
bool forget_proof(Port& port);
/// What is left of the memory when the carrier goes. True if that is new.
bool forget_carrier(Port& port);
/// The same one TTL after it came back, and no switch with a level was heard.
bool fade_memory(Port& port);
/// The speaker is new or has said something new; before summarize(). True if the memory is another.
bool hear_news(Port& port, const Neighbor& speaker);
/// Before summarize(): a former switch that now calls itself a host has not left.
void note_host(Port& port, const Neighbor& speaker);
/// Whether `host-ports` names the port.
void name_host_port(Port& port, bool named, TimePoint now);
/// A silent port without a memory records that a switch was there. True if that is new.
bool remember_silence(Port& port);
/// Clears the memory. True if that is new.
bool forget_memory(Port& port);
/// Sets silent; summarize() has just been called, after `heard_switch` was noted.
void watch_for_silence(Port& port, bool heard_switch, TimePoint now);
/// How the port stands for a device of `rank` (docs/develop/rules.md A3), or by its layers (O6).
/// `layered`: of a device of which some port has layers.
[[nodiscard]] Order order_of(const Port& port, const Position& rank, const Speaker& self,
                             bool layered);

/// What leaves by the port comes to a host that forwards nothing, by all that is heard there and
/// remembered.
[[nodiscard]] bool ends_at_host(const Port& port);

/// What a port's alarms go by beside the port.
struct Standing {
  Role role = Role::kSwitch;
  std::optional<Level> level{};
  bool pinned = false;
  const cabling::Expectations* expected = nullptr;  ///< nullptr: any neighbor is expected
  std::uint8_t lossless = 0;                        ///< bit n = priority n
  std::uint8_t lossless_at_hosts = 0;               ///< of these, what a link to a host carries
  const qos::Chains* chains = nullptr;              ///< nullptr: `lossless` alone is known
  bool layered = false;                             ///< some port has layers
  Duration missing_grace{};                         ///< how long an expected neighbor may be silent
  bool has_switch_port = false;  ///< a switch is heard or remembered on some port
};
/// How long a switch may tell no level before that is an alarm: at a common start all do at first.
inline constexpr std::chrono::seconds kUnprotectedGrace{2};
/// Sets unprotected_at; goes by the port's order.
void watch_for_unordered(Port& port, const Standing& own, TimePoint now);
/// How long the TLVs of a neighbor may disagree. Where they are set one by one, as in lldpd, they
/// do so for a moment at every change.
inline constexpr std::chrono::seconds kConflictGrace{1};
/// Sets conflict_at.
void watch_for_conflict(Port& port, const Standing& own, TimePoint now);
/// How long an expected neighbor may be silent besides a msgTxInterval, within which every agent
/// is heard.
inline constexpr std::chrono::seconds kMissingSlack{2};
/// Sets missing_at.
void watch_for_missing(Port& port, const Standing& own, TimePoint now);
/// How long a port may have carrier before it counts that nothing was ever heard there.
inline constexpr std::chrono::seconds kUnheardGrace{5};
/// Sets unheard_at and unheard.
void watch_for_unheard(Port& port, const Standing& own, TimePoint now);
/// The alarms that should stand on the port.
[[nodiscard]] AlarmSet alarms_of(const Port& port, const Standing& own, TimePoint now);
/// One line that names the neighbors it is about.
[[nodiscard]] std::string alarm_text(AlarmCode code, const Port& port, const Standing& own);

}  // namespace lldp::core
