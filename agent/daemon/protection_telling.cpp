// SPDX-License-Identifier: Apache-2.0
// What is said of the rules: alarms, the summary, and each port's parts as they were read back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/daemon/protection.hpp"
#include "base/count.hpp"

namespace lldp::io {
namespace {

using dataplane::Part;
using dataplane::PartReading;
using dataplane::PartState;

constexpr std::size_t kNamed = 4;  ///< ports named in an alarm

bool is_in_the_way(const PartReading& part) {
  return part.state == PartState::kForeign || part.state == PartState::kBypassed;
}

report::PartReading told(const PartReading& part) {
  return {std::string(to_string(part.part)), std::string(to_string(part.state)), part.text};
}

/// What the driver says of PFC, where the back end does not set it.
PartReading read_pfc(const core::PortInfo* info, const qos::Policy& policy) {
  if (info == nullptr || !info->pfc_enabled)
    return {Part::kPfc, PartState::kUnsupported,
            "the driver does not tell (no dcbnl): whether PFC is on is not known"};
  const unsigned without = policy.pfc_enable() & ~unsigned{*info->pfc_enabled};
  if (without == 0) return {.part = Part::kPfc, .state = PartState::kDone};
  std::string on;
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((without >> p & 1U) != 0) on += fmt::format(" {}:on", p);
  return {Part::kPfc, PartState::kMissing,
          fmt::format("no PFC: dcb pfc set dev {} prio-pfc{}", info->name, on)};
}

/// No driver tells of PFC: no rule can be held to it, and it is counted apart.
bool is_silent_of_pfc(const PartReading& part, const core::PortInfo& info) {
  return part.part == Part::kPfc && part.state == PartState::kUnsupported && !info.pfc_enabled;
}

/// Whether what leaves by the port comes to a switch. A port whose order is remembered, and where
/// nobody is heard, may lead to one.
bool leads_to_switch(const core::PortInfo& info) {
  const auto has = [&](DeviceType type) {
    return std::ranges::any_of(
        info.neighbors, [type](const core::NeighborInfo& n) { return n.device_type == type; });
  };
  return info.unprotected || has(DeviceType::kSwitch) ||
         (info.order != Order::kUnknown && !has(DeviceType::kHost));
}

}  // namespace

std::optional<std::string> Protection::complaint(Ifindex port, TimePoint now) const {
  if (const auto failure = failed_.find(port); failure != failed_.end())
    return to_string(error_of(failure->second.outcome));
  const auto at = book_.find(port);
  if (at == book_.end()) return std::nullopt;
  const PortStanding& standing = at->second;
  if (standing.losses.fight(now))
    return fmt::format(
        "somebody takes the rules away again and again ({} times): find out who: they are put back "
        "within 10 s",
        standing.losses.in_a_row(now));
  if (agent_->settings().role != Role::kSwitch) return std::nullopt;  // nothing turns here
  const auto blocked = std::ranges::find_if(standing.parts, is_in_the_way);
  if (blocked == standing.parts.end()) return std::nullopt;
  return fmt::format("{} {}: {}", to_string(blocked->part), to_string(blocked->state),
                     blocked->text);
}

void Protection::tell(Told& told, core::AlarmCode code, const dataplane::PortRef& port,
                      std::optional<std::string> text, core::Agent& agent, TimePoint now,
                      core::Actions& out) {
  if (!text) {
    if (const auto was = told.extract(port.ifindex)) agent.clear_alarm(code, was.mapped(), out);
    return;
  }
  // The alarm goes by the name, which may be another one than when it was raised.
  std::string& under = told.try_emplace(port.ifindex, port.name).first->second;
  if (under != port.name) agent.clear_alarm(code, under, out);
  under = port.name;
  agent.raise_alarm(code, port.name, std::move(*text), now, out);
}

void Protection::tell(core::Agent& agent, TimePoint now, core::Actions& out) {
  for (auto& [port, text] : std::exchange(restored_, {}))
    out.events.push_back(
        {.kind = core::Event::Kind::kRulesRestored, .port = port, .text = std::move(text)});
  if (untold_.empty()) return;
  for (Ifindex port : std::exchange(untold_, {})) {
    const auto leaving = leaving_.find(port);
    const bool stays = leaving != leaving_.end() && leaving->second.failure;
    tell(staying_, core::AlarmCode::kDataplane, stays ? leaving->second.port : ref(port),
         stays ? std::optional("no longer ours, and its rules cannot be taken off: " +
                               to_string(error_of(leaving->second.failure->outcome)))
               : std::nullopt,
         agent, now, out);
    tell(complained_, core::AlarmCode::kDataplane, ref(port), complaint(port, now), agent, now,
         out);
    const auto known = book_.find(port);
    tell(displaced_, core::AlarmCode::kPfcTaken, ref(port),
         known == book_.end() || known->second.displaced.empty()
             ? std::nullopt
             : std::optional(known->second.displaced),
         agent, now, out);
  }
  // The agent has an alarm of this code for each port where a switch without a level is heard; this
  // one is the device's.
  if (!complained_.empty()) {
    std::vector<std::string_view> names;
    for (const auto& [port, name] : complained_)
      if (names.size() < kNamed) names.push_back(name);
    const std::string text =
        complained_.contains(kWhole)
            ? backend_ ? "the data plane does not answer: what rules the ports have is not known"
                       : "no port has rules: the data plane cannot be opened"
            : fmt::format("{} of {} without rules that hold: {}{}", complained_.size(),
                          count_text(ports_.size(), "port"), fmt::join(names, ", "),
                          complained_.size() > kNamed ? ", ..." : "");
    agent.raise_alarm(core::AlarmCode::kUnprotected, {}, text, now, out);
  } else if (unprotected_) {
    agent.clear_alarm(core::AlarmCode::kUnprotected, {}, out);
  }
  unprotected_ = !complained_.empty();
}

std::vector<report::PartReading> Protection::faults_of(const core::PortInfo& info) const {
  if (info.order == Order::kUnknown)
    return {{"remap", "missing",
             info.silent ? "its order is not known: the switch that was heard there is silent"
                         : "its order is not known: the switch there tells no level"}};
  if (info.unprotected)
    return {{"remap", "missing", "its order is a host's: the switch there tells no level"}};
  const auto at = book_.find(info.ifindex);
  if (const auto failure = failed_.find(info.ifindex); failure != failed_.end()) {
    const auto& outcome = failure->second.outcome;
    const Part part = outcome.refused ? outcome.refused->part : Part::kClassify;
    const bool foreign = at != book_.end() && std::ranges::any_of(at->second.parts, [&](auto& p) {
                           return p.part == part && p.state == PartState::kForeign;
                         });
    const PartState state = foreign ? PartState::kForeign : PartState::kMissing;
    return {{std::string(to_string(part)), std::string(to_string(state)), outcome.why->what}};
  }
  if (at == book_.end() || at->second.parts.empty())
    return {{"classify", "missing", "not read back yet"}};
  // What was read is of the rules before: a change is under way, or waits for its turn.
  if (at->second.programmed != class_of(info.ifindex))
    return {{"remap", "missing", "its rules are about to change"}};
  std::vector<report::PartReading> faults;
  for (const PartReading& part : at->second.parts)
    if (part.state != PartState::kDone && !is_silent_of_pfc(part, info))
      faults.push_back(told(part));
  if (backend_->does(Part::kPfc)) return faults;
  // What no driver tells of is counted apart.
  if (const PartReading pfc = read_pfc(&info, policy_); pfc.state == PartState::kMissing)
    faults.push_back(told(pfc));
  return faults;
}

bool Protection::is_pfc_unverified(const core::PortInfo& info) const {
  if (!backend_->does(Part::kPfc)) return !info.pfc_enabled;
  const auto at = book_.find(info.ifindex);
  return at != book_.end() && std::ranges::any_of(at->second.parts, [&](const PartReading& part) {
           return is_silent_of_pfc(part, info);
         });
}

report::Protection Protection::summary(const core::Snapshot& snapshot) const {
  using State = report::Protection::State;
  report::Protection summary{.backend = backend_name_};
  for (const qos::Class& c : policy_.lossless()) summary.lossless.push_back(c.priority);
  if (failed_.contains(kWhole) || (!ports_.empty() && failed_.size() == ports_.size()))
    summary.state = State::kFailed;
  if (backend_)
    for (const core::PortInfo& info : snapshot.ports)
      if (auto alias = backend_->alias({info.ifindex, info.name}); !alias.empty())
        summary.aliases.emplace(info.name, std::move(alias));
  if (!backend_ || snapshot.role == Role::kHost) return summary;
  bool leads = false;
  for (const core::PortInfo& info : snapshot.ports) {
    if (!leads_to_switch(info)) continue;
    leads = true;
    if (is_pfc_unverified(info)) ++summary.pfc_unverified;
    for (report::PartReading& fault : faults_of(info))
      summary.reasons.push_back({info.name, std::move(fault)});
  }
  if (summary.state == State::kFailed) return summary;
  const bool on_paper =
      backend_name_ == "print" && std::ranges::all_of(summary.reasons, [](const auto& reason) {
        return reason.part.state == "unsupported" && reason.part.part != to_string(Part::kPfc);
      });
  if (!summary.reasons.empty())
    summary.state = on_paper ? State::kInactive : State::kPartial;
  else if (leads)
    summary.state = State::kActive;
  return summary;
}

report::Rules Protection::rules(const core::Snapshot& snapshot) {
  report::Rules rules{.backend = backend_name_, .policy = policy_};
  if (backend_) rules.description = backend_->description();
  if (const auto whole = failed_.find(kWhole); whole != failed_.end())
    rules.error = to_string(error_of(whole->second.outcome));
  std::map<Ifindex, const core::PortInfo*> infos;
  for (const core::PortInfo& info : snapshot.ports) infos.emplace(info.ifindex, &info);
  for (Ifindex port : ports_) {
    const auto info = infos.find(port);
    rules.ports.push_back(rules_of(port, info == infos.end() ? nullptr : info->second));
  }
  return rules;
}

report::PortRules Protection::rules_of(Ifindex port, const core::PortInfo* info) {
  using Installed = report::PortRules::Installed;
  report::PortRules out{.name = std::string(name_of_(port)), .wanted = wanted(port)};
  if (const auto failure = failed_.find(port); failure != failed_.end())
    out.error = to_string(error_of(failure->second.outcome));
  const PortStanding& standing = book_[port];
  out.restored = standing.losses.total();
  if (!is_up()) {
    if (opener_) {  // its rules stay where they are, and turns are counted on there
      out.installed = Installed::kUnknown;
      out.bounces.reset();
    }
    return out;
  }
  out.bounces = backend_->bounces(port).value_or(dataplane::Bounces{});
  out.carried = backend_->carried(ref(port));
  const auto reading = backend_->verify(ref(port), out.wanted);
  if (!reading) {
    out.error = to_string(reading.error());
    out.installed = Installed::kUnknown;
    look_.insert(port);  // and it is said everywhere
    return out;
  }
  if (reading->parts != standing.parts) look_.insert(port);
  for (const PartReading& part : reading->parts) {
    out.parts.push_back(told(part));
    if (part.part == Part::kPfc && part.state != PartState::kUnsupported)
      out.pfc = out.wanted.pfc_enable;
  }
  if (!backend_->does(Part::kPfc)) out.parts.push_back(told(read_pfc(info, policy_)));
  const std::vector<dataplane::Change>& changes = reading->mend.changes;
  for (const dataplane::Change& c : changes)
    out.changes.push_back(fmt::format("{} {}", to_string(c.action), to_string(c.part)));
  const bool nothing_there = std::ranges::all_of(
      changes, [](const dataplane::Change& c) { return c.action == dataplane::Action::kAdd; });
  const bool nobody_does = std::ranges::all_of(reading->parts, [](const PartReading& part) {
    return part.state == PartState::kUnsupported;
  });
  const auto some = [&](PartState state) {
    return std::ranges::any_of(reading->parts, [state](const PartReading& part) {
      return part.part != Part::kQueues && part.part != Part::kPfc && part.state == state;
    });
  };
  // Where somebody else's is in the way there is nothing that we would change.
  const bool barred = some(PartState::kForeign);
  out.installed = nobody_does || (barred && !some(PartState::kDone)) ? Installed::kNo
                  : changes.empty() && !barred                       ? Installed::kYes
                  : nothing_there && !barred                         ? Installed::kNo
                                                                     : Installed::kDiffers;
  return out;
}

}  // namespace lldp::io
