// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/core/agent.hpp"
#include "agent/core/deadline_queue.hpp"
#include "agent/core/inference.hpp"
#include "agent/core/port.hpp"

namespace lldp::core {

/// Ties the parts together. The way of a change: frame or link event -> neighbour table of the port
/// -> what is heard on the port -> level of the device -> labels (type, order, alarms) of this
/// port, or of all if the level has changed -> frames.
class Agent::Impl {
 public:
  Impl(Settings settings, State restored, TimePoint now);

  void set_link(const Link& link, TimePoint now, Actions& out);
  void remove_link(Ifindex port, TimePoint now, Actions& out);
  void receive(Ifindex port, ByteSpan frame, TimePoint now, Actions& out);
  void advance(TimePoint now, Actions& out);
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;
  void configure(Settings settings, TimePoint now, Actions& out);
  [[nodiscard]] Bytes announcement(Ifindex port) const;
  void announce(TimePoint now);
  void shutdown(TimePoint now, Actions& out);
  void raise_alarm(AlarmCode code, std::string_view port, std::string text, TimePoint now,
                   Actions& out);
  void clear_alarm(AlarmCode code, std::string_view port, Actions& out);

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] State state() const;
  [[nodiscard]] std::optional<Level> level() const { return inference_.level(); }
  [[nodiscard]] const ChassisId& chassis_id() const { return chassis_id_; }
  [[nodiscard]] const Port* find(Ifindex ifindex) const;
  [[nodiscard]] std::size_t neighbor_count() const { return neighbors_; }
  [[nodiscard]] Snapshot snapshot(TimePoint now) const;

 private:
  struct Sender;    ///< procedures of the transmit machine
  struct Receiver;  ///< procedures of the receive machine

  [[nodiscard]] Port* find(Ifindex ifindex);
  [[nodiscard]] const Port* find(std::string_view name) const;
  Port& add_port(const Link& link);
  /// Has one agent per scope of the settings stand on the port; those that go say so.
  void set_scopes(Port& port, TimePoint now, Actions& out);
  void take_chassis_id(const ChassisId& id, Actions& out);
  void send(Port& port, PortAgent& agent, bool shutdown, Actions& out);
  /// Every agent of the port says that what it said before is void.
  void retract(Port& port, Actions& out);

  /// Hands the link's state to the port's machines.
  void enable(Port& port, TimePoint now, Actions& out);
  void age(Port& port, TimePoint now, Actions& out);
  /// The port's table, or what it is held against, has changed.
  void reconsider(Port& port, TimePoint now, Actions& out);
  /// Asks the inference; if the level has changed, labels all ports and tells everyone. True then.
  bool decide(TimePoint now, Actions& out);
  void report_refusal(TimePoint now, Actions& out);
  void label(Port& port, TimePoint now, Actions& out);
  void label_all(TimePoint now, Actions& out);
  /// A new type alone can wait for the port's next fast moment unless credit is full: what is left
  /// is for a new level.
  void announce_type(PortAgent& agent, TimePoint now) const;
  /// When credit is best spent on a level that was other before. txCredit allows five frames and
  /// then one a second, but while a fabric comes up a level may fall several times within
  /// milliseconds, and who is out of credit at the end leaves its neighbours with what is wrong.
  /// So those hear at once whose own level waits for it, and all of our first one; the others, who
  /// only label a port by it, a little later, when it may have fallen further; and a port where
  /// nobody was heard yet at its next fast moment, as a newcomer is answered anyway.
  void announce_level(Port& port, std::optional<Level> before, TimePoint now) const;
  /// Raises the alarm for ports that the cabling plan has and the device has not.
  void look_for_absent_ports(TimePoint now, Actions& out);
  void forget_absent_ports(Actions& out);
  void set_alarms(Port& port, std::uint16_t wanted, TimePoint now, Actions& out);
  /// Labels all ports and tells their neighbours.
  void announce_all(std::optional<Level> before, TimePoint now, Actions& out);
  /// Moves place_ down with the level, or has it wait for those who must hear of a higher one.
  void follow_level(TimePoint now);
  /// A place that waited follows the level if all have heard, or the time is over. True then.
  bool take_place(TimePoint now, Actions& out);
  /// What the neighbour says leaves open whether it has heard our level.
  [[nodiscard]] bool is_behind(const Neighbor& neighbor) const;
  /// Runs the transmit machines and sets when the port is next due.
  void run(Port& port, TimePoint now, Actions& out);

  [[nodiscard]] Inference::Rules rules() const;
  [[nodiscard]] Standing standing() const;
  [[nodiscard]] tlv::Claim claim(const Port& port) const;

  Settings settings_;
  ChassisId chassis_id_{};
  std::uint32_t device_phase_ = 0;
  Inference inference_;
  /// The level by which we stand in the order of devices. It falls with the level, and follows a
  /// level that has risen when no neighbour can hold us for lower any more, so that at every moment
  /// the lower end of a link knows that it is the lower one: docs/proof.md, "While levels change".
  std::optional<Level> place_{};
  TimePoint place_due_ = kNever;  ///< until then place_ waits; kNever: it does not
  /// By then whoever knew us before our start has been heard, or has forgotten us.
  TimePoint all_known_at_{};
  std::vector<std::unique_ptr<Port>> ports_{};  ///< by slot; null: free
  std::vector<std::uint32_t> free_slots_{};
  std::unordered_map<Ifindex, Port*> by_ifindex_{};
  DeadlineQueue due_{};
  AlarmBook alarms_{};  ///< the device's and the owner's; those of a port stand with the port
  TimePoint absent_due_ = kNever;  ///< when to look for them
  std::size_t neighbors_ = 0;
  std::vector<Bytes> frames_{};  ///< of the current call; their storage is used again
  std::size_t frames_used_ = 0;
  bool finished_ = false;
};

}  // namespace lldp::core
