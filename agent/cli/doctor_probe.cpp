// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/doctor_probe.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace lldp::cli {
namespace {

/// Asks the driver of a port with a structure of ethtool's. False: it does not answer.
template <class Command>
bool ask_for(const ethtool::Ask& ask, const std::string& port, Command& command) {
  ifreq request{};
  std::strncpy(request.ifr_name, port.c_str(), sizeof request.ifr_name - 1);
  request.ifr_data = reinterpret_cast<char*>(&command);
  return ask(request);
}

std::optional<unsigned> mtu_of(const std::string& port) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, port.c_str(), sizeof request.ifr_name - 1);
  if (!fd || ::ioctl(fd.get(), SIOCGIFMTU, &request) != 0 || request.ifr_mtu < 0)
    return std::nullopt;
  return static_cast<unsigned>(request.ifr_mtu);
}

qos::ByPriority<std::uint64_t> counts_of(const ethtool::PriorityCounts::Directions& counts) {
  return {.received = counts.received, .sent = counts.sent};
}

}  // namespace

Result<Probe> Probe::open() {
  auto ask = ethtool::open();
  if (!ask) return fail(ask.error());
  auto dcb = dcbnl::Socket::open();
  if (!dcb) return fail(dcb.error());
  return Probe(std::move(*ask), std::move(*dcb));
}

LocalPort Probe::look_at(const std::string& port, unsigned ifindex) {
  LocalPort out{.here = ::if_nametoindex(port.c_str()) == ifindex};
  if (!out.here) return out;
  out.mtu = mtu_of(port);
  if (auto settings = dcb_.get(port)) out.dcb = std::move(*settings);
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  if (ask_for(ask_, port, driver))
    out.driver.assign(driver.driver, ::strnlen(driver.driver, sizeof driver.driver));
  ethtool_pauseparam pause{};
  pause.cmd = ETHTOOL_GPAUSEPARAM;
  if (ask_for(ask_, port, pause))
    out.pause = LocalPort::GlobalPause{pause.rx_pause != 0, pause.tx_pause != 0};
  ethtool_value flags{};
  flags.cmd = ETHTOOL_GPFLAGS;
  if (const auto names = ethtool::names_of(ask_, port, ETH_SS_PRIV_FLAGS);
      !names.empty() && ask_for(ask_, port, flags))
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 32); ++i)
      out.private_flags[names[i]] = (flags.data >> i & 1U) != 0;
  if (const auto* counts = counters_.read(port, ifindex)) {
    out.carried.frames = counts_of(counts->frames);
    out.carried.pauses = counts_of(counts->pauses);
    out.carried.paused_microseconds = counts_of(counts->paused_microseconds);
  }
  return out;
}

}  // namespace lldp::cli
