// SPDX-License-Identifier: Apache-2.0
#include "lab/live/observation.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/live/picture.hpp"
#include "lab/topology/generators.hpp"

namespace lldp::lab::live {
namespace {

using testing::ElementsAre;

Result<SeenDevice> read(const char* text) {
  return device_from_json(nlohmann::json::parse(text, nullptr, false));
}

TEST(Observation, TakesLevelPortsAndAlarmsFromWhatAnAgentShows) {
  const auto seen = read(R"({"version": 1, "device": {"role": "switch", "level": 1},
    "ports": [{"name": "swp1", "up": true, "type": "downlink", "order": "down", "neighbors": []},
              {"name": "swp2", "up": false, "type": "unmarked", "neighbors": []}],
    "alarms": [{"code": "crosslink", "port": "swp1", "text": "a"}, {"code": "max-level", "port": "", "text": "b"}]})");
  ASSERT_TRUE(seen) << to_string(seen.error());
  EXPECT_TRUE(seen->answers);
  EXPECT_EQ(seen->level, Level::of<1>());
  EXPECT_EQ(seen->ports.at("swp1"), (SeenPort{true, PortType::kDownlink, "down"}));
  EXPECT_EQ(seen->ports.at("swp2"), (SeenPort{false, PortType::kUnmarked, ""}));
  EXPECT_THAT(seen->alarms, ElementsAre("crosslink swp1: a", "max-level: b"));
}

TEST(Observation, HoldsLocationsAgainstTheFabric) {
  const auto fabric = clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  ASSERT_TRUE(fabric);
  const auto device = [](std::string id, std::map<unsigned, std::string> tiers) {
    return SeenDevice{.answers = true, .chassis_id = std::move(id), .tiers = std::move(tiers)};
  };
  Observation seen = {
      device("02:00:00:00:00:09", {{2, "02:00:00:00:00:0a"}}),
      device("02:00:00:00:00:0b", {{1, "02:00:00:00:00:0b"}, {2, "02:00:00:00:00:0a"}}),
      device("02:00:00:00:00:0a", {{1, "02:00:00:00:00:0a"}, {2, "02:00:00:00:00:0a"}}),
      device("x", {{1, "02:00:00:00:00:0b"}, {2, "02:00:00:00:00:0a"}}),
      device("y", {{1, "02:00:00:00:00:0a"}, {2, "02:00:00:00:00:0a"}})};
  EXPECT_THAT(wrongly_located(*fabric, seen), testing::IsEmpty());
  seen[3].tiers.erase(2);
  seen[4].answers = false;
  EXPECT_THAT(wrongly_located(*fabric, seen), ElementsAre(3, 4));
}

TEST(Observation, PartialProtectionCountsWhereHostsPfcAloneIsUnverified) {
  const auto is_protected = [](const std::string& protection) {
    const auto seen =
        read((R"({"device": {"role": "switch"}, "ports": [], "protection": )" + protection + "}")
                 .c_str());
    EXPECT_TRUE(seen) << to_string(seen.error());
    return seen && seen->is_protected;
  };
  EXPECT_TRUE(is_protected(R"({"state": "active", "reasons": []})"));
  EXPECT_FALSE(is_protected(R"({"state": "failed", "reasons": []})"));
  EXPECT_TRUE(is_protected(
      R"({"state": "partial", "reasons": [{"port": "a", "part": "pfc", "state": "unverified"}]})"));
  EXPECT_FALSE(is_protected(R"({"state": "partial", "reasons": []})")) << "nothing says why";
  EXPECT_FALSE(is_protected(R"({"state": "partial"})"));
  EXPECT_FALSE(is_protected(
      R"({"state": "partial", "reasons": [{"port": "a", "part": "pfc", "state": "unverified"},
                                          {"port": "a", "part": "remap", "state": "missing"}]})"));
}

TEST(Observation, RefusesAnAnswerThatIsNone) {
  const auto refusal = [](const char* text) {
    const auto seen = read(text);
    return seen ? "" : to_string(seen.error());
  };
  EXPECT_EQ(refusal("x"), "agent: the answer is not a JSON object");
  EXPECT_EQ(refusal("{}"), "agent: the answer has no device");
  EXPECT_EQ(refusal(R"({"device": {}})"), "agent: the answer has no ports");
  EXPECT_EQ(refusal(R"({"device": {}, "ports": [{"name": "a"}]})"),
            "agent: a port lacks its name, type or state");
  EXPECT_EQ(refusal(R"({"device": {}, "ports": [], "alarms": [1]})"),
            "agent: an alarm is not an object");
}

TEST(Picture, ShowsEveryDevicePortAndWhatIsWrong) {
  const auto fabric = clos({.switches = {1, 1}, .pods = {}, .hosts = 2});
  ASSERT_TRUE(fabric);
  Observation seen(fabric->nodes.size());
  seen[0] = {
      .answers = true, .level = Level::of<2>(), .ports = {{"swp1", {true, PortType::kUnmarked}}}};
  seen[1] = {.answers = true,
             .level = Level::of<1>(),
             .ports = {{"swp1", {true, PortType::kDownlink}},
                       {"swp2", {false, PortType::kUnmarked}},
                       {"swp3", {true, PortType::kUplink}}},
             .alarms = {"unprotected swp3: spine1 has no level"}};
  seen[2] = {.answers = true, .level = Level{}, .ports = {{"eth0", {true, PortType::kUnmarked}}}};
  EXPECT_EQ(picture(*fabric, seen, {}), R"(
 level 2    spine1
            2 ✓ ·

 level 1    leaf1
            1 ✓ ↓×↑

 hosts      host1      host2
            0 ✓ ·      no agent

 ↑ uplink  ↓ downlink  ↔ crosslink  · unmarked  × link down      ✓ ✗ level right, wrong

            devices   right  ports up  ports down  ports wrong  alarms
 level 2          1       0         1           0            1       0
 level 1          1       0         2           1            0       1
 hosts            2       1         1           0            0       0

 spine1:swp1: unmarked, not downlink
 leaf1:swp2: link down
 leaf1: alarm unprotected swp3: spine1 has no level
 host2: no agent answers
)");
}

}  // namespace
}  // namespace lldp::lab::live
