// SPDX-License-Identifier: Apache-2.0
// Reading the PFC counters of a port beside a bare loop over the same ioctl, in the same run, in a
// network namespace of its own (root). The driver is veth's; its counters are given the names that
// mlx5 has, for veth counts nothing of priorities. Exit status 1: more than the bar.
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "os/ethtool.hpp"

namespace {

using namespace lldp;
using Clock = std::chrono::steady_clock;

constexpr double kBar = 1.1;
constexpr int kRounds = 400;
constexpr int kReadings = 100;
constexpr const char* kPort = "bench0";

/// Nanoseconds for one of `kReadings`.
template <class Read>
double time_of(Read read) {
  const auto start = Clock::now();
  for (int i = 0; i < kReadings; ++i) read();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kReadings;
}

/// The first 48 counters are those of mlx5's eight priorities.
void rename(char* names, std::uint32_t count) {
  const char* const kForms[] = {"rx_prio%u_pause",          "tx_prio%u_pause",
                                "rx_prio%u_pause_duration", "tx_prio%u_pause_duration",
                                "rx_prio%u_packets",        "tx_prio%u_packets"};
  for (unsigned i = 0; i < std::min<std::uint32_t>(count, 48); ++i)
    std::snprintf(names + std::size_t{i} * ETH_GSTRING_LEN, ETH_GSTRING_LEN, kForms[i / 8], i % 8);
}

}  // namespace

int main() {
  if (::unshare(CLONE_NEWNET) != 0 ||
      std::system("ip link add bench0 numtxqueues 8 numrxqueues 8 type veth peer name bench1 "
                  "numtxqueues 8 numrxqueues 8") != 0) {
    std::puts("ethtool_bench: left out: no network namespace of its own, or no veth");
    return 0;
  }
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ethtool::PriorityCounters counters([fd](ifreq& request) {
    if (::ioctl(fd, SIOCETHTOOL, &request) != 0) return false;
    ethtool_gstrings head{};
    std::memcpy(&head, request.ifr_data, sizeof head);
    if (head.cmd == ETHTOOL_GSTRINGS) rename(request.ifr_data + sizeof head, head.len);
    return true;
  });
  const auto names =
      ethtool::names_of([fd](ifreq& request) { return ::ioctl(fd, SIOCETHTOOL, &request) == 0; },
                        kPort, ETH_SS_STATS);
  const auto* counts = counters.read(kPort, 2);
  if (counts == nullptr || names.size() < 48) {
    std::printf("ethtool_bench: veth has %zu counters only\n", names.size());
    return 1;
  }

  std::vector<std::uint64_t> room(1 + names.size());
  ifreq request{};
  std::strncpy(request.ifr_name, kPort, sizeof request.ifr_name - 1);
  request.ifr_data = reinterpret_cast<char*>(room.data());
  std::vector<double> bare;
  std::vector<double> ours;
  for (int round = 0; round < kRounds; ++round) {
    bare.push_back(time_of([&] {
      ethtool_stats head{};
      head.cmd = ETHTOOL_GSTATS;
      head.n_stats = static_cast<std::uint32_t>(names.size());
      std::memcpy(room.data(), &head, sizeof head);
      if (::ioctl(fd, SIOCETHTOOL, &request) != 0) std::abort();
    }));
    ours.push_back(time_of([&] {
      if (counters.read(kPort, 2) == nullptr) std::abort();
    }));
  }
  // The least: what else the machine does meanwhile is in neither.
  const double ours_ns = std::ranges::min(ours);
  const double bare_ns = std::ranges::min(bare);
  const double ratio = ours_ns / bare_ns;
  std::printf(
      "pause counters of a port with %zu counters: %.0f ns, bare ioctl %.0f ns: %.2fx (bar "
      "%.2fx)\n",
      names.size(), ours_ns, bare_ns, ratio, kBar);
  return ratio <= kBar ? 0 : 1;
}
