// SPDX-License-Identifier: Apache-2.0
// tc flower: in the kernel, on veths, and on the switch chip of tests/vm/module, with real packets
// through both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "dataplane/factory.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/test_switch.hpp"
#include "tests/dataplane/wire.hpp"

namespace lldp::dataplane {
namespace {

using packet::frame4;
using packet::frame6;
using packet::readdressed;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Offload = FlowerOptions::Offload;

/// Why there is no flower classifier here; empty: there is.
std::string no_flower() {
  if (const char* module = std::getenv("LLDP_TEST_SWITCH"); module == nullptr)
    return "needs the kernel of tests/vm: ./run test-vm";
  return {};
}

/// Ports that no chip forwards between: p0 and p1, whose wires are q0 and q1.
void make_veths() {
  for (const char* n : {"p0", "p1", "br0"}) sh("ip link del " + std::string(n) + " 2>/dev/null");
  ASSERT_TRUE(
      sh("ip link add p0 address 02:00:00:00:00:01 type veth peer name q0 address "
         "02:00:00:00:00:02 &&"
         "ip link add p1 address 02:00:00:00:00:03 type veth peer name q1 address "
         "02:00:00:00:00:04 &&"
         "for i in p0 q0 p1 q1; do ip link set $i up; done &&"
         "echo 1 >/proc/sys/net/ipv4/conf/all/forwarding &&"
         "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"));
}

class FlowerWorld : public World {
 public:
  FlowerWorld(bool chip, Offload offload) : chip_(chip), offload_(offload) {
    why_not_ = no_flower();
    if (!why_not_.empty()) return;
    if (chip)
      why_not_ = TestSwitch::load("ports=2");
    else {
      sh("rmmod lldp_test_switch 2>/dev/null");
      make_veths();
    }
  }
  std::unique_ptr<Backend> open() override {
    if (!why_not_.empty()) return nullptr;
    auto backend = make_backend("flower", {.flower = {.offload = offload_}});
    if (backend) return std::move(*backend);
    why_not_ = to_string(backend.error());
    return nullptr;
  }
  std::string why_not() const override { return why_not_; }
  PortRef port(int n) override {
    if (chip_) return TestSwitch::port(n);
    const std::string name = "p" + std::to_string(n);
    return {Ifindex::make(::if_nametoindex(name.c_str())).value_or(Ifindex()), name};
  }
  bool forgets() const override { return false; }  // the qdisc goes with the interface

 private:
  bool chip_;
  Offload offload_;
  std::string why_not_{};
};
struct VethWorld : FlowerWorld {
  VethWorld() : FlowerWorld(false, Offload::kAuto) {}
};
struct ChipWorld : FlowerWorld {
  ChipWorld() : FlowerWorld(true, Offload::kRequire) {}
};
INSTANTIATE_TEST_SUITE_P(Flower, BackendContract,
                         testing::Values(world_case<VethWorld>("InSoftware"),
                                         world_case<ChipWorld>("InHardware")),
                         [](const auto& c) { return c.param.name; });

class FlowerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = no_flower(); !why.empty()) GTEST_SKIP() << why;
  }
  void open(Offload offload) {
    auto backend = make_backend("flower", {.flower = {.offload = offload}});
    ASSERT_TRUE(backend) << to_string(backend.error());
    backend_ = std::move(*backend);
  }
  Result<void> put(const PortRef& port, Order order) {
    const auto plan = backend_->plan(port, rules_of(order));
    if (!plan) return fail(plan.error());
    return finish(*backend_, *plan);
  }
  /// As "classify done, remap missing".
  std::string states(const PortRef& port, Order order) {
    const auto reading = backend_->verify(port, rules_of(order));
    std::string text;
    for (const PartReading& read : reading ? reading->parts : std::vector<PartReading>{})
      text.append(text.empty() ? "" : ", ")
          .append(to_string(read.part))
          .append(" ")
          .append(to_string(read.state));
    return text;
  }
  std::string text_of(const PortRef& port, Order order, Part part) {
    const auto reading = backend_->verify(port, rules_of(order));
    for (const PartReading& read : reading ? reading->parts : std::vector<PartReading>{})
      if (read.part == part) return read.text;
    return {};
  }
  static constexpr const char* kDone = "classify done, remap done";

  std::unique_ptr<Backend> backend_;
};

class FlowerInSoftware : public FlowerTest {
 protected:
  void SetUp() override {
    FlowerTest::SetUp();
    if (IsSkipped()) return;
    sh("rmmod lldp_test_switch 2>/dev/null");
    make_veths();
    open(Offload::kOff);
  }
  static PortRef port(int n) {
    const std::string name = "p" + std::to_string(n);
    return {*Ifindex::make(::if_nametoindex(name.c_str())), name};
  }
  static std::optional<Bytes> through(const Bytes& frame) {
    const Wire in("q0");
    const Wire out("q1");
    EXPECT_TRUE(in.send(frame));
    return out.receive();
  }
};

TEST_F(FlowerInSoftware, RoutedPacketTurnsOnlyFromUpToUp) {
  ASSERT_TRUE(
      sh("ip addr add 192.0.2.254/24 dev p0 && ip addr add 198.51.100.254/24 dev p1 && "
         "ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev p1 && "
         "ip -6 route replace 3031:3233::/32 dev p1 && "
         "ip -6 neigh replace 3031:3233:3435:3637:3839:3a3b:3c3d:3e3f lladdr 02:00:00:00:00:04 "
         "dev p1"));
  for (Order in : {Order::kUp, Order::kDown, Order::kUnknown}) {
    for (Order out : {Order::kUp, Order::kDown}) {
      ASSERT_TRUE(put(port(0), in));
      ASSERT_TRUE(put(port(1), out));
      const unsigned dscp = in == Order::kUp && out == Order::kUp ? 51 : 43;
      EXPECT_EQ(through(frame4({.dscp = 43, .ecn = 1})),
                readdressed(frame4({.dscp = dscp, .ecn = 1, .ttl = 63}), 4, 3))
          << to_string(in) << to_string(out);
      EXPECT_EQ(through(frame6({.dscp = 43, .ecn = 2})),
                readdressed(frame6({.dscp = dscp, .ecn = 2, .hops = 63}), 4, 3))
          << to_string(in) << to_string(out);
    }
  }
  EXPECT_EQ(states(port(1), Order::kDown), kDone);
}

TEST_F(FlowerInSoftware, BridgedPacketTurnsOnceAndOthersPass) {
  ASSERT_TRUE(sh(
      "ip link add br0 up type bridge && ip link set p0 master br0 && ip link set p1 master br0"));
  ASSERT_TRUE(put(port(0), Order::kUp));
  ASSERT_TRUE(put(port(1), Order::kUp));
  const auto across = [](unsigned dscp) {
    return readdressed(frame4({.dscp = dscp, .ecn = 3}), 4, 2);
  };
  EXPECT_EQ(through(across(43)), across(51));
  EXPECT_EQ(through(across(51)), across(0));
  EXPECT_EQ(through(across(46)), across(46));
  (void)backend_->glance({}, Backend::Glance::kOfTime);
  EXPECT_THAT(backend_->description(),
              HasSubstr("in software, 1 packets of dscp43 turned, 1 packets of dscp51 turned"));
}

TEST_F(FlowerInSoftware, QdiscOfAnotherIsForeignAndStays) {
  ASSERT_TRUE(sh("tc qdisc add dev p0 clsact"));
  EXPECT_EQ(states(port(0), Order::kUp), "classify foreign, remap foreign");
  const auto done = put(port(0), Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("a clsact or ingress qdisc that is not ours"));
  EXPECT_THAT(*backend_->ports(), IsEmpty());
  EXPECT_THAT(output_of("tc qdisc show dev p0 clsact"), Not(HasSubstr("block")));
  ASSERT_TRUE(sh("tc qdisc del dev p0 clsact"));
  ASSERT_TRUE(put(port(0), Order::kUp));
  EXPECT_EQ(states(port(0), Order::kUp), kDone);
}

class FlowerInHardware : public FlowerTest {
 protected:
  void load(const std::string& parameters, Offload offload = Offload::kRequire) {
    if (const std::string why = TestSwitch::load(parameters); !why.empty()) GTEST_SKIP() << why;
    open(offload);
  }
  static void up(int ports) {
    for (int n = 0; n < ports; ++n)
      ASSERT_TRUE(sh("ip link set swp" + std::to_string(n) + " up && ip link set wire" +
                     std::to_string(n) + " up"));
  }
  /// What the chip makes of a frame that comes in at port 0 and leaves by port 1.
  static std::optional<Bytes> through(const Bytes& frame) {
    const Wire in("wire0");
    const Wire out("wire1");
    EXPECT_TRUE(in.send(frame));
    return out.receive();
  }
  /// Packets that left by port 1, by priority.
  static std::string queues() {
    return output_of(
        "sed -n 's/^swp1 //p' /sys/kernel/debug/lldp_test_switch/queues | tr -d '\\n'");
  }
};

TEST_F(FlowerInHardware, ChipTurnsPacketsOnlyFromUpToUp) {
  load("ports=3");
  if (IsSkipped()) return;
  up(2);
  for (Order in : {Order::kUp, Order::kDown}) {
    for (Order out : {Order::kUp, Order::kDown}) {
      ASSERT_TRUE(put(TestSwitch::port(0), in));
      ASSERT_TRUE(put(TestSwitch::port(1), out));
      const unsigned dscp = in == Order::kUp && out == Order::kUp ? 51 : 43;
      EXPECT_EQ(through(frame4({.dscp = 43, .ecn = 1})), frame4({.dscp = dscp, .ecn = 1}))
          << to_string(in) << to_string(out);
      EXPECT_EQ(through(frame6({.dscp = 43, .ecn = 2})), frame6({.dscp = dscp, .ecn = 2}))
          << to_string(in) << to_string(out);
    }
  }
  EXPECT_EQ(queues(), "0 0 0 0 0 6 2 0");
  ASSERT_TRUE(put(TestSwitch::port(0), Order::kUp));
  ASSERT_TRUE(put(TestSwitch::port(1), Order::kUp));
  EXPECT_EQ(through(frame4({.dscp = 51})), frame4({.dscp = 0}));
  EXPECT_EQ(through(frame4({.dscp = 46})), frame4({.dscp = 46}));
  EXPECT_EQ(queues(), "2 0 0 0 0 6 2 0");
  (void)backend_->glance({}, Backend::Glance::kOfTime);
  EXPECT_THAT(backend_->description(), HasSubstr("in hardware"));
  EXPECT_THAT(backend_->description(), HasSubstr("1 packets of dscp51 turned"));
}

TEST_F(FlowerInHardware, SixtyFourUpPortsTakeOneRuleEachAndFewForAll) {
  load("ports=65");
  if (IsSkipped()) return;
  Plan plan;
  for (int n = 0; n < 64; ++n)
    plan.ports.push_back(*backend_->plan(TestSwitch::port(n), rules_of(Order::kUp)));
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(finish(*backend_, plan));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  RecordProperty("milliseconds", std::to_string(took.count()));
  std::cout << "64 ports in " << took.count() << " ms\n";
  constexpr unsigned kForAll = 12;  // two classes, two families: ingress, egress and turns
  EXPECT_EQ(TestSwitch::get("added"), 64 + kForAll);
  EXPECT_EQ(TestSwitch::get("removed"), 0U);
  for (int n = 0; n < 64; ++n) EXPECT_EQ(states(TestSwitch::port(n), Order::kUp), kDone) << n;
  // One port's order: its own rule, and those that the first port of its kind needs.
  ASSERT_TRUE(put(TestSwitch::port(7), Order::kDown));
  EXPECT_EQ(TestSwitch::get("removed"), 1U);
  EXPECT_EQ(TestSwitch::get("added"), 64 + kForAll + 4);
  ASSERT_TRUE(put(TestSwitch::port(8), Order::kDown));
  EXPECT_EQ(TestSwitch::get("removed"), 2U);
  EXPECT_EQ(TestSwitch::get("added"), 64 + kForAll + 4);
  ASSERT_TRUE(put(TestSwitch::port(8), Order::kUp));
  EXPECT_EQ(TestSwitch::get("added"), 64 + kForAll + 5);
  // A restart changes nothing.
  open(Offload::kRequire);
  for (int n = 0; n < 64; ++n)
    EXPECT_TRUE(
        backend_->plan(TestSwitch::port(n), rules_of(n == 7 ? Order::kDown : Order::kUp))->empty());
  EXPECT_EQ(TestSwitch::get("added"), 64 + kForAll + 5);
}

TEST_F(FlowerInHardware, RefusalIsSaidInTheDriversWordsAndLeavesThePortBare) {
  load("ports=2");
  if (IsSkipped()) return;
  TestSwitch::set("refuse", "Y");
  const auto done = put(TestSwitch::port(0), Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()),
              AllOf(HasSubstr("swp0: add classify: "), HasSubstr("The table of rules is full")));
  EXPECT_THAT(*backend_->ports(), IsEmpty());
  EXPECT_THAT(output_of("tc qdisc show dev swp0"), Not(HasSubstr("clsact")));
}

TEST_F(FlowerInHardware, RefusalWhereAPortTurnsLeavesItAsItWas) {
  load("ports=2");
  if (IsSkipped()) return;
  ASSERT_TRUE(put(TestSwitch::port(0), Order::kDown));
  ASSERT_TRUE(put(TestSwitch::port(1), Order::kDown));
  TestSwitch::set("refuse", "Y");
  ASSERT_FALSE(put(TestSwitch::port(0), Order::kUp));
  EXPECT_EQ(states(TestSwitch::port(0), Order::kDown), kDone);
}

TEST_F(FlowerInHardware, ChipThatTakesNothingAtTheEgressIsNamed) {
  load("ports=2 no_egress=1");
  if (IsSkipped()) return;
  const auto done = put(TestSwitch::port(0), Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("the driver of this port, or of another with "
                                                 "rules, takes no flower filters at the egress"));
  EXPECT_THAT(*backend_->ports(), IsEmpty());
}

TEST_F(FlowerInHardware, PortThatNoChipForwardsForIsRefusedBesideThoseOfAChip) {
  load("ports=2");
  if (IsSkipped()) return;
  ASSERT_TRUE(put(TestSwitch::port(0), Order::kUp));
  make_veths();
  const auto done = put({*Ifindex::make(::if_nametoindex("p0")), "p0"}, Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("those of other ports are in hardware"));
  EXPECT_EQ(states(TestSwitch::port(0), Order::kUp), kDone);
  EXPECT_THAT(*backend_->ports(), ElementsAre(TestSwitch::port(0)));
}

TEST_F(FlowerInHardware, PortOfAnotherChipIsRefusedWithTheReason) {
  load("ports=4 asics=2");
  if (IsSkipped()) return;
  ASSERT_TRUE(put(TestSwitch::port(0), Order::kUp));
  const auto done = put(TestSwitch::port(1), Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("another switch"));
  ASSERT_TRUE(put(TestSwitch::port(2), Order::kUp));
  EXPECT_EQ(states(TestSwitch::port(0), Order::kUp), kDone);
  EXPECT_EQ(states(TestSwitch::port(2), Order::kUp), kDone);
}

TEST_F(FlowerInHardware, AutomaticFallsBackToSoftwareAndSaysThatTheChipForwardsPastIt) {
  load("ports=2 refuse=1", Offload::kAuto);
  if (IsSkipped()) return;
  ASSERT_TRUE(put(TestSwitch::port(0), Order::kUp));
  EXPECT_EQ(states(TestSwitch::port(0), Order::kUp), "classify bypassed, remap bypassed");
  EXPECT_THAT(text_of(TestSwitch::port(0), Order::kUp, Part::kRemap),
              AllOf(HasSubstr("the switch chip forwards past the kernel"),
                    HasSubstr("The table of rules is full")));
}

TEST_F(FlowerInHardware, WhatOthersTakeAwayIsSeenAndPutBack) {
  load("ports=2");
  if (IsSkipped()) return;
  for (int n : {0, 1}) ASSERT_TRUE(put(TestSwitch::port(n), Order::kUp));
  (void)backend_->take_events();
  EXPECT_EQ(states(TestSwitch::port(0), Order::kUp), kDone);
  const unsigned block = 0x4c4c02;
  ASSERT_TRUE(sh("tc filter del block " + std::to_string(block) +
                 " protocol ip pref 20 chain 1 && tc filter del block " + std::to_string(block) +
                 " pref 10 handle " + std::to_string(TestSwitch::port(0).ifindex.value()) +
                 " flower"));
  EXPECT_EQ(states(TestSwitch::port(0), Order::kUp), "classify missing, remap missing");
  EXPECT_EQ(states(TestSwitch::port(1), Order::kUp), "classify done, remap missing");
  EXPECT_FALSE(backend_->take_events().changed.empty());
  ASSERT_TRUE(put(TestSwitch::port(0), Order::kUp));
  for (int n : {0, 1}) EXPECT_EQ(states(TestSwitch::port(n), Order::kUp), kDone);
}

TEST_F(FlowerInHardware, RuleOfAVanishedPortGoes) {
  load("ports=2");
  if (IsSkipped()) return;
  for (int n : {0, 1}) ASSERT_TRUE(put(TestSwitch::port(n), Order::kUp));
  // The qdisc goes with an interface; its rule in the others' block stays.
  const PortRef gone = TestSwitch::port(0);
  ASSERT_TRUE(sh("tc qdisc del dev swp0 clsact"));
  const unsigned removed = TestSwitch::get("removed");
  backend_->forget(gone.ifindex);
  EXPECT_EQ(TestSwitch::get("removed"), removed + 1);
  EXPECT_THAT(*backend_->ports(), ElementsAre(TestSwitch::port(1)));
}

}  // namespace
}  // namespace lldp::dataplane
