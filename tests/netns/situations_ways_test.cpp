// SPDX-License-Identifier: Apache-2.0
// Situations that a row of a table is too short for.
#include "tests/netns/situations_switch.hpp"

namespace lldp::netns {
namespace {

/// A macvlan on p0, by which packets go on to the routes: as a VLAN it meets the rules of p0 first.
TEST_F(Situations, InterfaceOnAPortTakesNoProtectionOffWhetherAGlobOrItsNameMatches) {
  Fabric::links();
  if (!sh("ip link add link p0 name p0m address 02:00:00:00:00:07 up type macvlan mode bridge "
          "2>/dev/null && ip addr flush dev p0 && ip addr add 192.0.2.254/24 dev p0m"))
    GTEST_SKIP() << "this kernel has no macvlan";
  const Bytes frame = dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = 43}), 7, 2);
  const Bytes wanted =
      dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = 51, .ttl = 63}), 4, 3);
  for (const char* ports : {"p0,p1", "p*", "p0,p1,p0m"}) {
    Fabric fabric(Fabric::Keep{}, fmt::format("ports = {}\n", ports));
    const auto right = [&] {
      const Wire in("q0");
      const Wire out("q1");
      int right = 0;
      for (int i = 0; i < 20 && in.send(frame); ++i)
        if (const auto got = out.receive(200); got == wanted) ++right;
      return right == 20;
    };
    EXPECT_TRUE(eventually(right, kUntilTold)) << ports << fabric.ask("rules").dump(1);
  }
  Fabric::unlink();
}

/// A switch of level 2 with a third port, p2, which is down: at q2 stands a leaf.
class ThreePorts : public Situations {
 protected:
  void SetUp() override {
    Situations::SetUp();
    if (IsSkipped()) return;
    Fabric::links();
    Fabric::link(2);
  }
  void TearDown() override {
    if (!fabric_) return;
    fabric_.reset();
    Fabric::unlink();
  }
  Fabric& start() {
    fabric_.emplace(Fabric::Keep{}, "ports = p0,p1,p2\n", 2);
    fabric_->start_below();
    return *fabric_;
  }
  /// What becomes of a packet of the first class that comes in by p0.
  static std::optional<Bytes> comes_out(const char* by = "q1") {
    const Wire in("q0");
    const Wire out(by);
    return in.send(exchange_of(Sent::kRouted).frame) ? out.receive(200) : std::nullopt;
  }

 private:
  std::optional<Fabric> fabric_;
};

/// What leaves by the down port p2 does not turn; sent on from its egress by the up port p1, it
/// counts as come by p2, and keeps its class. A copy counts as come by the port that the packet
/// came by, and turns.
TEST_F(ThreePorts, ForwardOfNftablesAtEgressOfDownPortIsTold) {
  ASSERT_TRUE(
      sh("ip route replace 198.51.100.2/32 dev p2; ip neigh replace 198.51.100.2 lladdr "
         "02:00:00:00:00:06 dev p2"));
  Fabric& fabric = start();
  const auto frame = [](unsigned dscp, std::uint8_t to, std::uint8_t from) {
    return dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = dscp, .ttl = 63}), to,
                                          from);
  };
  const auto is_fine = [&] { return fabric.check() == 0 && comes_out("q2") == frame(43, 6, 5); };
  ASSERT_TRUE(eventually(is_fine, 30s)) << fabric.checked() << fabric.log();
  const auto chain = [](const char* device, const char* does, const char* hook = "egress") {
    return sh(
        fmt::format("nft 'add table netdev t; add chain netdev t c {{ type filter hook {} "
                    "device {} priority 0; }}; add rule netdev t c ip dscp 43 {}'",
                    hook, device, does));
  };
  if (!chain("p2", "fwd to p1")) GTEST_SKIP() << "this kernel has no such hook";
  const auto rules_tell = [&] {
    return fabric.ask("rules").dump().find("nftables (table netdev t, chain c)") !=
           std::string::npos;
  };
  EXPECT_TRUE(eventually(rules_tell, 3s)) << "whichever question comes first looks";
  EXPECT_EQ(comes_out("q1"), frame(43, 6, 5)) << "it turned, unchanged";
  const auto is_told = [&] {
    return fabric.check() != 0 &&
           fabric.checked().find("nftables (table netdev t, chain c)") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_told, kUntilTold)) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table netdev t"));
  EXPECT_TRUE(eventually(is_fine, kUntilTold)) << fabric.checked();
  ASSERT_TRUE(chain("p2", "dup to p1"));
  EXPECT_EQ(comes_out("q1"), frame(51, 6, 5));
  EXPECT_TRUE(is_fine()) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table netdev t"));
  ASSERT_TRUE(chain("p0", "dup to p1", "ingress"));
  EXPECT_EQ(comes_out("q1"), dataplane::packet::frame4({.dscp = 51}));
  EXPECT_TRUE(is_fine()) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table netdev t"));
  // Of an interface without rules the mark decides, and it is that of p0.
  if (!sh("ip link add link p2 name m0 address 02:00:00:00:00:07 up type macvlan mode bridge && ip "
          "route replace 198.51.100.2/32 dev m0 && ip neigh replace 198.51.100.2 lladdr "
          "02:00:00:00:00:06 dev m0"))
    GTEST_SKIP() << "this kernel has no macvlan";
  ASSERT_TRUE(chain("m0", "fwd to p1"));
  EXPECT_EQ(comes_out("q1"), frame(51, 6, 7));
  EXPECT_EQ(fabric.check(), 0) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table netdev t"));
}

/// Packets of p0 are routed out of ifb0, and sent from there into the ingress of the down port p2:
/// they count as come by it, and go up by p1 in the class of their ingress. Out of ifb0 by p1 they
/// turn, by their mark.
TEST_F(ThreePorts, PacketsSentIntoADownPortFromElsewhereDoNotTurnAndThatIsTold) {
  ASSERT_TRUE(sh(std::string(kShell) + "far && ip rule add iif p2 lookup 77 && "
                                       "flt ifb0 egress 9 action mirred egress redirect dev p1"));
  Fabric& fabric = start();
  const auto frame = [](unsigned dscp, std::uint8_t ttl, std::uint8_t from) {
    return dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = dscp, .ttl = ttl}), 4,
                                          from);
  };
  const auto is_fine = [&] { return fabric.check() == 0 && comes_out() == frame(51, 63, 3); };
  ASSERT_TRUE(eventually([&] { return is_fine() && fabric.has_order("p2", "down"); }, 30s))
      << fabric.checked() << fabric.log();
  ASSERT_TRUE(sh(std::string(kShell) +
                 "unflt ifb0 egress 9; flt ifb0 egress 9 action mirred ingress redirect dev p2"));
  EXPECT_EQ(comes_out(), frame(43, 62, 3)) << "it turned, unchanged";
  const auto is_told = [&] {
    return fabric.check() != 0 &&
           fabric.checked().find(
               "p2: classify bypassed: a filter (u32, preference 9) at the egress "
               "of ifb0 sends packets into the ingress of this port (mirred)") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_told, kUntilTold)) << fabric.checked();
  EXPECT_EQ(fabric.checked().find("p1: classify"), std::string::npos) << fabric.checked();
  ASSERT_TRUE(sh(std::string(kShell) +
                 "unflt ifb0 egress 9; flt ifb0 egress 9 action mirred egress redirect dev p1"));
  EXPECT_TRUE(eventually(is_fine, kUntilTold)) << fabric.checked();
  sh(std::string(kShell) + "ip rule del iif p2 lookup 77; unfar");
}

/// Of one datagram the first fragment comes from below, and the other one from above: where the
/// kernel joins them, the first one's port would decide for both.
TEST_F(ThreePorts, FragmentsOfTwoPortsThatTheKernelJoinsLeaveLossy) {
  Fabric& fabric = start();
  const auto part = [](unsigned dscp, bool later, unsigned ttl) {
    return dataplane::packet::frame4(
        {.dscp = dscp, .ttl = ttl, .fragment = later ? 3U : 0x2000U, .payload = 24});
  };
  const auto both_come_out = [&] {
    const Wire below("q2");
    const Wire above("q0");
    const Wire out("q1");
    std::vector<Bytes> got;
    if (!below.send(dataplane::packet::readdressed(part(43, false, 64), 5, 6)) ||
        !above.send(part(43, true, 64)))
      return got;
    while (got.size() < 2)
      if (auto one = out.receive(200))
        got.push_back(std::move(*one));
      else
        break;
    return got;
  };
  const auto pair = [&](unsigned first, unsigned later) {
    return std::vector{dataplane::packet::readdressed(part(first, false, 63), 4, 3),
                       dataplane::packet::readdressed(part(later, true, 63), 4, 3)};
  };
  const auto is_fine = [&] { return fabric.check() == 0 && both_come_out() == pair(43, 51); };
  ASSERT_TRUE(eventually(is_fine, 30s)) << fabric.checked() << fabric.log();
  if (!sh("nft 'add table ip t; add chain ip t c { type filter hook prerouting priority 0; }; "
          "add "
          "rule ip t c ct state new counter'"))
    GTEST_SKIP() << "this kernel follows no connections";
  EXPECT_EQ(both_come_out(), pair(43, 0)) << "the first of all";
  EXPECT_EQ(both_come_out(), pair(0, 0));
  EXPECT_EQ(fabric.check(), 0) << fabric.checked();
  EXPECT_THAT(output_of(fabric.client("rules")), HasSubstr("fragments leave lossy"));
  ASSERT_TRUE(sh("nft delete table ip t"));
}

/// A route's program sends what came by the up port p0 into the ingress of the down port p2. It
/// counts as come by that one, and leaves by the up port p1 without a turn.
TEST_F(ThreePorts, RouteIntoTheIngressOfADownPortIsTold) {
  Fabric& fabric = start();
  const auto frame = [](unsigned dscp, std::uint8_t ttl) {
    return dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = dscp, .ttl = ttl}), 4,
                                          3);
  };
  const auto is_fine = [&] { return fabric.check() == 0 && comes_out() == frame(51, 63); };
  ASSERT_TRUE(eventually([&] { return is_fine() && fabric.has_order("p2", "down"); }, 30s))
      << fabric.checked() << fabric.log();
  // The program goes by a mark, which it takes off.
  if (!sh(fmt::format("nft 'add table ip t; add chain ip t c {{ type filter hook prerouting "
                      "priority -150; }}; add rule ip t c iif p0 meta mark set {}' && ip route "
                      "replace 198.51.100.2/32 dev p1 encap bpf xmit obj $ROUTE sec lwt_xmit "
                      "2>/dev/null",
                      ::if_nametoindex("p2")))) {
    sh("nft delete table ip t 2>/dev/null");
    GTEST_SKIP() << "this kernel runs no program of a route";
  }
  EXPECT_EQ(comes_out(), frame(43, 62)) << "it turned, unchanged";
  const auto is_told = [&] {
    return fabric.check() != 0 &&
           fabric.checked().find("a route (198.51.100.2/32 table 254, encap bpf xmit)") !=
               std::string::npos;
  };
  EXPECT_TRUE(eventually(is_told, kUntilTold)) << fabric.checked();
  ASSERT_TRUE(sh("ip route del 198.51.100.2/32"));
  EXPECT_TRUE(eventually(is_fine, 30s)) << fabric.checked();
  ASSERT_TRUE(sh("nft delete table ip t"));
}

/// A filter of RED's qevent takes the class off packets that RED marks, behind the rules.
TEST_F(Situations, PacketsWhoseClassAQeventTakesOffAreTold) {
  Fabric fabric;
  ASSERT_TRUE(eventually([&] { return fabric.is_fine(); }, 30s)) << fabric.checked();
  if (!sh("tc qdisc replace dev p1 root handle 2: tbf rate 20kbit burst 1600 limit 60000 && tc "
          "qdisc "
          "add dev p1 parent 2: handle 1: red limit 60000 min 200 max 600 avpkt 100 burst 3 ecn "
          "probability 1 bandwidth 1Mbit qevent mark block 8 2>/dev/null && tc filter add block 8 "
          "pref 9 protocol ip u32 match u32 0 0 action pedit ex munge ip dsfield set 0 retain "
          "0xfc"))
    GTEST_SKIP() << "this kernel has no RED, or no pedit";
  const Bytes frame = dataplane::packet::frame4({.dscp = 43, .ecn = 1});
  int without_class = 0;
  {
    const Wire in("q0");
    const Wire out("q1");
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(in.send(frame));
    for (int i = 0; i < 100; ++i)
      if (const auto got = out.receive(1000); got && got->size() > 15 && (*got)[15] == 3)
        ++without_class;
  }
  EXPECT_GT(without_class, 0) << output_of("tc -s qdisc show dev p1; tc -s filter show block 8");
  const auto is_told = [&] {
    return fabric.check() != 0 &&
           fabric.checked().find(
               "p1: remap bypassed: a filter of block 8 of the qdisc 1:0 (u32, "
               "preference 9)") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_told, kUntilTold)) << fabric.checked();
  ASSERT_TRUE(sh("tc qdisc del dev p1 root"));
  EXPECT_TRUE(eventually([&] { return fabric.is_fine(); }, 30s)) << fabric.checked();
}

/// The port m0 stands on p1. What comes in meets the rules of m0 behind what others do on p1, and
/// what leaves before that.
TEST_F(Situations, OtherProgramsBelowAPortAreTold) {
  struct Below {
    const char* does = "";
    const char* undoes = "";
    const char* told = "";  ///< where p1 has no rules
    const char* told_with_rules = told;
  };
  constexpr Below kBelow[] = {
      {"flt p1 egress 100 action mirred egress redirect dev lo", "unflt p1 egress 100",
       "m0: remap bypassed: a filter (u32, preference 100) on p1",
       "p1: remap bypassed: a filter (u32, preference 100) behind"},
      {"flt p1 egress 100 action mirred egress mirror dev p0", "unflt p1 egress 100",
       "m0: remap bypassed: a filter (u32, preference 100) on p1",
       "p1: remap bypassed: a filter (u32, preference 100) behind"},
      {"flt p1 ingress 1 action mirred egress redirect dev lo", "unflt p1 ingress 1",
       "m0: classify bypassed: a filter (u32, preference 1) on p1",
       "p1: classify bypassed: a filter (u32, preference 1)"},
      {"flt p1 ingress 100 flowid 1:7", "unflt p1 ingress 100", "",
       "p1: classify bypassed: a filter (u32, preference 100) behind"},
      {"netdev egress p1 'c ip dscp 43 fwd to lo'", "unnetdev",
       "m0: remap bypassed: nftables (table netdev t, chain c), fwd, on p1"},
      {"netdev egress p1 'c ip dscp 51 ip dscp set 43'", "unnetdev",
       "m0: remap bypassed: nftables (table netdev t, chain c), payload, on p1"},
      {"netdev egress p1 'c dup to p0'", "unnetdev", "chain c), dup, on p1"},
      {"netdev ingress p1 'c ip dscp 51 ip dscp set 43'", "unnetdev",
       "m0: classify bypassed: nftables (table netdev t, chain c), payload, on p1"},
      {"inet_ingress p1 'ip dscp 51 ip dscp set 43'", "uninet",
       "m0: classify bypassed: nftables (table inet t, chain c), payload, on p1"},
      {"netdev egress p1 'c counter accept'", "unnetdev", ""},
      {"ip link set dev p1 xdpgeneric obj $XDP sec xdp", "ip link set dev p1 xdpgeneric off",
       "m0: classify bypassed: an XDP program (", "p1: classify bypassed: an XDP program ("},
      {"ethtool -K p1 gro on rx-gro-list on", "ethtool -K p1 rx-gro-list off",
       "m0: classify bypassed: rx-gro-list", "p1: classify bypassed: rx-gro-list"},
  };
  for (const bool has_rules : {false, true}) {
    Fabric::links();
    if (!sh("ip link add link p1 name m0 address 02:00:00:00:00:08 up type macvlan mode bridge "
            "2>/dev/null && ip addr flush dev p1"))
      GTEST_SKIP() << "this kernel has no macvlan";
    Fabric::route("p0", "m0");
    Fabric fabric(Fabric::Keep{}, has_rules ? "ports = p0,p1,m0\n" : "ports = p0,m0\n");
    const Bytes wanted =
        dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = 51, .ttl = 63}), 4, 8);
    const auto is_fine = [&] {
      const Wire in("q0");
      const Wire out("q1");
      // By p1 and m0 one neighbor hears two ports of one agent, and acknowledges the older one
      // late.
      const bool ok = fabric.check() == 0 ||
                      (has_rules && fabric.checked().find("alarm silent p1") != std::string::npos &&
                       fabric.checked().find("protection active") != std::string::npos);
      return ok && in.send(exchange_of(Sent::kRouted).frame) && out.receive(200) == wanted;
    };
    ASSERT_TRUE(eventually(is_fine, 30s)) << fabric.checked() << fabric.log();
    for (const Below& b : kBelow) {
      SCOPED_TRACE(b.does);
      const std::string told(has_rules ? b.told_with_rules : b.told);
      if (!sh(std::string(kShell) + b.does + " 2>/dev/null")) continue;
      if (told.empty())
        EXPECT_TRUE(eventually(is_fine, kUntilTold)) << fabric.checked();
      else
        EXPECT_TRUE(eventually(
            [&] { return fabric.check() != 0 && fabric.checked().find(told) != std::string::npos; },
            kUntilTold))
            << fabric.checked();
      ASSERT_TRUE(sh(std::string(kShell) + b.undoes));
      EXPECT_TRUE(eventually(is_fine, 30s)) << fabric.checked();
    }
    Fabric::unlink();
  }
}

/// The port m0 is MACsec on p1, and so is the port at the other end: the programs see packets as
/// they are.
TEST_F(Situations, PacketTurnsWhereTheMacsecInterfaceIsThePort) {
  Fabric::links();
  if (!sh(std::string(kShell) +
          "ip link set q1 down; ip link set q1 name y1; ip link set y1 up; ip addr flush dev p1; "
          "macsec p1 m0 04 && macsec y1 q1 03 && echo 0 >/proc/sys/net/ipv4/conf/q1/forwarding")) {
    Fabric::unlink();
    GTEST_SKIP() << "this kernel has no MACsec";
  }
  Fabric::route("p0", "m0");
  Fabric fabric(Fabric::Keep{}, "ports = p0,m0\n");
  EXPECT_TRUE(fine(fabric)) << fabric.checked() << fabric.ask("rules").dump(1);
  const Wire cable("y1");
  const Wire in("q0");
  ASSERT_TRUE(in.send(exchange_of(Sent::kRouted).frame));
  const auto crossed = cable.receive(200);
  ASSERT_TRUE(crossed);
  EXPECT_EQ(crossed->at(12) << 8 | crossed->at(13), 0x88e5) << "not encrypted";
  Fabric::unlink();
}

/// A macvlan on p1 is a port as p1 is, and packets leave by both: they turn once.
TEST_F(Situations, PacketTurnsOnceWhereAPortStandsOnAPort) {
  Fabric::links();
  if (!sh("ip link add link p1 name m0 address 02:00:00:00:00:08 up type macvlan mode bridge "
          "2>/dev/null && ip addr flush dev p1"))
    GTEST_SKIP() << "this kernel has no macvlan";
  Fabric::route("p0", "m0");
  const Bytes wanted =
      dataplane::packet::readdressed(dataplane::packet::frame4({.dscp = 51, .ttl = 63}), 4, 8);
  Fabric fabric(Fabric::Keep{}, "ports = p0,p1,m0\n");
  const auto is_up = [&] {
    return fabric.check() == 0 &&
           output_of(fabric.client("show m0")).find("up") != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_up, kUntilTold)) << fabric.checked();
  const auto right = [&] {
    const Wire in("q0");
    const Wire out("q1");
    int right = 0;
    for (int i = 0; i < 20 && in.send(exchange_of(Sent::kRouted).frame); ++i)
      if (const auto got = out.receive(200); got == wanted) ++right;
    return right == 20;
  };
  EXPECT_TRUE(eventually(right, kUntilTold)) << fabric.ask("rules").dump(1);
  Fabric::unlink();
}

}  // namespace
}  // namespace lldp::netns
