// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// True if a port with these rules needs this part. Every port has an ingress part, a host's too.
/// Egress is left alone on a port of unknown order: nothing turns there.
/// Queues are for back ends that have them, where they are asked for.
[[nodiscard]] inline bool needs(const qos::Ruleset& rules, Part part, bool queues = false) {
  switch (part) {
    case Part::kIngress:
      return true;
    case Part::kEgress:
      return rules.port.order != Order::kUnknown;
    case Part::kQueues:
      break;
  }
  return queues;
}

/// Makes a plan from what is there. `state(part)`: nullopt when nothing of ours is there, else
/// whether it is what `want` asks for.
template <class State>
[[nodiscard]] Plan make_plan(Ifindex port, std::optional<qos::Ruleset> want, State state,
                             bool queues = false) {
  Plan plan{.port = port, .want = std::move(want)};
  for (Part part : {Part::kIngress, Part::kEgress, Part::kQueues}) {
    const std::optional<bool> right = state(part);
    if (plan.want && needs(*plan.want, part, queues)) {
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
