// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <utility>

#include "agent/core/announcement.hpp"
#include "agent/daemon/cabling_plan.hpp"
#include "agent/daemon/daemon_impl.hpp"
#include "agent/links/management.hpp"
#include "agent/links/port_policy.hpp"
#include "agent/links/rail.hpp"
#include "agent/links/vlans.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"

namespace lldp::io {
namespace {

constexpr std::uint8_t kInterfaceAlias = 1;  ///< subtype, IEEE 802.1AB-2016 Table 8-3

bool is_aggregated(const Interface& link) {
  return link.master_kind == "bond" || link.master_kind == "team";
}

}  // namespace

void Daemon::read_links() {
  const bool told = links_.behind();
  if (auto received = links_.receive(); !received && !told) log(Severity::kError, received.error());
  if (!surveyed_) survey(boot_time());
}

void Daemon::follow_links() {
  read_links();
  if (links_.behind())
    link_events_->pause();  // it would wake us until the retry
  else
    link_events_->wait();
}

std::optional<PortId> Daemon::port_id(const Interface& link) const {
  if (beside_)
    if (auto theirs = beside_->port_id(link.ifindex)) return theirs;
  PortId id;
  switch (config_.port_id) {
    case config::PortIdKind::kName:
      return std::nullopt;
    case config::PortIdKind::kMac:
      id.subtype = PortId::kMacAddress;
      id.octets = as_text(link.address);
      return id;
    case config::PortIdKind::kAlias:
      if (link.alias.empty()) return std::nullopt;
      id.subtype = kInterfaceAlias;
      id.octets = link.alias;
      return id;
    case config::PortIdKind::kLocal:
      break;
  }
  id.subtype = PortId::kLocal;
  id.octets = link.name;
  return id;
}

std::string Daemon::description(const Interface& link) const {
  if (const auto set = config_.description.find(link.name); set != config_.description.end())
    return set->second;
  return link.alias.empty() ? link.port_name : link.alias;
}

core::Link Daemon::link_of(const Interface& link) {
  PfcMonitor::State dcb = pfc_ ? pfc_->read(link.name) : PfcMonitor::State();
  if (dcb.pfc)
    dcb_[link.ifindex] = {.pfc = dcb.pfc->enabled, .dscps = dcb.dscps};
  else
    dcb_.erase(link.ifindex);
  protection_.set_dcb(link.ifindex, std::move(dcb.settings));
  BridgeVlans vlans = vlans_of(link, links_.table().interfaces(), links_.table().bridge_vlans());
  return {
      .ifindex = link.ifindex,
      .name = link.name,
      .address = link.address,
      .up = link.up,
      .carrier_changes = link.carrier_changes,
      .mtu = link.mtu,
      .pfc = dcb.pfc,
      .layers = layers(link.name),
      .adminStatus = admin_status(link.name),
      .may_be_unheard = config_.unheard_ok.contains(link.name),
      .may_be_crosslink = config_.crosslink_ok.contains(link.name),
      .details = core::LinkDetails{.port_id = port_id(link),
                                   .description = description(link),
                                   .aggregate = is_aggregated(link) ? link.master : Ifindex(),
                                   .mac_phy = hardware_ ? hardware_->ask(link.name) : std::nullopt,
                                   .port_vlan = vlans.port_vlan,
                                   .vlans = std::move(vlans.vlans),
                                   .rail_group = rail_group(link.name)}};
}

std::string Daemon::rail_group(const std::string& port) const {
  if (const auto set = config_.rail.find(port); set != config_.rail.end())
    return set->second == "none" ? std::string() : set->second;
  return board_id_of(port);
}

void Daemon::consider(const Interface& link, TimePoint now) {
  if (!is_port(link, config_.ports, machine_)) return drop_port(link.ifindex, false, now);
  const auto [it, fresh] = ports_.try_emplace(link.ifindex);
  ManagedPort& port = it->second;
  const std::string name = escape(link.name);
  if (auto added = packets_.add(port_of(link)); !added)
    log(Severity::kError, {added.error().code, name, to_string(added.error())});
  if (fresh && running_) log(Severity::kInfo, fmt::format("{}: port added", name));
  // It is the link that is paused, whatever it is called from now on.
  if (port.paused && port.name != name)
    if (std::erase_if(paused_, [&](const auto& was) { return escape(was) == port.name; }) != 0)
      paused_.insert(link.name);
  const bool paused = paused_.contains(link.name);
  // The agent has a port by its old name until here, and by its new one from there on.
  if (port.paused && (!paused || port.name != name))
    agent_.clear_alarm(core::AlarmCode::kPaused, port.name, actions_);
  agent_.set_link(link_of(link), now, actions_);
  if (paused)
    agent_.raise_alarm(core::AlarmCode::kPaused, name,
                       "sends and hears nothing, on request; its rules stay; `lldp-level resume " +
                           argument(link.name) + "` ends it",
                       now, actions_);
  port.paused = paused;
  port.name = name;
  port.link = link.name;
  perform(now);
  if (beside_) beside_->add_port(link.ifindex, link.name, now);
  if (fresh)
    protection_.add(link.ifindex, now, is_stacked(link));
  else
    protection_.link_changed(link.ifindex);
  if (running_ && !config_.chains) update_settings(now);  // its PFC may be evidence
}

void Daemon::tell_lower(const Interface& upper, TimePoint now) {
  if (!is_stacked(upper)) return;
  const auto& interfaces = links_.table().interfaces();
  constexpr int kDeepest = 8;
  Ifindex at = upper.ifindex;
  for (int depth = 0; depth < kDeepest; ++depth) {
    for (const auto& [ifindex, link] : interfaces)
      if (link.master == at) protection_.upper_changed(ifindex, now);
    const auto link = interfaces.find(at);
    if (link == interfaces.end() || link->second.lower == Ifindex()) return;
    at = link->second.lower;
    protection_.upper_changed(at, now);
  }
}

void Daemon::drop_port(Ifindex ifindex, bool gone, TimePoint now) {
  const auto it = ports_.find(ifindex);
  if (it == ports_.end()) return;
  const auto link = links_.table().interfaces().find(ifindex);
  if (!gone && link != links_.table().interfaces().end() &&
      escape(link->second.name) != it->second.name)
    renamed_.insert_or_assign(it->second.name, ifindex);
  if (it->second.paused) agent_.clear_alarm(core::AlarmCode::kPaused, it->second.name, actions_);
  protection_.remove(ifindex, now);
  dcb_.erase(ifindex);
  if (gone)
    agent_.remove_link(ifindex, now, actions_);
  else
    agent_.leave_link(ifindex, now, actions_);
  perform(now);
  if (beside_) beside_->remove_port(ifindex);
  packets_.remove(ifindex);
  log(Severity::kInfo, fmt::format("{}: port removed", it->second.name));
  ports_.erase(it);
  gate_.forget(ifindex);
}

void Daemon::survey(TimePoint now) {
  surveyed_ = true;
  if (Machine found(links_.table().interfaces()); found != machine_) {
    machine_ = std::move(found);
    if (config_.ports.wanted.empty())
      for (const auto& [ifindex, link] : links_.table().interfaces()) consider(link, now);
  }
  update_settings(now);  // which interfaces are up decides on the addresses that are told
  watch_for_no_port(now);
  watch_for_missing_ports(now);
  watch_for_left_out(now);
}

void Daemon::watch_for_no_port(TimePoint now) {
  using core::AlarmCode;
  if (!ports_.empty())
    agent_.clear_alarm(AlarmCode::kNoPort, {}, actions_);
  else if (config_.ports.wanted.empty())
    agent_.raise_alarm(AlarmCode::kNoPort, {},
                       "no physical Ethernet port is here: name the interfaces in `ports`", now,
                       actions_);
  else
    agent_.raise_alarm(AlarmCode::kNoPort, {}, "no Ethernet interface matches `ports`: correct it",
                       now, actions_);
  perform(now);
}

void Daemon::watch_for_missing_ports(TimePoint now) {
  using core::AlarmCode;
  std::map<std::string, Ifindex, std::less<>> there;
  for (const auto& [ifindex, link] : links_.table().interfaces())
    there.emplace(escape(link.name), ifindex);
  std::map<std::string, std::string> missing;  // escaped name, and the key that has it
  for (const auto& [name, key] : config::named_ports(config_)) {
    if (const auto at = there.find(escape(name)); at != there.end()) {
      named_.insert_or_assign(escape(name), at->second);
      if (key != "ports" || ports_.contains(at->second)) continue;
    }
    missing.emplace(escape(name), key);
  }
  // A port that is called otherwise now forwards as before, whatever has its name.
  std::erase_if(renamed_, [&](const auto& was) {
    return ports_.contains(was.second) || !links_.table().interfaces().contains(was.second);
  });
  for (const auto& [name, ifindex] : renamed_) missing.try_emplace(name, "ports");
  for (const std::string& name : std::exchange(missing_, {}))
    if (missing.contains(name))
      missing_.insert(name);
    else
      agent_.clear_alarm(AlarmCode::kPortMissing, name, actions_);
  for (const auto& [name, key] : missing) {
    missing_.insert(name);
    const auto was = renamed_.find(name);
    const auto seen = was == renamed_.end() ? named_.find(name) : was;
    const auto& interfaces = links_.table().interfaces();
    const auto now_called = seen == named_.end() || seen == renamed_.end()
                                ? interfaces.end()
                                : interfaces.find(seen->second);
    std::string state = "no interface is called so";
    if (was == renamed_.end() && there.contains(name))
      state = "this interface cannot be a port: it is no Ethernet interface, or -" + name +
              " leaves it out";
    else if (now_called != interfaces.end())
      state = "this interface is called " + escape(now_called->second.name) + " now";
    agent_.raise_alarm(
        AlarmCode::kPortMissing, name,
        fmt::format("`{}` names it, and {}: it speaks no LLDP and has no rules, so "
                    "packets that turn by it stay as they are; correct `{}`, or give "
                    "the interface this name{}",
                    key, state, key,
                    was == renamed_.end() ? "" : "; if it is to be no port: `lldp-level reload`"),
        now, actions_);
  }
  perform(now);
}

void Daemon::watch_for_left_out(TimePoint now) {
  using core::AlarmCode;
  std::set<std::string> names;
  if (role_.role == Role::kSwitch)
    for (const std::string& name : left_out(links_.table().interfaces(), config_.ports, machine_,
                                            links_.table().forwarding()))
      names.insert(escape(name));
  for (const std::string& name : left_out_)
    if (!names.contains(name)) agent_.clear_alarm(AlarmCode::kLeftOut, name, actions_);
  for (const std::string& name : names)
    agent_.raise_alarm(AlarmCode::kLeftOut, name,
                       "up, and no pattern of `ports` takes it: packets between it and a port are "
                       "not changed where they turn; add it to `ports`, or, if no lossless packets "
                       "take it, leave it out by name: -" +
                           name,
                       now, actions_);
  left_out_ = std::move(names);
  perform(now);
}

void Daemon::watch_for_forwarding(TimePoint now) {
  using core::AlarmCode;
  std::vector<Ifindex> ports;
  if (role_.forwards && !has_guests_)
    for (const auto& [ifindex, port] : ports_)
      if (agent_.hears(ifindex)) ports.push_back(ifindex);
  ports = routed_together(links_.table().interfaces(), ports);
  const bool told = router_doubt_.follow(
      {.forwards = role_.forwards, .guests = has_guests_, .joins = ports.size() >= 2},
      std::chrono::seconds(core::tx_ttl(agent_.settings())), now);
  if (told) {
    std::string names;
    for (const Ifindex port : ports) names.append(names.empty() ? "" : ", ").append(name_of(port));
    agent_.raise_alarm(AlarmCode::kForwards, {},
                       "forwards IP, and neighbors are heard on " + names +
                           ": `role = auto` takes it for a host, so packets that it forwards from "
                           "one of these ports to another are not changed where they turn; set "
                           "role = switch, or role = host if it forwards none between its ports",
                       now, actions_);
  } else if (doubt_told_) {
    agent_.clear_alarm(AlarmCode::kForwards, {}, actions_);
  }
  if (told != std::exchange(doubt_told_, told)) perform(now);
}

void Daemon::follow_host_name(TimePoint now) {
  host_name_read_ = now;
  if (std::string name = host_name(); name != host_name_) {
    host_name_ = std::move(name);
    update_settings(now);
  }
}

void Daemon::say_what_is_no_interface() {
  std::vector<std::string> names;
  for (const auto& [ifindex, link] : links_.table().interfaces()) names.push_back(link.name);
  for (const Error& error : config::unmatched(config_, names)) log(Severity::kWarning, error);
}

core::AdminStatus Daemon::admin_status(const std::string& port) const {
  using enum core::AdminStatus;
  const auto set = config_.admin.find(port);
  if (paused_.contains(port)) return disabled;
  const core::AdminStatus status = set == config_.admin.end() ? enabledRxTx : set->second;
  if (!config_.dry_run) return status;
  return status == enabledRxTx || status == enabledRxOnly ? enabledRxOnly : disabled;
}

std::optional<Layers> Daemon::layers(const std::string& port) const {
  const auto set = config_.layers.find(port);
  return set == config_.layers.end() ? std::nullopt : std::optional(set->second);
}

Machine::Verdict Daemon::judge_role() {
  switch (config_.role) {
    case config::Role::kHost:
      return {Role::kHost, {}};
    case config::Role::kSwitch:
      return {Role::kSwitch, {}};
    case config::Role::kAuto:
      if (config_.core.pinned_level) return {Role::kSwitch, "its level is set"};
      break;
  }
  Machine::Verdict found = machine_.role(links_.table().forwards());
  if (auto_role_.follow(found.role == Role::kSwitch, boot_time()) != found.role)
    found = {Role::kSwitch, "it was one until now", false};
  return found;
}

std::string Daemon::role_text() const {
  const std::string_view name = to_string(role_.role);
  return role_.why.empty() ? std::string(name) : fmt::format("{}, for {}", name, role_.why);
}

core::Settings Daemon::settings() {
  core::Settings settings = config_.core;
  role_ = judge_role();
  has_guests_ =
      role_.forwards && forwards_for_guests(links_.table().interfaces(), config_.ports, machine_);
  settings.role = role_.role;
  if (settings.system_name.empty()) settings.system_name = host_name_;
  if (settings.system_description.empty()) settings.system_description = system_description_;
  if (config_.management)
    settings.management_addresses = management_addresses(
        links_.table().addresses(), links_.table().interfaces(), *config_.management);
  settings.router = links_.table().forwarding();
  settings.expected = expected_;
  // The order of two switches has to come out the same at both ends.
  if (beside_ && beside_->chassis_id()) settings.chassis_id = beside_->chassis_id();
  settings.classes = own_classes();
  return settings;
}

core::OwnClasses Daemon::own_classes() const {
  const qos::Class lossy = config_.policy.lossy();
  core::OwnClasses own{.configured = config_.chains,
                       .lossy_dscps = qos::DscpSet(lossy.dscp),
                       .lossy_priorities = static_cast<std::uint8_t>(1U << lossy.priority.value())};
  if (own.configured) return own;  // together with qos.lossy, so that they agree
  if (role_.role == Role::kSwitch) own.lossy = lossy;
  std::vector<core::PortClasses> ports;
  if (platform_) {
    own.platform = platform_->chains;
    own.most_classes = platform_->most_classes;
    for (const auto& [pfc, dscps] : platform_->ports) ports.push_back({.pfc = pfc, .dscps = dscps});
    core::take_ports(own, ports);
    return own;
  }
  for (const auto& [ifindex, dcb] : dcb_) {
    core::PortClasses& port = ports.emplace_back(dcb);
    const dataplane::Backend::Made made = protection_.made(ifindex);
    port.pfc = static_cast<std::uint8_t>(port.pfc & ~unsigned{made.pfc});
    for (const qos::Class& c : made.added)
      port.dscps.at(c.priority.value()) &= ~qos::DscpSet(c.dscp).mask();
    for (const qos::Class& c : made.removed)
      port.dscps.at(c.priority.value()) |= qos::DscpSet(c.dscp).mask();
  }
  core::take_ports(own, ports);
  return own;
}

void Daemon::follow_platform(TimePoint now) {
  const dataplane::PlatformClasses* const known = protection_.platform();
  if (known == nullptr || platform_ == *known) return;
  platform_ = *known;
  if (!config_.chains) update_settings(now);
}

qos::Policy Daemon::policy() const {
  if (agent_.settings().role != Role::kSwitch) return config_.policy;
  const auto learned = qos::Policy::make(agent_.classes().chains(), config_.policy.lossy());
  return learned ? *learned : config_.policy;
}

void Daemon::follow_classes(TimePoint now) {
  const core::Classes& classes = agent_.classes();
  if (classes.chains() == followed_ && classes.lossy_on() == followed_lossy_) return;
  followed_ = classes.chains();
  followed_lossy_ = classes.lossy_on();
  protection_.update_all(policy(), now);
}

void Daemon::load_plan(TimePoint now) {
  agent_.clear_alarm(core::AlarmCode::kCabling, {}, actions_);
  if (config_.expect.empty()) return expected_.reset();
  auto plan = load_cabling_plan(config_.expect, settings().system_name, agent_.chassis_id());
  if (plan) {
    for (const std::string& note : plan->notes) log(Severity::kWarning, note);
    expected_ = std::move(plan->expected);
    return;
  }
  // The plan that was read before stays in use, and the alarm says so.
  agent_.raise_alarm(core::AlarmCode::kCabling, {}, to_string(plan.error()), now, actions_);
}

void Daemon::update_settings(TimePoint now) {
  const core::Settings wanted = settings();
  if (wanted == agent_.settings()) return;
  const bool new_role = wanted.role != agent_.settings().role;
  if (new_role) log(Severity::kNotice, fmt::format("role: {}", role_text()));
  agent_.configure(wanted, now, actions_);
  perform(now);
  if (new_role) protection_.update_all(policy(), now);
}

}  // namespace lldp::io
