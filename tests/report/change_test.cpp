// SPDX-License-Identifier: Apache-2.0
#include "agent/report/change.hpp"

#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace lldp::report {
namespace {

using namespace std::chrono_literals;
using Kind = core::Event::Kind;

Circumstances leaf(std::string_view port) {
  return {.clock = {.wall = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + 12h,
                    .boot = TimePoint(100s)},
          .system_name = "leaf\n1",
          .level = Level::of<1>(),
          .port = port,
          .type = PortType::kUplink,
          .order = Order::kUp};
}

TEST(ChangeJson, SaysWhatBecameDifferentAndHowThingsStand) {
  EXPECT_EQ(
      change_json({.kind = Kind::kPort, .port = Ifindex::of<7>(), .text = "unmarked -> uplink"},
                  leaf("swp1")),
      R"({"version":1,"time":"2026-01-31T12:00:00Z","system_name":"leaf\\x0a1",)"
      R"("event":"port","port":"swp1","text":"unmarked -> uplink","level":1,)"
      R"("type":"uplink","order":"up"})");
}

TEST(ChangeJson, OfAPortIsTheSampleOfMonitoring) {
  Circumstances now = leaf("swp31");
  now.system_name = "leaf1";
  ChangeQueue queue(1);
  queue.push(change_json(
      {.kind = Kind::kPort, .port = Ifindex::of<7>(), .text = "unmarked -> uplink"}, now));
  support::expect_golden(queue.pop() + "\n", "manual/change.json");
}

TEST(ChangeJson, OfTheDeviceHasNoTypeAndNoOrder) {
  Circumstances now = leaf("");
  now.level.reset();
  EXPECT_EQ(change_json({.kind = Kind::kLevel, .text = "1 -> none"}, now),
            R"({"version":1,"time":"2026-01-31T12:00:00Z","system_name":"leaf\\x0a1",)"
            R"("event":"level","port":"","text":"1 -> none","level":null})");
}

TEST(ChangeJson, OfAnAlarmNamesIt) {
  for (const auto& [kind, name] :
       {std::pair(Kind::kAlarmRaised, "alarm-raised"), {Kind::kAlarmCleared, "alarm-cleared"}}) {
    const std::string text = change_json(
        {.kind = kind, .alarm = core::AlarmCode::kSelfLoop, .text = "our own frame"}, leaf(""));
    EXPECT_NE(text.find("\"event\":\"" + std::string(name) + "\""), text.npos) << text;
    EXPECT_TRUE(text.ends_with(kind == Kind::kAlarmRaised
                                   ? R"("level":1,"alarm":"self-loop","severity":"warning"})"
                                   : R"("level":1,"alarm":"self-loop"})"))
        << text;
  }
}

// What scripts go by.
TEST(ChangeJson, EveryKindHasItsName) {
  const std::pair<Kind, std::string_view> names[] = {{Kind::kNeighborAdded, "neighbor-added"},
                                                     {Kind::kNeighborChanged, "neighbor-changed"},
                                                     {Kind::kNeighborRemoved, "neighbor-removed"},
                                                     {Kind::kLevel, "level"},
                                                     {Kind::kPlace, "place"},
                                                     {Kind::kLocation, "location"},
                                                     {Kind::kPort, "port"},
                                                     {Kind::kAlarmRaised, "alarm-raised"},
                                                     {Kind::kAlarmCleared, "alarm-cleared"},
                                                     {Kind::kClassesExtended, "classes-extended"},
                                                     {Kind::kRulesRestored, "rules-restored"},
                                                     {Kind::kState, ""}};
  for (const auto& [kind, name] : names) EXPECT_EQ(to_string(kind), name);
}

TEST(ChangeQueue, OldestGoAndAreCounted) {
  ChangeQueue queue(2);
  for (const char* change : {R"({"n":1})", R"({"n":2})", R"({"n":3})", R"({"n":4})"})
    queue.push(change);
  EXPECT_EQ(queue.pop(), R"({"n":3,"left_out":2})");
  EXPECT_EQ(queue.pop(), R"({"n":4,"left_out":0})");
  EXPECT_TRUE(queue.empty());
}

// What the log has of each.
TEST(ChangeLine, SaysOfWhatKindItIs) {
  const std::pair<Kind, std::string_view> lines[] = {
      {Kind::kNeighborAdded, "neighbor added: x"},
      {Kind::kNeighborChanged, "neighbor changed: x"},
      {Kind::kNeighborRemoved, "neighbor removed: x"},
      {Kind::kLevel, "level x"},
      {Kind::kPlace, "rank: level x"},
      {Kind::kLocation, "location x"},
      {Kind::kPort, "x"},
      {Kind::kAlarmRaised, "alarm self-loop: x"},
      {Kind::kAlarmCleared, "alarm self-loop cleared"},
      {Kind::kClassesExtended, "lossless classes: x"},
      {Kind::kRulesRestored, "rules reinstalled: x"},
      {Kind::kState, ""}};
  for (const auto& [kind, line] : lines)
    EXPECT_EQ(change_line({.kind = kind, .alarm = core::AlarmCode::kSelfLoop, .text = "x"}), line);
}

}  // namespace
}  // namespace lldp::report
