// SPDX-License-Identifier: Apache-2.0
#include "agent/links/mac_phy.hpp"

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace lldp::io {
namespace {

constexpr std::size_t kMostWords = 127;  ///< of one mask: their number is a signed octet

/// A mode of ethtool and what the TLV calls it: ifMauAutoNegCapAdvertisedBits, RFC 4836.
struct Mode {
  unsigned bit = 0;
  std::uint16_t advertised = 0;
};
constexpr Mode kModes[] = {
    {ETHTOOL_LINK_MODE_10baseT_Half_BIT, 0x4000},    {ETHTOOL_LINK_MODE_10baseT_Full_BIT, 0x2000},
    {ETHTOOL_LINK_MODE_100baseT_Half_BIT, 0x0800},   {ETHTOOL_LINK_MODE_100baseT_Full_BIT, 0x0400},
    {ETHTOOL_LINK_MODE_1000baseT_Half_BIT, 0x0002},  {ETHTOOL_LINK_MODE_1000baseT_Full_BIT, 0x0001},
    {ETHTOOL_LINK_MODE_1000baseKX_Full_BIT, 0x0004}, {ETHTOOL_LINK_MODE_Pause_BIT, 0x0080},
    {ETHTOOL_LINK_MODE_Asym_Pause_BIT, 0x0040}};
/// Of a mode that has no bit there.
constexpr std::uint16_t kOther = 0x8000;
/// No modes, but connectors.
constexpr unsigned kNoModes[] = {ETHTOOL_LINK_MODE_Autoneg_BIT,  ETHTOOL_LINK_MODE_TP_BIT,
                                 ETHTOOL_LINK_MODE_AUI_BIT,      ETHTOOL_LINK_MODE_MII_BIT,
                                 ETHTOOL_LINK_MODE_FIBRE_BIT,    ETHTOOL_LINK_MODE_BNC_BIT,
                                 ETHTOOL_LINK_MODE_Backplane_BIT};

/// dot3MauType of a link of this speed: by its connector, else by default.
struct Medium {
  std::uint32_t speed = 0;
  std::uint16_t full = 0;
  std::uint16_t half = 0;
  std::uint16_t fibre = 0;
  std::uint16_t fibre_half = 0;
  std::uint16_t coax = 0;  ///< or direct attach
  std::uint16_t coax_half = 0;
  std::uint8_t coax_port = PORT_DA;
  std::uint16_t other = 0;  ///< where the connector is none of those
};
constexpr Medium kMedia[] = {{SPEED_10, 11, 10, 13, 12, 4, 4, PORT_BNC, 11},
                             {SPEED_100, 16, 15, 18, 17, 20, 19, PORT_BNC, 16},
                             {SPEED_1000, 30, 29, 22, 21, 30, 29, PORT_DA, 30},
                             {SPEED_2500, 103, 103, 103, 103, 103, 103, PORT_DA, 103},
                             {SPEED_5000, 104, 104, 104, 104, 104, 104, PORT_DA, 104},
                             {SPEED_10000, 54, 54, 35, 35, 41, 41, PORT_DA, 0},
                             {SPEED_25000, 94, 94, 114, 114, 88, 88, PORT_DA, 0},
                             {SPEED_40000, 71, 71, 74, 74, 71, 71, PORT_DA, 71},
                             {SPEED_50000, 117, 117, 121, 121, 117, 117, PORT_DA, 117},
                             {SPEED_100000, 98, 98, 77, 77, 98, 98, PORT_DA, 98}};

std::uint16_t mau_type(const ethtool_link_settings& settings) {
  constexpr std::uint16_t kAui = 1;
  if (settings.port == PORT_AUI) return kAui;
  const auto* m = std::ranges::find(kMedia, settings.speed, &Medium::speed);
  if (m == std::end(kMedia)) return 0;
  const bool full = settings.duplex == DUPLEX_FULL;
  if (settings.port == PORT_FIBRE) return full ? m->fibre : m->fibre_half;
  if (settings.port == m->coax_port) return full ? m->coax : m->coax_half;
  if (settings.port == PORT_TP || m->other == m->full) return full ? m->full : m->half;
  return m->other;
}

constexpr auto kUnknownSpeed = static_cast<std::uint32_t>(SPEED_UNKNOWN);

bool has(const std::uint32_t* modes, unsigned bit, std::size_t words) {
  return bit / 32 < words && (modes[bit / 32] >> bit % 32 & 1U) != 0;
}

}  // namespace

core::MacPhy mac_phy_of(const ethtool_link_settings& settings, const std::uint32_t* modes) {
  const auto words = static_cast<std::size_t>(std::max<int>(settings.link_mode_masks_nwords, 0));
  const std::uint32_t* advertised = modes + words;
  core::MacPhy out{.autoneg_supported = has(modes, ETHTOOL_LINK_MODE_Autoneg_BIT, words),
                   .autoneg_enabled = settings.autoneg != AUTONEG_DISABLE,
                   .mau_type = mau_type(settings),
                   .speed_mbps = settings.speed == kUnknownSpeed ? 0 : settings.speed};
  for (unsigned bit = 0; bit < 32 * words; ++bit) {
    if (!has(advertised, bit, words) || std::ranges::find(kNoModes, bit) != std::end(kNoModes))
      continue;
    const auto* mode = std::ranges::find(kModes, bit, &Mode::bit);
    out.advertised |= mode == std::end(kModes) ? kOther : mode->advertised;
  }
  return out;
}

Result<LinkSettings> LinkSettings::open() {
  // Whatever its family, a socket leads to the interfaces of its network namespace.
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return fail(Error{errno, "ethtool", std::strerror(errno)});
  return LinkSettings(std::move(fd));
}

std::optional<core::MacPhy> LinkSettings::ask(const std::string& name) const {
  constexpr std::size_t kHead = sizeof(ethtool_link_settings) / sizeof(std::uint32_t);
  alignas(ethtool_link_settings) std::array<std::uint32_t, kHead + 3 * kMostWords> request{};
  auto* settings = reinterpret_cast<ethtool_link_settings*>(request.data());
  ifreq interface {};
  if (name.size() >= sizeof interface.ifr_name) return std::nullopt;
  std::copy(name.begin(), name.end(), interface.ifr_name);
  interface.ifr_data = reinterpret_cast<char*>(request.data());
  settings->cmd = ETHTOOL_GLINKSETTINGS;
  // First it says, as a negative number, how many words its masks have.
  if (::ioctl(fd_.get(), SIOCETHTOOL, &interface) != 0) return std::nullopt;
  const int words = -settings->link_mode_masks_nwords;
  if (words <= 0) return std::nullopt;
  settings->link_mode_masks_nwords = static_cast<std::int8_t>(words);
  if (::ioctl(fd_.get(), SIOCETHTOOL, &interface) != 0) return std::nullopt;
  return mac_phy_of(*settings, request.data() + kHead);
}

}  // namespace lldp::io
