// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/companions/companions.hpp"
#include "agent/configdb/config_db.hpp"
#include "agent/control/control.hpp"
#include "agent/core/agent.hpp"
#include "agent/daemon/auto_role.hpp"
#include "agent/daemon/backend_choice.hpp"
#include "agent/daemon/protection.hpp"
#include "agent/daemon/state_keeper.hpp"
#include "agent/daemon/watched.hpp"
#include "agent/links/link_monitor.hpp"
#include "agent/links/mac_phy.hpp"
#include "agent/links/machine.hpp"
#include "agent/links/pfc_monitor.hpp"
#include "agent/lldpd/lldpd_transport.hpp"
#include "agent/process/log.hpp"
#include "agent/process/presence.hpp"
#include "agent/process/privileges.hpp"
#include "agent/process/service.hpp"
#include "agent/process/usage.hpp"
#include "agent/report/report.hpp"
#include "agent/wire/packet_io.hpp"
#include "os/timer.hpp"

namespace lldp::io {

namespace asio = boost::asio;

/// The loop and what it brings together. daemon.cpp has a turn of it, daemon_ports.cpp what the
/// device is and which its ports are, daemon_control.cpp what is asked of it.
class Daemon final : ControlHandler {
 public:
  static Result<std::unique_ptr<Daemon>> start(const config::Invocation& invocation,
                                               config::Config config,
                                               std::optional<Companions::Launchers> launchers,
                                               std::shared_ptr<dataplane::sai::Spawner> libsai,
                                               std::unique_ptr<ConfigDb> config_db);
  void run() { loop_.run(); }

 private:
  struct ManagedPort {
    std::string link{};   ///< its name in octets
    std::string name{};   ///< escaped
    bool paused = false;  ///< and the alarm says so
  };
  /// One of the two ways frames come in.
  struct Intake {
    PacketIo::Turn (PacketIo::*receive)(const PacketIo::Handler&) = nullptr;
    std::optional<Watched> watched{};
    std::optional<TimePoint> gathering{};  ///< until then it is not read
    TimePoint last{};                      ///< turn
    int close_turns = 0;                   ///< that followed each other closely
  };

  Daemon(const config::Invocation& invocation, config::Config config, BackendChoice choice,
         LinkMonitor links, PacketIo packets, Timer timer, StateKeeper keeper,
         const core::State& state, std::shared_ptr<dataplane::sai::Spawner> libsai,
         std::unique_ptr<ConfigDb> config_db, TimePoint now);

  [[nodiscard]] static std::vector<MacAddress> group_addresses(
      const std::vector<core::Scope>& scopes);
  void announce_presence();
  void tell_ready();
  void open_ports(TimePoint now);
  void stand_beside_lldpd(TimePoint now);
  void shutdown();
  void on_signal();
  void on_timer();
  void take_frames(Intake& intake, TimePoint now);

  /// What the kernel has told of links by now.
  void read_links();
  /// The same, and waits for more.
  void follow_links();
  void consider(const Interface& link, TimePoint now);
  /// The rules of the ports that it stands on may hold no longer, or again.
  void tell_lower(const Interface& upper, TimePoint now);
  /// `gone`: the interface is, too; else its neighbors are told.
  void drop_port(Ifindex ifindex, bool gone, TimePoint now);
  /// After links have come, gone or changed: what the machine is, and so which its ports are.
  void survey(TimePoint now);
  void watch_for_no_port(TimePoint now);
  /// Ports that the configuration names, and that are not here: an alarm for each.
  void watch_for_missing_ports(TimePoint now);
  /// Interfaces that `ports` leaves out without a word, though packets take them: the same.
  void watch_for_left_out(TimePoint now);
  /// Whether this host is a router that nothing protects: an alarm.
  void watch_for_forwarding(TimePoint now);
  /// What the configuration names, and is not here; it may yet come.
  void say_what_is_no_interface();
  /// The system's name may have been changed since it was read.
  void follow_host_name(TimePoint now);
  /// After what the core is told of the machine may have changed: its role, its addresses.
  void update_settings(TimePoint now);
  [[nodiscard]] Machine::Verdict judge_role();
  [[nodiscard]] std::string role_text() const;
  [[nodiscard]] std::optional<PortId> port_id(const Interface& link) const;
  [[nodiscard]] std::string description(const Interface& link) const;
  /// For `rails`; empty: none.
  [[nodiscard]] std::string rail_group(const std::string& port) const;
  /// As the core is to know it.
  [[nodiscard]] core::Link link_of(const Interface& link);
  [[nodiscard]] core::AdminStatus admin_status(const std::string& port) const;
  [[nodiscard]] std::optional<Layers> layers(const std::string& port) const;
  void load_plan(TimePoint now);
  void watch_pfc();
  /// Follows what the data plane tells, from when it can be opened on.
  void watch_rules(TimePoint now);
  [[nodiscard]] core::Settings settings();
  /// What the back end knows of the platform's classes may be another.
  void follow_platform(TimePoint now);
  /// What is known here of the lossless classes.
  [[nodiscard]] core::OwnClasses own_classes() const;
  /// The classes in force and the lossy one.
  [[nodiscard]] qos::Policy policy() const;
  /// The data plane gets the classes in force, if they are others.
  void follow_classes(TimePoint now);

  /// Rows of CONFIG_DB are configuration, and STATE_DB is told of the ports.
  void follow_config_db();
  /// What is wrong with rows is an alarm.
  void judge_rows(const config::Errors& errors);
  void tell_state(TimePoint now);
  /// What `show` would say is different.
  void notify_changed();

  void perform(TimePoint now);
  void perform(const core::Event& event, TimePoint now);
  void report(const PacketIo::SendFailure& failure, TimePoint now);
  /// Ends a turn: what is due is done, the timer is set for what comes next.
  void settle();
  /// Clients find the control socket, though another program has removed its file.
  void keep_control(TimePoint now);
  void set_timer(TimePoint now);
  /// The name of a port: escaped, and in octets.
  [[nodiscard]] std::string_view name_of(Ifindex port) const;
  [[nodiscard]] std::string_view octets_of(Ifindex port) const;
  [[nodiscard]] LldpdTransport::Speaker speaker() const {
    return beside_ ? beside_->speaker() : LldpdTransport::Speaker::kPackets;
  }

  std::string show_json(std::span<const std::string> ports) override;
  std::string detail_json(std::span<const std::string> ports) override;
  std::string show_json(std::span<const std::string> ports, core::Depth depth);
  std::string stats_json(std::span<const std::string> ports) override;
  std::string rules_json() override;
  std::string config_json() override;
  Result<std::string, std::vector<Error>> reload_json() override;
  Result<void, std::vector<Error>> reload();
  Result<void> forget(std::span<const std::string> ports) override;
  Result<void> update(std::span<const std::string> ports) override;
  Result<void> pause(std::span<const std::string> ports) override;
  Result<void> resume(std::span<const std::string> ports) override;
  Result<void> set(std::string_view key, std::string_view value) override;
  Result<void> mute(std::string_view alarm, std::string_view port,
                    std::string_view seconds) override;
  Result<void> accept_pfc(const std::string& port, bool accept) override;
  /// The ports that these names and globs are; one that is none is an error.
  [[nodiscard]] Result<std::vector<Ifindex>> find_ports(std::span<const std::string> globs) const;
  /// The configuration has changed: all parts of the daemon are told.
  void adopt(config::Config fresh);

  /// Without locks: one thread runs it, and no other touches it or what waits in it.
  asio::io_context loop_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
  config::Invocation invocation_;
  config::Config config_;
  /// Alarms that `check` passes over, by code and port, and until when.
  std::map<std::pair<std::string, std::string>, TimePoint> muted_{};
  std::map<std::string, std::string> set_;  ///< on request, until the next reload
  /// What is read at start only, as it was at the last reload, where another value is in force.
  std::map<std::string, std::string, std::less<>> after_restart_{};
  std::set<std::string, std::less<>> paused_{};  ///< ports, on request; not all need be here
  // By escaped names.
  std::map<std::string, Ifindex> named_{};  ///< interfaces that the configuration names, once seen
  std::map<std::string, Ifindex> renamed_{};  ///< ports that were called so, since the last reload
  std::set<std::string> missing_{};           ///< names of ports for which an alarm stands
  std::set<std::string> left_out_{};          ///< the same of interfaces that are no ports
  std::string host_name_{};
  TimePoint host_name_read_{};
  std::string system_description_{};
  std::optional<cabling::Expectations> expected_;  ///< by the file that `expect` names
  Service service_;
  const Usage usage_;
  LinkMonitor links_;
  PacketIo packets_;
  std::optional<PfcMonitor> pfc_;
  std::map<Ifindex, core::PortClasses> dcb_{};  ///< of ports whose driver tells, as it is
  /// What the back end knows of the platform's classes; with it no driver is asked for them.
  std::optional<dataplane::PlatformClasses> platform_{};
  std::optional<LinkSettings> hardware_;  ///< how it negotiates
  Timer timer_;
  StateKeeper state_;
  std::optional<Presence> presence_;
  Machine machine_;
  bool surveyed_ = true;  ///< machine_ is of the interfaces as they are
  std::unordered_map<Ifindex, ManagedPort> ports_;
  std::optional<LldpdTransport> beside_;  ///< not with `transport = packet`
  AutoRole auto_role_;
  RouterDoubt router_doubt_{};
  bool doubt_told_ = false;
  Machine::Verdict role_{};  ///< that the agent's settings have
  bool has_guests_ = false;  ///< for which this host forwards
  core::Agent agent_;
  Protection protection_;
  qos::Chains followed_{};  ///< by the data plane
  std::map<Ifindex, std::uint8_t> followed_lossy_{};

  core::Actions actions_;
  std::vector<PacketIo::SendFailure> failures_;
  PacketIo::Handler on_frame_;
  TimePoint turn_{};      ///< the time that this turn's frames are given
  bool running_ = false;  ///< ready; ports that come now are worth a line
  LogGate gate_;

  std::optional<TimePoint> armed_;  ///< what the timer is set for
  std::optional<TimePoint> watchdog_due_;
  std::optional<TimePoint> start_ends_;  ///< and what only it read goes back to the kernel
  std::optional<TimePoint> retry_due_;   ///< of what the kernel or the disk refused
  Intake shared_{.receive = &PacketIo::receive_shared};
  Intake own_{.receive = &PacketIo::receive_own};
  std::optional<Watched> link_events_;
  std::optional<Watched> lldpd_events_;
  std::optional<Watched> pfc_events_;
  std::optional<Watched> rules_events_;
  std::deque<Watched> state_events_;
  std::optional<Watched> timer_events_;
  asio::signal_set signals_{loop_, SIGTERM, SIGINT, SIGHUP};
  std::unique_ptr<ControlServer> control_;
  TimePoint control_looked_{};
  std::string control_trouble_{};        ///< that was logged
  std::unique_ptr<ConfigDb> config_db_;  ///< not without `sonic.config-db`
  std::optional<Watched> config_db_events_;
  std::optional<TimePoint> state_due_;  ///< STATE_DB is to be told
  TimePoint state_told_{};
  std::optional<Companions> companions_;
};

}  // namespace lldp::io
