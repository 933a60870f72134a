// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "sim/bounce/act.hpp"
#include "sim/bounce/probe.hpp"
#include "sim/bounce/verdict.hpp"

namespace lldp::lab::bounce {
namespace {

using testing::ElementsAre;

constexpr Dscp kFirst = Dscp::of<43>();
constexpr Dscp kSecond = Dscp::of<51>();
constexpr Dscp kLossy = Dscp::of<0>();

TEST(ProbePacket, IsRecognisedAsItWasSent) {
  for (const bool v6 : {false, true})
    for (const auto pcp : {std::optional<Priority>(), std::optional(Priority::of<5>())}) {
      const ProbePacket probe{
          .serial = 0x12345678, .flow = 3, .v6 = v6, .marking = {kFirst, 2, pcp}};
      const auto seen = recognise(frame_of(probe, mac_of(3, true)));
      ASSERT_TRUE(seen) << to_string(probe);
      EXPECT_EQ(seen->serial, probe.serial);
      EXPECT_EQ(seen->marking, probe.marking);
      EXPECT_EQ(seen->hop_limit, kHopLimit);
      EXPECT_TRUE(seen->checksums_right);
      EXPECT_EQ(seen->to, mac_of(3, true));
      EXPECT_EQ(seen->from, mac_of(3, false));
    }
}

TEST(ProbePacket, HasTheChecksumOfTheStandards) {
  const Bytes frame = frame_of({.serial = 1, .flow = 1, .marking = {kFirst, 1}}, mac_of(1, true));
  std::uint32_t sum = 0;  // RFC 1071 over the IPv4 header, its checksum included
  for (std::size_t i = 14; i < 34; i += 2) sum += unsigned{frame[i]} << 8 | frame[i + 1];
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  EXPECT_EQ(sum, 0xffffU);
  EXPECT_EQ(frame[15], 43 << 2 | 1);
}

TEST(ProbePacket, IsNoFrameThatIsCutOffOrSomethingElse) {
  const Bytes frame = frame_of({.serial = 1, .v6 = true, .marking = {kFirst, 0, Priority::of<5>()}},
                               mac_of(0, true));
  for (std::size_t n = 0; n < frame.size(); ++n)
    EXPECT_FALSE(recognise(ByteSpan(frame).first(n))) << n;
  Bytes other = frame;
  other[14 + 4 + 40 + 8] ^= 1;  // the first octet of the payload
  EXPECT_FALSE(recognise(other));
}

TEST(Probes, CoverEveryKind) {
  const auto routed = probes_for(0, qos::Policy(), BounceMode::kRouted, 1);
  EXPECT_EQ(routed.size(), (2 + 5) * 4 * 2U);  // DSCPs, ECN, IP versions
  EXPECT_EQ(probes_for(0, qos::Policy(), BounceMode::kBridged, 1).size(), 2 * routed.size());
}

/// The way of one probe through a scenario, as it must be; tests spoil it.
struct Passage {
  NamedCase s;
  Path path;
  ProbePacket probe;
  BounceMode mode = BounceMode::kBridged;
  Track track{};

  Passage(std::string_view name, Marking marking) : s(*scenario(name)) {
    path = *local_reroute(s.fabric, s.failed, s.flows[0]);
    probe = {.serial = 7, .flow = 0, .marking = marking};
    const auto sent = *recognise(frame_of(probe, mac_of(0, true)));
    const auto spots = spots_of(s.fabric, path);
    const auto markings = expected_markings(s.fabric, path, qos::Policy(), marking);
    for (std::size_t i = 0; i < spots.size(); ++i) {
      Sighting seen = sent;
      seen.marking = markings[i / 2];
      track.emplace(spots[i], seen);
    }
  }
  Sighting& at(std::size_t i) { return track.find(spots_of(s.fabric, path)[i])->second; }
  [[nodiscard]] std::string problem() const {
    return problem_of(s.fabric, path, qos::Policy(), mode, probe, track);
  }
};

std::vector<int> dscps(const std::vector<Marking>& markings) {
  std::vector<int> out;
  for (const Marking& m : markings) out.push_back(m.dscp.value());
  return out;
}

TEST(Expectation, FollowsTheTurns) {
  const auto along = [](const char* name, Dscp dscp) {
    const Passage p(name, {dscp, 0, std::nullopt});
    return dscps(expected_markings(p.s.fabric, p.path, qos::Policy(), p.probe.marking));
  };
  // host2, Leaf2, Spine1, Leaf3 (turn), Spine2, Leaf4, host4
  EXPECT_THAT(along("case1", kFirst), ElementsAre(43, 43, 43, 51, 51, 51));
  EXPECT_THAT(along("case1", kSecond), ElementsAre(51, 51, 51, 0, 0, 0));
  EXPECT_THAT(along("case1", Dscp::of<46>()), ElementsAre(46, 46, 46, 46, 46, 46));
  // host1, Leaf1, Spine1, Leaf2 (turn), Spine2, Leaf3 (turn), Spine3, Leaf4, host4
  EXPECT_THAT(along("twice", kFirst), ElementsAre(43, 43, 43, 51, 51, 0, 0, 0));
}

TEST(Verdict, AcceptsWhatMustBe) {
  EXPECT_EQ(Passage("case1", {kFirst, 3, Priority::of<5>()}).problem(), "");
  EXPECT_EQ(Passage("case2", {kLossy, 0, std::nullopt}).problem(), "");
}

TEST(Verdict, NamesWhatIsWrongAndWhere) {
  const Marking sent{kFirst, 3, Priority::of<5>()};
  const auto spoilt = [&](auto spoil) {
    Passage p("case1", sent);
    spoil(p);
    return p.problem();
  };
  EXPECT_EQ(spoilt([](Passage& p) { p.at(6).marking.dscp = kFirst; }),
            "dscp43 ecn3 pcp6 leaving Leaf3 by swp3, not dscp51 ecn3 pcp6");
  EXPECT_EQ(spoilt([](Passage& p) { p.at(6).marking.pcp = Priority::of<5>(); }),
            "dscp51 ecn3 pcp5 leaving Leaf3 by swp3, not dscp51 ecn3 pcp6");
  EXPECT_EQ(spoilt([](Passage& p) { p.at(7).marking.ecn = 0; }),
            "dscp51 ecn0 pcp6 entering Spine2 by swp3, not dscp51 ecn3 pcp6");
  EXPECT_EQ(spoilt([](Passage& p) { p.at(9).checksums_right = false; }),
            "wrong checksum entering Leaf4 by swp3");
  EXPECT_EQ(spoilt([](Passage& p) { p.at(2).hop_limit = 63; }),
            "hop limit 63 leaving Leaf2 by swp2");
  EXPECT_EQ(spoilt([](Passage& p) { p.at(11).rest.back() ^= 1; }),
            "other octets changed entering host4 by eth0");
  EXPECT_EQ(spoilt([](Passage& p) { p.at(11).to[0] ^= 2; }),
            "other octets changed entering host4 by eth0");
  EXPECT_EQ(spoilt([](Passage& p) { p.track.erase(spots_of(p.s.fabric, p.path)[5]); }),
            "not seen entering Leaf3 by swp2");
  EXPECT_EQ(spoilt([](Passage& p) { p.track.emplace(spots_of(p.s.fabric, p.path)[5], p.at(5)); }),
            "seen twice entering Leaf3 by swp2");
  EXPECT_EQ(spoilt([](Passage& p) {
              p.track.emplace(Spot{0, 0, true}, p.at(5));
            }),
            "off its path: leaving host1 by eth0");
}

TEST(Turns, AreCountedWhereThePacketLeavesByThePriorityItCameWith) {
  const auto turns = [](Dscp dscp) {
    const Passage p("twice", {dscp, 0, std::nullopt});
    Bounces bounces;
    count_turns(p.s.fabric, p.path, qos::Policy(), p.probe.marking, bounces);
    return miscounts(p.s.fabric, {}, bounces);
  };
  EXPECT_THAT(turns(kFirst), ElementsAre("Leaf2:swp3 priority 5: 0 packets, not 1",
                                         "Leaf3:swp4 priority 6: 0 packets, not 1"));
  EXPECT_THAT(turns(kSecond), ElementsAre("Leaf2:swp3 priority 6: 0 packets, not 1"));
  EXPECT_THAT(turns(kLossy), ElementsAre());
}

TEST(Verdict, CountsTheHopsOfARoutedPacket) {
  Passage p("case1", {kFirst, 3, std::nullopt});
  p.mode = BounceMode::kRouted;
  EXPECT_EQ(p.problem(), "hop limit 64 leaving Leaf2 by swp2");
  for (std::size_t i = 0; i < 12; ++i) p.at(i).hop_limit = static_cast<std::uint8_t>(64 - i / 2);
  EXPECT_EQ(p.problem(), "");
}

}  // namespace
}  // namespace lldp::lab::bounce
