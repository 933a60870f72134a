// SPDX-License-Identifier: Apache-2.0
#include "agent/report/change.hpp"

namespace lldp::report {

std::string change_line(const core::Event& event) {
  using enum core::Event::Kind;
  switch (event.kind) {
    case kNeighborAdded:
      return "neighbor added: " + text_of(event);
    case kNeighborChanged:
      return "neighbor changed: " + text_of(event);
    case kNeighborRemoved:
      return "neighbor removed: " + text_of(event);
    case kLevel:
      return "level " + event.text;
    case kPlace:
      return "rank: level " + event.text;
    case kLocation:
      return "location " + event.text;
    case kPort:
      return event.text;
    case kAlarmRaised:
      return "alarm " + std::string(core::to_string(event.alarm)) + ": " + event.text;
    case kAlarmCleared:
      return "alarm " + std::string(core::to_string(event.alarm)) + " cleared";
    case kClassesExtended:
      return "lossless classes: " + event.text;
    case kRulesRestored:
      return "rules reinstalled: " + event.text;
    case kState:
      break;  // of the state file, not of the fabric
  }
  return {};
}

}  // namespace lldp::report
