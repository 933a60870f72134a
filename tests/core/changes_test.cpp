// SPDX-License-Identifier: Apache-2.0
// A neighbor that changes what it says all the time is looked at a bounded number of times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/core/change_gate.hpp"
#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

using core::ChangeGate;
using std::chrono::microseconds;

struct Changes : testing::Test {
  Changes() { s.up(1); }
  /// What "peer" says in turn: that it is a switch of that level, or a host.
  static Peer as_switch(std::size_t l) { return a_switch("peer", l); }
  static Peer as_host() { return host("peer"); }
  /// Uses up what may change at once; the peer ends as a switch of level 3.
  void exhaust() {
    s.hear(1, as_switch(3));
    for (int i = 0; i < ChangeGate::kBurst / 2; ++i) {
      s.hear(1, as_host());
      s.hear(1, as_switch(3));
    }
  }
  [[nodiscard]] std::size_t changes() const { return s.count(Event::Kind::kNeighborChanged); }
  [[nodiscard]] std::optional<Level> peers_level() const {
    const auto neighbors = s.info(1).neighbors;
    return neighbors.empty() ? std::nullopt : neighbors.front().level;
  }
  Single s{};
};

TEST_F(Changes, FirstOnesActAtOnce) {
  s.hear(1, as_switch(3));
  for (int i = 1; i <= ChangeGate::kBurst; ++i) {
    s.hear(1, i % 2 == 1 ? as_host() : as_switch(3));
    EXPECT_EQ(changes(), static_cast<std::size_t>(i));
  }
}

TEST_F(Changes, OfAFloodAreLookedAtTenTimesASecond) {
  s.hear(1, as_switch(3));
  for (int i = 0; i < 20'000; ++i) {  // 10 s
    s.hear(1, i % 2 == 0 ? as_host() : as_switch(3));
    s.pass(microseconds(500));
  }
  EXPECT_LE(changes(), static_cast<std::size_t>(ChangeGate::kBurst + 101));
  EXPECT_GE(changes(), 40U);
  EXPECT_EQ(s.statistics(1).statsFramesInTotal, 20'001U);
}

TEST_F(Changes, OfTwoPortsInOneCallEachIsToldByItsOwnFrames) {
  s.up(2);
  const auto hear = [this](unsigned port, std::uint16_t ttl) {
    s.hear(port, {.name = "peer" + std::to_string(port), .ttl = ttl});
  };
  for (unsigned port : {1U, 2U})
    for (int i = 0; i <= 2 * ChangeGate::kBurst; ++i) hear(port, i % 2 == 0 ? 100 : 101);
  hear(1, 201);
  hear(2, 202);
  s.agent.advance(s.now + std::chrono::seconds(1), s.out);
  std::vector<std::string> texts;
  for (const Event& e : s.out.events)
    if (e.kind == Event::Kind::kNeighborChanged) texts.push_back(text_of(e));
  EXPECT_THAT(texts, testing::UnorderedElementsAre("peer1 port p1: ttl 100 -> 201",
                                                   "peer2 port p1: ttl 100 -> 202"));
}

TEST_F(Changes, LastWordOfAFloodHoldsATenthOfASecondLater) {
  exhaust();
  for (std::size_t l : {5U, 4U, 6U}) s.hear(1, as_switch(l));
  EXPECT_EQ(peers_level(), level(3));
  s.pass(ChangeGate::kEvery);
  EXPECT_EQ(peers_level(), level(6));
  EXPECT_EQ(s.statistics(1).statsFramesDiscardedTotal, 2U) << "two were replaced unseen";
  EXPECT_EQ(s.statistics(1).statsFramesInTotal, 4U + ChangeGate::kBurst);
}

TEST_F(Changes, ThatAreTakenBackAreForgotten) {
  exhaust();
  s.hear(1, as_host());
  s.hear(1, as_switch(3));
  const std::size_t before = changes();
  s.pass(seconds(1));
  EXPECT_EQ(peers_level(), level(3));
  EXPECT_EQ(changes(), before);
}

TEST_F(Changes, GoodbyeWaitsItsTurnAndIsTakenBackByTheNextFrame) {
  exhaust();
  Peer goodbye = as_switch(3);
  goodbye.ttl = 0;
  s.hear(1, goodbye);
  EXPECT_EQ(s.agent.neighbor_count(), 1U);
  s.hear(1, as_switch(3));
  s.pass(seconds(10));
  EXPECT_EQ(s.agent.neighbor_count(), 1U);
  exhaust();
  s.hear(1, goodbye);
  s.pass(ChangeGate::kEvery);
  EXPECT_EQ(s.agent.neighbor_count(), 0U);
}

TEST_F(Changes, OfOneNeighbourDoNotKeepAnothersWaiting) {
  s.hear(1, a_switch("other", 2));
  exhaust();
  s.hear(1, as_host());
  s.hear(1, a_switch("other", 4));
  for (int i = 0; i < 1000; ++i) {  // both waiting frames' time, and one to spare
    s.hear(1, i % 2 == 0 ? as_switch(5) : as_switch(6));
    s.pass(microseconds(300));
  }
  for (const auto& n : s.info(1).neighbors) {
    if (n.system_name == "other") {
      EXPECT_EQ(n.level, level(4));
    }
  }
}

TEST_F(Changes, OfOneAddressUnderTwoNamesAreDampedThoughEachSaysTheSame) {
  Peer one = a_switch("one", 3);
  Peer other = host("other");
  one.source = other.source = mac(0xee, 1);
  for (int i = 0; i < 20'000; ++i) {  // 10 s
    s.hear(1, i % 2 == 0 ? one : other);
    s.pass(microseconds(500));
  }
  EXPECT_LE(s.count(Event::Kind::kPort), static_cast<std::size_t>(ChangeGate::kBurst + 102));
  s.hear(1, one);
  s.pass(2 * ChangeGate::kEvery);
  EXPECT_EQ(s.order(1), Order::kUp);
}

TEST_F(Changes, NewcomersNeedNoLeave) {
  exhaust();
  s.hear(1, as_host());
  s.hear(1, a_switch("newcomer", 2));
  EXPECT_EQ(s.agent.neighbor_count(), 2U);
}

TEST_F(Changes, FromBeforeTheLinkWentDownAreForgotten) {
  exhaust();
  s.hear(1, as_host());
  s.down(1);
  s.up(1);
  s.pass(seconds(1));
  EXPECT_EQ(s.agent.neighbor_count(), 0U);
}

TEST_F(Changes, OfOneSecondsQuietMayActAtOnceAgain) {
  exhaust();
  s.pass(ChangeGate::kBurst * ChangeGate::kEvery);
  const std::size_t before = changes();
  for (int i = 0; i < ChangeGate::kBurst; ++i) s.hear(1, i % 2 == 0 ? as_host() : as_switch(3));
  EXPECT_EQ(changes(), before + ChangeGate::kBurst);
}

TEST_F(Changes, OwnFramesThatComeAndGoAreDampedToo) {
  for (int i = 0; i < 1000; ++i) {
    Bytes frame = s.sent.empty() ? Bytes() : s.sent.back().frame;
    ASSERT_FALSE(frame.empty());
    // The TTL stands behind Chassis ID and Port ID.
    std::size_t at = 14;
    for (int tlv = 0; tlv < 2; ++tlv) at += 2U + frame[at + 1];
    frame[at + 2] = 0;
    frame[at + 3] = i % 2 == 0 ? 120 : 0;
    s.hear(1, frame);
  }
  const std::size_t raised =
      s.count(Event::Kind::kAlarmRaised) + s.count(Event::Kind::kAlarmCleared);
  EXPECT_GE(raised, 1U);
  EXPECT_LE(raised, static_cast<std::size_t>(ChangeGate::kBurst + 1));
}

}  // namespace
}  // namespace lldp::test
