// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// True if a port needs this part. Every port has an ingress and an egress part, a host's and one
/// of unknown order too: nothing turns there, and yet packets leave in the queue of their class.
/// Queues are for back ends that have them, where they are asked for.
[[nodiscard]] inline bool needs(Part part, bool queues = false) {
  return part == Part::kQueues ? queues : part != Part::kPfc;  // PFC: dcb
}

/// Makes a plan from what is there. `state(part)`: nullopt when nothing of ours is there, else
/// whether it is what `want` asks for.
template <class State>
[[nodiscard]] PortPlan make_plan(PortRef port, std::optional<qos::Ruleset> want, State state,
                                 bool queues = false) {
  PortPlan plan{.port = std::move(port), .want = std::move(want)};
  for (Part part : {Part::kClassify, Part::kRemap, Part::kQueues}) {
    const std::optional<bool> right = state(part);
    if (plan.want && needs(part, queues)) {
      if (!right)
        plan.changes.push_back({Action::kAdd, part});
      else if (!*right)
        plan.changes.push_back({Action::kReplace, part});
    } else if (right) {
      plan.changes.push_back({Action::kRemove, part});
    }
  }
  return plan;
}

/// What a plan to `plan.want` says of the parts that are needed: what it changes is missing.
[[nodiscard]] inline Reading reading_of(PortPlan plan, bool queues = false) {
  Reading reading{.mend = std::move(plan)};
  for (Part part : {Part::kClassify, Part::kRemap, Part::kQueues}) {
    if (!reading.mend.want || !needs(part, queues)) continue;
    PartReading read{.part = part, .state = PartState::kDone};
    for (const Change& c : reading.mend.changes) {
      if (c.part != part) continue;
      read.state = PartState::kMissing;
      read.text = c.action == Action::kAdd ? "not there" : "another than the one wanted is there";
    }
    reading.parts.push_back(std::move(read));
  }
  return reading;
}

}  // namespace lldp::dataplane
