// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/companions.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdlib>
#include <functional>
#include <utility>

#include "agent/process/log.hpp"
#include "agent/report/change.hpp"

namespace lldp::io {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// What is done about it.
std::string look_at(const Kind& kind) {
  return fmt::format("`systemctl status {}` says why", kind.service);
}

/// How it ended; empty: well.
std::string outcome_of(const Kind& kind, const Launcher::Ended& ended,
                       std::chrono::milliseconds limit) {
  if (ended.refused)
    return fmt::format("{} starts what {} in the file says, and the daemon has another: reload",
                       kind.service, kind.key);
  if (ended.too_late && limit.count() != 0)
    return fmt::format("took longer than {} ms, and was killed", limit.count());
  if (WIFSIGNALED(ended.status)) return fmt::format("killed by signal {}", WTERMSIG(ended.status));
  const int status = WEXITSTATUS(ended.status);
  return status == 0 ? std::string() : fmt::format("exit status {}", status);
}

}  // namespace

class Companions::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& loop, std::optional<Launchers> launchers, Connect connect, Times times,
       Told told)
      : times_(times),
        connect_(std::move(connect)),
        told_(std::move(told)),
        hook_(
            loop, kHook, [this](const Launcher::Ended& ended) { hook_ended(ended); },
            [this](const std::string& why) { hook_failed(why); }),
        exporter_(loop, *this, kExporter, "metrics.listen: the exporter"),
        agentx_(loop, *this, kAgentx, "snmp.agentx: the subagent"),
        hook_pause_(loop) {
    if (!launchers) return;
    for (Runner* runner : all()) {
      if (!launchers->services.empty())
        runner->path = launchers->services + '/' + runner->kind.name;
      if (!launchers->why_none.empty())
        runner->why_none = "there is no launcher to start it: " + launchers->why_none;
    }
    hook_.take(std::move(launchers->hook));
    exporter_.runner.take(std::move(launchers->exporter));
    agentx_.runner.take(std::move(launchers->agentx));
  }

  void wait() {
    for (Runner* runner : all()) wait(*runner);
  }
  void stop() {
    for (Runner* runner : all()) runner->release();
  }

  [[nodiscard]] std::vector<report::Companion> out_of_reach(const config::Config& config) const {
    std::vector<report::Companion> out;
    for (const Runner* runner : all())
      if (!runner->is_there() && !runner->kind.words(config).empty())
        out.push_back({.key = runner->kind.key, .trouble = runner->why_none});
    return out;
  }
  [[nodiscard]] std::vector<report::Companion> report(const config::Config& config) const {
    std::vector<report::Companion> out;
    for (const Runner* runner : all())
      if (!runner->kind.words(config).empty())
        out.push_back({.key = runner->kind.key,
                       .trouble = runner->is_there() ? runner->trouble : runner->why_none});
    return out;
  }
  [[nodiscard]] bool go_by_the_file() const { return hook_.is_service(); }
  void configure(const config::Config& config) {
    for (const report::Companion& missing : out_of_reach(config))
      log(Severity::kWarning, missing.key + ": " + missing.trouble);
    set_hook(kHook.words(config));
    exporter_.set(kExporter.words(config));
    agentx_.set(kAgentx.words(config));
  }
  [[nodiscard]] bool wants_changes() const { return hook_.is_there() && !command_.empty(); }
  void changed(std::string change) {
    if (!wants_changes()) return;
    changes_.push(std::move(change));
    if (!hook_busy_) run_hook();
  }

 private:
  /// A launcher, what is done when that which it started has ended, and when it has itself and was
  /// at work.
  struct Runner {
    using Done = std::function<void(const Launcher::Ended&)>;
    using Lost = std::function<void(const std::string& why)>;
    Runner(asio::io_context& loop, const Kind& its_kind, Done its_done, Lost its_lost)
        : kind(its_kind), ended(loop), done(std::move(its_done)), lost(std::move(its_lost)) {}
    void take(std::optional<Launcher> its_launcher) {
      if (!its_launcher) return;
      launcher.emplace(std::move(*its_launcher));
      ended.assign(launcher->fd());
    }
    void release() {
      if (launcher) ended.release();  // the launcher's own; with its end what it started ends
      launcher.reset();
      runs = false;
    }
    [[nodiscard]] bool is_service() const { return !path.empty(); }
    [[nodiscard]] bool is_there() const { return launcher || is_service(); }

    const Kind& kind;
    std::string path{};  ///< where it is a service's; then it may be connected to at any time
    std::optional<Launcher> launcher{};
    bool runs = false;  ///< what it is for
    std::string why_none{"there is no launcher to start it, as none was wanted at start: restart"};
    std::string trouble{};  ///< with what it is for; empty: none
    asio::posix::stream_descriptor ended;
    Done done;
    Lost lost;
  };

  /// A program that runs for as long as its key is set, and asks over a connection of ours.
  struct Service {
    Service(asio::io_context& loop, Impl& its_owner, const Kind& kind, const char* its_name)
        : owner(its_owner),
          name(its_name),
          runner(
              loop, kind, [this](const Launcher::Ended& how) { ended(how); },
              [this](const std::string& why) { retry(why); }),
          pause(loop) {}

    void set(std::vector<std::string> wanted) {
      if (words == wanted || !runner.is_there()) return;
      words = std::move(wanted);
      restart_after = owner.times_.first_restart;
      pause.cancel();
      outcome.clear();
      runner.trouble.clear();
      if (runner.is_service()) runner.release();  // the next one reads the file as it is now
      if (!runner.runs) return start();
      if (const auto asked = runner.launcher->stop(); !asked)
        return log(Severity::kError, asked.error());
      stopping = true;
    }
    void start() {
      if (words.empty() || !runner.is_there() || runner.runs) return;
      if (const auto reached = owner.reach(runner); !reached)
        return retry(to_string(reached.error()));
      auto connection = owner.connect_();
      if (!connection) return retry(to_string(connection.error()));
      const auto asked =
          runner.launcher->start({.words = words, .connection = std::move(*connection)});
      if (!asked) return retry(to_string(asked.error()));
      runner.runs = true;
      started = std::chrono::steady_clock::now();
      // Until then what it failed by the last time is more likely than not what it ends by now.
      after(owner.times_.settled, [this] {
        if (runner.runs) owner.note(runner, {});
      });
    }
    void ended(const Launcher::Ended& how) {
      if (std::exchange(stopping, false)) return start();
      if (std::chrono::steady_clock::now() - started >= owner.times_.last_restart) {
        restart_after = owner.times_.first_restart;  // it has worked
        outcome.clear();
      }
      const std::string why = outcome_of(runner.kind, how, {});
      retry(why.empty() ? "ended" : why);
    }
    void retry(const std::string& why) {
      if (why != outcome)
        log(Severity::kWarning, fmt::format("{}: {}: is tried again, at most every {} s", name, why,
                                            owner.times_.last_restart.count() / 1000));
      outcome = why;
      owner.note(runner, why);
      after(restart_after, [this] { start(); });
      restart_after = std::min(2 * restart_after, owner.times_.last_restart);
    }
    /// In the place of what was to be done then, if anything was.
    template <typename Next>
    void after(std::chrono::milliseconds time, Next next) {
      pause.expires_after(time);
      pause.async_wait([next, weak = owner.weak_from_this()](error_code cancelled) {
        if (const auto keep = weak.lock(); keep && !cancelled) next();
      });
    }

    Impl& owner;
    const char* name;
    Runner runner;
    std::vector<std::string> words{};
    bool stopping = false;  ///< it was told to end, for another to be started
    std::chrono::steady_clock::time_point started{};
    std::chrono::milliseconds restart_after{};
    asio::steady_timer pause;
    std::string outcome{};  ///< what was said of it last
  };

  [[nodiscard]] std::array<Runner*, 3> all() {
    return {&exporter_.runner, &agentx_.runner, &hook_};
  }
  [[nodiscard]] std::array<const Runner*, 3> all() const {
    return {&exporter_.runner, &agentx_.runner, &hook_};
  }
  void note(Runner& runner, std::string trouble) {
    if (trouble == runner.trouble) return;
    runner.trouble = std::move(trouble);
    told_();
  }
  /// The launcher can be reached; a service starts when it is connected to.
  Result<void> reach(Runner& runner) {
    if (runner.launcher) return {};
    auto connected = Launcher::connect(runner.path);
    if (!connected) return fail(connected.error());
    runner.take(std::move(*connected));
    wait(runner);
    return {};
  }
  void wait(Runner& runner) {  // without a launcher, for nothing
    runner.ended.async_wait(asio::posix::stream_descriptor::wait_read,
                            [weak = weak_from_this(), &runner](error_code error) {
                              if (const auto self = weak.lock(); self && !error)
                                self->receive(runner);
                            });
  }
  void receive(Runner& runner) {
    while (runner.launcher) {
      const auto ended = runner.launcher->receive();
      if (!ended) return hung_up(runner, ended.error());
      if (!*ended) return wait(runner);
      const Launcher::Ended how = **ended;
      runner.runs = false;
      if (how.refused) runner.release();  // it goes, and is not to be asked once more
      runner.done(how);
    }
  }
  void hung_up(Runner& runner, const Error& error) {
    const bool worked = runner.runs;
    runner.release();
    if (!runner.is_service()) {
      runner.why_none = "its launcher has ended: restart";
      told_();
      return log(Severity::kError, error);
    }
    if (worked) runner.lost("its launcher has ended: " + look_at(runner.kind));
  }

  void set_hook(std::vector<std::string> command) {
    if (command == command_) return;
    changes_.clear();
    in_hand_.reset();
    command_ = std::move(command);
    hook_.trouble.clear();
    hook_restart_ = times_.first_restart;
    renew_hook_ = hook_.is_service();
    if (!hook_.runs) renew_hook();
  }
  /// The service reads the file when it comes up: at once, so that it is the one that was read
  /// here.
  void renew_hook() {
    if (!std::exchange(renew_hook_, false)) return;
    hook_.release();
    if (command_.empty()) return;
    if (const auto reached = reach(hook_); !reached) say_of_hook(to_string(reached.error()));
  }
  void run_hook() {
    if ((!in_hand_ && changes_.empty()) || command_.empty()) return;
    if (const auto reached = reach(hook_); !reached) return hook_failed(to_string(reached.error()));
    if (!in_hand_) in_hand_ = {.text = changes_.pop() + "\n"};
    ++in_hand_->tries;
    const auto asked = hook_.launcher->start(
        {.words = command_, .input = in_hand_->text, .connection = {}, .limit = times_.hook_limit});
    if (!asked) return hook_failed(to_string(asked.error()));
    hook_busy_ = true;
    hook_.runs = true;
    hook_pause_.expires_after(times_.hook_limit + times_.hook_answer);
    hook_pause_.async_wait([weak = weak_from_this()](error_code cancelled) {
      // Cancelled when its turn has come already, as after we were stopped, it is not told so.
      const auto self = weak.lock();
      if (self && !cancelled && self->hook_.runs) self->give_up_launcher();
    });
  }
  void hook_ended(const Launcher::Ended& ended) {
    // It may have come up before the file was what was read here: the next one reads it anew.
    if (ended.refused && may_try_again()) return rest(times_.first_restart);
    in_hand_.reset();
    hook_restart_ = times_.first_restart;
    say_of_hook(outcome_of(kHook, ended, times_.hook_limit));
    rest(times_.hook_pause);
  }
  /// Give up a launcher that does not answer and report it; otherwise on-change events would stop
  /// silently.
  void give_up_launcher() {
    if (!hook_.is_there()) return;
    hook_.release();
    hook_.why_none = "its launcher does not answer, and is given up until a restart";
    hook_failed(hook_.is_service() ? "its launcher does not answer: " + look_at(kHook)
                                   : hook_.why_none);
  }
  void hook_failed(const std::string& why) {
    if (!may_try_again()) in_hand_.reset();
    say_of_hook(why);
    rest(std::exchange(hook_restart_, std::min(2 * hook_restart_, times_.last_restart)));
  }
  [[nodiscard]] bool may_try_again() const { return in_hand_ && in_hand_->tries < kTries; }
  /// Said when it becomes so: there may be a change every moment.
  void say_of_hook(std::string outcome) {
    if (!outcome.empty() && outcome != hook_.trouble)
      log(Severity::kWarning, "on-change: " + outcome);
    note(hook_, std::move(outcome));
  }
  void rest(std::chrono::milliseconds pause) {
    hook_busy_ = true;
    hook_pause_.expires_after(pause);
    hook_pause_.async_wait([weak = weak_from_this()](error_code cancelled) {
      const auto self = weak.lock();
      if (!self || cancelled || !self->hook_.is_there()) return;
      self->hook_busy_ = false;
      self->renew_hook();
      self->run_hook();
    });
  }

  const Times times_;
  Connect connect_;
  Told told_;
  Runner hook_;
  Service exporter_;
  Service agentx_;

  std::vector<std::string> command_;  ///< the hook
  report::ChangeQueue changes_{kQueue};
  /// What the hook was, or is to be, told. Once more where the launcher went without a word.
  struct InHand {
    std::string text{};
    int tries = 0;
  };
  static constexpr int kTries = 2;
  std::optional<InHand> in_hand_{};
  std::chrono::milliseconds hook_restart_{times_.first_restart};  ///< where its launcher fails
  bool hook_busy_ = false;                                        ///< it runs, or has just run
  bool renew_hook_ = false;  ///< its launcher goes by the file as it was, and is to end
  asio::steady_timer hook_pause_;
};

bool Companions::wanted(const config::Config& config) {
  return !config.metrics_listen.empty() || !config.on_change.empty() || !config.snmp_agentx.empty();
}

Companions::Launchers Companions::fork(const config::Config& config) {
  Launchers out;
  std::string as_daemon;  // the keys of what runs so
  const auto add = [&](std::optional<Launcher>& launcher, const Kind& kind) {
    auto forked = Launcher::fork(kind.user);
    if (!forked) {
      out.why_none = to_string(forked.error());
      return;
    }
    if (forked->is_of_daemons_user() && !kind.words(config).empty())
      as_daemon += std::string(as_daemon.empty() ? "" : ", ") + kind.key;
    launcher.emplace(std::move(*forked));
  };
  if (!config.metrics_listen.empty() || !config.on_change.empty()) {
    add(out.exporter, kExporter);
    add(out.hook, kHook);
  }
  if (!config.snmp_agentx.empty()) add(out.agentx, kAgentx);
  if (!as_daemon.empty())
    log(Severity::kWarning,
        as_daemon +
            ": run as the daemon's own user, for it may become no other: CAP_SETUID and "
            "CAP_SETGID are missing");
  return out;
}

std::optional<Companions::Launchers> Companions::of_services() {
  const char* folder = std::getenv("LLDP_LEVEL_LAUNCHERS");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  Launchers out;
  out.services = folder;
  return out;
}

Companions::Companions(asio::io_context& loop, std::optional<Launchers> launchers, Connect connect,
                       Times times, Told told)
    : impl_(std::make_shared<Impl>(loop, std::move(launchers), std::move(connect), times,
                                   std::move(told))) {
  impl_->wait();
}
Companions::~Companions() { impl_->stop(); }
std::vector<report::Companion> Companions::out_of_reach(const config::Config& config) const {
  return impl_->out_of_reach(config);
}
std::vector<report::Companion> Companions::report(const config::Config& config) const {
  return impl_->report(config);
}
bool Companions::go_by_the_file() const { return impl_->go_by_the_file(); }
void Companions::configure(const config::Config& config) { impl_->configure(config); }
bool Companions::wants_changes() const { return impl_->wants_changes(); }
void Companions::changed(std::string change) { impl_->changed(std::move(change)); }

}  // namespace lldp::io
