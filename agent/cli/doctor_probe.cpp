// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/doctor_probe.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace lldp::cli {
namespace {

/// More than any driver has; a number that is larger is none.
constexpr std::uint32_t kMostStrings = 16384;

/// One port, by ethtool's ioctl: older than its netlink, and every driver answers it.
class Ethtool {
 public:
  Ethtool(int fd, const std::string& port) : fd_(fd) {
    std::strncpy(request_.ifr_name, port.c_str(), sizeof request_.ifr_name - 1);
  }
  bool ask(void* command) {
    request_.ifr_data = static_cast<char*>(command);
    return ::ioctl(fd_, SIOCETHTOOL, &request_) == 0;
  }
  std::optional<unsigned> mtu() {
    if (::ioctl(fd_, SIOCGIFMTU, &request_) != 0 || request_.ifr_mtu < 0) return std::nullopt;
    return static_cast<unsigned>(request_.ifr_mtu);
  }
  std::vector<std::string> names(ethtool_stringset set) {
    // The number comes behind the question.
    ethtool_sset_info question{};
    question.cmd = ETHTOOL_GSSET_INFO;
    question.sset_mask = std::uint64_t{1} << set;
    std::vector<char> answer(sizeof question + sizeof(std::uint32_t));
    std::memcpy(answer.data(), &question, sizeof question);
    if (!ask(answer.data())) return {};
    std::memcpy(&question, answer.data(), sizeof question);
    std::uint32_t count = 0;
    std::memcpy(&count, answer.data() + sizeof question, sizeof count);
    if (question.sset_mask == 0 || count > kMostStrings) return {};
    std::vector<char> room(sizeof(ethtool_gstrings) + std::size_t{count} * ETH_GSTRING_LEN);
    ethtool_gstrings head{};
    head.cmd = ETHTOOL_GSTRINGS;
    head.string_set = static_cast<std::uint32_t>(set);
    head.len = count;
    std::memcpy(room.data(), &head, sizeof head);
    if (!ask(room.data())) return {};
    std::vector<std::string> out;
    for (std::uint32_t i = 0; i < count; ++i) {
      const char* name = room.data() + sizeof head + std::size_t{i} * ETH_GSTRING_LEN;
      out.emplace_back(name, ::strnlen(name, ETH_GSTRING_LEN));
    }
    return out;
  }
  std::vector<std::uint64_t> counters(std::uint32_t count) {
    std::vector<std::uint64_t> room(1 + count);  // the header has eight octets
    static_assert(sizeof(ethtool_stats) == sizeof(std::uint64_t));
    ethtool_stats head{};
    head.cmd = ETHTOOL_GSTATS;
    head.n_stats = count;
    std::memcpy(room.data(), &head, sizeof head);
    if (!ask(room.data())) return {};
    room.erase(room.begin());
    return room;
  }

 private:
  int fd_;
  ifreq request_{};
};

}  // namespace

Result<Probe> Probe::open() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return fail(Error{errno, "ethtool", std::strerror(errno)});
  auto dcb = dcbnl::Socket::open();
  if (!dcb) return fail(dcb.error());
  return Probe(std::move(fd), std::move(*dcb));
}

LocalPort Probe::look_at(const std::string& port, unsigned ifindex) {
  LocalPort out{.here = ::if_nametoindex(port.c_str()) == ifindex};
  if (!out.here) return out;
  Ethtool ethtool(socket_.get(), port);
  out.mtu = ethtool.mtu();
  if (auto settings = dcb_.get(port)) out.dcb = std::move(*settings);
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  if (ethtool.ask(&driver))
    out.driver.assign(driver.driver, ::strnlen(driver.driver, sizeof driver.driver));
  ethtool_pauseparam pause{};
  pause.cmd = ETHTOOL_GPAUSEPARAM;
  if (ethtool.ask(&pause))
    out.pause = LocalPort::GlobalPause{pause.rx_pause != 0, pause.tx_pause != 0};
  ethtool_value flags{};
  flags.cmd = ETHTOOL_GPFLAGS;
  if (const auto names = ethtool.names(ETH_SS_PRIV_FLAGS); !names.empty() && ethtool.ask(&flags))
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 32); ++i)
      out.private_flags[names[i]] = (flags.data >> i & 1U) != 0;
  const auto names = ethtool.names(ETH_SS_STATS);
  const auto counters = ethtool.counters(static_cast<std::uint32_t>(names.size()));
  for (std::size_t i = 0; i < std::min(names.size(), counters.size()); ++i) {
    const auto counter = priority_counter(names[i]);
    if (!counter) continue;
    qos::PriorityFrames& counts = counter->pauses ? out.carried.pauses : out.carried.frames;
    auto& count = (counter->received ? counts.received : counts.sent)[counter->priority];
    count = count.value_or(0) + counters[i];
  }
  return out;
}

}  // namespace lldp::cli
