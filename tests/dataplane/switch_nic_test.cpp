// SPDX-License-Identifier: Apache-2.0
// Ports whose driver takes rules of nftables (`flags offload`), with packets: tests/vm/module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "dataplane/factory.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/test_switch.hpp"
#include "tests/dataplane/wire.hpp"

namespace lldp::dataplane {
namespace {

using packet::frame4;
using packet::readdressed;
using testing::HasSubstr;

class SwitchNic : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = TestSwitch::load("ports=2 nic=1"); !why.empty())
      GTEST_SKIP() << why;
    ASSERT_TRUE(
        sh("for i in 0 1; do ip link set swp$i up; ip link set wire$i up; done; "
           "echo 1 >/proc/sys/net/ipv4/conf/all/forwarding; "
           "echo 0 >/proc/sys/net/ipv4/conf/wire1/forwarding; "
           "ip addr add 192.0.2.254/24 dev swp0 && ip addr add 198.51.100.254/24 dev swp1 && "
           "ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:09 dev swp1"));
    auto backend = make_backend("bpf", {.bpf = {.hook = BpfOptions::Hook::kClsact}});
    ASSERT_TRUE(backend) << to_string(backend.error());
    backend_ = std::move(*backend);
    for (const int n : {0, 1}) {
      const auto plan = backend_->plan(TestSwitch::port(n), rules_of(Order::kUp));
      ASSERT_TRUE(plan) << to_string(plan.error());
      ASSERT_TRUE(finish(*backend_, *plan));
    }
  }
  void TearDown() override {
    sh("nft delete table netdev t 2>/dev/null");
    if (!backend_) return;
    for (const int n : {0, 1})
      if (const auto plan = backend_->plan_removal(TestSwitch::port(n)))
        EXPECT_TRUE(finish(*backend_, *plan));
  }
  static std::optional<Bytes> through(const Bytes& frame) {
    const Wire in("wire0");
    const Wire out("wire1");
    EXPECT_TRUE(in.send(frame));
    return out.receive();
  }
  /// What is wrong with classify of swp0; empty: nothing.
  std::string complaint() {
    (void)backend_->glance(std::array{TestSwitch::port(0).ifindex}, Backend::Glance::kOfQuestion);
    const auto reading = backend_->verify(TestSwitch::port(0), rules_of(Order::kUp));
    EXPECT_TRUE(reading) << to_string(reading.error());
    if (reading)
      for (const PartReading& read : reading->parts)
        if (read.part == Part::kClassify && read.state != PartState::kDone) return read.text;
    return {};
  }

  std::unique_ptr<Backend> backend_;
};

TEST_F(SwitchNic, ChainThatTheHardwareForwardsByIsTold) {
  const Bytes frame = readdressed(frame4({.dscp = 43}), 0, 8);
  const Bytes turned = readdressed(frame4({.dscp = 51, .ttl = 63}), 9, 1);
  EXPECT_EQ(through(frame), turned);
  EXPECT_EQ(complaint(), "");
  ASSERT_TRUE(
      sh("nft 'add table netdev t; add chain netdev t c { type filter hook ingress device swp0 "
         "priority 1; flags offload; }; add rule netdev t c meta protocol ip fwd to swp1'"));
  EXPECT_EQ(through(frame), frame) << "the rules saw it";
  EXPECT_THAT(complaint(), HasSubstr("may let the hardware forward packets past the rules"));
  ASSERT_TRUE(sh("nft delete table netdev t"));
  EXPECT_EQ(through(frame), turned);
  EXPECT_EQ(complaint(), "");
}

}  // namespace
}  // namespace lldp::dataplane
