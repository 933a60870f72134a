// SPDX-License-Identifier: Apache-2.0
// `role = auto`: docs/develop/rules.md L8.
#include "agent/daemon/auto_role.hpp"

#include <gtest/gtest.h>

namespace lldp::io {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};

TEST(L8, AHostBecomesASwitchAtOnce) {
  AutoRole role(false);
  EXPECT_EQ(role.follow(false, kStart), Role::kHost);
  EXPECT_EQ(role.deadline(), std::nullopt);
  EXPECT_EQ(role.follow(true, kStart), Role::kSwitch);
  EXPECT_EQ(role.deadline(), std::nullopt);
}
TEST(L8, WhatWasASwitchStartsAsOneAndIsAHostOnlyAfterAMinute) {
  AutoRole role(true);
  EXPECT_EQ(role.follow(false, kStart), Role::kSwitch);
  EXPECT_EQ(role.deadline(), kStart + seconds(60));
  EXPECT_EQ(role.follow(false, kStart + milliseconds(59'999)), Role::kSwitch);
  EXPECT_EQ(role.follow(false, kStart + seconds(60)), Role::kHost);
  EXPECT_EQ(role.deadline(), std::nullopt);
}
TEST(L8, AMomentOfForwardingBeginsTheMinuteAnew) {
  AutoRole role(true);
  role.follow(false, kStart);
  role.follow(true, kStart + seconds(59));
  EXPECT_EQ(role.follow(false, kStart + seconds(61)), Role::kSwitch);
  EXPECT_EQ(role.deadline(), kStart + seconds(121));
}

/// A host that tells a TTL of 121 s, on virtual time.
class Doubt : public testing::Test {
 protected:
  static constexpr seconds kTtl{121};
  static constexpr seconds kPatience{363};
  static constexpr RouterDoubt::Signs kRouter{.forwards = true, .guests = false, .joins = true};
  static constexpr RouterDoubt::Signs kServer{.forwards = true, .guests = true, .joins = true};

  bool at(seconds after, const RouterDoubt::Signs& signs) {
    return doubt_.follow(signs, kTtl, kStart + after);
  }
  /// As the daemon does: at the deadline it asks again, whatever happens.
  bool waits_until(seconds after) const { return doubt_.deadline() == kStart + after; }

  RouterDoubt doubt_;
};

TEST_F(Doubt, IsToldAfterThreeTtlsOfAllSigns) {
  EXPECT_FALSE(at(seconds(0), kRouter));
  EXPECT_TRUE(waits_until(kPatience));
  EXPECT_FALSE(at(kPatience - seconds(1), kRouter));
  EXPECT_TRUE(at(kPatience, kRouter));
  EXPECT_EQ(doubt_.deadline(), std::nullopt);
  EXPECT_TRUE(at(std::chrono::hours(100), kRouter)) << "as long as they stand";
}
TEST_F(Doubt, EndsWithAnySignAndBeginsAnew) {
  RouterDoubt::Signs no_forwarding = kRouter;
  no_forwarding.forwards = false;
  RouterDoubt::Signs one_port = kRouter;
  one_port.joins = false;
  for (const auto& signs : {no_forwarding, one_port}) {
    doubt_ = {};
    EXPECT_FALSE(at(seconds(0), kRouter));
    EXPECT_FALSE(at(seconds(300), signs));
    EXPECT_EQ(doubt_.deadline(), std::nullopt);
    EXPECT_FALSE(at(seconds(301), kRouter));
    EXPECT_TRUE(waits_until(seconds(301) + kPatience));
    EXPECT_TRUE(at(seconds(301) + kPatience, kRouter));
    EXPECT_FALSE(at(seconds(1000), signs));
    EXPECT_FALSE(at(seconds(1001), kRouter));
  }
}
TEST_F(Doubt, IsNeverToldOfAServerWhoseContainersStartAMinuteAfterBoot) {
  EXPECT_FALSE(at(seconds(0), {.forwards = true, .guests = false, .joins = false}));
  EXPECT_FALSE(at(seconds(3), kRouter));
  EXPECT_FALSE(at(seconds(60), kServer));
  EXPECT_EQ(doubt_.deadline(), std::nullopt);
  EXPECT_FALSE(at(std::chrono::hours(1000), kServer));
}
// podman takes the bridge away with the last container, and leaves the forwarding on.
TEST_F(Doubt, IsNotToldBetweenTheJobsOfAServer) {
  EXPECT_FALSE(at(seconds(0), kServer));
  for (int day = 0; day < 5; ++day) {
    const std::chrono::hours begin(day * 24);
    EXPECT_FALSE(at(begin + seconds(60), kServer));
    EXPECT_FALSE(at(begin + std::chrono::hours(1), kRouter)) << "the job has ended";
    EXPECT_TRUE(waits_until(begin + std::chrono::hours(25)));
    EXPECT_FALSE(at(begin + std::chrono::hours(23), kRouter));
  }
}
TEST_F(Doubt, IsToldADayAfterTheLastGuestHasGone) {
  EXPECT_FALSE(at(seconds(0), kServer));
  EXPECT_FALSE(at(seconds(1000), kRouter));
  EXPECT_FALSE(at(seconds(1000) + std::chrono::hours(24) - seconds(1), kRouter));
  EXPECT_TRUE(at(seconds(1000) + std::chrono::hours(24), kRouter));
  EXPECT_FALSE(at(std::chrono::hours(30), kServer)) << "one comes";
}

}  // namespace
}  // namespace lldp::io
