// SPDX-License-Identifier: Apache-2.0
// The level inference by itself, rule by rule (DESIGN.md section 3).
#include "agent/core/inference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

namespace lldp::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};

std::optional<Level> at(std::optional<unsigned> level) {
  return level ? Level::make(*level) : std::nullopt;
}

/// An inference and what its ports hear.
struct Device {
  explicit Device(Inference::Rules r = {}, std::optional<unsigned> restored = {})
      : rules(with_defaults(r)), inference(rules, at(restored)) {
    inference.decide(now);
  }
  static Inference::Rules with_defaults(Inference::Rules r) {
    if (r.max_level == Level{}) r.max_level = Level::of<8>();
    r.raise_hold = seconds(60);
    r.answer_wait = seconds(1);
    return r;
  }
  bool hear(int port, const Heard& what) {
    inference.update(ports[port], what);
    ports[port] = what;
    return inference.decide(now);
  }
  /// One neighbour with this level, and what it calls its port towards us.
  bool hear(int port, unsigned level, PortType its_port = PortType::kUnmarked) {
    Heard h{.lowest = at(level)};
    if (its_port != PortType::kDownlink) h.not_below_us = h.lowest;
    h.answered = its_port == PortType::kUplink || its_port == PortType::kCrosslink;
    return hear(port, h);
  }
  bool silence(int port) { return hear(port, Heard{}); }
  bool pass(Duration d) {
    now += d;
    return inference.deadline() && *inference.deadline() <= now && inference.decide(now);
  }
  [[nodiscard]] std::optional<unsigned> level() const {
    return inference.level() ? std::optional<unsigned>(inference.level()->value()) : std::nullopt;
  }

  TimePoint now = kStart;
  Inference::Rules rules;
  Inference inference;
  std::map<int, Heard> ports{};
};

// Rule 1

TEST(Rule1, AHostMakesALeaf) {
  Device d;
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.inference.source(), LevelSource::kNone);
  EXPECT_TRUE(d.hear(1, 0));
  EXPECT_EQ(d.level(), 1);
  EXPECT_EQ(d.inference.source(), LevelSource::kHost);
}
TEST(Rule1, AHostMakesALeafOfAnyLevel) {
  Device d;
  d.hear(1, 4);
  EXPECT_EQ(d.level(), 5);
  EXPECT_TRUE(d.hear(2, 0));
  EXPECT_EQ(d.level(), 1);
}

// Rule 2

TEST(Rule2, WithoutALevelTheLowestNeighborCounts) {
  Device d;
  EXPECT_TRUE(d.hear(1, 2));
  EXPECT_EQ(d.level(), 3);
  EXPECT_EQ(d.inference.source(), LevelSource::kNeighbor);
}
TEST(Rule2, NeighborsWithoutALevelSayNothing) {
  Device d;
  EXPECT_FALSE(d.hear(1, Heard{}));
  EXPECT_EQ(d.level(), std::nullopt);
}
TEST(Rule2, ANeighborThatCallsUsDownlinkCountsWhileWeHaveNoLevel) {
  Device d;
  EXPECT_TRUE(d.hear(1, 2, PortType::kDownlink));
  EXPECT_EQ(d.level(), 3);
}

// Rule 3

TEST(Rule3, ALowerLevelIsAdoptedAtOnce) {
  Device d;
  d.hear(1, 3);
  EXPECT_EQ(d.level(), 4);
  EXPECT_TRUE(d.hear(2, 1));
  EXPECT_EQ(d.level(), 2);
  EXPECT_EQ(d.inference.deadline(), std::nullopt);
}
TEST(Rule3, AnEqualOrHigherLevelChangesNothing) {
  Device d;
  d.hear(1, 1);
  EXPECT_FALSE(d.hear(2, 1));
  EXPECT_FALSE(d.hear(3, 3));
  EXPECT_EQ(d.level(), 2);
}

// Rule 4

TEST(Rule4, TheTypeOfAPort) {
  EXPECT_EQ(type_of_port(at(2), at(0)), PortType::kDownlink);  // a host, whatever our level
  EXPECT_EQ(type_of_port(std::nullopt, at(0)), PortType::kDownlink);
  EXPECT_EQ(type_of_port(at(2), at(1)), PortType::kDownlink);
  EXPECT_EQ(type_of_port(at(2), at(3)), PortType::kUplink);
  EXPECT_EQ(type_of_port(at(2), at(2)), PortType::kCrosslink);
  EXPECT_EQ(type_of_port(at(2), at(4)), PortType::kUnmarked);
  EXPECT_EQ(type_of_port(at(4), at(2)), PortType::kUnmarked);
  EXPECT_EQ(type_of_port(at(2), std::nullopt), PortType::kUnmarked);
  EXPECT_EQ(type_of_port(std::nullopt, at(2)), PortType::kUnmarked);
}

// Rule 5

TEST(Rule5, TheLevelIsKeptWhenItsSupportIsGone) {
  Device d;
  d.hear(1, 0);
  EXPECT_FALSE(d.silence(1));
  EXPECT_FALSE(d.pass(seconds(10000)));
  EXPECT_EQ(d.level(), 1);
  EXPECT_EQ(d.inference.source(), LevelSource::kHost);
}
TEST(Rule5, ItIsNotRaisedForNeighborsThatStandAboveUsOnlyBecauseOfUs) {
  Device d;
  d.hear(1, 0);
  d.hear(2, 2, PortType::kDownlink);
  d.silence(1);
  EXPECT_EQ(d.inference.deadline(), std::nullopt);
  EXPECT_FALSE(d.pass(seconds(10000)));
  EXPECT_EQ(d.level(), 1);
}
TEST(Rule5, ItIsRaisedOnPositiveEvidenceAfterTheHold) {
  Device d;
  d.hear(1, 0);
  d.silence(1);
  d.hear(2, 2, PortType::kUnmarked);
  EXPECT_EQ(d.inference.deadline(), kStart + seconds(60));
  EXPECT_FALSE(d.pass(milliseconds(59999)));
  EXPECT_TRUE(d.pass(milliseconds(1)));
  EXPECT_EQ(d.level(), 3);
  EXPECT_EQ(d.inference.source(), LevelSource::kNeighbor);
  EXPECT_EQ(d.inference.deadline(), std::nullopt);
}
TEST(Rule5, ABreakBeginsTheHoldAnew) {
  Device d;
  d.hear(1, 0);
  d.silence(1);
  d.hear(2, 2);
  d.pass(seconds(40));
  d.hear(1, 0);  // support is back
  EXPECT_EQ(d.inference.deadline(), std::nullopt);
  d.silence(1);
  EXPECT_EQ(d.inference.deadline(), kStart + seconds(100));
  d.pass(seconds(30));
  d.hear(2, 2, PortType::kDownlink);  // the evidence is gone
  EXPECT_EQ(d.inference.deadline(), std::nullopt);
  d.hear(2, 2);
  EXPECT_EQ(d.inference.deadline(), kStart + seconds(130));
  EXPECT_FALSE(d.pass(milliseconds(59999)));
  EXPECT_TRUE(d.pass(milliseconds(1)));
}
TEST(Rule5, OtherEvidenceIsNoBreak) {
  Device d;
  d.hear(1, 0);
  d.silence(1);
  d.hear(2, 2);
  d.pass(seconds(40));
  d.hear(3, 4);
  d.silence(2);
  EXPECT_TRUE(d.pass(seconds(20)));
  EXPECT_EQ(d.level(), 5);
}
TEST(Rule5, ANeighborOnOurOwnLevelIsEvidence) {
  Device d;
  d.hear(1, 0);
  d.silence(1);
  d.hear(2, 1, PortType::kCrosslink);
  EXPECT_TRUE(d.pass(seconds(60)));
  EXPECT_EQ(d.level(), 2);
}
TEST(Rule5, SupportKeepsTheLevelWhateverElseIsHeard) {
  Device d;
  d.hear(1, 1);
  d.hear(2, 5);
  EXPECT_EQ(d.inference.deadline(), std::nullopt);
  EXPECT_EQ(d.level(), 2);
}
TEST(Rule5, RaisedNoHigherThanTheLowestOfAllAllows) {
  Device d;
  d.hear(1, 0);
  d.silence(1);
  d.hear(2, 2, PortType::kDownlink);  // no evidence, but rule 3 goes by it
  d.hear(3, 5);
  EXPECT_TRUE(d.pass(seconds(60)));
  EXPECT_EQ(d.level(), 3);
}

// Rule 6

TEST(Rule6, NothingHeardChangesAPinnedLevel) {
  Device d({.pinned = at(3)});
  EXPECT_EQ(d.level(), 3);
  EXPECT_EQ(d.inference.source(), LevelSource::kPinned);
  EXPECT_FALSE(d.hear(1, 0));
  EXPECT_FALSE(d.hear(2, 7));
  EXPECT_FALSE(d.pass(seconds(1000)));
  EXPECT_EQ(d.level(), 3);
}
TEST(Rule6, APinnedLevelMayBeAboveTheLimit) { EXPECT_EQ(Device({.pinned = at(12)}).level(), 12); }
TEST(Rule6, ALevelAboveTheLimitIsNotTaken) {
  Device d({.max_level = Level::of<2>()});
  EXPECT_FALSE(d.hear(1, 2));
  EXPECT_EQ(d.level(), std::nullopt);
  EXPECT_EQ(d.inference.refused(), 3U);
  EXPECT_TRUE(d.hear(2, 1));
  EXPECT_EQ(d.level(), 2);
  EXPECT_EQ(d.inference.refused(), std::nullopt);
}
TEST(Rule6, TheHighestLevelThereIsHasNoneAbove) {
  Device d({.max_level = Level::of<254>()});
  EXPECT_FALSE(d.hear(1, 254));
  EXPECT_EQ(d.inference.refused(), 255U);
}
TEST(Rule6, ARaiseAboveTheLimitKeepsTheLevel) {
  Device d({.max_level = Level::of<2>()});
  d.hear(1, 1);
  d.silence(1);
  d.hear(2, 2);
  EXPECT_FALSE(d.pass(seconds(60)));
  EXPECT_EQ(d.level(), 2);
  EXPECT_EQ(d.inference.refused(), 3U);
  EXPECT_EQ(d.inference.deadline(), std::nullopt);  // there is nothing to wait for
}
TEST(Rule6, UnpinnedItIsKeptUntilSomethingIsKnownBetter) {
  Device d({.pinned = at(3)});
  d.hear(1, 4, PortType::kUplink);
  d.rules.pinned.reset();
  d.inference.set_rules(d.rules);
  EXPECT_TRUE(d.inference.decide(d.now));
  EXPECT_EQ(d.level(), 5);
}

// Rule 8

TEST(Rule8, ARestoredLevelIsThereAtOnce) {
  Device d({}, 2);
  EXPECT_EQ(d.level(), 2);
  EXPECT_EQ(d.inference.source(), LevelSource::kRestored);
}
TEST(Rule8, SupportConfirmsIt) {
  Device d({}, 2);
  EXPECT_FALSE(d.hear(1, 1));
  EXPECT_EQ(d.inference.source(), LevelSource::kNeighbor);
  Device leaf({}, 1);
  leaf.hear(1, 0);
  EXPECT_EQ(leaf.inference.source(), LevelSource::kHost);
}
TEST(Rule8, ALowerLevelReplacesIt) {
  Device d({}, 3);
  EXPECT_TRUE(d.hear(1, 0));
  EXPECT_EQ(d.level(), 1);
}
TEST(Rule8, EvidenceReplacesItWithoutTheHold) {
  Device d({}, 1);
  EXPECT_TRUE(d.hear(1, 3, PortType::kUplink));
  EXPECT_EQ(d.level(), 4);
  Device e({}, 1);
  EXPECT_TRUE(e.hear(1, 1, PortType::kCrosslink));
  EXPECT_EQ(e.level(), 2);
}
TEST(Rule8, ALeafThatRestartsWhileItsServersAreOffStaysALeaf) {
  Device d({}, 1);
  EXPECT_FALSE(d.hear(1, 2, PortType::kDownlink));
  EXPECT_FALSE(d.pass(seconds(10000)));
  EXPECT_EQ(d.level(), 1);
}
TEST(Rule8, ANeighborThatHasNotHeardUsYetIsNoEvidenceBeforeItCouldAnswer) {
  Device d({}, 1);
  EXPECT_FALSE(d.hear(1, 2, PortType::kUnmarked));  // sent before it heard of our restart
  d.pass(milliseconds(2));
  EXPECT_FALSE(d.hear(1, 2, PortType::kDownlink));  // its answer
  EXPECT_FALSE(d.pass(seconds(10000)));
  EXPECT_EQ(d.level(), 1);
}
TEST(Rule8, ASwitchThatWasMovedFindsItsPlace) {
  Device d({}, 1);
  d.hear(1, 3, PortType::kUnmarked);  // two levels apart: it has no other name for its port
  EXPECT_FALSE(d.pass(milliseconds(999)));
  EXPECT_TRUE(d.pass(milliseconds(1)));
  EXPECT_EQ(d.level(), 4);
}
TEST(Rule8, OnceConfirmedItWaitsAsAnyOther) {
  Device d({}, 1);
  d.hear(1, 0);
  d.silence(1);
  EXPECT_FALSE(d.hear(2, 3, PortType::kUplink));
  EXPECT_EQ(d.inference.deadline(), kStart + seconds(60));
}
TEST(Rule8, ALevelAboveTheLimitOrOfAHostIsNotRestored) {
  EXPECT_EQ(Device({.max_level = Level::of<2>()}, 3).level(), std::nullopt);
  EXPECT_EQ(Device({}, 0).level(), std::nullopt);
}

// Hosts

TEST(HostRole, HasLevelNoughtAndIgnoresWhatItHears) {
  Device d({.role = Role::kHost}, 2);
  EXPECT_EQ(d.level(), 0);
  EXPECT_FALSE(d.hear(1, 3));
  EXPECT_EQ(d.level(), 0);
  EXPECT_EQ(d.inference.kept(), at(2));  // for the day it is a switch again
}
TEST(HostRole, AsASwitchItGoesByWhatItHears) {
  Device d({.role = Role::kHost});
  d.hear(1, 2);
  d.rules.role = Role::kSwitch;
  d.inference.set_rules(d.rules);
  EXPECT_TRUE(d.inference.decide(d.now));
  EXPECT_EQ(d.level(), 3);
}

// As a whole

TEST(LevelCount, KnowsTheLowest) {
  LevelCount c;
  EXPECT_EQ(c.lowest(), std::nullopt);
  for (unsigned l : {254U, 64U, 63U, 64U, 0U}) c.add(at(l));
  EXPECT_EQ(c.lowest(), at(0));
  c.remove(at(0));
  EXPECT_EQ(c.lowest(), at(63));
  c.remove(at(63));
  c.remove(at(64));
  EXPECT_EQ(c.lowest(), at(64));
  c.remove(at(64));
  EXPECT_EQ(c.lowest(), at(254));
  c.remove(at(254));
  EXPECT_EQ(c.lowest(), std::nullopt);
}

TEST(Inference, DoesNotDependOnTheOrderOfArrival) {
  std::vector<unsigned> levels{5, 2, 7, 3, 2};
  std::sort(levels.begin(), levels.end());
  do {
    Device d;
    for (std::size_t i = 0; i < levels.size(); ++i) d.hear(static_cast<int>(i), levels[i]);
    ASSERT_EQ(d.level(), 3);
  } while (std::next_permutation(levels.begin(), levels.end()));
}

/// The rules once more, straight from the text over all ports, for comparison.
struct Oracle {
  std::optional<unsigned> level{};
  std::optional<TimePoint> since{};

  void decide(const std::map<int, Heard>& ports, TimePoint now) {
    for (;;) {
      std::optional<unsigned> least;
      std::optional<unsigned> above;
      for (const auto& [port, h] : ports) {
        if (h.lowest) least = std::min<unsigned>(least.value_or(255), h.lowest->value());
        if (h.not_below_us)
          above = std::min<unsigned>(above.value_or(255), h.not_below_us->value());
      }
      const bool support = least && level && *least < *level;
      if (least && (!level || 1 + *least < *level) && 1 + *least <= 8) {
        level = 1 + *least;
        since.reset();
        continue;
      }
      const bool evidence = level && !support && above && 1 + *above > *level;
      if (!evidence) {
        since.reset();
        return;
      }
      if (!since) since = now;
      if (now < *since + seconds(60) || 1 + *above > 8) return;
      level = 1 + *above;
      since.reset();
    }
  }
};

TEST(Inference, AgreesWithTheRulesReadLiterally) {
  std::mt19937 random(7);
  for (int run = 0; run < 300; ++run) {
    Device d;
    Oracle oracle;
    for (int i = 0; i < 60; ++i) {
      const int port = static_cast<int>(random() % 4);
      if (random() % 3 == 0) {
        d.silence(port);
      } else {
        d.hear(port, static_cast<unsigned>(random() % 6), static_cast<PortType>(random() % 4));
      }
      oracle.decide(d.ports, d.now);
      ASSERT_EQ(d.level(), oracle.level) << "run " << run << " step " << i;
      if (random() % 4 == 0) {
        d.pass(seconds(random() % 90));
        oracle.decide(d.ports, d.now);
        ASSERT_EQ(d.level(), oracle.level) << "run " << run << " after waiting, step " << i;
      }
    }
  }
}

}  // namespace
}  // namespace lldp::core
