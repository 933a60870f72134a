// SPDX-License-Identifier: Apache-2.0
#include "dataplane/print/print.hpp"

#include <cerrno>

#include "dataplane/parts.hpp"

namespace lldp::dataplane {

std::string Print::description() const { return "plans are printed, nothing is changed"; }

Result<void> Print::prepare(std::span<const qos::Ruleset>) { return {}; }

Result<Plan> Print::plan(Ifindex port, const qos::Ruleset& want) { return plan_from(port, want); }

Result<Reading> Print::verify(Ifindex port, const qos::Ruleset& want) {
  Reading reading = reading_of(plan_from(port, want));
  for (PartReading& read : reading.parts)
    if (read.state == PartState::kDone) {
      read.state = PartState::kUnsupported;
      read.text = "printed, not programmed";
    }
  return reading;
}

Result<Plan> Print::plan_removal(Ifindex port) { return plan_from(port, std::nullopt); }

Plan Print::plan_from(Ifindex port, std::optional<qos::Ruleset> want) const {
  const auto at = rules_.find(port);
  const bool same = at != rules_.end() && want && at->second == *want;
  return make_plan(port, std::move(want), [&](Part part) {
    return at != rules_.end() && needs(part) ? std::optional(same) : std::nullopt;
  });
}

Result<void> Print::apply(const Plan& plan) {
  const Plan left = plan_from(plan.port, plan.want);
  if (left.empty()) return {};
  const std::string name = name_of_(plan.port);
  if (!(out_ << to_string(left, name) << std::flush))
    return fail(Error{EIO, name, "the plan could not be written: check where the output goes"});
  if (left.want)
    rules_.insert_or_assign(left.port, *left.want);
  else
    rules_.erase(left.port);
  return {};
}

Result<std::vector<Ifindex>> Print::ports() {
  std::vector<Ifindex> ports;
  for (const auto& [port, rules] : rules_) ports.push_back(port);
  return ports;
}

}  // namespace lldp::dataplane
