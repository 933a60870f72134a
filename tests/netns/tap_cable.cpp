// SPDX-License-Identifier: Apache-2.0
#include "tests/netns/tap_cable.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace lldp::netns {
namespace {

ifreq request_of(const std::string& name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), sizeof request.ifr_name - 1);
  return request;
}

UniqueFd open_tap(const TapPort& port) {
  const Inside inside(*port.space);
  UniqueFd fd(::open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  ifreq tap = request_of(port.name);
  tap.ifr_flags = IFF_TAP | IFF_NO_PI;
  EXPECT_EQ(::ioctl(fd.get(), TUNSETIFF, &tap), 0) << std::strerror(errno);
  ethtool_cmd settings{};
  settings.cmd = ETHTOOL_SSET;
  ethtool_cmd_speed_set(&settings, port.mbps);
  settings.duplex = DUPLEX_FULL;
  settings.port = PORT_TP;
  ifreq speed = request_of(port.name);
  speed.ifr_data = reinterpret_cast<char*>(&settings);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::ioctl(socket.get(), SIOCETHTOOL, &speed), 0) << std::strerror(errno);
  port.space->ip(fmt::format("link set {} mtu {} up", port.name, port.mtu));
  return fd;
}

}  // namespace

TapCable::TapCable(const TapPort& a, const TapPort& b)
    : ends_{open_tap(a), open_tap(b)},
      stop_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this] { carry(); }) {}

TapCable::~TapCable() {
  const std::uint64_t one = 1;
  if (::write(stop_.get(), &one, sizeof one) != sizeof one) std::abort();
  thread_.join();
}

void TapCable::carry() const {
  std::vector<char> frame(0x10000);
  std::array<pollfd, 3> on{
      {{ends_[0].get(), POLLIN, 0}, {ends_[1].get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while (::poll(on.data(), on.size(), -1) > 0 && on[2].revents == 0)
    for (std::size_t e = 0; e < 2; ++e) {
      if ((on[e].revents & POLLIN) == 0) continue;
      const ssize_t size = ::read(on[e].fd, frame.data(), frame.size());
      // What the other end does not take is lost, as on a cable.
      if (size > 0 && ::write(on[1 - e].fd, frame.data(), static_cast<std::size_t>(size)) < 0)
        continue;
    }
}

}  // namespace lldp::netns
