// SPDX-License-Identifier: Apache-2.0
#include "dataplane/map_planner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace lldp::dataplane {

Result<PortPlan> plan_maps(MapStore& store, const PortRef& port, std::optional<qos::Ruleset> want,
                           MapCosts& costs) {
  if (auto why = store.why_unread()) return fail(std::move(*why));
  if (want && store.why_never(*want)) want.reset();
  PortPlan plan{.port = port, .want = std::move(want)};
  if (!plan.want) {
    if (auto can = store.can_restore(port.name); !can) return fail(can.error());
    for (const Part part : kParts)
      if (store.has_part(port.name, part)) plan.changes.push_back({Action::kRemove, part});
    return plan;
  }
  if (auto there = store.find_port(port); !there) return fail(there.error());
  auto spent = store.costs_of(*plan.want);
  if (!spent) return fail(spent.error());
  costs = std::move(*spent);
  const Action action = store.has_ours(port.name) ? Action::kReplace : Action::kAdd;
  for (const Part part : kParts)
    if (store.can_set(part) &&
        (!store.is_kept(port.name) || !store.is_set(port.name, part, *plan.want)))
      plan.changes.push_back({action, part});
  return plan;
}

Result<Reading> read_maps(MapStore& store, const PortRef& port, const qos::Ruleset& want,
                          MapCosts& costs) {
  auto plan = plan_maps(store, port, want, costs);
  if (!plan) return fail(plan.error());
  Reading reading{.mend = std::move(*plan)};
  const std::optional<std::string> never = store.why_never(want);
  for (const Part part : kParts) {
    const auto change = std::ranges::find(reading.mend.changes, part, &Change::part);
    const bool set = change == reading.mend.changes.end();
    PartReading read{.part = part, .state = PartState::kDone};
    if (never) {
      read = {part, PartState::kUnsupported, *never};
    } else if (auto otherwise = store.why_not_done(port.name, part, want, set)) {
      read = std::move(*otherwise);
    } else if (!set) {
      read.state = PartState::kMissing;
      read.text =
          change->action == Action::kAdd ? "not there" : "another than the one wanted is there";
    }
    reading.parts.push_back(std::move(read));
  }
  return reading;
}

std::string map_notes(const MapCosts& costs, unsigned pfc_taken) {
  std::string text;
  std::vector<unsigned> dscps;
  for (const Dscp d : costs.collapsed) dscps.push_back(d.value());
  if (!dscps.empty())
    text += fmt::format("; no traffic class is left for DSCP {}: at up ports they leave as lossy",
                        fmt::join(dscps, ", "));
  std::vector<std::string> moved;
  for (const MovedDscp& m : costs.moved)
    moved.push_back(fmt::format("{} ({} to {})", m.dscp.value(), m.from, m.to));
  if (!moved.empty())
    text += fmt::format("; another queue than without the rules: DSCP {}", fmt::join(moved, ", "));
  if (pfc_taken != 0) text += "; " + pfc_taken_text(pfc_taken);
  return text;
}

}  // namespace lldp::dataplane
