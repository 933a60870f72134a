// SPDX-License-Identifier: Apache-2.0
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
    case PartState::kUnsupported:
      break;
  }
  return "unsupported";
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

std::string to_string(const Plan& plan, std::string_view port) {
  std::string text;
  for (const Change& c : plan.changes)
    text.append(port)
        .append(" ")
        .append(to_string(c.action))
        .append(" ")
        .append(to_string(c.part))
        .append("\n");
  if (plan.want && !plan.empty()) text += qos::to_string(*plan.want, port);
  return text;
}

}  // namespace lldp::dataplane
