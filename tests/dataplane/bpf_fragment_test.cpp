// SPDX-License-Identifier: Apache-2.0
// Fragments, alone and where the kernel has joined them.
#include "tests/dataplane/bpf_program.hpp"

namespace lldp::dataplane {
namespace {

/// A fragment of each kind of packet: of IPv6 with up to three headers before its own.
std::vector<Bytes> fragments(unsigned dscp, bool later) {
  std::vector<Bytes> all{
      frame4({.dscp = dscp, .fragment = later ? 0x00b9U : 0x2000U}),
      frame4({.dscp = dscp, .fragment = later ? 0x2001U : 0x2000U, .options = kRouterAlert})};
  const Bytes headers[] = {
      {},
      {44, 0, 1, 4, 0, 0, 0, 0},
      {60, 0, 1, 4, 0, 0, 0, 0, 44, 0, 1, 4, 0, 0, 0, 0},
      {60, 0, 1, 4, 0, 0, 0, 0, 43, 0, 1, 4, 0, 0, 0, 0, 44, 0, 4, 0, 0, 0, 0, 0}};
  for (const Bytes& before : headers)
    for (const unsigned offset : {8U, 0xff8U})
      all.push_back(
          frame(0x86dd, packet::fragment6({.dscp = dscp, .next = 0}, {.offset = later ? offset : 0,
                                                                      .more = offset == 8 || !later,
                                                                      .before = before})));
  return all;
}
constexpr std::uint32_t kFirstOne = 0x0800;  // LLDP_LEVEL_MARK_FIRST

TEST_F(BpfProgram, IngressMarksFirstFragments) {
  for (const bool later : {false, true})
    for (const Bytes& f : fragments(kFirst, later))
      EXPECT_EQ(in(Order::kUp, {.frame = f}),
                (Skb{.frame = f, .tc_index = marked(5) | (later ? 0 : kFirstOne), .priority = 5}));
  const Bytes whole = frame6({.dscp = kFirst, .next = 0});
  EXPECT_EQ(in(Order::kUp, {.frame = whole}).tc_index, marked(5))
      << "no fragment behind its header";
}

// A later fragment with the mark of a first one: the kernel has joined a datagram, and cut it anew.
TEST_F(BpfProgram, LaterFragmentOfAJoinedDatagramLeavesLossy) {
  const auto first = fragments(kFirst, false);
  const auto later = fragments(kFirst, true);
  const auto lossy = fragments(kLossy, true);
  const auto lossy_first = fragments(kLossy, false);
  const auto next = fragments(kSecond, true);
  std::uint64_t joined = 0;
  for (std::size_t i = 0; i < later.size(); ++i) {
    for (const Order order : {Order::kUp, Order::kDown, Order::kUnknown}) {
      for (const std::uint32_t by : {kUpPort, kDownPort, kBond}) {
        const Bytes& as_ever = order == Order::kUp && by == kUpPort ? next[i] : later[i];
        const auto leaves = [&](const Bytes& f, std::uint32_t tc_index) {
          return out(order, {.frame = f, .tc_index = tc_index, .in = by}).frame;
        };
        // On its own, or of a packet that this switch cut.
        if (by != kBond) EXPECT_EQ(leaves(later[i], marked(5)), as_ever);
        EXPECT_EQ(leaves(later[i], marked(5) | kFirstOne), lossy[i]);
        EXPECT_GT(programs_.joined(), joined);
        joined = programs_.joined();
        EXPECT_EQ(leaves(first[i], marked(5) | kFirstOne), lossy_first[i]) << "from now on";
        // A port of ours would have marked it.
        EXPECT_EQ(leaves(later[i], 0), by == kBond ? later[i] : lossy[i]);
        EXPECT_EQ(programs_.joined(), joined);
      }
    }
    const Skb own{.frame = later[i], .priority = 3};
    EXPECT_EQ(out(Order::kUp, own), own);
  }
  for (const bool v6 : {false, true}) {
    const auto whole = [&](unsigned dscp) {
      return v6 ? frame6({.dscp = dscp, .next = 0}) : frame4({.dscp = dscp});
    };
    Skb skb{.frame = whole(kFirst), .tc_index = marked(5) | kFirstOne};
    EXPECT_EQ(out(Order::kUp, skb), (Skb{.frame = whole(kLossy)})) << "a first one in a tunnel";
    EXPECT_EQ(programs_.joined(), joined);
    skb.in = kUpPort;
    EXPECT_EQ(out(Order::kUp, skb).frame, whole(kLossy)) << "all fragments in one packet";
    EXPECT_GT(programs_.joined(), joined);
    joined = programs_.joined();
  }
}

TEST_F(BpfProgram, FirstFragmentsTurnWhileNoneAreJoined) {
  const auto first = fragments(kFirst, false);
  const auto next = fragments(kSecond, false);
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(out(Order::kUp, {.frame = first[i], .tc_index = marked(5) | kFirstOne}).frame,
              next[i]);
  EXPECT_EQ(programs_.joined(), 0U);
}

// The egress of a port that stands on this one has decided.
TEST_F(BpfProgram, LaterFragmentIsLeftAloneBelowAPort) {
  const Bytes f = frame4({.dscp = kFirst, .fragment = 0x00b9});
  constexpr std::uint32_t kDecided = kMark | 1 << 6;
  EXPECT_EQ(out(Order::kUp, {.frame = f, .tc_index = kDecided, .in = kUpPort}).frame, f);
}

}  // namespace
}  // namespace lldp::dataplane
