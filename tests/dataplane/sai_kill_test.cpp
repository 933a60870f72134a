// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/dataplane/sai_fixture.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

/// The process with the library and the daemon are killed together, at any call that sets
/// something, and started anew.
class SaiKilled : public SaiTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override { renew(); }
  void renew() {
    backend_ = nullptr;
    box_.renew();
    box_.chip().no_rewriting = GetParam();
    open();
  }
  bool put_all() { return put(0, Order::kUp).has_value() && put(1, Order::kUp).has_value(); }
};

INSTANTIATE_TEST_SUITE_P(By, SaiKilled, testing::Bool(),
                         [](const auto& by) { return std::string(by.param ? "Acl" : "Maps"); });

TEST_P(SaiKilled, WhileThePortsAreSetLosesNothing) {
  ASSERT_TRUE(put_all());
  const int calls = box_.chip().sets;
  for (int call = 1; call <= calls; ++call) {
    SCOPED_TRACE(call);
    renew();
    box_.chip().end_at = call;
    ASSERT_FALSE(put_all());
    box_.chip().end_at = 0;
    open();
    ASSERT_TRUE(put_all());
    EXPECT_EQ(box_.forward(0, 1, 43).dscp, 51U);
    ASSERT_TRUE(take_all());
    expect_nothing_of_ours();
  }
}

TEST_P(SaiKilled, WhileThePortsArePutBackLosesNothing) {
  ASSERT_TRUE(put_all());
  const int before = box_.chip().sets;
  ASSERT_TRUE(take_all());
  const int calls = box_.chip().sets - before;
  for (int call = 1; call <= calls; ++call) {
    SCOPED_TRACE(call);
    renew();
    ASSERT_TRUE(put_all());
    box_.chip().end_at = call;
    (void)take_all();
    box_.chip().end_at = 0;
    open();
    ASSERT_TRUE(take_all());
    EXPECT_THAT(*backend_->ports(), IsEmpty());
    expect_nothing_of_ours();
  }
}

// It would leave its vendor's locks behind.
TEST_F(SaiTest, EndOfTheDaemonCutsNoCallOfTheLibraryOff) {
  open();
  const int before = box_.chip().sets;
  box_.chip().slow = 200;
  const auto plan = backend_->plan(port_of(0), rules_of(Order::kUp));
  ASSERT_TRUE(plan);
  backend_->apply({.ports = {*plan}});
  ASSERT_TRUE(until([&] { return box_.chip().cut_off == 1; }));
  backend_ = nullptr;
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(box_.chip().cut_off, 0);
  EXPECT_LE(box_.chip().sets, before + 1) << "and no other one is begun";
}

}  // namespace
}  // namespace lldp::dataplane
