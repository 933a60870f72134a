// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "agent/daemon/daemon_impl.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"

namespace lldp::io {

std::string Daemon::show_json(std::span<const std::string> ports) {
  return show_json(ports, core::Depth::kSummary);
}

std::string Daemon::detail_json(std::span<const std::string> ports) {
  return show_json(ports, core::Depth::kOctets);
}

std::string Daemon::show_json(std::span<const std::string> ports, core::Depth depth) {
  const TimePoint now = boot_time();
  // Whoever asks is told what is, and what waits to be read is not known yet.
  read_links();
  protection_.catch_up(now);
  perform(now);
  set_timer(now);
  const core::Snapshot snapshot = agent_.snapshot(now, depth);
  return report::show_json(snapshot, protection_.summary(snapshot),
                           {.wall = std::chrono::system_clock::now(), .boot = now}, ports,
                           to_string(speaker()), role_.why);
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
  read_links();
  std::string json = report::rules_json(protection_.rules(agent_.snapshot(boot_time())));
  settle();  // what was found is seen to
  return json;
}

Result<void, std::vector<Error>> Daemon::reload() {
  service_.reloading();
  auto fresh = config::load(invocation_);
  if (!fresh) {
    service_.ready();
    config::Errors errors = std::move(fresh.error());
    errors.push_back({.what = "nothing is changed"});
    return fail(std::move(errors));
  }
  // These are opened once; a restart, which disturbs nothing, takes them over.
  const auto keep = [&](auto config::Config::*key, std::string_view name) {
    if ((*fresh).*key == config_.*key) return;
    (*fresh).*key = config_.*key;
    log(Severity::kWarning, fmt::format("{} is another one: it is read at start only", name));
  };
  if (fresh->dry_run != config_.dry_run) {  // what it runs beside itself follows from that
    fresh->on_change = config_.on_change;
    fresh->metrics_listen = config_.metrics_listen;
    fresh->snmp_agentx = config_.snmp_agentx;
  }
  keep(&config::Config::dry_run, "dry-run");
  keep(&config::Config::socket, "socket");
  keep(&config::Config::control_group, "control.group");
  keep(&config::Config::seccomp, "seccomp");
  keep(&config::Config::state_file, "state-file");
  keep(&config::Config::transport, "transport");
  keep(&config::Config::lldpd_socket, "lldpd.socket");
  keep(&config::Config::lldpd_grace, "lldpd.grace");
  keep(&config::Config::backend, "backend");
  keep(&config::Config::bpffs, "bpffs");
  keep(&config::Config::offload, "flower.offload");
  keep(&config::Config::sonic_redis, "sonic.redis");
  keep(&config::Config::sonic_config, "sonic.config");
  keep(&config::Config::htb, "qdisc");
  config_ = std::move(*fresh);

  const TimePoint now = boot_time();
  companions_->configure(config_);
  packets_.set_groups(group_addresses(config_.core.scopes));
  if (beside_) beside_->configure(config_.core);
  for (const auto& [ifindex, link] : links_.interfaces()) consider(link, now);
  watch_for_no_port(now);
  load_plan(now);
  agent_.configure(settings(), now, actions_);
  perform(now);
  protection_.update_all(config_.policy, now);
  settle();
  service_.ready();
  log(Severity::kNotice, "configuration read anew");
  say_what_is_no_interface();
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

}  // namespace lldp::io
