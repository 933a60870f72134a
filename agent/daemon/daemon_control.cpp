// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "agent/control/connection.hpp"
#include "agent/daemon/daemon_impl.hpp"
#include "agent/report/json_writer.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"

namespace lldp::io {
namespace {

constexpr std::size_t kMostMuted = 1024;
constexpr std::string_view kClasses = "classes";    ///< to be forgotten, in place of ports
constexpr std::string_view kLocation = "location";  ///< the same

}  // namespace

std::string Daemon::show_json(std::span<const std::string> ports) {
  return show_json(ports, core::Depth::kSummary);
}

std::string Daemon::detail_json(std::span<const std::string> ports) {
  return show_json(ports, core::Depth::kOctets);
}

std::string Daemon::show_json(std::span<const std::string> ports, core::Depth depth) {
  const TimePoint now = boot_time();
  // The answer must be up to date, and events that are still unread are not known yet.
  read_links();
  protection_.catch_up(now);
  perform(now);
  watch_for_forwarding(now);
  set_timer(now);
  std::erase_if(muted_, [now](const auto& muted) { return muted.second <= now; });
  const core::Snapshot snapshot = agent_.snapshot(now, depth);
  return report::show_json(snapshot, protection_.summary(snapshot),
                           {.wall = std::chrono::system_clock::now(), .boot = now}, ports,
                           {.transport = to_string(speaker()),
                            .role_reason = role_.why,
                            .set = set_,
                            .companions = companions_->report(config_),
                            .muted = muted_});
}

std::string Daemon::stats_json(std::span<const std::string> ports) {
  std::vector<report::PortStatistics> counters;
  const TimePoint now = boot_time();
  for (const core::PortInfo& port : agent_.snapshot(now).ports) {
    if (!ports.empty() && !any_name_match(ports, port.name)) continue;
    auto statistics = agent_.statistics(port.ifindex);
    if (!statistics) continue;
    statistics->framesTaggedTotal = packets_.tagged(port.ifindex);
    counters.push_back({.name = port.name, .counters = *statistics});
  }
  return report::stats_json(counters, to_string(speaker()),
                            usage_.now({.wall = std::chrono::system_clock::now(), .boot = now}));
}

std::string Daemon::rules_json() {
  read_links();
  protection_.catch_up(boot_time());
  std::string json = report::rules_json(protection_.rules(agent_.snapshot(boot_time())));
  settle();  // what was found is seen to
  return json;
}

std::string Daemon::config_json() {
  std::string json;
  report::JsonWriter out(json);
  out.open('{').member("version", 1).key("keys").open('[');
  for (const config::Setting& setting : config::settings(config_)) {
    out.open('{')
        .member("key", setting.key)
        .member("value", escape(setting.value))
        .member("source", escape(setting.source));
    if (const auto waits = after_restart_.find(setting.key); waits != after_restart_.end())
      out.member("after_restart", escape(waits->second));
    out.close('}');
  }
  out.close(']').close('}');
  return json;
}

Result<std::string, std::vector<Error>> Daemon::reload_json() {
  if (auto done = reload(); !done) return fail(std::move(done.error()));
  std::string json;
  report::JsonWriter out(json);
  out.open('{');
  if (!after_restart_.empty()) {
    out.key("restart").open('[');
    for (const auto& [key, value] : after_restart_) out.value(key);
    out.close(']');
  }
  out.close('}');
  return json;
}

Result<void, std::vector<Error>> Daemon::reload() {
  service_.reloading();
  keep_control(boot_time());
  auto fresh = config::load_again(invocation_);
  if (!fresh) {
    tell_ready();
    config::Errors errors = std::move(fresh.error());
    errors.push_back({.what = "nothing is changed"});
    return fail(std::move(errors));
  }
  if (fresh->dry_run != config_.dry_run) {  // what it runs beside itself follows from that
    fresh->on_change = config_.on_change;
    fresh->metrics_listen = config_.metrics_listen;
    fresh->snmp_agentx = config_.snmp_agentx;
  }
  after_restart_.clear();
  for (config::Setting& s : config::keep_what_is_of_start(*fresh, config_)) {
    log(Severity::kWarning, fmt::format("`{}` changed; restart the daemon to apply it", s.key));
    after_restart_.emplace(std::move(s.key), std::move(s.value));
  }
  set_.clear();
  agent_.clear_alarm(core::AlarmCode::kSet, {}, actions_);
  renamed_.clear();
  adopt(std::move(*fresh));
  tell_ready();
  log(Severity::kNotice, "configuration read again");
  say_what_is_no_interface();
  log_settle();  // the requester may look there next
  return {};
}

void Daemon::adopt(config::Config fresh) {
  config_ = std::move(fresh);
  if (const std::string note = config::old_form(config_); !note.empty())
    log(Severity::kNotice, note);
  const TimePoint now = boot_time();
  companions_->configure(config_);
  packets_.set_groups(group_addresses(config_.core.scopes));
  if (beside_) beside_->configure(config_.core);
  for (const auto& [ifindex, link] : links_.table().interfaces()) consider(link, now);
  watch_for_no_port(now);
  watch_for_missing_ports(now);
  watch_for_left_out(now);
  host_name_ = host_name();
  load_plan(now);
  agent_.configure(settings(), now, actions_);
  agent_.forget_classes(now, actions_);
  perform(now);
  protection_.update_all(policy(), now);
  settle();
  notify_changed();
}

Result<void> Daemon::set(std::string_view key, std::string_view value) {
  auto fresh = config::with_option(config_, key, value);
  if (!fresh) return fail(fresh.error());
  const bool beside = fresh->on_change != config_.on_change ||
                      fresh->metrics_listen != config_.metrics_listen ||
                      fresh->snmp_agentx != config_.snmp_agentx;
  if (beside && companions_->go_by_the_file())
    return fail(
        Error{.where = std::string(key),
              .what = "is started by a service that goes by the file alone: write the key there, "
                      "and reload"});
  for (const report::Companion& missing : companions_->out_of_reach(*fresh))
    if (missing.key == key) return fail(Error{.where = missing.key, .what = missing.trouble});
  log(Severity::kNotice,
      fmt::format("{} = {}: set on request, until the next reload", escape(key), escape(value)));
  set_.insert_or_assign(config::spelled(key), std::string(value));
  std::string text;
  for (const auto& [name, what] : set_)
    fmt::format_to(std::back_inserter(text), "{}{} = {}", text.empty() ? "" : ", ", name,
                   escape(what));
  agent_.raise_alarm(core::AlarmCode::kSet, {},
                     text + ": set on request; `lldp-level reload` ends it", boot_time(), actions_);
  adopt(std::move(*fresh));
  return {};
}

Result<void> Daemon::mute(std::string_view alarm, std::string_view port, std::string_view seconds) {
  bool known = false;
  for (std::size_t i = 0; i < core::kAlarmCodes; ++i)
    known |= to_string(static_cast<core::AlarmCode>(i)) == alarm;
  if (!known)
    return fail(
        Error{.where = escape(alarm), .what = "is no alarm: lldp-leveld(8) has a list of them"});
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(seconds.data(), seconds.data() + seconds.size(), number);
  if (error != std::errc() || end != seconds.data() + seconds.size() ||
      number > control::kLongestMute)
    return fail(Error{.where = escape(seconds), .what = "is no time of at most 30 days"});
  // Alarms stand under the escaped name.
  const std::string where = escape(unescape(port).value_or(std::string(port)));
  const auto is_it = [&](const auto& entry) { return entry.second.name == where; };
  const bool of_others = alarm == to_string(core::AlarmCode::kPortMissing) ||
                         alarm == to_string(core::AlarmCode::kLeftOut);
  if (number != 0 && !port.empty() && !of_others && std::ranges::none_of(ports_, is_it))
    return fail(Error{.where = escape(port), .what = "is no port"});
  std::pair key{std::string(alarm), where};
  if (number == 0)
    muted_.erase(key);
  else if (muted_.size() < kMostMuted || muted_.contains(key))
    muted_.insert_or_assign(std::move(key), boot_time() + std::chrono::seconds(number));
  else
    return fail(Error{.what = "too many alarms are muted: end one with --for 0"});
  log(Severity::kNotice,
      fmt::format("alarm {} {}: muted for {} s on request", escape(alarm), where, number));
  notify_changed();
  return {};
}

Result<std::vector<Ifindex>> Daemon::find_ports(std::span<const std::string> globs) const {
  std::vector<Ifindex> found;
  for (const std::string& glob : globs) {
    const std::size_t before = found.size();
    for (const auto& [ifindex, port] : ports_)
      if (name_match(glob, port.link)) found.push_back(ifindex);
    if (found.size() == before) return fail(Error{.where = escape(glob), .what = "is no port"});
  }
  return found;
}

Result<void> Daemon::update(std::span<const std::string> ports) {
  if (speaker() == LldpdTransport::Speaker::kLldpd)
    return fail(Error{.what = "lldpd sends LLDP for this device: use lldpcli update"});
  if (speaker() == LldpdTransport::Speaker::kNone)
    return fail(
        Error{.what = "no LLDP is sent until lldpd runs: start lldpd, or set transport = auto"});
  const auto found = find_ports(ports);
  if (!found) return fail(found.error());
  const TimePoint now = boot_time();
  for (const Ifindex port : *found)
    if (!agent_.announce(port, now))
      return fail(Error{.where = std::string(name_of(port)), .what = "is down, or may not send"});
  if (ports.empty()) {
    bool any = false;
    for (const auto& [ifindex, port] : ports_) any |= agent_.announce(ifindex, now);
    if (!any) return fail(Error{.what = "no port is up and may send"});
  }
  settle();
  return {};
}

Result<void> Daemon::pause(std::span<const std::string> ports) {
  const auto found = find_ports(ports);
  if (!found) return fail(found.error());
  const TimePoint now = boot_time();
  for (const auto& [ifindex, link] : links_.table().interfaces()) {
    const bool meant = ports.empty() || std::ranges::find(*found, ifindex) != found->end();
    if (!meant || !ports_.contains(ifindex) || !paused_.insert(link.name).second) continue;
    consider(link, now);
  }
  settle();
  notify_changed();
  return {};
}

Result<void> Daemon::resume(std::span<const std::string> ports) {
  const auto meant = [&](const std::string& name) {
    return ports.empty() || any_name_match(ports, name);
  };
  // A port that is gone may be paused, too.
  for (const std::string& glob : ports) {
    const bool known =
        std::ranges::any_of(paused_, [&](const auto& name) { return name_match(glob, name); });
    if (known) continue;
    if (const auto found = find_ports({&glob, 1}); !found) return fail(found.error());
  }
  std::erase_if(paused_, meant);
  const TimePoint now = boot_time();
  for (const auto& [ifindex, link] : links_.table().interfaces())
    if (const auto port = ports_.find(ifindex); port != ports_.end() && port->second.paused)
      consider(link, now);
  settle();
  notify_changed();
  return {};
}

Result<void> Daemon::accept_pfc(const std::string& port, bool accept) {
  const auto found = find_ports(std::span(&port, 1));
  if (!found) return fail(found.error());
  const TimePoint now = boot_time();
  if (auto done = protection_.accept_pfc(found->front(), accept, now); !done)
    return fail(
        Error{done.error().code, printable(done.error().where), printable(done.error().what)});
  log(Severity::kNotice,
      fmt::format("{}: PFC that the rules took is {} on request", name_of(found->front()),
                  accept ? "accepted" : "no longer accepted"));
  perform(now);
  settle();
  notify_changed();
  return {};
}

Result<void> Daemon::forget(std::span<const std::string> ports) {
  if (ports.size() == 1 && ports.front() == kClasses) {
    if (config_.chains)
      return fail(Error{.where = "qos.lossless",
                        .what = "names the classes: set it to auto, or change it there"});
    log(Severity::kNotice, "lossless classes without evidence dropped on request");
    const TimePoint now = boot_time();
    agent_.forget_classes(now, actions_);
    perform(now);
    settle();
    notify_changed();
    return {};
  }
  if (ports.size() == 1 && ports.front() == kLocation) {
    if (!agent_.renew_location(boot_time(), actions_))
      return fail(Error{.where = "location",
                        .what =
                            "this device does not name its tier: type this on a switch above "
                            "leaves that has another leaf below than the one of the tier's ID"});
    log(Severity::kNotice, "ID of the own tier named anew on request");
    perform(boot_time());
    settle();
    control_->notify_changed();
    return {};
  }
  const auto found = find_ports(ports);
  if (!found) return fail(found.error());
  if (ports.empty() && config_.core.pinned_level)
    return fail(Error{.where = "level", .what = "is pinned by the configuration"});
  const TimePoint now = boot_time();
  // Rare, and by a person: the log says which user asked for it, also where nothing changes.
  for (const Ifindex port : *found)
    log(Severity::kNotice,
        fmt::format("{}: remembered neighbor dropped on request", name_of(port)));
  if (ports.empty())
    log(Severity::kNotice, agent_.settings().role == Role::kHost ? "location dropped on request"
                                                                 : "level dropped on request");
  for (const Ifindex port : *found) agent_.forget(port, now, actions_);
  if (ports.empty()) agent_.forget(std::nullopt, now, actions_);
  perform(now);
  settle();
  notify_changed();
  return {};
}

}  // namespace lldp::io
