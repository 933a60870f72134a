// SPDX-License-Identifier: Apache-2.0
#include "agent/configdb/state_rows.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace lldp::io {
namespace {

/// The codes that stand on a port; of the device where it is empty.
std::string alarms_of(const core::Snapshot& snapshot, const std::string& port) {
  std::set<std::string_view> codes;
  for (const core::Alarm& alarm : snapshot.alarms)
    if (alarm.port == port) codes.insert(to_string(alarm.code));
  std::string text;
  for (const std::string_view code : codes) text.append(text.empty() ? "" : ",").append(code);
  return text.empty() ? "none" : text;
}

/// The device's, but for a port that is all there while others are not.
std::string_view protection_of(const report::Protection& device, const std::string& port) {
  using State = report::Protection::State;
  const bool lacks = std::ranges::any_of(
      device.reasons, [&](const report::Protection::Reason& r) { return r.port == port; });
  return to_string(device.state == State::kPartial && !lacks ? State::kActive : device.state);
}

}  // namespace

ConfigDb::StateRows state_rows(const core::Snapshot& snapshot,
                               const report::Protection& protection) {
  const std::string table = "LLDP_LEVEL_STATE|";
  const std::string level =
      snapshot.level ? std::to_string(snapshot.level->value()) : std::string("N/A");
  ConfigDb::StateRows rows;
  rows[table + "GLOBAL"] = {{"level", level},
                            {"role", std::string(to_string(snapshot.role))},
                            {"protection", std::string(to_string(protection.state))},
                            {"alarms", alarms_of(snapshot, "")}};
  for (const core::PortInfo& port : snapshot.ports) {
    const std::string name = escape(port.name);
    rows[table + name] = {{"level", level},
                          {"type", std::string(to_string(port.type))},
                          {"order", std::string(to_string(port.order))},
                          {"protection", std::string(protection_of(protection, port.name))},
                          {"alarms", alarms_of(snapshot, name)}};
  }
  return rows;
}

}  // namespace lldp::io
