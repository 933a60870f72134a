// SPDX-License-Identifier: Apache-2.0
#include "tlv/topology.hpp"

#include <gtest/gtest.h>

namespace lldp::tlv {
namespace {

using enum DeviceType;
using enum PortType;

TEST(TrClaim, FollowsItsOwnNumbers) {
  EXPECT_EQ(claim_of(Tr{0, 0, 0}), (Claim{kHost, Level::of<0>(), kUplink}));
  EXPECT_EQ(claim_of(Tr{1, 1, 1}), (Claim{kSwitch, Level::of<1>(), kDownlink}));
  EXPECT_EQ(claim_of(Tr{2, 254, 2}), (Claim{kSwitch, Level::of<254>(), kCrosslink}));
  EXPECT_EQ(claim_of(Tr{255, 255, 255}), (Claim{kUnknown, std::nullopt, kUnmarked}));
}

TEST(ContributionClaim, FollowsItsOwnNumbers) {
  EXPECT_EQ(claim_of(Contribution{0, 0, 0}), (Claim{kHost, Level::of<0>(), kUnmarked}));
  EXPECT_EQ(claim_of(Contribution{1, 1, 1}), (Claim{kSwitch, Level::of<1>(), kUplink}));
  EXPECT_EQ(claim_of(Contribution{1, 254, 2}), (Claim{kSwitch, Level::of<254>(), kDownlink}));
}

TEST(Claim, TakesReservedValuesForUnknown) {
  EXPECT_EQ(claim_of(Tr{3, 7, 3}), (Claim{kUnknown, std::nullopt, kUnmarked}));
  EXPECT_EQ(claim_of(Contribution{2, 255, 3}), (Claim{kUnknown, std::nullopt, kUnmarked}));
}

TEST(Claim, NeverTakesASwitchWithoutALevelForAHost) {
  EXPECT_EQ(claim_of(Contribution{1, 0, 0}), (Claim{kSwitch, std::nullopt, kUnmarked}));
  EXPECT_EQ(claim_of(Tr{1, 0, 0}), (Claim{kSwitch, std::nullopt, kUplink}));
  EXPECT_EQ(claim_of(Tr{255, 0, 255}), (Claim{kUnknown, std::nullopt, kUnmarked}));
}

TEST(Claim, DoesNotBelieveAHostOnAnotherLevel) {
  EXPECT_EQ(claim_of(Tr{0, 3, 255}), (Claim{kUnknown, std::nullopt, kUnmarked}));
  EXPECT_EQ(claim_of(Contribution{0, 3, 0}), (Claim{kUnknown, std::nullopt, kUnmarked}));
  EXPECT_EQ(claim_of(Tr{0, 255, 0}), (Claim{kHost, Level::of<0>(), kUplink}));
}

TEST(Claim, HasLevelZeroExactlyForAHostWhateverTheOctets) {
  for (unsigned device = 0; device < 256; ++device) {
    for (unsigned level = 0; level < 256; ++level) {
      const auto d = static_cast<std::uint8_t>(device);
      const auto l = static_cast<std::uint8_t>(level);
      for (const Claim& c : {claim_of(Tr{d, l, 0}), claim_of(Contribution{d, l, 0})}) {
        ASSERT_EQ(c.device == kHost, c.level == Level::of<0>()) << device << ' ' << level;
      }
    }
  }
}

TEST(Claim, SurvivesTheWayOverTheWire) {
  for (const DeviceType device : {kHost, kSwitch, kUnknown}) {
    for (const PortType port : {kUnmarked, kUplink, kDownlink, kCrosslink}) {
      for (unsigned level = 0; level < 256; ++level) {
        Claim claim{device, Level::make(level), port};
        if ((device == kHost) != (level == 0)) continue;     // no device claims that
        if (device == kUnknown) claim.level = std::nullopt;  // a level goes with a known device
        ASSERT_EQ(claim_of(to_tr(claim)), claim);
        if (port == kCrosslink) claim.port = kUnmarked;
        ASSERT_EQ(claim_of(to_contribution({device, claim.level, port})), claim);
      }
    }
  }
}

TEST(Tr, SaysUnknownForWhatNobodyClaims) {
  EXPECT_EQ(to_tr({kUnknown, std::nullopt, kUnmarked}), (Tr{255, 255, 255}));
}

TEST(Contribution, SaysLevelZeroForASwitchWithoutOne) {
  EXPECT_EQ(to_contribution({kSwitch, std::nullopt, kDownlink}), (Contribution{1, 0, 2}));
  EXPECT_EQ(to_contribution({kSwitch, Level::of<2>(), kCrosslink}), (Contribution{1, 2, 0}));
}

}  // namespace
}  // namespace lldp::tlv
