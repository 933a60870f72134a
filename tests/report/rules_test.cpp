// SPDX-License-Identifier: Apache-2.0
// What `rules` prints, as JSON and as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/report/report.hpp"
#include "agent/report/text.hpp"
#include "base/utf8.hpp"
#include "tests/support/golden.hpp"

namespace lldp::report {
namespace {

/// A spine-side port that turned packets, a host's, a silent one, one that was refused, one found.
Rules leaf_rules() {
  using Installed = PortRules::Installed;
  const qos::Policy policy;
  const auto wanted = [&](Order order) { return qos::compile(policy, {.order = order}); };
  PortRules refused{.name = "swp10",
                    .wanted = wanted(Order::kUp),
                    .installed = Installed::kDiffers,
                    .changes = {"replace classify", "add remap"},
                    .error = "swp10: replace classify: Operation not permitted"};
  PortRules up{.name = "swp1", .wanted = wanted(Order::kUp), .installed = Installed::kYes};
  up.parts = {{"classify", "done", ""},
              {"remap", "done", ""},
              {"pfc", "unsupported", "the driver does not tell"}};
  refused.parts = {{"classify", "bypassed", "an XDP program (7) is attached"},
                   {"remap", "missing", "not there"},
                   {"pfc", "done", ""}};
  refused.restored = 3;
  up.bounces->at(5) = 1'234'567;
  up.bounces->at(6) = 8;
  return {
      .backend = "bpf",
      .description = "clsact, kept in /sys/fs/bpf/lldp-level",
      .policy = policy,
      .ports = {up,
                {.name = "swp2",
                 .wanted = wanted(Order::kDown),
                 .installed = Installed::kYes,
                 .parts = {{"classify", "done", ""}, {"remap", "done", ""}, {"pfc", "done", ""}}},
                {.name = "swp3", .wanted = wanted(Order::kUnknown), .changes = {"add classify"}},
                {.name = "swp4",
                 .wanted = wanted(Order::kUnknown),
                 .installed = Installed::kDiffers,
                 .changes = {"replace classify", "remove remap"}},
                refused}};
}

TEST(RulesJson, IsAsTheInterfaceSays) {
  support::expect_golden(nlohmann::ordered_json::parse(rules_json(leaf_rules())).dump(2) + "\n",
                         "report/golden/rules.json");
}

TEST(RulesJson, CountsWhatTheHardwareCountsByPriority) {
  Rules rules = leaf_rules();
  const auto first = [&] { return nlohmann::json::parse(rules_json(rules))["ports"][0]; };
  EXPECT_TRUE(first().at("pauses").is_null());
  EXPECT_TRUE(first().at("frames").is_null());
  rules.ports[0].carried.pauses.received[5] = 7;
  rules.ports[0].carried.pauses.sent[6] = 8;
  rules.ports[0].carried.frames.sent[6] = 0;
  const auto pauses = first().at("pauses");
  ASSERT_EQ(pauses.size(), 8U);
  EXPECT_EQ(pauses[5].dump(), R"({"priority":5,"received":7,"sent":null})");
  EXPECT_EQ(pauses[6].dump(), R"({"priority":6,"received":null,"sent":8})");
  EXPECT_EQ(first().at("frames")[6].dump(), R"({"priority":6,"received":null,"sent":0})");
  EXPECT_TRUE(first().at("paused_microseconds").is_null());
  rules.ports[0].carried.paused_microseconds.sent[5] = 9;
  rules.ports[0].carried.last_pause_microseconds.received[5] = 1'795'946'546'931'415;
  EXPECT_EQ(first().at("paused_microseconds")[5].dump(),
            R"({"priority":5,"received":null,"sent":9})");
  EXPECT_EQ(first().at("last_pause_microseconds")[5].dump(),
            R"({"priority":5,"received":1795946546931415,"sent":null})");
  EXPECT_TRUE(first().at("lost").is_null());
  rules.ports[0].carried.lost.frames.received[5] = 3;
  rules.ports[0].carried.lost.frames.sent[5] = 0;
  rules.ports[0].carried.lost.ago.received[5] = std::chrono::minutes(1);
  EXPECT_EQ(first().at("lost")[5].dump(),
            R"({"priority":5,"received":3,"received_ago":60,"sent":0,"sent_ago":null})");
}

TEST(RulesJson, TellsNoBouncesWhileWhoCountsThemIsAway) {
  Rules rules = leaf_rules();
  rules.ports[0].bounces.reset();
  EXPECT_EQ(nlohmann::json::parse(rules_json(rules))["ports"][0]["bounces"].dump(), "{}");
}

TEST(RulesText, IsARowPerPort) {
  const auto text = rules_text(rules_json(leaf_rules()), {});
  ASSERT_TRUE(text) << to_string(text.error());
  support::expect_golden(*text, "report/golden/rules.txt");
}

TEST(RulesText, LastColumnIsNeverCut) {
  Rules rules = leaf_rules();
  rules.ports.front().name = "enp129s0f1np1d1";
  const std::string json = rules_json(rules);
  const auto last_column = [&](std::size_t width) {
    const std::string text = *rules_text(json, {.width = width});
    const std::string table = text.substr(text.find("PORT "));
    const auto heading = static_cast<std::ptrdiff_t>(table.find("PACKETS"));
    const std::ptrdiff_t from = std::count_if(table.begin(), table.begin() + heading,
                                              [](char c) { return !continues_character(c); });
    std::string all;
    for (std::string_view rest = table; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      std::ptrdiff_t columns = 0;
      std::size_t at = 0;
      for (; at < line.size() && (columns < from || continues_character(line[at])); ++at)
        columns += !continues_character(line[at]);
      if (at < line.size()) all += std::string(line.substr(at)) + ' ';
      rest.remove_prefix(line.size() + 1);
    }
    return all;
  };
  const std::string whole = last_column(0);
  EXPECT_THAT(whole, testing::HasSubstr("5:dscp43 -> 6:dscp51, 6:dscp51 -> 0:dscp0"));
  for (const std::size_t width : {20U, 40U, 60U, 80U, 100U, 200U})
    EXPECT_EQ(last_column(width), whole) << width;
}

TEST(RulesText, SaysWhyThereIsNoDataPlane) {
  EXPECT_EQ(rules_text(rules_json({.backend = "bpf", .error = "backend bpf: no: do this"}), {}),
            "ERROR backend bpf: no: do this\n"
            "bpf, lossless 5:dscp43 6:dscp51, then 0:dscp0\n"
            "no ports\n");
  auto unknown = nlohmann::json::parse(rules_json({.backend = "bpf"}));
  unknown["lossless"] = nlohmann::json::array();
  EXPECT_EQ(rules_text(unknown.dump(), {}), "bpf, lossless none, then 0:dscp0\nno ports\n");
  EXPECT_EQ(rules_text(R"({"version":1,"rules":{}})", {}).error().what,
            "the daemon's answer is not understood: is it of another version?");
}

}  // namespace
}  // namespace lldp::report
