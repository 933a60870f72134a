// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agent/core/alarm.hpp"
#include "agent/core/told.hpp"
#include "base/bounded.hpp"
#include "base/bytes.hpp"

namespace lldp::core {

/// A frame to put on the wire, from the destination address on, without FCS. The octets belong to
/// the Actions and hold until these are cleared.
struct Send {
  Ifindex port{};
  ByteSpan frame{};
};

/// What became different; the owner logs it, streams it to `watch` and reprograms the data plane.
struct Event {
  enum class Kind : std::uint8_t {
    kNeighborAdded,    ///< text: the neighbor
    kNeighborChanged,  ///< `lldpdu` and `before` in place of a text
    kNeighborRemoved,  ///< text: the neighbor and why (aged out, shutdown, link down)
    kLevel,            ///< the device's level; text: "1 -> 2"
    kPlace,            ///< the order of the ports has followed the level upwards; text: "1 -> 2"
    kLocation,         ///< where the device stands; text: "1 02:00:00:00:00:01, 2 ...", or none
    kPort,             ///< the port's type or order; text: "unmarked -> uplink"
    kAlarmRaised,      ///< text: the alarm's
    kAlarmCleared,
    kClassesExtended,  ///< a chain of lossless classes came or grew; text: "3 (DSCP 26) > 2 (DSCP
                       ///< 19)"
    kRulesRestored,    ///< from the owner: rules that another program removed are back
    kState,            ///< Agent::state() differs from what was last saved
  };
  Kind kind{};
  Ifindex port{};          ///< 0: the device
  AlarmCode alarm{};       ///< for the two alarm kinds
  std::string text{};      ///< one line for a person, remote strings escaped
  std::string neighbor{};  ///< chassis ID, where it is about one that `lldpdu` does not name
  /// The neighbor's present and previous LLDPDU instead of a text: a neighbor can change with every
  /// frame, and most such lines are never written. Copies: in one call several neighbors may
  /// change, and one of them twice.
  Bytes lldpdu{};
  Bytes before{};
  /// What the agent went by, and goes by now: not always what these two say, for a claim may stand
  /// against them (Neighbor::uphold).
  Told was{};
  Told is{};
};

/// The event's text; made here for the events that come without one.
[[nodiscard]] std::string text_of(const Event& event);
/// The chassis ID of the neighbor that the event is about; empty: of none.
[[nodiscard]] std::string neighbor_of(const Event& event);

/// What a call to the agent asks its owner to do. The owner passes one in, acts on it and clears
/// it, so its storage is used again.
class Actions {
 public:
  Actions() = default;
  Actions(Actions&&) = default;
  Actions& operator=(Actions&&) = default;

  std::vector<Send> sends{};
  std::vector<Event> events{};

  /// Has Agent::state() saved. Asked for any number of times, it is one event.
  void save() {
    if (saves_at_ < events.size() && events[saves_at_].kind == Event::Kind::kState) return;
    saves_at_ = events.size();
    events.push_back({.kind = Event::Kind::kState});
  }
  /// Where the octets of one more frame go, before it is among `sends`.
  [[nodiscard]] Bytes& new_frame() {
    if (frames_used_ == frames_.size()) frames_.emplace_back();
    return frames_[frames_used_++];
  }
  void clear() {
    sends.clear();
    events.clear();
    frames_used_ = 0;
  }

 private:
  std::vector<Bytes> frames_{};  ///< here, and not in each agent: an owner may have many of those
  std::size_t frames_used_ = 0;
  std::size_t saves_at_ = 0;  ///< of save(), in events
};

}  // namespace lldp::core
