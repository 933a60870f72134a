// SPDX-License-Identifier: Apache-2.0
// The alarm `rail` of a host, by virtual time.
#include <gtest/gtest.h>

#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

using cabling::RailDesign;

/// A host with NICs eth1 to eth8; 1 to 4 in one group, 5 to 8 in another.
struct RailAlarm : testing::Test {
  explicit RailAlarm(RailDesign design = RailDesign::kSameLeaf) : s(settings(design)) {
    for (std::size_t n = 1; n <= 8; ++n) nic(n, n <= 4 ? "0" : "1");
  }
  static Settings settings(RailDesign design) {
    Settings settings;
    settings.role = Role::kHost;
    settings.rails = design;
    return settings;
  }
  void nic(std::size_t n, std::string group, bool up = true) {
    s.set({.ifindex = ifindex(n),
           .name = "eth" + std::to_string(n),
           .up = up,
           .details = core::LinkDetails{.rail_group = std::move(group)}});
  }
  static Peer leaf(std::string name, std::string port) {
    Peer peer = a_switch(std::move(name), 1);
    peer.port = std::move(port);
    return peer;
  }
  void lead(std::size_t n, const std::string& to, const std::string& port) {
    s.hear(n, leaf(to, port));
  }
  [[nodiscard]] std::optional<std::string> alarm(std::size_t n) const {
    return s.alarm(AlarmCode::kRail, "eth" + std::to_string(n));
  }
  [[nodiscard]] std::size_t alarms() const {
    std::size_t count = 0;
    for (const auto& a : s.agent.snapshot(s.now).alarms) count += a.code == AlarmCode::kRail;
    return count;
  }
  Single s;
};

TEST_F(RailAlarm, NamesTheTwoCablesToExchangeAndEndsWithTheExchange) {
  for (const std::size_t n : {1U, 2U, 3U, 8U}) lead(n, "leaf1", "swp" + std::to_string(n));
  for (const std::size_t n : {4U, 5U, 6U, 7U}) lead(n, "leaf2", "swp" + std::to_string(n));
  EXPECT_EQ(alarm(4),
            "eth4 leads to leaf2, its group to leaf1: exchange the cables of eth4 and eth8");
  EXPECT_EQ(alarms(), 1U);
  for (const std::size_t n : {4U, 8U}) nic(n, n == 4 ? "0" : "1", false);
  EXPECT_EQ(alarms(), 0U);
  for (const std::size_t n : {4U, 8U}) nic(n, n == 4 ? "0" : "1");
  lead(4, "leaf1", "swp8");
  lead(8, "leaf2", "swp4");
  EXPECT_EQ(alarms(), 0U);
}

TEST_F(RailAlarm, FollowsANicThatMoves) {
  for (std::size_t n = 1; n <= 4; ++n) lead(n, "leaf1", "swp" + std::to_string(n));
  EXPECT_EQ(alarms(), 0U);
  s.hear(2, {.name = "leaf1", .port = "swp2", .ttl = 0, .tr = switch_claim(1)});
  lead(2, "leaf2", "swp9");
  EXPECT_TRUE(alarm(2)->starts_with("eth2 leads to leaf2, its group to leaf1; the cable"));
  s.hear(2, {.name = "leaf2", .port = "swp9", .ttl = 0, .tr = switch_claim(1)});
  EXPECT_EQ(alarm(2), std::nullopt) << "its leaf is not known";
  lead(2, "leaf1", "swp7");
  EXPECT_EQ(alarms(), 0U);
}

TEST_F(RailAlarm, ALeafThatIsNotKnownOrNotTheOnlyOneIsNotJudged) {
  for (std::size_t n = 1; n <= 3; ++n) lead(n, "leaf1", "swp" + std::to_string(n));
  s.hear(4, host("nic firmware"));
  EXPECT_EQ(alarms(), 0U);
  lead(4, "leaf2", "swp1");
  EXPECT_EQ(alarms(), 1U);
  lead(4, "leaf3", "swp1");  // a second switch on the same cable
  EXPECT_EQ(alarms(), 0U);
  s.pass(seconds(121));  // all are silent
  EXPECT_EQ(alarms(), 0U);
}

TEST_F(RailAlarm, AHostWithOneNicHasNone) {
  lead(1, "leaf1", "swp1");
  lead(5, "leaf2", "swp1");
  EXPECT_EQ(alarms(), 0U);
}

TEST_F(RailAlarm, FollowsTheSettingsTheGroupAndTheName) {
  for (std::size_t n = 1; n <= 4; ++n) lead(n, n == 3 ? "leaf2" : "leaf1", "swp1");
  EXPECT_TRUE(alarm(3));
  nic(3, "");
  EXPECT_EQ(alarms(), 0U) << "of no group";
  nic(3, "0");
  EXPECT_TRUE(alarm(3));
  s.set({.ifindex = ifindex(3),
         .name = "ens3",
         .up = true,
         .details = core::LinkDetails{.rail_group = "0"}});
  EXPECT_FALSE(alarm(3));
  lead(3, "leaf2", "swp1");
  EXPECT_TRUE(s.alarm(AlarmCode::kRail, "ens3"));
  Settings other = settings(RailDesign::kNone);
  s.configure(other);
  EXPECT_EQ(alarms(), 0U);
  other.rails = RailDesign::kPortNumber;
  s.configure(other);
  EXPECT_EQ(alarms(), 0U) << "all lead to swp1 of their leaf";
  other.rails = RailDesign::kDistinctLeaf;
  s.configure(other);
  EXPECT_EQ(alarms(), 2U) << "three NICs of one group on leaf1";
  other.role = Role::kSwitch;
  s.configure(other);
  EXPECT_EQ(alarms(), 0U) << "a switch has no rails";
}

TEST_F(RailAlarm, GoesWithTheNic) {
  for (std::size_t n = 1; n <= 3; ++n) lead(n, n == 3 ? "leaf2" : "leaf1", "swp1");
  EXPECT_TRUE(alarm(3));
  s.agent.remove_link(ifindex(3), s.now, s.out);
  s.take();
  EXPECT_EQ(alarms(), 0U);
}

}  // namespace
}  // namespace lldp::test
