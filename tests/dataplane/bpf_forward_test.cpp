// SPDX-License-Identifier: Apache-2.0
// Packets that turn behind what a switch puts between its ports and its routes. Most kernels of
// build machines have not all of it; Debian's has (./run test-vm).
#include "tests/dataplane/bpf_fixture.hpp"

namespace lldp::dataplane {
namespace {

using packet::frame4;
using packet::frame6;
using packet::readdressed;

class BpfForward : public BpfBackend {
 protected:
  void SetUp() override {
    BpfBackend::SetUp();
    for (const char* n : {"red", "bond0", "bond1"})
      sh("ip link del " + std::string(n) + " 2>/dev/null");
  }
  /// Routes by `in` and `out`, in the VRF's table if there is one.
  static void route_by(const std::string& in, const std::string& out, const std::string& vrf = "") {
    ASSERT_TRUE(sh("ip addr add 192.0.2.254/24 dev " + in +
                   " && ip addr add 198.51.100.254/24 dev " + out +
                   " && ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev " + out +
                   " && ip -6 route replace 3031:3233::/32 dev " + out + vrf +
                   " && ip -6 neigh replace 3031:3233:3435:3637:3839:3a3b:3c3d:3e3f lladdr "
                   "02:00:00:00:00:04 dev " +
                   out));
  }
  /// What goes in by an up port turns where it leaves by one, and nothing else does.
  void expect_turns(Tags in = {}, Tags plain = {}, Tags turned = {}) {
    for (Order from : {Order::kUp, Order::kDown}) {
      for (Order to : {Order::kUp, Order::kDown}) {
        put(from, to);
        const bool turns = from == Order::kUp && to == Order::kUp;
        const unsigned dscp = turns ? 51 : 43;
        EXPECT_EQ(
            through(frame4({.dscp = 43, .ecn = 1}, in)),
            readdressed(frame4({.dscp = dscp, .ecn = 1, .ttl = 63}, turns ? turned : plain), 4, 3))
            << to_string(from) << to_string(to);
        EXPECT_EQ(
            through(frame6({.dscp = 43, .ecn = 2}, in)),
            readdressed(frame6({.dscp = dscp, .ecn = 2, .hops = 63}, turns ? turned : plain), 4, 3))
            << to_string(from) << to_string(to);
      }
    }
    EXPECT_EQ(backend_->bounces(p1_), (Bounces{0, 0, 0, 0, 0, 2, 0, 0}));
  }
};

TEST_P(BpfForward, RoutedInAVrf) {
  if (!sh("ip link add red up type vrf table 100")) GTEST_SKIP() << "this kernel has no VRF";
  ASSERT_TRUE(sh("ip link set p0 master red && ip link set p1 master red"));
  route_by("p0", "p1", " vrf red");
  expect_turns();
}

TEST_P(BpfForward, RoutedBetweenBonds) {
  if (!sh("ip link add bond0 type bond mode active-backup && ip link add bond1 type bond mode "
          "active-backup"))
    GTEST_SKIP() << "this kernel has no bonds";
  ASSERT_TRUE(
      sh("for i in 0 1; do ip link set p$i down && ip link set p$i master bond$i && ip link set "
         "bond$i up; done"));
  route_by("bond0", "bond1");
  expect_turns();
}

TEST_P(BpfForward, RoutedBetweenVlansOfBonds) {
  if (!sh("ip link add bond0 type bond mode active-backup && ip link add bond1 type bond mode "
          "active-backup"))
    GTEST_SKIP() << "this kernel has no bonds";
  ASSERT_TRUE(
      sh("for i in 0 1; do ip link set p$i down && ip link set p$i master bond$i && ip link set "
         "bond$i up && ip link add link bond$i name bond$i.10 up type vlan id 10; done"));
  route_by("bond0.10", "bond1.10");
  expect_turns({{0x8100, 10}}, {{0x8100, 10}}, {{0x8100, 0xc00a}});
}

/// Each port an access port of its VLAN, with the switch's own addresses on the bridge.
TEST_P(BpfForward, RoutedBetweenVlansOfABridge) {
  if (!sh("ip link add br0 address 02:00:00:00:00:01 up type bridge vlan_filtering 1"))
    GTEST_SKIP() << "this kernel's bridges know no VLANs";
  ASSERT_TRUE(
      sh("for i in 0 1; do ip link set p$i master br0 && bridge vlan del dev p$i vid 1 && "
         "bridge vlan add dev p$i vid 1$i pvid untagged && bridge vlan add dev br0 vid 1$i self && "
         "ip link add link br0 name br0.1$i address 02:00:00:00:00:0$((1+2*i)) up type vlan id "
         "1$i; done"));
  route_by("br0.10", "br0.11");
  expect_turns();
}

TEST_P(BpfForward, BridgedFromAnAccessPortIntoATrunk) {
  if (!sh("ip link add br0 up type bridge vlan_filtering 1"))
    GTEST_SKIP() << "this kernel's bridges know no VLANs";
  ASSERT_TRUE(
      sh("for i in 0 1; do ip link set p$i master br0 && bridge vlan del dev p$i vid 1; done && "
         "bridge vlan add dev p0 vid 100 pvid untagged && bridge vlan add dev p1 vid 100"));
  put(Order::kDown, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}, {{0x8100, 100}}));
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}, {{0x8100, 0xc064}}));
  EXPECT_EQ(through(across6({.dscp = 51})), across6({.dscp = 0}, {{0x8100, 100}}));
  EXPECT_EQ(through(across4({.dscp = 46})), across4({.dscp = 46}, {{0x8100, 100}}));
  EXPECT_EQ(backend_->bounces(p1_), (Bounces{0, 0, 0, 0, 0, 1, 1, 0}));
}

INSTANTIATE_TEST_SUITE_P(On, BpfForward, testing::Values(Means::kAuto, Means::kClsact),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace lldp::dataplane
