// SPDX-License-Identifier: Apache-2.0
#include "agent/report/report.hpp"

#include <gtest/gtest.h>

namespace lldp::report {
namespace {

using namespace std::chrono_literals;

TEST(WallClock, TurnsTheAgentsTimeIntoADate) {
  const WallClock clock{.wall = std::chrono::sys_days(std::chrono::year(2026) / 2 / 28) + 86399s,
                        .boot = TimePoint(100s)};
  EXPECT_EQ(clock.date(TimePoint(100s)), "2026-02-28T23:59:59Z");
  EXPECT_EQ(clock.date(TimePoint(101s)), "2026-03-01T00:00:00Z");
  EXPECT_EQ(clock.date(TimePoint(40s)), "2026-02-28T23:58:59Z");
}

TEST(StatsJson, HasTheStandardsNames) {
  const PortStatistics port{.name = "swp1",
                            .counters = {.statsFramesOutTotal = 3, .statsAgeoutsTotal = 1}};
  EXPECT_EQ(
      stats_json({&port, 1}, "packet",
                 ProcessStatistics{.started = std::chrono::system_clock::time_point(7s + 900ms),
                                   .cpu = 5ms,
                                   .resident_octets = 4096}),
      R"({"version":1,"transport":"packet","process":{"started":7,"cpu_milliseconds":5,"resident_octets":4096},)"
      R"("ports":[{"name":"swp1","statsFramesOutTotal":3,"statsFramesInTotal":0,)"
      R"("statsFramesInErrorsTotal":0,"statsFramesDiscardedTotal":0,"statsTLVsDiscardedTotal":0,)"
      R"("statsTLVsUnrecognizedTotal":0,"statsAgeoutsTotal":1,"statsTooManyNeighborsTotal":0,)"
      R"("framesTaggedTotal":0,"lldpduLengthErrors":0}]})");
}

}  // namespace
}  // namespace lldp::report
