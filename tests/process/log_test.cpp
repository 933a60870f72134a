// SPDX-License-Identifier: Apache-2.0
#include "agent/process/log.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace lldp::io {
namespace {

using std::chrono::seconds;
constexpr Ifindex kPort = Ifindex::of<3>();
constexpr auto kTopic = LogGate::Topic::kChange;
constexpr TimePoint kStart{seconds{1000}};

TEST(Log, WritesOneLineEach) {
  testing::internal::CaptureStderr();
  log(Severity::kNotice, "a line");
  log(Severity::kError, Error{EPERM, "swp1", "cannot be had"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lldp-leveld: a line\nlldp-leveld: swp1: cannot be had\n");
}

TEST(LogGate, AdmitsABurstAndThenOneLinePerInterval) {
  LogGate gate;
  for (std::uint32_t i = 0; i < LogGate::kBurst; ++i)
    EXPECT_EQ(gate.admit(kPort, kTopic, kStart), 0U);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart), std::nullopt);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart + seconds{9}), std::nullopt);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart + LogGate::kInterval), 2U);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart + LogGate::kInterval), std::nullopt);
}

TEST(LogGate, FillsUpToABurstAndNoFurther) {
  LogGate gate;
  while (gate.admit(kPort, kTopic, kStart)) {
  }
  const TimePoint later = kStart + 1000 * LogGate::kInterval;
  EXPECT_EQ(gate.admit(kPort, kTopic, later), 1U);
  for (std::uint32_t i = 1; i < LogGate::kBurst; ++i)
    EXPECT_EQ(gate.admit(kPort, kTopic, later), 0U);
  EXPECT_EQ(gate.admit(kPort, kTopic, later), std::nullopt);
}

TEST(LogGate, CountsEachPortForItself) {
  LogGate gate;
  while (gate.admit(kPort, kTopic, kStart)) {
  }
  EXPECT_EQ(gate.admit(Ifindex::of<4>(), kTopic, kStart), 0U);
  gate.forget(kPort);
  EXPECT_EQ(gate.admit(kPort, kTopic, kStart), 0U);
}

TEST(LogGate, NoTopicHidesAnother) {
  LogGate gate;
  const Ifindex device;  // whoever makes the location flap spends that of the location alone
  while (gate.admit(device, LogGate::Topic::kLocation, kStart)) {
  }
  EXPECT_EQ(gate.admit(device, LogGate::Topic::kAlarm, kStart), 0U);
  EXPECT_EQ(gate.admit(device, LogGate::Topic::kChange, kStart), 0U);
}

}  // namespace
}  // namespace lldp::io
