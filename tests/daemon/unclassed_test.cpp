// SPDX-License-Identifier: Apache-2.0
// Packets that turn in no lossless class, and what is told of them.
#include "agent/daemon/unclassed.hpp"

#include <gtest/gtest.h>

namespace lldp::io {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const TimePoint kBegin{std::chrono::hours(1)};
constexpr auto kSwp7 = Ifindex::of<7>();
constexpr auto kSwp8 = Ifindex::of<8>();

dataplane::Unclassed counts(std::initializer_list<std::pair<unsigned, std::uint64_t>> of) {
  dataplane::Unclassed out{};
  for (const auto& [dscp, n] : of) out.at(dscp) = n;
  return out;
}
qos::Policy policy(std::string_view lossless) { return *qos::Policy::parse(lossless, "0:dscp0"); }

TEST(Unclassed, TellsOfRoceThatTurnsInNoClass) {
  UnclassedTraffic traffic;
  const auto told = [&](std::string_view classes, TimePoint now) {
    return traffic.text(policy(classes), now).value_or("none");
  };
  traffic.take(kSwp7, counts({{26, 100}}), kBegin);
  EXPECT_EQ(told("none", kBegin), "none") << "of before";
  traffic.take(kSwp7, counts({{26, 101}, {30, 4}}), kBegin + seconds(9));
  const std::string roce =
      "packets with DSCP 26+30 turned at this switch and are in no lossless class; set "
      "qos.lossless = roce";
  EXPECT_EQ(told("none", kBegin + seconds(9)), roce);
  EXPECT_EQ(told("sonic", kBegin + seconds(9)), roce);
  EXPECT_EQ(told("roce", kBegin + seconds(9)), "none");
  EXPECT_EQ(told("none", kBegin + seconds(9) + minutes(10) - seconds(1)), roce);
  EXPECT_EQ(told("none", kBegin + seconds(9) + minutes(10)), "none");
}

TEST(Unclassed, TellsNothingOfOtherTrafficThatTurns) {
  UnclassedTraffic traffic;
  traffic.take(kSwp7, counts({}), kBegin);
  traffic.take(kSwp7, counts({{8, 5}, {46, 5}, {48, 5}}), kBegin);
  EXPECT_EQ(traffic.text(policy("none"), kBegin), std::nullopt);
  traffic.take(kSwp7, counts({{4, 1}, {48, 6}}), kBegin);
  EXPECT_EQ(traffic.text(policy("none"), kBegin),
            "packets with DSCP 4 turned at this switch and are in no lossless class; set "
            "qos.lossless = sonic");
}

TEST(Unclassed, CountsOfEachPortAreItsOwnAndMayBeginAnew) {
  UnclassedTraffic traffic;
  traffic.take(kSwp7, counts({{26, 9}}), kBegin);
  traffic.take(kSwp8, counts({{26, 50}}), kBegin);
  traffic.take(kSwp7, counts({{26, 2}}), kBegin);
  EXPECT_EQ(traffic.text(policy("none"), kBegin), std::nullopt);
  traffic.forget(kSwp8);
  traffic.take(kSwp8, counts({{26, 60}}), kBegin);
  EXPECT_EQ(traffic.text(policy("none"), kBegin), std::nullopt);
  traffic.take(kSwp7, counts({{26, 3}}), kBegin);
  EXPECT_NE(traffic.text(policy("none"), kBegin), std::nullopt);
}

}  // namespace
}  // namespace lldp::io
