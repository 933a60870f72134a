// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// True if a port with these rules needs this part. Every port has an ingress part, a host's too.
/// Egress is left alone on a port of unknown order: nothing turns there.
[[nodiscard]] inline bool needs(const qos::Ruleset& rules, Part part) {
  return part == Part::kIngress || rules.port.order != Order::kUnknown;
}

/// Makes a plan from what is there. `state(part)`: nullopt when nothing of ours is there, else
/// whether it is what `want` asks for.
template <class State>
[[nodiscard]] Plan make_plan(Ifindex port, std::optional<qos::Ruleset> want, State state) {
  Plan plan{.port = port, .want = std::move(want)};
  for (Part part : {Part::kIngress, Part::kEgress}) {
    const std::optional<bool> right = state(part);
    if (plan.want && needs(*plan.want, part)) {
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
