// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/actions.hpp"
#include "agent/core/classes.hpp"
#include "agent/core/link.hpp"
#include "agent/core/settings.hpp"
#include "agent/core/snapshot.hpp"
#include "agent/core/state.hpp"
#include "agent/core/statistics.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"

namespace lldp::core {

/// What the rules of a port shall be for. The number rises with each change, and what did not
/// change keeps it. 0: nothing was requested yet, or the port is not known.
struct Request {
  Order order = Order::kUnknown;
  std::uint32_t generation = 0;
  /// The port is down to a host that forwards nothing, so spare classes end there.
  bool restore = false;
  friend bool operator==(const Request&, const Request&) = default;
};

/// An LLDP agent that knows its level: 802.1AB machines, neighbor table and level inference for
/// all ports of one device. Pure: frames, link events and the time come in, actions go out; it
/// opens nothing and never asks for the time. Time must not run backwards. Every call is O(1) in
/// the number of ports (O(log n) where a deadline moves), except where the device's level changes
/// (all ports then tell their neighbors), set-up, and snapshot().
///
/// Frames are sent by advance(). What a link event or a received frame gives us to tell is due at
/// once: next_deadline() is `now`. So what arrives together, several frames of one wake-up or many
/// links at start, is told in one frame per port, and does not use up its txCredit.
class Agent {
 public:
  /// `restored`: what the state file held, or nothing at first start.
  Agent(Settings settings, const State& restored, TimePoint now);
  /// The same with shared settings, and the identity where the settings leave it open: a simulated
  /// fabric has very many agents.
  Agent(std::shared_ptr<const Settings> settings, Identity self, const State& restored,
        TimePoint now);
  Agent(Agent&&) noexcept;
  Agent& operator=(Agent&&) noexcept;
  ~Agent();

  /// A link appeared or changed (state, name, address, MTU). Calling it again with the same value
  /// does nothing.
  void set_link(const Link& link, TimePoint now, Actions& out);
  /// The link is gone: its neighbors go with it, and no frame is sent.
  void remove_link(Ifindex port, TimePoint now, Actions& out);
  /// The link is there still, and is to be no port any more: what an adminStatus that leaves Tx
  /// sends (IEEE 802.1AB-2016 9.2.8), or its neighbors would show us there until what we told last
  /// has aged out. It remembers what it has learned, by the name that it had.
  void leave_link(Ifindex port, TimePoint now, Actions& out);
  /// A frame from the destination address on, without FCS or VLAN tag. Frames for other addresses
  /// or EtherTypes, and of unknown ports, are ignored.
  void receive(Ifindex port, ByteSpan frame, TimePoint now, Actions& out);
  /// The data plane has confirmed the rules of this request: no rules of an earlier one are in
  /// force or under way on the port. One that is not the newest is of use too. Of an unknown port,
  /// and a generation that is no newer than the last confirmed: ignored.
  void in_force(Ifindex port, std::uint32_t generation, TimePoint now, Actions& out);
  /// Does what is due by `now`. Call at next_deadline(), and so after each batch of events; earlier
  /// is harmless.
  void advance(TimePoint now, Actions& out);
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;

  /// Takes over new settings; neighbors, levels and counters stay where they may.
  void configure(Settings settings, TimePoint now, Actions& out);
  /// The frame that the port would send now, for an owner that sends it by another program; empty
  /// for a port that is not known, or may not send.
  [[nodiscard]] Bytes announcement(Ifindex port) const;
  /// With a port: drops its remembered neighbor that is not heard, and the alarm `silent`. Without:
  /// withdraws the level, established or not, and learns it again.
  void forget(std::optional<Ifindex> port, TimePoint now, Actions& out);
  /// Drops the lossless classes that were learned and for which no evidence stands.
  void forget_classes(TimePoint now, Actions& out);
  /// Rules of an earlier agent are in force: where no state was restored, it is lost, and neighbors
  /// may believe the device to have any rank. docs/develop/rules.md A9.
  void assume_rules(TimePoint now, Actions& out);
  /// The own tier takes the ID of another leaf, and all of the tier follow (docs/develop/rules.md
  /// P7). False: the device names no tier, or no other leaf is below.
  [[nodiscard]] bool renew_location(TimePoint now, Actions& out);
  /// Every port is to send: until now another program has done so.
  void announce(TimePoint now);
  /// The port is to send as soon as its txCredit lets it, though nothing has changed. False: it is
  /// not known, is down or may not send.
  [[nodiscard]] bool announce(Ifindex port, TimePoint now);
  /// Sends a shutdown LLDPDU on every port; the agent is finished after that.
  void shutdown(TimePoint now, Actions& out);

  /// Raises or clears an alarm of the owner's (unprotected, dataplane, state) among the agent's
  /// own. `port`: its name, escaped; empty: the device.
  void raise_alarm(AlarmCode code, std::string_view port, std::string text, TimePoint now,
                   Actions& out);
  void clear_alarm(AlarmCode code, std::string_view port, Actions& out);

  [[nodiscard]] const Settings& settings() const;
  [[nodiscard]] State state() const;
  [[nodiscard]] std::optional<Level> level() const;
  [[nodiscard]] const Tiers& location() const;
  /// Lossless classes in force, where the settings have `classes` and the device is a switch.
  [[nodiscard]] const Classes& classes() const;
  [[nodiscard]] const ChassisId& chassis_id()
      const;  ///< empty octets until the first link is known
  /// The order of one port, for the remap rules; kUnknown for a port that is not known.
  [[nodiscard]] Order order(Ifindex port) const;
  /// What the rules of a port shall be for, and the number of that request.
  [[nodiscard]] Request request(Ifindex port) const;
  /// What the operator says that the port joins; nothing where it has no layers.
  [[nodiscard]] std::optional<Layers> layers(Ifindex port) const;
  /// The restored state names all ports with a memory: a port that it does not name remembers no
  /// neighbor.
  [[nodiscard]] bool ports_restored() const;
  [[nodiscard]] PortType type(Ifindex port) const;
  /// The port has a carrier, and a neighbor.
  [[nodiscard]] bool hears(Ifindex port) const;
  [[nodiscard]] std::optional<Statistics> statistics(Ifindex port) const;
  [[nodiscard]] std::size_t neighbor_count() const;
  [[nodiscard]] Snapshot snapshot(TimePoint now, Depth depth = Depth::kSummary) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lldp::core
