// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/companions.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <functional>
#include <utility>

#include "agent/config/helper.hpp"
#include "agent/process/log.hpp"
#include "agent/report/change.hpp"

namespace lldp::io {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// The package makes them.
constexpr const char* kExporterUser = "lldp-level-exporter";
constexpr const char* kAgentxUser = "lldp-level-agentx";
constexpr const char* kHookUser = "lldp-level-hook";

/// How it ended; empty: well.
std::string outcome_of(const Launcher::Ended& ended, std::chrono::milliseconds limit) {
  if (ended.too_late && limit.count() != 0)
    return fmt::format("took longer than {} ms, and was killed", limit.count());
  if (WIFSIGNALED(ended.status)) return fmt::format("killed by signal {}", WTERMSIG(ended.status));
  const int status = WEXITSTATUS(ended.status);
  return status == 0 ? std::string() : fmt::format("exit status {}", status);
}

}  // namespace

class Companions::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& loop, std::optional<Launchers> launchers, Connect connect, Times times)
      : times_(times),
        connect_(std::move(connect)),
        hook_(loop, [this](const Launcher::Ended& ended) { hook_ended(ended); }),
        exporter_(loop, *this, "metrics.listen: the exporter", "lldp-level-exporter"),
        agentx_(loop, *this, "snmp.agentx: the subagent", "lldp-level-agentx"),
        hook_pause_(loop) {
    if (!launchers) return;
    hook_.take(std::move(launchers->hook));
    exporter_.runner.take(std::move(launchers->exporter));
    agentx_.runner.take(std::move(launchers->agentx));
  }

  void wait() {
    for (Runner* runner : {&hook_, &exporter_.runner, &agentx_.runner}) wait(*runner);
  }
  void stop() {
    for (Runner* runner : {&hook_, &exporter_.runner, &agentx_.runner}) runner->release();
    for (asio::steady_timer* timer : {&hook_pause_, &exporter_.pause, &agentx_.pause})
      timer->cancel();
  }

  [[nodiscard]] std::vector<std::string> out_of_reach(const config::Config& config) const {
    std::vector<std::string> out;
    const bool of_both = !config.metrics_listen.empty() || !config.on_change.empty();
    if (!exporter_.runner.launcher && !hook_.launcher && of_both)
      out.emplace_back(
          "metrics.listen and on-change: there is no launcher to start them, as neither was set at "
          "start: restart");
    if (!agentx_.runner.launcher && !config.snmp_agentx.empty())
      out.emplace_back(
          "snmp.agentx: there is no launcher to start it, as it was not set at start: restart");
    return out;
  }
  void configure(const config::Config& config) {
    for (const std::string& line : out_of_reach(config)) log(Severity::kWarning, line);
    if (command_ != config.on_change) changes_.clear();
    command_ = config.on_change;
    exporter_.set(config.metrics_listen);
    agentx_.set(config.snmp_agentx);
  }
  [[nodiscard]] bool wants_changes() const { return hook_.launcher && !command_.empty(); }
  void changed(std::string change) {
    if (!wants_changes()) return;
    changes_.push(std::move(change));
    if (!hook_busy_) run_hook();
  }

 private:
  /// A launcher, and what is done when that which it started has ended.
  struct Runner {
    using Done = std::function<void(const Launcher::Ended&)>;
    Runner(asio::io_context& loop, Done its_done) : ended(loop), done(std::move(its_done)) {}
    void take(std::optional<Launcher> its_launcher) {
      if (!its_launcher) return;
      launcher.emplace(std::move(*its_launcher));
      ended.assign(launcher->fd());
    }
    void release() {
      if (launcher) ended.release();  // the launcher's own; with its end what it started ends
      launcher.reset();
    }
    std::optional<Launcher> launcher{};
    asio::posix::stream_descriptor ended;
    Done done;
  };

  /// A program that runs for as long as its key is set, and asks over a connection of ours.
  struct Service {
    Service(asio::io_context& loop, Impl& its_owner, const char* its_name, const char* its_program)
        : owner(its_owner),
          name(its_name),
          program(its_program),
          runner(loop, [this](const Launcher::Ended& how) { ended(how); }),
          pause(loop) {}

    void set(const std::string& wanted) {
      if (setting == wanted || !runner.launcher) return;
      setting = wanted;
      restart_after = owner.times_.first_restart;
      pause.cancel();
      outcome.clear();
      if (!runs) return start();
      stopping = true;
      ask(runner.launcher->stop());
    }
    void start() {
      if (setting.empty() || !runner.launcher) return;
      auto connection = owner.connect_();
      if (!connection) return retry(to_string(connection.error()));
      Launcher::Job job{.words = {config::helper_path(program), "-", setting},
                        .connection = std::move(*connection)};
      runs = ask(runner.launcher->start(job));
      started = std::chrono::steady_clock::now();
    }
    void ended(const Launcher::Ended& how) {
      runs = false;
      if (std::exchange(stopping, false)) return start();
      if (std::chrono::steady_clock::now() - started >= owner.times_.last_restart) {
        restart_after = owner.times_.first_restart;  // it has worked
        outcome.clear();
      }
      const std::string why = outcome_of(how, {});
      retry(why.empty() ? "ended" : why);
    }
    void retry(const std::string& why) {
      if (why != outcome)
        log(Severity::kWarning, fmt::format("{}: {}: is tried again, at most every {} s", name, why,
                                            owner.times_.last_restart.count() / 1000));
      outcome = why;
      pause.expires_after(restart_after);
      restart_after = std::min(2 * restart_after, owner.times_.last_restart);
      pause.async_wait([this, weak = owner.weak_from_this()](error_code cancelled) {
        if (const auto keep = weak.lock(); keep && !cancelled && runner.launcher) start();
      });
    }

    Impl& owner;
    const char* name;
    const char* program;
    Runner runner;
    std::string setting{};
    bool runs = false;
    bool stopping = false;  ///< it was told to end, for another to be started
    std::chrono::steady_clock::time_point started{};
    std::chrono::milliseconds restart_after{};
    asio::steady_timer pause;
    std::string outcome{};  ///< what was said of it last
  };

  void wait(Runner& runner) {
    if (!runner.launcher) return;
    runner.ended.async_wait(asio::posix::stream_descriptor::wait_read,
                            [weak = weak_from_this(), &runner](error_code error) {
                              if (const auto self = weak.lock(); self && !error)
                                self->receive(runner);
                            });
  }
  void receive(Runner& runner) {
    while (true) {
      const auto ended = runner.launcher->receive();
      if (!ended) {
        log(Severity::kError, ended.error());
        return runner.release();
      }
      if (!*ended) return wait(runner);
      runner.done(**ended);
    }
  }
  static bool ask(const Result<void>& asked) {
    if (!asked) log(Severity::kError, asked.error());
    return asked.has_value();
  }

  void run_hook() {
    if (changes_.empty() || command_.empty()) return;
    Launcher::Job job{.words = {"/bin/sh", "-c", command_}, .limit = times_.hook_limit};
    job.input = changes_.pop() + "\n";
    hook_busy_ = ask(hook_.launcher->start(job));
  }
  void hook_ended(const Launcher::Ended& ended) {
    std::string outcome = outcome_of(ended, times_.hook_limit);
    // Said when it becomes so: there may be a change every moment.
    if (!outcome.empty() && outcome != hook_outcome_)
      log(Severity::kWarning, "on-change: " + outcome);
    hook_outcome_ = std::move(outcome);
    hook_pause_.expires_after(times_.hook_pause);
    hook_pause_.async_wait([weak = weak_from_this()](error_code cancelled) {
      const auto self = weak.lock();
      if (!self || cancelled || !self->hook_.launcher) return;
      self->hook_busy_ = false;
      self->run_hook();
    });
  }

  const Times times_;
  Connect connect_;
  Runner hook_;
  Service exporter_;
  Service agentx_;

  std::string command_;
  report::ChangeQueue changes_{kQueue};
  bool hook_busy_ = false;  ///< it runs, or has just run
  asio::steady_timer hook_pause_;
  std::string hook_outcome_;  ///< of its last run
};

bool Companions::wanted(const config::Config& config) {
  return !config.metrics_listen.empty() || !config.on_change.empty() || !config.snmp_agentx.empty();
}

Result<Companions::Launchers> Companions::fork(const config::Config& config) {
  Launchers out;
  const auto add = [](std::optional<Launcher>& launcher, const char* user) -> Result<void> {
    auto forked = Launcher::fork(user);
    if (!forked) return fail(forked.error());
    launcher.emplace(std::move(*forked));
    return {};
  };
  if (!config.metrics_listen.empty() || !config.on_change.empty()) {
    if (auto done = add(out.exporter, kExporterUser); !done) return fail(done.error());
    if (auto done = add(out.hook, kHookUser); !done) return fail(done.error());
  }
  if (!config.snmp_agentx.empty())
    if (auto done = add(out.agentx, kAgentxUser); !done) return fail(done.error());
  return out;
}

Companions::Companions(asio::io_context& loop, std::optional<Launchers> launchers, Connect connect,
                       Times times)
    : impl_(std::make_shared<Impl>(loop, std::move(launchers), std::move(connect), times)) {
  impl_->wait();
}
Companions::~Companions() { impl_->stop(); }
std::vector<std::string> Companions::out_of_reach(const config::Config& config) const {
  return impl_->out_of_reach(config);
}
void Companions::configure(const config::Config& config) { impl_->configure(config); }
bool Companions::wants_changes() const { return impl_->wants_changes(); }
void Companions::changed(std::string change) { impl_->changed(std::move(change)); }

}  // namespace lldp::io
