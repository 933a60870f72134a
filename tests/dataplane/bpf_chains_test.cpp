// SPDX-License-Identifier: Apache-2.0
// Two chains, ports that restore, are shut, or that some classes do not cross, by packets: every
// class, whatever the order of both ports, on every way through the machine.
#include <array>
#include <map>

#include "tests/dataplane/bpf_fixture.hpp"

namespace lldp::dataplane {
namespace {

using packet::frame4;
using packet::frame6;
using packet::readdressed;

const qos::Policy kTwo =
    qos::Policy::parse("3:dscp26+24-25>2:dscp19,4:dscp4>5:dscp43", "0:dscp0").value();

constexpr qos::PortClass kPorts[] = {{.order = Order::kUnknown},
                                     {.order = Order::kDown},
                                     {.order = Order::kDown, .restore = true},
                                     {.order = Order::kUp},
                                     {.order = Order::kShut},
                                     {.order = Order::kUp, .lossy = 1U << 3 | 1U << 5},
                                     {.order = Order::kDown, .lossy = 1U << 2}};

/// A DSCP and the priority by which the rules know it: application classes by their marks and by
/// another of their DSCPs, spares, the lossy class, and two that are of no class.
constexpr std::pair<unsigned, unsigned> kClasses[] = {{26, 3}, {24, 3}, {19, 2}, {4, 4},
                                                      {43, 5}, {0, 0},  {46, 7}, {16, 7}};

constexpr int kHang = 10'000;  ///< milliseconds for one packet, on a busy machine too

std::string text_of(qos::PortClass port) {
  return std::string(to_string(port.order)) + (port.restore ? " restoring" : "") +
         (port.lossy != 0 ? " not for " + std::to_string(port.lossy) : "");
}

/// One way through the machine: what goes in with a DSCP and a PCP, and what has to come out.
struct Way {
  const char* name = "";
  std::function<Bytes(unsigned dscp, unsigned pcp)> in{};
  std::function<Bytes(unsigned dscp, unsigned pcp)> out{};
};

class BpfChains : public BpfBackend {
 protected:
  /// The far end is of this machine too: what comes out there is not to come back.
  static void not_back() {
    ASSERT_TRUE(
        sh("echo 0 >/proc/sys/net/ipv4/conf/q1/forwarding && "
           "echo 1 >/proc/sys/net/ipv6/conf/q1/disable_ipv6"));
  }
  void expect_all(const std::vector<Way>& ways) {
    const Wire from("q0");
    const Wire to("q1");
    for (const qos::PortClass& in : kPorts)
      for (const qos::PortClass& out : kPorts) {
        put(p0_, qos::compile(kTwo, in));
        put(p1_, qos::compile(kTwo, out));
        for (const auto& [dscp, priority] : kClasses) {
          const qos::Class c{*Priority::make(priority), *Dscp::make(dscp)};
          const qos::Class after = qos::remap(kTwo, in, out, c);
          // The PCP follows a class that changes, and is not ours to set where it does not.
          const unsigned pcp = after == c ? 1 : after.priority.value();
          for (const Way& way : ways) {
            ASSERT_TRUE(from.send(way.in(dscp, 1)));
            ASSERT_EQ(to.receive(kHang), way.out(after.dscp.value(), pcp))
                << way.name << ", dscp" << dscp << " from " << text_of(in) << " to "
                << text_of(out);
          }
        }
      }
  }
};

std::uint32_t tci(unsigned pcp, unsigned vid) { return pcp << 13 | vid; }

TEST_P(BpfChains, BridgedPacketsOfEveryClassByEveryPairOfPorts) {
  bridge();
  const auto tagged4 = [](unsigned dscp, unsigned pcp) {
    return across4({.dscp = dscp, .ecn = 1}, {{0x8100, tci(pcp, 100)}});
  };
  const auto twice6 = [](unsigned dscp, unsigned pcp) {
    return across6({.dscp = dscp, .ecn = 3}, {{0x88a8, tci(pcp, 100)}, {0x8100, tci(pcp, 101)}});
  };
  const auto plain4 = [](unsigned dscp, unsigned) { return across4({.dscp = dscp, .ecn = 3}); };
  const auto plain6 = [](unsigned dscp, unsigned) { return across6({.dscp = dscp, .ecn = 2}); };
  const auto fragment = [](unsigned dscp, unsigned) {
    return across4({.dscp = dscp, .ecn = 1, .fragment = 0x00b9});
  };
  expect_all({{"IPv4", plain4, plain4},
              {"IPv6", plain6, plain6},
              {"a fragment", fragment, fragment},
              {"IPv4 with a VLAN tag", tagged4, tagged4},
              {"IPv6 with two", twice6, twice6}});
}

TEST_P(BpfChains, RoutedPacketsOfEveryClassByEveryPairOfPorts) {
  route();
  not_back();
  expect_all({{"IPv4", [](unsigned dscp, unsigned) { return frame4({.dscp = dscp, .ecn = 1}); },
               [](unsigned dscp, unsigned) {
                 return readdressed(frame4({.dscp = dscp, .ecn = 1, .ttl = 63}), 4, 3);
               }},
              {"IPv6", [](unsigned dscp, unsigned) { return frame6({.dscp = dscp, .ecn = 2}); },
               [](unsigned dscp, unsigned) {
                 return readdressed(frame6({.dscp = dscp, .ecn = 2, .hops = 63}), 4, 3);
               }},
              {"a fragment",
               [](unsigned dscp, unsigned) { return frame4({.dscp = dscp, .fragment = 0x2000}); },
               [](unsigned dscp, unsigned) {
                 return readdressed(frame4({.dscp = dscp, .ttl = 63, .fragment = 0x2000}), 4, 3);
               }}});
}

TEST_P(BpfChains, PacketsOfEveryClassRoutedBehindBonds) {
  for (const char* n : {"bond0", "bond1"}) sh("ip link del " + std::string(n) + " 2>/dev/null");
  if (!sh("ip link add bond0 type bond mode active-backup && ip link add bond1 type bond mode "
          "active-backup 2>/dev/null"))
    GTEST_SKIP() << "this kernel has no bonds";
  ASSERT_TRUE(
      sh("for i in 0 1; do ip link set p$i down && ip link set p$i master bond$i && ip link set "
         "bond$i up; done"));
  route("", "bond");
  not_back();
  expect_all({{"IPv4", [](unsigned dscp, unsigned) { return frame4({.dscp = dscp, .ecn = 1}); },
               [](unsigned dscp, unsigned) {
                 return readdressed(frame4({.dscp = dscp, .ecn = 1, .ttl = 63}), 4, 3);
               }},
              {"IPv6", [](unsigned dscp, unsigned) { return frame6({.dscp = dscp, .ecn = 2}); },
               [](unsigned dscp, unsigned) {
                 return readdressed(frame6({.dscp = dscp, .ecn = 2, .hops = 63}), 4, 3);
               }}});
  for (const char* n : {"bond0", "bond1"}) sh("ip link del " + std::string(n));
}

// The port's programs see the tag, and the packet comes to them by an interface above.
TEST_P(BpfChains, PacketsOfEveryClassRoutedByVlanInterfaces) {
  if (!sh("ip link add link p0 name p0.10 up type vlan id 10 && ip link add link p1 name p1.10 up "
          "type vlan id 10"))
    GTEST_SKIP() << "this kernel has no VLAN interfaces";
  route(".10");
  not_back();
  // A VLAN interface writes a tag of its own, with PCP 0 by default.
  const auto pcp_of = [](unsigned pcp) { return pcp == 1 ? 0 : pcp; };
  expect_all(
      {{"IPv4",
        [](unsigned dscp, unsigned pcp) {
          return frame4({.dscp = dscp, .ecn = 1}, {{0x8100, tci(pcp, 10)}});
        },
        [&](unsigned dscp, unsigned pcp) {
          return readdressed(
              frame4({.dscp = dscp, .ecn = 1, .ttl = 63}, {{0x8100, tci(pcp_of(pcp), 10)}}), 4, 3);
        }},
       {"IPv6",
        [](unsigned dscp, unsigned pcp) {
          return frame6({.dscp = dscp, .ecn = 2}, {{0x8100, tci(pcp, 10)}});
        },
        [&](unsigned dscp, unsigned pcp) {
          return readdressed(
              frame6({.dscp = dscp, .ecn = 2, .hops = 63}, {{0x8100, tci(pcp_of(pcp), 10)}}), 4, 3);
        }}});
}

TEST_P(BpfChains, UnclassedPacketsThatTurnAreCountedByDscp) {
  bridge();
  put(p0_, qos::compile(kTwo, {.order = Order::kUp}));
  put(p1_, qos::compile(kTwo, {.order = Order::kUp}));
  for (const unsigned dscp : {46U, 46U, 16U, 26U, 19U, 0U}) {
    ASSERT_TRUE(through(across4({.dscp = dscp})));
    ASSERT_TRUE(through(across6({.dscp = dscp})));
  }
  Unclassed expected{};
  expected[46] = 4;
  expected[16] = 2;
  EXPECT_EQ(backend_->unclassed(p1_), expected) << "the lossy class, DSCP 0, is a class";
  EXPECT_EQ(backend_->unclassed(p0_), Unclassed{});
  // Of several ports in one go, among them one that has no rules.
  std::map<Ifindex, Unclassed> all;
  const std::array ports{p1_, *Ifindex::make(4000), p0_};
  backend_->count_unclassed(ports, [&](Ifindex port, const Unclassed& counts) {
    EXPECT_TRUE(all.emplace(port, counts).second);
  });
  EXPECT_EQ(all, (std::map<Ifindex, Unclassed>{
                     {p0_, Unclassed{}}, {p1_, expected}, {ports[1], Unclassed{}}}));
  // What does not turn is not counted.
  put(p0_, qos::compile(kTwo, {.order = Order::kDown}));
  ASSERT_TRUE(through(across4({.dscp = 46})));
  EXPECT_EQ(backend_->unclassed(p1_), expected);
  // The next daemon finds the counters, and a port that comes anew begins with zeros.
  if (GetParam() != Means::kClsactWithoutBpffs && GetParam() != Means::kClsactAndQueues) {
    backend_ = open();
    EXPECT_EQ(backend_->unclassed(p1_), expected);
  }
  flush();
  put(p1_, qos::compile(kTwo, {.order = Order::kUp}));
  EXPECT_EQ(backend_->unclassed(p1_), Unclassed{});
}

TEST_P(BpfChains, OwnPacketsOfAShutPortAreLossyToo) {
  route();
  put(p1_, qos::compile(kTwo, {.order = Order::kShut}));
  const Wire out("q1");
  const UniqueFd udp(::socket(AF_INET, SOCK_DGRAM, 0));
  const int tos = 26 << 2;
  ASSERT_EQ(::setsockopt(udp.get(), IPPROTO_IP, IP_TOS, &tos, sizeof tos), 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(4791);
  to.sin_addr.s_addr = htonl(0xc6336402);  // 198.51.100.2
  ASSERT_EQ(::sendto(udp.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to), 1);
  const auto frame = out.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ((*frame)[15], 0);
}

INSTANTIATE_TEST_SUITE_P(Hooks, BpfChains,
                         testing::Values(Means::kClsact, Means::kClsactWithoutBpffs, Means::kTcx),
                         [](const auto& c) { return testing::PrintToString(c.param); });

}  // namespace
}  // namespace lldp::dataplane
