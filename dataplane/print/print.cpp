// SPDX-License-Identifier: Apache-2.0
#include "dataplane/print/print.hpp"

#include <cerrno>
#include <utility>

#include "dataplane/parts.hpp"

namespace lldp::dataplane {

std::string Print::description() const { return "plans are printed, nothing is changed"; }

Result<void> Print::prepare(std::span<const qos::Ruleset>) { return {}; }

Result<PortPlan> Print::plan(const PortRef& port, const qos::Ruleset& want) {
  return plan_from(port, want);
}

Result<Reading> Print::verify(const PortRef& port, const qos::Ruleset& want) {
  Reading reading = reading_of(plan_from(port, want));
  for (PartReading& read : reading.parts)
    if (read.state == PartState::kDone) {
      read.state = PartState::kUnsupported;
      read.text = "printed, not programmed";
    }
  return reading;
}

Result<PortPlan> Print::plan_removal(const PortRef& port) { return plan_from(port, std::nullopt); }

PortPlan Print::plan_from(const PortRef& port, std::optional<qos::Ruleset> want) const {
  const auto at = rules_.find(port);
  const bool same = at != rules_.end() && want && at->second == *want;
  return make_plan(port, std::move(want), [&](Part part) {
    return at != rules_.end() && needs(part) ? std::optional(same) : std::nullopt;
  });
}

Outcome Print::print(const PortPlan& plan) {
  const PortPlan left = plan_from(plan.port, plan.want);
  Outcome outcome{.port = plan.port.ifindex};
  if (left.empty()) return outcome;
  if (!(out_ << to_string(left) << std::flush)) {
    outcome.why =
        Error{EIO, plan.port.name, "the plan could not be written: check where the output goes"};
    return outcome;
  }
  if (left.want)
    rules_.insert_or_assign(left.port, *left.want);
  else
    rules_.erase(left.port);
  return outcome;
}

void Print::apply(const Plan& plan) {
  for (const PortPlan& port : plan.ports) outcomes_.push_back(print(port));
}

Events Print::take_events() { return {.outcomes = std::exchange(outcomes_, {})}; }

void Print::forget(Ifindex port) {
  std::erase_if(rules_, [port](const auto& entry) { return entry.first.ifindex == port; });
}

Result<std::vector<PortRef>> Print::ports() {
  std::vector<PortRef> ports;
  for (const auto& [port, rules] : rules_) ports.push_back(port);
  return ports;
}

}  // namespace lldp::dataplane
