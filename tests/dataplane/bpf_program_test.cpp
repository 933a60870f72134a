// SPDX-License-Identifier: Apache-2.0
// The two programs of the bpf back end on every kind of packet, in the kernel, bit for bit.
#include "tests/dataplane/bpf_program.hpp"

namespace lldp::dataplane {
namespace {

/// A packet that turned, and what must become of it.
struct TurnCase {
  const char* name = "";
  Skb before{};
  Skb after{};
  friend void PrintTo(const TurnCase& c, std::ostream* os) { *os << c.name; }
};
class BpfTurn : public BpfProgram, public testing::WithParamInterface<TurnCase> {};

TEST_P(BpfTurn, LeavesAsItMust) { EXPECT_EQ(out(Order::kUp, GetParam().before), GetParam().after); }

TEST_P(BpfTurn, LeavesAsItMustWhateverOthersMadeOfItsMark) {
  // Nothing; a class of somebody else's filter; marks of ours that its port does not give.
  for (std::uint32_t tc_index : {0U, 7U, kMark, kMark | 2, kMark | (8 | 3) << 6}) {
    Skb before = GetParam().before;
    Skb after = GetParam().after;
    before.in = after.in = kUpPort;
    before.tc_index = tc_index;
    after.tc_index = tc_index == 7 ? 7 : 0;
    EXPECT_EQ(out(Order::kUp, before), after) << std::hex << tc_index;
  }
}

Bytes cut(Bytes whole, std::size_t length) {
  whole.resize(length);
  return whole;
}
/// It stays as it is, but for the mark.
TurnCase untouched(const char* name, Bytes f) {
  return {name, {.frame = f, .tc_index = kFromUp}, {.frame = f}};
}
Bytes with(Bytes f, std::size_t at, std::uint8_t octet) {
  f[at] = octet;
  return f;
}

const TurnCase kTurns[] = {
    {"Ipv4",
     {.frame = frame4({.dscp = kFirst}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond}), .priority = 6}},
    {"Ipv4WhateverThePriorityWas",
     {.frame = frame4({.dscp = kFirst}), .tc_index = marked(5), .priority = 3},
     {.frame = frame4({.dscp = kSecond}), .priority = 6}},
    {"Ipv4SecondTurnGoesLossy",
     {.frame = frame4({.dscp = kSecond}), .tc_index = marked(6)},
     {.frame = frame4({.dscp = kLossy}), .priority = 0}},
    {"Ipv4EcnCongestionExperienced",
     {.frame = frame4({.dscp = kFirst, .ecn = 3}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond, .ecn = 3}), .priority = 6}},
    {"Ipv4EcnCapable1",
     {.frame = frame4({.dscp = kFirst, .ecn = 1, .ttl = 1}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond, .ecn = 1, .ttl = 1}), .priority = 6}},
    {"Ipv4Options",
     {.frame = frame4({.dscp = kFirst, .options = kRouterAlert}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond, .options = kRouterAlert}), .priority = 6}},
    {"Ipv4OptionsAndNothingBehindThem",
     {.frame = cut(frame4({.dscp = kFirst, .options = kRouterAlert}), 14 + 24),
      .tc_index = marked(5)},
     {.frame = cut(frame4({.dscp = kSecond, .options = kRouterAlert}), 14 + 24), .priority = 6}},
    {"Ipv4FirstFragment",
     {.frame = frame4({.dscp = kFirst, .fragment = 0x2000}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond, .fragment = 0x2000}), .priority = 6}},
    {"Ipv6",
     {.frame = frame6({.dscp = kFirst}), .tc_index = marked(5)},
     {.frame = frame6({.dscp = kSecond}), .priority = 6}},
    {"Ipv6EcnAndFlowLabel",
     {.frame = frame6({.dscp = kSecond, .ecn = 2, .flow = 0xfffff}), .tc_index = marked(6)},
     {.frame = frame6({.dscp = kLossy, .ecn = 2, .flow = 0xfffff}), .priority = 0}},
    {"Ipv6HopByHop",
     {.frame = frame6({.dscp = kFirst, .next = 0}), .tc_index = marked(5)},
     {.frame = frame6({.dscp = kSecond, .next = 0}), .priority = 6}},
    {"TagInData",  // VID 0x123 and DEI stay
     {.frame = frame4({.dscp = kFirst}, {{0x8100, 0xb123}}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond}, {{0x8100, 0xd123}}), .priority = 6}},
    {"TagInDataIpv6",
     {.frame = frame6({.dscp = kFirst, .ecn = 1}, {{0x8100, 0x0fff}}), .tc_index = marked(5)},
     {.frame = frame6({.dscp = kSecond, .ecn = 1}, {{0x8100, 0xcfff}}), .priority = 6}},
    {"ServiceTagInData",
     {.frame = frame4({.dscp = kFirst}, {{0x88a8, 0xa001}}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond}, {{0x88a8, 0xc001}}), .priority = 6}},
    {"TwoTagsInData",
     {.frame = frame4({.dscp = kFirst}, {{0x88a8, 0xa001}, {0x8100, 0xa002}}),
      .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond}, {{0x88a8, 0xc001}, {0x8100, 0xc002}}), .priority = 6}},
    {"TagInMetadata",
     {.frame = frame4({.dscp = kFirst}),
      .tc_index = marked(5),
      .vlan_tpid = 0x8100,
      .vlan_tci = 0xb123},
     {.frame = frame4({.dscp = kSecond}), .priority = 6, .vlan_tpid = 0x8100, .vlan_tci = 0xd123}},
    {"ServiceTagInMetadata",
     {.frame = frame6({.dscp = kSecond}),
      .tc_index = marked(6),
      .vlan_tpid = 0x88a8,
      .vlan_tci = 0xc00a},
     {.frame = frame6({.dscp = kLossy}), .priority = 0, .vlan_tpid = 0x88a8, .vlan_tci = 0x000a}},
    {"TagInMetadataBeforeTagInData",
     {.frame = frame4({.dscp = kFirst}, {{0x8100, 0xa002}}),
      .tc_index = marked(5),
      .vlan_tpid = 0x88a8,
      .vlan_tci = 0xa001},
     {.frame = frame4({.dscp = kSecond}, {{0x8100, 0xc002}}),
      .priority = 6,
      .vlan_tpid = 0x88a8,
      .vlan_tci = 0xc001}},
    untouched("OtherDscp", frame4({.dscp = 46, .ecn = 2})),
    untouched("OtherDscpIpv6", frame6({.dscp = 8})),
    untouched("OtherDscpTagged", frame4({.dscp = 46}, {{0x8100, 0xa001}})),
    untouched("Arp", frame(0x0806, Bytes(46, 0xac))),
    untouched("RoceV1", frame(0x8915, Bytes(60, 0xac), {{0x8100, 0xa001}})),
    untouched("Mpls", frame(0x8847, packet::ipv4({.dscp = kFirst}))),
    untouched("ThreeTags",
              frame4({.dscp = kFirst}, {{0x88a8, 0xa001}, {0x8100, 0xa002}, {0x8100, 0xa003}})),
    untouched("LengthNotType", frame(0x002e, Bytes(46, 0x42))),
    untouched("Ipv4CutOffInHeader", cut(frame4({.dscp = kFirst}, {{0x8100, 1}}), 18 + 19)),
    untouched("Ipv4CutOffInOptions",
              cut(frame4({.dscp = kFirst, .options = kRouterAlert}), 14 + 22)),
    untouched("Ipv6CutOffInHeader", cut(frame6({.dscp = kFirst}, {{0x8100, 1}}), 18 + 39)),
    untouched("TagCutOff", cut(frame4({.dscp = kFirst}, {{0x8100, 0xa001}}), 17)),
    untouched("Ipv4HeaderTooShort", with(frame4({.dscp = kFirst}), 14, 0x44)),
    untouched("Ipv4ClaimsVersion6", with(frame4({.dscp = kFirst}), 14, 0x65)),
    untouched("Ipv6ClaimsVersion4", with(frame6({.dscp = kFirst}), 14, 0x4a)),
};
INSTANTIATE_TEST_SUITE_P(Packets, BpfTurn, testing::ValuesIn(kTurns),
                         [](const auto& c) { return c.param.name; });

TEST_F(BpfProgram, EveryEcnTtlAndDscpKeepsTheChecksumRight) {
  for (unsigned ecn = 0; ecn < 4; ++ecn)
    for (unsigned ttl = 0; ttl < 256; ++ttl)
      for (unsigned dscp : {kFirst, kSecond})
        ASSERT_EQ(out(Order::kUp, {.frame = frame4({.dscp = dscp, .ecn = ecn, .ttl = ttl}),
                                   .tc_index = marked_class(dscp)})
                      .frame,
                  frame4({.dscp = dscp == kFirst ? kSecond : kLossy, .ecn = ecn, .ttl = ttl}));
}

// A sum that carries comes with one header in eight to one in five, by the class.
TEST_F(BpfProgram, EveryChecksumKeepsRight) {
  for (unsigned id = 0; id < 0x10000; id += 113)
    for (unsigned dscp : {kFirst, kSecond})
      ASSERT_EQ(out(Order::kUp, {.frame = frame4({.dscp = dscp, .id = id}), .in = kUpPort}).frame,
                frame4({.dscp = dscp == kFirst ? kSecond : kLossy, .id = id}))
          << id;
}

TEST_F(BpfProgram, IngressTagsAndSetsThePriority) {
  for (const Bytes& f : {frame4({.dscp = kFirst}), frame6({.dscp = kFirst}),
                         frame4({.dscp = kFirst}, {{0x8100, 1}})})
    EXPECT_EQ(in(Order::kUp, {.frame = f, .priority = 2}),
              (Skb{.frame = f, .tc_index = marked(5), .priority = 5}));
}

TEST_F(BpfProgram, IngressOfUpPortTagsWhateverItIs) {
  const Bytes arp = frame(0x0806, Bytes(46, 0xac));
  EXPECT_EQ(in(Order::kUp, {.frame = arp, .priority = 2}),
            (Skb{.frame = arp, .tc_index = kFromUp, .priority = 2}));
}

TEST_F(BpfProgram, IngressOfOtherPortsCarriesThePriorityAlone) {
  const Bytes f = frame4({.dscp = kSecond, .ecn = 1});
  for (Order order : {Order::kDown, Order::kUnknown})
    EXPECT_EQ(in(order, {.frame = f}),
              (Skb{.frame = f, .tc_index = kMark | (8 | 6) << 6, .priority = 6}));
}

// A VLAN of unknown order on an up port: what the port has marked stays marked.
TEST_F(BpfProgram, PassivePortLeavesMarkAndPriorityAlone) {
  auto loaded = programs_.get(qos::compile(qos::Policy(), {.stacked = true}));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  for (std::uint32_t tc_index : {0U, 7U, marked(5)}) {
    Skb skb{.frame = frame4({.dscp = kFirst}), .tc_index = tc_index, .priority = 3, .in = kUpPort};
    const Skb before = skb;
    EXPECT_EQ(probe_->run((*loaded)->programs.in, skb), -1);
    EXPECT_EQ(probe_->run((*loaded)->programs.out, skb), -1);
    EXPECT_EQ(skb, before) << std::hex << tc_index;
  }
}

TEST_F(BpfProgram, IngressTakesOffAMarkFromElsewhere) {
  const Bytes f = frame4({.dscp = 46});
  EXPECT_EQ(in(Order::kDown, {.frame = f, .tc_index = marked(5), .priority = 1}),
            (Skb{.frame = f, .priority = 1}));
  EXPECT_EQ(in(Order::kUp, {.frame = f, .tc_index = marked(5)}),
            (Skb{.frame = f, .tc_index = kFromUp}));
}
TEST_F(BpfProgram, IngressLeavesOthersTcIndexAlone) {
  const Bytes f = frame4({.dscp = 46});
  EXPECT_EQ(in(Order::kDown, {.frame = f, .tc_index = 0x2e}), (Skb{.frame = f, .tc_index = 0x2e}));
}

TEST_F(BpfProgram, EgressLeavesOwnPacketsAlone) {
  for (std::uint32_t tc_index : {0U, 1U, 0x2eU, 0xffffU}) {
    const Skb skb{.frame = frame4({.dscp = kFirst}), .tc_index = tc_index, .priority = 3};
    for (Order order : {Order::kUp, Order::kDown, Order::kUnknown}) EXPECT_EQ(out(order, skb), skb);
  }
}

TEST_F(BpfProgram, MarkOfAnotherMakesNothingTurnThatCameInByAPortOfOurs) {
  const Bytes f = frame4({.dscp = kFirst});
  for (std::uint32_t tc_index : {kFromUp, marked(5)})
    EXPECT_EQ(out(Order::kUp, {.frame = f, .tc_index = tc_index, .in = kDownPort}),
              (Skb{.frame = f, .priority = 5, .in = kDownPort}));
}

TEST_F(BpfProgram, BehindABondTheMarkDecidesIfItIsWhole) {
  const Bytes f = frame6({.dscp = kFirst});
  EXPECT_EQ(out(Order::kUp, {.frame = f, .tc_index = marked(5), .in = kBond}),
            (Skb{.frame = frame6({.dscp = kSecond}), .priority = 6, .in = kBond}));
  EXPECT_EQ(out(Order::kUp, {.frame = f, .tc_index = kFromUp, .in = kBond}),
            (Skb{.frame = f, .priority = 5, .in = kBond}));
}

TEST_F(BpfProgram, PortThatIsForgottenIsJudgedByTheMark) {
  const Bytes f = frame6({.dscp = kFirst});
  const Skb skb{.frame = f, .tc_index = 0, .in = kUpPort};
  const Skb same{.frame = f, .priority = 5, .in = kUpPort};
  programs_.set_tag(*Ifindex::make(kUpPort), std::nullopt);
  EXPECT_EQ(out(Order::kUp, skb), same);
  know(kUpPort, qos::Tag::of<1>());
  EXPECT_NE(out(Order::kUp, skb), same);
  programs_.forget(*Ifindex::make(kUpPort));
  EXPECT_EQ(out(Order::kUp, skb), same);
}

/// What ip_forward_update_priority sets: ip_tos2prio of Linux' net/ipv4/route.c.
constexpr std::uint32_t forwarding_priority(unsigned dscp) {
  constexpr std::uint32_t kOf[] = {0, 0, 2, 2, 6, 6, 4, 4};
  return kOf[dscp & 7];
}

TEST_F(BpfProgram, EgressUndoesWhatForwardingMadeOfThePriority) {
  for (Order order : {Order::kUp, Order::kDown, Order::kUnknown}) {
    for (std::uint32_t in : {kDownPort, kBond}) {
      for (unsigned dscp = 0; dscp < 64; ++dscp) {
        const std::uint32_t given = forwarding_priority(dscp);
        const std::uint32_t right = dscp == kFirst    ? 5
                                    : dscp == kSecond ? 6
                                    : given == 6      ? 0  // a lossless one
                                                      : given;
        const Bytes f = frame4({.dscp = dscp, .ecn = 1});
        EXPECT_EQ(out(order, {.frame = f, .priority = given, .in = in}),
                  (Skb{.frame = f, .priority = right, .in = in}))
            << dscp;
      }
    }
  }
}

TEST_F(BpfProgram, EgressKnowsEveryPriorityThatForwardingCanGive) {
  const auto policy = qos::Policy::parse("2:dscp10,4:dscp26", "1:dscp20");
  ASSERT_TRUE(policy);
  const auto loaded = programs_.get(qos::compile(*policy, {.order = Order::kDown}));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  for (unsigned dscp = 0; dscp < 64; ++dscp) {
    if (dscp == 10 || dscp == 26 || dscp == 20) continue;  // classes of their own
    const std::uint32_t given = forwarding_priority(dscp);
    Skb skb{.frame = frame4({.dscp = dscp}), .priority = given, .in = kDownPort};
    EXPECT_EQ(probe_->run((*loaded)->programs.out, skb), -1);
    EXPECT_EQ(skb.priority, given == 2 || given == 4 ? 0 : given) << dscp;
  }
}

TEST_F(BpfProgram, EgressKeepsPrioritiesThatSomebodyGave) {
  // Of VOICE-ADMIT, whose place forwarding would make 6: other values, and IPv6, where 6 was meant.
  const Bytes v4 = frame4({.dscp = 44});
  const Bytes v6 = frame6({.dscp = 44});
  for (std::uint32_t priority : {0U, 5U, 7U, 0x10006U}) {
    const Skb skb{.frame = v4, .priority = priority, .in = kDownPort};
    EXPECT_EQ(out(Order::kUnknown, skb), skb);
  }
  const Skb skb{.frame = v6, .priority = 6, .in = kDownPort};
  EXPECT_EQ(out(Order::kUnknown, skb), skb);
}

// Netfilter has written another DSCP, the packet has gone into a tunnel, or got labels of MPLS.
TEST_F(BpfProgram, PriorityOfAClassEndsWithTheClass) {
  for (const Bytes& f : {frame4({.dscp = 10}), frame6({.dscp = 10}), frame4({}), frame6({}),
                         frame(0x8847, Bytes(46, 0xac))}) {
    for (Order order : {Order::kUp, Order::kDown, Order::kUnknown}) {
      for (std::uint32_t tc_index : {marked(5), kMark | (8 | 5) << 6})
        for (std::uint32_t in : {kUpPort, kBond, 0U})  // 0: a tunnel takes it away
          for (std::uint32_t priority : {5U, 6U})      // 6: forwarding may make it of class 5
            EXPECT_EQ(
                out(order, {.frame = f, .tc_index = tc_index, .priority = priority, .in = in}),
                (Skb{.frame = f, .in = in}));
      // Which another program gave.
      EXPECT_EQ(out(order, {.frame = f, .tc_index = marked(5), .priority = 3, .in = kUpPort}),
                (Skb{.frame = f, .priority = 3, .in = kUpPort}));
    }
  }
}

TEST_F(BpfProgram, EgressGivesBackThePriorityThatForwardingTook) {
  const Bytes f = frame4({.dscp = kFirst});
  // Down to up: no turn. Up to down: no turn either.
  EXPECT_EQ(out(Order::kUp, {.frame = f, .tc_index = kMark | (8 | 5) << 6}),
            (Skb{.frame = f, .priority = 5}));
  EXPECT_EQ(out(Order::kDown, {.frame = f, .tc_index = marked(5)}),
            (Skb{.frame = f, .priority = 5}));
}

// For a moment a port has two programs of ours, and the first one decides: the second lets it pass.
// Only that packet at that port: not at another one, nor when it comes round again by ports that
// are not ours, with fewer hops left.
TEST_F(BpfProgram, PacketIsSeenToOnceByAPortHoweverOftenItIsAsked) {
  const auto& program = of(Order::kUp).programs.out;
  std::uint32_t other = 0;
  if (auto* const all = ::if_nameindex()) {
    for (const auto* i = all; i->if_index != 0 && other == 0; ++i)
      if (i->if_index != 1) other = i->if_index;
    ::if_freenameindex(all);
  }
  for (const std::initializer_list<packet::Tag>& tags :
       {std::initializer_list<packet::Tag>{}, {{0x8100, 0xa001}}}) {
    for (const bool v6 : {false, true}) {
      const auto with_hops = [&](unsigned hops) {
        return Skb{.frame = v6 ? frame6({.dscp = kFirst, .hops = hops}, tags)
                               : frame4({.dscp = kFirst, .ttl = hops}, tags),
                   .in = kUpPort};
      };
      const auto turns = [&](unsigned hops, std::uint32_t port, std::uint32_t seen) {
        Skb skb = with_hops(hops);
        EXPECT_EQ(probe_->run(program, skb, port, &seen), -1);
        return skb.frame != with_hops(hops).frame;
      };
      std::uint32_t seen = 0;
      Skb first = with_hops(64);
      EXPECT_EQ(probe_->run(program, first, 1, &seen), -1);
      EXPECT_NE(seen, 0U);
      EXPECT_NE(first.frame, with_hops(64).frame);
      EXPECT_FALSE(turns(64, 1, seen));
      if (other != 0) {
        EXPECT_TRUE(turns(64, other, seen));
      }
      EXPECT_TRUE(turns(63, 1, seen));
      EXPECT_TRUE(turns(64, 1, seen ^ 1)) << "what others have left there";
      // What comes in by a port of ours is new.
      Skb in = with_hops(64);
      std::uint32_t left = seen;
      EXPECT_EQ(probe_->run(of(Order::kDown).programs.in, in, 1, &left), -1);
      EXPECT_EQ(left, 0U);
    }
  }
}

// Rules of a chain of several DSCPs: 3:dscp24-31>2:dscp19 and lossy 0:dscp0.
class BpfShut : public BpfProgram {
 protected:
  Skb run(bool egress, qos::PortClass port, Skb skb) {
    const auto policy = qos::Policy::parse("3:dscp26+24-31>2:dscp19", "0:dscp0");
    const auto loaded = programs_.get(qos::compile(*policy, port));
    EXPECT_TRUE(loaded) << to_string(loaded.error());
    const auto& programs = (*loaded)->programs;
    EXPECT_EQ(probe_->run(egress ? programs.out : programs.in, skb), -1);
    return skb;
  }
};

TEST_F(BpfShut, IngressMakesEveryLosslessDscpLossyAndLeavesNoMark) {
  for (unsigned dscp = 0; dscp < 64; ++dscp) {
    const bool lossless = dscp == 19 || (24 <= dscp && dscp <= 31);
    const unsigned after = lossless ? 0 : dscp;
    const std::uint32_t priority = lossless ? 0 : 6;
    for (unsigned ecn = 0; ecn < 4; ++ecn) {
      EXPECT_EQ(run(false, {.order = Order::kShut},
                    {.frame = frame4({.dscp = dscp, .ecn = ecn}), .priority = 6}),
                (Skb{.frame = frame4({.dscp = after, .ecn = ecn}), .priority = priority}));
      EXPECT_EQ(
          run(false, {.order = Order::kShut},
              {.frame = frame6({.dscp = dscp, .ecn = ecn}, {{0x8100, 0xa001}}), .priority = 6}),
          (Skb{.frame =
                   frame6({.dscp = after, .ecn = ecn}, {{0x8100, lossless ? 0x0001U : 0xa001U}}),
               .priority = priority}));
    }
  }
}

TEST_F(BpfShut, EgressMakesEveryLosslessDscpLossyWhereverItCameFrom) {
  for (const std::uint32_t in : {kUpPort, kDownPort, kBond})
    for (const unsigned dscp : {19U, 24U, 31U})
      EXPECT_EQ(run(true, {.order = Order::kShut},
                    {.frame = frame4({.dscp = dscp, .ecn = 3}), .priority = 3, .in = in}),
                (Skb{.frame = frame4({.dscp = 0, .ecn = 3}), .priority = 0, .in = in}))
          << dscp;
}

TEST_F(BpfShut, RestoringPortGivesASpareItsApplicationClassBack) {
  const qos::PortClass host{.order = Order::kDown, .restore = true};
  for (unsigned dscp = 0; dscp < 64; ++dscp) {
    const bool application = 24 <= dscp && dscp <= 31;
    const unsigned after = dscp == 19 ? 26 : dscp;
    const std::uint32_t priority = application || dscp == 19 ? 3 : 1;
    EXPECT_EQ(
        run(true, host,
            {.frame = frame4({.dscp = dscp, .ecn = 1}, {{0x8100, 0x4001}}),
             .priority = 1,
             .in = kUpPort}),
        (Skb{.frame = frame4({.dscp = after, .ecn = 1}, {{0x8100, dscp == 19 ? 0x6001U : 0x4001U}}),
             .priority = priority,
             .in = kUpPort}))
        << dscp;
  }
}

class BpfCounting : public BpfProgram {
 protected:
  void SetUp() override {
    BpfProgram::SetUp();
    if (!probe_) return;
    ASSERT_TRUE(programs_.need_place(kOut));
  }
  void send(Skb skb, int times = 1) {
    for (; times > 0; --times) {
      Skb copy = skb;
      (void)probe_->run(of(Order::kUp).programs.out, copy, kOut.value());
    }
  }
  /// Probe runs each packet afresh for its report, so every one is counted twice.
  static constexpr std::uint64_t kRuns = 2;
  static constexpr auto kOut = Ifindex::of<1>();
};

TEST_F(BpfCounting, BouncesByPortAndPriority) {
  send({.frame = frame4({.dscp = kFirst}), .tc_index = marked(5)}, 2);
  send({.frame = frame4({.dscp = kFirst}), .in = kUpPort});
  send({.frame = frame4({.dscp = kSecond}), .in = kUpPort});
  send({.frame = frame4({.dscp = 46}), .in = kUpPort}, 2);
  send({.frame = frame4({.dscp = kFirst}), .in = kDownPort}, 2);
  EXPECT_EQ(programs_.bounces(kOut), (Bounces{0, 0, 0, 0, 0, 3 * kRuns, 1 * kRuns, 0}));
}

TEST_F(BpfCounting, EverySegmentThatGoesOverTheWire) {
  Bytes large = frame4({.dscp = kFirst});
  large.resize(14 + 40 + 2500, 0xa5);
  send({.frame = large, .in = kUpPort, .gso_segs = 43, .gso_size = 58});
  EXPECT_EQ(programs_.bounces(kOut)[5], 43 * kRuns);
  // As a guest hands it over: 2,500 octets of data, the number of segments for the kernel to find.
  send({.frame = large, .in = kUpPort, .gso_size = 1000});
  EXPECT_EQ(programs_.bounces(kOut)[5], (43 + 3) * kRuns);
  large.resize(14 + 40 + 2000);
  send({.frame = large, .in = kUpPort, .gso_size = 1000});
  EXPECT_EQ(programs_.bounces(kOut)[5], (43 + 3 + 2) * kRuns);
}

TEST_F(BpfCounting, PortsWhoseNumbersShareAPlaceApart) {
  const auto same = *Ifindex::make(kOut.value() + LLDP_LEVEL_SLOTS);
  programs_.forget(kOut);
  ASSERT_TRUE(programs_.need_place(same));
  ASSERT_TRUE(programs_.need_place(kOut));
  programs_.set_tag(same, qos::Tag::of<1>());
  programs_.set_tag(kOut, qos::Tag());
  send({.frame = frame4({.dscp = kFirst}), .in = same.value()});
  send({.frame = frame4({.dscp = kFirst}), .in = kOut.value()});
  EXPECT_EQ(programs_.bounces(kOut)[5], kRuns);
  EXPECT_EQ(programs_.bounces(same), Bounces{});
}

TEST_F(BpfCounting, NoPlaceIsLeftForAFifth) {
  for (std::uint32_t i = 0; i < LLDP_LEVEL_PROBES; ++i)
    ASSERT_TRUE(programs_.need_place(*Ifindex::make(100 + i * LLDP_LEVEL_SLOTS)));
  const auto fifth = *Ifindex::make(100 + LLDP_LEVEL_PROBES * LLDP_LEVEL_SLOTS);
  EXPECT_TRUE(programs_.need_place(fifth));
  EXPECT_FALSE(programs_.may_know_tag(fifth));
  EXPECT_EQ(programs_.bounces(fifth), Bounces{});
  programs_.forget(*Ifindex::make(100));
  EXPECT_TRUE(programs_.may_know_tag(fifth));
}

/// The egress program with every call of one helper function failing for want of memory.
UniqueFd with_failing_helper(std::int32_t helper) {
  const ByteSpan octets = bpf::object_octets();
  bpf_object* object = bpf_object__open_mem(octets.data(), octets.size(), nullptr);
  if (object == nullptr) return {};
  const auto turn = lldp_level_remap{.from = LLDP_LEVEL_SET | 5,
                                     .priority = 6,
                                     .flip = (kFirst ^ kSecond) << 2,
                                     .reserved = 0,
                                     .sum = 0,
                                     .reserved2 = 0};
  lldp_level_rules rules{};
  rules.turning_tags = 2;
  rules.priority_of[kFirst] = LLDP_LEVEL_SET | 5;
  rules.turn_of[kFirst] = turn;
  bpf_map* constants = nullptr;
  bpf_object__for_each_map(constants, object) {
    if (bpf_map__value_size(constants) == sizeof rules) break;
  }
  (void)bpf_map__set_initial_value(constants, &rules, sizeof rules);
  bpf_program* out = bpf_object__find_program_by_name(object, "lldp_level_out");
  std::vector<bpf_insn> code(bpf_program__insns(out),
                             bpf_program__insns(out) + bpf_program__insn_cnt(out));
  for (bpf_insn& i : code)
    if (i.code == (BPF_JMP | BPF_CALL) && i.src_reg == 0 && i.imm == helper)
      i = {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = -12};
  (void)bpf_program__set_insns(out, code.data(), code.size());
  UniqueFd fd;
  if (bpf_object__load(object) == 0) fd = UniqueFd(::dup(bpf_program__fd(out)));
  bpf_object__close(object);
  return fd;
}

TEST_F(BpfProgram, PacketThatTurnsAndCannotBeChangedIsDropped) {
  const Skb tagged{.frame = frame4({.dscp = kFirst}, {{0x8100, 0xa001}}), .tc_index = marked(5)};
  Skb before = tagged;
  const UniqueFd no_store = with_failing_helper(BPF_FUNC_skb_store_bytes);
  ASSERT_TRUE(no_store);
  EXPECT_EQ(probe_->run(no_store, before), TC_ACT_SHOT);
  Skb metadata{.frame = frame4({.dscp = kFirst}),
               .tc_index = marked(5),
               .vlan_tpid = 0x8100,
               .vlan_tci = 0xa001};
  const UniqueFd no_pop = with_failing_helper(BPF_FUNC_skb_vlan_pop);
  ASSERT_TRUE(no_pop);
  EXPECT_EQ(probe_->run(no_pop, metadata), TC_ACT_SHOT);
  const UniqueFd nothing_fails = with_failing_helper(0);
  ASSERT_TRUE(nothing_fails);
  before = tagged;
  EXPECT_EQ(probe_->run(nothing_fails, before), TC_ACT_UNSPEC);
}

TEST_F(BpfProgram, TurnsBetweenLayersExactlyAsTheRulesSay) {
  // A switch of FC+ with 18 ports between switches has ten layers at most; ports of every layer and
  // order, both ways in.
  std::vector<qos::PortClass> classes{{}, {.order = Order::kDown}};  // nobody heard; a host
  for (std::size_t layer = 0; layer < 10; ++layer)
    for (const Order order : {Order::kDown, Order::kUp})
      classes.push_back({order, *Layer::make(layer)});
  for (std::size_t i = 0; i < classes.size(); ++i)
    know(static_cast<std::uint32_t>(100 + i), qos::tag_of(classes[i]));
  for (const qos::PortClass& out : classes) {
    const auto loaded = programs_.get(qos::compile(qos::Policy(), out, true));
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const bool turns = qos::turns(classes[i], out);
      Skb skb{.frame = frame4({.dscp = kFirst}), .in = static_cast<std::uint32_t>(100 + i)};
      Skb marked_alone{.frame = frame4({.dscp = kFirst}),
                       .tc_index = kMark | qos::tag_of(classes[i]).value() | (8 | 5) << 6,
                       .in = kBond};
      for (Skb* packet : {&skb, &marked_alone}) {
        EXPECT_EQ(probe_->run((*loaded)->programs.out, *packet), -1);
        EXPECT_EQ(packet->frame, frame4({.dscp = turns ? kSecond : kFirst}))
            << i << " to layer " << +out.near.value() << ' ' << to_string(out.order);
        EXPECT_EQ(packet->priority, turns ? 6U : 5U);
      }
    }
  }
}

TEST_F(BpfProgram, FollowsTheOperatorsClasses) {
  const auto policy = qos::Policy::parse("1:dscp10,3:dscp26,4:dscp36", "2:dscp20");
  ASSERT_TRUE(policy);
  const auto loaded = programs_.get(qos::compile(*policy, {.order = Order::kUp}));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  struct Step {
    unsigned from = 0, to = 0, priority = 0;
  };
  const Step kSteps[] = {{10, 26, 3}, {26, 36, 4}, {36, 20, 2}, {20, 20, 2}};
  for (const auto& [from, to, priority] : kSteps) {
    Skb skb{.frame = frame6({.dscp = from}), .in = kUpPort};
    EXPECT_EQ(probe_->run((*loaded)->programs.out, skb), -1);
    EXPECT_EQ(skb.frame, frame6({.dscp = to})) << from;
    EXPECT_EQ(skb.priority, priority) << from;
  }
  Skb skb{.frame = frame4({.dscp = 20})};
  EXPECT_EQ(probe_->run((*loaded)->programs.in, skb), -1);
  EXPECT_EQ(skb.priority, 2U);  // the lossy class, being no default, is classified too
}

}  // namespace
}  // namespace lldp::dataplane
