// SPDX-License-Identifier: Apache-2.0
// The sonic back end with a Redis server of the test's own, SONiC's layout of databases, and an
// orchagent of a few lines that makes SAI objects of what CONFIG_DB says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "dataplane/factory.hpp"
#include "dataplane/sonic/maps.hpp"
#include "tests/dataplane/contract.hpp"

extern char** environ;

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using sonic::Row;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kAsic = 1;
constexpr int kCounters = 2;
constexpr int kConfig = 4;

/// A Redis server in a directory of its own.
class Server {
 public:
  Server() {
    std::string path = std::filesystem::temp_directory_path() / "lldp-redis-XXXXXX";
    directory_ = ::mkdtemp(path.data());
    start();
  }
  ~Server() {
    stop();
    std::filesystem::remove_all(directory_);
  }
  [[nodiscard]] bool runs() const { return context_ != nullptr; }
  [[nodiscard]] std::string socket() const { return directory_ + "/redis.sock"; }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
  void start() {
    const std::string socket_path = socket();
    const std::string log = path("log");
    const char* words[] = {"redis-server",
                           "--port",
                           "0",
                           "--unixsocket",
                           socket_path.c_str(),
                           "--dir",
                           directory_.c_str(),
                           "--appendonly",
                           "yes",
                           "--save",
                           "",
                           "--logfile",
                           log.c_str(),
                           "--loglevel",
                           "warning",
                           nullptr};
    if (::posix_spawnp(&pid_, words[0], nullptr, nullptr, const_cast<char**>(words), environ) !=
        0) {
      pid_ = 0;
      return;
    }
    for (int i = 0; i < 500 && context_ == nullptr; ++i) {
      context_.reset(::redisConnectUnix(socket_path.c_str()));
      if (context_->err != 0) context_ = nullptr;
      if (context_ == nullptr) std::this_thread::sleep_for(10ms);
    }
  }
  void stop() {
    context_ = nullptr;
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void pause(bool paused) const { ::kill(pid_, paused ? SIGSTOP : SIGCONT); }

  /// The reply as words, one after the other.
  std::vector<std::string> ask(int database, const std::vector<std::string>& words) {
    raw({"SELECT", std::to_string(database)});
    return raw(words);
  }
  Row row(int database, const std::string& key) {
    const auto words = ask(database, {"HGETALL", key});
    Row row;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) row[words[i]] = words[i + 1];
    return row;
  }
  std::vector<std::string> keys(int database, const std::string& pattern) {
    auto found = ask(database, {"KEYS", pattern});
    std::ranges::sort(found);
    return found;
  }
  /// Commands that wrote, so far.
  std::size_t writes() {
    std::size_t n = 0;
    for (const std::string& line : raw({"INFO", "commandstats"}))
      for (const char* write : {"cmdstat_hset:calls=", "cmdstat_hdel:calls=", "cmdstat_del:calls="})
        if (const auto at = line.find(write); at != line.npos)
          n += std::stoul(line.substr(at + std::string(write).size()));
    return n;
  }

 private:
  struct Free {
    void operator()(redisContext* c) const { ::redisFree(c); }
    void operator()(redisReply* r) const { ::freeReplyObject(r); }
  };
  std::vector<std::string> raw(const std::vector<std::string>& words) {
    std::vector<const char*> at;
    std::vector<std::size_t> sizes;
    for (const std::string& w : words) {
      at.push_back(w.data());
      sizes.push_back(w.size());
    }
    const std::unique_ptr<redisReply, Free> reply(static_cast<redisReply*>(
        ::redisCommandArgv(context_.get(), static_cast<int>(at.size()), at.data(), sizes.data())));
    std::vector<std::string> out;
    const auto take = [&](const redisReply* r) {
      out.emplace_back(r->str != nullptr ? std::string(r->str, static_cast<std::size_t>(r->len))
                                         : "");
    };
    if (!reply) return out;
    if (reply->type != REDIS_REPLY_ARRAY) take(reply.get());
    for (std::size_t i = 0; i < reply->elements; ++i) take(reply->element[i]);
    return out;
  }
  std::string directory_;
  pid_t pid_ = 0;
  std::unique_ptr<redisContext, Free> context_;
};

/// A SONiC box of some ports, as its image comes: everybody has the maps AZURE.
class Box : public Server {
 public:
  explicit Box(int ports = 4) {
    if (!runs()) return;
    std::ofstream(path("database_config.json")) << json{
        {"INSTANCES",
         {{"redis", {{"unix_socket_path", socket()}, {"hostname", "127.0.0.1"}, {"port", 6379}}}}},
        {"DATABASES",
         {{"CONFIG_DB", {{"id", kConfig}, {"separator", "|"}, {"instance", "redis"}}},
          {"ASIC_DB", {{"id", kAsic}, {"separator", ":"}, {"instance", "redis"}}},
          {"COUNTERS_DB", {{"id", kCounters}, {"separator", ":"}, {"instance", "redis"}}}}}};
    std::vector<std::string> dscps{"HSET", "DSCP_TO_TC_MAP|AZURE"};
    for (int d = 0; d < 64; ++d)
      dscps.insert(dscps.end(), {std::to_string(d), d == 8    ? "0"
                                                    : d == 46 ? "5"
                                                    : d == 48 ? "6"
                                                    : d == 3  ? "3"
                                                    : d == 4  ? "4"
                                                              : "1"});
    ask(kConfig, dscps);
    std::vector<std::string> queues{"HSET", "TC_TO_QUEUE_MAP|AZURE"};
    for (int tc = 0; tc < 8; ++tc)
      queues.insert(queues.end(), {std::to_string(tc), std::to_string(tc)});
    ask(kConfig, queues);
    for (int i = 0; i < ports; ++i) {
      const std::string name = name_of(i);
      ask(kConfig,
          {"HSET", "PORT|" + name, "alias", "etp" + std::to_string(i + 1), "lanes", "1,2,3,4"});
      ask(kConfig, {"HSET", "PORT_QOS_MAP|" + name, "dscp_to_tc_map", "AZURE", "tc_to_queue_map",
                    "AZURE", "pfc_enable", "3,4", "pfc_to_queue_map", "AZURE"});
      const std::string oid = "oid:0x10000000000" + std::to_string(100 + i);
      ask(kCounters, {"HSET", "COUNTERS_PORT_NAME_MAP", name, oid});
      ask(kAsic,
          {"HSET", "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + oid, "SAI_PORT_ATTR_SPEED", "100000"});
    }
  }
  static std::string name_of(int i) { return "Ethernet" + std::to_string(4 * i); }
  SonicOptions options() const { return {.config = path("database_config.json")}; }

  /// Makes the ASIC as CONFIG_DB says, but for the tables it does not know.
  void orchagent(const std::set<std::string>& ignores = {}) {
    struct Kind {
      const char *field, *table, *attribute, *key, *value;
    };
    for (const Kind& k :
         {Kind{"dscp_to_tc_map", "DSCP_TO_TC_MAP", "DSCP_TO_TC_MAP", "dscp", "tc"},
          Kind{"tc_to_dscp_map", "TC_TO_DSCP_MAP", "TC_AND_COLOR_TO_DSCP_MAP", "tc", "dscp"},
          Kind{"tc_to_queue_map", "TC_TO_QUEUE_MAP", "TC_TO_QUEUE_MAP", "tc", "qidx"},
          Kind{"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_PRIORITY_GROUP_MAP", "tc",
               "pg"}}) {
      if (ignores.contains(k.table)) continue;
      for (const auto& [port, oid] : row(kCounters, "COUNTERS_PORT_NAME_MAP")) {
        const Row maps = row(kConfig, "PORT_QOS_MAP|" + port);
        const std::string object = "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + oid;
        const std::string attribute = std::string("SAI_PORT_ATTR_QOS_") + k.attribute;
        const auto mask = [&] {
          unsigned bits = 0;
          for (char c : maps.contains("pfc_enable") ? maps.at("pfc_enable") : "")
            if (c != ',') bits |= 1U << (c - '0');
          return std::to_string(bits);
        };
        ask(kAsic, {"HSET", object, "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", mask()});
        if (!maps.contains(k.field)) {
          ask(kAsic, {"HSET", object, attribute, "oid:0x0"});
          continue;
        }
        json list = json::array();
        for (const auto& [key, value] : row(kConfig, std::string(k.table) + "|" + maps.at(k.field)))
          list.push_back({{"key", {{k.key, std::stoi(key)}, {"color", "SAI_PACKET_COLOR_GREEN"}}},
                          {"value", {{k.value, std::stoi(value)}}}});
        const std::string map =
            "oid:0x14" + std::to_string(std::hash<std::string>()(k.table + maps.at(k.field)));
        ask(kAsic, {"HSET", "ASIC_STATE:SAI_OBJECT_TYPE_QOS_MAP:" + map,
                    "SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST",
                    json{{"count", list.size()}, {"list", list}}.dump()});
        ask(kAsic, {"HSET", object, attribute, map});
      }
    }
  }
};

PortRef port_of(int i) { return {*Ifindex::make(7U + static_cast<unsigned>(i)), Box::name_of(i)}; }

/// The contract's world: its ASIC follows before anybody looks.
class SonicWorld : public World {
 public:
  std::unique_ptr<Backend> open() override {
    if (!box_.runs()) return nullptr;
    class Following : public Backend {
     public:
      Following(std::unique_ptr<Backend> real, Box& box) : real_(std::move(real)), box_(box) {}
      std::string_view name() const override { return real_->name(); }
      std::string description() const override { return real_->description(); }
      Capabilities capabilities() const override { return real_->capabilities(); }
      std::optional<Error> down() const override { return real_->down(); }
      Result<void> prepare(std::span<const qos::Ruleset> rules) override {
        return real_->prepare(rules);
      }
      Result<PortPlan> plan(const PortRef& p, const qos::Ruleset& want) override {
        settle();
        return real_->plan(p, want);
      }
      Result<Reading> verify(const PortRef& p, const qos::Ruleset& want) override {
        settle();
        return real_->verify(p, want);
      }
      int events() const override { return real_->events(); }
      Events take_events() override { return real_->take_events(); }
      Result<PortPlan> plan_removal(const PortRef& p) override {
        settle();
        return real_->plan_removal(p);
      }
      void apply(const Plan& plan) override { real_->apply(plan); }
      void forget(Ifindex port) override { real_->forget(port); }
      Result<std::vector<PortRef>> ports() override {
        settle();
        return real_->ports();
      }
      Result<Bounces> bounces(Ifindex port) override { return real_->bounces(port); }

     private:
      /// What others wrote is known by the next reading.
      void settle() {
        box_.orchagent();
        real_ = std::move(*make_backend("sonic", {.sonic = box_.options()}));
        for (int i : {0, 1}) (void)real_->plan_removal(port_of(i));
      }
      std::unique_ptr<Backend> real_;
      Box& box_;
    };
    auto real = make_backend("sonic", {.sonic = box_.options()});
    return real ? std::make_unique<Following>(std::move(*real), box_) : nullptr;
  }
  std::string why_not() const override { return "there is no redis-server here"; }
  PortRef port(int n) override { return port_of(n); }
  bool knows_ports() const override { return false; }  // a port without an interface is SONiC's too
  bool forgets() const override { return false; }

 private:
  Box box_;
};

INSTANTIATE_TEST_SUITE_P(Sonic, BackendContract, testing::Values(world_case<SonicWorld>("Sonic")),
                         [](const auto& c) { return c.param.name; });

class SonicTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!box_.runs()) GTEST_SKIP() << "there is no redis-server here";
    backend_ = open();
    ASSERT_TRUE(backend_);
  }
  std::unique_ptr<Backend> open() {
    auto backend = make_backend("sonic", {.sonic = box_.options()});
    EXPECT_TRUE(backend) << to_string(backend.error());
    return backend ? std::move(*backend) : nullptr;
  }
  Result<void> put(int port, Order order) {
    const auto plan = backend_->plan(port_of(port), rules_of(order));
    if (!plan) return fail(plan.error());
    return finish(*backend_, *plan);
  }
  bool until(const std::function<bool()>& done) {
    for (int i = 0; i < 1200 && !done(); ++i) {
      pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
      ::poll(&ready, 1, 10);
      (void)backend_->take_events();
    }
    return done();
  }
  std::string states(int port, Order order) {
    const auto reading = backend_->verify(port_of(port), rules_of(order));
    if (!reading) return to_string(reading.error());
    std::string text;
    for (const PartReading& part : reading->parts)
      text.append(text.empty() ? "" : " ").append(to_string(part.state));
    return text;
  }

  Box box_;
  std::unique_ptr<Backend> backend_;
};

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
        EXPECT_EQ(evaluate(box_, in, out, std::to_string(c.dscp.value())),
                  (Left{std::to_string(after.dscp.value()), std::to_string(c.priority.value()),
                        std::to_string(after.priority.value())}))
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

TEST_F(SonicTest, OnlyOurFieldsAndRowsChangeAndRemovalPutsBackWhatWasThere) {
  const auto all = [&] {
    std::map<std::string, Row> rows;
    for (const std::string& key : box_.keys(kConfig, "*")) rows[key] = box_.row(kConfig, key);
    return rows;
  };
  const auto before = all();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0"), (Row{{"dscp_to_tc_map", "LLDP_LEVEL_UP"},
                                                              {"tc_to_queue_map", "LLDP_LEVEL_UP"},
                                                              {"tc_to_dscp_map", "LLDP_LEVEL_UP"},
                                                              {"tc_to_pg_map", "LLDP_LEVEL"},
                                                              {"pfc_enable", "5,6"},
                                                              {"pfcwd_sw_enable", "5,6"},
                                                              {"pfc_to_queue_map", "AZURE"}}));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet8"), before.at("PORT_QOS_MAP|Ethernet8"));
  backend_ = open();  // another process takes them away
  const auto ports = backend_->ports();
  ASSERT_TRUE(ports);
  for (const PortRef& port : *ports) {
    auto removal = backend_->plan_removal(port);
    ASSERT_TRUE(removal);
    EXPECT_TRUE(finish(*backend_, *removal));
  }
  EXPECT_EQ(all(), before);
}

TEST_F(SonicTest, ChangeOfOnePortsOrderWritesItsRowAlone) {
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  const std::size_t writes = box_.writes();
  ASSERT_TRUE(put(1, Order::kUp));
  EXPECT_EQ(box_.writes(), writes + 1);  // one HSET
  ASSERT_TRUE(put(1, Order::kDown));
  EXPECT_EQ(box_.writes(), writes + 3);  // and tc_to_dscp_map goes
}

TEST_F(SonicTest, RestartWritesNothing) {
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  const std::size_t writes = box_.writes();
  backend_ = open();
  EXPECT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  EXPECT_EQ(box_.writes(), writes);
}

TEST_F(SonicTest, WhatTheAsicDoesNotTakeIsSaidWithItsTable) {
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "missing missing missing missing");
  box_.orchagent({"TC_TO_DSCP_MAP"});
  EXPECT_TRUE(until([&] { return states(0, Order::kUp) == "done missing done done"; }))
      << states(0, Order::kUp);
  EXPECT_TRUE(until([&] { return states(0, Order::kUp) == "done bypassed done done"; }));
  EXPECT_THAT(backend_->verify(port_of(0), rules_of(Order::kUp))->parts[1].text,
              HasSubstr("TC_TO_DSCP_MAP is ignored: no SAI object says the same 5 s after"));
  box_.orchagent();
  EXPECT_TRUE(until([&] { return states(0, Order::kUp) == "done done done done"; }));
}

TEST_F(SonicTest, WhatOthersChangeIsFoundWithinTenSeconds) {
  ASSERT_TRUE(put(0, Order::kUp));
  box_.orchagent();
  ASSERT_TRUE(until([&] { return states(0, Order::kUp) == "done done done done"; }));
  box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|Ethernet0", "pfc_enable", "3,4"});
  EXPECT_TRUE(until([&] { return states(0, Order::kUp) == "done done done missing"; }));
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0").at("pfc_enable"), "5,6");
}

TEST_F(SonicTest, KilledRedisIsSaidAndWhatItHasIsComparedWhenItIsBack) {
  ASSERT_TRUE(put(0, Order::kUp));
  box_.stop();
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  EXPECT_THAT(to_string(*backend_->down()), HasSubstr("Redis at " + box_.socket()));
  EXPECT_FALSE(backend_->plan(port_of(0), rules_of(Order::kUp)));
  box_.start();
  ASSERT_TRUE(until([&] { return !backend_->down(); }));
  EXPECT_TRUE(backend_->plan(port_of(0), rules_of(Order::kUp))->empty());
  EXPECT_EQ(box_.writes(), 0U);
}

TEST_F(SonicTest, RedisThatHangsHoldsNobodyUp) {
  const auto plan = backend_->plan(port_of(0), rules_of(Order::kUp));
  ASSERT_TRUE(plan);
  box_.pause(true);
  const auto start = std::chrono::steady_clock::now();
  backend_->apply({.ports = {*plan}});
  (void)backend_->take_events();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 100ms);
  std::optional<Error> why;
  while (!why && std::chrono::steady_clock::now() - start < 8s) {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 100);
    for (const Outcome& outcome : backend_->take_events().outcomes) why = outcome.why;
  }
  box_.pause(false);
  ASSERT_TRUE(why);
  EXPECT_THAT(to_string(*why), HasSubstr("no answer within 2 s"));
  EXPECT_TRUE(until([&] { return !backend_->down(); }));
}

TEST_F(SonicTest, PortThatSonicDoesNotKnowIsNamed) {
  const auto plan = backend_->plan({Ifindex::of<9>(), "eth0"}, rules_of(Order::kUp));
  ASSERT_FALSE(plan);
  EXPECT_EQ(to_string(plan.error()),
            "eth0: SONiC's CONFIG_DB has no PORT of that name: leave it out of `ports`");
}

TEST_F(SonicTest, OlderReleasesReferencesAreReadAndWritten) {
  for (int i = 0; i < 4; ++i)
    box_.ask(kConfig, {"HSET", "PORT_QOS_MAP|" + Box::name_of(i), "dscp_to_tc_map",
                       "[DSCP_TO_TC_MAP|AZURE]", "tc_to_queue_map", "[TC_TO_QUEUE_MAP|AZURE]"});
  backend_ = open();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(box_.row(kConfig, "PORT_QOS_MAP|Ethernet0").at("dscp_to_tc_map"),
            "[DSCP_TO_TC_MAP|LLDP_LEVEL_UP]");
  EXPECT_TRUE(backend_->plan(port_of(0), rules_of(Order::kUp))->empty());
  EXPECT_EQ(evaluate(box_, 0, 0, "0").queue, "0");
}

TEST(SonicPorts, SixtyFourInOneTransactionWithinTwentyMilliseconds) {
  Box box(64);
  if (!box.runs()) GTEST_SKIP() << "there is no redis-server here";
  auto backend = make_backend("sonic", {.sonic = box.options()});
  ASSERT_TRUE(backend);
  Plan plan;
  for (int i = 0; i < 64; ++i)
    plan.ports.push_back(
        *(*backend)->plan(port_of(i), rules_of(i % 2 == 0 ? Order::kUp : Order::kDown)));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(finish(**backend, plan));
  const auto took = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds",
                 std::to_string(std::chrono::duration<double, std::milli>(took).count()));
  EXPECT_LT(took, 500ms);  // 20 ms is the bar of a release build on a quiet machine
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(box.row(kConfig, "PORT_QOS_MAP|" + Box::name_of(i)).at("pfc_enable"), "5,6");
}

TEST(SonicMaps, FourLosslessClassesAreTooMany) {
  const auto rules = qos::compile(qos::Policy::with_lossless(4), {.order = Order::kUp});
  const auto maps = sonic::maps_of(rules, {});
  ASSERT_FALSE(maps);
  EXPECT_EQ(
      to_string(maps.error()),
      "qos.lossless: 4 lossless classes need 9 traffic classes and SONiC has 8: take 3 at most");
}

TEST(SonicOpening, SaysWhatIsWrongWithTheDatabaseConfiguration) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("lldp-sonic-" + std::to_string(::getpid()));
  std::ofstream(path) << R"({"DATABASES": {"CONFIG_DB": {"id": 4}}})";
  const auto backend = make_backend("sonic", {.sonic = {.config = path}});
  ASSERT_FALSE(backend);
  EXPECT_THAT(to_string(backend.error()), HasSubstr("has no ASIC_DB"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace lldp::dataplane
