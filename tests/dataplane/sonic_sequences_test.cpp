// SPDX-License-Identifier: Apache-2.0
// What operators do to a box, in any order, while SONiC's processes and ours run between as they
// may. No part is `done` while the ASIC lacks something of it; at the end all is done or is said;
// and after a removal CONFIG_DB is what it would be without us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/dataplane/sonic_driver.hpp"

namespace lldp::dataplane {
namespace {

using sonic::Row;

constexpr int kPorts = 2;
constexpr int kSequences = 100;

enum class Deed : std::uint8_t {
  kQosReload,
  kQosClear,
  kBreakout,
  kSwssRestart,
  kRedisRestart,
  kKill,
  kConfigReload,
  kFlap,
};
constexpr int kDeeds = 8;

/// Our part, on one of two boxes alone.
class Us {
 public:
  explicit Us(Box& box) : box_(box), driver_(box) {
    driver_.want(0, Order::kUp);
    driver_.want(1, Order::kDown);
    driver_.open();
  }
  Driver& driver() { return driver_; }

  void turn() { driver_.turn(); }
  void kill() {
    driver_.kill();
    driver_.open();
  }
  void flap() {
    up_ = !up_;
    driver_.want(1, up_ ? Order::kUp : Order::kDown);
  }
  /// Parts that are said to be done are there.
  void check() {
    driver_.turns(8);  // what is said is what was read since SONiC last did something
    if (driver_.backend().down()) return;
    for (int port = 0; port < kPorts; ++port) {
      const auto reading = driver_.backend().verify(sonic_port(port), driver_.rules_of(port));
      if (!reading) continue;
      for (const PartReading& part : reading->parts)
        if (part.state == PartState::kDone) {
          EXPECT_EQ(missing(port, part.part), "") << to_string(part.part);
        }
    }
  }

 private:
  std::string attribute(int port, const std::string& name) {
    const Row oids = box_.row(kCounters, "COUNTERS_PORT_NAME_MAP");
    const auto oid = oids.find(Box::name_of(port));
    if (oid == oids.end()) return "no port";
    const Row row = box_.row(kAsic, "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + oid->second);
    const auto at = row.find(name);
    return at == row.end() ? "" : at->second;
  }
  /// What the ASIC lacks of the part, looked at with nothing of the back end's.
  std::string missing(int port, Part part) {
    const auto map = [&](const char* name) {
      const std::string oid = attribute(port, std::string("SAI_PORT_ATTR_QOS_") + name);
      const Row object = box_.row(kAsic, "ASIC_STATE:SAI_OBJECT_TYPE_QOS_MAP:" + oid);
      return object.contains("SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST") ? "" : std::string(name);
    };
    const bool up = driver_.rules_of(port).port.order == Order::kUp;
    if (part == Part::kClassify) return map("DSCP_TO_TC_MAP");
    if (part == Part::kRemap)
      return (up ? map("TC_AND_COLOR_TO_DSCP_MAP") : "") + map("TC_TO_QUEUE_MAP");
    if (part == Part::kPfc &&
        attribute(port, "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL") != std::to_string(0x60))
      return "PFC";
    for (const int p : {5, 6}) {
      const bool group = part == Part::kPfc;
      const Row object = box_.row(kAsic, std::string("ASIC_STATE:SAI_OBJECT_TYPE_") +
                                             (group ? "INGRESS_PRIORITY_GROUP:" : "QUEUE:") +
                                             box_.object_of(group ? "PG" : "QUEUE", port, p));
      const auto profile = object.find(group ? "SAI_INGRESS_PRIORITY_GROUP_ATTR_BUFFER_PROFILE"
                                             : "SAI_QUEUE_ATTR_BUFFER_PROFILE_ID");
      if (profile == object.end() || profile->second == "oid:0x0")
        return "buffer " + std::to_string(p);
    }
    return part == Part::kQueues ? map("TC_TO_PRIORITY_GROUP_MAP") : "";
  }
  Box& box_;
  Driver driver_;
  bool up_ = false;
};

/// A box with us, or without.
class Operated {
 public:
  explicit Operated(bool ours) {
    if (box.runs() && ours) us.emplace(box);
  }
  /// One of the three that run beside each other does something.
  void step(unsigned who) {
    if (who % 3 == 0)
      box.buffermgrd().run();
    else if (who % 3 == 1)
      box.swss().run();
    else if (us)
      us->turn();
  }
  void steps(std::mt19937& random) {
    for (unsigned n = random() % 6; n > 0; --n) step(static_cast<unsigned>(random() % 3));
  }
  void run(Deed deed, std::mt19937& random) {
    switch (deed) {
      case Deed::kQosReload:
        box.clear_qos();
        steps(random);
        box.load_buffers();
        steps(random);
        box.load_qos();
        break;
      case Deed::kQosClear:
        box.clear_qos();
        break;
      case Deed::kBreakout: {
        const std::string port = Box::name_of(1);
        const Row names = box.row(kCounters, "COUNTERS_PORT_NAME_MAP");
        const Row row = box.row(kConfig, "PORT|" + port);
        for (const char* table : {"PORT|", "PORT_QOS_MAP|", "BUFFER_PG|", "BUFFER_QUEUE|"})
          for (const std::string& key : box.keys(kConfig, table + port + "*"))
            box.ask(kConfig, {"DEL", key});
        box.ask(kCounters, {"HDEL", "COUNTERS_PORT_NAME_MAP", port});
        box.ask(kAsic, {"DEL", "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + names.at(port)});
        steps(random);
        box.settle();
        std::vector<std::string> words{"HSET", "PORT|" + port};
        for (const auto& [field, value] : row) words.insert(words.end(), {field, value});
        box.ask(kConfig, words);
        box.ask(kCounters, {"HSET", "COUNTERS_PORT_NAME_MAP", port, names.at(port)});
        steps(random);
        box.load_buffers();
        box.load_port_qos(1);
        break;
      }
      case Deed::kSwssRestart:
        box.restart_swss();
        break;
      case Deed::kRedisRestart:
        box.stop();
        if (us)
          for (int i = 0; i < 3; ++i) us->turn();
        box.start();
        box.restart_swss();
        break;
      case Deed::kKill:
        if (us) us->kill();
        break;
      case Deed::kConfigReload: {
        for (const std::string& key : box.keys(kConfig, "*"))
          if (!key.starts_with("PORT|")) box.ask(kConfig, {"DEL", key});
        if (us) steps(random);
        box.restart_swss();
        steps(random);
        box.ask(kConfig, {"HSET", "VERSIONS|DATABASE", "VERSION", "version_202505_01"});
        box.load_buffers();
        box.load_qos();
        break;
      }
      case Deed::kFlap:
        if (us) us->flap();
        break;
    }
    steps(random);
  }
  std::map<std::string, Row> config() {
    std::map<std::string, Row> rows;
    for (const std::string& key : box.keys(kConfig, "*")) rows[key] = box.row(kConfig, key);
    return rows;
  }
  Box box{kPorts};
  std::optional<Us> us{};
};

class SonicSequence : public testing::TestWithParam<int> {};

TEST_P(SonicSequence, IsSurvived) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  Operated ours(true);
  Operated theirs(false);
  if (!ours.box.runs()) GTEST_SKIP() << "there is no redis-server here";
  std::string told;
  Deed last = Deed::kKill;
  for (unsigned n = 2 + static_cast<unsigned>(random() % 5); n > 0; --n) {
    last = static_cast<Deed>(random() % kDeeds);
    told += std::to_string(static_cast<int>(last)) + " ";
    SCOPED_TRACE(told);
    ours.run(last, random);
    theirs.run(last, random);
    ours.us->check();
    if (HasFailure()) return;
  }
  SCOPED_TRACE(told);
  const auto at_rest = [&](int port) {
    const std::string states = ours.us->driver().states(port);
    const bool refused = ours.us->driver().refused.contains(sonic_port(port).ifindex);
    return states == "done done done done" || states.find("bypassed") != states.npos || refused;
  };
  EXPECT_TRUE(
      ours.us->driver().until([&] { return at_rest(0) && at_rest(1); }, [&] { ours.box.settle(); }))
      << ours.us->driver().states(0) << ", " << ours.us->driver().states(1);
  ours.us->check();
  // With the buffers that the templates give and PFC asks for, everything can be done.
  if (!ours.box.row(kConfig, "BUFFER_POOL|ingress_lossless_pool").empty() &&
      !ours.box.row(kConfig, "PORT_QOS_MAP|Ethernet4").empty()) {
    EXPECT_TRUE(ours.us->driver().until_done())
        << ours.us->driver().states(0) << ", " << ours.us->driver().states(1)
        << ours.us->driver().text(0, Part::kPfc) << ours.us->driver().text(1, Part::kPfc);
  }
  ours.us->driver().kill();
  ours.us->driver().open();
  const auto removed = remove_all(ours.us->driver().backend());
  EXPECT_TRUE(removed) << to_string(removed.error());
  // A value that its buffer manager has seen before makes it leave out a port's buffers, without us
  // too: one that is started anew has seen none.
  for (Operated* box : {&ours, &theirs}) {
    box->box.restart_swss();
    box->box.settle();
  }
  EXPECT_EQ(ours.config(), theirs.config());
}

INSTANTIATE_TEST_SUITE_P(Random, SonicSequence, testing::Range(0, kSequences));

}  // namespace
}  // namespace lldp::dataplane
