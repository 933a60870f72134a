// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// True if a port needs this part. Every port has an ingress and an egress part, a host's and one
/// of unknown order too: nothing turns there, and yet packets leave in the queue of their class.
/// Queues are for back ends that have them, where they are asked for.
[[nodiscard]] inline bool needs(Part part, bool queues = false) {
  return part != Part::kQueues || queues;
}

/// Makes a plan from what is there. `state(part)`: nullopt when nothing of ours is there, else
/// whether it is what `want` asks for.
template <class State>
[[nodiscard]] Plan make_plan(Ifindex port, std::optional<qos::Ruleset> want, State state,
                             bool queues = false) {
  Plan plan{.port = port, .want = std::move(want)};
  for (Part part : {Part::kIngress, Part::kEgress, Part::kQueues}) {
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

}  // namespace lldp::dataplane
