// SPDX-License-Identifier: Apache-2.0
// The alarm `cabling` by a plan of who is to be heard where.
#include "agent/core/port.hpp"
#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

constexpr seconds kGrace = seconds(30) + core::kMissingSlack;  // msgTxInterval's default

Settings planned(const char* plan, Settings settings = {}) {
  const auto drawing = cabling::read_dot(plan);
  settings.expected = cabling::Expectations::of(drawing.value(), "me", {}).value();
  return settings;
}

constexpr const char* kPlan = "graph { me:swp1 -- spine1:p1; me:swp2 -- spine2:p1 }";

class Expected : public testing::Test {
 protected:
  [[nodiscard]] std::string alarm(std::size_t port) const {
    return s.alarm(AlarmCode::kCabling, "swp" + std::to_string(port)).value_or("none");
  }
  Single s{planned(kPlan)};
};

TEST_F(Expected, WhoIsExpectedRaisesNothing) {
  s.up(1, 2);
  s.hear(1, a_switch("spine1", 2));
  s.hear(2, a_switch("spine2", 2));
  s.pass(kGrace * 2);
  EXPECT_EQ(s.count(Event::Kind::kAlarmRaised), 0U);
}

TEST_F(Expected, AnotherIsAnAlarmAtOnceAndUntilTheRightOneAloneIsHeard) {
  s.up(1, 2);
  s.hear(1, a_switch("spine2", 2));
  EXPECT_EQ(alarm(1), "expected spine1:p1, heard spine2:p1");
  s.hear(1, a_switch("spine1", 2));  // the other has not aged out yet
  EXPECT_EQ(alarm(1), "expected spine1:p1, heard spine1:p1, spine2:p1");
  s.hear(1, {.name = "spine2", .ttl = 0});
  EXPECT_EQ(alarm(1), "none");
}

// Of two names of one device the one that spoke last counts.
TEST_F(Expected, ANameThatADeviceHasGivenUpIsNotHeardAnyMore) {
  const MacAddress one = mac(7, 7);
  s.up(1);
  s.hear(1, {.name = "spine2", .ttl = 600, .tr = switch_claim(2), .source = one});
  s.hear(1, {.name = "spine1", .ttl = 60, .tr = switch_claim(2), .source = one});
  EXPECT_EQ(alarm(1), "none");
  s.pass(seconds(60));
  EXPECT_EQ(alarm(1), "none");
  s.pass(kGrace);
  EXPECT_EQ(alarm(1), "expected spine1:p1, heard none");
}

TEST_F(Expected, ANeighborThatIsRenamedIsHeldAgainstThePlanAnew) {
  s.up(1);
  Peer peer = a_switch("x", 2);
  const auto with_name = [&](const char* name) {
    Bytes frame = frame_of(peer);
    const std::string text = name;  // System Name, in place of its own of one octet
    frame.resize(frame.size() - 2 - 3);
    frame.insert(frame.end(), {0x0a, static_cast<std::uint8_t>(text.size())});
    frame.insert(frame.end(), text.begin(), text.end());
    frame.insert(frame.end(), {0, 0});
    return frame;
  };
  s.hear(1, with_name("spine9"));
  EXPECT_EQ(alarm(1), "expected spine1:p1, heard spine9:p1");
  s.hear(1, with_name("spine1.example"));
  EXPECT_EQ(alarm(1), "none");
}

TEST_F(Expected, PortDescriptionServes) {
  s.up(1);
  Peer peer = a_switch("spine1", 2);
  peer.port = "17";
  peer.tail = {0x08, 2, 'p', '1'};
  s.hear(1, peer);
  EXPECT_EQ(alarm(1), "none");
  EXPECT_EQ(s.info(1).neighbors.at(0).port_description, "p1");
}

TEST_F(Expected, SilenceIsAnAlarmAfterAWhile) {
  s.up(1, 2);
  s.pass(kGrace - seconds(1));
  EXPECT_EQ(alarm(1), "none");
  s.pass(seconds(1));
  EXPECT_EQ(alarm(1), "expected spine1:p1, heard none");
  s.hear(1, a_switch("spine1", 2));
  EXPECT_EQ(alarm(1), "none");
  EXPECT_EQ(alarm(2), "expected spine2:p1, heard none");
}

TEST_F(Expected, ALinkThatHasJustComeUpGetsItsTime) {
  s.down(1);
  s.pass(kGrace - seconds(1));
  s.up(1);
  s.pass(kGrace - seconds(1));
  EXPECT_EQ(alarm(1), "none");
  s.pass(seconds(1));
  EXPECT_EQ(alarm(1), "expected spine1:p1, heard none");
  s.down(1);  // and what stands does not flap with the link
  s.up(1);
  EXPECT_EQ(alarm(1), "expected spine1:p1, heard none");
  EXPECT_EQ(s.count(Event::Kind::kAlarmCleared), 0U);
}

TEST_F(Expected, ALinkThatGoesDownGetsItsTimeToo) {
  s.up(1);
  s.hear(1, a_switch("spine1", 2));
  s.down(1);
  s.pass(kGrace - seconds(1));
  EXPECT_EQ(alarm(1), "none");
  s.pass(seconds(1));
  EXPECT_EQ(alarm(1), "expected spine1:p1, heard none");
}

TEST_F(Expected, SomebodyWhereNobodyIsExpected) {
  s.up(3);
  s.pass(kGrace * 2);
  EXPECT_EQ(alarm(3), "none");
  s.hear(3, host());
  EXPECT_EQ(alarm(3), "no neighbor expected, heard srv:p1");
}

TEST_F(Expected, WhoIsHeardByTwoAddressesIsNamedOnce) {
  Settings settings = planned(kPlan);
  settings.scopes = {Scope::kNearestBridge, Scope::kNearestCustomerBridge};
  Single both(settings);
  both.up(1);
  Peer peer = a_switch("spine2", 2);
  for (const Scope scope : settings.scopes) {
    peer.scope = scope;
    both.hear(1, peer);
  }
  EXPECT_EQ(both.agent.neighbor_count(), 2U);
  EXPECT_EQ(both.alarm(AlarmCode::kCabling, "swp1"), "expected spine1:p1, heard spine2:p1");
}

TEST_F(Expected, APortThatIsNotThere) {
  s.up(1);
  s.hear(1, a_switch("spine1", 2));
  s.pass(kGrace);
  EXPECT_EQ(alarm(2), "expected spine2:p1, but there is no port swp2");
  s.up(2);
  EXPECT_EQ(alarm(2), "none");
  s.agent.remove_link(ifindex(2), s.now, s.out);
  s.pass(kGrace);
  EXPECT_EQ(alarm(2), "expected spine2:p1, but there is no port swp2");
}

TEST_F(Expected, AnotherPlanCountsAtOnceAndNoneIsForgotten) {
  s.up(1);
  s.hear(1, a_switch("spine1", 2));
  s.pass(kGrace);
  EXPECT_NE(alarm(2), "none");
  s.agent.configure(planned("graph { me:swp1 -- spine2:p1 }"), s.now, s.out);
  s.take();
  EXPECT_EQ(alarm(1), "expected spine2:p1, heard spine1:p1");
  EXPECT_EQ(alarm(2), "none");
  s.agent.configure({}, s.now, s.out);
  s.take();
  EXPECT_EQ(alarm(1), "none");
  s.pass(kGrace * 3);
  EXPECT_EQ(alarm(2), "none");
}

TEST(ExpectedPlan, HostPortsAndThePlanAreToldApart) {
  Settings settings;
  settings.host_ports = {"swp1"};
  Single s(planned("graph { me:swp1 -- srv:p1 }", settings));
  s.up(1);
  s.hear(1, a_switch("spine1", 2));
  EXPECT_EQ(s.alarm(AlarmCode::kCabling, "swp1"),
            "switch spine1 where host-ports expects a host; expected srv:p1, heard spine1:p1");
}

TEST(ExpectedPlan, HostsHaveCablesToo) {
  Settings settings;
  settings.role = Role::kHost;
  Single s(planned(kPlan, settings));
  s.up(1);
  s.hear(1, a_switch("spine2", 2));
  EXPECT_EQ(s.alarm(AlarmCode::kCabling, "swp1"), "expected spine1:p1, heard spine2:p1");
}

}  // namespace
}  // namespace lldp::test
