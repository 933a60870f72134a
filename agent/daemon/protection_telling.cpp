// SPDX-License-Identifier: Apache-2.0
// What is said of the rules: alarms, the summary, and each port's parts as they were read back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <boost/range/adaptor/reversed.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/daemon/dcb_faults.hpp"
#include "agent/daemon/protection.hpp"
#include "base/count.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

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

/// What the driver says of PFC for the priorities `wanted`, where the back end does not set it.
PartReading read_pfc(const core::PortInfo* info, std::uint8_t wanted) {
  if (info == nullptr || !info->pfc_enabled)
    return {Part::kPfc, PartState::kUnsupported,
            "the driver does not tell (no dcbnl): whether PFC is on is not known"};
  const unsigned without = wanted & ~unsigned{*info->pfc_enabled};
  if (without == 0) return {.part = Part::kPfc, .state = PartState::kDone};
  std::string on;
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((without >> p & 1U) != 0) on += fmt::format(" {}:on", p);
  return {Part::kPfc, PartState::kMissing,
          fmt::format("no PFC: dcb pfc set dev {} prio-pfc{}", shell_word(info->name), on)};
}

/// Of these classes, in the same order, what fits `most` priorities: spares go first, the last one
/// before the others.
qos::Chains fitting(qos::Chains chains, std::size_t most) {
  std::size_t all = 0;
  for (const qos::Chain& chain : chains) all += chain.classes.size();
  for (qos::Chain& chain : boost::adaptors::reverse(chains))
    for (; all > most && chain.classes.size() > 1; --all) chain.classes.pop_back();
  for (; all > most && !chains.empty(); --all) chains.pop_back();
  return chains;
}

/// What the port can do less of PFC than the rules need, where its driver tells.
std::optional<report::PartReading> pfc_limit(const core::PortInfo& info, std::uint8_t wanted,
                                             const qos::Policy& policy) {
  const auto needed = static_cast<unsigned>(std::popcount(wanted));
  if (info.pfc_cap == 0 || needed <= info.pfc_cap) return std::nullopt;
  return report::PartReading{
      "pfc", "limited",
      fmt::format(
          "the port does PFC for {} of 8 priorities at once, and {} are lossless: set fewer: "
          "qos.lossless = {}",
          info.pfc_cap, needed, qos::to_string(fitting(policy.chains(), info.pfc_cap)))};
}

/// Classes of which a DSCP leads to another priority at the neighbor.
report::PartReading not_crossing(std::uint8_t lossy, bool split) {
  std::vector<unsigned> priorities;
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((lossy >> p & 1U) != 0) priorities.push_back(p);
  return {"remap", "missing",
          fmt::format("DSCPs of priority {} lead to another one at the neighbor: {} as lossy until "
                      "both ends have the same classes",
                      fmt::join(priorities, " and "),
                      split ? "these classes cross" : "all lossless classes cross")};
}

bool has_spares(const qos::Policy& policy) {
  return std::ranges::any_of(policy.chains(),
                             [](const qos::Chain& chain) { return chain.classes.size() > 1; });
}

/// Learned classes that found no spare, with the line to write; nullopt: each has one.
std::optional<report::PartReading> without_spare(const qos::Policy& policy) {
  qos::Chains mended = policy.chains();
  std::vector<unsigned> without;
  for (qos::Chain& chain : mended) {
    if (chain.classes.size() > 1) continue;
    without.push_back(chain.application().priority.value());
    // What `auto` never takes, for other traffic may use it: the operator knows.
    for (const unsigned p : {6U, 7U})
      if (chain.classes.size() == 1 && (core::priorities_of(mended) >> p & 1U) == 0)
        chain.classes.push_back(qos::lossless_class({*Priority::make(p), *Dscp::make(8 * p + 3)}));
  }
  if (without.empty()) return std::nullopt;
  return report::PartReading{
      "remap", "missing",
      fmt::format(
          "no spare class is left for priority {}: packets of it that turn are lossy; if no "
          "other traffic uses these priorities: qos.lossless = {}",
          fmt::join(without, " and "), qos::to_string(mended))};
}

/// No driver tells of PFC: no rule can be held to it, and it is counted apart.
bool is_silent_of_pfc(const PartReading& part, const core::PortInfo& info) {
  return part.part == Part::kPfc && part.state == PartState::kUnsupported && !info.pfc_enabled;
}

/// Whether packets that leave by the port come to a switch. A port whose order is remembered, and
/// where no neighbor is heard, may lead to one.
bool leads_to_switch(const core::PortInfo& info) {
  const auto has = [&](DeviceType type) {
    return std::ranges::any_of(
        info.neighbors, [type](const core::NeighborInfo& n) { return n.device_type == type; });
  };
  return info.unprotected || has(DeviceType::kSwitch) ||
         (info.order != Order::kUnknown && !has(DeviceType::kHost));
}

}  // namespace

std::optional<std::string> Protection::complaint(const PortRules& rules, TimePoint now) const {
  if (rules.failure) {
    std::string why = to_string(error_of(rules.failure->outcome));
    if (is_ours(rules.state)) return why;
    return "the port is no longer in `ports`, and its rules cannot be removed: " + why;
  }
  if (!is_ours(rules.state)) return std::nullopt;
  if (rules.losses.fight(now))
    return fmt::format(
        "another program removed the rules {} times; they are reinstalled each time; find it with "
        "`tc monitor` or `bpftool prog`",
        rules.losses.in_a_row(now));
  if (agent_->settings().role != Role::kSwitch) return std::nullopt;  // nothing turns here
  const auto blocked = std::ranges::find_if(rules.parts, is_in_the_way);
  if (blocked == rules.parts.end()) return std::nullopt;
  return fmt::format("{} {}: {}", to_string(blocked->part), to_string(blocked->state),
                     blocked->text);
}

std::optional<std::string> Protection::unclassed_text(TimePoint now) const {
  const core::Settings& settings = agent_->settings();
  const bool none = settings.classes && settings.classes->configured && policy_.chains().empty();
  if (none || settings.role != Role::kSwitch) return std::nullopt;  // `none`: so it is meant
  return unclassed_.text(policy_, now);
}

void Protection::tell(std::optional<std::string>& told, core::AlarmCode code, std::string name,
                      std::optional<std::string> text, core::Agent& agent, TimePoint now,
                      core::Actions& out) {
  // The alarm goes by the name, which may be another one than when it was raised.
  if (told && (!text || *told != name)) {
    agent.clear_alarm(code, *told, out);
    told.reset();
  }
  if (!text) return;
  agent.raise_alarm(code, name, printable(*text), now, out);
  told = std::move(name);
}

void Protection::tell(core::Agent& agent, TimePoint now, core::Actions& out) {
  for (auto& [port, text] : std::exchange(restored_, {}))
    out.events.push_back(
        {.kind = core::Event::Kind::kRulesRestored, .port = port, .text = std::move(text)});
  if (std::exchange(unclassed_untold_, false))
    tell(told_unclassed_, core::AlarmCode::kUnclassed, {}, unclassed_text(now), agent, now, out);
  if (untold_.empty() && !whole_untold_) return;
  if (std::exchange(whole_untold_, false))
    tell(told_whole_, core::AlarmCode::kDataplane, {},
         whole_ ? std::optional(to_string(error_of(whole_->outcome))) : std::nullopt, agent, now,
         out);
  for (const Ifindex port : std::exchange(untold_, {})) {
    PortRules* rules = find(port);
    if (rules == nullptr) continue;
    const bool ours = is_ours(rules->state);
    const std::string name = escape(ours ? ref(port).name : rules->port.name);
    tell(rules->told_dataplane, core::AlarmCode::kDataplane, name, complaint(*rules, now), agent,
         now, out);
    tell(rules->told_displaced, core::AlarmCode::kPfcTaken, name,
         rules->displaced.empty() ? std::nullopt : std::optional(rules->displaced), agent, now,
         out);
    complaints_ -= rules->complains ? 1 : 0;
    rules->complains = ours && rules->told_dataplane;
    complaints_ += rules->complains ? 1 : 0;
    if (rules->state == RulesState::kNone && !rules->change) ports_.erase(port);
  }
  tell_whole(agent, now, out);
}

void Protection::tell_whole(core::Agent& agent, TimePoint now, core::Actions& out) {
  // The agent has an alarm of this code for each port where a switch without a level is heard; this
  // one is the device's.
  if (told_whole_) {
    agent.raise_alarm(core::AlarmCode::kUnprotected, {},
                      backend_
                          ? "the data plane does not answer: what rules the ports have is not known"
                          : "no port has rules: the data plane cannot be opened",
                      now, out);
  } else if (complaints_ != 0) {
    std::vector<std::string_view> names;
    for (const auto& [port, rules] : ports_)
      if (rules.complains && names.size() < kNamed) names.push_back(*rules.told_dataplane);
    agent.raise_alarm(core::AlarmCode::kUnprotected, {},
                      fmt::format("rules are not in force on {} of {}: {}{}", complaints_,
                                  count_text(ours_, "port"), fmt::join(names, ", "),
                                  complaints_ > kNamed ? ", ..." : ""),
                      now, out);
  } else if (unprotected_) {
    agent.clear_alarm(core::AlarmCode::kUnprotected, {}, out);
  }
  unprotected_ = told_whole_ || complaints_ != 0;
}

std::vector<report::PartReading> Protection::faults_of(const core::PortInfo& info) const {
  if (info.order == Order::kUnknown)
    return {{"remap", "missing",
             info.silent ? "its order is not known: the switch that was heard there is silent"
                         : "its order is not known: the switch there tells no level"}};
  if (info.unprotected)
    return {{"remap", "missing", "its order is a host's: the switch there tells no level"}};
  const PortRules* rules = find(info.ifindex);
  if (rules != nullptr && rules->failure) {
    const auto& outcome = rules->failure->outcome;
    const Part part = outcome.refused ? outcome.refused->part : Part::kClassify;
    const bool foreign = std::ranges::any_of(
        rules->parts, [&](auto& p) { return p.part == part && p.state == PartState::kForeign; });
    const PartState state = foreign ? PartState::kForeign : PartState::kMissing;
    return {{std::string(to_string(part)), std::string(to_string(state)), outcome.why->what}};
  }
  if (rules == nullptr || rules->parts.empty())
    return {{"classify", "missing", "not read back yet"}};
  // What was read is of the rules before: a change is under way, or waits for its turn.
  if (rules->programmed != class_of(*rules))
    return {{"remap", "missing", "its rules are about to change"}};
  std::vector<report::PartReading> faults;
  if (info.order == Order::kShut)
    faults.push_back(
        {"remap", "missing",
         "shut: what is lossless crosses as lossy until the neighbor acknowledges our rank; if "
         "that neighbor is gone for good: lldp-level forget " +
             argument(info.name)});
  else if (const std::uint8_t lossy = agent_->classes().lossy_on(info.ifindex); lossy != 0)
    faults.push_back(not_crossing(lossy, splits_classes()));
  for (const PartReading& part : rules->parts)
    if (part.state != PartState::kDone && !is_silent_of_pfc(part, info))
      faults.push_back(told(part));
  add_dcb_faults(info, *rules, faults);
  if (auto limit = pfc_limit(info, wanted(*rules).pfc_enable, policy_))
    faults.push_back(std::move(*limit));
  if (backend_->does(Part::kPfc)) return faults;
  // What no driver tells of is counted apart.
  if (const PartReading pfc = read_pfc(&info, wanted(*rules).pfc_enable);
      pfc.state == PartState::kMissing)
    faults.push_back(told(pfc));
  return faults;
}

void Protection::add_dcb_faults(const core::PortInfo& info, const PortRules& rules,
                                std::vector<report::PartReading>& faults) const {
  const auto told = dcb_.find(info.ifindex);
  if (told == dcb_.end()) return;
  for (report::PartReading& fault : dcb_faults(told->second, info.name, wanted(rules).pfc_enable))
    faults.push_back(std::move(fault));
}

void Protection::add_last_hop(const core::PortInfo& info, report::Protection& summary) const {
  const PortRules* rules = find(info.ifindex);
  if (rules == nullptr) return;
  if (info.up && info.may_be_unheard && info.order == Order::kUnknown && info.neighbors.empty() &&
      agent_->settings().restores && has_spares(policy_))
    summary.reasons.push_back(
        {info.name,
         {"remap", "limited",
          "last hop lossy: nothing is heard here, so spare classes are not restored; if the port "
          "leads to a host, name it in host-ports"}});
  if (rules->programmed && rules->programmed != class_of(*rules)) {
    // What comes from the host is taken for what turns, or the other way round, until then.
    summary.reasons.push_back(
        {info.name, {"remap", "missing", "the rules of another order are still in force"}});
    return;
  }
  if (!class_of(*rules).restores() || !rules->programmed) return;
  for (const PartReading& part : rules->parts)
    if (part.part == Part::kRemap && part.state == PartState::kLimited)
      summary.reasons.push_back({info.name, told(part)});
  std::vector<report::PartReading> faults;
  add_dcb_faults(info, *rules, faults);
  for (report::PartReading& fault : faults)
    summary.reasons.push_back({info.name, std::move(fault)});
}

void Protection::add_crossing_limit(const core::Snapshot& snapshot,
                                    report::Protection& summary) const {
  // The same for every pair of ports of two orders: one is told, by the port that packets leave by.
  const PortRules* in = nullptr;
  const PortRules* out = nullptr;
  for (const core::PortInfo& info : snapshot.ports) {
    const PortRules* rules = leads_to_switch(info) ? find(info.ifindex) : nullptr;
    if (rules == nullptr || !rules->programmed) continue;
    if (class_of(*rules).order == Order::kDown && in == nullptr) in = rules;
    if (class_of(*rules).order == Order::kUp && out == nullptr) out = rules;
  }
  if (in == nullptr || out == nullptr) return;
  if (const auto limit = backend_->crossing_limit(wanted(*in), wanted(*out)))
    summary.reasons.push_back({out->port.name, told(*limit)});
}

void Protection::add_unverified_hosts(const core::PortInfo& info,
                                      report::Protection& summary) const {
  const PortRules* rules = find(info.ifindex);
  // A port is not down to a device of which it is not known yet that it forwards nothing.
  if (rules == nullptr || class_of(*rules).order != Order::kDown || class_of(*rules).restores() ||
      !has_spares(policy_))
    return;
  for (const core::NeighborInfo& n : info.neighbors) {
    if (n.device_type != DeviceType::kHost || n.pfc_enabled) continue;
    const std::string name = n.system_name.empty() ? to_string(n.chassis_id) : n.system_name;
    const bool speaks = n.tr || n.contribution;
    summary.reasons.push_back(
        {info.name,
         {"pfc", "unverified",
          "last hop unverified: spare classes reach " + escape(name) +
              " as they are, and it does not tell its PFC: without PFC for them they are lossy "
              "there; have it tell PFC (tlv.send)" +
              (!agent_->settings().restores ? ", or set qos.restore = auto"
               : speaks                     ? ", or run no agent of ours on it"
                                            : "")}});
    return;
  }
}

bool Protection::is_pfc_unverified(const core::PortInfo& info) const {
  if (!backend_->does(Part::kPfc)) return !info.pfc_enabled;
  const PortRules* rules = find(info.ifindex);
  return rules != nullptr && std::ranges::any_of(rules->parts, [&](const PartReading& part) {
           return is_silent_of_pfc(part, info);
         });
}

report::Protection Protection::summary(const core::Snapshot& snapshot) const {
  using State = report::Protection::State;
  report::Protection summary{.backend = backend_name_, .backend_reason = backend_reason_};
  for (const qos::LosslessClass& c : policy_.classes()) summary.lossless.push_back(c.priority);
  summary.classes = snapshot.classes;
  summary.classes_unknown = snapshot.classes_unknown;
  const auto failed = std::ranges::count_if(
      ports_, [](const auto& port) { return is_ours(port.second.state) && port.second.failure; });
  if (whole_ || (ours_ != 0 && static_cast<std::size_t>(failed) == ours_))
    summary.state = State::kFailed;
  if (backend_)
    for (const core::PortInfo& info : snapshot.ports)
      if (auto alias = backend_->alias({info.ifindex, info.name}); !alias.empty())
        summary.aliases.emplace(info.name, std::move(alias));
  if (!backend_ || snapshot.role == Role::kHost) return summary;
  // Without a lossless class there is nothing to protect, or it is not known what.
  if (policy_.chains().empty() && summary.state != State::kFailed) return summary;
  bool leads = false;
  bool turns_told = false;
  for (const core::PortInfo& info : snapshot.ports) {
    if (!leads_to_switch(info) && info.order != Order::kShut) {
      add_last_hop(info, summary);
      continue;
    }
    leads = true;
    if (info.order == Order::kUp && !turns_told) {
      turns_told = true;  // it is the same for all
      const auto& classes = agent_->settings().classes;
      if (classes && !classes->configured)
        if (auto fault = without_spare(policy_)) summary.reasons.push_back({info.name, *fault});
    }
    if (is_pfc_unverified(info)) ++summary.pfc_unverified;
    for (report::PartReading& fault : faults_of(info))
      summary.reasons.push_back({info.name, std::move(fault)});
  }
  if (summary.state == State::kFailed) return summary;
  add_crossing_limit(snapshot, summary);
  if (leads)  // else nothing turns
    for (const core::PortInfo& info : snapshot.ports)
      if (!leads_to_switch(info) && info.order != Order::kShut) add_unverified_hosts(info, summary);
  const bool on_paper =
      backend_name_ == "print" && std::ranges::all_of(summary.reasons, [](const auto& reason) {
        const bool is_pfc = reason.part.part == to_string(Part::kPfc);
        return reason.part.state == (is_pfc ? "unverified" : "unsupported");
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
  if (whole_) rules.error = to_string(error_of(whole_->outcome));
  std::map<Ifindex, const core::PortInfo*> infos;
  for (const core::PortInfo& info : snapshot.ports) infos.emplace(info.ifindex, &info);
  for (auto& [port, its] : ports_) {
    if (!is_ours(its.state)) continue;
    const auto info = infos.find(port);
    rules.ports.push_back(rules_of(its, info == infos.end() ? nullptr : info->second));
  }
  return rules;
}

void Protection::count_unclassed(std::span<const Ifindex> ports, TimePoint now) {
  if (is_up())
    backend_->count_unclassed(ports, [&](Ifindex port, const dataplane::Unclassed& counts) {
      unclassed_.take(port, counts, now);
    });
  unclassed_untold_ = true;
}

report::PortRules Protection::rules_of(PortRules& rules, const core::PortInfo* info) {
  using Installed = report::PortRules::Installed;
  const dataplane::PortRef port = ref(rules.port.ifindex);
  report::PortRules out{.name = port.name, .wanted = wanted(rules)};
  if (rules.failure) out.error = to_string(error_of(rules.failure->outcome));
  out.restored = rules.losses.total();
  if (!is_up()) {
    if (opener_) {  // its rules stay where they are, and turns are counted on there
      out.installed = Installed::kUnknown;
      out.bounces.reset();
    }
    return out;
  }
  out.bounces = backend_->bounces(port.ifindex).value_or(dataplane::Bounces{});
  out.carried = backend_->carried(port);
  out.unclassed = backend_->unclassed(port.ifindex);
  const auto reading = backend_->verify(port, out.wanted);
  if (!reading) {
    out.error = to_string(reading.error());
    out.installed = Installed::kUnknown;
    wake(rules, TimePoint::min());  // and it is said everywhere
    return out;
  }
  if (reading->parts != rules.parts) wake(rules, TimePoint::min());
  for (const PartReading& part : reading->parts) {
    out.parts.push_back(told(part));
    if (part.part == Part::kPfc && part.state != PartState::kUnsupported)
      out.pfc = out.wanted.pfc_enable;
  }
  if (!backend_->does(Part::kPfc)) out.parts.push_back(told(read_pfc(info, out.wanted.pfc_enable)));
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
  // Where something of another program is in the way, there is nothing that we would change.
  const bool barred = some(PartState::kForeign);
  out.installed = nobody_does || (barred && !some(PartState::kDone)) ? Installed::kNo
                  : changes.empty() && !barred                       ? Installed::kYes
                  : nothing_there && !barred                         ? Installed::kNo
                                                                     : Installed::kDiffers;
  return out;
}

}  // namespace lldp::io
