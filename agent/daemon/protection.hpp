// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/config/config.hpp"
#include "agent/core/agent.hpp"
#include "agent/daemon/backend_choice.hpp"
#include "agent/daemon/port_rules.hpp"
#include "agent/daemon/unclassed.hpp"
#include "agent/report/report.hpp"
#include "base/time.hpp"
#include "dataplane/backend.hpp"
#include "dataplane/sai/spawner.hpp"
#include "os/dcbnl.hpp"

namespace lldp::io {

/// Keeps the data plane equal to the orders that the agent has for its ports, one port at a time,
/// and reads it back: after each change, when the back end reports a change by another program, and
/// where no event does after the back end's own pause (9 s; 60 s where little is left without one).
/// Removed rules are reinstalled, counted and reported. Whatever the data plane refuses, the agent
/// goes on, an alarm says what is wrong, and a port's rules are tried again after 1 s, 2 s and so
/// on, at last every 30 s.
///
/// Fail-static: a port that has rules of ours at the start, and of which no state file names the
/// neighbor, has those for `up` until a neighbor is heard, or would have been
/// (docs/develop/rules.md A9); nothing is removed at stop unless asked.
class Protection {
 public:
  using NameOf = std::function<std::string_view(Ifindex)>;
  /// Makes the back end, or nothing where none is wanted.
  using Opener = std::function<Result<std::unique_ptr<dataplane::Backend>>()>;

  /// `agent` must outlive this. What `opener` cannot open is tried again like a port's rules.
  Protection(const core::Agent& agent, qos::Policy policy, std::string backend, Opener opener,
             NameOf name_of, TimePoint now);
  /// As configured; the back end of `choice` is opened for the network namespace of the calling
  /// thread. `libsai`: starts its process, if that is the back end.
  [[nodiscard]] static Protection open(const core::Agent& agent, const config::Config& config,
                                       BackendChoice choice,
                                       std::shared_ptr<dataplane::sai::Spawner> libsai,
                                       NameOf name_of, TimePoint now);

  /// True once after the back end has been opened: events() is another.
  [[nodiscard]] bool take_opened() { return std::exchange(opened_, false); }
  /// Once, as the back end could first be asked: whether rules of ours were found in force.
  [[nodiscard]] std::optional<bool> take_found_rules() {
    return std::exchange(found_rules_, std::nullopt);
  }
  /// Whether no other daemon runs here: only then rules on ports that are not ours belong to no
  /// daemon, and are removed. Called when there are any, for daemons come and go; without it they
  /// stay.
  void ask_alone(std::function<bool()> is_alone) { is_alone_ = std::move(is_alone); }
  /// A port is ours from now on. Its rules come with advance(), so that a start with many ports
  /// announces them first. `stacked`: it stands on other interfaces.
  void add(Ifindex port, TimePoint now, bool stacked = false);
  /// The port is no longer ours: its rules go. Where they cannot be taken off, an alarm says so,
  /// and it is tried again like a change.
  void remove(Ifindex port, TimePoint now);
  /// The port is no longer there, after remove(): its rules have gone with it.
  void gone(Ifindex port);
  /// The port's order may have changed: its rules follow, upwards at once. A port whose order goes
  /// to and fro gets a few other changes at once, and then one a second.
  void update(Ifindex port, TimePoint now);
  /// The role or the operator's classes changed.
  void update_all(qos::Policy policy, TimePoint now);
  /// What the port's driver tells of traffic classes, buffers and trust.
  void set_dcb(Ifindex port, dcbnl::Settings settings);
  /// Something of an interface is different, whether a port or not.
  void links_changed() {
    if (backend_) backend_->links_changed();
  }
  /// Something of the interface is different, which may let packets pass by the rules.
  void link_changed(Ifindex port);
  /// The same of an interface that stands on the port.
  void upper_changed(Ifindex port, TimePoint now);
  /// Readable when take_events() has something to do; -1: never.
  [[nodiscard]] int events() const { return backend_ ? backend_->events() : -1; }
  void take_events(TimePoint now);
  /// When advance() has something to do.
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;
  /// It has something to do now, or something that would soon be due, and so costs no wake-up.
  [[nodiscard]] bool has_turn(TimePoint now) const;
  void advance(TimePoint now);
  /// Raises and clears the alarms for what has happened since it was last called, and tells what
  /// was put back.
  void tell(core::Agent& agent, TimePoint now, core::Actions& out);
  /// A request of the agent whose rules are in force: core::Agent::in_force().
  struct InForce {
    Ifindex port{};
    std::uint32_t generation = 0;
    friend bool operator==(const InForce&, const InForce&) = default;
  };
  /// Those since this was last called. A request that was refused is none until it succeeds. Where
  /// no back end is configured there is nothing to wait for, nor of a part that none can do.
  [[nodiscard]] std::vector<InForce> take_in_force() { return std::exchange(in_force_, {}); }
  /// True if summary() may be different since this was last called.
  [[nodiscard]] bool take_changed() { return std::exchange(changed_, false); }
  /// What the back end knows of the platform's own classes; null: it does not.
  [[nodiscard]] const dataplane::PlatformClasses* platform() const {
    return backend_ ? backend_->platform() : nullptr;
  }
  /// What the back end has set of a port's PFC and map of DSCPs.
  [[nodiscard]] dataplane::Backend::Made made(Ifindex port) const;
  /// PFC that the rules have taken from others on this port is meant to be off; or no longer.
  [[nodiscard]] Result<void> accept_pfc(Ifindex port, bool accept, TimePoint now);
  /// Removes exactly what was made. It is the last that is asked of the back end: what was not
  /// programmed yet would be.
  [[nodiscard]] Result<void> flush();

  /// Reads back what may have changed since it was last read, for an answer that is true now.
  void catch_up(TimePoint now);
  /// By what was last read back.
  [[nodiscard]] report::Protection summary(const core::Snapshot& snapshot) const;
  /// Read back now. Differences from the last reading are handled in the next turn: no event would
  /// report them, for the back end has seen them.
  [[nodiscard]] report::Rules rules(const core::Snapshot& snapshot);

 private:
  using Ports = std::map<Ifindex, PortRules>;

  void open_backend(TimePoint now);
  /// The back end can be asked for the first time: rules of an earlier daemon are found.
  void survey(TimePoint now);
  /// Null: nothing is known of the port; or it is not ours.
  [[nodiscard]] PortRules* find(Ifindex port);
  [[nodiscard]] const PortRules* find(Ifindex port) const;
  [[nodiscard]] PortRules* find_ours(Ifindex port);
  [[nodiscard]] PortRules& entry(dataplane::PortRef port);
  /// The one place where a port's state changes.
  void move(PortRules& rules, RulesEvent event);
  /// After a change of what PortRules::due() goes by.
  void schedule(const PortRules& rules) { turns_.set(rules.port.ifindex, rules.due()); }
  /// The port is read back at `due`, if it is not before.
  void wake(PortRules& rules, TimePoint due);
  void begin(PortRules& rules, PortRules::Change change);
  /// Notes which request is in force, if another is.
  void confirm(PortRules& rules);

  /// The port's rules go, now or when the back end can be asked.
  void leave(PortRules& rules, TimePoint now);
  void take_off(PortRules& rules, TimePoint now);  ///< one that leaves
  /// What came of it.
  void left(PortRules& rules, const dataplane::Outcome& outcome, TimePoint now);
  void drop(PortRules& rules);
  /// Rules that have come to ports that are not ours go, unless another daemon may have made them.
  void take_off_strays(TimePoint now);
  void take_off_strays(std::vector<dataplane::PortRef> strays, TimePoint now);
  /// A port of ours that the back end does not know yet gets its rules.
  void adopt(PortRules& rules, TimePoint now);
  /// The time is over in which every neighbor would have been heard: adds the ports that are due.
  void end_found(std::vector<Ifindex>& turn, TimePoint now);

  [[nodiscard]] qos::PortClass class_of(const PortRules& rules) const;
  [[nodiscard]] qos::Ruleset wanted(const PortRules& rules) const;
  [[nodiscard]] report::PortRules rules_of(PortRules& rules, const core::PortInfo* info);
  /// What keeps a port that leads to a switch from being protected.
  [[nodiscard]] std::vector<report::PartReading> faults_of(const core::PortInfo& info) const;
  /// What the back end cannot keep lossless between switches below and switches above.
  void add_crossing_limit(const core::Snapshot& snapshot, report::Protection& summary) const;
  /// What the port's driver tells against the lossless classes.
  void add_dcb_faults(const core::PortInfo& info, const PortRules& rules,
                      std::vector<report::PartReading>& faults) const;
  /// Why spare classes are lossy on the way to the host at a port that is to restore them.
  void add_last_hop(const core::PortInfo& info, report::Protection& summary) const;
  /// Spare classes reach a host there, as where it runs an agent, and it does not tell its PFC.
  void add_unverified_hosts(const core::PortInfo& info, report::Protection& summary) const;
  /// Whether PFC is on at a port that leads to a switch is not known.
  [[nodiscard]] bool is_pfc_unverified(const core::PortInfo& info) const;
  /// What is worth an alarm.
  [[nodiscard]] std::optional<std::string> complaint(const PortRules& rules, TimePoint now) const;
  /// Whether the port's rules may, and have to, follow its order now.
  [[nodiscard]] bool is_due(PortRules& rules, TimePoint now);
  /// Changes the ports, as one plan for the device.
  void program(std::span<const Ifindex> ports, TimePoint now);
  void handle(const dataplane::Events& events, TimePoint now);
  void finish(const dataplane::Outcome& outcome, TimePoint now);
  /// Whether the back end can be asked.
  void follow_state(TimePoint now);
  [[nodiscard]] bool is_up() const { return backend_ && !whole_; }
  [[nodiscard]] bool splits_classes() const { return !backend_ || backend_->splits_classes(); }
  /// It can be asked, but its ports could not be read yet: of no event will they be.
  [[nodiscard]] bool is_unread() const { return backend_ && !surveyed_ && !backend_->down(); }
  [[nodiscard]] dataplane::PortRef ref(Ifindex port) const {
    return {port, std::string(name_of_(port))};
  }
  /// Ports whose change no event reports are read back.
  void glance(dataplane::Backend::Glance why, TimePoint now);
  /// When one of time is due.
  [[nodiscard]] std::optional<TimePoint> glance_at() const;
  [[nodiscard]] bool may_glance(TimePoint now) const;
  /// Counts packets that turned at the port in no class.
  void count_unclassed(std::span<const Ifindex> ports, TimePoint now);
  [[nodiscard]] std::optional<std::string> unclassed_text(TimePoint now) const;
  /// Reads the port back, and puts back what is lost.
  void look(PortRules& rules, TimePoint now);
  void note(PortRules& rules, const dataplane::Outcome& outcome, TimePoint now);
  void note_whole(std::optional<Error> why, TimePoint now);
  /// What stands there could not be read: no attempt at a change, whose next turn stays as it was.
  void note_unread(PortRules& rules, const Error& why, TimePoint now);

  const core::Agent* agent_;
  qos::Policy policy_;
  std::string backend_name_;
  std::string backend_reason_{};
  Opener opener_;
  std::unique_ptr<dataplane::Backend> backend_;
  bool opened_ = false;
  bool surveyed_ = false;
  std::optional<bool> found_rules_{};
  NameOf name_of_;

  Ports ports_;
  std::map<Ifindex, dcbnl::Settings> dcb_;
  std::size_t ours_ = 0;                  ///< ports of ours among them
  Turns turns_;                           ///< while the back end can be asked
  std::optional<Failure> whole_;          ///< the back end cannot be opened, asked or read
  std::optional<TimePoint> found_until_;  ///< by then every neighbor would have been heard
  std::function<bool()> is_alone_ = [] { return false; };
  std::optional<TimePoint> glances_since_;  ///< the last one of time, or when they began
  TimePoint asked_at_{};                    ///< of the last glance before an answer
  std::optional<TimePoint> counted_at_{};   ///< packets in no class, at all ports

  /// An alarm of this code stands on the port with that text, or, without one, does not; `told`:
  /// the name under which it does.
  static void tell(std::optional<std::string>& told, core::AlarmCode code, std::string name,
                   std::optional<std::string> text, core::Agent& agent, TimePoint now,
                   core::Actions& out);
  void tell_whole(core::Agent& agent, TimePoint now, core::Actions& out);
  std::vector<InForce> in_force_;  ///< since take_in_force()
  std::set<Ifindex> untold_;       ///< may have a complaint, or one less
  std::size_t complaints_ = 0;     ///< ports of ours with one
  std::optional<std::string> told_whole_{};
  bool whole_untold_ = false;
  UnclassedTraffic unclassed_;
  std::optional<std::string> told_unclassed_{};  ///< as tell() has it
  bool unclassed_untold_ = false;
  std::vector<std::pair<Ifindex, std::string>> restored_;  ///< put back since tell()
  bool unprotected_ = false;                               ///< the alarm stands
  bool changed_ = false;
};

}  // namespace lldp::io
