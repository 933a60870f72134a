// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/protection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include "agent/core/announcement.hpp"
#include "dataplane/factory.hpp"

namespace lldp::io {
namespace {

constexpr Ifindex kWhole{};           ///< the back end as a whole, among the ports
constexpr std::size_t kPerTurn = 16;  ///< ports given rules before others have their turn
/// Between two ports that settle: each holds the kernel's RTNL lock, which others want too.
constexpr Duration kSettlePause = std::chrono::milliseconds(250);
constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLastRetry = std::chrono::seconds(30);

Result<std::unique_ptr<dataplane::Backend>> open_backend(const config::Config& config,
                                                         const Protection::NameOf& name_of) {
  if (config.backend == config::Backend::kNone && !config.dry_run) return nullptr;
  return dataplane::make_backend(
      config.dry_run ? "print" : to_string(config.backend),
      {.out = &std::cout,
       .name_of = [name_of](Ifindex p) { return std::string(name_of(p)); },
       .bpffs = config.bpffs,
       .queues = config.htb});
}

}  // namespace

Protection Protection::open(const core::Agent& agent, const config::Config& config,
                            NameOf name_of) {
  auto opened = open_backend(config, name_of);
  return Protection(agent, config.policy,
                    config.dry_run ? "print" : std::string(to_string(config.backend)),
                    std::move(opened), std::move(name_of));
}

Protection::Protection(const core::Agent& agent, qos::Policy policy, std::string backend,
                       Result<std::unique_ptr<dataplane::Backend>> opened, NameOf name_of)
    : agent_(&agent),
      policy_(std::move(policy)),
      backend_name_(std::move(backend)),
      name_of_(std::move(name_of)) {
  if (opened)
    backend_ = std::move(*opened);
  else
    note(kWhole, fail(opened.error()));
  if (!backend_) return;
  if (const auto found = backend_->ports()) found_.insert(found->begin(), found->end());
}

void Protection::add(Ifindex port, TimePoint now) {
  if (!ports_.insert(port).second || !backend_) return;
  const core::Settings& settings = agent_->settings();
  if (found_.contains(port) && settings.role == Role::kSwitch &&
      agent_->order(port) == Order::kUnknown) {
    if (!found_until_) found_until_ = now + std::chrono::seconds(core::tx_ttl(settings));
    return;
  }
  found_.erase(port);
  added_at_ = now;
  waiting_.push_back(port);
}

void Protection::remove(Ifindex port) {
  ports_.erase(port);
  found_.erase(port);
  unsettled_.erase(port);
  if (failed_.erase(port) != 0) untold_.insert(port);
  if (!backend_) return;
  // Still there, but not to be managed: its rules go. Gone: there is nothing to plan.
  if (const auto plan = backend_->plan_removal(port); plan && !plan->empty())
    (void)backend_->apply(*plan);  // one that goes in this moment takes its rules along
  backend_->forget(port);
}

qos::Ruleset Protection::wanted(Ifindex port) const {
  const bool forwards = agent_->settings().role == Role::kSwitch;
  return qos::compile(policy_, {.order = forwards ? agent_->order(port) : Order::kUnknown});
}

void Protection::update(Ifindex port) {
  if (!backend_ || !ports_.contains(port)) return;
  found_.erase(port);
  const auto plan = backend_->plan(port, wanted(port));
  note(port, plan ? backend_->apply(*plan) : fail(plan.error()));
  if (plan && backend_->settles()) unsettled_.insert(port);
}

void Protection::update_all(qos::Policy policy) {
  policy_ = std::move(policy);
  for (Ifindex port : ports_)
    if (!found_.contains(port) || agent_->settings().role == Role::kHost) update(port);
}

void Protection::note(Ifindex port, const Result<void>& outcome) {
  if (outcome || outcome.error().code == ENODEV) {  // gone: netlink tells, or has told
    if (failed_.erase(port) != 0) untold_.insert(port);
    return;
  }
  Failure& failure = failed_[port];
  failure.why = outcome.error();
  failure.wait = std::clamp(failure.wait * 2, kFirstRetry, kLastRetry);
  failure.due = std::nullopt;
  untold_.insert(port);
}

std::optional<TimePoint> Protection::next_deadline() const {
  if (!waiting_.empty()) return added_at_;
  std::optional<TimePoint> next = found_.empty() ? std::nullopt : found_until_;
  if (!unsettled_.empty() && (!next || settle_at_.value_or(TimePoint::min()) < *next))
    next = settle_at_.value_or(TimePoint::min());
  for (const auto& [port, failure] : failed_)
    if (failure.due && (!next || *failure.due < *next)) next = failure.due;
  return next;
}

void Protection::advance(TimePoint now) {
  for (std::size_t n = 0; n < kPerTurn && !waiting_.empty(); ++n) {
    update(waiting_.front());
    waiting_.pop_front();
  }
  if (found_until_ && *found_until_ <= now)
    for (Ifindex port : std::exchange(found_, {})) update(port);
  if (!settle_at_ && waiting_.empty() && !unsettled_.empty()) settle_at_ = now + kSettlePause;
  if (settle_at_ && *settle_at_ <= now) settle_one(now);
  std::vector<Ifindex> again;
  for (const auto& [port, failure] : failed_)
    if (failure.due && *failure.due <= now && again.size() < kPerTurn) again.push_back(port);
  for (Ifindex port : again) update(port);
}

void Protection::settle_one(TimePoint now) {
  bool moved = false;
  while (!moved && !unsettled_.empty()) {
    // One that cannot move has its rules all the same, and is tried again at its next change.
    moved = backend_->settle(unsettled_.extract(unsettled_.begin()).value()).value_or(false);
  }
  settle_at_ = unsettled_.empty() ? std::nullopt : std::optional(now + kSettlePause);
}

void Protection::tell(core::Agent& agent, TimePoint now, core::Actions& out) {
  if (untold_.empty()) return;
  for (Ifindex port : std::exchange(untold_, {})) {
    const std::string name(name_of_(port));
    const auto failure = failed_.find(port);
    if (failure == failed_.end()) {
      agent.clear_alarm(core::AlarmCode::kDataplane, name, out);
      continue;
    }
    agent.raise_alarm(core::AlarmCode::kDataplane, name, to_string(failure->second.why), now, out);
    if (port != kWhole) failure->second.due = now + failure->second.wait;
  }
  // The agent has an alarm of this code for each port where a switch without a level is heard; this
  // one is the device's.
  if (!failed_.empty()) {
    const std::string text =
        failed_.contains(kWhole)
            ? "no port has rules: the data plane cannot be opened"
            : fmt::format("{} of {} ports without their rules", failed_.size(), ports_.size());
    agent.raise_alarm(core::AlarmCode::kUnprotected, {}, text, now, out);
  } else if (unprotected_) {
    agent.clear_alarm(core::AlarmCode::kUnprotected, {}, out);
  }
  unprotected_ = !failed_.empty();
}

void Protection::flush() {
  if (!backend_) return;
  const auto ports = backend_->ports();
  for (Ifindex port : ports.value_or(std::vector<Ifindex>{}))
    if (const auto plan = backend_->plan_removal(port)) note(port, backend_->apply(*plan));
}

report::Protection Protection::summary(const core::Snapshot& snapshot) const {
  using State = report::Protection::State;
  report::Protection summary{.backend = backend_name_};
  for (const qos::Class& c : policy_.lossless()) summary.lossless.push_back(c.priority);
  if (failed_.contains(kWhole) || (!ports_.empty() && failed_.size() == ports_.size()))
    summary.state = State::kFailed;
  else if (!backend_ || snapshot.role == Role::kHost || !snapshot.level)
    summary.state = State::kInactive;
  else if (!failed_.empty() || !waiting_.empty() ||
           std::ranges::any_of(snapshot.ports, &core::PortInfo::unprotected))
    summary.state = State::kPartial;
  else
    summary.state = State::kActive;
  return summary;
}

report::Rules Protection::rules() const {
  report::Rules rules{.backend = backend_name_, .policy = policy_};
  if (backend_) rules.description = backend_->description();
  if (const auto whole = failed_.find(kWhole); whole != failed_.end())
    rules.error = to_string(whole->second.why);
  for (Ifindex port : ports_) rules.ports.push_back(rules_of(port));
  return rules;
}

report::PortRules Protection::rules_of(Ifindex port) const {
  using Installed = report::PortRules::Installed;
  report::PortRules out{.name = std::string(name_of_(port)), .wanted = wanted(port)};
  if (const auto failure = failed_.find(port); failure != failed_.end())
    out.error = to_string(failure->second.why);
  if (!backend_) return out;
  out.bounces = backend_->bounces(port).value_or(dataplane::Bounces{});
  const auto plan = backend_->plan(port, out.wanted);
  if (!plan) {
    out.error = to_string(plan.error());
    return out;
  }
  for (const dataplane::Change& c : plan->changes)
    out.changes.push_back(fmt::format("{} {}", to_string(c.action), to_string(c.part)));
  const bool nothing_there = std::ranges::all_of(plan->changes, [](const dataplane::Change& c) {
    return c.action == dataplane::Action::kAdd;
  });
  out.installed = plan->empty()           ? Installed::kYes
                  : found_.contains(port) ? Installed::kKept
                  : nothing_there         ? Installed::kNo
                                          : Installed::kDiffers;
  return out;
}

}  // namespace lldp::io
