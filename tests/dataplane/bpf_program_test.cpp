// SPDX-License-Identifier: Apache-2.0
// The two programs of the bpf back end on every kind of packet, in the kernel, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "qos/policy.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/probe.hpp"

namespace lldp::dataplane {
namespace {

using packet::frame;
using packet::frame4;
using packet::frame6;

// The default classes: 5:dscp43 -> 6:dscp51 -> 0:dscp0.
constexpr unsigned kFirst = 43;
constexpr unsigned kSecond = 51;
constexpr unsigned kLossy = 0;

constexpr std::uint32_t kMark = 0xb000;  // lldp_level_shared.h
constexpr std::uint32_t kFromUp = kMark | 1;
constexpr std::uint32_t marked(unsigned priority) { return kFromUp | (8 | priority) << 6; }

class BpfProgram : public testing::Test {
 protected:
  void SetUp() override {
    probe_ = Probe::open();
    if (!probe_) GTEST_SKIP() << "needs CAP_BPF and CAP_NET_ADMIN";
  }
  const bpf::Programs::Loaded& of(Order order) {
    auto loaded = programs_.get(qos::compile(qos::Policy(), {.order = order}));
    EXPECT_TRUE(loaded) << to_string(loaded.error());
    return **loaded;
  }
  /// What the program makes of a packet; it must leave the verdict to others.
  Skb in(Order order, Skb skb) {
    EXPECT_EQ(probe_->run(of(order).programs.in, skb), -1);
    return skb;
  }
  Skb out(Order order, Skb skb) {
    EXPECT_EQ(probe_->run(of(order).programs.out, skb), -1);
    return skb;
  }

  std::unique_ptr<Probe> probe_;
  bpf::Programs programs_{std::nullopt};
};

/// A packet that turned, and what must become of it.
struct TurnCase {
  const char* name = "";
  Skb before{};
  Skb after{};
  friend void PrintTo(const TurnCase& c, std::ostream* os) { *os << c.name; }
};
class BpfTurn : public BpfProgram, public testing::WithParamInterface<TurnCase> {};

TEST_P(BpfTurn, LeavesAsItMust) { EXPECT_EQ(out(Order::kUp, GetParam().before), GetParam().after); }

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

const Bytes kRouterAlert{0x94, 4, 0, 0};
const TurnCase kTurns[] = {
    {"Ipv4",
     {.frame = frame4({.dscp = kFirst}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond}), .priority = 6}},
    {"Ipv4WhateverThePriorityWas",
     {.frame = frame4({.dscp = kFirst}), .tc_index = kFromUp, .priority = 3},
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
    {"Ipv4FirstFragment",
     {.frame = frame4({.dscp = kFirst, .fragment = 0x2000}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond, .fragment = 0x2000}), .priority = 6}},
    {"Ipv4LaterFragment",
     {.frame = frame4({.dscp = kFirst, .fragment = 0x00b9}), .tc_index = marked(5)},
     {.frame = frame4({.dscp = kSecond, .fragment = 0x00b9}), .priority = 6}},
    {"Ipv6",
     {.frame = frame6({.dscp = kFirst}), .tc_index = marked(5)},
     {.frame = frame6({.dscp = kSecond}), .priority = 6}},
    {"Ipv6EcnAndFlowLabel",
     {.frame = frame6({.dscp = kSecond, .ecn = 2, .flow = 0xfffff}), .tc_index = marked(6)},
     {.frame = frame6({.dscp = kLossy, .ecn = 2, .flow = 0xfffff}), .priority = 0}},
    {"Ipv6Fragment",
     {.frame = frame6({.dscp = kFirst, .next = 44}), .tc_index = marked(5)},
     {.frame = frame6({.dscp = kSecond, .next = 44}), .priority = 6}},
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
                                   .tc_index = kFromUp})
                      .frame,
                  frame4({.dscp = dscp == kFirst ? kSecond : kLossy, .ecn = ecn, .ttl = ttl}));
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

TEST_F(BpfProgram, EgressWithoutMarkLeavesEverythingAlone) {
  for (std::uint32_t tc_index : {0U, 1U, 0x2eU, 0xffffU}) {
    const Skb skb{.frame = frame4({.dscp = kFirst}), .tc_index = tc_index, .priority = 3};
    EXPECT_EQ(out(Order::kUp, skb), skb);
    EXPECT_EQ(out(Order::kDown, skb), skb);
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

TEST_F(BpfProgram, CountsBouncesByPortAndPriority) {
  const auto lo = Ifindex::of<1>();
  const auto& up = of(Order::kUp);
  ASSERT_TRUE(programs_.start_counting(lo));
  const auto send = [&](unsigned dscp, std::uint32_t tc_index, int times) {
    for (; times > 0; --times) {
      // Two runs in the kernel per run here; the second only reports.
      Skb skb{.frame = frame4({.dscp = dscp}), .tc_index = tc_index};
      (void)probe_->run(up.programs.out, skb);
    }
  };
  send(kFirst, kFromUp, 3);
  send(kSecond, kFromUp, 1);
  send(46, kFromUp, 2);
  send(kFirst, 0, 2);
  const Bounces twice{0, 0, 0, 0, 0, 6, 2, 0};  // Probe runs each packet afresh for the report
  EXPECT_EQ(programs_.bounces(lo), twice);
}

TEST_F(BpfProgram, FollowsTheOperatorsClasses) {
  const auto policy = qos::Policy::parse("1:dscp10,3:dscp26,4:dscp36", "2:dscp20");
  ASSERT_TRUE(policy);
  const auto loaded = programs_.get(qos::compile(*policy, {.order = Order::kUp}));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const std::pair<unsigned, unsigned> kSteps[] = {{10, 26}, {26, 36}, {36, 20}, {20, 20}};
  for (const auto& [from, to] : kSteps) {
    Skb skb{.frame = frame6({.dscp = from}), .tc_index = kFromUp};
    EXPECT_EQ(probe_->run((*loaded)->programs.out, skb), -1);
    EXPECT_EQ(skb.frame, frame6({.dscp = to})) << from;
  }
  Skb skb{.frame = frame4({.dscp = 20})};
  EXPECT_EQ(probe_->run((*loaded)->programs.in, skb), -1);
  EXPECT_EQ(skb.priority, 2U);  // the lossy class, being no default, is classified too
}

}  // namespace
}  // namespace lldp::dataplane
