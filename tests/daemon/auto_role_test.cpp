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

}  // namespace
}  // namespace lldp::io
