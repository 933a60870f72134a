// SPDX-License-Identifier: Apache-2.0
// PFC by dcbnl with a driver in the kernel, read back by iproute2's dcb too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/factory.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/test_switch.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::dataplane {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SwitchDcb : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = TestSwitch::load("ports=2"); !why.empty()) GTEST_SKIP() << why;
    backend_ = open();
    ASSERT_TRUE(backend_);
  }
  std::unique_ptr<Backend> open() {
    auto backend = make_backend("dcb", {.dcb = {.memory = files_.path() + "/dcb"}});
    EXPECT_TRUE(backend) << to_string(backend.error());
    return backend ? std::move(*backend) : nullptr;
  }
  Result<void> put() {
    const auto plan = backend_->plan(TestSwitch::port(0), rules_of(Order::kUp));
    if (!plan) return fail(plan.error());
    return finish(*backend_, *plan);
  }
  Result<void> take() {
    const auto plan = backend_->plan_removal(TestSwitch::port(0));
    if (!plan) return fail(plan.error());
    return finish(*backend_, *plan);
  }
  PartReading pfc() {
    const auto reading = backend_->verify(TestSwitch::port(0), rules_of(Order::kUp));
    EXPECT_TRUE(reading) << to_string(reading.error());
    for (const PartReading& read : reading ? reading->parts : std::vector<PartReading>{})
      if (read.part == Part::kPfc) return read;
    return {};
  }
  /// What somebody else does with iproute2's dcb. It numbers its messages by the second: where one
  /// ends between its two questions it takes what is left of the first for an answer to the second,
  /// which has been done, and calls that a protocol error.
  static bool others_do(const std::string& what) {
    return sh("said=$(dcb " + what +
              " 2>&1) || case $said in *'Protocol error'*) ;; *) echo \"$said\" >&2; "
              "exit 1 ;; esac");
  }
  static std::string dcb() {
    return output_of("dcb pfc show dev swp0 prio-pfc; dcb app show dev swp0 dscp-prio");
  }

  TempDir files_;
  std::unique_ptr<Backend> backend_;
};

TEST_F(SwitchDcb, SetsPfcAndTheMapBesideWhatIsThereAndPutsBack) {
  ASSERT_TRUE(others_do("pfc set dev swp0 prio-pfc 3:on") &&
              others_do("app add dev swp0 dscp-prio 26:3 43:2"));
  const std::string before = dcb();
  EXPECT_EQ(pfc(), (PartReading{Part::kPfc, PartState::kMissing, "no PFC for priority 5, 6"}));
  ASSERT_TRUE(put());
  EXPECT_EQ(pfc(), (PartReading{Part::kPfc, PartState::kDone, ""}));
  EXPECT_THAT(dcb(), HasSubstr("0:off 1:off 2:off 3:on 4:off 5:on 6:on 7:off"));
  EXPECT_THAT(dcb(), HasSubstr("AF31:3 43:5 51:6"));
  backend_ = open();
  EXPECT_TRUE(backend_->plan(TestSwitch::port(0), rules_of(Order::kUp))->empty());
  ASSERT_TRUE(take());
  EXPECT_EQ(dcb(), before);
}

TEST_F(SwitchDcb, WhatOthersSwitchOffIsSeenAtAGlanceAndPutBack) {
  ASSERT_TRUE(put());
  EXPECT_EQ(pfc().state, PartState::kDone);
  const Ifindex port = TestSwitch::port(0).ifindex;
  EXPECT_THAT(backend_->glance({&port, 1}, Backend::Glance::kOfTime), IsEmpty());
  ASSERT_TRUE(others_do("pfc set dev swp0 prio-pfc 5:off") &&
              others_do("app del dev swp0 dscp-prio 51:6"));
  EXPECT_THAT(backend_->glance({&port, 1}, Backend::Glance::kOfTime), testing::ElementsAre(port));
  EXPECT_EQ(pfc(), (PartReading{Part::kPfc, PartState::kMissing, "no PFC for priority 5"}));
  ASSERT_TRUE(put());
  EXPECT_EQ(pfc().state, PartState::kDone);
}

TEST_F(SwitchDcb, DriverThatAcceptsAndDoesNotIsSaid) {
  TestSwitch::set("deaf", "Y");
  ASSERT_TRUE(put());
  EXPECT_EQ(pfc(), (PartReading{Part::kPfc, PartState::kUnsupported,
                                "the driver accepts PFC and does not do it"}));
}

TEST_F(SwitchDcb, MoreThanTheDriverDoesIsRefusedBeforeItIsAsked) {
  ASSERT_TRUE(others_do("pfc set dev swp0 prio-pfc 0:on 1:on 2:on"));
  ASSERT_TRUE(put());
  EXPECT_EQ(pfc().state, PartState::kMissing);
  EXPECT_THAT(pfc().text, HasSubstr("on for 0, 1, 2, 5, 6, and the driver does 4 at once"));
  EXPECT_THAT(dcb(), Not(HasSubstr("5:on")));
}

}  // namespace
}  // namespace lldp::dataplane
