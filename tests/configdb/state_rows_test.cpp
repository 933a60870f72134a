// SPDX-License-Identifier: Apache-2.0
#include "agent/configdb/state_rows.hpp"

#include <gtest/gtest.h>

namespace lldp::io {
namespace {

using Fields = std::map<std::string, std::string>;
using State = report::Protection::State;

core::Snapshot two_ports() {
  core::Snapshot snapshot;
  snapshot.level = Level::make(1);
  snapshot.ports = {{.name = "Ethernet0", .type = PortType::kUplink, .order = Order::kUp},
                    {.name = "Ethernet4", .type = PortType::kUnmarked, .order = Order::kUnknown}};
  snapshot.alarms = {{.code = core::AlarmCode::kSet},
                     {.code = core::AlarmCode::kUnheard, .port = "Ethernet4"},
                     {.code = core::AlarmCode::kSilent, .port = "Ethernet4"},
                     {.code = core::AlarmCode::kUnheard, .port = "Ethernet4"}};
  return snapshot;
}

TEST(StateRows, SayLevelTypeOrderProtectionAndAlarms) {
  report::Protection protection{.state = State::kPartial};
  protection.reasons = {{.port = "Ethernet4", .part = {"remap", "unverified", ""}}};
  EXPECT_EQ(
      state_rows(two_ports(), protection),
      (ConfigDb::StateRows{
          {"LLDP_LEVEL_STATE|GLOBAL",
           Fields{
               {"level", "1"}, {"role", "switch"}, {"protection", "partial"}, {"alarms", "set"}}},
          {"LLDP_LEVEL_STATE|Ethernet0", Fields{{"level", "1"},
                                                {"type", "uplink"},
                                                {"order", "up"},
                                                {"protection", "active"},
                                                {"alarms", "none"}}},
          {"LLDP_LEVEL_STATE|Ethernet4", Fields{{"level", "1"},
                                                {"type", "unmarked"},
                                                {"order", "unknown"},
                                                {"protection", "partial"},
                                                {"alarms", "silent,unheard"}}}}));
}

TEST(StateRows, DeviceThatIsNotProtectedIsSoOnEveryPort) {
  core::Snapshot snapshot = two_ports();
  snapshot.level = std::nullopt;
  for (const State state : {State::kFailed, State::kInactive, State::kActive}) {
    const auto rows = state_rows(snapshot, {.state = state});
    for (const auto& [key, row] : rows) {
      EXPECT_EQ(row.at("protection"), to_string(state)) << key;
      EXPECT_EQ(row.at("level"), "N/A") << key;
    }
  }
}

}  // namespace
}  // namespace lldp::io
