// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <lldp_level_sim.h>

#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kMicrosecond = 1'000'000;

using Cables = std::vector<std::pair<std::string, std::string>>;

/// A scenario of hosts and switches; ports are numbered in the order of the cables.
std::string scenario_of(const std::vector<std::string>& hosts,
                        const std::vector<std::string>& switches, const Cables& cables,
                        const std::string& more) {
  std::map<std::string, std::vector<std::string>> ports;
  std::string links;
  for (const auto& [a, b] : cables) {
    for (const std::string& node : {a, b})
      ports[node].push_back('"' + std::to_string(ports[node].size() + 1) + '"');
    links += std::string(links.empty() ? "" : ",") + R"({"source": ")" + a + R"(", "target": ")" +
             b + R"(", "ports": {")" + a + "\": " + ports[a].back() + ", \"" + b +
             "\": " + ports[b].back() + "}}";
  }
  std::string nodes;
  for (const auto* names : {&hosts, &switches})
    for (const std::string& name : *names) {
      std::string own;
      for (const std::string& port : ports[name]) own += (own.empty() ? "" : ",") + port;
      nodes += std::string(nodes.empty() ? "" : ",") + R"({"id": ")" + name + R"(", "role": ")" +
               (names == &hosts ? "host" : "switch") + R"(", "ports": [)" + own + "]}";
    }
  return R"({"fabric": {"nodes": [)" + nodes + R"(], "links": [)" + links + "]}" + more + "}";
}

/// Two leaves, two spines, two hosts at each leaf.
std::string scenario(const std::string& more = "") {
  return scenario_of({"h1", "h2", "h3", "h4"}, {"leaf1", "leaf2", "spine1", "spine2"},
                     {{"h1", "leaf1"},
                      {"h2", "leaf1"},
                      {"h3", "leaf2"},
                      {"h4", "leaf2"},
                      {"leaf1", "spine1"},
                      {"leaf1", "spine2"},
                      {"leaf2", "spine1"},
                      {"leaf2", "spine2"}},
                     more);
}

struct Destroy {
  void operator()(lls_simulation* s) const { EXPECT_EQ(lls_destroy(s), LLS_OK); }
};
using Simulation = std::unique_ptr<lls_simulation, Destroy>;

Simulation made(const std::string& text = scenario()) {
  char error[256] = "x";
  Simulation s(lls_create(text.c_str(), nullptr, error, sizeof error));
  EXPECT_STREQ(error, "");
  return s;
}

lls_flow flow(std::uint32_t from, std::uint32_t to, std::uint64_t octets) {
  lls_flow f{};
  f.size = sizeof f;
  f.from = from;
  f.to = to;
  f.octets = octets;
  return f;
}

TEST(Library, AFlowTakesWhatItsLinksTake) {
  const Simulation s = made();
  ASSERT_TRUE(s);
  EXPECT_EQ(lls_api_version(), std::uint32_t{LLS_API_VERSION});
  ASSERT_EQ(lls_hosts(s.get()), 4U);
  EXPECT_STREQ(lls_host_name(s.get(), 2), "h3");
  EXPECT_EQ(lls_host(s.get(), "h3"), 2U);
  std::uint64_t number = 7;
  const lls_flow f = flow(0, 2, 10'000);
  ASSERT_EQ(lls_send(s.get(), &f, &number), LLS_OK);
  EXPECT_EQ(number, 0U);
  EXPECT_EQ(lls_finished(s.get(), number), LLS_FOREVER);
  ASSERT_EQ(lls_run_until(s.get(), LLS_FOREVER), LLS_IDLE);
  // 10 frames of 1048 octets at 80 ps one after the other, the last over four links of 1 us.
  constexpr std::uint64_t kFct = (10 + 3) * 1048 * 80 + 4 * kMicrosecond;
  EXPECT_EQ(lls_finished(s.get(), number), kFct);
  EXPECT_EQ(lls_now(s.get()), kFct);
  lls_totals totals{};
  totals.size = sizeof totals;
  ASSERT_EQ(lls_get_totals(s.get(), &totals), LLS_OK);
  EXPECT_EQ(totals.packet_hops, 40U);
  EXPECT_EQ(totals.delivered_octets, 10U * 1048);
  EXPECT_EQ(totals.flows, 1U);
  EXPECT_EQ(totals.unfinished, 0U);
}

struct Relay {
  std::vector<std::uint64_t> times{};
  std::uint32_t at = 0;
};
void pass_on(lls_simulation* s, std::uint64_t, void* user) {
  auto& relay = *static_cast<Relay*>(user);
  relay.times.push_back(lls_now(s));
  if (relay.times.size() == 100) return;
  lls_flow f = flow(relay.at, (relay.at + 1) % 4, 5000);
  relay.at = f.to;
  f.done = pass_on;
  f.user = user;
  EXPECT_EQ(lls_send(s, &f, nullptr), LLS_OK) << lls_error(s);
}

TEST(Library, CallbacksSend) {
  std::vector<Relay> relays(2);
  for (Relay& relay : relays) {
    const Simulation s = made();
    pass_on(s.get(), 0, &relay);
    EXPECT_EQ(lls_run_until(s.get(), LLS_FOREVER), LLS_IDLE);
    EXPECT_EQ(relay.times.size(), 100U);
    EXPECT_EQ(relay.times.back(), lls_now(s.get()));
  }
  EXPECT_EQ(relays[0].times, relays[1].times);
  // h1 to h2 is over two links, h2 to h3 over four.
  EXPECT_EQ(relays[0].times[1], (5U + 1) * 1048 * 80 + 2 * kMicrosecond);
  const std::uint64_t second = relays[0].times[2] - relays[0].times[1];
  EXPECT_GE(second, (5U + 3) * 1048 * 80 + 4 * kMicrosecond);
  EXPECT_LE(second, (5U + 3) * 1048 * 80 + 4 * kMicrosecond + 64 * 80) << "an ACK of the first";
}

TEST(Library, MomentsComeInTheirOrderAndMayAskForMore) {
  struct Log {
    std::vector<std::uint64_t> at{};
    int left = 3;
  } log;
  const auto again = [](lls_simulation* s, void* user) {
    auto& l = *static_cast<Log*>(user);
    l.at.push_back(lls_now(s));
  };
  const auto first = [](lls_simulation* s, void* user) {
    auto& l = *static_cast<Log*>(user);
    l.at.push_back(lls_now(s));
    EXPECT_EQ(
        lls_at(
            s, 1,
            [](lls_simulation* t, void* u) { static_cast<Log*>(u)->at.push_back(lls_now(t)); },
            user),
        LLS_OK);
  };
  const Simulation s = made();
  EXPECT_EQ(lls_at(s.get(), 500 * kMicrosecond, again, &log), LLS_OK);
  EXPECT_EQ(lls_at(s.get(), 7, first, &log), LLS_OK);
  EXPECT_EQ(lls_run_until(s.get(), 7), LLS_OK);
  EXPECT_THAT(log.at, ElementsAre(7, 7)) << "a time that is over is now";
  EXPECT_EQ(lls_run_until(s.get(), LLS_FOREVER), LLS_IDLE);
  EXPECT_THAT(log.at, ElementsAre(7, 7, 500 * kMicrosecond));
  EXPECT_EQ(lls_run_until(s.get(), 600 * kMicrosecond), LLS_OK);
  EXPECT_EQ(lls_now(s.get()), 600 * kMicrosecond) << "time passes though nothing happens";
}

TEST(Library, StopsWhenItIsTold) {
  const Simulation s = made();
  lls_flow f = flow(0, 2, 1'000'000);
  f.done = [](lls_simulation* t, std::uint64_t, void*) { lls_stop(t); };
  std::uint64_t number = 0;
  ASSERT_EQ(lls_send(s.get(), &f, &number), LLS_OK);
  lls_stop(s.get());  // no run is under way
  EXPECT_EQ(lls_run_until(s.get(), 50 * kMicrosecond), LLS_OK);
  EXPECT_EQ(lls_run_until(s.get(), 5000 * kMicrosecond), LLS_STOPPED);
  EXPECT_EQ(lls_now(s.get()), lls_finished(s.get(), number));
  EXPECT_EQ(lls_run_until(s.get(), 5000 * kMicrosecond), LLS_OK);
  EXPECT_EQ(lls_now(s.get()), 5000 * kMicrosecond);
}

TEST(Library, WhatIsCutIntoPiecesIsTheSame) {
  const auto digest = [](std::uint64_t piece) {
    const Simulation s = made();
    for (std::uint32_t h = 0; h < 4; ++h) {
      const lls_flow f = flow(h, (h + 2) % 4, 300'000);
      EXPECT_EQ(lls_send(s.get(), &f, nullptr), LLS_OK);
    }
    for (std::uint64_t t = piece; t < 200 * kMicrosecond; t += piece) lls_run_until(s.get(), t);
    EXPECT_EQ(lls_run_until(s.get(), LLS_FOREVER), LLS_IDLE);
    EXPECT_EQ(lls_run_until(s.get(), 300 * kMicrosecond), LLS_OK);  // ACKs have come, too
    lls_totals totals{};
    totals.size = sizeof totals;
    lls_get_totals(s.get(), &totals);
    return totals.digest;
  };
  const std::uint64_t whole = digest(LLS_FOREVER / 2);
  EXPECT_EQ(digest(777'777), whole);
  std::vector<std::uint64_t> several(2);
  std::thread other([&] { several[0] = digest(333'333); });  // nothing is shared
  several[1] = digest(1'234'567);
  other.join();
  EXPECT_THAT(several, Each(whole));
}

/// CASE 1 of the 802.1 proposal, two flows and one, in one lossless priority.
const std::string kTwoPlusOne = [] {
  Cables cables = {
      {"x1", "leaf2"}, {"x2", "leaf2"}, {"y", "leaf3"}, {"x4", "leaf4"}, {"y1", "leaf1"}};
  for (const char* leaf : {"leaf1", "leaf2", "leaf3", "leaf4"})
    for (const char* spine : {"spine1", "spine2"}) cables.emplace_back(leaf, spine);
  return scenario_of(
      {"x1", "x2", "y", "x4", "y1"}, {"leaf1", "leaf2", "leaf3", "leaf4", "spine1", "spine2"},
      cables,
      R"(, "settings": {"protect": "none"}, "failed": ["spine1-leaf4", "spine2-leaf1"], "flows": [)"
      R"({"from": "x1", "to": "x4", "via": ["spine1"]}, {"from": "x2", "to": "x4", "via": ["spine1"]},)"
      R"({"from": "y", "to": "y1", "via": ["spine2"]}])");
}();

TEST(Library, TellsOfADeadlockOnce) {
  const Simulation s = made(kTwoPlusOne);
  ASSERT_TRUE(s);
  EXPECT_EQ(lls_deadlocked(s.get()), 0);
  EXPECT_EQ(lls_run_until(s.get(), 3000 * kMicrosecond), LLS_DEADLOCK);
  EXPECT_LT(lls_now(s.get()), 1000 * kMicrosecond);
  EXPECT_EQ(lls_deadlocked(s.get()), 1);
  EXPECT_EQ(lls_run_until(s.get(), 3000 * kMicrosecond), LLS_OK);
  EXPECT_EQ(lls_deadlocked(s.get()), 1);
}

TEST(Library, ARunWithoutAnEndComesBackFromADeadlock) {
  const Simulation s = made(kTwoPlusOne);
  ASSERT_TRUE(s);
  ASSERT_EQ(lls_run_until(s.get(), 3000 * kMicrosecond), LLS_DEADLOCK);
  lls_flow held = flow(lls_host(s.get(), "x1"), lls_host(s.get(), "x4"), 1'000'000);
  ASSERT_EQ(lls_send(s.get(), &held, nullptr), LLS_OK);
  EXPECT_EQ(lls_run_until(s.get(), LLS_FOREVER), LLS_DEADLOCK);
  EXPECT_LT(lls_now(s.get()), 100'000 * kMicrosecond);
}

TEST(Library, RefusesWhatCannotBe) {
  const Simulation s = made();
  const auto refused = [&](const lls_flow& f, const char* why) {
    EXPECT_EQ(lls_send(s.get(), &f, nullptr), LLS_ARGUMENT);
    EXPECT_THAT(lls_error(s.get()), HasSubstr(why));
  };
  lls_flow f = flow(0, 2, 1000);
  EXPECT_EQ(lls_send(s.get(), nullptr, nullptr), LLS_ARGUMENT);
  refused(flow(4, 2, 1000), "from: 4: there are 4 hosts");
  refused(flow(0, LLS_NO_HOST, 1000), "to: 4294967295: there are 4 hosts");
  refused(flow(1, 1, 1000), "to: is where the flow begins");
  refused(flow(0, 1, ~std::uint64_t{0}), "octets: ");
  f.rate_bps = 999;
  refused(f, "rate_bps: 999");
  f = flow(0, 2, 1000);
  f.transport = 3;
  refused(f, "transport: 3");
  f = flow(0, 2, 1000);
  f.lossless_class = 256;
  refused(f, "lossless_class: 256: there are 2");
  f = flow(0, 2, 1000);
  f.start = LLS_FOREVER;
  refused(f, "start: ");
  f = flow(0, 2, 1000);
  f.size = 0;
  refused(f, "size: set it");
  struct Later {
    lls_flow now;
    std::uint64_t more;
  } later{flow(0, 2, 1000), 0};
  later.now.size = sizeof later;
  EXPECT_EQ(lls_send(s.get(), &later.now, nullptr), LLS_OK) << "what is new is not used";
  later.more = 1;
  refused(later.now, "size: asks for what this version");
  later.now.size = ~std::size_t{0};
  refused(later.now, "size: asks for what this version");
  EXPECT_EQ(lls_at(s.get(), 0, nullptr, nullptr), LLS_ARGUMENT);
  EXPECT_EQ(lls_at(
                s.get(), LLS_FOREVER, [](lls_simulation*, void*) {}, nullptr),
            LLS_ARGUMENT);
  EXPECT_EQ(lls_host(s.get(), "nobody"), LLS_NO_HOST);
  EXPECT_EQ(lls_host(s.get(), nullptr), LLS_NO_HOST);
  EXPECT_EQ(lls_host_name(s.get(), 4), nullptr);
  EXPECT_EQ(lls_finished(s.get(), 99), LLS_FOREVER);
  lls_totals totals{};
  EXPECT_EQ(lls_get_totals(s.get(), &totals), LLS_ARGUMENT);
  totals.size = offsetof(lls_totals, drops);
  totals.drops = 77;
  EXPECT_EQ(lls_get_totals(s.get(), &totals), LLS_OK);
  EXPECT_EQ(totals.drops, 77U) << "beyond what the caller knows nothing is written";
}

TEST(Library, TakesNoSimulationForOne) {
  lls_totals totals{};
  totals.size = sizeof totals;
  const lls_flow f = flow(0, 1, 1);
  EXPECT_EQ(lls_destroy(nullptr), LLS_OK);
  EXPECT_STREQ(lls_error(nullptr), "there is no simulation");
  EXPECT_EQ(lls_hosts(nullptr), 0U);
  EXPECT_EQ(lls_host_name(nullptr, 0), nullptr);
  EXPECT_EQ(lls_host(nullptr, "h1"), LLS_NO_HOST);
  EXPECT_EQ(lls_send(nullptr, &f, nullptr), LLS_ARGUMENT);
  EXPECT_EQ(lls_finished(nullptr, 0), LLS_FOREVER);
  EXPECT_EQ(lls_at(nullptr, 0, nullptr, nullptr), LLS_ARGUMENT);
  EXPECT_EQ(lls_run_until(nullptr, 0), LLS_ARGUMENT);
  lls_stop(nullptr);
  EXPECT_EQ(lls_now(nullptr), 0U);
  EXPECT_EQ(lls_deadlocked(nullptr), 0);
  EXPECT_EQ(lls_get_totals(nullptr, &totals), LLS_ARGUMENT);
}

TEST(Library, SaysWhyThereIsNoSimulation) {
  const auto error_of = [](const char* text) {
    char error[200] = "";
    EXPECT_EQ(lls_create(text, nullptr, error, sizeof error), nullptr);
    return std::string(error);
  };
  EXPECT_EQ(error_of(nullptr), "there is no scenario");
  EXPECT_EQ(error_of("{"), "line 1: cut off: the JSON has no end: write the file again");
  EXPECT_THAT(error_of("{}"), HasSubstr("fabric: name a file"));
  EXPECT_THAT(error_of(R"({"fabric": "nowhere.json"})"), HasSubstr("nowhere.json"));
  EXPECT_THAT(error_of(scenario(R"(, "settings": {"pfc": {"headroom_octets": 1}})").c_str()),
              HasSubstr("settings.pfc.headroom_octets: 1: "));
  EXPECT_THAT(error_of(scenario(R"(, "flows": [{"from": "h1", "to": "leaf1"}])").c_str()),
              HasSubstr("flows[0].to: `leaf1` is no host"));
  EXPECT_EQ(lls_create("{", nullptr, nullptr, 0), nullptr);
  char small[8] = "1234567";
  EXPECT_EQ(lls_create("{", nullptr, small, sizeof small), nullptr);
  EXPECT_STREQ(small, "line 1:");
  char error[200] = "";
  EXPECT_EQ(lls_open("/nowhere/s.json", error, sizeof error), nullptr);
  EXPECT_THAT(error, HasSubstr("/nowhere/s.json"));
  EXPECT_EQ(lls_open(nullptr, error, sizeof error), nullptr);
}

TEST(Library, SaysWhereThereIsNoWay) {
  const Simulation s = made(scenario(R"(, "failed": ["leaf2-spine1", "leaf2-spine2"])"));
  ASSERT_TRUE(s);
  lls_flow f = flow(0, 2, 1000);
  EXPECT_EQ(lls_send(s.get(), &f, nullptr), LLS_NO_WAY);
  EXPECT_THAT(lls_error(s.get()), testing::Not(HasSubstr("\n")));
  f.to = 1;
  EXPECT_EQ(lls_send(s.get(), &f, nullptr), LLS_OK);
  EXPECT_EQ(lls_run_until(s.get(), LLS_FOREVER), LLS_IDLE);
}

TEST(Library, CallbacksMayNeitherRunNorDestroy) {
  const Simulation s = made();
  std::vector<lls_result> said;
  const auto naughty = [](lls_simulation* t, void* user) {
    auto& results = *static_cast<std::vector<lls_result>*>(user);
    results.push_back(lls_run_until(t, LLS_FOREVER));
    results.push_back(lls_destroy(t));
  };
  ASSERT_EQ(lls_at(s.get(), 5, naughty, &said), LLS_OK);
  EXPECT_EQ(lls_run_until(s.get(), LLS_FOREVER), LLS_IDLE);
  EXPECT_THAT(said, ElementsAre(LLS_BUSY, LLS_BUSY));
}

TEST(Library, WhatACallbackThrowsStaysWithin) {
  const Simulation s = made();
  ASSERT_EQ(
      lls_at(
          s.get(), 5, [](lls_simulation*, void*) { throw std::runtime_error("mine"); }, nullptr),
      LLS_OK);
  EXPECT_EQ(lls_run_until(s.get(), LLS_FOREVER), LLS_BROKEN);
  EXPECT_THAT(lls_error(s.get()), HasSubstr("mine"));
  const lls_flow f = flow(0, 2, 1000);
  EXPECT_EQ(lls_send(s.get(), &f, nullptr), LLS_BROKEN);
  EXPECT_EQ(lls_run_until(s.get(), LLS_FOREVER), LLS_BROKEN);
  EXPECT_EQ(lls_deadlocked(s.get()), 0);
}

TEST(Library, LinksThatComeBackGiveTheirWays) {
  const Simulation s = made(scenario(
      R"(, "events": [{"at_ns": 1000, "link": "leaf1-spine1", "up": false}, {"at_ns": 1000, "link": "leaf1-spine2", "up": false},
          {"at_ns": 50000, "link": "leaf1-spine1", "up": true}])"));
  ASSERT_TRUE(s);
  struct Log {
    std::vector<lls_result> said{};
  } log;
  const auto attempt = [](lls_simulation* t, void* user) {
    const lls_flow f = flow(0, 2, 1000);
    static_cast<Log*>(user)->said.push_back(lls_send(t, &f, nullptr));
  };
  for (const std::uint64_t us : {0U, 20U, 60U})
    EXPECT_EQ(lls_at(s.get(), us * kMicrosecond, attempt, &log), LLS_OK);
  EXPECT_EQ(lls_run_until(s.get(), 100 * kMicrosecond), LLS_OK);
  EXPECT_THAT(log.said, ElementsAre(LLS_OK, LLS_NO_WAY, LLS_OK));
}

}  // namespace
