// SPDX-License-Identifier: Apache-2.0
// What a packet's class is where others change it between two ports, and where a port stands on
// another: in the kernel, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>

#include "dataplane/bpf/lldp_level_shared.h"
#include "dataplane/bpf/programs.hpp"
#include "qos/policy.hpp"
#include "qos/ruleset.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/probe.hpp"

namespace lldp::dataplane {
namespace {

using packet::frame4;
using packet::frame6;

// The default classes: 5:dscp43 -> 6:dscp51 -> 0:dscp0.
constexpr unsigned kApplication = 43;
constexpr unsigned kSpare = 51;
constexpr unsigned kBestEffort = 0;
// Ports with places in the state, and interfaces without one.
constexpr std::uint32_t kByUp = 7;
constexpr std::uint32_t kByDown = 8;
constexpr std::uint32_t kByBond = 9;

constexpr std::uint32_t marks(unsigned tag, unsigned priority) {
  return LLDP_LEVEL_MARK | tag | (LLDP_LEVEL_SET | priority) << LLDP_LEVEL_MARK_PRIORITY_SHIFT;
}

class BpfClass : public testing::Test {
 protected:
  void SetUp() override {
    probe_ = Probe::open();
    if (!probe_) GTEST_SKIP() << "needs CAP_BPF and CAP_NET_ADMIN";
    for (const auto& [port, tag] : {std::pair(kByUp, 1U), std::pair(kByDown, 0U)}) {
      ASSERT_TRUE(programs_.need_place(*Ifindex::make(port)));
      programs_.set_tag(*Ifindex::make(port), *qos::Tag::make(tag));
    }
  }
  Skb out(qos::PortClass port, Skb skb) {
    const auto loaded = programs_.get(qos::compile(policy_, port));
    EXPECT_TRUE(loaded) << to_string(loaded.error());
    EXPECT_EQ(probe_->run((*loaded)->programs.out, skb), -1);
    return skb;
  }

  std::unique_ptr<Probe> probe_;
  bpf::Programs programs_{std::nullopt};
  qos::Policy policy_{};
};

/// A packet that has come in with one class and has another where it leaves.
struct Remark {
  unsigned came = 0;  ///< priority, of the mark
  unsigned dscp = 0;
  unsigned turned = 0;  ///< DSCP after a turn
  unsigned straight = 0;
};
constexpr Remark kRemarks[] = {
    {6, kApplication, kBestEffort, kSpare},
    {5, kSpare, kSpare, kApplication},
    {5, kApplication, kSpare, kApplication},  // none
    // To or from a class that is not lossless: nothing waits for it.
    {5, kBestEffort, kBestEffort, kBestEffort},
    {0, kApplication, kSpare, kApplication},
};
constexpr unsigned priority_for(unsigned dscp) {
  return dscp == kApplication ? 5 : dscp == kSpare ? 6 : 0;
}

TEST_F(BpfClass, IsThatOfTheIngressWhateverOthersMadeOfIt) {
  for (const Remark& c : kRemarks)
    for (const std::uint32_t in : {kByUp, kByBond})
      for (const Order order : {Order::kUp, Order::kDown})
        for (const unsigned ecn : {0U, 3U}) {
          const unsigned after = order == Order::kUp ? c.turned : c.straight;
          // Behind a bond a mark without the packet's priority tells no turn.
          if (in == kByBond && c.came == 0) continue;
          const Skb before{.frame = frame4({.dscp = c.dscp, .ecn = ecn}),
                           .tc_index = marks(1, c.came),
                           .in = in};
          EXPECT_EQ(out({.order = order}, before),
                    (Skb{.frame = frame4({.dscp = after, .ecn = ecn}),
                         .priority = priority_for(after),
                         .in = in}))
              << c.came << " " << c.dscp << " in by " << in;
          Skb tagged = before;
          tagged.frame = frame6({.dscp = c.dscp, .ecn = ecn}, {{0x8100, 0x0007}});
          tagged = out({.order = order}, tagged);
          const bool set_back =
              c.came != 0 && c.dscp != kBestEffort && c.came != priority_for(c.dscp);
          const unsigned pcp = set_back || after != c.dscp ? priority_for(after) << 13 : 0;
          EXPECT_EQ(tagged.frame, frame6({.dscp = after, .ecn = ecn}, {{0x8100, 7 | pcp}}))
              << c.came << " " << c.dscp << " in by " << in;
        }
}

TEST_F(BpfClass, IsNotTakenFromAMarkThatThePortDoesNotGive) {
  const Bytes f = frame4({.dscp = kApplication});
  for (const std::uint32_t tag : {1U, 2U})
    EXPECT_EQ(out({.order = Order::kUp}, {.frame = f, .tc_index = marks(tag, 6), .in = kByDown}),
              (Skb{.frame = f, .priority = 5, .in = kByDown}));
}

TEST_F(BpfClass, IsSetBackAlsoWhereItDoesNotCrossThePort) {
  // Class 5 is lossy on the port, so its packets leave so, turned or not.
  for (const Order order : {Order::kUp, Order::kDown})
    EXPECT_EQ(out({.order = order, .lossy = 1 << 5},
                  {.frame = frame4({.dscp = kSpare}), .tc_index = marks(0, 5), .in = kByDown}),
              (Skb{.frame = frame4({.dscp = kBestEffort}), .in = kByDown}));
}

TEST_F(BpfClass, TurnsOnceWhereAPortStandsOnAnother) {
  for (const std::uint32_t in : {kByUp, kByBond})
    for (const Order below : {Order::kUp, Order::kDown, Order::kUnknown}) {
      const Skb packet{.frame = frame6({.dscp = kApplication}), .tc_index = marks(1, 5), .in = in};
      const Skb turned{.frame = frame6({.dscp = kSpare}), .priority = 6, .in = in};
      EXPECT_EQ(out({.order = below}, out({.order = Order::kUp, .stacked = true}, packet)), turned);
      // The one above says that it does not turn.
      const Skb straight{.frame = packet.frame, .priority = 5, .in = in};
      EXPECT_EQ(out({.order = below}, out({.order = Order::kDown, .stacked = true}, packet)),
                straight);
      // What does not cross the port below is lossy there all the same.
      EXPECT_EQ(out({.order = Order::kShut}, out({.order = Order::kUp, .stacked = true}, packet)),
                (Skb{.frame = frame6({.dscp = kBestEffort}), .in = in}));
    }
}

}  // namespace
}  // namespace lldp::dataplane
