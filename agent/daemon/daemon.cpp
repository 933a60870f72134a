// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/daemon.hpp"

#include <fmt/core.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "agent/companions/companions.hpp"
#include "agent/control/control.hpp"
#include "agent/core/agent.hpp"
#include "agent/daemon/auto_role.hpp"
#include "agent/daemon/cabling_plan.hpp"
#include "agent/daemon/protection.hpp"
#include "agent/daemon/state_file.hpp"
#include "agent/daemon/watched.hpp"
#include "agent/links/link_monitor.hpp"
#include "agent/links/machine.hpp"
#include "agent/links/pfc_monitor.hpp"
#include "agent/links/port_policy.hpp"
#include "agent/lldpd/beside.hpp"
#include "agent/process/log.hpp"
#include "agent/process/privileges.hpp"
#include "agent/process/service.hpp"
#include "agent/process/usage.hpp"
#include "agent/report/change.hpp"
#include "agent/report/report.hpp"
#include "agent/wire/packet_io.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"

namespace lldp::io {
namespace {

namespace asio = boost::asio;

/// How long to let frames gather that come in a stream: a wake-up for every few frames costs more
/// than the frames. A stream is what fills a turn, or has kStream turns follow each other closely;
/// the few frames of a fabric that is coming up are none.
constexpr std::chrono::milliseconds kGather{4};
constexpr std::chrono::milliseconds kClosely{1};
constexpr int kStream = 16;

/// Until what was refused is tried again: the list of interfaces, the state file.
constexpr std::chrono::seconds kRetry{1};

/// How long lldpd may take to drop our TLVs when we stop.
constexpr std::chrono::seconds kWithdrawal{2};

/// What the agent has to do later is done at multiples of this: its timers count seconds (IEEE
/// 802.1AB-2016 9.2.5), and with many ports it is the wake-ups that cost.
using Tick = std::chrono::duration<std::int64_t, std::ratio<1, 8>>;

std::vector<MacAddress> group_addresses(const std::vector<core::Scope>& scopes) {
  std::vector<MacAddress> groups;
  for (const core::Scope scope : scopes) groups.push_back(core::group_address(scope));
  return groups;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                          : std::string();
}

/// By what it knew when it was last saved.
bool was_switch(const core::State& state) {
  return state.role != Role::kHost &&
         (state.level || (state.place && state.place->level > Level::of<0>()));
}

Severity severity_of(core::Event::Kind kind) {
  using enum core::Event::Kind;
  switch (kind) {
    case kAlarmRaised:
      return Severity::kWarning;
    case kLevel:
    case kPlace:
    case kAlarmCleared:
      return Severity::kNotice;
    case kNeighborAdded:
    case kNeighborChanged:
    case kNeighborRemoved:
    case kPort:
    case kState:
      break;
    case kRulesRestored:
      return Severity::kWarning;
  }
  return Severity::kInfo;
}

class Daemon final : ControlHandler {
 public:
  static Result<std::unique_ptr<Daemon>> start(const config::Invocation& invocation,
                                               config::Config config,
                                               std::optional<Companions::Launchers> launchers);
  void run() { loop_.run(); }

 private:
  struct ManagedPort {
    std::string name{};  ///< escaped
  };
  /// One of the two ways frames come in.
  struct Intake {
    PacketIo::Turn (PacketIo::*receive)(const PacketIo::Handler&) = nullptr;
    std::optional<Watched> watched{};
    std::optional<TimePoint> gathering{};  ///< until then it is not read
    TimePoint last{};                      ///< turn
    int close_turns = 0;                   ///< that followed each other closely
  };

  Daemon(const config::Invocation& invocation, config::Config config, LinkMonitor links,
         PacketIo packets, UniqueFd timer, core::State state, TimePoint now);

  void open_ports(TimePoint now);
  void stand_beside_lldpd(TimePoint now);
  void shutdown();
  void on_signal();
  void on_timer();
  void take_frames(Intake& intake, TimePoint now);

  void follow_links();
  void consider(const Interface& link, TimePoint now);
  void drop_port(Ifindex ifindex, TimePoint now);
  /// After links have come, gone or changed: what the machine is, and so which its ports are.
  void survey(TimePoint now);
  void watch_for_no_port(TimePoint now);
  void update_role(TimePoint now);
  [[nodiscard]] Machine::Verdict role();
  [[nodiscard]] std::string role_text();
  [[nodiscard]] core::AdminStatus admin_status(const std::string& port) const;
  void load_plan(TimePoint now);
  void watch_pfc();
  void watch_rules();
  [[nodiscard]] core::Settings settings();

  void perform(TimePoint now);
  void perform(const core::Event& event, TimePoint now);
  void report(const PacketIo::SendFailure& failure, TimePoint now);
  /// Before a frame tells of it: docs/rules.md O5.
  void write_state();
  /// The same and, after the frames, for good.
  void save_state();
  void note_saved(const Result<void>& saved);
  /// Ends a turn: what is due is done, the timer is set for what comes next.
  void settle();
  void set_timer(TimePoint now);
  [[nodiscard]] std::string_view name_of(Ifindex port) const;
  [[nodiscard]] Beside::Speaker speaker() const {
    return beside_ ? beside_->speaker() : Beside::Speaker::kPackets;
  }

  std::string show_json(std::span<const std::string> ports) override;
  std::string stats_json(std::span<const std::string> ports) override;
  std::string rules_json() override;
  Result<void> reload() override;
  Result<void> forget(std::span<const std::string> ports) override;

  asio::io_context loop_{1};
  config::Invocation invocation_;
  config::Config config_;
  std::string host_name_ = host_name();
  std::optional<cabling::Expectations> expected_;  ///< by the file that `expect` names
  Service service_;
  const Usage usage_;
  LinkMonitor links_;
  PacketIo packets_;
  std::optional<PfcMonitor> pfc_;
  UniqueFd timer_fd_;
  Machine machine_;
  bool surveyed_ = true;  ///< machine_ is of the interfaces as they are
  std::unordered_map<Ifindex, ManagedPort> ports_;
  std::optional<Beside> beside_;  ///< not with `transport = packet`
  AutoRole auto_role_;
  core::Agent agent_;
  Protection protection_;

  core::Actions actions_;
  std::vector<PacketIo::SendFailure> failures_;
  PacketIo::Handler on_frame_;
  TimePoint turn_{};  ///< the time that this turn's frames are given
  bool state_changed_ = false;
  bool state_written_ = false;  ///< and not durable yet
  bool state_unsaved_ = false;  ///< the disk refused, and that has been said
  bool running_ = false;        ///< ready; ports that come now are worth a line
  LogGate gate_;

  std::optional<TimePoint> armed_;  ///< what the timer is set for
  std::optional<TimePoint> watchdog_due_;
  std::optional<TimePoint> retry_due_;  ///< of what the kernel or the disk refused
  Intake shared_{.receive = &PacketIo::receive_shared};
  Intake own_{.receive = &PacketIo::receive_own};
  std::optional<Watched> link_events_;
  std::optional<Watched> lldpd_events_;
  std::optional<Watched> pfc_events_;
  std::optional<Watched> rules_events_;
  std::optional<Watched> timer_;
  asio::signal_set signals_{loop_, SIGTERM, SIGINT, SIGHUP};
  std::unique_ptr<ControlServer> control_;
  std::optional<Companions> companions_;
};

Result<std::unique_ptr<Daemon>> Daemon::start(const config::Invocation& invocation,
                                              config::Config config,
                                              std::optional<Companions::Launchers> launchers) {
  const auto group = join_group(config.control_group);
  if (!group) return fail(group.error());
  if (config.transport != config::Transport::kPacket) join_group_of_lldpd(config.lldpd_socket);
  if (auto dropped = drop_capabilities(); !dropped) return fail(dropped.error());
  auto packets = PacketIo::open(group_addresses(config.core.scopes));
  if (!packets) return fail(packets.error());
  auto links = LinkMonitor::open();
  if (!links) return fail(links.error());
  UniqueFd timer(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer) return fail(Error{errno, "timer", std::strerror(errno)});
  auto state = load_state(config.state_file);
  if (!state) log(Severity::kError, state.error());

  const TimePoint now = boot_time();
  std::unique_ptr<Daemon> daemon(new Daemon(invocation, std::move(config), std::move(*links),
                                            std::move(*packets), std::move(timer),
                                            state.value_or(core::State{}), now));
  auto control = ControlServer::open(daemon->loop_, daemon->config_.socket, *daemon, {}, *group);
  if (!control) return fail(control.error());
  daemon->control_ = std::move(*control);
  daemon->companions_.emplace(
      daemon->loop_, std::move(launchers),
      [control = daemon->control_.get()] { return control->connect(); }, Companions::Times{});
  daemon->companions_->configure(daemon->config_);
  daemon->open_ports(now);
  return daemon;
}

Daemon::Daemon(const config::Invocation& invocation, config::Config config, LinkMonitor links,
               PacketIo packets, UniqueFd timer, core::State state, TimePoint now)
    : invocation_(invocation),
      config_(std::move(config)),
      links_(std::move(links)),
      packets_(std::move(packets)),
      timer_fd_(std::move(timer)),
      machine_(links_.interfaces()),  // before the agent: its role must not change while it starts
      auto_role_(was_switch(state)),
      agent_(settings(), std::move(state), now),
      protection_(
          Protection::open(agent_, config_, [this](Ifindex port) { return name_of(port); })) {}

void Daemon::watch_pfc() {
  auto opened = PfcMonitor::open();
  if (!opened) return log(Severity::kWarning, opened.error());  // the rest does without
  pfc_ = std::move(*opened);
  pfc_events_.emplace(loop_, pfc_->fd(), [this] {
    pfc_->receive([this](std::string_view name) {
      for (const auto& [ifindex, link] : links_.interfaces())
        if (name.empty() || link.name == name) consider(link, boot_time());
    });
    settle();
    pfc_events_->wait();
  });
  pfc_events_->wait();
}

void Daemon::watch_rules() {
  if (protection_.events() < 0) return;
  rules_events_.emplace(loop_, protection_.events(), [this] {
    protection_.take_events();
    settle();
    rules_events_->wait();
  });
  rules_events_->wait();
}

void Daemon::open_ports(TimePoint now) {
  watch_pfc();
  watch_rules();
  on_frame_ = [this](Ifindex port, ByteSpan frame) {
    if (speaker() == Beside::Speaker::kLldpd) return;  // came before the sockets were deaf
    if (control_->recording()) control_->frame_seen(Direction::kIn, name_of(port), frame);
    agent_.receive(port, frame, turn_, actions_);
    if (!actions_.sends.empty() || !actions_.events.empty()) perform(turn_);
  };
  if (config_.transport != config::Transport::kPacket) stand_beside_lldpd(now);
  if (protection_.found_rules()) agent_.assume_rules(now, actions_);
  for (const auto& [ifindex, link] : links_.interfaces()) consider(link, now);
  load_plan(now);
  agent_.configure(settings(), now, actions_);
  perform(now);

  links_.observe({.changed =
                      [this](const Interface& link) {
                        surveyed_ = false;
                        consider(link, boot_time());
                      },
                  .gone =
                      [this](Ifindex ifindex) {
                        surveyed_ = false;
                        drop_port(ifindex, boot_time());
                      },
                  .forwarding = [this] { update_role(boot_time()); }});
  link_events_.emplace(loop_, links_.fd(), [this] {
    follow_links();
    settle();
  });
  for (auto [intake, fd] :
       {std::pair(&shared_, packets_.shared_fd()), {&own_, packets_.own_fd()}}) {
    intake->watched.emplace(loop_, fd, [this, intake = intake] {
      take_frames(*intake, boot_time());
      settle();
    });
    intake->watched->wait();
  }
  timer_.emplace(loop_, timer_fd_.get(), [this] { on_timer(); });
  link_events_->wait();
  timer_->wait();
  on_signal();

  if (service_.watchdog()) watchdog_due_ = now;
  watch_for_no_port(now);
  settle();
  running_ = true;
  service_.ready();
  log(Severity::kInfo,
      fmt::format("ready: {} port{}, {}{}", ports_.size(), ports_.size() == 1 ? "" : "s",
                  role_text(), config_.dry_run ? "; a dry run: nothing is sent" : ""));
}

void Daemon::stand_beside_lldpd(TimePoint now) {
  beside_.emplace(
      config_,
      Beside::Owner{.ports =
                        [this] {
                          std::vector<std::pair<Ifindex, std::string>> out;
                          for (const auto& [ifindex, link] : links_.interfaces())
                            if (ports_.contains(ifindex)) out.emplace_back(ifindex, link.name);
                          return out;
                        },
                    .announcement = [this](Ifindex port) { return agent_.announcement(port); },
                    .heard =
                        [this](Ifindex port, ByteSpan frame) {
                          agent_.receive(port, frame, boot_time(), actions_);
                          perform(boot_time());
                        },
                    .identified =
                        [this] {
                          agent_.configure(settings(), boot_time(), actions_);
                          perform(boot_time());
                          for (const auto& [ifindex, link] : links_.interfaces())
                            consider(link, boot_time());
                        },
                    .speaks =
                        [this](Beside::Speaker speaker) {
                          packets_.set_deaf(speaker == Beside::Speaker::kLldpd);
                          if (speaker == Beside::Speaker::kPackets) agent_.announce(boot_time());
                          control_->notify_changed();
                        },
                    .alarm =
                        [this](std::string_view port, std::optional<std::string> text) {
                          using core::AlarmCode;
                          if (text)
                            agent_.raise_alarm(AlarmCode::kLldpd, port, *text, boot_time(),
                                               actions_);
                          else
                            agent_.clear_alarm(AlarmCode::kLldpd, port, actions_);
                          perform(boot_time());
                        }},
      now);
  lldpd_events_.emplace(loop_, beside_->fd(), [this] {
    beside_->receive(boot_time());
    settle();
    lldpd_events_->wait();
  });
  lldpd_events_->wait();
}

void Daemon::on_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (signal != SIGHUP) return shutdown();
    if (auto reloaded = reload(); !reloaded) log(Severity::kError, reloaded.error());
    on_signal();
  });
}

void Daemon::shutdown() {
  service_.stopping();
  const TimePoint now = boot_time();
  agent_.shutdown(now, actions_);
  perform(now);
  if (speaker() == Beside::Speaker::kLldpd) beside_->withdraw(kWithdrawal);
  if (config_.flush) protection_.flush();
  settle();
  loop_.stop();
}

void Daemon::on_timer() {
  std::uint64_t expirations = 0;
  [[maybe_unused]] const auto octets = ::read(timer_fd_.get(), &expirations, sizeof expirations);
  armed_.reset();
  const TimePoint now = boot_time();
  for (Intake* intake : {&shared_, &own_})
    if (intake->gathering && *intake->gathering <= now) take_frames(*intake, now);
  if (watchdog_due_ && *watchdog_due_ <= now) {
    service_.alive();
    watchdog_due_ = now + *service_.watchdog();
  }
  settle();
  timer_->wait();
}

void Daemon::take_frames(Intake& intake, TimePoint now) {
  turn_ = now;
  intake.gathering.reset();
  intake.close_turns = now - intake.last < kClosely ? intake.close_turns + 1 : 0;
  intake.last = now;
  const PacketIo::Turn turn = (packets_.*intake.receive)(on_frame_);
  if (turn == PacketIo::Turn::kBusy ||
      (turn == PacketIo::Turn::kIdle && intake.close_turns >= kStream))
    intake.gathering = now + kGather;
  else
    intake.watched->wait();
}

void Daemon::follow_links() {
  const bool told = links_.behind();
  if (auto received = links_.receive(); !received && !told) log(Severity::kError, received.error());
  if (!surveyed_) survey(boot_time());
  if (!links_.behind()) link_events_->wait();  // else it would wake us until the retry
}

void Daemon::consider(const Interface& link, TimePoint now) {
  if (!is_port(link, config_.ports, machine_)) return drop_port(link.ifindex, now);
  const auto [it, fresh] = ports_.try_emplace(link.ifindex);
  ManagedPort& port = it->second;
  port.name = escape(link.name);
  if (auto added = packets_.add(port_of(link)); !added)
    log(Severity::kError, {added.error().code, port.name, to_string(added.error())});
  if (fresh && running_) log(Severity::kInfo, fmt::format("{}: port added", port.name));
  agent_.set_link({.ifindex = link.ifindex,
                   .name = link.name,
                   .port_id = beside_ ? beside_->port_id(link.ifindex) : std::nullopt,
                   .address = link.address,
                   .up = link.up,
                   .carrier_changes = link.carrier_changes,
                   .mtu = link.mtu,
                   .pfc = pfc_ ? pfc_->ask(link.name) : std::nullopt,
                   .adminStatus = admin_status(link.name)},
                  now, actions_);
  perform(now);
  if (beside_) beside_->add_port(link.ifindex, link.name, now);
  if (fresh)
    protection_.add(link.ifindex, now);
  else
    protection_.link_changed(link.ifindex);
}

void Daemon::drop_port(Ifindex ifindex, TimePoint now) {
  const auto it = ports_.find(ifindex);
  if (it == ports_.end()) return;
  protection_.remove(ifindex);
  agent_.remove_link(ifindex, now, actions_);
  perform(now);
  if (beside_) beside_->remove_port(ifindex);
  packets_.remove(ifindex);
  log(Severity::kInfo, fmt::format("{}: port removed", it->second.name));
  ports_.erase(it);
  gate_.forget(ifindex);
}

void Daemon::survey(TimePoint now) {
  surveyed_ = true;
  if (Machine found(links_.interfaces()); found != machine_) {
    machine_ = std::move(found);
    if (config_.ports.wanted.empty())
      for (const auto& [ifindex, link] : links_.interfaces()) consider(link, now);
    update_role(now);
  }
  watch_for_no_port(now);
}

void Daemon::watch_for_no_port(TimePoint now) {
  using core::AlarmCode;
  if (!ports_.empty())
    agent_.clear_alarm(AlarmCode::kNoPort, {}, actions_);
  else if (config_.ports.wanted.empty())
    agent_.raise_alarm(AlarmCode::kNoPort, {},
                       "no physical Ethernet port is here: name in ports what shall be one", now,
                       actions_);
  else
    agent_.raise_alarm(AlarmCode::kNoPort, {},
                       "no Ethernet interface is called as ports says: correct it", now, actions_);
  perform(now);
}

core::AdminStatus Daemon::admin_status(const std::string& port) const {
  using enum core::AdminStatus;
  const auto set = config_.admin.find(port);
  const core::AdminStatus status = set == config_.admin.end() ? enabledRxTx : set->second;
  if (!config_.dry_run) return status;
  return status == enabledRxTx || status == enabledRxOnly ? enabledRxOnly : disabled;
}

Machine::Verdict Daemon::role() {
  switch (config_.role) {
    case config::Role::kHost:
      return {Role::kHost, {}};
    case config::Role::kSwitch:
      return {Role::kSwitch, {}};
    case config::Role::kAuto:
      break;
  }
  Machine::Verdict found = machine_.role(links_.forwarding());
  if (auto_role_.follow(found.role == Role::kSwitch, boot_time()) != found.role)
    found = {Role::kSwitch, "it was one until now"};
  return found;
}

std::string Daemon::role_text() {
  const auto [role, why] = this->role();
  return why.empty() ? std::string(to_string(role))
                     : fmt::format("{}, for {}", to_string(role), why);
}

core::Settings Daemon::settings() {
  core::Settings settings = config_.core;
  settings.role = role().role;
  if (settings.system_name.empty()) settings.system_name = host_name_;
  settings.expected = expected_;
  // The order of two switches has to come out the same at both ends.
  if (beside_ && beside_->chassis_id()) settings.chassis_id = beside_->chassis_id();
  settings.lossless = config_.policy.pfc_enable();
  return settings;
}

void Daemon::load_plan(TimePoint now) {
  agent_.clear_alarm(core::AlarmCode::kCabling, {}, actions_);
  if (config_.expect.empty()) return expected_.reset();
  auto plan = load_cabling_plan(config_.expect, settings().system_name, agent_.chassis_id());
  if (plan) {
    expected_ = std::move(*plan);
    return;
  }
  // What was read before counts on, and who reads the alarms learns that it is not the file.
  agent_.raise_alarm(core::AlarmCode::kCabling, {}, to_string(plan.error()), now, actions_);
}

void Daemon::update_role(TimePoint now) {
  const core::Settings wanted = settings();
  if (wanted.role == agent_.settings().role) return;
  log(Severity::kNotice, fmt::format("role: {}", role_text()));
  agent_.configure(wanted, now, actions_);
  perform(now);
  protection_.update_all(config_.policy, now);
}

void Daemon::perform(TimePoint now) {
  // The rules before anything else: until they are changed, packets take the wrong class.
  for (const core::Event& event : actions_.events)
    if (event.kind == core::Event::Kind::kPort) protection_.update(event.port, now);
  for (const core::Event& event : actions_.events)
    state_changed_ |= event.kind == core::Event::Kind::kState;
  if (state_changed_ && !actions_.sends.empty()) write_state();
  if (beside_) beside_->tell(actions_.sends, now);
  if (!actions_.sends.empty() && speaker() == Beside::Speaker::kPackets) {
    packets_.send(actions_.sends, failures_);
    for (const PacketIo::SendFailure& failure : failures_) report(failure, now);
    failures_.clear();
    if (control_->recording())
      for (const core::Send& send : actions_.sends)
        control_->frame_seen(Direction::kOut, name_of(send.port), send.frame);
  }
  for (const core::Event& event : actions_.events) perform(event, now);
  if (!actions_.events.empty()) control_->notify_changed();
  actions_.clear();
  protection_.tell(agent_, now, actions_);
  if (protection_.take_changed()) control_->notify_changed();
  if (!actions_.events.empty()) perform(now);
}

void Daemon::perform(const core::Event& event, TimePoint now) {
  using enum core::Event::Kind;
  if (event.kind == kState) return;  // it is written
  if (companions_->wants_changes())
    companions_->changed(report::change_json(
        event, {.clock = {.wall = std::chrono::system_clock::now(), .boot = now},
                .system_name = agent_.settings().system_name,
                .level = agent_.level(),
                .port = name_of(event.port),
                .type = agent_.type(event.port),
                .order = agent_.order(event.port)}));
  const auto left_out = gate_.admit(event.port, now);
  if (!left_out) return;
  const std::string_view port = name_of(event.port);
  const std::string_view colon = port.empty() ? "" : ": ";
  if (*left_out != 0)
    log(Severity::kWarning, fmt::format("{}{}{} lines left out", port, colon, *left_out));
  log(severity_of(event.kind), fmt::format("{}{}{}", port, colon, report::change_line(event)));
}

void Daemon::report(const PacketIo::SendFailure& failure, TimePoint now) {
  // An interface that went down or away in the middle of it: netlink tells, or has told.
  if (failure.error == ENETDOWN || failure.error == ENXIO || failure.error == ENODEV) return;
  // Anything else (ENOBUFS: its queue is full) costs this frame; the next one comes by itself.
  if (gate_.admit(failure.port, now))
    log(Severity::kWarning,
        fmt::format("{}: frame not sent: {}", name_of(failure.port), std::strerror(failure.error)));
}

void Daemon::write_state() {
  state_changed_ = false;
  const auto written = lldp::io::write_state(config_.state_file, agent_.state());
  state_written_ = written.has_value();
  if (!written) note_saved(written);  // else when it is durable
}

void Daemon::save_state() {
  if (state_changed_) write_state();
  if (!std::exchange(state_written_, false)) return;
  note_saved(commit_state(config_.state_file));
}

void Daemon::note_saved(const Result<void>& saved) {
  if (!saved && !state_unsaved_) log(Severity::kError, saved.error());  // no reason to be silent
  state_unsaved_ = !saved;
}

void Daemon::settle() {
  // Before the agent's turn: who speaks for it has to be known, and what that makes due is due now.
  if (beside_) {
    const TimePoint asked = boot_time();
    if (const auto due = beside_->next_deadline(); due && *due <= asked) beside_->advance(asked);
  }
  const TimePoint now = boot_time();
  if (retry_due_ && *retry_due_ <= now) {
    retry_due_.reset();
    if (links_.behind()) follow_links();
    state_changed_ |= state_unsaved_;
  }
  if (const auto due = auto_role_.deadline(); due && *due <= now) update_role(now);
  if (const auto due = agent_.next_deadline(); due && *due <= now) {
    agent_.advance(now, actions_);
    perform(now);
  }
  if (const auto due = protection_.next_deadline(); due && *due <= now) {
    protection_.advance(now);
    perform(now);
  }
  save_state();
  if (!retry_due_ && (links_.behind() || state_unsaved_)) retry_due_ = now + kRetry;
  set_timer(now);
}

void Daemon::set_timer(TimePoint now) {
  std::optional<TimePoint> next = agent_.next_deadline();
  if (next) next = TimePoint(std::chrono::ceil<Tick>(next->time_since_epoch()));
  for (const auto& due :
       {shared_.gathering, own_.gathering, watchdog_due_, retry_due_, auto_role_.deadline(),
        protection_.next_deadline(), beside_ ? beside_->next_deadline() : std::nullopt})
    if (due && (!next || *due < *next)) next = due;
  // A timer that fires too early is harmless, and cheaper than being set anew at every frame.
  if (!next || (armed_ && *armed_ <= *next)) return;
  armed_ = next;
  const auto at = std::max(*next, now).time_since_epoch().count();
  itimerspec spec{};
  spec.it_value = {.tv_sec = at / 1'000'000'000, .tv_nsec = at % 1'000'000'000};
  ::timerfd_settime(timer_fd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

std::string Daemon::show_json(std::span<const std::string> ports) {
  const TimePoint now = boot_time();
  const core::Snapshot snapshot = agent_.snapshot(now);
  return report::show_json(snapshot, protection_.summary(snapshot),
                           {.wall = std::chrono::system_clock::now(), .boot = now}, ports,
                           to_string(speaker()), role().why);
}

std::string Daemon::stats_json(std::span<const std::string> ports) {
  std::vector<report::PortStatistics> counters;
  for (const core::PortInfo& port : agent_.snapshot(boot_time()).ports) {
    if (!ports.empty() && !any_glob_match(ports, port.name)) continue;
    auto statistics = agent_.statistics(port.ifindex);
    if (!statistics) continue;
    statistics->framesTaggedTotal = packets_.tagged(port.ifindex);
    counters.push_back({.name = port.name, .counters = *statistics});
  }
  return report::stats_json(counters, to_string(speaker()), usage_.now());
}

std::string Daemon::rules_json() {
  return report::rules_json(protection_.rules(agent_.snapshot(boot_time())));
}

Result<void> Daemon::reload() {
  service_.reloading();
  auto fresh = config::load(invocation_);
  if (!fresh) {
    service_.ready();
    Error error = fresh.error().front();
    error.what += fresh.error().size() > 1
                      ? fmt::format(" (and {} more; nothing is changed)", fresh.error().size() - 1)
                      : " (nothing is changed)";
    return fail(std::move(error));
  }
  // These are opened once; a restart, which disturbs nothing, takes them over.
  fresh->socket = config_.socket;
  fresh->control_group = config_.control_group;
  fresh->seccomp = config_.seccomp;
  fresh->state_file = config_.state_file;
  fresh->transport = config_.transport;
  fresh->lldpd_socket = config_.lldpd_socket;
  fresh->backend = config_.backend;
  fresh->bpffs = config_.bpffs;
  fresh->htb = config_.htb;
  if (fresh->dry_run != config_.dry_run) {  // what it runs beside itself follows from that
    fresh->on_change = config_.on_change;
    fresh->metrics_listen = config_.metrics_listen;
  }
  fresh->dry_run = config_.dry_run;
  config_ = std::move(*fresh);

  const TimePoint now = boot_time();
  companions_->configure(config_);
  packets_.set_groups(group_addresses(config_.core.scopes));
  for (const auto& [ifindex, link] : links_.interfaces()) consider(link, now);
  watch_for_no_port(now);
  load_plan(now);
  agent_.configure(settings(), now, actions_);
  perform(now);
  protection_.update_all(config_.policy, now);
  settle();
  service_.ready();
  log(Severity::kNotice, "configuration read anew");
  control_->notify_changed();
  return {};
}

Result<void> Daemon::forget(std::span<const std::string> ports) {
  std::vector<Ifindex> found;
  for (const std::string& glob : ports) {
    const std::size_t before = found.size();
    for (const auto& [ifindex, port] : ports_)
      if (glob_match(glob, port.name)) found.push_back(ifindex);
    if (found.size() == before) return fail(Error{.where = escape(glob), .what = "is no port"});
  }
  if (ports.empty() && config_.core.pinned_level)
    return fail(Error{.where = "level", .what = "is pinned by the configuration"});
  if (ports.empty() && agent_.settings().role == Role::kHost)
    return fail(Error{.where = "level", .what = "of a host is 0, and not learnt"});
  const TimePoint now = boot_time();
  // Rare, and by a person: it is worth a line who asked for it, also where nothing changes.
  for (const Ifindex port : found)
    log(Severity::kNotice, fmt::format("{}: forgotten on request", name_of(port)));
  if (ports.empty()) log(Severity::kNotice, "level: forgotten on request");
  for (const Ifindex port : found) agent_.forget(port, now, actions_);
  if (ports.empty()) agent_.forget(std::nullopt, now, actions_);
  perform(now);
  settle();
  control_->notify_changed();
  return {};
}

std::string_view Daemon::name_of(Ifindex port) const {
  const auto it = ports_.find(port);
  return it == ports_.end() ? std::string_view() : it->second.name;
}

}  // namespace

Result<void> run_daemon(const config::Invocation& invocation, config::Config config) {
  const bool filtered = config.seccomp;
  std::optional<Companions::Launchers> launchers;
  if (Companions::wanted(config)) {
    if (auto forked = Companions::fork())
      launchers = std::move(*forked);
    else  // no reason to leave the fabric without an agent
      log(Severity::kError, forked.error());
  }
  auto daemon = Daemon::start(invocation, std::move(config), std::move(launchers));
  if (!daemon) return fail(daemon.error());
  if (filtered)  // a kernel without it is no reason to leave the fabric without an agent
    if (auto done = filter_syscalls(); !done) log(Severity::kWarning, done.error());
  (*daemon)->run();
  return {};
}

}  // namespace lldp::io
