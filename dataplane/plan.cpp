// SPDX-License-Identifier: Apache-2.0
#include "dataplane/backend.hpp"

namespace lldp::dataplane {

std::string_view to_string(Part p) {
  switch (p) {
    case Part::kIngress:
      return "ingress";
    case Part::kEgress:
      return "egress";
    case Part::kQueues:
      break;
  }
  return "queues";
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
