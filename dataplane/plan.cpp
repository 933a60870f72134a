// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/text.hpp"
#include "dataplane/backend.hpp"

namespace lldp::dataplane {

std::string_view to_string(Part p) {
  switch (p) {
    case Part::kClassify:
      return "classify";
    case Part::kRemap:
      return "remap";
    case Part::kQueues:
      return "queues";
    case Part::kPfc:
      break;
  }
  return "pfc";
}

std::string_view to_string(PartState s) {
  switch (s) {
    case PartState::kDone:
      return "done";
    case PartState::kMissing:
      return "missing";
    case PartState::kForeign:
      return "foreign";
    case PartState::kBypassed:
      return "bypassed";
    case PartState::kLimited:
      return "limited";
    case PartState::kUnsupported:
      return "unsupported";
    case PartState::kUnverified:
      break;
  }
  return "unverified";
}

std::string_view to_string(Action a) {
  switch (a) {
    case Action::kAdd:
      return "add";
    case Action::kReplace:
      return "replace";
    case Action::kRemove:
      break;
  }
  return "remove";
}

std::string to_string(const PortPlan& plan) {
  const std::string name = escape(plan.port.name);
  std::string text;
  for (const Change& c : plan.changes)
    text.append(name)
        .append(" ")
        .append(to_string(c.action))
        .append(" ")
        .append(to_string(c.part))
        .append("\n");
  if (plan.want && !plan.empty()) text += qos::to_string(*plan.want, name);
  return text;
}

Error error_of(const Outcome& outcome) {
  Error error = outcome.why.value_or(Error{});
  if (outcome.refused)
    error.what = std::string(to_string(outcome.refused->action)) + " " +
                 std::string(to_string(outcome.refused->part)) + ": " + error.what;
  return error;
}

Result<void> wait_for(Backend& backend, std::set<Ifindex> ports,
                      std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  std::optional<Error> first;
  auto latest = Clock::now() + patience;
  while (!ports.empty()) {
    for (const Outcome& outcome : backend.take_events().outcomes) {
      if (ports.erase(outcome.port) == 0) continue;
      latest = Clock::now() + patience;
      if (outcome.why && (!first || first->code == ENODEV)) first = error_of(outcome);
    }
    if (ports.empty()) break;
    // Events of anything else are no answer.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(latest - Clock::now());
    pollfd ready{.fd = backend.events(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0)
      return fail(Error{ETIMEDOUT, "backend " + std::string(backend.name()),
                        "does not answer: whether the change was made is not known"});
  }
  if (first) return fail(std::move(*first));
  return {};
}

Result<void> finish(Backend& backend, const Plan& plan) {
  backend.apply(plan);
  std::set<Ifindex> ports;
  for (const PortPlan& port : plan.ports) ports.insert(port.port.ifindex);
  return wait_for(backend, std::move(ports));
}

namespace {

/// Reads again after a removal: no port that is still there may have rules of ours.
Result<void> nothing_left(Backend& backend) {
  const auto ports = backend.ports();
  if (!ports) return fail(ports.error());
  std::string names;
  for (const PortRef& port : *ports)
    if (const auto removal = backend.plan_removal(port); removal && !removal->empty())
      names.append(names.empty() ? "" : ", ").append(escape(port.name));
  if (names.empty()) return {};
  return fail(Error{0, std::move(names),
                    "the rules are still there, though backend " + std::string(backend.name()) +
                        " reported their removal: find the program that reinstalls them"});
}

}  // namespace

Result<void> remove_all(Backend& backend) {
  const auto ports = backend.ports();
  if (!ports) return fail(ports.error());
  Plan plan;
  Result<void> outcome;
  for (const PortRef& port : *ports)
    if (auto removal = backend.plan_removal(port))
      plan.ports.push_back(std::move(*removal));
    else if (removal.error().code != ENODEV && outcome)
      outcome = fail(removal.error());
  const auto removed = finish(backend, plan);
  if (!removed && removed.error().code != ENODEV && outcome) outcome = removed;
  return outcome ? nothing_left(backend) : outcome;
}

}  // namespace lldp::dataplane
