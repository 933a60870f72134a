// SPDX-License-Identifier: Apache-2.0
#include "agent/links/mac_phy.hpp"

#include <gtest/gtest.h>

#include <array>

namespace lldp::io {
namespace {

struct Case {
  const char* name = "";
  std::uint32_t speed = 0;
  std::uint8_t duplex = DUPLEX_FULL;
  std::uint8_t port = PORT_TP;
  std::uint16_t mau_type = 0;
  friend void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }
};
class MauType : public testing::TestWithParam<Case> {};
TEST_P(MauType, IsAsLldpdHasIt) {
  ethtool_link_settings settings{};
  settings.speed = GetParam().speed;
  settings.duplex = GetParam().duplex;
  settings.port = GetParam().port;
  const core::MacPhy told = mac_phy_of(settings, nullptr);
  EXPECT_EQ(told.mau_type, GetParam().mau_type);
  EXPECT_EQ(told.speed_mbps, GetParam().speed == 0xffff'ffff ? 0 : GetParam().speed);
}
constexpr Case kCases[] = {{"Copper10G", SPEED_10000, DUPLEX_FULL, PORT_TP, 54},
                           {"Fibre10G", SPEED_10000, DUPLEX_FULL, PORT_FIBRE, 35},
                           {"DirectAttach25G", SPEED_25000, DUPLEX_FULL, PORT_DA, 88},
                           {"Other25G", SPEED_25000, DUPLEX_FULL, PORT_OTHER, 0},
                           {"Fibre100G", SPEED_100000, DUPLEX_FULL, PORT_FIBRE, 77},
                           {"Other100G", SPEED_100000, DUPLEX_FULL, PORT_OTHER, 98},
                           {"Half100M", SPEED_100, DUPLEX_HALF, PORT_TP, 15},
                           {"Coax10M", SPEED_10, DUPLEX_HALF, PORT_BNC, 4},
                           {"Fibre1GHalf", SPEED_1000, DUPLEX_HALF, PORT_FIBRE, 21},
                           {"Aui", SPEED_10, DUPLEX_FULL, PORT_AUI, 1},
                           {"Speed400G", SPEED_400000, DUPLEX_FULL, PORT_FIBRE, 0},
                           {"NoCarrier", 0xffff'ffff, DUPLEX_UNKNOWN, PORT_TP, 0}};
INSTANTIATE_TEST_SUITE_P(Links, MauType, testing::ValuesIn(kCases),
                         [](const auto& c) { return c.param.name; });

TEST(MacPhy, TellsWhatIsSupportedAndAdvertised) {
  std::array<std::uint32_t, 6> modes{};
  const auto set = [&](std::size_t first, unsigned bit) {
    modes[first + bit / 32] |= 1U << bit % 32;
  };
  set(0, ETHTOOL_LINK_MODE_Autoneg_BIT);
  set(2, ETHTOOL_LINK_MODE_Autoneg_BIT);  // no mode
  set(2, ETHTOOL_LINK_MODE_1000baseT_Full_BIT);
  set(2, ETHTOOL_LINK_MODE_Pause_BIT);
  ethtool_link_settings settings{};
  settings.link_mode_masks_nwords = 2;
  settings.autoneg = AUTONEG_ENABLE;
  EXPECT_EQ(mac_phy_of(settings, modes.data()), (core::MacPhy{true, true, 0x0081, 0, 0}));
  set(2, ETHTOOL_LINK_MODE_25000baseCR_Full_BIT);  // has no bit of its own
  EXPECT_EQ(mac_phy_of(settings, modes.data()).advertised, 0x8081);
}

TEST(LinkSettings, OfNoInterfaceAreNotTold) {
  const auto links = LinkSettings::open();
  ASSERT_TRUE(links);
  EXPECT_EQ(links->ask("none-such"), std::nullopt);
  EXPECT_EQ(links->ask(std::string(100, 'x')), std::nullopt);
}

}  // namespace
}  // namespace lldp::io
