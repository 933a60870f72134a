// SPDX-License-Identifier: Apache-2.0
// A device that changes its name, and one whose frames lose our TLVs for a while:
// docs/develop/rules.md A3.
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/core/alarm.hpp"
#include "tests/core/support/remembering.hpp"

namespace lldp::test {
namespace {

// The same device under another name

TEST_F(Remembering, OfTwoNamesOfOneDeviceTheOneThatSpokeLastCounts) {
  const MacAddress one = mac(7, 7);
  s.hear(2, {.name = "z", .tr = switch_claim(2), .source = one});
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "a", .tr = switch_claim(2), .source = one});  // its farewell was lost
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.alarm(AlarmCode::kManyNeighbors, "swp2"), std::nullopt);
  s.hear(2, {.name = "z", .tr = switch_claim(2), .source = one});
  EXPECT_EQ(s.order(2), Order::kUp);
  s.hear(2, {.name = "a", .tr = switch_claim(2), .source = one});
  EXPECT_EQ(s.order(2), Order::kDown);
  s.hear(2, {.name = "z", .ttl = 0, .source = one});
  EXPECT_EQ(s.order(2), Order::kDown);
}
TEST_F(Remembering, ANameThatIsSpokenAgainCountsThoughTheOtherHasGone) {
  const MacAddress one = mac(7, 7);
  for (const bool says_so : {true, false}) {
    SCOPED_TRACE(says_so ? "with TTL 0" : "silently");
    s.hear(2, {.name = "z", .ttl = 600, .tr = switch_claim(2), .source = one});
    s.hear(2, {.name = "a", .ttl = 60, .tr = switch_claim(2), .source = one});
    EXPECT_EQ(s.order(2), Order::kDown);
    if (says_so) {
      s.hear(2, {.name = "a", .ttl = 0, .source = one});
    } else {
      s.pass(seconds(60));
    }
    s.hear(2, {.name = "z", .ttl = 600, .tr = switch_claim(2), .source = one});
    EXPECT_EQ(s.order(2), Order::kUp);
    EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  }
}
TEST_F(Remembering, AnAgentInTheNetworkCardDoesNotSpeakForTheDevice) {
  const MacAddress one = mac(7, 7);
  s.hear(2, {.name = "b", .tr = switch_claim(3), .source = one});
  s.hear(2, {.name = "nic", .source = one});
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.type(2), PortType::kUplink);
  EXPECT_TRUE(s.alarm(AlarmCode::kManyNeighbors, "swp2"));
}

// What is alarming in what it said under the other name is over, too.
TEST_F(Remembering, ANameThatIsGivenUpRaisesNothing) {
  const MacAddress one = mac(7, 7);
  Settings settings = Remembering::settings();
  settings.host_ports = {"swp2"};
  settings.lossless = 1U << 5;
  s.configure(settings);
  Peer old{.name = "z", .tr = switch_claim(2), .contribution = switch_claim(3), .source = one};
  s.hear(2, old);
  s.pass(seconds(2));
  ASSERT_TRUE(s.alarm(AlarmCode::kTlvConflict, "swp2"));
  ASSERT_TRUE(s.alarm(AlarmCode::kCabling, "swp2"));
  s.hear(2, {.name = "srv", .tr = host_claim(), .source = one});
  s.pass(seconds(2));
  for (const core::Alarm& a : s.agent.snapshot(s.now).alarms)
    EXPECT_NE(a.port, "swp2") << to_string(a.code) << ": " << a.text;
  s.hear(2, {.name = "third", .tr = host_claim()});
  EXPECT_EQ(s.alarm(AlarmCode::kManyNeighbors, "swp2"), "2 neighbors: srv, third");
}
TEST_F(Remembering, ANameThatIsSpokenAgainCountsThoughItTellsNothingOfUs) {
  const MacAddress one = mac(7, 7);
  s.hear(2, {.name = "z", .ttl = 600, .tr = switch_claim(std::nullopt), .source = one});
  s.hear(2, {.name = "a", .ttl = 600, .tr = switch_claim(std::nullopt), .source = one});
  s.hear(2, {.name = "a", .ttl = 0, .source = one});
  ASSERT_TRUE(s.alarm(AlarmCode::kSilent, "swp2"));
  s.hear(2, {.name = "z", .ttl = 600, .capabilities = tlv::Capabilities::kBridge, .source = one});
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  EXPECT_TRUE(s.info(2).unprotected);
  s.hear(2, {.name = "z", .ttl = 600, .tr = host_claim(), .source = one});
  EXPECT_EQ(s.type(2), PortType::kDownlink);
}

// A claim that stands: what it said by a TLV of ours is valid

constexpr std::uint16_t kStation = tlv::Capabilities::kStationOnly;

TEST_F(Remembering, WhoIsAHostWhenItsClaimEndsHasNotLeft) {
  s.hear(2, {.name = "z", .ttl = 60, .tr = switch_claim(2)});
  s.hear(2, {.name = "z", .ttl = 600, .capabilities = kStation});
  s.pass(seconds(60) - Duration(1));
  ASSERT_EQ(s.order(2), Order::kUp);
  const std::size_t told = s.count(Event::Kind::kNeighborChanged);
  s.pass(Duration(1));
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.alarm(AlarmCode::kSilent, "swp2"), std::nullopt);
  EXPECT_EQ(s.count(Event::Kind::kNeighborChanged), told + 1);
  const auto changed = std::find_if(s.events.rbegin(), s.events.rend(), [](const Event& e) {
    return e.kind == Event::Kind::kNeighborChanged;
  });
  EXPECT_EQ(text_of(*changed), "z port p1: device type switch -> host, level 2 -> 0");
}
TEST_F(Remembering, ASwitchThatAgesOutWhenAClaimBesideItEndsIsMissed) {
  s.hear(2, {.name = "s", .ttl = 60, .tr = switch_claim(std::nullopt)});
  s.hear(2, {.name = "z", .ttl = 60, .tr = switch_claim(2)});
  s.hear(2, {.name = "z", .ttl = 600, .capabilities = kStation});
  s.pass(seconds(60));
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp2"));
}
TEST_F(Remembering, WhoIsAHostByANewConfigurationHasNotLeft) {
  Settings settings = Remembering::settings();
  settings.host_from_capabilities = false;
  s.configure(settings);
  s.hear(2, {.name = "z", .ttl = 60, .tr = switch_claim(2)});
  s.hear(2, {.name = "z", .ttl = 600, .capabilities = kStation});
  s.pass(seconds(60));
  ASSERT_TRUE(s.alarm(AlarmCode::kSilent, "swp2"));
  const std::size_t told = s.count(Event::Kind::kNeighborChanged);
  s.configure(Remembering::settings());
  EXPECT_EQ(s.order(2), Order::kUp);
  s.pass(Settings{}.newcomer_wait);
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.count(Event::Kind::kNeighborChanged), told + 1);
}
TEST_F(Remembering, ASwitchBesideAHostThatSaysNoMoreThatItIsOneIsMissed) {
  s.hear(2, host());
  s.hear(2, a_switch("n", std::nullopt));
  s.hear(2, {.name = "n"});
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp2"));
}
TEST_F(Remembering, AFrameThatSaysNothingInBetweenEndsNoClaim) {
  s.hear(2, {.name = "z", .ttl = 60, .tr = switch_claim(3)});
  s.hear(2, {.name = "z", .ttl = 600, .capabilities = kStation});
  s.hear(2, {.name = "z", .ttl = 600});
  s.hear(2, {.name = "z", .ttl = 600, .capabilities = kStation});
  EXPECT_EQ(s.type(2), PortType::kUplink);
  s.pass(seconds(60));
  EXPECT_EQ(s.type(2), PortType::kDownlink);
}
TEST_F(Remembering, AClaimIsValidForOneTtlAfterAStart) {
  s.hear(2, {.name = "z", .ttl = 600, .tr = switch_claim(2)});
  const Peer station{.name = "z", .ttl = 600, .capabilities = kStation};
  s.hear(2, station);
  s.restart();
  s.up(1, 4);
  s.hear(2, station);
  s.hear(3, {.name = "y", .ttl = 600, .capabilities = kStation});
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_EQ(s.type(2), PortType::kUplink);
  EXPECT_EQ(s.type(3), PortType::kDownlink) << "of whom nothing is known";
  s.pass(seconds(121));
  EXPECT_EQ(s.order(2), Order::kDown);
  EXPECT_EQ(s.type(2), PortType::kDownlink);
}
TEST_F(Remembering, AClaimIsValidForOneTtlAfterAStartWhateverCameBefore) {
  s.hear(2, a_switch("z", 2));
  s.restart();
  s.up(1, 4);
  s.hear(1, host());
  s.hear(2, {.name = "z", .ttl = 600, .capabilities = tlv::Capabilities::kBridge});
  s.hear(2, {.name = "z", .ttl = 600, .capabilities = kStation});
  EXPECT_EQ(s.type(2), PortType::kUplink);
  EXPECT_EQ(s.order(2), Order::kUp);
}
// Also where a turn comes late.
TEST_F(Remembering, WhoIsGoneBeforeItsClaimEndsIsNoHost) {
  s.hear(2, {.name = "z", .ttl = 120, .tr = switch_claim(2)});
  s.hear(2, {.name = "z", .ttl = 60, .capabilities = kStation});
  s.now += seconds(130);
  s.take();
  EXPECT_EQ(s.order(2), Order::kUp);
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp2"));
}
TEST_F(Remembering, WhereAClaimOfANameThatWasGivenUpEndsNobodyIsHeard) {
  const MacAddress one = mac(7, 7);
  s.hear(2, {.name = "z", .ttl = 60, .tr = switch_claim(std::nullopt), .source = one});
  s.hear(2, {.name = "z", .ttl = 600, .capabilities = kStation, .source = one});
  s.hear(2, {.name = "a", .ttl = 600, .tr = switch_claim(std::nullopt), .source = one});
  s.hear(2, {.name = "a", .ttl = 0, .source = one});
  s.pass(seconds(61));
  EXPECT_TRUE(s.alarm(AlarmCode::kSilent, "swp2"));
}
TEST_F(Remembering, ALocationBesideAClaimThatStandsContradictsNothing) {
  s.hear(2, {.name = "z", .tr = switch_claim(2)});
  const Bytes tier{3, 2, ChassisId::kLocal, 'q', 0, 0, 0, 0};
  s.hear(2, {.name = "y", .location = tier, .capabilities = kStation});
  s.hear(2, {.name = "z", .location = tier, .capabilities = kStation});
  s.pass(seconds(2));
  const std::string conflict = s.alarm(AlarmCode::kTlvConflict, "swp2").value_or("");
  EXPECT_EQ(conflict, "y: location TLV contradicts level or chassis ID; it is not taken");
}

}  // namespace
}  // namespace lldp::test
