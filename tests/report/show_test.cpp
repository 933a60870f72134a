// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "agent/report/json_writer.hpp"
#include "agent/report/location.hpp"
#include "agent/report/report.hpp"
#include "agent/report/text.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "tests/support/golden.hpp"

namespace lldp::report {
namespace {

using namespace std::chrono_literals;

ChassisId chassis(std::uint8_t last) { return chassis_id_from_mac({2, 0, 0, 0, 0, last}); }
PortId port_id(std::string name) {
  PortId id;
  id.subtype = PortId::kInterfaceName;
  id.octets = std::move(name);
  return id;
}

core::NeighborInfo neighbor(std::uint8_t last, std::string name, std::string port) {
  return {.chassis_id = chassis(last),
          .port_id = port_id(std::move(port)),
          .system_name = std::move(name),
          .device_type = DeviceType::kSwitch,
          .level = Level::of<2>(),
          .port_type = PortType::kDownlink,
          .tr = true,
          .contribution = true,
          .ttl = 121,
          .expires_in = 97s,
          .decisive = true};
}

/// A leaf with everything that can be printed: names, none, two on a port, hostile names, alarms.
core::Snapshot leaf() {
  core::Snapshot s{.level = Level::of<1>(),
                   .level_source = core::LevelSource::kHost,
                   .rank = {Level::of<1>(), chassis(1)},
                   .bound = {Level::of<1>(), chassis(1)},
                   .location = {{Level::of<1>(), chassis(1)}, {Level::of<2>(), chassis(1)}},
                   .chassis_id = chassis(1),
                   .system_name = "leaf1"};
  core::NeighborInfo host = neighbor(0x20, "", "eth0");
  host.device_type = DeviceType::kHost;
  host.level.reset();
  host.port_type = PortType::kUnmarked;
  host.tr = host.contribution = false;
  host.port_description = "to leaf1";
  host.pfc_enabled = 0;
  core::NeighborInfo hostile = neighbor(0x30, "bad\x1b[2J\"\\\xff", "p\n1");
  s.ports = {{.name = "swp1",
              .ifindex = Ifindex::of<7>(),
              .up = true,
              .type = PortType::kUplink,
              .order = Order::kUp,
              .pfc_enabled = 0x60,
              .neighbors = {neighbor(9, "spine1", "swp12")}},
             {.name = "swp2",
              .ifindex = Ifindex::of<8>(),
              .up = true,
              .type = PortType::kDownlink,
              .order = Order::kDown,
              .neighbors = {host, neighbor(0x21, "srv-ü", "eth1")}},
             {.name = "swp3",
              .ifindex = Ifindex::of<9>(),
              .up = true,
              .type = PortType::kCrosslink,
              .order = Order::kDown,
              .neighbors = {hostile}},
             {.name = "swp10", .ifindex = Ifindex::of<16>()}};
  s.alarms = {
      {.code = core::AlarmCode::kCrosslink,
       .port = "swp3",
       .since = TimePoint(40s),
       .text = "leaf2 stands on our own level 1"},
      {.code = core::AlarmCode::kUnprotected, .since = TimePoint(160s), .text = "no rules"}};
  return s;
}

Protection protection() {
  return {.backend = "bpf",
          .state = Protection::State::kPartial,
          .lossless = {Priority::of<5>(), Priority::of<6>()}};
}
const WallClock kClock{.wall = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + 12h,
                       .boot = TimePoint(100s)};

// Nothing is wrong, and nobody can tell that all is right.
TEST(RulesText, WhatNobodyCanTellOfIsNotRed) {
  const auto text = [](const char* state) {
    PortRules port{.name = "swp1", .installed = PortRules::Installed::kYes};
    port.parts = {{"pfc", state, "why"}};
    return rules_text(rules_json({.backend = "bpf", .ports = {port}}), {.colour = true}).value();
  };
  const std::string red = "\x1b[1;31m";
  EXPECT_THAT(text("missing"), testing::HasSubstr(red));
  EXPECT_THAT(text("unsupported"), testing::Not(testing::HasSubstr(red)));
}

TEST(ShowJson, IsAsTheManualSays) {
  const std::string text =
      show_json(leaf(), protection(), kClock, {},
                {.companions = {{.key = "metrics.listen"},
                                {.key = "on-change", .trouble = "killed by signal 9"}}});
  support::expect_golden(nlohmann::ordered_json::parse(text).dump(2) + "\n",
                         "report/golden/show.json");
}

TEST(ShowJson, HoldsNoControlCharacterAndParsesAsUtf8) {
  const std::string text = show_json(leaf(), protection(), kClock);
  for (const char c : text) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  const auto show = nlohmann::json::parse(text);
  EXPECT_EQ(show["ports"][2]["neighbors"][0]["system_name"], "bad\\x1b[2J\"\\\\\\xff");
}

TEST(ShowJson, TellsOnlyOfThePortsAskedFor) {
  const std::vector<std::string> globs{"swp1*"};
  const auto show = nlohmann::json::parse(show_json(leaf(), protection(), kClock, globs));
  ASSERT_EQ(show["ports"].size(), 2U);
  EXPECT_EQ(show["ports"][0]["name"], "swp1");
  EXPECT_EQ(show["ports"][1]["name"], "swp10");
  EXPECT_EQ(show["alarms"].size(), 2U);
}

TEST(ShowJson, AlarmIsAsSevereAsCheckTakesItAndOkWhileItIsMuted) {
  core::Snapshot snapshot = leaf();
  snapshot.alarms.front().code = core::AlarmCode::kPfcMismatch;
  snapshot.alarms.back() = snapshot.alarms.front();
  snapshot.alarms.back().port = "swp9";
  Daemon daemon;
  daemon.muted[{"pfc-mismatch", "swp9"}] = kClock.boot;
  const auto show = nlohmann::json::parse(show_json(snapshot, protection(), kClock, {}, daemon));
  EXPECT_EQ(show["alarms"][0]["severity"], "critical");
  EXPECT_EQ(show["alarms"][1]["severity"], "ok");
  const auto verdict = check(show.dump());
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->status, Status::kCritical);
}

TEST(ShowJson, LevelIsNullWhenThereIsNone) {
  const auto show = nlohmann::json::parse(show_json({}, {}, kClock));
  EXPECT_TRUE(show["device"]["level"].is_null());
  EXPECT_EQ(show["device"]["level_source"], "none");
}

/// The leaf that the samples of README.md and docs/ show: two servers below, two spines above,
/// nothing wrong.
core::Snapshot quiet_leaf() {
  core::Snapshot s = leaf();
  s.alarms.clear();
  s.ports.clear();
  for (std::uint8_t i = 1; i <= 2; ++i) {
    const std::string number = std::to_string(i);
    core::NeighborInfo server =
        neighbor(static_cast<std::uint8_t>(0x20 + i), "server" + number, "ens1");
    server.device_type = DeviceType::kHost;
    server.level = Level::of<0>();
    s.ports.push_back({.name = "swp" + number,
                       .up = true,
                       .type = PortType::kDownlink,
                       .order = Order::kDown,
                       .neighbors = {server}});
  }
  for (std::uint8_t i = 1; i <= 2; ++i) {
    const std::string number = std::to_string(i);
    s.ports.push_back(
        {.name = "swp3" + number,
         .up = true,
         .type = PortType::kUplink,
         .order = Order::kUp,
         .neighbors = {neighbor(static_cast<std::uint8_t>(9 + i), "spine" + number, "swp1")}});
  }
  return s;
}

/// A server below that leaf, in a pod of a fabric with three levels.
core::Snapshot server() {
  core::NeighborInfo above = neighbor(1, "leaf1", "swp1");
  above.level = Level::of<1>();
  return {.role = Role::kHost,
          .level = Level::of<0>(),
          .level_source = core::LevelSource::kHost,
          .location = {{Level::of<1>(), chassis(3)},
                       {Level::of<2>(), chassis(1)},
                       {Level::of<3>(), chassis(1)}},
          .chassis_id = chassis(0x21),
          .system_name = "server1",
          .ports = {{.name = "ens1",
                     .up = true,
                     .type = PortType::kUplink,
                     .order = Order::kUp,
                     .neighbors = {above}}}};
}

// tests/manual/samples_test.py lets the client ask for these.
TEST(ShowJson, TellsOfTheLeafAndTheServerOfTheSamples) {
  const Protection active{
      .backend = "bpf,dcb",
      .backend_reason = "this machine has neither SONiC nor the front panel of a switch chip",
      .state = Protection::State::kActive,
      .lossless = {Priority::of<3>(), Priority::of<2>()},
      .classes = {{qos::parse_chains("3:dscp26+24-31>2:dscp19")->at(0), "from swp1's neighbor"}}};
  support::expect_golden(show_json(quiet_leaf(), active, kClock), "manual/leaf1.json");
  support::expect_golden(show_json(server(), active, kClock), "manual/server1.json");
}

TEST(ShowText, IsARowPerPortWithAlarmsFirst) {
  const auto text = show_text(show_json(leaf(), protection(), kClock), {});
  ASSERT_TRUE(text);
  support::expect_golden(*text, "report/golden/show.txt");
}

TEST(ShowText, TellsOfAPlaceBelowTheLevel) {
  auto rising = leaf();
  rising.level = Level::of<3>();
  EXPECT_THAT(*show_text(show_json(rising, protection(), kClock), {}),
              testing::HasSubstr("leaf1: switch, level 3 (host)\n"
                                 "  in the order by level 1 until all neighbors have acknowledged\n"
                                 "  protection partial"));
}

TEST(ShowText, CountsThePortsWhereNothingWasEverHeard) {
  auto silent = leaf();
  for (const char* port : {"swp3", "swp4", "swp5", "swp6", "swp7"})
    silent.alarms.push_back({.code = core::AlarmCode::kUnheard, .port = port, .text = "why"});
  EXPECT_THAT(*show_text(show_json(silent, protection(), kClock), {}),
              testing::HasSubstr("\n  up, no neighbor: 5 (swp3, swp4, swp5, swp6, ...)\n"));
}

TEST(ShowText, SaysWhatARiseWaitsForAndSinceWhen) {
  auto rising = leaf();
  rising.bound.level = Level::of<2>();
  core::PortInfo& port = rising.ports[0];
  port.holds_since = TimePoint(40s);
  port.agents = {{.agent = 7, .chassis_id = chassis(9), .heard = true, .awaited = true},
                 {.agent = 8, .heard = true, .awaited = true},
                 {.agent = 9, .chassis_id = chassis(8), .heard = true}};
  const auto text = [&] { return *show_text(show_json(rising, protection(), kClock), {}); };
  EXPECT_THAT(text(), testing::HasSubstr(
                          "\nrank waits for swp1: no acknowledgement from 02:00:00:00:00:09, agent "
                          "0000000000000008 since 2026-01-31T11:59:00Z\n"));
  port.order = Order::kShut;
  EXPECT_THAT(text(), testing::HasSubstr("\nswp1 is shut: no acknowledgement from 02:00:"));
  port.holds_since.reset();
  EXPECT_THAT(text(), testing::Not(testing::HasSubstr("acknowledgement")));
}

TEST(ShowText, SaysWhoSpeaksWhereItIsSomebodyElse) {
  const auto first_line = [](std::string_view transport) {
    const std::string text =
        *show_text(show_json({}, {}, kClock, {}, {.transport = transport}), {});
    return text.substr(0, text.find('\n'));
  };
  EXPECT_THAT(first_line("lldpd"), testing::EndsWith(", LLDP sent by lldpd"));
  EXPECT_THAT(first_line("none"), testing::EndsWith(", no LLDP sent (lldpd is not running)"));
  EXPECT_EQ(first_line("packet"), first_line(""));
  EXPECT_THAT(*stats_text(stats_json({}, "lldpd"), {}),
              testing::StartsWith("lldpd speaks: what went over the wire is in lldpcli"));
}

TEST(ShowText, SaysWhyRoleAutoCameOutAsItDid) {
  const auto text = [](std::string_view why) {
    return *show_text(show_json({.role = Role::kHost}, {}, kClock, {}, {.role_reason = why}), {});
  };
  EXPECT_THAT(text("it forwards nothing"),
              testing::HasSubstr("\nrole auto: a host, for it forwards nothing\n"));
  EXPECT_THAT(text(""), testing::Not(testing::HasSubstr("role auto")));
}

TEST(ShowText, NamesCompanionsThatFailAlone) {
  const std::string json = show_json({}, {}, kClock, {},
                                     {.companions = {{.key = "metrics.listen"},
                                                     {"snmp.agentx", "exit status 1"},
                                                     {"on-change", "bad\x1b word"}}});
  const std::string text = *show_text(json, {});
  EXPECT_THAT(text, testing::HasSubstr(
                        "\nsnmp.agentx failed: exit status 1\non-change failed: bad\\x1b word\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("metrics.listen")));
}

TEST(ShowText, SaysWhatIsSwitchedOffOnAPort) {
  core::Snapshot s{.ports = {{.name = "a", .up = true, .admin = core::AdminStatus::enabledRxOnly},
                             {.name = "b", .up = true, .admin = core::AdminStatus::disabled},
                             {.name = "c", .up = false}}};
  const std::string text = *show_text(show_json(s, {}, kClock), {});
  EXPECT_THAT(text, testing::HasSubstr("up, rx only"));
  EXPECT_THAT(text, testing::HasSubstr("up, off"));
  EXPECT_THAT(text, testing::HasSubstr("down "));
  EXPECT_EQ(nlohmann::json::parse(show_json(s, {}, kClock))["ports"][0]["admin"], "rx");
}

TEST(ShowText, HasColourOnlyWhenAskedFor) {
  const std::string json = show_json(leaf(), protection(), kClock);
  EXPECT_EQ(show_text(json, {})->find('\x1b'), std::string::npos);
  support::expect_golden(*show_text(json, {.colour = true}), "report/golden/show_colour.txt");
}

TEST(ShowText, IsCutToTheScreen) {
  core::Snapshot s = leaf();
  s.ports[0].neighbors[0].system_name = std::string(200, 'n');
  const auto text = show_text(show_json(s, protection(), kClock), {.width = 72});
  ASSERT_TRUE(text);
  const std::string table = text->substr(text->find("PORT "));
  for (const std::string& line : split_list(table, '\n')) EXPECT_LE(line.size(), 72U + 2) << line;
  EXPECT_THAT(table, testing::HasSubstr("nnn…  2 "));
}

TEST(ShowText, HeadingFitsInEightyColumnsWhateverItTells) {
  const auto has_room = [](const std::string& text) {
    for (const std::string& line : split_list(text.substr(0, text.find("PORT ")), '\n'))
      EXPECT_LE(line.size(), 80U) << line;
  };
  core::Snapshot s = leaf();
  s.alarms.clear();
  s.location.clear();
  s.system_name = "switch-12.row-7.hall-3.example.net";
  Protection p{.backend = "flower,dcb", .lossless = {}, .pfc_unverified = 2};
  for (const auto state : {Protection::State::kActive, Protection::State::kPartial,
                           Protection::State::kInactive, Protection::State::kFailed})
    for (const char* transport : {"packet", "lldpd", "none"})
      for (const unsigned place : {0U, 1U, 2U})
        for (const unsigned classes : {0U, 2U, 7U}) {
          s.rank = {Level::make(place).value(), chassis(1)};
          p.state = state;
          p.lossless.assign(classes, Priority::of<3>());
          has_room(*show_text(show_json(s, p, kClock, {}, {.transport = transport}), {}));
        }
  EXPECT_THAT(
      *show_text(show_json(s, p, kClock, {}, {.transport = "none"}), {}),
      testing::StartsWith("switch-12.row-7.hall-3.example.net: switch, level 1 (host)\n"
                          "  in the order by level 2 until all neighbors have acknowledged\n"
                          "  protection failed (flower,dcb, lossless 3 3 3 3 3 3 3)\n"
                          "  no LLDP sent (lldpd is not running)\n"));
}

TEST(ShowText, TableFitsInEightyColumnsWithLongNames) {
  core::Snapshot s = leaf();
  for (core::PortInfo& port : s.ports) {
    port.name = "enp129s0f1np1d" + std::to_string(port.ifindex.value() % 10);
    for (core::NeighborInfo& n : port.neighbors) {
      n.system_name = "switch-12.row-7.hall-3.example.net";
      n.port_id = port_id("FourHundredGigE0/0/0/12");
    }
  }
  const std::string text = *show_text(show_json(s, protection(), kClock), {.width = 80});
  const std::string table = text.substr(text.find("PORT "));
  EXPECT_THAT(table, testing::HasSubstr("enp129s0f1np1d7  up"));
  for (const std::string& line : split_list(table, '\n'))
    EXPECT_LE(std::ranges::count_if(line, [](char c) { return !continues_character(c); }), 80)
        << line;
}

TEST(ShowText, OneLongIdPadsNoOtherRow) {
  core::Snapshot s = leaf();
  const std::string before = *show_text(show_json(s, protection(), kClock), {});
  s.ports[0].neighbors[0].system_name = std::string(200, 'n');
  const std::string after = *show_text(show_json(s, protection(), kClock), {});
  std::vector<std::string> was = split_list(before, '\n');
  std::vector<std::string> is = split_list(after, '\n');
  ASSERT_EQ(was.size(), is.size());
  for (std::size_t i = 0; i < was.size(); ++i) {
    if (is[i].find("nnn") != std::string::npos) continue;
    EXPECT_EQ(is[i], was[i]);
  }
  EXPECT_THAT(after, testing::HasSubstr(std::string(200, 'n') + "  2"));
}

TEST(ShowText, NamesThePortByItsDescriptionWhereTheIdIsAnAddress) {
  core::Snapshot s = leaf();
  core::NeighborInfo& n = s.ports[0].neighbors[0];
  n.port_id = {{PortId::kMacAddress, std::string("\x02\0\0\0\0\x09", 6)}};
  EXPECT_THAT(*show_text(show_json(s, protection(), kClock), {}),
              testing::HasSubstr("02:00:00:00:00:09"));
  n.port_description = "enp1s0f0";
  const std::string text = *show_text(show_json(s, protection(), kClock), {});
  EXPECT_THAT(text, testing::HasSubstr("enp1s0f0"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("02:00:00:00:00:09")));
}

TEST(ShowJson, TellsTheLayersOfBothEnds) {
  core::Snapshot s = leaf();
  s.ports[0].layers = Layers{.near = Layer::of<3>(), .far = Layer::of<4>()};
  s.ports[0].neighbors[0].layers = Layers{.near = Layer::of<4>(), .far = Layer::of<2>()};
  const std::string text = show_json(s, protection(), kClock);
  const auto port = nlohmann::json::parse(text)["ports"][0];
  EXPECT_EQ(port["layers"].dump(), R"({"far":4,"near":3})");
  EXPECT_EQ(port["neighbors"][0]["layers"].dump(), R"({"far":2,"near":4})");
  EXPECT_THAT(*show_text(text, {}), testing::HasSubstr("up 3:4"));
}

TEST(ShowJson, TellsTheFrameOfWhichAllIsKnown) {
  core::Snapshot s = leaf();
  core::NeighborInfo& n = s.ports[0].neighbors[0];
  n.frame = {.scope = core::Scope::kNearestBridge,
             .source = {},
             .unchanged_for = 90s,
             .lldpdu = {1, 0xab}};
  const auto frame = [&] {
    const auto show = nlohmann::json::parse(show_json(s, protection(), kClock));
    return show["ports"][0]["neighbors"][0];
  };
  EXPECT_TRUE(frame()["source"].is_null()) << "lldpd does not tell it";
  n.frame->source = {2, 0, 0, 0, 0, 0x19};
  EXPECT_EQ(frame()["source"], "02:00:00:00:00:19");
  EXPECT_EQ(frame()["scope"], "nearest-bridge");
  EXPECT_EQ(frame()["unchanged_for"], 90);
  EXPECT_EQ(frame()["lldpdu"], "01ab");
}

TEST(ShowText, SaysWhatWasSetUntilTheNextReload) {
  EXPECT_THAT(*show_text(show_json(leaf(), protection(), kClock, {},
                                   {.set = {{"level", "2"}, {"ports", "swp*"}}}),
                         {}),
              testing::HasSubstr("set until the next reload: level = 2, ports = swp*\n"));
}

TEST(ShowText, FitsAScreensHeightAndSaysWhatDoesNot) {
  core::Snapshot s = leaf();
  for (std::uint8_t i = 0; i < 40; ++i)
    s.alarms.push_back({.code = core::AlarmCode::kSelfLoop, .port = "swp1", .text = "x"});
  const std::string json = show_json(s, protection(), kClock);
  const auto lines = [&](std::size_t height) {
    return split_list(*show_text(json, {.width = 100, .height = height}), '\n');
  };
  const std::size_t all = split_list(*show_text(json, {}), '\n').size();
  EXPECT_EQ(lines(1000).size(), all);
  for (std::size_t height = 12; height < all; ++height) EXPECT_LE(lines(height).size(), height);
  const auto few = lines(12);
  EXPECT_THAT(few[4], testing::HasSubstr("ALARM and 38 more: see lldp-level show"));
  EXPECT_THAT(lines(8).back(), testing::HasSubstr("more rows"));
}

TEST(ShowText, ALineAsLongAsTheScreenIsWideTakesOneRow) {
  const std::string json = show_json(leaf(), protection(), kClock);
  const auto lines = split_list(*show_text(json, {}), '\n');
  const std::size_t width = lines.front().size();
  const auto fits = [&](std::size_t at_width) {
    const auto text = show_text(json, {.width = at_width, .height = lines.size()});
    return text->find("more rows") == text->npos;
  };
  EXPECT_TRUE(fits(width));
  EXPECT_FALSE(fits(width - 1));
}

TEST(ShowText, ColourTakesNoRoomOnTheScreen) {
  core::Snapshot s = leaf();
  for (std::uint8_t i = 0; i < 9; ++i)
    s.alarms.push_back({.code = core::AlarmCode::kSelfLoop, .port = "swp1", .text = "x"});
  const std::string json = show_json(s, protection(), kClock);
  for (std::size_t width : {30U, 50U, 80U})
    for (std::size_t height = 1; height < 60; ++height) {
      const std::string text = *show_text(json, {.colour = true, .width = width, .height = height});
      EXPECT_EQ(std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), ""),
                *show_text(json, {.width = width, .height = height}))
          << width << " x " << height;
    }
}

TEST(ShowText, TimesToLiveRunOn) {
  const std::string json = show_json(leaf(), protection(), kClock);
  EXPECT_THAT(*show_text(json, {}, 90s), testing::HasSubstr("  7 s"));
  EXPECT_THAT(*show_text(json, {}, 98s), testing::HasSubstr("  0 s"));
}

TEST(ShowText, WrongShapeIsAnError) {
  for (const char* json : {"", "[]", "{}", R"({"device":7,"alarms":[]})"}) {
    const auto text = show_text(json, {});
    ASSERT_FALSE(text) << json;
    EXPECT_EQ(text.error().what,
              "the daemon's answer is not understood: is it of another version?");
  }
}

TEST(LocationLabels, AreValuesOfLabels) {
  EXPECT_EQ(label_value("02:00:00:00:00:07"), "02-00-00-00-00-07");
  EXPECT_EQ(label_value("leaf_7.pod-1"), "leaf_7.pod-1");
  for (const std::string& id :
       {std::string(), std::string("leaf 7"), std::string("-leaf"), std::string("leaf."),
        std::string("a\nb=c"), std::string("\xc3\xa9"), std::string(64, 'a')}) {
    const std::string value = label_value(id);
    EXPECT_THAT(value, testing::MatchesRegex("id-[0-9a-f]*")) << id;
    EXPECT_EQ(value.size(), 19U);
  }
  EXPECT_NE(label_value("leaf 7"), label_value("leaf 8"));
}

TEST(LocationJson, TellsWhatATierWasAndWhatItJoins) {  // docs/develop/rules.md P7
  const auto id = [](const char* name) { return ChassisId{{ChassisId::kLocal, name}}; };
  const Tiers tiers{{Level::of<1>(), id("a"), 8}, {Level::of<2>(), id("a"), 64}};
  const core::TierNote notes[] = {{.level = Level::of<2>(), .was = id("b"), .joins = id("c")}};
  std::string text;
  JsonWriter(text).open('{').member("location", tiers, notes).close('}');
  EXPECT_EQ(text, R"({"location":{"tiers":[{"level":1,"id":"a"},)"
                  R"({"level":2,"id":"a","age_minutes":64,"was":"b","joins":"c"}]}})");
}

TEST(JsonWriter, EscapesWhatJsonDoesNotTakeAsItIs) {
  std::string text;
  JsonWriter(text)
      .open('[')
      .value("")
      .value("\"a\\b\\\\\"")
      .value("\x01\nc\x1f d\x7f\u00e9")
      .close(']');
  EXPECT_EQ(text, R"(["","\"a\\b\\\\\"","\u0001\u000ac\u001f d)"
                  "\x7f\u00e9\"]");
  EXPECT_EQ(nlohmann::json::parse(text),
            (nlohmann::json{"", "\"a\\b\\\\\"", "\x01\nc\x1f d\x7f\u00e9"}));
}

TEST(LocationLabels, TakeTheKeysOfAScheduler) {
  const std::string show =
      R"({"device":{"location":{"tiers":[{"level":1,"id":"02:00:00:00:00:01"},{"level":3,"id":"x"}]}}})";
  EXPECT_EQ(*location_labels(show), "lldp-level.tier-1=02-00-00-00-00-01\nlldp-level.tier-3=x\n");
  EXPECT_EQ(*location_labels(show, {.prefix = "fabric.topograph.run/tier-", .first = 0}),
            "fabric.topograph.run/tier-0=02-00-00-00-00-01\nfabric.topograph.run/tier-2=x\n");
  for (const char* prefix : {"tier", "", "a.b-c/t_", "a/", "a/9"})
    EXPECT_TRUE(can_begin_a_key(prefix)) << prefix;
  for (const char* prefix :
       {"/tier", "A.b/t", "a b", "a=b", "-a", "a/b/c", "a\nb", "a./t", "\xc3\xa9"})
    EXPECT_FALSE(can_begin_a_key(prefix)) << prefix;
  EXPECT_TRUE(can_begin_a_key(std::string(60, 'a')));
  EXPECT_FALSE(can_begin_a_key(std::string(61, 'a')));
}

TEST(StatsText, NamesEveryCounter) {
  const PortStatistics ports[] = {{.name = "swp1", .counters = {.statsFramesOutTotal = 12}},
                                  {.name = "swp2", .counters = {.statsFramesInTotal = 1'000'000}}};
  const auto text = stats_text(stats_json(ports), {});
  ASSERT_TRUE(text);
  support::expect_golden(*text, "report/golden/stats.txt");
}

TEST(CheckLine, CountsTheNeighborsOfAllPorts) {
  core::Snapshot two{.ports = {{.name = "swp1"}, {.name = "swp2"}}};
  two.ports[0].neighbors.resize(2);
  two.ports[1].neighbors.resize(1);
  const auto verdict = check(show_json(two, protection(), kClock));
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->line, testing::EndsWith(" neighbors=3"));
}

TEST(CheckLine, WarnsOfCompanionsThatFail) {
  const auto verdict_with = [](Companion second) {
    return check(show_json({.role = Role::kHost}, {}, kClock, {},
                           {.companions = {{.key = "metrics.listen"}, std::move(second)}}))
        .value();
  };
  EXPECT_EQ(verdict_with({.key = "on-change"}).status, Status::kOk);
  const Verdict verdict = verdict_with({.key = "on-change", .trouble = "exit status 1"});
  EXPECT_EQ(verdict.status, Status::kWarning);
  EXPECT_THAT(verdict.line, testing::HasSubstr(", on-change failed: exit status 1 | level="));
}

TEST(ShowText, NamesEachChainAndItsEvidence) {
  Protection learned = protection();
  learned.classes = {{qos::parse_chains("roce")->at(0), "from swp1's neighbor"},
                     {qos::parse_chains("4:dscp4>lossy")->at(0), "from qos.lossless"}};
  const auto text = show_text(show_json(leaf(), learned, kClock), {});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text,
              testing::HasSubstr("\n  lossless 3 (DSCP 24-31) > 2 (DSCP 19), from swp1's neighbor\n"
                                 "  lossless 4 (DSCP 4) > lossy, from qos.lossless\n"));
}

TEST(ShowText, SaysThatNoClassIsKnown) {
  Protection unknown{.backend = "bpf", .classes_unknown = true};
  const std::string json = show_json(leaf(), unknown, kClock);
  const auto text = show_text(json, {});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, testing::HasSubstr("protection inactive: no lossless class is known (bpf)"));
  EXPECT_THAT(*text, testing::HasSubstr("lldp-level set qos.lossless roce"));
}

TEST(ShowText, SaysWhyProtectionIsNotWhole) {
  Protection partial = protection();
  for (int i = 1; i <= 10; ++i)
    partial.reasons.push_back(
        {"swp" + std::to_string(i), {"remap", "missing", "its order is not known"}});
  const std::string text = *show_text(show_json(leaf(), partial, kClock), {});
  EXPECT_THAT(text,
              testing::HasSubstr("\n  not protected: swp8: remap missing: its order is not known\n"
                                 "  and 2 more: see --json\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("swp9:")));
}

TEST(ShowText, SaysThatPfcIsNotVerified) {
  Protection active = protection();
  active.state = Protection::State::kActive;
  EXPECT_THAT(*show_text(show_json(leaf(), active, kClock), {}),
              testing::HasSubstr("protection active (bpf, lossless 5 6)"));
  active.pfc_unverified = 2;
  EXPECT_THAT(*show_text(show_json(leaf(), active, kClock), {}),
              testing::HasSubstr("protection active (bpf, lossless 5 6, PFC not verified)"));
  // Of what is not whole that is the least, and of what is idle it means nothing.
  for (const auto state : {Protection::State::kPartial, Protection::State::kInactive}) {
    active.state = state;
    EXPECT_THAT(*show_text(show_json(leaf(), active, kClock), {}),
                testing::Not(testing::HasSubstr("PFC not verified")));
  }
}

}  // namespace
}  // namespace lldp::report
