// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>

#include "dataplane/factory.hpp"
#include "dataplane/sonic/maps.hpp"
#include "os/fd.hpp"
#include "tests/dataplane/sonic_fixture.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using sonic::Row;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The contract's world: its ASIC follows before anybody looks.
class SonicWorld : public World {
 public:
  std::unique_ptr<Backend> open() override {
    if (!box_.runs()) return nullptr;
    return std::make_unique<OpenedAnew>(*this, [this] {
      box_.orchagent();
      return std::move(*make_backend("sonic", {.sonic = box_.options()}));
    });
  }
  std::string why_not() const override { return "there is no redis-server here"; }
  PortRef port(int n) override { return sonic_port(n); }
  bool knows_ports() const override { return false; }  // a port without an interface is SONiC's too
  bool forgets() const override { return false; }

 private:
  Box box_;
};

INSTANTIATE_TEST_SUITE_P(Sonic, BackendContract, testing::Values(world_case<SonicWorld>("Sonic")),
                         [](const auto& c) { return c.param.name; });

/// What becomes of a packet by the maps as they stand in CONFIG_DB: the ASIC's way, nothing of
/// ours.
struct Left {
  std::string dscp{}, group{}, queue{};
  friend bool operator==(const Left&, const Left&) = default;
  friend void PrintTo(const Left& l, std::ostream* os) {
    *os << l.dscp << " pg" << l.group << " q" << l.queue;
  }
};
Left evaluate(Box& box, int in, int out, const std::string& dscp) {
  const auto map = [&](int port, const char* field, const char* table) {
    const Row maps = box.row(kConfig, "PORT_QOS_MAP|" + Box::name_of(port));
    return maps.contains(field) ? box.row(kConfig, std::string(table) + "|" + maps.at(field))
                                : Row{};
  };
  const auto look = [](const Row& row, const std::string& key) {
    return row.contains(key) ? row.at(key) : std::string("0");
  };
  const std::string tc = look(map(in, "dscp_to_tc_map", "DSCP_TO_TC_MAP"), dscp);
  const Row rewrite = map(out, "tc_to_dscp_map", "TC_TO_DSCP_MAP");
  return {.dscp = rewrite.contains(tc) ? rewrite.at(tc) : dscp,
          .group = look(map(in, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"), tc),
          .queue = look(map(out, "tc_to_queue_map", "TC_TO_QUEUE_MAP"), tc)};
}

TEST_F(SonicTest, MapsSayWhatTheRulesSayInAllTwelveCases) {
  const Order orders[] = {Order::kUp, Order::kDown};
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown) && put(2, Order::kUp) &&
              put(3, Order::kDown));
  for (int in : {0, 1})
    for (int out : {2, 3})
      for (const qos::Class c :
           {qos::Policy().lossless()[0], qos::Policy().lossless()[1], qos::Policy().lossy()}) {
        const qos::Class after =
            qos::remap(qos::Policy(), {.order = orders[in]}, {.order = orders[out - 2]}, c);
        // The lossy class has the queue that best effort had before.
        const unsigned queue = after.priority.value() == 0 ? 1U : after.priority.value();
        EXPECT_EQ(evaluate(box_, in, out, std::to_string(c.dscp.value())),
                  (Left{std::to_string(after.dscp.value()), std::to_string(c.priority.value()),
                        std::to_string(queue)}))
            << in << out << to_string(c);
      }
}

TEST_F(SonicTest, LossyDscpsInUseAreKeptApartWhileClassesLastAndTheRestIsNamed) {
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kUp));
  // EF, CS6 and 4 have the three classes that are left; 3 and CS1 have none.
  for (const char* kept : {"46", "48", "4"}) EXPECT_EQ(evaluate(box_, 0, 1, kept).dscp, kept);
  EXPECT_EQ(evaluate(box_, 0, 1, "8").dscp, "0");
  EXPECT_THAT(backend_->description(), HasSubstr("no traffic class is left for DSCP 3, 8:"));
  for (const char* lossy : {"46", "48", "4", "3", "8", "10"}) {
    EXPECT_THAT(evaluate(box_, 0, 1, lossy).queue, testing::AnyOf("0", "1", "4")) << lossy;
    EXPECT_EQ(evaluate(box_, 0, 1, lossy).group, "0") << lossy;
  }
}

TEST_F(SonicTest, OpeningItTellsThatPortsAreToBeLookedAt) {
  EXPECT_THAT(backend_->take_events().changed, ElementsAre(Ifindex()));
}

TEST_F(SonicTest, KeysThatAreNoRowsAreNotRead) {
  box_.ask(kConfig, {"SET", "PORT_QOS_MAP|odd", "x"});
  backend_ = open();
  EXPECT_TRUE(put(0, Order::kUp));
}

// One that Redis refuses within the transaction is no change that was made.
TEST_F(SonicTest, RowOfTheWrongTypeIsARefusalWithRedisWords) {
  box_.ask(kConfig, {"DEL", "PORT_QOS_MAP|Ethernet0"});
  box_.ask(kConfig, {"SET", "PORT_QOS_MAP|Ethernet0", "x"});
  backend_ = open();
  const auto done = put(0, Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("Redis refuses the change: WRONGTYPE"));
}

TEST_F(SonicTest, FullRedisIsARefusalWithItsReasonAndIsMendedWhenThereIsRoom) {
  const Row before = box_.row(kConfig, "PORT_QOS_MAP|Ethernet0");
  box_.ask(kConfig, {"CONFIG", "SET", "maxmemory", "1"});
  const auto done = put(0, Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("Redis refuses the change: OOM"));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0"), before);
  box_.ask(kConfig, {"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(put(0, Order::kUp));
}

TEST_F(SonicTest, RulesThatTheChipCannotHaveAreRefused) { expect_too_many_classes(); }

TEST_F(SonicTest, ChangeOfOnePortsOrderWritesItsRowAlone) {
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  const std::size_t writes = box_.writes();
  ASSERT_TRUE(put(1, Order::kUp));
  EXPECT_EQ(box_.writes(), writes + 1);  // one HSET
  ASSERT_TRUE(put(1, Order::kDown));
  EXPECT_EQ(box_.writes(), writes + 3);  // and tc_to_dscp_map goes
}

TEST_F(SonicTest, ObjectOfTheAsicWithAnotherNumberIsNotOurMap) {
  ASSERT_TRUE(put(0, Order::kUp));
  box_.orchagent();
  const std::string oid = box_.row(kCounters, "COUNTERS_PORT_NAME_MAP").at("Ethernet0");
  const std::string map = "ASIC_STATE:SAI_OBJECT_TYPE_QOS_MAP:" +
                          box_.row(kAsic, "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + oid)
                              .at("SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP");
  auto object =
      nlohmann::json::parse(box_.row(kAsic, map).at("SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST"));
  backend_ = open();
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
  object["list"][0]["value"]["qidx"] = 7 - object["list"][0]["value"]["qidx"].get<int>();
  box_.ask(kAsic, {"HSET", map, "SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST", object.dump()});
  backend_ = open();
  EXPECT_EQ(states(0, Order::kUp), "done bypassed done done");
}

TEST_F(SonicTest, WhatPortsCarriedIsWhatTheChipCounts) {
  ASSERT_TRUE(put(0, Order::kUp));
  box_.orchagent();
  EXPECT_EQ(backend_->carried(sonic_port(0)), qos::Carried());
  const std::string oid = box_.row(kCounters, "COUNTERS_PORT_NAME_MAP").at("Ethernet0");
  box_.ask(kCounters, {"HSET", "COUNTERS:" + oid, "SAI_PORT_STAT_PFC_5_RX_PKTS", "12",
                       "SAI_PORT_STAT_PFC_6_TX_PKTS", "18446744073709551615",
                       "SAI_PORT_STAT_PFC_0_RX_PKTS", "none"});
  // The watchdog's estimates, written by its script; the chip's own wins, and quanta are no time.
  box_.ask(kCounters, {"HSET",
                       "COUNTERS:" + oid,
                       "EST_PORT_STAT_PFC_5_RX_PAUSE_DURATION_US",
                       "1500000",
                       "EST_PORT_STAT_PFC_6_RX_PAUSE_DURATION_US",
                       "7",
                       "SAI_PORT_STAT_PFC_6_RX_PAUSE_DURATION_US",
                       "2500000",
                       "SAI_PORT_STAT_PFC_6_TX_PAUSE_DURATION_US",
                       "0",
                       "SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION",
                       "77",
                       "EST_PORT_STAT_PFC_4_RX_PAUSE_DURATION_US",
                       "-5",
                       "EST_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US",
                       "1e300",
                       "EST_PORT_STAT_PFC_2_RX_PAUSE_DURATION_US",
                       "nan",
                       "EST_PORT_STAT_PFC_5_RECENT_PAUSE_TIMESTAMP",
                       "1.7959465469314e+15",
                       "EST_PORT_STAT_PFC_6_RECENT_PAUSE_TIMESTAMP",
                       "1795946546931415"});
  const auto count = [&](const std::string& object, const std::string& counter, const char* n) {
    box_.ask(kCounters, {"HSET", "COUNTERS:" + object, counter, n});
  };
  const std::string queue = "SAI_QUEUE_STAT_PACKETS";
  count(box_.object_of("QUEUE", 0, 0), queue, "7");
  count(box_.object_of("QUEUE", 0, 5), queue, "9000");
  count(box_.object_of("QUEUE", 0, 9), queue, "1");   // is no priority's
  count(box_.object_of("QUEUE", 0, 16), queue, "2");  // multicast's
  count(box_.object_of("QUEUE", 1, 4), queue, "3");   // another port's
  // Of Mellanox they are numbered anew.
  box_.ask(kCounters, {"HSET", "COUNTERS_QUEUE_INDEX_MAP", box_.object_of("QUEUE", 0, 16), "6"});
  count(box_.object_of("PG", 0, 5), "SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS", "8000");
  count(box_.object_of("PG", 0, 6), "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS", "4");
  const std::string dropped = "SAI_QUEUE_STAT_DROPPED_PACKETS";
  count(box_.object_of("QUEUE", 0, 5), dropped, "0");
  count(box_.object_of("QUEUE", 0, 6), dropped, "2");
  count(box_.object_of("QUEUE", 0, 16), dropped, "9");
  backend_ = open();
  qos::Carried wanted;
  wanted.pauses.received[5] = 12;
  wanted.pauses.sent[6] = ~std::uint64_t{0};
  wanted.paused_microseconds.received[5] = 1'500'000;
  wanted.paused_microseconds.received[6] = 2'500'000;
  wanted.paused_microseconds.sent[6] = 0;
  wanted.last_pause_microseconds.received[5] = 1'795'946'546'931'400;
  wanted.last_pause_microseconds.received[6] = 1'795'946'546'931'415;
  wanted.frames.sent[0] = 7;
  wanted.frames.sent[5] = 9000;
  wanted.frames.received[5] = 8000;
  wanted.lost.frames.received[6] = 4;
  wanted.lost.frames.sent[5] = 0;
  wanted.lost.frames.sent[6] = 2;
  EXPECT_EQ(backend_->carried(sonic_port(0)), wanted);
  EXPECT_EQ(backend_->carried(sonic_port(1)), qos::Carried()) << "it has no rules of ours";
}

TEST_F(SonicTest, WhatPortsLoseIsToldWithWhenItWasSeen) {
  ASSERT_TRUE(put(0, Order::kUp));
  box_.orchagent();
  const std::string object = "COUNTERS:" + box_.object_of("QUEUE", 0, 6);
  const auto lost = [&](const char* n) {
    box_.ask(kCounters, {"HSET", object, "SAI_QUEUE_STAT_DROPPED_PACKETS", n});
  };
  lost("2");
  backend_ = open();
  EXPECT_EQ(backend_->carried(sonic_port(0)).lost.ago, qos::Lost().ago) << "nobody knows when";
  const auto before = std::chrono::steady_clock::now();
  lost("3");
  const auto sent = [&] { return backend_->carried(sonic_port(0)).lost.frames.sent[6]; };
  ASSERT_TRUE(until([&] { return sent() == 3U; }));
  const auto ago = backend_->carried(sonic_port(0)).lost.ago;
  ASSERT_TRUE(ago.sent[6]);
  EXPECT_LE(*ago.sent[6], std::chrono::steady_clock::now() - before);
  EXPECT_EQ(ago.sent[5], std::nullopt);
}

TEST_F(SonicTest, RestartWritesNothing) {
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  const std::size_t writes = box_.writes();
  backend_ = open();
  EXPECT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  EXPECT_EQ(box_.writes(), writes);
}

TEST_F(SonicTest, RulesInTheDatabaseAloneAreNotInForce) {
  backend_->apply({.ports = {*backend_->plan(sonic_port(0), rules_of(Order::kUp))}});
  std::vector<Outcome> told;
  for (int turn = 0; turn < 1000 && told.empty(); ++turn) {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 10);
    told = backend_->take_events().outcomes;
  }
  ASSERT_EQ(told.size(), 1U);
  EXPECT_FALSE(told[0].why);
  EXPECT_FALSE(told[0].in_force);
}

TEST_F(SonicTest, WhatTheAsicDoesNotTakeIsSaidWithItsTable) {
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "missing missing missing missing");
  box_.orchagent({"TC_TO_DSCP_MAP"});
  EXPECT_TRUE(until([&] { return states(0, Order::kUp) == "done missing done done"; }))
      << states(0, Order::kUp);
  EXPECT_TRUE(until([&] { return states(0, Order::kUp) == "done bypassed done done"; }));
  EXPECT_THAT(backend_->verify(sonic_port(0), rules_of(Order::kUp))->parts[1].text,
              HasSubstr("TC_TO_DSCP_MAP is ignored: no SAI object says the same 5 s after"));
  box_.orchagent();
  EXPECT_TRUE(until([&] { return states(0, Order::kUp) == "done done done done"; }));
}

TEST_F(SonicTest, WhatOthersChangeIsFoundWithinTenSeconds) {
  ASSERT_TRUE(put(0, Order::kUp));
  box_.orchagent();
  ASSERT_TRUE(until([&] { return states(0, Order::kUp) == "done done done done"; }));
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_enable", "3,4"});
  bool fell = false;
  EXPECT_TRUE(until([&] {
    fell |= backend_->down().has_value();
    return states(0, Order::kUp) == "done done done missing";
  }));
  EXPECT_FALSE(fell) << "Redis answered all the time";
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0").at("pfc_enable"), "5,6");
}

TEST_F(SonicTest, WhatIsAskedForWhileRedisIsAwayIsRefusedAndNotDoneLater) {
  const auto plan = backend_->plan(sonic_port(0), rules_of(Order::kUp));
  ASSERT_TRUE(plan);
  box_.stop();
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  backend_->apply({.ports = {*plan}});
  const auto outcomes = backend_->take_events().outcomes;
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].port, sonic_port(0).ifindex);
  EXPECT_EQ(outcomes[0].why, backend_->down());
  box_.start();
  ASSERT_TRUE(until([&] { return !backend_->down(); }));
  EXPECT_FALSE(until([&] { return box_.writes() != 0; }, 300ms));
}

TEST_F(SonicTest, KilledRedisIsSaidAndWhatItHasIsComparedWhenItIsBack) {
  ASSERT_TRUE(put(0, Order::kUp));
  box_.stop();
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  EXPECT_THAT(to_string(*backend_->down()), HasSubstr("Redis at " + box_.socket()));
  EXPECT_FALSE(backend_->plan(sonic_port(0), rules_of(Order::kUp)));
  // Whoever looks for it knows then that nobody is there.
  EXPECT_TRUE(until([&] { return backend_->down()->code == ECONNREFUSED; }));
  std::filesystem::remove(box_.socket());
  EXPECT_TRUE(until([&] { return backend_->down()->code == ENOENT; }));
  box_.start();
  ASSERT_TRUE(until([&] { return !backend_->down(); }));
  EXPECT_TRUE(backend_->plan(sonic_port(0), rules_of(Order::kUp))->empty());
  EXPECT_EQ(box_.writes(), 0U);
}

// What was waited for it while it was away is forgotten: the next time it is asked soon again.
TEST_F(SonicTest, RedisThatWasBackIsAskedSoonWhenItGoesAgain) {
  const auto away = [&](std::chrono::milliseconds time) {
    box_.stop();
    EXPECT_TRUE(until([&] { return backend_->down().has_value(); }));
    const auto end = std::chrono::steady_clock::now() + time;
    until([&] { return std::chrono::steady_clock::now() >= end; });
    box_.start();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(until([&] { return !backend_->down(); }));
    return std::chrono::steady_clock::now() - start;
  };
  away(800ms);        // 100, 200, 400 ms, and the next is 800 ms away
  bool soon = false;  // on a busy machine not each time, but with the pause of then never
  for (int i = 0; i < 20 && !soon; ++i) soon = away(0ms) < 700ms;
  EXPECT_TRUE(soon);
}

TEST_F(SonicTest, RedisThatHangsHoldsNobodyUp) {
  std::vector<PortPlan> plans;
  for (const int i : {0, 1}) {
    const auto plan = backend_->plan(sonic_port(i), rules_of(Order::kUp));
    ASSERT_TRUE(plan);
    plans.push_back(*plan);
  }
  box_.pause(true);
  for (const PortPlan& plan : plans) backend_->apply({.ports = {plan}});  // the second waits
  EXPECT_THAT(backend_->take_events().outcomes, testing::IsEmpty()) << "apply() waited for it";
  std::map<Ifindex, std::string> refused;
  while (refused.empty()) {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 100);
    for (const Outcome& outcome : backend_->take_events().outcomes)
      refused[outcome.port] = outcome.why ? to_string(*outcome.why) : "";
  }
  const auto next = open();  // which does not wait for it either
  ASSERT_TRUE(next->down());
  EXPECT_EQ(next->down()->what, "Redis at " + box_.socket() + " has not answered yet");
  EXPECT_EQ(next->down()->code, 0) << "it is there";
  box_.pause(false);
  const auto no_answer = HasSubstr("no answer within 2 s");
  EXPECT_THAT(refused, ElementsAre(testing::Pair(sonic_port(0).ifindex, no_answer),
                                   testing::Pair(sonic_port(1).ifindex, no_answer)));
  EXPECT_TRUE(until([&] { return !backend_->down(); }));
}

TEST_F(SonicTest, LayersAreUnsupportedAndGetNoRules) {
  for (const qos::PortClass port : {qos::PortClass{Order::kUp}, {Order::kUp, Layer::of<3>()}}) {
    const auto rules = qos::compile(qos::Policy(), port, true);
    const auto plan = backend_->plan(sonic_port(0), rules);
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_TRUE(plan->empty());
    const auto reading = backend_->verify(sonic_port(0), rules);
    ASSERT_TRUE(reading);
    EXPECT_TRUE(reading->mend.empty());
    ASSERT_FALSE(reading->parts.empty());
    for (const PartReading& part : reading->parts)
      EXPECT_EQ(part.state, PartState::kUnsupported) << to_string(part.part);
  }
}

TEST_F(SonicTest, PortThatSonicDoesNotKnowIsNamed) {
  const auto plan = backend_->plan({Ifindex::of<9>(), "eth0"}, rules_of(Order::kUp));
  ASSERT_FALSE(plan);
  EXPECT_EQ(to_string(plan.error()),
            "eth0: SONiC's CONFIG_DB has no PORT of that name: leave it out of `ports`");
}

TEST_F(SonicTest, PortsAreCalledAsInThePortTable) {
  EXPECT_EQ(backend_->alias(sonic_port(1)), "etp2");
  EXPECT_EQ(backend_->alias({Ifindex::of<9>(), "eth0"}), "");
}

TEST_F(SonicTest, WatchdogThatRunsTakesOurPrioritiesOnceTheAsicHasThem) {
  const Row watchdog{{"action", "drop"}, {"detection_time", "200"}, {"restoration_time", "200"}};
  box_.ask(kConfig, {"HSET", "PFC_WD|Ethernet0", "action", "drop", "detection_time", "200",
                     "restoration_time", "200"});
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_TRUE(box_.notes().at("Ethernet0").contains("touch"));
  box_.orchagent({"TC_TO_DSCP_MAP"});
  const std::size_t others = box_.writes();
  // The row goes and comes with the values that were there, for the watchdog follows what is
  // written, not the mask.
  ASSERT_TRUE(until([&] { return states(0, Order::kUp).ends_with("done done"); }));
  EXPECT_TRUE(until([&] { return box_.writes() == others + 2; }));
  EXPECT_EQ(box_.row(kConfig, "PFC_WD|Ethernet0"), watchdog);
  EXPECT_FALSE(box_.notes().at("Ethernet0").contains("touch"));
  ASSERT_TRUE(put(0, Order::kDown));
  EXPECT_FALSE(box_.notes().at("Ethernet0").contains("touch")) << "same priorities";
  EXPECT_THAT(box_.keys(kConfig, "PFC_WD|*"), ElementsAre("PFC_WD|Ethernet0"));
}

TEST_F(SonicTest, WatchdogTakesOurPrioritiesThoughWeWereKilledMeanwhile) {
  box_.ask(kConfig, {"HSET", "PFC_WD|Ethernet0", "action", "drop"});
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  backend_ = open();
  box_.orchagent();
  const std::size_t others = box_.writes();
  ASSERT_TRUE(until([&] { return box_.writes() == others + 2; })) << "the row goes and comes";
  EXPECT_EQ(box_.row(kConfig, "PFC_WD|Ethernet0"), (Row{{"action", "drop"}}));
  backend_ = open();
  EXPECT_FALSE(until([&] { return box_.writes() != others + 2; }, 300ms)) << "once";
}

TEST_F(SonicTest, WatchdogTakesOurPrioritiesThoughSomebodyTookOurNoteAwayMeanwhile) {
  box_.ask(kConfig, {"HSET", "PFC_WD|Ethernet0", "action", "drop"});
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  backend_ = nullptr;
  box_.set_notes({});
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_TRUE(box_.notes().at("Ethernet0").contains("touch"));
}

TEST(SonicByTcp, IsTheSame) {
  int port = 0;
  {  // one that nobody has
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof any;
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&any), size), 0);
    ASSERT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&any), &size), 0);
    port = ntohs(any.sin_port);
  }
  SonicOptions options{.redis = "127.0.0.1:" + std::to_string(port)};
  const auto nobody = make_backend("sonic", {.sonic = options});
  ASSERT_TRUE(nobody);
  ASSERT_TRUE((*nobody)->down());
  EXPECT_THAT(to_string(*(*nobody)->down()),
              testing::AllOf(HasSubstr("Redis at " + options.redis),
                             // hiredis does not always have the kernel's word
                             testing::AnyOf(HasSubstr("Connection refused"),
                                            HasSubstr("no answer from that address"))));
  Box box(1, port);
  if (!box.runs()) GTEST_SKIP() << "there is no redis-server here";
  const auto backend = make_backend("sonic", {.sonic = options});
  ASSERT_TRUE(backend);
  const auto plan = (*backend)->plan(sonic_port(0), rules_of(Order::kUp));
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_TRUE(finish(**backend, {.ports = {*plan}}));
  EXPECT_EQ(box.row(kConfig, "PORT_QOS_MAP|Ethernet0").at("dscp_to_tc_map"), "LLDP_LEVEL_UP");
}

TEST(SonicPorts, SixtyFourInOneTransaction) {
  Box box(64);
  if (!box.runs()) GTEST_SKIP() << "there is no redis-server here";
  auto backend = make_backend("sonic", {.sonic = box.options()});
  ASSERT_TRUE(backend);
  Plan plan;
  for (int i = 0; i < 64; ++i)
    plan.ports.push_back(
        *(*backend)->plan(sonic_port(i), rules_of(i % 2 == 0 ? Order::kUp : Order::kDown)));
  ASSERT_TRUE(finish(**backend, plan));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(box.row(kConfig, "PORT_QOS_MAP|" + Box::name_of(i)).at("pfc_enable"), "5,6");
}

TEST_F(SonicTest, TrafficClassesOfTheChipAreReadAndMovedDscpsAreNamed) {
  const auto classes = [&] {
    std::set<std::string> seen;
    for (const auto& [dscp, tc] : box_.row(kConfig, "DSCP_TO_TC_MAP|LLDP_LEVEL_UP"))
      seen.insert(tc);
    return seen.size();
  };
  ASSERT_TRUE(finish(*backend_, {.ports = {*backend_->plan(port(0), rules_of(Order::kUp))}}));
  EXPECT_THAT(
      backend_->description(),
      HasSubstr("; no traffic class is left for DSCP 3, 8: at up ports they leave as lossy; "
                "another queue than without the rules: DSCP 3 (3 to 1), 8 (0 to 1), 46 (5 to 1), "
                "48 (6 to 1)"));
  EXPECT_EQ(classes(), 6U) << "of the lossless two, the rest, and 48, 46, 4";
  for (const char* number : {"N/A", "0", "junk"}) {
    box_.ask(kState,
             {"HSET", "SWITCH_CAPABILITY|switch", "SWITCH|NUMBER_OF_TRAFFIC_CLASSES", number});
    backend_ = open();
    ASSERT_TRUE(backend_);
    EXPECT_TRUE(backend_->plan(port(0), rules_of(Order::kUp))->empty()) << number;
  }
  box_.ask(kState, {"HSET", "SWITCH_CAPABILITY|switch", "SWITCH|NUMBER_OF_TRAFFIC_CLASSES", "16"});
  backend_ = open();
  ASSERT_TRUE(backend_);
  ASSERT_TRUE(finish(*backend_, {.ports = {*backend_->plan(port(0), rules_of(Order::kUp))}}));
  EXPECT_EQ(classes(), 8U);
  EXPECT_THAT(backend_->description(),
              testing::AllOf(testing::Not(HasSubstr("no traffic class is left")),
                             HasSubstr("DSCP 46 (5 to 1), 48 (6 to 1)")));
}

TEST(SonicOpening, DatabaseThatRedisDoesNotHaveIsNamedAndNoOtherRead) {
  const Box box(1);
  if (!box.runs()) GTEST_SKIP() << "there is no redis-server here";
  std::ofstream(box.path("odd.json")) << R"({"DATABASES": {"CONFIG_DB": {"id": 4},
      "ASIC_DB": {"id": 99}, "COUNTERS_DB": {"id": 2}, "STATE_DB": {"id": 6}}})";
  const auto backend =
      make_backend("sonic", {.sonic = {.redis = box.socket(), .config = box.path("odd.json")}});
  ASSERT_TRUE(backend);
  const auto why = (*backend)->plan(sonic_port(0), rules_of(Order::kUp));
  ASSERT_FALSE(why);
  EXPECT_THAT(to_string(why.error()), HasSubstr("ASIC_DB: ERR DB index is out of range"));
}

TEST(SonicMaps, WhatIsNoNumberOfOneDigitOrTwoIsPassedOver) {
  EXPECT_EQ(sonic::map_of({{"0", "9"}, {"63", "00"}}), (QosMap{{0, 9}, {63, 0}}));
  for (const char* no : {"", "/", ":", "1/", "/1", "1:", "100", "-1", " 1", "a"}) {
    EXPECT_TRUE(sonic::map_of({{no, "1"}}).empty()) << no;
    EXPECT_TRUE(sonic::map_of({{"1", no}}).empty()) << no;
  }
}

TEST(SonicOpening, SaysWhatIsWrongWithTheDatabaseConfiguration) {
  const TempDir files;
  const std::string path = files / "database_config.json";
  const std::string all =
      R"("CONFIG_DB": {"id": 4}, "COUNTERS_DB": {"id": 2}, "STATE_DB": {"id": 6})";
  for (const auto& [text, what] :
       {std::pair<std::string, const char*>("{", "is not JSON"),
        {"[]", "is not JSON"},
        {R"({"DATABASES": {)" + all + "}}", "has no ASIC_DB"},
        {R"({"DATABASES": {"ASIC_DB": 1, )" + all + "}}", "has no ASIC_DB"},
        {R"({"DATABASES": {"ASIC_DB": {"id": "1"}, )" + all + "}}", "has no ASIC_DB"},
        {R"({"DATABASES": {"ASIC_DB": {"id": 1, "instance": "redis1"}, )" + all + "}}",
         "has its databases in several Redis servers, which is not supported"}}) {
    std::ofstream(path) << text;
    const auto backend = make_backend("sonic", {.sonic = {.config = path}});
    ASSERT_FALSE(backend) << text;
    EXPECT_EQ(to_string(backend.error()),
              path + ": " + what + ": name SONiC's database_config.json in sonic.config");
  }
  const auto folder = make_backend("sonic", {.sonic = {.config = files.path()}});
  ASSERT_FALSE(folder);
  EXPECT_THAT(to_string(folder.error()), HasSubstr("Is a directory: name SONiC's"));
  std::ofstream(path) << R"({"DATABASES": {"CONFIG_DB": {"id": 4, "instance": 7},
      "ASIC_DB": {"id": 1, "instance": []}, "COUNTERS_DB": {"id": 2}, "STATE_DB": {"id": 6}},
      "INSTANCES": {"redis": {"unix_socket_path": 7}}})";
  EXPECT_TRUE(make_backend("sonic", {.sonic = {.config = path}})) << "at the usual place";
}

}  // namespace
}  // namespace lldp::dataplane
