// SPDX-License-Identifier: Apache-2.0
// The seam to the data plane: orders are requested by number, and confirmed by it.
#include <gtest/gtest.h>

#include "tests/core/support/single.hpp"

namespace lldp::test {
namespace {

TEST(Request, RisesWithEachChangeOfTheOrderAndNotOtherwise) {
  Single s;
  EXPECT_EQ(s.agent.request(ifindex(1)), core::Request{});
  s.up(1);
  EXPECT_EQ(s.agent.request(ifindex(1)), core::Request{});
  s.hear(1, host());
  const core::Request first = s.agent.request(ifindex(1));
  EXPECT_EQ(first.order, Order::kDown);
  EXPECT_GT(first.generation, 0U);
  s.agent.in_force(ifindex(1), first.generation, s.now, s.out);
  s.hear(1, host());
  EXPECT_EQ(s.agent.request(ifindex(1)), first);
  s.down(1);
  EXPECT_GT(s.agent.request(ifindex(1)).generation, first.generation);
}

TEST(Request, AConfirmationOfWhatWasNotRequestedIsIgnored) {
  Single s;
  s.agent.in_force(ifindex(1), 7, s.now, s.out);  // no such port
  s.up(1);
  s.agent.in_force(ifindex(1), 7, s.now, s.out);
  EXPECT_TRUE(s.out.events.empty());
  EXPECT_EQ(s.agent.request(ifindex(1)), core::Request{});
}

}  // namespace
}  // namespace lldp::test
