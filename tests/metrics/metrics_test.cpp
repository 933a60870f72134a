// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "agent/report/report.hpp"
#include "tests/metrics/exposition.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/places.hpp"

namespace lldp::metrics {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::chrono_literals;

std::string read(const std::string& name) {
  std::ifstream in(support::source_dir() + "/tests/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The device of tests/report, whose first port has a name of the switch's own.
std::string show_with_alias() {
  std::string show = read("report/golden/show.json");
  const std::string_view none = R"("alias": null)";
  return show.replace(show.find(none), none.size(), R"("alias": "etp1")");
}

/// And a rise waits for it.
std::string show_that_waits() {
  std::string show = show_with_alias();
  const std::string_view none = R"("waits_since": null)";
  return show.replace(show.find(none), none.size(), R"("waits_since": "2026-01-31T12:00:00Z")");
}

/// The rules of tests/report, by a back end that counts what the first port loses.
std::string counted_rules() {
  std::string rules = read("report/golden/rules.json");
  const auto set = [&rules](std::string_view none, std::string_view counted) {
    rules.replace(rules.find(none), none.size(), counted);
  };
  set(R"("lost": null)", R"("lost": [{"priority": 0, "received": 9, "sent": 9},
                                   {"priority": 5, "received": 12, "sent": 0},
                                   {"priority": 6, "received": null, "sent": 3}])");
  set(R"("pauses": null)", R"("pauses": [{"priority": 0, "received": 9, "sent": 9},
                                   {"priority": 5, "received": 7, "sent": 0},
                                   {"priority": 6, "received": null, "sent": 8}])");
  set(R"("paused_microseconds": null)",
      R"("paused_microseconds": [{"priority": 5, "received": 1500000, "sent": null}])");
  set(R"("last_pause_microseconds": null)",
      R"("last_pause_microseconds": [{"priority": 5, "received": 1795946546931400, "sent": null}])");
  set(R"("unclassed": null)", R"("unclassed": {"26": 4})");
  return rules;
}

/// The device of tests/report: names, none, two on a port, hostile names, alarms.
Answers leaf() {
  const report::PortStatistics counters[] = {
      {.name = "swp1", .counters = {.statsFramesOutTotal = 3, .statsFramesInTotal = 1ULL << 40}},
      {.name = "swp2", .counters = {.statsFramesDiscardedTotal = 7, .statsAgeoutsTotal = 1}}};
  return {
      .info = R"({"version":"0.1.0"})",
      .show = show_that_waits(),
      .stats = report::stats_json(
          counters, "packet",
          report::ProcessStatistics{.started = std::chrono::system_clock::time_point(1769860800s),
                                    .cpu = 1250ms,
                                    .resident_octets = 5 << 20}),
      .rules = counted_rules()};
}

/// A driver that counts what its port is paused, beside a back end that counts for another port.
const ethtool::PriorityCounts* counts_of(const std::string& port, unsigned, std::uint64_t) {
  static const ethtool::PriorityCounts kCounts = [] {
    ethtool::PriorityCounts counts;
    counts.pauses.received[5] = 41;
    counts.pauses.sent[5] = 0;
    counts.paused_microseconds.received[5] = 2'500'000;
    counts.paused_microseconds.sent[5] = 0;
    return counts;
  }();
  return port == "swp2" ? &kCounts : nullptr;
}

std::string text_of(const Answers& answers) {
  const auto made = families(answers, counts_of);
  return made ? prometheus::TextSerializer().Serialize(*made) : to_string(made.error());
}

TEST(Metrics, Golden) {
  const std::string text = text_of(leaf());
  EXPECT_THAT(support::faults_of_exposition(text), IsEmpty());
  support::expect_golden(text, "metrics/golden/metrics.txt");
}

TEST(Metrics, FamiliesAreTheSameForAnEmptyDevice) {
  const auto names = [](const Answers& answers) {
    std::vector<std::string> out;
    const auto made = families(answers);
    for (const auto& family : made.value()) out.push_back(family.name);
    return out;
  };
  const Answers empty{
      .info = R"({"version":"0.1.0"})",
      .show = report::show_json({}, {}, {}),
      .stats = report::stats_json({}, "packet", report::ProcessStatistics{}),
      .rules = R"({"version":1,"ports":[]})",
  };
  EXPECT_EQ(names(empty), names(leaf()));
  EXPECT_THAT(text_of(empty), Not(HasSubstr("\nlldp_level_device_level ")));
  EXPECT_THAT(support::faults_of_exposition(text_of(empty)), IsEmpty());
}

TEST(Metrics, NeighborsThatCallThemselvesTheSameCannotBreakTheScrape) {
  core::NeighborInfo n{.level = Level::of<2>()};
  core::NeighborInfo same = n;
  same.ttl = 7;
  Answers answers = leaf();
  answers.show = report::show_json({.ports = {{.name = "swp1", .neighbors = {n, same}}}}, {}, {});
  const std::string text = text_of(answers);
  EXPECT_THAT(support::faults_of_exposition(text), IsEmpty());
  EXPECT_THAT(text, HasSubstr("lldp_level_port_neighbors{port=\"swp1\"} 2\n"));
}

TEST(Metrics, BouncesAreLeftOutWhileWhoCountsThemIsAway) {
  Answers answers = leaf();
  auto rules = nlohmann::json::parse(answers.rules);
  rules["ports"][0]["bounces"] = nlohmann::json::object();
  answers.rules = rules.dump();
  const std::string text = text_of(answers);
  EXPECT_THAT(text, Not(HasSubstr("lldp_level_bounces_total{port=\"swp1\"")));
  EXPECT_THAT(text, HasSubstr("lldp_level_bounces_total{port=\"swp2\""));
  EXPECT_THAT(text, HasSubstr("lldp_level_rules_restored_total{port=\"swp1\"} 0\n"));
}

TEST(Metrics, PausesAreTheDriversWhereTheBackEndTellsNone) {
  ethtool::PriorityCounts counts;
  counts.pauses.received = {0, {}, {}, 0, {}, 41, {}, 2};
  counts.pauses.sent[5] = 0;
  counts.paused_microseconds.received[5] = 2'500'000;
  counts.paused_microseconds.received[3] = 9;
  Answers answers = leaf();
  auto show = nlohmann::json::parse(answers.show);
  for (auto& port : show["ports"]) port["pfc_enabled"] = {5};
  answers.show = show.dump();
  std::vector<std::string> asked;
  const auto made = families(answers, [&](const std::string& port, unsigned, std::uint64_t state) {
    asked.push_back(port + " " + std::to_string(state));
    return port == "swp2" ? &counts : nullptr;
  });
  ASSERT_TRUE(made);
  EXPECT_THAT(asked, testing::Not(testing::Contains("swp1 32"))) << "its back end tells them";
  EXPECT_THAT(asked, testing::Contains("swp2 32"));
  const std::string text = prometheus::TextSerializer().Serialize(*made);
  EXPECT_THAT(support::faults_of_exposition(text), IsEmpty());
  const auto has = [&](const std::string& sample) {
    EXPECT_THAT(text, HasSubstr("lldp_level_pfc_" + sample + "\n"));
  };
  has(R"(pauses_total{port="swp2",priority="5",direction="received"} 41)");
  has(R"(pauses_total{port="swp2",priority="5",direction="sent"} 0)");
  has(R"(pauses_total{port="swp2",priority="7",direction="received"} 2)");
  has(R"(paused_seconds_total{port="swp2",priority="5",direction="received"} 2.5)");
  EXPECT_THAT(text, Not(HasSubstr(R"(port="swp2",priority="0")"))) << "no PFC, and never paused";
  EXPECT_THAT(text, HasSubstr(R"(pauses_total{port="swp1",priority="5",direction="received"} 7)"));
}

TEST(Metrics, TimesOfPausesAreTheDriversWhereTheBackEndTellsFramesAlone) {
  ethtool::PriorityCounts counts;
  counts.pauses.received[5] = 41;
  counts.paused_microseconds.received[5] = 2'500'000;
  Answers answers = leaf();
  auto rules = nlohmann::json::parse(answers.rules);
  rules["ports"][0]["paused_microseconds"] = nullptr;
  rules["ports"][0].erase("last_pause_microseconds");  // as an older daemon
  answers.rules = rules.dump();
  const auto made = families(answers, [&](const std::string& port, unsigned, std::uint64_t) {
    return port == "swp1" ? &counts : nullptr;
  });
  ASSERT_TRUE(made);
  const std::string text = prometheus::TextSerializer().Serialize(*made);
  const std::string labels = R"({port="swp1",priority="5",direction="received"} )";
  EXPECT_THAT(text, HasSubstr("lldp_level_pfc_pauses_total" + labels + "7\n"));
  EXPECT_THAT(text, HasSubstr("lldp_level_pfc_paused_seconds_total" + labels + "2.5\n"));
  EXPECT_THAT(text, Not(HasSubstr("last_pause_timestamp_seconds{")));
}

TEST(Metrics, PacketsThatTurnedInNoClassAreToldByTheirDscp) {
  Answers answers = leaf();
  auto rules = nlohmann::json::parse(answers.rules);
  rules["ports"][0]["unclassed"] = {{"26", 7}, {"30", 1}};
  answers.rules = rules.dump();
  const std::string text = text_of(answers);
  EXPECT_THAT(text, HasSubstr("lldp_level_turned_unclassed_total{port=\"swp1\",dscp=\"26\"} 7\n"));
  EXPECT_THAT(text, Not(HasSubstr("lldp_level_turned_unclassed_total{port=\"swp2\"")));
}

TEST(Metrics, StateThatIsNotKnownHereIsToldAllTheSame) {
  Answers answers = leaf();
  const std::size_t at = answers.show.find("\"partial\"");
  answers.show.replace(at, 9, "\"upside-down\"");
  const std::string text = text_of(answers);
  EXPECT_THAT(text, HasSubstr("lldp_level_protection_state{state=\"partial\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("lldp_level_protection_state{state=\"upside-down\"} 1\n"));
}

TEST(Metrics, AnswerOfAnotherShapeIsAnError) {
  for (std::string Answers::*part :
       {&Answers::info, &Answers::show, &Answers::stats, &Answers::rules}) {
    for (const char* wrong : {"", "{}", "[]", R"({"ports":[{}],"version":7})"}) {
      Answers answers = leaf();
      answers.*part = wrong;
      const auto made = families(answers);
      ASSERT_FALSE(made) << wrong;
      EXPECT_EQ(to_string(made.error()),
                "the daemon's answer is not understood: is it of another version?");
    }
  }
}

TEST(Exposition, FaultsAreFound) {
  using support::faults_of_exposition;
  const std::string head = "# HELP a_total x\n# TYPE a_total counter\n";
  EXPECT_THAT(faults_of_exposition(head + "a_total{b=\"\\\"\\\\\\n\"} 1\n"), IsEmpty());
  for (const char* wrong :
       {"a_total{b=\"\"\"} 1\n", "a_total{b=\"\\x\"} 1\n", "a_total 1\na_total 2\n", "b 1\n",
        "a_total\n", "a_total 1", "# HELP a_total x\n", "# TYPE b counter\n"})
    EXPECT_THAT(faults_of_exposition(head + wrong), Not(IsEmpty())) << wrong;
}

}  // namespace
}  // namespace lldp::metrics
