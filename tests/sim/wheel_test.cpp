// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/wheel.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "lab/des/random.hpp"

namespace lldp::lab::packets {
namespace {

using testing::SizeIs;

class WheelOf : public testing::TestWithParam<bool> {};  ///< a large network's

TEST_P(WheelOf, GivesTheEarliestFirstAndTiesInOrder) {
  Pool pool;
  Wheel wheel(pool, GetParam());
  Random random(7);
  std::vector<std::pair<Picoseconds, std::uint32_t>> waiting;  // in the order of insertion
  Picoseconds now = 0;
  std::uint32_t count = 0;
  for (int round = 0; round < 20'000; ++round) {
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      // Ties, the same bucket, the ring's whole reach, and beyond it.
      const Picoseconds ahead[] = {0, random.below(300), random.below(9'000'000),
                                   random.below(400'000'000)};
      const std::uint32_t slot = pool.take();
      pool[slot].at = now + ahead[random.below(4)];
      pool[slot].number = count++;
      waiting.emplace_back(pool[slot].at, pool[slot].number);
      wheel.push(slot);
    }
    const Picoseconds until = now + random.below(2'000'000);
    for (;;) {
      const std::uint32_t slot = wheel.pop(until);
      const auto first = std::min_element(waiting.begin(), waiting.end());
      if (slot == kNone) {
        ASSERT_TRUE(first == waiting.end() || first->first > until);
        break;
      }
      ASSERT_EQ(std::pair(pool[slot].at, pool[slot].number), *first);
      now = pool[slot].at;
      waiting.erase(first);
      pool.release(slot);
    }
    now = until;
  }
}

/// A node sees the same whatever other events are in the same wheel, and whenever they were put in.
TEST_P(WheelOf, FramesOfOneTimeComeInAnOrderOfTheirOwnBeforeTimers) {
  constexpr std::uint32_t kFrames = 40;
  constexpr Picoseconds kFar = 20 * kMicrosecond;  // beyond the ring's reach
  const auto popped = [](Picoseconds at, std::uint64_t seed) {
    Pool pool;
    Wheel wheel(pool, GetParam());
    Random random(seed);
    std::vector<Slot> slots;
    for (std::uint32_t arc = 0; arc < kFrames; ++arc)
      slots.push_back({.at = at, .arc = arc, .kind = Kind::kData});
    for (std::size_t i = slots.size(); i > 1; --i) std::swap(slots[i - 1], slots[random.below(i)]);
    const auto half = slots.begin() + static_cast<std::ptrdiff_t>(random.below(kFrames));
    slots.insert(half, {.at = at, .arc = kFrames, .kind = Kind::kPortFree});
    slots.insert(slots.begin(), {.at = at, .arc = kFrames + 1, .kind = Kind::kHostWake});
    for (const Slot& s : slots) {
      const std::uint32_t slot = pool.take();
      pool[slot] = s;
      wheel.push(slot);
    }
    std::vector<std::uint32_t> arcs;
    for (std::uint32_t s = wheel.pop(at); s != kNone; s = wheel.pop(at))
      arcs.push_back(pool[s].arc);
    return arcs;
  };
  for (const Picoseconds at : {kMicrosecond, kFar}) {
    const auto once = popped(at, 1);
    ASSERT_THAT(once, SizeIs(kFrames + 2));
    EXPECT_EQ(once[kFrames], kFrames + 1);  // the timer that was put in first
    EXPECT_EQ(once[kFrames + 1], kFrames);
    for (std::uint64_t seed = 2; seed < 20; ++seed) EXPECT_EQ(popped(at, seed), once);
    EXPECT_NE(popped(at + 80, 1), once);  // no arc is always the first
  }
}

struct Keyed {
  std::uint64_t key = 0;
  std::size_t number = 0;
  friend bool operator<(const Keyed& a, const Keyed& b) { return a.key < b.key; }
  friend bool operator==(const Keyed&, const Keyed&) = default;
};

TEST(SpreadSort, SortsKeysThatAreEvenAndKeysThatAreCrowded) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  Random random(3);
  SpreadSort<Keyed> sort;
  for (const std::size_t size : {0U, 1U, 2U, 39U, 41U, 1000U, 5000U})
    for (const unsigned widest : {1U, 8U, 40U, 64U}) {  // bits in which the distances differ
      std::vector<Keyed> all(size);
      for (std::size_t i = 0; i < size; ++i)
        all[i] = {random.below(kAll) >> (64 - 1 - random.below(widest)) << 13 | i, i};
      if (size > 2) {
        all[size / 2].key = kAll;
        all[size / 3].key = 0;
      }
      auto expected = all;
      std::sort(expected.begin(), expected.end());
      sort(all);
      EXPECT_EQ(all, expected) << size << " " << widest;
    }
}

INSTANTIATE_TEST_SUITE_P(Networks, WheelOf, testing::Values(false, true),
                         [](const auto& large) { return large.param ? "Large" : "Small"; });

/// Slots that come in step, in random order, some of which put in others when they are taken out.
std::vector<std::uint32_t> taken_out(bool large, std::uint64_t seed) {
  Pool pool;
  Wheel wheel(pool, large);
  Random random(seed);
  std::uint32_t numbers = 0;
  const auto put_in = [&](Picoseconds at) {
    const std::uint32_t s = pool.take();
    const bool frame = random.chance(0.7);
    pool[s] = Slot{
        .at = at, .arc = numbers, .number = numbers, .kind = frame ? Kind::kData : Kind::kPortFree};
    ++numbers;
    wheel.push(s);
  };
  for (int i = 0; i < 3000; ++i) put_in(random.below(40) * 50 + random.below(3) * 5'000'000);
  std::vector<std::uint32_t> order;
  Picoseconds until = 0;
  while (wheel.next() != kNever) {
    until = std::max(until + random.below(300), wheel.next() + random.below(300));
    for (std::uint32_t s = wheel.pop(until); s != kNone; s = wheel.pop(until)) {
      const Picoseconds at = pool[s].at;
      order.push_back(pool[s].number);
      pool.release(s);
      if (numbers < 9000 && random.chance(0.6))
        put_in(at + random.below(2) * random.below(400) +
               random.below(2) * random.below(20'000'000));
    }
    // Time has come to `until`: others may hand over what is due before what was looked at.
    if (numbers < 9000) put_in(until + random.below(200));
  }
  return order;
}

TEST(Wheel, HasOneOrderInSmallAndLargeNetworks) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const auto order = taken_out(false, seed);
    EXPECT_GT(order.size(), 5000U);
    EXPECT_EQ(taken_out(true, seed), order) << seed;
  }
}

}  // namespace
}  // namespace lldp::lab::packets
