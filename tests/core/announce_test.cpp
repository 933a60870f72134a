// SPDX-License-Identifier: Apache-2.0
// What the agent says of itself, when, and how evenly.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "agent/core/deadline_queue.hpp"
#include "tests/core/support/single.hpp"
#include "tlv/dot1.hpp"
#include "tlv/dot3.hpp"

namespace lldp::test {
namespace {

using core::AdminStatus;

constexpr auto kBridge = tlv::Capabilities::kBridge;
constexpr auto kRouter = tlv::Capabilities::kRouter;

template <class T>
bool holds(const Bytes& frame, const T& tlv) {
  const Bytes octets = tlv::encode_info(tlv);
  return std::search(frame.begin(), frame.end(), octets.begin(), octets.end()) != frame.end();
}

// What

TEST(Announcement, HoldsWhatANeighborGoesBy) {
  Settings settings;
  settings.system_name = "leaf1";
  settings.system_description = "a test";
  Single s(settings);
  s.up(1);
  s.hear(1, host());
  const auto sent = s.sends(1);
  ASSERT_EQ(sent.size(), 2U);
  const Bytes& frame = sent[1].frame;
  EXPECT_EQ(Bytes(frame.begin(), frame.begin() + 14),
            (Bytes{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e,  // nearest bridge
                   0x02, 0x00, 0x00, 0xff, 0x00, 0x01,  // the link's address
                   0x88, 0xcc}));
  const tlv::LldpduView v = read(frame);
  EXPECT_EQ(v.chassis_subtype, ChassisId::kMacAddress);
  EXPECT_EQ(as_text(v.chassis_octets), s.agent.chassis_id().octets);
  EXPECT_EQ(v.port_subtype, PortId::kInterfaceName);
  EXPECT_EQ(as_text(v.port_octets), "swp1");
  EXPECT_EQ(v.ttl, 121);
  EXPECT_EQ(v.system_name, "leaf1");
  EXPECT_EQ(v.system_description, "a test");
  EXPECT_EQ(v.capabilities, (tlv::Capabilities{kBridge | kRouter, kBridge}));
  EXPECT_EQ(v.port_description, "swp1");
  EXPECT_EQ(v.tr, switch_claim(1, PortType::kDownlink));
  EXPECT_EQ(v.contribution, switch_claim(1, PortType::kDownlink));
  EXPECT_FALSE(v.in_error);
}
TEST(Announcement, IsShownAsItIsSentAndOnlyWhereItIs) {
  Single s;
  s.up(1, 2);
  s.hear(1, host());
  s.set({.ifindex = ifindex(3), .up = true, .adminStatus = AdminStatus::enabledRxOnly});
  s.pass(seconds(5));  // until the credit has let all be sent
  const auto shown = [&](std::size_t port) {
    for (const auto& p : s.agent.snapshot(s.now, core::Depth::kOctets).ports)
      if (p.ifindex == ifindex(port)) return p.announced;
    return Bytes{1};
  };
  for (const std::size_t port : {1U, 2U}) {
    const Bytes frame = s.sends(port).back().frame;
    EXPECT_EQ(shown(port), Bytes(frame.begin() + 14, frame.end())) << port;
  }
  EXPECT_EQ(shown(3), Bytes());
  EXPECT_EQ(s.info(1).announced, Bytes());  // not asked for
}
TEST(Announcement, WithoutALevelSaysUnknown) {
  Single s;
  s.up(1);
  const auto v = read(s.sends(1).at(0).frame);
  EXPECT_EQ(v.tr, switch_claim(std::nullopt));
  EXPECT_EQ(v.contribution, switch_claim(std::nullopt));
}
TEST(Announcement, TellsWhatOperatorsLookFor) {
  const std::string address("\1\xc0\0\2\7", 5);
  Settings settings;
  settings.router = true;
  settings.management_addresses = {{address, ifindex(9)}};
  Single s(settings);
  s.set({.ifindex = ifindex(1),
         .up = true,
         .mtu = 9000,
         .details = core::LinkDetails{.description = "to spine 3", .aggregate = ifindex(12)}});
  const Bytes frame = s.sends(1).at(0).frame;
  const auto v = read(frame);
  EXPECT_EQ(v.port_description, "to spine 3");
  EXPECT_EQ(v.capabilities, (tlv::Capabilities{kBridge | kRouter, kBridge | kRouter}));
  EXPECT_TRUE(holds(
      frame, tlv::ManagementAddress{
                 .address = as_octets(address), .interface_subtype = 2, .interface_number = 9}));
  EXPECT_TRUE(
      holds(frame, tlv::Dot3LinkAggregation{.enabled = true, .capable = true, .port_id = 12}));
  EXPECT_TRUE(holds(frame, tlv::MaxFrameSize{9014}));
}
TEST(Announcement, IsSentAnewWhenAnAddressComes) {
  Settings settings;
  Single s(settings);
  s.up(1);
  s.pass(seconds(5));
  (void)s.sends(1);
  settings.management_addresses = {{std::string("\1\xc0\0\2\7", 5), ifindex(9)}};
  s.agent.configure(settings, s.now, s.out);
  s.take();
  EXPECT_EQ(s.sends(1).size(), 1U);
}
TEST(Announcement, OfAHostSaysStationOnly) {
  Settings settings;
  settings.role = Role::kHost;
  Single s(settings);
  s.up(1);
  const auto v = read(s.sends(1).at(0).frame);
  EXPECT_EQ(v.tr, host_claim());
  EXPECT_EQ(v.capabilities->enabled, tlv::Capabilities::kStationOnly);
}
TEST(Announcement, HoldsTheTlvsThatWereAskedFor) {
  Settings settings;
  settings.send_tr = false;
  settings.contribution_oui = {0x02, 0x4c, 0x56};
  Single s(settings);
  s.up(1);
  const auto v = read(s.sends(1).at(0).frame);
  EXPECT_EQ(v.tr, std::nullopt);
  EXPECT_TRUE(v.contribution.has_value());
}
TEST(Announcement, TtlIsBounded) {
  Settings settings;
  settings.msgTxInterval = seconds(3600);
  settings.msgTxHold = 100;
  Single s(settings);
  s.up(1);
  EXPECT_EQ(read(s.sends(1).at(0).frame).ttl, 65535);
}
TEST(Announcement, ThatDoesNotFitTheMtuLeavesOutTheNameFirst) {
  Settings settings;
  settings.system_name = std::string(100, 'n');
  Single s(settings);
  s.set({.ifindex = ifindex(1), .up = true, .mtu = 117});
  const auto frame = s.sends(1).at(0).frame;
  EXPECT_LE(frame.size(), 14U + 117U);
  EXPECT_EQ(read(frame).system_name, std::nullopt);
  EXPECT_TRUE(read(frame).tr.has_value());
  EXPECT_EQ(s.statistics(1).lldpduLengthErrors, 1U);
}
TEST(Announcement, TellsHowTheLinkNegotiatesItsVlansAndTheOperatorsOwn) {
  Settings settings;
  settings.custom_tlvs = {{{0x00, 0x11, 0x22}, 7, {0xc0, 0xff, 0xee}}, {{0x00, 0x11, 0x22}, 8, {}}};
  Single s(settings);
  s.set(
      {.ifindex = ifindex(1),
       .up = true,
       .details = core::LinkDetails{
           .mac_phy = core::MacPhy{true, false, 0x8001, 54}, .port_vlan = 10, .vlans = {10, 20}}});
  const Bytes frame = s.sends(1).at(0).frame;
  EXPECT_TRUE(holds(frame, tlv::MacPhy{false, true, 0x8001, 54}));
  EXPECT_TRUE(holds(frame, tlv::PortVlan{10}));
  EXPECT_TRUE(holds(frame, tlv::VlanName{10, "vlan10"}));
  EXPECT_TRUE(holds(frame, tlv::VlanName{20, "vlan20"}));
  for (const Bytes& own :
       {Bytes{0xfe, 7, 0x00, 0x11, 0x22, 7, 0xc0, 0xff, 0xee}, Bytes{0xfe, 4, 0x00, 0x11, 0x22, 8}})
    EXPECT_NE(std::search(frame.begin(), frame.end(), own.begin(), own.end()), frame.end());
}
TEST(Announcement, OfAThousandVlansTellsThoseThatFitAndCountsTheOthers) {
  Single s;
  core::LinkDetails details{.port_vlan = 1};
  for (std::uint16_t vid = 1; vid <= 1000; ++vid) details.vlans.push_back(vid);
  s.set({.ifindex = ifindex(1), .up = true, .details = details});
  const Bytes frame = s.sends(1).at(0).frame;
  EXPECT_LE(frame.size(), 14U + 1500U);
  EXPECT_GT(frame.size(), 1400U);
  EXPECT_FALSE(read(frame).in_error);
  EXPECT_TRUE(read(frame).tr.has_value());
  EXPECT_TRUE(holds(frame, tlv::VlanName{1, "vlan1"}));
  EXPECT_GT(s.statistics(1).lldpduLengthErrors, 800U);
}

// Who

TEST(ChassisIdOfTheAgent, IsTheFirstLinksAddressAndIsKept) {
  Single s;
  EXPECT_TRUE(s.agent.chassis_id().octets.empty());
  s.up(3);
  s.up(1);
  EXPECT_EQ(s.agent.chassis_id(), chassis_id_from_mac(mac(0xff, 3)));
  s.agent.remove_link(ifindex(3), s.now, s.out);
  EXPECT_EQ(s.agent.chassis_id(), chassis_id_from_mac(mac(0xff, 3)));
  EXPECT_EQ(s.agent.state().chassis_id, s.agent.chassis_id());
  EXPECT_EQ(s.count(Event::Kind::kState), 1U);
}
TEST(ChassisIdOfTheAgent, IsTheRestoredOneOrTheConfiguredOne) {
  const ChassisId restored{{ChassisId::kLocal, "r"}};
  const ChassisId configured{{ChassisId::kLocal, "c"}};
  EXPECT_EQ(Single({}, {.chassis_id = restored}).agent.chassis_id(), restored);
  Settings settings;
  settings.chassis_id = configured;
  EXPECT_EQ(Single(settings, {.chassis_id = restored}).agent.chassis_id(), configured);
}
TEST(ChassisIdOfTheAgent, ThatChangesIsTakenBackFirst) {
  Single s;
  s.up(1);
  s.sends(1);
  Settings settings;
  settings.chassis_id = ChassisId{{ChassisId::kLocal, "new"}};
  s.agent.configure(settings, s.now, s.out);
  s.take();
  const auto sent = s.sends(1);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(read(sent[0].frame).ttl, 0);
  EXPECT_EQ(read(sent[0].frame).chassis_subtype, ChassisId::kMacAddress);
  EXPECT_EQ(as_text(read(sent[1].frame).chassis_octets), "new");
}
TEST(PortName, ThatChangesIsTakenBackFirst) {
  Single s;
  s.up(1);
  s.sends(1);
  s.set({.ifindex = ifindex(1), .name = "leaf", .up = true});
  const auto sent = s.sends(1);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(read(sent[0].frame).ttl, 0);
  EXPECT_EQ(as_text(read(sent[0].frame).port_octets), "swp1");
  EXPECT_EQ(as_text(read(sent[1].frame).port_octets), "leaf");
  EXPECT_EQ(read(sent[1].frame).ttl, 121);
}

// When

TEST(Sending, BeginsAtOnceWhenALinkComesUp) {
  Single s;
  s.up(1);
  EXPECT_EQ(s.sends(1).size(), 1U);
  s.up(1);  // a spurious event
  EXPECT_EQ(s.sends(1).size(), 0U);
  s.down(1);
  s.pass(seconds(100));
  EXPECT_EQ(s.sends(1).size(), 0U);
  s.up(1);
  EXPECT_EQ(s.sends(1).size(), 1U);
}
TEST(Sending, GoesOnEveryInterval) {
  Single s;
  s.up(1);
  s.sends(1);
  s.pass(seconds(300));
  const auto sent = s.sends(1);
  ASSERT_EQ(sent.size(), 10U);
  for (std::size_t i = 1; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].time - sent[i - 1].time, seconds(30));
  }
}
TEST(Sending, ANewNeighborIsAnsweredAtOnceAndThenThreeTimesMore) {
  Single s;
  s.up(1);
  s.sends(1);
  s.hear(1, Peer{});
  EXPECT_EQ(s.sends(1).size(), 1U);
  s.pass(milliseconds(499));
  EXPECT_EQ(s.sends(1).size(), 0U);  // it has just been told
  s.pass(milliseconds(3001));
  EXPECT_EQ(s.sends(1).size(), 3U);
}
TEST(Sending, AKnownNeighborThatChangesIsNotAnswered) {
  Single s;
  s.up(1);
  s.hear(1, {.ttl = 100});
  s.pass(seconds(10));
  s.sends(1);
  s.hear(1, {.ttl = 101});
  EXPECT_EQ(s.sends(1).size(), 0U);
}
TEST(Sending, ANeighborThatNoLongerKnowsUsIsAnsweredAtOnce) {
  Single s;
  s.up(1);
  s.hear(1, a_switch("a", 3, PortType::kUplink));
  s.pass(seconds(10));
  s.sends(1);
  s.hear(1, a_switch("a", 3));  // it has restarted, and its port knows nobody yet
  EXPECT_EQ(s.sends(1).size(), 1U);
}
/// Level 3, with nobody on port 1, a switch without a level on 2, one below on 3 and one above
/// on 4.
struct NewLevel : testing::Test {
  NewLevel() {
    s.up(1, 5);
    s.hear(2, a_switch("young", std::nullopt));
    s.hear(3, a_switch("below", 2));
    s.hear(4, a_switch("above", 4));
    s.pass(seconds(10));
    s.sent.clear();
  }
  Single s{};
};
TEST_F(NewLevel, ThatFellIsToldFirstToThoseWhoseOwnLevelWaitsForIt) {
  s.hear(5, host());
  EXPECT_EQ(s.agent.level(), level(1));
  for (std::size_t port : {2U, 4U, 5U}) EXPECT_EQ(s.sends(port).size(), 1U) << port;  // 5: answered
  EXPECT_TRUE(s.sent.empty());
  s.pass(milliseconds(50));
  EXPECT_EQ(s.sends(3).size(), 1U);  // stands on level 2 with us on 1 as with us on 3
  s.pass(milliseconds(950));
  const auto sent = s.sends(1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(read(sent[0].frame).tr->level, level(1));
}
TEST_F(NewLevel, ThatFallsAgainIsOneFrameToThoseWhoOnlyLabelAPortByIt) {
  s.hear(1, a_switch("lower", 1));
  EXPECT_EQ(s.agent.level(), level(2));
  EXPECT_EQ(s.sends(4).size(), 1U);  // from 4 it is to be on 3
  s.pass(milliseconds(49));
  s.hear(5, host());
  EXPECT_TRUE(s.sends(3).empty());
  s.pass(milliseconds(900));
  const auto sent = s.sends(3);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(read(sent[0].frame).tr->level, level(1));
}
// docs/develop/rules.md L7
TEST_F(NewLevel, ThatIsWithdrawnIsToldOnAllPortsAtOnceAndRepeated) {
  s.hear(3, {.name = "below", .ttl = 0});
  s.pass(milliseconds(59999));
  s.sent.clear();
  s.pass(milliseconds(1));
  EXPECT_EQ(s.sent.size(), 5U);
  for (const auto& sent : s.sent) EXPECT_EQ(read(sent.frame).tr->level, std::nullopt);
  s.sent.clear();
  s.pass(milliseconds(4500));
  EXPECT_EQ(s.sent.size(), 5U * 4);  // txFastInit times, msgFastTx apart
  for (const auto& sent : s.sent) EXPECT_EQ(read(sent.frame).tr->level, std::nullopt);
}
TEST_F(NewLevel, ThatRoseIsToldOnAllPortsAtOnce) {
  Settings pinned;
  pinned.pinned_level = level(5);
  s.agent.configure(pinned, s.now, s.out);
  s.take();
  EXPECT_EQ(s.sent.size(), 5U);
  for (const auto& sent : s.sent) EXPECT_EQ(read(sent.frame).tr->level, level(5));
}
// Every scope of every port is a sender of its own: a device's frames do not leave in one burst.
TEST(Sending, SixtyFourFramesOfScopesAndPortsShareATurn) {
  Settings settings;
  settings.scopes = {Scope::kNearestBridge, Scope::kNearestCustomerBridge};
  Single s(settings);
  s.up(1, 96);
  s.pass(seconds(60));
  s.sent.clear();
  s.pass(seconds(30));
  std::map<TimePoint, std::size_t> turns;
  for (const auto& sent : s.sent) ++turns[sent.time];
  EXPECT_EQ(turns.size(), 3U);
  for (const auto& [moment, count] : turns) EXPECT_EQ(count, 64U);
}
TEST(Sending, ANewTypeIsToldOnItsPortAlone) {
  Single s;
  s.up(1, 3);
  s.hear(1, host());
  s.hear(2, a_switch("b", 1));
  s.pass(seconds(13));  // txCredit is full
  s.sent.clear();
  s.hear(2, a_switch("b", 2));
  ASSERT_EQ(s.sent.size(), 1U);
  EXPECT_EQ(s.sent[0].port, ifindex(2));
  EXPECT_EQ(read(s.sent[0].frame).tr->port, PortType::kUplink);
}
TEST(Sending, ANewTypeLeavesTheLastCreditToANewLevel) {
  Single s;
  s.up(1, 2);
  s.hear(1, host());
  for (std::size_t l : {2U, 1U, 2U, 1U, 2U, 1U}) s.hear(2, a_switch("b", l));
  s.sends(2);
  s.pass(milliseconds(1500));
  const auto sent = s.sends(2);  // the last type is told at the next fast moment
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(read(sent.back().frame).tr->port, PortType::kCrosslink);
  for (std::size_t l : {2U, 1U, 2U, 1U, 2U, 1U}) s.hear(2, a_switch("b", l));
  s.sends(2);
  Settings pinned;
  pinned.pinned_level = level(4);
  s.agent.configure(pinned, s.now, s.out);
  s.take();
  EXPECT_EQ(s.sends(2).size(), 1U);
}
TEST(Sending, ANeighborThatIsUnmarkedByItsLevelHasNotLostUs) {
  Single s;
  s.up(1, 2);
  s.hear(2, host());
  s.hear(1, a_switch("a", 2, PortType::kDownlink));
  s.sends(1);
  s.hear(1, a_switch("a", 4));
  EXPECT_TRUE(s.sends(1).empty());
  s.hear(1, a_switch("a", 2, PortType::kDownlink));
  s.hear(1, a_switch("a", 2));
  EXPECT_EQ(s.sends(1).size(), 1U);
}
TEST(Sending, ShutdownSaysGoodbyeOnPortsThatAreUp) {
  Single s;
  s.up(1, 2);
  s.down(3);
  s.sent.clear();
  s.agent.shutdown(s.now, s.out);
  s.take();
  ASSERT_EQ(s.sent.size(), 2U);
  for (const auto& sent : s.sent) EXPECT_EQ(read(sent.frame).ttl, 0);
  s.sent.clear();
  EXPECT_EQ(s.agent.next_deadline(), std::nullopt);
  s.hear(1, host());
  s.up(4);
  EXPECT_TRUE(s.sent.empty());  // it is finished
}
TEST(Sending, ALinkThatIsLeftSaysGoodbyeAndIsRememberedByTheNameItHad) {
  Single s;
  s.up(1, 3);
  s.hear(2, host());
  s.hear(1, a_switch("spine", 2));
  ASSERT_EQ(s.order(1), Order::kUp);
  s.set({.ifindex = ifindex(3), .up = true, .adminStatus = AdminStatus::disabled});
  s.sent.clear();
  s.events.clear();
  for (const unsigned port : {1U, 3U, 4U}) s.agent.leave_link(ifindex(port), s.now, s.out);
  s.take();
  ASSERT_EQ(s.sent.size(), 1U) << "who has said it, or is nobody, says nothing";
  EXPECT_EQ(s.sent[0].port, ifindex(1));
  EXPECT_EQ(read(s.sent[0].frame).ttl, 0);
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 0U) << "nothing has happened to the link";
  s.up(1);
  EXPECT_EQ(s.order(1), Order::kUp);
}
TEST(Sending, APortThatIsDisabledAndEnabledAgainWaitsReinitDelay) {
  Single s;
  s.up(1);
  s.sends(1);
  s.set({.ifindex = ifindex(1), .up = true, .adminStatus = AdminStatus::disabled});
  auto sent = s.sends(1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(read(sent[0].frame).ttl, 0);
  s.up(1);
  s.pass(milliseconds(1999));
  EXPECT_TRUE(s.sends(1).empty());
  s.pass(milliseconds(1));
  sent = s.sends(1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(read(sent[0].frame).ttl, 121);
}
TEST(Sending, OnRequestIsAsOftenAsTheCreditLets) {
  Single s;
  s.up(1);
  s.pass(seconds(13));  // txCredit is full
  s.sends(1);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(s.agent.announce(ifindex(1), s.now));
    s.pass(milliseconds(1));
  }
  EXPECT_EQ(s.sends(1).size(), Settings{}.txCreditMax - 1U) << "the last is for who is new";
  s.pass(seconds(1));
  EXPECT_EQ(s.sends(1).size(), 1U) << "what was still owed, once";
  s.pass(seconds(3));
  EXPECT_TRUE(s.sends(1).empty());
  EXPECT_FALSE(s.agent.announce(ifindex(9), s.now));
  for (const AdminStatus status : {AdminStatus::disabled, AdminStatus::enabledRxOnly}) {
    s.set({.ifindex = ifindex(1), .up = true, .adminStatus = status});
    EXPECT_FALSE(s.agent.announce(ifindex(1), s.now));
  }
  s.down(1);
  EXPECT_FALSE(s.agent.announce(ifindex(1), s.now));
}
TEST(Sending, NewIntervalsHoldAtOnce) {
  Single s;
  s.up(1);
  Settings settings;
  settings.msgTxInterval = seconds(5);
  s.agent.configure(settings, s.now, s.out);
  s.take();
  EXPECT_EQ(read(s.sends(1).back().frame).ttl, 21);
  s.pass(seconds(50));
  EXPECT_EQ(s.sends(1).size(), 10U);
}

// How evenly

/// The most frames in any such time.
std::size_t worst(const std::vector<Single::Sent>& sent, milliseconds in) {
  std::size_t most = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    while (sent[i].time - sent[first].time >= in) ++first;
    most = std::max(most, i - first + 1);
  }
  return most;
}

/// Less than there is between the turns of 1,000 ports.
constexpr milliseconds kTurn(1000);
constexpr std::size_t kPortsPerTurn = 64;

class Pacing : public testing::TestWithParam<std::size_t> {};

TEST_P(Pacing, PeriodicFramesComeInTurnsOfSixtyFour) {
  const std::size_t ports = GetParam();
  Single s;
  s.looks_at_what_is_saved = false;
  s.up(1, ports);
  EXPECT_EQ(s.sent.size(), ports);  // the first of each port, at once
  s.sent.clear();
  s.pass(seconds(300));
  EXPECT_EQ(s.sent.size(), 10 * ports);
  EXPECT_EQ(worst(s.sent, kTurn), kPortsPerTurn);
}
TEST_P(Pacing, FastTransmissionsAfterACommonStartComeInNoBurst) {
  const std::size_t ports = GetParam();
  Single s;
  s.looks_at_what_is_saved = false;
  s.up(1, ports);
  s.pass(milliseconds(2));
  for (std::size_t i = 1; i <= ports; ++i) s.hear(i, a_switch("n" + std::to_string(i), 2));
  s.sent.clear();  // the answers, at once
  s.pass(milliseconds(3500));
  EXPECT_GE(s.sent.size(), 3 * ports);  // and some ports are back in the long interval
  EXPECT_LE(static_cast<double>(worst(s.sent, milliseconds(100))),
            4 * static_cast<double>(ports) / 10);
  s.sent.clear();
  s.pass(seconds(90));
  EXPECT_EQ(worst(s.sent, kTurn), kPortsPerTurn);
}
INSTANTIATE_TEST_SUITE_P(Ports, Pacing, testing::Values(300, 512, 1000),
                         [](const auto& c) { return std::to_string(c.param); });

TEST(Pacing, HoldsForThePortsThatAreLeft) {
  Single s;
  s.looks_at_what_is_saved = false;
  s.up(1, 512);
  for (std::size_t i = 2; i <= 512; i += 2) s.down(i);
  s.sent.clear();
  s.pass(seconds(300));
  EXPECT_EQ(s.sent.size(), 2560U);
  EXPECT_EQ(worst(s.sent, kTurn), kPortsPerTurn / 2);
}

TEST(DeadlineQueue, GivesSlotsInTheOrderOfTheirTimes) {
  core::DeadlineQueue q;
  EXPECT_EQ(q.due(), core::kNever);
  const auto at = [](int t) { return TimePoint{seconds(t)}; };
  std::vector<int> times{5, 3, 9, 1, 7, 3, 8};
  for (std::size_t i = 0; i < times.size(); ++i) q.set(static_cast<std::uint32_t>(i), at(times[i]));
  q.set(3, at(6));         // later
  q.set(2, at(2));         // earlier
  q.set(4, core::kNever);  // out
  q.set(4, core::kNever);  // and out again
  std::vector<TimePoint> seen;
  while (q.due() != core::kNever) {
    seen.push_back(q.due());
    q.set(q.first(), core::kNever);
  }
  EXPECT_EQ(seen, (std::vector{at(2), at(3), at(3), at(5), at(6), at(8)}));
}
TEST(DeadlineQueue, AgreesWithSortingWhateverIsDone) {
  std::mt19937 random(3);
  core::DeadlineQueue q;
  std::map<std::uint32_t, TimePoint> truth;
  for (int i = 0; i < 20000; ++i) {
    const auto slot = static_cast<std::uint32_t>(random() % 50);
    if (random() % 4 == 0) {
      q.set(slot, core::kNever);
      truth.erase(slot);
    } else {
      q.set(slot, truth[slot] = TimePoint{milliseconds(random() % 1000)});
    }
    const auto least = std::min_element(truth.begin(), truth.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
    ASSERT_EQ(q.due(), least == truth.end() ? core::kNever : least->second);
    if (least != truth.end()) {
      ASSERT_EQ(truth.at(q.first()), least->second);
    }
  }
}

}  // namespace
}  // namespace lldp::test
