// SPDX-License-Identifier: Apache-2.0
#include "qos/growth.hpp"

#include <gtest/gtest.h>

namespace lldp::qos {
namespace {

using namespace std::chrono_literals;
using Ages = ByPriority<std::chrono::seconds>;

constexpr Growth::Time kStart{1h};

TEST(Growth, TellsWhenACountWasSeenToGrowAndOfNoOther) {
  Growth growth;
  PriorityFrames counts;
  counts.received[5] = 7;
  counts.sent[5] = 0;
  growth.take(counts, kStart);
  EXPECT_EQ(growth.ago(kStart + 1h), Ages()) << "how old the first ones are nobody knows";
  counts.sent[5] = 1;
  growth.take(counts, kStart + 5s);
  counts.received[6] = 3;
  growth.take(counts, kStart + 10s);
  Ages ages;
  ages.sent[5] = 5s;
  EXPECT_EQ(growth.ago(kStart + 10'900ms), ages);
  counts.sent[5] = 2;
  counts.received[6] = 4;
  growth.take(counts, kStart + 15s);
  ages.sent[5] = ages.received[6] = 60s;
  EXPECT_EQ(growth.ago(kStart + 75s), ages);
}

TEST(Growth, CountThatBeginsAnewGrowsFromNothing) {
  Growth growth;
  PriorityFrames counts;
  counts.received[5] = counts.received[6] = 100;
  growth.take(counts, kStart);
  counts.received[5] = 0;
  counts.received[6] = 2;
  growth.take(counts, kStart);
  Ages ages;
  ages.received[6] = 0s;
  EXPECT_EQ(growth.ago(kStart), ages);
}

TEST(Growth, GoesOnWhereACountWasNotToldForAWhile) {
  Growth growth;
  PriorityFrames counts;
  counts.sent[5] = 4;
  growth.take(counts, kStart);
  growth.take({}, kStart + 5s);
  growth.take(counts, kStart + 10s);
  EXPECT_EQ(growth.ago(kStart + 10s), Ages());
  counts.sent[5] = 5;
  growth.take({}, kStart + 15s);
  growth.take(counts, kStart + 20s);
  EXPECT_EQ(growth.ago(kStart + 20s).sent[5], 0s);
}

// counterpoll was off for a day, or the database away: it may have been any time since.
TEST(Growth, DoesNotTakeWhatGrewWhileNobodyCouldReadForFresh) {
  Growth growth;
  PriorityFrames counts;
  counts.sent[5] = 4;
  growth.take(counts, kStart);
  counts.sent[5] = 9;
  growth.take(counts, kStart + Growth::kLong + 1s);
  EXPECT_EQ(growth.ago(kStart + 1h), Ages());
  counts.sent[5] = 2;
  growth.take(counts, kStart + 1h);
  EXPECT_EQ(growth.ago(kStart + 1h), Ages()) << "and begun anew meanwhile";
  counts.sent[5] = 3;
  growth.take(counts, kStart + 1h + Growth::kLong);
  EXPECT_EQ(growth.ago(kStart + 1h + Growth::kLong).sent[5], 0s);
}

}  // namespace
}  // namespace lldp::qos
