// SPDX-License-Identifier: Apache-2.0
#include "agent/process/log.hpp"

#include <gtest/gtest.h>

namespace lldp::io {
namespace {

using std::chrono::seconds;
constexpr Ifindex kPort = Ifindex::of<3>();
constexpr TimePoint kStart{seconds{1000}};

TEST(LogGate, AdmitsABurstAndThenOneLinePerInterval) {
  LogGate gate;
  for (std::uint32_t i = 0; i < LogGate::kBurst; ++i) EXPECT_EQ(gate.admit(kPort, kStart), 0U);
  EXPECT_EQ(gate.admit(kPort, kStart), std::nullopt);
  EXPECT_EQ(gate.admit(kPort, kStart + seconds{9}), std::nullopt);
  EXPECT_EQ(gate.admit(kPort, kStart + LogGate::kInterval), 2U);
  EXPECT_EQ(gate.admit(kPort, kStart + LogGate::kInterval), std::nullopt);
}

TEST(LogGate, FillsUpToABurstAndNoFurther) {
  LogGate gate;
  while (gate.admit(kPort, kStart)) {
  }
  const TimePoint later = kStart + 1000 * LogGate::kInterval;
  EXPECT_EQ(gate.admit(kPort, later), 1U);
  for (std::uint32_t i = 1; i < LogGate::kBurst; ++i) EXPECT_EQ(gate.admit(kPort, later), 0U);
  EXPECT_EQ(gate.admit(kPort, later), std::nullopt);
}

TEST(LogGate, CountsEachPortForItself) {
  LogGate gate;
  while (gate.admit(kPort, kStart)) {
  }
  EXPECT_EQ(gate.admit(Ifindex::of<4>(), kStart), 0U);
  gate.forget(kPort);
  EXPECT_EQ(gate.admit(kPort, kStart), 0U);
}

}  // namespace
}  // namespace lldp::io
