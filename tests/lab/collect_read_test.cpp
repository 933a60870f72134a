// SPDX-License-Identifier: Apache-2.0
// What one device tells: an agent's answers, lldpcli's and SONiC's, whole, wrong and hostile.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "agent/report/report.hpp"
#include "base/text.hpp"
#include "lab/collect/read.hpp"
#include "tests/support/lldpdus.hpp"
#include "tests/support/places.hpp"

namespace lldp::lab::collect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string sample(const std::string& name) {
  std::ifstream in(support::source_dir() + "/tests/lab/collected/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string error_of(std::string_view text) {
  const auto device = read_device(text, "leaf1");
  return device ? "read" : to_string(device.error());
}

// What lldpcli says

const HeardNeighbor kB0{.chassis = "d6:3b:a7:f2:78:6a",
                        .name = "swB",
                        .port = "d6:3b:a7:f2:78:6a",
                        .description = "b0",
                        .role = Role::kHost};

TEST(ReadLldpcli, TakesBothShapesOfARealDaemonForTheSame) {
  for (const char* name : {"lldpcli-neighbors.json", "lldpcli-neighbors.json0"}) {
    const auto device = read_device(sample(name), "a");
    ASSERT_TRUE(device) << to_string(device.error());
    EXPECT_EQ(device->name, "a");  // it does not say who it is
    ASSERT_EQ(device->ports.size(), 2U) << name;
    EXPECT_EQ(device->ports[0].name, "a0");
    EXPECT_THAT(device->ports[0].heard, ElementsAre(kB0)) << name;
    EXPECT_EQ(device->ports[1].heard[0].description, "b1");
  }
}

TEST(ReadLldpcli, LearnsItsOwnNameAndPortsFromWhatIsBesideIt) {
  const auto device =
      read_device(sample("lldpcli-chassis.json0") + sample("lldpcli-neighbors.json0") +
                      sample("lldpcli-interfaces.json"),
                  "a");
  ASSERT_TRUE(device) << to_string(device.error());
  EXPECT_EQ(device->name, "swA");
  EXPECT_EQ(device->chassis, "8e:6a:25:3b:3d:d6");
  EXPECT_EQ(device->role, Role::kHost);
  ASSERT_EQ(device->ports.size(), 2U);
  EXPECT_THAT(device->ports[0].port_id, HasSubstr("8e:6a:25:3b:3d:d6"));
  EXPECT_THAT(device->ports[0].heard, ElementsAre(kB0));
}

TEST(ReadLldpcli, TakesOneInterfaceThatIsNoListAndOneWithoutAName) {
  const auto device = read_device(
      R"({"lldp":{"interface":{"swp1":{"via":"LLDP","chassis":{"id":{"type":"mac","value":"02:00:00:00:00:09"},
          "capability":{"type":"Router","enabled":true}},"port":{"id":{"type":"ifname","value":"swp7"}}},
          "swp2":{"via":"CDPv2","chassis":{"x":{"id":{"type":"local","value":"x"}}}}}}})",
      "leaf1");
  ASSERT_TRUE(device) << to_string(device.error());
  ASSERT_EQ(device->ports.size(), 2U);
  EXPECT_THAT(device->ports[0].heard,
              ElementsAre(HeardNeighbor{
                  .chassis = "02:00:00:00:00:09", .port = "swp7", .role = Role::kSwitch}));
  EXPECT_THAT(device->ports[1].heard, IsEmpty());  // another protocol
}

// What SONiC says

TEST(ReadSonic, TakesADumpOfItsDatabase) {
  const auto device = read_device(R"({
    "LLDP_ENTRY_TABLE:Ethernet0": {"expireat": 1.5, "ttl": -0.001, "type": "hash", "value": {
      "lldp_rem_chassis_id": "aa:bb:cc:dd:ee:ff", "lldp_rem_port_id": "Ethernet12", "lldp_rem_port_desc": "to leaf1",
      "lldp_rem_sys_cap_enabled": "28 00", "lldp_rem_sys_name": "spine1"}},
    "LLDP_ENTRY_TABLE:eth0": {"type": "hash", "value": {"lldp_rem_sys_name": "management"}},
    "LLDP_LOC_CHASSIS": {"type": "hash", "value": {
      "lldp_loc_chassis_id": "11:22:33:44:55:66", "lldp_loc_sys_name": "leaf1"}},
    "PORT_TABLE:Ethernet0": {"type": "hash", "value": {"mtu": "9100"}}})",
                                  "file");
  ASSERT_TRUE(device) << to_string(device.error());
  EXPECT_EQ(device->name, "leaf1");
  EXPECT_EQ(device->chassis, "11:22:33:44:55:66");
  EXPECT_EQ(device->role, Role::kSwitch);
  ASSERT_EQ(device->ports.size(), 1U);
  EXPECT_THAT(device->ports[0].heard, ElementsAre(HeardNeighbor{.chassis = "aa:bb:cc:dd:ee:ff",
                                                                .name = "spine1",
                                                                .port = "Ethernet12",
                                                                .description = "to leaf1",
                                                                .role = Role::kSwitch}));
}

TEST(ReadSonic, TakesItsTable) {
  const std::string all = sample("sonic-table.txt");
  const auto device = read_device(all, "leaf1");
  ASSERT_TRUE(device) << to_string(device.error());
  EXPECT_EQ(device->name, "leaf1");
  ASSERT_EQ(device->ports.size(), 2U);
  EXPECT_THAT(device->ports[0].heard, ElementsAre(HeardNeighbor{.name = "spine1",
                                                                .port = "fortyGigE0/4",
                                                                .description = "Ethernet4 of it",
                                                                .role = Role::kSwitch}));
  EXPECT_THAT(device->ports[1].heard, ElementsAre(HeardNeighbor{.chassis = "40:14:82:8a:16:00",
                                                                .port = "40:14:82:8a:16:00",
                                                                .role = Role::kHost}));
}

TEST(ReadSonic, KnowsATableThatWasCutOff) {
  const std::string all = sample("sonic-table.txt");
  EXPECT_EQ(error_of(std::string(all).replace(all.find("eth0  "), 50, "")).substr(0, 7), "cut off");
  EXPECT_EQ(error_of(all.substr(0, 120)), "cut off: the table has no rows");
  EXPECT_EQ(error_of(all.substr(0, 140)), "line 3: the columns have no names");
}

TEST(ReadSonic, KnowsATableWithoutItsEnd) {
  const std::string all = sample("sonic-table.txt");
  EXPECT_EQ(error_of(all.substr(0, all.find("eth0  "))),
            "cut off: it does not end with the number of its entries");
}

TEST(ReadSonic, ARowThatIsHalfWrittenCostsThatRowAlone) {
  const auto device = read_device(R"({
    "LLDP_ENTRY_TABLE:": {"value": {"lldp_rem_sys_name": "spine1"}},
    "LLDP_ENTRY_TABLE:Ethernet0": {"value": {"lldp_rem_port_id": "Ethernet12"}},
    "LLDP_ENTRY_TABLE:eth0": {"value": {}},
    "LLDP_ENTRY_TABLE:Ethernet4": {"value": {"lldp_rem_sys_name": "spine2"}}})",
                                  "leaf1");
  ASSERT_TRUE(device) << to_string(device.error());
  ASSERT_EQ(device->ports.size(), 1U);
  EXPECT_EQ(device->ports[0].name, "Ethernet4");
  EXPECT_THAT(device->left_out, ElementsAre(LeftOut{"", "LLDP_ENTRY_TABLE: names no port"},
                                            LeftOut{"Ethernet0", "a neighbor without a chassis"}));
}

TEST(ReadSonic, ARowOfItsTableThatIsHalfWrittenCostsThatRowAlone) {
  const auto device = read_device(
      "LocalPort    RemoteDevice  RemotePortID  Capability  RemotePortDescr\n"
      "-----------  ------------  ------------  ----------  ---------------\n"
      "Ethernet0                                BR          Ethernet8\n"
      "Ethernet4    spine1        etp1          BR          Ethernet8\n"
      "Total entries displayed:  2\n",
      "leaf1");
  ASSERT_TRUE(device) << to_string(device.error());
  ASSERT_EQ(device->ports.size(), 1U);
  EXPECT_EQ(device->ports[0].name, "Ethernet4");
  EXPECT_THAT(device->left_out, ElementsAre(LeftOut{"Ethernet0", "line 3 names no device"}));
}

TEST(ReadLldpcli, AnEntryThatIsHalfWrittenCostsThatEntryAlone) {
  const auto device = read_device(R"({"lldp":[{"interface":[
      {"name":"","chassis":[{"id":[{"type":"mac","value":"02:00:00:00:00:09"}]}]},
      {"name":"a0"},
      {"name":"a1","chassis":[{"id":[{"type":"mac","value":"02:00:00:00:00:09"}]}]}]}]})",
                                  "leaf1");
  ASSERT_TRUE(device) << to_string(device.error());
  ASSERT_EQ(device->ports.size(), 2U);
  EXPECT_THAT(device->ports[0].heard, IsEmpty());
  EXPECT_EQ(device->ports[1].heard[0].chassis, "02:00:00:00:00:09");
  EXPECT_THAT(device->left_out, ElementsAre(LeftOut{"", "an interface without a name"},
                                            LeftOut{"a0", "a neighbor without a chassis"}));
}

TEST(ReadSonic, KnowsAHeadInTheMidstOfTheRows) {
  const std::string all = sample("sonic-table.txt");
  std::string table(all);
  table.insert(table.find("\nEthernet4 ") + 1,
               "LocalPort  RemoteDevice  RemotePortID  Capability  A  B  C  D\n");
  EXPECT_EQ(error_of(table), "line 8: the columns have no names");
}

// What cannot be read

TEST(Read, SaysWhatIsWrong) {
  EXPECT_EQ(error_of(""), "empty");
  EXPECT_EQ(error_of("hello"), "neither JSON nor SONiC's `show lldp table`");
  EXPECT_EQ(error_of("{\"version\": 1,\n \"device\": {"),
            "line 2: cut off: the JSON object has no end");
  EXPECT_EQ(error_of("{\n,}"), "line 2: not JSON");
  EXPECT_EQ(error_of("{\"a\": 1e999}"), "line 1: a number is out of range");
  EXPECT_EQ(error_of("{} x"), "line 1: not a JSON object");
  EXPECT_EQ(error_of("{}\n{\"a\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}"),
            "line 2: nested more than 32 levels deep");
  EXPECT_EQ(error_of("{}"),
            "not an answer of `lldp-level show --json`, lldpcli or a dump of APPL_DB");
  EXPECT_EQ(error_of(R"({"version": 2, "device": {}, "ports": []})"),
            "version: 2 is not known here: only 1 is");
  EXPECT_EQ(error_of(R"({"version": 1, "device": {"role": "switch"}, "ports": []})"),
            "device: no chassis_id");
  EXPECT_EQ(error_of(R"({"version": 1, "backend": "bpf", "ports": []})"),
            "not an answer of `lldp-level show --json`, lldpcli or a dump of APPL_DB");
}

TEST(Read, NoCutAndNoOctetOfARealAnswerDoesHarm) {
  const std::string whole = sample("lldpcli-neighbors.json0") + sample("lldpcli-chassis.json0");
  for (std::size_t n = 0; n < whole.size(); n += 7) (void)read_device(whole.substr(0, n), "cut");
  for (std::size_t n = 0; n < whole.size(); n += 13) {
    std::string bent = whole;
    bent[n] = bent[n] == '{' ? '[' : '"';
    (void)read_device(bent, "bent");
  }
}

// What an agent says

constexpr std::string_view kShow = R"({"version": 1,
  "device": {"chassis_id": "02:00:00:00:00:09", "system_name": "leaf1", "role": "switch", "level": 1},
  "ports": [{"name": "swp1", "order": "down", "layers": {"near": 3, "far": 4}, "neighbors": [
    {"chassis_id": "02:00:00:00:00:0a", "port_id": "swp7", "device_type": "switch", "level": 2,
     "layers": {"near": 4, "far": 3}}]}]})";

std::string rules_of_port(const std::string& port, const std::string& more = "") {
  return R"({"version": 1, "backend": "bpf", "error": null, "lossless": [{"priority": 5, "dscp": 43},
      {"priority": 6, "dscp": 51}], "lossy": {"priority": 0, "dscp": 0}, )" +
         more + R"("ports": [{"name": "swp1", )" + port + "}]}";
}
constexpr const char* kDone = R"("installed": "yes", "error": null, "turns": [
  {"from": {"priority": 5, "dscp": 43}, "to": {"priority": 6, "dscp": 51}},
  {"from": {"priority": 6, "dscp": 51}, "to": {"priority": 0, "dscp": 0}}],
  "parts": [{"part": "classify", "state": "done"}, {"part": "remap", "state": "done"},
            {"part": "pfc", "state": "unsupported"}])";

TEST(ReadAgent, TakesLayers) {
  const auto device = read_device(kShow, "file");
  ASSERT_TRUE(device) << to_string(device.error());
  EXPECT_EQ(device->ports[0].layers, (Layers{Layer::of<3>(), Layer::of<4>()}));
  EXPECT_EQ(device->ports[0].heard[0].layers, (Layers{Layer::of<4>(), Layer::of<3>()}));
  EXPECT_EQ(error_of(std::string(kShow).replace(kShow.find(": 3"), 3, ": 99")),
            "swp1: its layers are not two numbers from 0 to 31");
}

TEST(ReadAgent, TakesTheOrderOfTheRulesForTheOrderThatPacketsSee) {
  const auto device = read_device(
      std::string(kShow) + rules_of_port(R"("order": "up", )" + std::string(kDone)), "");
  ASSERT_TRUE(device) << to_string(device.error());
  EXPECT_EQ(device->ports[0].order, Order::kUp);
  EXPECT_EQ(device->ports[0].unprotected, "");
  const auto shut = read_device(
      std::string(kShow) + rules_of_port(R"("order": "shut", )" + std::string(kDone)), "");
  ASSERT_TRUE(shut) << to_string(shut.error());
  EXPECT_EQ(shut->ports[0].order, Order::kShut);
}

TEST(ReadAgent, TakesRulesThatLackSomethingForNone) {
  const auto unprotected = [](const std::string& port, const std::string& more = "") {
    const auto device = read_device(std::string(kShow) + rules_of_port(port, more), "");
    return device ? device->ports[0].unprotected : to_string(device.error());
  };
  const std::string up = R"("order": "up", "installed": "yes", )";
  const std::string parts =
      R"("parts": [{"part": "remap", "state": "done"}, {"part": "classify", "state": "done"}])";
  EXPECT_EQ(unprotected(up + R"("turns": [], )" + parts), "no rule for a packet that turns");
  EXPECT_EQ(unprotected(R"("order": "down", "installed": "yes", "turns": [], )" + parts), "");
  EXPECT_EQ(unprotected(up + R"("turns": [{}], "parts": [])"),
            "no part of the rules was read back");
  EXPECT_EQ(unprotected(up + R"("turns": [{}])"), "no part of the rules was read back");
  // Whatever does not come into its priority, or come out of it, was not told of.
  for (const auto& [part, missing] :
       {std::pair("classify", "remap"), std::pair("remap", "classify")})
    EXPECT_EQ(
        unprotected(R"("order": "down", "installed": "yes", "turns": [], "parts": [{"part": ")" +
                    std::string(part) + R"(", "state": "done"}])"),
        std::string(missing) + " not told");
  EXPECT_EQ(unprotected(R"("error": "no room", "order": "up", "installed": "yes")"),
            "rules: no room");
  EXPECT_EQ(error_of(std::string(kShow) + rules_of_port(R"("installed": "yes")")),
            "rules: swp1 without an order");
  EXPECT_EQ(error_of(std::string(kShow) + R"({"version": 1, "backend": "bpf", "ports": [{}]})"),
            "rules: a port without a name");
  auto broken = rules_of_port(R"("order": "up", )" + std::string(kDone));
  broken.replace(broken.find("null"), 4, R"("broken")");
  const auto device = read_device(std::string(kShow) + broken, "");
  ASSERT_TRUE(device) << to_string(device.error());
  EXPECT_EQ(device->ports[0].unprotected, "rules: broken");
}

TEST(ReadAgent, TakesOnlyTheChainOfTheClassesForRulesThatProtect) {
  const auto turn = [](const std::string& from, const std::string& to) {
    return std::string(R"({"from": )") + from + R"(, "to": )" + to + "}";
  };
  constexpr const char* k5 = R"({"priority": 5, "dscp": 43})";
  constexpr const char* k6 = R"({"priority": 6, "dscp": 51})";
  constexpr const char* k0 = R"({"priority": 0, "dscp": 0})";
  const auto unprotected = [](const std::string& turns, const std::string& rules = "") {
    const auto device =
        read_device(std::string(kShow) +
                        rules_of_port(R"("order": "up", "installed": "yes", "turns": [)" + turns +
                                          R"(], "parts": [{"part": "classify", "state": "done"},
                                             {"part": "remap", "state": "done"}])",
                                      rules),
                    "");
    return device ? device->ports[0].unprotected : to_string(device.error());
  };
  EXPECT_EQ(unprotected(turn(k5, k6) + "," + turn(k6, k0)), "");
  EXPECT_EQ(unprotected(turn(k6, k0) + "," + turn(k5, k6)), "");
  EXPECT_EQ(unprotected(turn(k5, k5) + "," + turn(k6, k6)),
            "a packet that turns goes from 5:dscp43 to 5:dscp43, not to 6:dscp51");
  EXPECT_EQ(unprotected(turn(k5, k6) + "," + turn(k6, k5)),
            "a packet that turns goes from 6:dscp51 to 5:dscp43, not to 0:dscp0");
  EXPECT_EQ(unprotected(turn(k5, k6)), "no rule for a packet that turns in 6:dscp51");
  EXPECT_EQ(unprotected(turn(k5, k6) + "," + turn(k6, k0) + "," + turn(k5, k6)),
            "two rules for a packet that turns in 5:dscp43");
  EXPECT_EQ(unprotected("{}"), "a rule for packets that turn that is not understood");
  EXPECT_EQ(unprotected("7"), "a rule for packets that turn that is not understood");
  // `chains` tells more than `lossless`: all of them, and all DSCPs of a class.
  const char* chains =
      R"("chains": [[{"priority": 3, "dscps": [26, 24]}, {"priority": 2, "dscps": [19]}],
      [{"priority": 5, "dscps": [43]}]], )";
  const auto from = [](int priority, int dscp) {
    return fmt::format(R"({{"priority": {}, "dscp": {}}})", priority, dscp);
  };
  const std::string of_roce = turn(from(3, 24), from(2, 19)) + "," +
                              turn(from(3, 26), from(2, 19)) + "," + turn(from(2, 19), from(0, 0));
  EXPECT_EQ(unprotected(of_roce + "," + turn(k5, k0), chains), "");
  EXPECT_EQ(unprotected(of_roce, chains), "no rule for a packet that turns in 5:dscp43");
  EXPECT_EQ(unprotected(of_roce, R"("chains": [[{"priority": 3, "dscps": []}]], )"),
            "rules for packets that turn, of classes that are not told");
  // The last member of a name counts: classes that make no chain.
  for (const char* lossless :
       {R"("lossless": [], )", R"("lossless": null, )", R"("lossless": [7], )", R"("lossy": 0, )",
        R"("lossless": [{"priority": 5, "dscp": 43}, {"priority": 5, "dscp": 43}], )"})
    EXPECT_EQ(unprotected(turn(k5, k6) + "," + turn(k6, k0), lossless),
              "rules for packets that turn, of classes that are not told")
        << lossless;
}

TEST(ReadAgent, TakesTheAlarmsThatSomebodyIsNotHeard) {
  const auto device = read_device(R"({"version": 1,
    "device": {"chassis_id": "02:00:00:00:00:09", "system_name": "leaf1", "role": "switch"},
    "ports": [{"name": "swp1", "up": true, "order": "down"}, {"name": "swp2", "up": false},
              {"name": "swp3", "up": 1}],
    "alarms": [{"code": "silent", "port": "swp1", "text": "a\u0007"}, 7, {"code": "silent"},
               {"code": "cabling", "port": "swp2", "text": "x"},
               {"code": "paused", "port": "swp3", "text": "b"}]})",
                                  "");
  ASSERT_TRUE(device) << to_string(device.error());
  EXPECT_TRUE(device->ports[0].up);
  EXPECT_EQ(device->ports[0].unheard, "silent: a\\x07");
  EXPECT_FALSE(device->ports[1].up);
  EXPECT_EQ(device->ports[1].unheard, "");
  EXPECT_FALSE(device->ports[2].up);
  EXPECT_EQ(device->ports[2].unheard, "paused: b");
}

TEST(ReadAgent, TakesOnlyProtectionThatItKnowsForProtection) {
  const auto unprotected = [](const std::string& protection, const std::string& rules = "") {
    const auto at = kShow.find("\"ports\"");
    const auto device = read_device(std::string(kShow).insert(at, protection) + rules, "");
    return device ? device->ports[0].unprotected : to_string(device.error());
  };
  const auto state = [&](const std::string& text, const std::string& rules = "") {
    return unprotected(R"("protection": {"state": )" + text + "}, ", rules);
  };
  const std::string good = rules_of_port(R"("order": "up", )" + std::string(kDone));
  EXPECT_EQ(state(R"("active", "reasons": [])"), "");
  EXPECT_EQ(state(R"("active", "reasons": [])", good), "");
  for (const char* other : {"inactive", "failed", "off", "ACTIVE"}) {
    const std::string quoted = "\"" + std::string(other) + "\"";
    EXPECT_EQ(state(quoted), std::string("protection is ") + other);
    EXPECT_EQ(state(quoted, good), std::string("protection is ") + other);
  }
  EXPECT_EQ(unprotected(""), "protection not told");
  EXPECT_EQ(unprotected("", good), "") << "rules that were read back tell";
  EXPECT_EQ(state("7"), "protection not told");
  EXPECT_EQ(state(R"("partial")"), "protection is partial");
  EXPECT_EQ(state(R"("partial", "reasons": [{"port": "swp9", "part": "remap"}])"),
            "protection is partial");
  EXPECT_EQ(
      state(R"("partial", "reasons": [{"port": "swp1", "part": "remap", "state": "missing"}])"),
      "remap missing");
  const std::string no_remap = R"("order": "up", "installed": "yes", "turns": [{}],
    "parts": [{"part": "classify", "state": "done"}, {"part": "pfc", "state": "unsupported"}])";
  EXPECT_EQ(state(R"("active")", rules_of_port(no_remap)), "remap not told");
}

TEST(ReadAgent, EscapesWhatAnAgentWouldHaveEscaped) {
  const auto device = read_device(R"({"version": 1,
    "device": {"chassis_id": "02:00:00:00:00:09", "system_name": "a\u001b[2J", "role": "switch"},
    "protection": {"state": "\u0007"},
    "ports": [{"name": "swp\u009b1", "neighbors": [{"chassis_id": "x\\x1b", "system_name": "\u202e"}]}]})",
                                  "");
  ASSERT_TRUE(device) << to_string(device.error());
  EXPECT_EQ(device->name, "a\\x1b[2J");
  EXPECT_THAT(device->ports[0].unprotected, HasSubstr("\\x07"));
  EXPECT_EQ(device->ports[0].name, escape("swp\u009b1"));
  EXPECT_EQ(device->ports[0].heard[0].chassis, "x\\x1b") << "an agent's own text stays";
  EXPECT_EQ(device->ports[0].heard[0].name, escape("\u202e"));
}

TEST(ReadAgent, RefusesAFileOfRulesThatHoldsNone) {
  for (const char* text : {"{}", R"({"error": "the daemon does not answer"})", "hello"}) {
    const auto device = read_device(
        {{.text = std::string(kShow)}, {.where = "leaf1.rules.json", .text = text, .rules = true}},
        "leaf1");
    ASSERT_FALSE(device) << text;
    EXPECT_EQ(device.error().where.substr(0, 16), "leaf1.rules.json");
  }
  EXPECT_EQ(error_of(std::string(kShow) + "{}"),
            "not an answer of `lldp-level show --json`, lldpcli or a dump of APPL_DB");
}

TEST(ReadAgent, AClockThatIsAnHourOffChangesNothing) {
  core::Snapshot snapshot{.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 1}),
                          .system_name = "leaf1"};
  snapshot.ports.push_back({.name = "swp1",
                            .ifindex = Ifindex::of<1>(),
                            .up = true,
                            .speed_mbps = 100'000,
                            .mtu = 9216,
                            .rail_group = "compute",
                            .holds_since = TimePoint(std::chrono::seconds(5))});
  snapshot.alarms.push_back({.code = core::AlarmCode::kSilent, .port = "swp1", .text = "x"});
  const std::chrono::system_clock::time_point now(std::chrono::hours(500'000));
  const auto right = read_device(report::show_json(snapshot, {}, {.wall = now}), "f");
  const auto off =
      read_device(report::show_json(snapshot, {}, {.wall = now + std::chrono::hours(1)}), "f");
  ASSERT_TRUE(right && off);
  EXPECT_EQ(*right, *off);
  EXPECT_EQ(right->ports.at(0).speed_mbps, 100'000U);
  EXPECT_EQ(right->ports.at(0).mtu, 9216U);
  EXPECT_EQ(right->ports.at(0).rail, "compute");
}

TEST(ReadAgent, TakesSpeedAndFrameSizeOfANeighborFromItsOctets) {
  core::Snapshot snapshot{.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 1})};
  core::NeighborInfo neighbor{.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 2})};
  neighbor.frame = core::ReceivedFrame{.lldpdu = support::typical_lldpdu()};
  snapshot.ports.push_back({.name = "swp1", .neighbors = {neighbor}});
  const auto device = read_device(report::show_json(snapshot, {}, {}), "f");
  ASSERT_TRUE(device);
  const HeardNeighbor& heard = device->ports.at(0).heard.at(0);
  EXPECT_EQ(heard.speed_mbps, 100U);
  EXPECT_EQ(heard.frame_octets, 9236U);
}

TEST(ReadLldpcli, TakesSpeedsFromTheTypeOfTheMau) {
  const std::pair<const char*, std::uint32_t> speeds[] = {
      {"100GbaseCR4 - 100GBASE-R PCS/PMA over 4 lane shielded copper balanced cable", 100'000},
      {"1000BaseTFD - Four-pair Category 5 UTP, full duplex mode", 1000},
      {"10GigBaseX - X PCS/PMA, unknown PMD.", 10'000},
      {"2p5GigT - 2.5GBASE-T Four-pair", 2500},
      {"unknown", 0},
      {"99999999999GbaseX", 0},
      {"", 0}};
  for (const auto& [mau, speed] : speeds) {
    const std::string port = R"({"id": {"type": "ifname", "value": "p1"}, "mfs": "1518",
        "auto-negotiation": {"supported": true, "current": ")" +
                             std::string(mau) + R"("}})";
    const std::string chassis = R"({"swB": {"id": {"type": "local", "value": "b"}}})";
    const auto heard = read_device(R"({"lldp": {"interface": {"a0": {"via": "LLDP", "chassis": )" +
                                       chassis + R"(, "port": )" + port + "}}}}",
                                   "f");
    ASSERT_TRUE(heard) << to_string(heard.error());
    EXPECT_EQ(heard->ports.at(0).heard.at(0).speed_mbps, speed) << mau;
    EXPECT_EQ(heard->ports.at(0).heard.at(0).frame_octets, 1518U);
    const auto own =
        read_device(R"({"lldp": {"interface": {"a0": {"status": "RX and TX", "chassis": )" +
                        chassis + R"(, "port": )" + port + "}}}}",
                    "f");
    ASSERT_TRUE(own) << to_string(own.error());
    EXPECT_EQ(own->ports.at(0).speed_mbps, speed) << mau;
  }
}

}  // namespace
}  // namespace lldp::lab::collect
