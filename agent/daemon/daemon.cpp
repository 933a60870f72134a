// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/daemon.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <utility>

#include "agent/daemon/backend_options.hpp"
#include "agent/daemon/daemon_impl.hpp"
#include "agent/daemon/open_config_db.hpp"
#include "agent/daemon/sai_spawner.hpp"
#include "agent/daemon/state_file.hpp"
#include "agent/process/privileges.hpp"
#include "agent/report/change.hpp"
#include "base/count.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/start_pages.hpp"

namespace lldp::io {
namespace {

/// How long to let frames gather that come in a stream: a wake-up for every few frames costs more
/// than the frames. A stream is what fills a turn within kGoesOn of the one before, or has kStream
/// turns follow each other closely; neither the few frames of a fabric that is coming up nor the
/// periodic ones that a neighbor sends together are one.
constexpr std::chrono::milliseconds kGather{4};
constexpr std::chrono::milliseconds kGoesOn{10};
constexpr std::chrono::milliseconds kClosely{1};
constexpr int kStream = 16;

/// Until what was refused is tried again: the list of interfaces, the state file.
constexpr std::chrono::seconds kRetry{1};

/// Until a manager that took no word is told again.
constexpr std::chrono::milliseconds kManagerPause{100};

/// Between two readings of the host name: where /proc is hidden, no event reports its change.
constexpr std::chrono::seconds kHostNamePause{10};

/// Between two looks whether the control socket's file is there.
constexpr std::chrono::seconds kControlPause{10};

/// Until all that a start does is done, the neighbors' answers included: what was read for it and
/// is wanted again is not to be mapped anew while they wait.
constexpr std::chrono::seconds kStart{1};

/// How often agent and data plane have a turn before others have theirs.
constexpr int kRounds = 4;

/// How long lldpd may take to drop our TLVs when we stop.
constexpr std::chrono::seconds kWithdrawal{2};

/// What the agent has to do later is done at multiples of this: its timers count seconds (IEEE
/// 802.1AB-2016 9.2.5), and with many ports it is the wake-ups that cost.
using Tick = std::chrono::duration<std::int64_t, std::ratio<1, 8>>;

/// What makes an agent another one than all others, and this start another than those before.
core::Identity identity() {
  std::uint64_t entropy = 0;
  std::random_device device;
  for (int half = 0; half < 2; ++half) entropy = entropy << 32 | device();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(wall).count();
  return {.entropy = entropy,
          .wall_clock = static_cast<std::uint32_t>(
              std::clamp<std::int64_t>(seconds, 0, ~std::uint32_t{} - 1))};
}

/// By what it knew when it was last saved.
bool was_switch(const core::State& state) {
  return state.role != Role::kHost && (state.level || state.rank != Position());
}

Severity severity_of(core::Event::Kind kind) {
  using enum core::Event::Kind;
  switch (kind) {
    case kAlarmRaised:
      return Severity::kWarning;
    case kLevel:
    case kPlace:
    case kLocation:
    case kAlarmCleared:
    case kClassesExtended:
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

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(const config::Invocation& invocation,
                                              config::Config config,
                                              std::optional<Companions::Launchers> launchers,
                                              std::shared_ptr<dataplane::sai::Spawner> libsai,
                                              std::unique_ptr<ConfigDb> config_db) {
  const auto group = join_group(config.control_group);
  if (!group) return fail(group.error());
  if (config.transport != config::Transport::kPacket) join_group_of_lldpd(config.lldpd_socket);
  if (auto dropped = drop_capabilities(); !dropped) return fail(dropped.error());
  auto packets = PacketIo::open(group_addresses(config.core.scopes));
  if (!packets) return fail(packets.error());
  auto links = LinkMonitor::open();
  if (!links) return fail(links.error());
  Timer timer(CLOCK_BOOTTIME);
  if (!timer) return fail(Error{errno, "timer", std::strerror(errno)});
  StateKeeper keeper(config.state_file);
  if (auto opened = keeper.open(); !opened) return fail(opened.error());
  auto state = keeper.load();
  if (!state && is_passing(state.error())) return fail(state.error());
  if (!state) log(Severity::kError, state.error());

  BackendChoice choice = choose_backend(config, Machine(links->table().interfaces()));
  if (!config.dry_run)
    if (const std::string changed = keep_choice(config, choice); !changed.empty())
      log(Severity::kWarning, changed);

  const TimePoint now = boot_time();
  std::unique_ptr<Daemon> daemon(
      new Daemon(invocation, std::move(config), std::move(choice), std::move(*links),
                 std::move(*packets), std::move(timer), std::move(keeper),
                 state.value_or(core::State{}), std::move(libsai), std::move(config_db), now));
  auto control = ControlServer::open(daemon->loop_, daemon->config_.socket, *daemon, {}, *group);
  if (!control) return fail(control.error());
  daemon->control_ = std::move(*control);
  daemon->companions_.emplace(
      daemon->loop_, std::move(launchers),
      [control = daemon->control_.get()] { return control->connect(); }, Companions::Times{},
      [control = daemon->control_.get()] { control->notify_changed(); });
  daemon->companions_->configure(daemon->config_);
  if (const std::string note = config::old_form(daemon->config_); !note.empty())
    log(Severity::kNotice, note);
  if (!daemon->config_.dry_run) daemon->announce_presence();
  daemon->open_ports(now);
  return daemon;
}

Daemon::Daemon(const config::Invocation& invocation, config::Config config, BackendChoice choice,
               LinkMonitor links, PacketIo packets, Timer timer, StateKeeper keeper,
               const core::State& state, std::shared_ptr<dataplane::sai::Spawner> libsai,
               std::unique_ptr<ConfigDb> config_db, TimePoint now)
    : invocation_(invocation),
      config_(std::move(config)),
      host_name_(host_name()),
      system_description_(system_description()),
      links_(std::move(links)),
      packets_(std::move(packets)),
      timer_(std::move(timer)),
      state_(std::move(keeper)),
      // Before the agent: its role must not change while it starts.
      machine_(links_.table().interfaces()),
      auto_role_(was_switch(state)),
      agent_(std::make_shared<const core::Settings>(settings()), identity(), state, now),
      protection_(Protection::open(
          agent_, config_, std::move(choice), std::move(libsai),
          [this](Ifindex port) { return octets_of(port); }, now)),
      config_db_(std::move(config_db)) {}

void Daemon::watch_pfc() {
  auto opened = PfcMonitor::open();
  if (!opened) return log(Severity::kWarning, opened.error());  // the rest does without
  pfc_ = std::move(*opened);
  pfc_events_.emplace(loop_, pfc_->fd(), [this] {
    pfc_->receive([this](std::string_view name) {
      for (const auto& [ifindex, link] : links_.table().interfaces())
        if (name.empty() || link.name == name) consider(link, boot_time());
    });
    settle();
    pfc_events_->wait();
  });
  pfc_events_->wait();
}

void Daemon::announce_presence() {
  if (const auto who = Presence::other())
    log(Severity::kWarning,
        Error{EADDRINUSE, "ports",
              *who + " is an lldp-leveld of this network namespace too: on a port of both, each "
                     "removes the rules of the other"});
  auto presence = Presence::announce();
  if (!presence) return log(Severity::kWarning, presence.error());
  presence_.emplace(std::move(*presence));
  protection_.ask_alone([this] { return presence_->is_alone(); });
}

std::vector<MacAddress> Daemon::group_addresses(const std::vector<core::Scope>& scopes) {
  std::vector<MacAddress> groups;
  for (const core::Scope scope : scopes) groups.push_back(core::group_address(scope));
  return groups;
}

void Daemon::watch_rules(TimePoint now) {
  if (protection_.take_found_rules().value_or(false)) agent_.assume_rules(now, actions_);
  follow_platform(now);
  if (!protection_.take_opened()) return;
  rules_events_.reset();
  if (protection_.events() < 0) return;
  rules_events_.emplace(loop_, protection_.events(), [this] {
    protection_.take_events(boot_time());
    watch_rules(boot_time());
    perform(boot_time());
    settle();
    rules_events_->wait();
  });
  rules_events_->wait();
}

void Daemon::open_ports(TimePoint now) {
  watch_pfc();
  if (auto opened = LinkSettings::open())
    hardware_.emplace(std::move(*opened));
  else
    log(Severity::kWarning, opened.error());  // the rest does without
  follow_classes(now);
  watch_rules(now);
  on_frame_ = [this](Ifindex port, ByteSpan frame) {
    if (speaker() == LldpdTransport::Speaker::kLldpd) return;  // came before the sockets were deaf
    if (control_->recording()) control_->frame_seen(Direction::kIn, octets_of(port), frame);
    agent_.receive(port, frame, turn_, actions_);
    if (!actions_.sends.empty() || !actions_.events.empty()) perform(turn_);
  };
  if (config_.transport != config::Transport::kPacket) stand_beside_lldpd(now);
  for (const auto& [ifindex, link] : links_.table().interfaces()) consider(link, now);
  load_plan(now);
  agent_.configure(settings(), now, actions_);
  perform(now);

  links_.observe({.changed =
                      [this](const Interface& link) {
                        surveyed_ = false;
                        protection_.links_changed();
                        consider(link, boot_time());
                        tell_lower(link, boot_time());
                      },
                  .gone =
                      [this](Ifindex ifindex) {
                        surveyed_ = false;
                        protection_.links_changed();
                        drop_port(ifindex, true, boot_time());
                        protection_.gone(ifindex);
                      },
                  .forwarding = [this] { update_settings(boot_time()); },
                  .addresses = [this] { update_settings(boot_time()); }});
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
  timer_events_.emplace(loop_, timer_.fd(), [this] { on_timer(); });
  for (const int fd : state_.fds()) {
    if (fd < 0) continue;
    state_events_.emplace_back(loop_, fd, [this, i = state_events_.size()] {
      settle();
      state_events_[i].wait();
    });
    state_events_.back().wait();
  }
  link_events_->wait();
  timer_events_->wait();
  follow_config_db();
  on_signal();

  if (service_.watchdog()) watchdog_due_ = now;
  start_ends_ = now + kStart;
  watch_for_no_port(now);
  watch_for_missing_ports(now);
  watch_for_left_out(now);
  settle();
  running_ = true;
  say_what_is_no_interface();
  tell_ready();
  log(Severity::kInfo,
      fmt::format("ready: {}, {}{}", count_text(ports_.size(), "port"), role_text(),
                  config_.dry_run ? "; a dry run: nothing is sent" : ""));
}

void Daemon::tell_ready() {
  service_.ready();
  if (service_.owes()) set_timer(boot_time());
}

void Daemon::stand_beside_lldpd(TimePoint now) {
  beside_.emplace(config_,
                  LldpdTransport::Owner{
                      .ports =
                          [this] {
                            std::vector<std::pair<Ifindex, std::string>> out;
                            for (const auto& [ifindex, link] : links_.table().interfaces())
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
                            for (const auto& [ifindex, link] : links_.table().interfaces())
                              consider(link, boot_time());
                          },
                      .speaks =
                          [this](LldpdTransport::Speaker speaker) {
                            packets_.set_deaf(speaker == LldpdTransport::Speaker::kLldpd);
                            if (speaker == LldpdTransport::Speaker::kPackets)
                              agent_.announce(boot_time());
                            notify_changed();
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
    if (auto reloaded = reload(); !reloaded)
      for (const Error& mistake : reloaded.error()) log(Severity::kError, mistake);
    on_signal();
  });
}

void Daemon::shutdown() {
  service_.stopping();
  const TimePoint now = boot_time();
  agent_.shutdown(now, actions_);
  perform(now);
  if (speaker() == LldpdTransport::Speaker::kLldpd) beside_->withdraw(kWithdrawal);
  if (config_.flush) {
    if (auto gone = protection_.flush(); !gone) log(Severity::kError, gone.error());
  } else {
    settle();
  }
  if (config_db_) config_db_->withdraw();
  if (auto saved = state_.finish(agent_, now); !saved) log(Severity::kError, saved.error());
  loop_.stop();
}

void Daemon::on_timer() {
  static_cast<void>(timer_.take());
  armed_.reset();
  const TimePoint now = boot_time();
  for (Intake* intake : {&shared_, &own_})
    if (intake->gathering && *intake->gathering <= now) take_frames(*intake, now);
  if (watchdog_due_ && *watchdog_due_ <= now) {
    service_.alive();
    watchdog_due_ = now + *service_.watchdog();
  }
  service_.retry();
  packets_.rejoin(now);
  if (now - host_name_read_ >= kHostNamePause) follow_host_name(now);
  if (now - control_looked_ >= kControlPause) keep_control(now);
  const bool ends_start = start_ends_ && *start_ends_ <= now;
  if (ends_start) start_ends_.reset();
  settle();
  timer_events_->wait();
  if (ends_start) release_start_pages();  // last, for what follows would map them anew
}

void Daemon::take_frames(Intake& intake, TimePoint now) {
  turn_ = now;
  intake.gathering.reset();
  const bool goes_on = now - intake.last < kGoesOn;
  intake.close_turns = now - intake.last < kClosely ? intake.close_turns + 1 : 0;
  intake.last = now;
  const PacketIo::Turn turn = (packets_.*intake.receive)(on_frame_);
  if ((turn == PacketIo::Turn::kBusy && goes_on) ||
      (turn == PacketIo::Turn::kIdle && intake.close_turns >= kStream)) {
    intake.gathering = now + kGather;
    intake.watched->pause();
  } else {
    intake.watched->wait();
  }
}

void Daemon::perform(TimePoint now) {
  follow_classes(now);
  // Rules that are safe whatever the state file says come before anything else: until they are
  // changed, packets take the wrong class. Other rules, and frames, depend on what is saved.
  bool depends = !actions_.sends.empty();
  for (const core::Event& event : actions_.events) {
    if (event.kind == core::Event::Kind::kState) state_.note_change();
    if (event.kind != core::Event::Kind::kPort) continue;
    if (is_safe(agent_.order(event.port)))
      protection_.update(event.port, now);
    else
      depends = true;
  }
  if (depends) state_.write(agent_, now);
  for (const core::Event& event : actions_.events)
    if (event.kind == core::Event::Kind::kPort && !is_safe(agent_.order(event.port)))
      protection_.update(event.port, now);
  if (beside_) beside_->tell(actions_.sends, now);
  if (!actions_.sends.empty() && speaker() == LldpdTransport::Speaker::kPackets) {
    packets_.send(actions_.sends, failures_);
    for (const PacketIo::SendFailure& failure : failures_) report(failure, now);
    failures_.clear();
    if (control_->recording())
      for (const core::Send& send : actions_.sends)
        control_->frame_seen(Direction::kOut, octets_of(send.port), send.frame);
  }
  for (const core::Event& event : actions_.events) perform(event, now);
  if (!actions_.events.empty()) notify_changed();
  actions_.clear();
  for (const Protection::InForce& done : protection_.take_in_force())
    agent_.in_force(done.port, done.generation, now, actions_);
  state_.tell(agent_, now, actions_);
  protection_.tell(agent_, now, actions_);
  if (protection_.take_changed()) notify_changed();
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
                .location = agent_.location(),
                .port = name_of(event.port),
                .type = agent_.type(event.port),
                .order = agent_.order(event.port)}));
  const bool of_alarm = event.kind == kAlarmRaised || event.kind == kAlarmCleared;
  using Topic = LogGate::Topic;
  const Topic topic = of_alarm                  ? Topic::kAlarm
                      : event.kind == kLocation ? Topic::kLocation
                                                : Topic::kChange;
  const auto left_out = gate_.admit(event.port, topic, now);
  if (!left_out) return;
  const std::string_view port = name_of(event.port);
  const std::string_view colon = port.empty() ? "" : ": ";
  if (*left_out != 0)
    log(Severity::kWarning, fmt::format("{}{}{} lines left out", port, colon, *left_out));
  const std::string neighbor = core::neighbor_of(event);
  const Field fields[] = {
      {"LLDP_LEVEL_EVENT", report::to_string(event.kind)},
      {"LLDP_LEVEL_PORT", port},
      {"LLDP_LEVEL_NEIGHBOR", neighbor},
      {"LLDP_LEVEL_ALARM", of_alarm ? core::to_string(event.alarm) : std::string_view()}};
  log(severity_of(event.kind), fmt::format("{}{}{}", port, colon, report::change_line(event)),
      fields);
}

void Daemon::report(const PacketIo::SendFailure& failure, TimePoint now) {
  // An interface that went down or away in the middle of it: netlink tells, or has told.
  if (failure.error == ENETDOWN || failure.error == ENXIO || failure.error == ENODEV) return;
  // Anything else (ENOBUFS: its queue is full) costs this frame; the next one comes by itself.
  if (gate_.admit(failure.port, LogGate::Topic::kChange, now))
    log(Severity::kWarning,
        fmt::format("{}: frame not sent: {}", name_of(failure.port), std::strerror(failure.error)));
}

void Daemon::settle() {
  // Before the agent's turn: the sender of LLDP has to be known, and work that becomes due by it is
  // due now.
  if (beside_) {
    const TimePoint asked = boot_time();
    if (const auto due = beside_->next_deadline(); due && *due <= asked) beside_->advance(asked);
  }
  const TimePoint now = boot_time();
  if (retry_due_ && *retry_due_ <= now) {
    retry_due_.reset();
    // Not "if it is behind": a request meanwhile may have read all of it.
    if (link_events_ && link_events_->is_paused()) follow_links();
    state_.retry();
  }
  if (const auto due = auto_role_.deadline(); due && *due <= now) update_settings(now);
  // What the data plane confirms may be what the agent waits for, and what the agent then asks for
  // may be confirmed at once.
  for (int round = 0; round < kRounds; ++round) {
    if (const auto due = agent_.next_deadline(); due && *due <= now) {
      agent_.advance(now, actions_);
      perform(now);
    } else if (round > 0) {
      break;
    }
    if (protection_.has_turn(now)) {
      protection_.advance(now);
      watch_rules(now);
      perform(now);
    }
  }
  watch_for_forwarding(now);
  state_.save(agent_, now);
  state_.tell(agent_, now, actions_);
  if (!actions_.events.empty()) perform(now);
  if (state_due_ && *state_due_ <= now) tell_state(now);
  if (!retry_due_ && (links_.behind() || state_.unsaved())) retry_due_ = now + kRetry;
  set_timer(now);
  log_settle();
}

void Daemon::keep_control(TimePoint now) {
  control_looked_ = now;
  const auto made = control_->renew();
  const std::string trouble = made ? std::string() : to_string(made.error());
  if (made && *made)
    log(Severity::kWarning,
        config_.socket + ": was removed or replaced by another program; made again");
  if (!made && trouble != control_trouble_) log(Severity::kError, made.error());
  control_trouble_ = trouble;
}

void Daemon::set_timer(TimePoint now) {
  std::optional<TimePoint> next = agent_.next_deadline();
  if (next) next = TimePoint(std::chrono::ceil<Tick>(next->time_since_epoch()));
  for (const auto& due :
       {shared_.gathering, own_.gathering, watchdog_due_, start_ends_, retry_due_,
        auto_role_.deadline(), router_doubt_.deadline(), protection_.next_deadline(),
        state_.next_deadline(), state_due_,
        control_trouble_.empty() ? std::nullopt : std::optional(control_looked_ + kControlPause),
        service_.owes() ? std::optional(now + kManagerPause) : std::nullopt,
        beside_ ? beside_->next_deadline() : std::nullopt})
    if (due && (!next || *due < *next)) next = due;
  // A timer that fires too early is harmless, and cheaper than being set anew at every frame.
  if (!next || (armed_ && *armed_ <= *next)) return;
  armed_ = next;
  timer_.set_at(std::max(*next, now).time_since_epoch());
}

std::string_view Daemon::name_of(Ifindex port) const {
  const auto it = ports_.find(port);
  return it == ports_.end() ? std::string_view() : it->second.name;
}

std::string_view Daemon::octets_of(Ifindex port) const {
  const auto it = ports_.find(port);
  return it == ports_.end() ? std::string_view() : it->second.link;
}

Result<void> run_daemon(const config::Invocation& invocation, config::Config config) {
  const bool filtered = config.seccomp;
  const bool by_ip = needs_ip(config);
  std::optional<Companions::Launchers> launchers = Companions::of_services();
  if (!launchers && Companions::wanted(config)) launchers = Companions::fork(config);
  std::shared_ptr<dataplane::sai::Spawner> libsai;
  if (config.backend == "sai" && !config.dry_run) {
    if (auto forked = fork_sai_spawner(config.sai_library, config.sai_profile))
      libsai = std::move(*forked);
    else
      log(Severity::kError, forked.error());
  }
  config::Invocation with_rows = invocation;
  std::unique_ptr<ConfigDb> config_db = open_config_db(with_rows, config);
  auto daemon = Daemon::start(with_rows, std::move(config), std::move(launchers), std::move(libsai),
                              std::move(config_db));
  if (!daemon) return fail(daemon.error());
  log_aside();
  if (filtered)  // a kernel without it is no reason to leave the fabric without an agent
    if (auto done = filter_syscalls(by_ip); !done) log(Severity::kWarning, done.error());
  (*daemon)->run();
  return {};
}

}  // namespace lldp::io
