// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/core/alarm.hpp"
#include "agent/report/daemon_page.hpp"
#include "agent/report/manual.hpp"

namespace lldp::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kPage =
    ".Sh SIGNALS\n"
    ".It Sy silent\n"
    "not this\n"
    ".Sh ALARMS\n"
    ".Bl -tag -width Ds\n"
    ".It Sy silent\n"
    "A switch was heard on the port\n"
    ".Po\n"
    ".Cm lldp.tx-interval\n"
    "times 4\n"
    ".Pc ,\n"
    "and is not:\n"
    ".Ql lldp-level forget PORT .\n"
    ".Pp\n"
    "See\n"
    ".Xr lldp-level.conf 5\n"
    ".Pq Ql unheard ,\n"
    ".Cm port.NAME.unheard No = Cm ok .\n"
    ".It Sy state\n"
    "another\n"
    ".El\n"
    ".Sh SECURITY\n"
    ".It Sy state\n"
    "not this either\n";

TEST(ManualOfAlarm, IsPlainText) {
  EXPECT_EQ(manual_of_alarm(kPage, "silent"),
            "A switch was heard on the port (lldp.tx-interval times 4), and is not:\n"
            "lldp-level forget PORT.\n"
            "See lldp-level.conf(5) (unheard), port.NAME.unheard = ok.\n");
  EXPECT_EQ(manual_of_alarm(kPage, "state"), "another\n");
  EXPECT_EQ(manual_of_alarm(kPage, "nosuch"), std::nullopt);
}

TEST(ManualOfAlarm, HasEveryAlarm) {
  for (std::size_t i = 0; i < core::kAlarmCodes; ++i) {
    const auto name = to_string(static_cast<core::AlarmCode>(i));
    const auto text = manual_of_alarm(kDaemonPage, name);
    ASSERT_TRUE(text) << name;
    EXPECT_GT(text->size(), 20U) << name;
    EXPECT_THAT(*text, Not(HasSubstr("\n."))) << name;
  }
}

}  // namespace
}  // namespace lldp::report
