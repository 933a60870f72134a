// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/companions.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>

#include "agent/config/helper.hpp"
#include "agent/process/log.hpp"
#include "agent/report/change.hpp"

namespace lldp::io {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// The package makes them.
constexpr const char* kExporterUser = "lldp-level-exporter";
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
        hook_(loop, &Impl::hook_ended),
        exporter_(loop, &Impl::exporter_ended),
        hook_pause_(loop),
        exporter_pause_(loop) {
    if (!launchers) return;
    hook_.take(std::move(launchers->hook));
    exporter_.take(std::move(launchers->exporter));
  }

  void wait() {
    wait(hook_);
    wait(exporter_);
  }
  void stop() {
    hook_.release();
    exporter_.release();
    hook_pause_.cancel();
    exporter_pause_.cancel();
  }

  void configure(const config::Config& config) {
    if (!exporter_.launcher && !hook_.launcher && Companions::wanted(config))
      return log(
          Severity::kWarning,
          "metrics.listen and on-change: there is no launcher to start them, as neither was set at "
          "start: restart");
    if (command_ != config.on_change) changes_.clear();
    command_ = config.on_change;
    if (listen_ == config.metrics_listen) return;
    listen_ = config.metrics_listen;
    restart_after_ = times_.first_restart;
    exporter_pause_.cancel();
    exporter_outcome_.clear();
    if (!exporter_runs_ || !exporter_.launcher) return start_exporter();
    stopping_ = true;
    ask(exporter_.launcher->stop());
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
    using Done = void (Impl::*)(const Launcher::Ended&);
    Runner(asio::io_context& loop, Done its_done) : ended(loop), done(its_done) {}
    void take(Launcher its_launcher) {
      launcher = std::move(its_launcher);
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
      (this->*runner.done)(**ended);
    }
  }
  bool ask(const Result<void>& asked) {
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

  void start_exporter() {
    if (listen_.empty() || !exporter_.launcher) return;
    auto connection = connect_();
    if (!connection) return retry(to_string(connection.error()));
    Launcher::Job job{.words = {config::helper_path("lldp-level-exporter"), "-", listen_},
                      .connection = std::move(*connection)};
    exporter_runs_ = ask(exporter_.launcher->start(job));
    exporter_started_ = std::chrono::steady_clock::now();
  }
  void exporter_ended(const Launcher::Ended& ended) {
    exporter_runs_ = false;
    if (std::exchange(stopping_, false)) return start_exporter();
    if (std::chrono::steady_clock::now() - exporter_started_ >= times_.last_restart) {
      restart_after_ = times_.first_restart;  // it has worked
      exporter_outcome_.clear();
    }
    const std::string outcome = outcome_of(ended, {});
    retry(outcome.empty() ? "ended" : outcome);
  }
  void retry(const std::string& why) {
    if (why != exporter_outcome_)
      log(Severity::kWarning,
          fmt::format("metrics.listen: the exporter: {}: is tried again, at most every {} s", why,
                      times_.last_restart.count() / 1000));
    exporter_outcome_ = why;
    exporter_pause_.expires_after(restart_after_);
    restart_after_ = std::min(2 * restart_after_, times_.last_restart);
    exporter_pause_.async_wait([weak = weak_from_this()](error_code cancelled) {
      if (const auto self = weak.lock(); self && !cancelled && self->exporter_.launcher)
        self->start_exporter();
    });
  }

  const Times times_;
  Connect connect_;
  Runner hook_;
  Runner exporter_;

  std::string command_;
  report::ChangeQueue changes_{kQueue};
  bool hook_busy_ = false;  ///< it runs, or has just run
  asio::steady_timer hook_pause_;
  std::string hook_outcome_;  ///< of its last run

  std::string listen_;
  bool exporter_runs_ = false;
  bool stopping_ = false;  ///< it was told to end, for another to be started
  std::chrono::steady_clock::time_point exporter_started_{};
  std::chrono::milliseconds restart_after_{};
  asio::steady_timer exporter_pause_;
  std::string exporter_outcome_;  ///< what was said of it last
};

bool Companions::wanted(const config::Config& config) {
  return !config.metrics_listen.empty() || !config.on_change.empty();
}

Result<Companions::Launchers> Companions::fork() {
  auto exporter = Launcher::fork(kExporterUser);
  if (!exporter) return fail(exporter.error());
  auto hook = Launcher::fork(kHookUser);
  if (!hook) return fail(hook.error());
  return Launchers{.exporter = std::move(*exporter), .hook = std::move(*hook)};
}

Companions::Companions(asio::io_context& loop, std::optional<Launchers> launchers, Connect connect,
                       Times times)
    : impl_(std::make_shared<Impl>(loop, std::move(launchers), std::move(connect), times)) {
  impl_->wait();
}
Companions::~Companions() { impl_->stop(); }
void Companions::configure(const config::Config& config) { impl_->configure(config); }
bool Companions::wants_changes() const { return impl_->wants_changes(); }
void Companions::changed(std::string change) { impl_->changed(std::move(change)); }

}  // namespace lldp::io
