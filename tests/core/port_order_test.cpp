// SPDX-License-Identifier: Apache-2.0
// What a port knows of agents: docs/develop/rules.md A1 to A5, A8, A12. One port by itself, as a
// table.
#include "agent/core/port_order.hpp"

#include <gtest/gtest.h>

#include "tests/core/support/names.hpp"
#include "tlv/writer.hpp"

namespace lldp::test {
namespace {

using core::OrderRequests;
using core::PortOrder;
using core::Rank;

constexpr std::uint64_t kUs = 1;
constexpr std::uint32_t kOurBoot = 10;
constexpr std::uint32_t kOurSession = 77;

Position position(std::size_t l, std::string id) {
  return {level(l), ChassisId{{ChassisId::kLocal, std::move(id)}}};
}
ChassisId chassis(std::string id) { return ChassisId{{ChassisId::kLocal, std::move(id)}}; }

/// A frame of another agent. It names us as we are, unless told otherwise.
struct Frame {
  std::uint64_t agent = 2;
  std::uint32_t boot = 1;
  std::uint32_t session = 5;
  std::uint32_t sequence = 1;
  std::size_t level = 0;  ///< of the bound; 0: the bottom
  std::uint32_t acknowledged = 0;
  std::uint8_t flags = 0;
  bool names_us = true;
  std::uint32_t our_boot = kOurBoot;
  std::uint32_t our_session = kOurSession;
  std::uint64_t lists = 0;  ///< and this one, too
};

struct OnePort : testing::Test {
  OnePort() { port.begin_session(kOurSession); }
  PortOrder::Hearing hear(const Frame& f) {
    tlv::OrderTlv t;
    t.flags = f.flags;
    t.agent = tlv::AgentIdField::of(f.agent);
    t.boot = f.boot;
    t.session = f.session;
    t.sequence = f.sequence;
    const Bytes id{ChassisId::kLocal, 'v'};
    if (f.level != 0) {
      t.level = static_cast<std::uint8_t>(f.level);
      t.rank_id = id;
    }
    const auto entry = [&t](std::uint64_t agent, std::uint32_t boot, std::uint32_t session,
                            std::uint32_t acknowledged) {
      t.entries.items[t.entries.count++] = {.agent = tlv::AgentIdField::of(agent),
                                            .boot = boot,
                                            .session = session,
                                            .acknowledged = acknowledged};
    };
    if (f.names_us) entry(kUs, f.our_boot, f.our_session, f.acknowledged);
    if (f.lists != 0) entry(f.lists, 1, 1, 0);
    t.count = static_cast<std::uint8_t>(t.entries.count);
    return port.hear(t, chassis("dev" + std::to_string(f.agent)), self, rank, births);
  }
  std::optional<Order> order() const { return port.order(rank.acting(), self); }
  /// Asks for the order as it is, and has it in force.
  void follow() {
    if (const auto o = order()) port.requests.request(*o);
    port.requests.confirm(port.requests.generation());
    port.acknowledge(own());
  }
  PortOrder::Own own() const { return {rank.acting(), false}; }
  std::size_t entries() const {
    bool more = false;
    return port.entries(rank.bound(), own(), tlv::OrderTlv::kMostEntries, more).count;
  }
  const core::KnownAgent& first() const { return port.agents().front(); }

  ChassisId us = chassis("us");
  ChassisId us_in_ranks = us;
  core::Speaker self{kUs, kOurBoot, us, us_in_ranks};
  Rank rank{position(2, "us"), position(2, "us")};
  std::uint64_t births = 0;
  PortOrder port;
};

TEST_F(OnePort, WithoutAnAgentSaysNothing) { EXPECT_EQ(order(), std::nullopt); }

// A2, A3: what a frame of one neighbor makes of the port.
TEST_F(OnePort, IsDownOnlyForOneThatCountedWithALowerBound) {
  struct {
    const char* name;
    Frame frame;
    Order is;
  } const kCases[] = {
      {"lower", {.level = 1}, Order::kDown},
      {"bottom", {}, Order::kDown},
      {"same level, higher ID", {.level = 2}, Order::kUp},
      {"higher", {.level = 3}, Order::kUp},
      {"does not name us", {.level = 1, .names_us = false}, Order::kUp},
      {"names an older boot of ours", {.level = 1, .our_boot = 9}, Order::kUp},
      {"names an older session of ours", {.level = 1, .our_session = 76}, Order::kUp},
      {"hears another one", {.level = 1, .lists = 3}, Order::kUp},
      {"hears more than it lists", {.level = 1, .flags = tlv::OrderTlv::kMore}, Order::kUp},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    port = PortOrder();
    port.begin_session(kOurSession);
    hear(c.frame);
    EXPECT_EQ(order(), c.is);
  }
}
TEST_F(OnePort, AnOlderFrameOfTheSameBootSaysNothing) {
  hear({.sequence = 4, .level = 3});
  EXPECT_TRUE(hear({.sequence = 3, .level = 1}).late);
  EXPECT_EQ(order(), Order::kUp);
  EXPECT_EQ(first().bound.level, level(3));
}
TEST_F(OnePort, AnOlderBootSaysNothingAndIsShownTheNewerOne) {
  hear({.boot = 5, .level = 3});
  const auto heard = hear({.boot = 4, .sequence = 9, .level = 1});
  EXPECT_TRUE(heard.late && heard.asks);
  EXPECT_EQ(order(), Order::kUp);
  EXPECT_EQ(first().boot, 5U);
}
TEST_F(OnePort, AnOlderBootOnANewCarrierIsShownTheNewerOneToo) {
  hear({.boot = 5, .level = 3});
  follow();
  port.lose_carrier(78);
  ASSERT_EQ(entries(), 0U);
  EXPECT_TRUE(hear({.boot = 4, .level = 1, .our_session = 78}).late);
  EXPECT_EQ(order(), Order::kUp);
  EXPECT_EQ(entries(), 1U);
  EXPECT_EQ(first().boot, 5U);
}
TEST_F(OnePort, ANewerBootForgetsWhatWasToldAndKeepsTheBelief) {
  hear({.sequence = 9, .level = 1});
  const Position belief = first().belief;
  hear({.boot = 2, .sequence = 1, .level = 1, .names_us = false});
  EXPECT_EQ(order(), Order::kUp);
  EXPECT_EQ(first().belief, belief);
  hear({.boot = 2, .sequence = 1, .level = 1});
  EXPECT_EQ(order(), Order::kDown);
}
// A2: above the bottom it may be `down` for another agent, in our place or beside us.
TEST_F(OnePort, WhoIsHeardForTheFirstTimeAboveTheBottomMayBelieveAnything) {
  hear({.names_us = false});
  EXPECT_EQ(first().belief, position(2, "us"));
  hear({.sequence = 2, .level = 1});
  EXPECT_EQ(first().belief, position(2, "us"));  // it was at the bottom when we were heard
  port.forget();
  hear({.level = 1, .names_us = false, .lists = 3});
  ASSERT_EQ(port.agents().size(), 2U);
  EXPECT_EQ(port.agents()[0].belief, Position{});
  EXPECT_EQ(port.agents()[1].belief, Position{});  // nothing is known of what it tells
  port.tell(rank);
  hear({.sequence = 2, .level = 1, .acknowledged = 1});
  EXPECT_EQ(first().belief, position(2, "us"));
}
TEST_F(OnePort, WhoIsListedAndNeverSpokeIsThereForAsLongAsItIsListed) {
  hear({.level = 1, .lists = 3});
  EXPECT_EQ(order(), Order::kUp);
  hear({.sequence = 2, .level = 1, .flags = tlv::OrderTlv::kMore});
  EXPECT_EQ(order(), Order::kUp) << "it may be one that is not listed";
  hear({.sequence = 3, .level = 1});
  EXPECT_EQ(order(), Order::kDown);
  hear({.agent = 3});
  hear({.sequence = 4, .level = 1});
  EXPECT_EQ(order(), Order::kUp) << "it has spoken";
}
TEST_F(OnePort, AnotherAgentIdOfOneChassisIdIsTheSameDevice) {
  hear({});
  hear({.level = 1});
  rank = Rank(position(4, "us"), position(4, "us"));
  us = chassis("us");
  tlv::OrderTlv t;
  t.agent = tlv::AgentIdField::of(9);
  t.boot = 1;
  port.hear(t, chassis("dev2"), self, rank, births);
  EXPECT_EQ(port.agents().size(), 1U);
  EXPECT_EQ(first().belief.level, level(2)) << "the lower one";
  EXPECT_EQ(order(), Order::kUp);
  hear({.level = 1});  // the former is there, too
  EXPECT_EQ(order(), Order::kUp);
  EXPECT_EQ(port.agents().size(), 2U);
}
TEST_F(OnePort, OfSeveralThatAreHeardItSays) {
  hear({.level = 1});
  EXPECT_FALSE(port.several_heard());
  hear({.agent = 3, .level = 1});
  EXPECT_TRUE(port.several_heard());
  port.forget();
  hear({.level = 1});
  EXPECT_FALSE(port.several_heard());
}
TEST_F(OnePort, OurOwnAgentIdIsAbove) {
  hear({.agent = kUs});
  EXPECT_EQ(order(), Order::kUp);
  EXPECT_TRUE(port.loops());
}
TEST_F(OnePort, ABootOfOursThatIsAnotherIsShown) {
  EXPECT_EQ(hear({.our_boot = 12}).shown, 12U);
  EXPECT_EQ(hear({.our_boot = 9}).shown, 9U);
  EXPECT_EQ(hear({.our_boot = 10}).shown, 0U);
}
TEST_F(OnePort, SilenceChangesNothingAndALostCarrierMakesItUp) {
  hear({.level = 1});
  EXPECT_EQ(order(), Order::kDown);
  port.lose_carrier(78);
  EXPECT_EQ(order(), Order::kUp);
  EXPECT_EQ(port.agents().size(), 1U);
  EXPECT_TRUE(hear({.level = 1}).asks) << "it names the session before";
  EXPECT_EQ(order(), Order::kUp);
  hear({.level = 1, .our_session = 78});
  EXPECT_EQ(order(), Order::kDown);
}
TEST_F(OnePort, WhoCameWithTheNextCarrierCountsAlone) {
  hear({.agent = 2, .level = 1});
  port.lose_carrier(78);
  hear({.agent = 3, .level = 1, .our_session = 78});
  EXPECT_EQ(order(), Order::kDown);
}

// A4
TEST_F(OnePort, NobodyIsListedWhereNoRulesAreInForce) {
  hear({.level = 3, .names_us = false});
  EXPECT_EQ(entries(), 0U);
  port.requests.request(Order::kUp);
  EXPECT_EQ(entries(), 0U);
  port.requests.confirm(port.requests.generation());
  EXPECT_EQ(entries(), 1U);
}
TEST_F(OnePort, NobodyIsListedWhileADownForAnotherOneMayBeInForce) {
  port.requests.request(Order::kDown);  // for a host
  port.requests.confirm(port.requests.generation());
  hear({.level = 1, .names_us = false});
  EXPECT_EQ(entries(), 0U);
  port.requests.request(*order());
  EXPECT_EQ(entries(), 0U) << "requested is not in force";
  port.requests.confirm(port.requests.generation());
  EXPECT_EQ(entries(), 1U);
}
TEST_F(OnePort, ABoundThatForbidsADownIsAcknowledgedWhenUpIsInForce) {
  hear({.sequence = 1, .level = 1});
  follow();
  ASSERT_TRUE(port.requests.is_only(Order::kDown));
  EXPECT_EQ(first().acknowledged, 1U);
  hear({.sequence = 2, .level = 3});
  port.requests.request(*order());
  port.acknowledge(own());
  EXPECT_EQ(first().acknowledged, 1U);
  EXPECT_EQ(entries(), 0U);
  port.requests.confirm(port.requests.generation());
  port.acknowledge(own());
  EXPECT_EQ(first().acknowledged, 2U);
}

// A5
TEST_F(OnePort, ABeliefFollowsWhatIsAcknowledgedAndNotWhatIsTold) {
  hear({});
  hear({.level = 3});
  EXPECT_EQ(first().belief.level, level(2));  // R, as we are
  rank.set_bound(position(4, "us"));
  port.tell(rank);
  EXPECT_EQ(first().belief.level, level(2));
  EXPECT_TRUE(port.waits(rank.bound()));
  hear({.level = 3, .acknowledged = 1});
  EXPECT_EQ(first().belief.level, level(2));
  hear({.level = 3, .acknowledged = 2});
  EXPECT_EQ(first().belief.level, level(4));
  EXPECT_FALSE(port.waits(rank.bound()));
}
TEST_F(OnePort, ABeliefFallsWithWhatIsToldSince) {
  hear({.level = 3});
  rank.set_bound(position(4, "us"));
  port.tell(rank);
  rank.set_bound(position(3, "us"));
  port.tell(rank);
  rank.set_bound(position(5, "us"));
  port.tell(rank);
  hear({.level = 3, .acknowledged = 2});
  EXPECT_EQ(first().belief.level, level(3)) << "the lowest of 4, 3 and 5";
}
TEST_F(OnePort, AnAcknowledgementOfWhatWasNeverToldIsNonsense) {
  hear({});
  hear({.level = 3});
  rank.set_bound(position(4, "us"));
  EXPECT_TRUE(hear({.level = 3, .acknowledged = 2}).nonsense);
  EXPECT_EQ(first().belief.level, level(2));
}

// Bad input
TEST_F(OnePort, AnAcknowledgementIsOfItsSenderAlone) {
  hear({});
  hear({.agent = 2, .level = 3});
  rank.set_bound(position(4, "us"));
  port.tell(rank);
  hear({.agent = 3, .level = 3, .acknowledged = 2});
  EXPECT_EQ(first().agent, 2U);
  EXPECT_EQ(first().belief.level, level(2));
}
TEST_F(OnePort, AnAcknowledgementToAnEarlierProcessOrSessionIsNone) {
  hear({});
  hear({.level = 3});
  rank.set_bound(position(4, "us"));
  port.tell(rank);
  hear({.level = 3, .acknowledged = 2, .our_boot = kOurBoot - 1});
  hear({.level = 3, .acknowledged = 2, .our_session = kOurSession - 1});
  EXPECT_EQ(first().belief.level, level(2));
  hear({.level = 3, .acknowledged = 2});
  EXPECT_EQ(first().belief.level, level(4));
}
TEST_F(OnePort, AReplayedCaptureOfAnHourAgoMovesNothing) {
  hear({.boot = 4, .sequence = 3, .level = 3});
  follow();
  rank.set_bound(position(4, "us"));
  port.tell(rank);
  const core::KnownAgent before = first();
  for (std::uint32_t boot = 1; boot <= 4; ++boot)
    for (std::uint32_t sequence = 1; sequence < 100; ++sequence) {
      hear({.boot = boot,
            .sequence = sequence,
            .level = 1,
            .acknowledged = sequence,
            .our_boot = kOurBoot - 1,
            .our_session = sequence});
      ASSERT_EQ(order(), Order::kUp);
      ASSERT_EQ(first().belief, before.belief);
      ASSERT_EQ(first().bound, before.bound);
    }
}
TEST_F(OnePort, ABoundThatRisesByAllLevelsMakesItUpBeforeItIsAcknowledged) {
  hear({.sequence = 1, .level = 1});
  follow();
  ASSERT_EQ(order(), Order::kDown);
  hear({.sequence = 2, .level = 254});
  EXPECT_EQ(order(), Order::kUp);
  EXPECT_FALSE(port.acknowledge(own()));
  EXPECT_EQ(first().acknowledged, 1U);
  follow();
  EXPECT_EQ(first().acknowledged, 2U);
}
TEST(OrderTlvOfANeighbor, WithAListOf100EntriesIsNone) {
  tlv::OrderTlv t{.agent = tlv::AgentIdField::of(2), .count = 1};
  t.entries.count = 1;
  Bytes octets = tlv::encode_info(t);
  ASSERT_TRUE(tlv::decode_as<tlv::OrderTlv>(octets));
  octets[octets.size() - 21 - 1] = 100;
  EXPECT_FALSE(tlv::decode_as<tlv::OrderTlv>(octets));
  octets.resize(octets.size() + 99 * 21);
  EXPECT_FALSE(tlv::decode_as<tlv::OrderTlv>(octets));
}
TEST(RankOfADevice, AfterAThousandBoundsKnowsNoneThatIsTooHigh) {
  Rank rank(position(5, "us"), position(5, "us"));
  rank.set_bound(position(2, "us"));
  for (std::size_t i = 0; i < 1000; ++i) rank.set_bound(position(3 + i % 7, "us"));
  EXPECT_EQ(rank.lowest_since(2).level, level(2));
  EXPECT_EQ(rank.lowest_since(3).level, level(2)) << "of those before, the lowest";
  EXPECT_EQ(rank.lowest_since(rank.sequence()), rank.bound());
}

// A6, A8, A12
TEST_F(OnePort, ItsLimitIsTheLeastBeliefOfWhomItHearsOrInTheDarkRemembers) {
  EXPECT_EQ(port.limit(true), nullptr);
  hear({.agent = 2});
  port.lose_carrier(78);
  ASSERT_NE(port.limit(false), nullptr);
  EXPECT_EQ(*port.limit(false), rank.acting());
  EXPECT_EQ(port.limit(true), nullptr);
  hear({.agent = 3, .flags = tlv::OrderTlv::kHost, .our_session = 78});
  EXPECT_EQ(port.limit(true), nullptr) << "a host is waited for by nobody";
  hear({.agent = 3, .level = 1, .our_session = 78});
  ASSERT_NE(port.limit(true), nullptr);
  EXPECT_EQ(*port.limit(true), rank.acting()) << "it is none any more";
}
TEST_F(OnePort, OfMoreAgentsThanItHasRoomForTheLowestBeliefStays) {
  rank = Rank(position(1, "us"), position(1, "us"));
  hear({.agent = 2});
  port.lose_carrier(78);
  rank = Rank(position(9, "us"), position(9, "us"));
  for (std::uint64_t agent = 3; agent < 200; ++agent) {
    hear({.agent = agent, .our_session = 78});
    port.lose_carrier(78);
  }
  EXPECT_EQ(port.agents().size(), PortOrder::kMostAgents);
  ASSERT_NE(port.limit(false), nullptr);
  EXPECT_EQ(port.limit(false)->level, level(1));
}

TEST(OrderRequests, KeepInMindWhatMayBeUnderWay) {
  OrderRequests r;
  EXPECT_TRUE(r.is_only(Order::kUnknown));
  EXPECT_TRUE(r.request(Order::kDown));
  EXPECT_FALSE(r.request(Order::kDown));
  EXPECT_TRUE(r.request(Order::kUp));
  EXPECT_TRUE(r.has(Order::kDown) && r.has(Order::kUp) && r.has(Order::kUnknown));
  EXPECT_TRUE(r.confirm(1));
  EXPECT_TRUE(r.has(Order::kDown));
  EXPECT_FALSE(r.settled());
  EXPECT_FALSE(r.confirm(9)) << "never asked for";
  EXPECT_TRUE(r.confirm(2));
  EXPECT_TRUE(r.is_only(Order::kUp) && r.settled());
  EXPECT_FALSE(r.has(Order::kDown));
  EXPECT_FALSE(r.confirm(1));
}
// Restoring is a request of its own: it counts from when it is asked for until rules without it are
// in force.
TEST(OrderRequests, RestoringCountsUntilRulesWithoutItAreInForce) {
  OrderRequests r;
  EXPECT_FALSE(r.may_restore());
  EXPECT_TRUE(r.request(Order::kDown, true));
  EXPECT_FALSE(r.request(Order::kDown, true));
  EXPECT_TRUE(r.may_restore());
  EXPECT_TRUE(r.confirm(1));
  EXPECT_TRUE(r.may_restore());
  EXPECT_TRUE(r.request(Order::kDown, false)) << "the order stays, and it is another request";
  EXPECT_EQ(r.generation(), 2U);
  EXPECT_TRUE(r.may_restore());
  EXPECT_TRUE(r.confirm(2));
  EXPECT_FALSE(r.may_restore());
  EXPECT_TRUE(r.has(Order::kDown));
  // Asked for again behind what is under way.
  r.request(Order::kDown, true);
  r.request(Order::kDown, false);
  r.request(Order::kDown, true);
  EXPECT_TRUE(r.confirm(4));
  EXPECT_TRUE(r.may_restore());
  r.request(Order::kUp);
  EXPECT_TRUE(r.confirm(6));
  EXPECT_FALSE(r.may_restore());
  // Rules that an earlier process has left are not known.
  EXPECT_TRUE(OrderRequests(Order::kDown, 0).may_restore());
  EXPECT_TRUE(OrderRequests(Order::kUp, 1U << static_cast<unsigned>(Order::kDown)).may_restore());
  EXPECT_FALSE(OrderRequests(Order::kUp, 1U << static_cast<unsigned>(Order::kShut)).may_restore());
}

TEST(OrderRequests, OfAnEarlierProcessCountUntilTheFirstConfirmation) {
  OrderRequests r(Order::kUp, 1U << static_cast<unsigned>(Order::kDown));
  EXPECT_EQ(r.generation(), 0U);
  EXPECT_TRUE(r.has(Order::kDown));
  EXPECT_FALSE(r.is_only(Order::kUp));
  EXPECT_TRUE(r.request(Order::kUp)) << "asked for anew";
  EXPECT_TRUE(r.confirm(r.generation()));
  EXPECT_TRUE(r.is_only(Order::kUp));
}

TEST(RankOfADevice, KnowsTheLowestBoundThatWasToldSince) {
  Rank r(position(5, "a"), position(5, "a"));
  for (std::size_t l = 6; l < 100; ++l) r.set_bound(position(l, "a"));
  EXPECT_EQ(r.lowest_since(r.sequence()).level, level(99));
  EXPECT_EQ(r.lowest_since(r.sequence() - 3).level, level(96));
  EXPECT_EQ(r.lowest_since(1).level, level(5)) << "also of those that it keeps no more";
  EXPECT_FALSE(r.set_bound(position(99, "a")));
  r.restart();
  EXPECT_EQ(r.sequence(), 1U);
  EXPECT_EQ(r.lowest_since(1).level, level(99));
}

}  // namespace
}  // namespace lldp::test
