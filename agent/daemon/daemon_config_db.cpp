// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/configdb/state_rows.hpp"
#include "agent/daemon/daemon_impl.hpp"
#include "agent/daemon/open_config_db.hpp"
#include "os/clock.hpp"

namespace lldp::io {
namespace {

/// Least time between two readings of the state for STATE_DB: many ports may change at once.
constexpr std::chrono::milliseconds kStatePause{200};

bool is_of_rows(const Error& error) { return error.where.starts_with("CONFIG_DB"); }

}  // namespace

std::unique_ptr<ConfigDb> open_config_db(config::Invocation& invocation, config::Config& config) {
  if (!config.config_db) return nullptr;
  auto opened = ConfigDb::open({.redis = config.sonic_redis, .config = config.sonic_config});
  if (!opened) {
    log(Severity::kError, opened.error());
    return nullptr;
  }
  if (!(*opened)->rows()) return std::move(*opened);
  invocation.rows = *(*opened)->rows();
  if (auto with_rows = config::load_again(invocation))
    config = std::move(*with_rows);
  else
    for (const Error& error : with_rows.error()) log(Severity::kError, error);
  return std::move(*opened);
}

void Daemon::follow_config_db() {
  if (!config_db_) return;
  judge_rows(config::read(invocation_).errors);
  config_db_events_.emplace(loop_, config_db_->fd(), [this] {
    config_db_->take_events();
    if (const auto& rows = config_db_->rows(); rows && *rows != invocation_.rows) {
      invocation_.rows = *rows;
      if (const auto reloaded = reload(); !reloaded)
        for (const Error& error : reloaded.error()) log(Severity::kError, error);
    }
    judge_rows(config::read(invocation_).errors);
    settle();
    config_db_events_->wait();
  });
  config_db_events_->wait();
  notify_changed();
}

void Daemon::judge_rows(const config::Errors& errors) {
  std::string text;
  for (const Error& error : errors)
    if (is_of_rows(error)) text += to_string(error) + "; ";
  if (!text.empty())
    text += "nothing of the configuration is changed until it is mended: `config lldp-level`";
  else if (config_db_->trouble())
    text = to_string(*config_db_->trouble());
  if (text.empty())
    agent_.clear_alarm(core::AlarmCode::kConfigDb, {}, actions_);
  else
    agent_.raise_alarm(core::AlarmCode::kConfigDb, {}, text, boot_time(), actions_);
  perform(boot_time());
}

void Daemon::notify_changed() {
  control_->notify_changed();
  if (config_db_ && !config_.dry_run && !state_due_)
    state_due_ = std::max(boot_time(), state_told_ + kStatePause);
}

void Daemon::tell_state(TimePoint now) {
  state_due_.reset();
  state_told_ = now;
  const core::Snapshot snapshot = agent_.snapshot(now);
  config_db_->tell(state_rows(snapshot, protection_.summary(snapshot)));
}

}  // namespace lldp::io
