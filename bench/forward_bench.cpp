// SPDX-License-Identifier: Apache-2.0
// What the programs take from a forwarding rate: UDP with a lossless DSCP through a veth router,
// without and with rules on both ports, in pairs; prints the median of the ratios. Needs root;
// makes its own namespace.
#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "dataplane/factory.hpp"
#include "qos/policy.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/dataplane/wire.hpp"

namespace lldp::dataplane {
namespace {

std::uint64_t received(const char* interface) {
  return std::strtoull(
      output_of(fmt::format("cat /sys/class/net/{}/statistics/rx_packets", interface)).c_str(),
      nullptr, 10);
}

/// Packets per second that reach the far end while as many are sent as go.
double rate(std::chrono::seconds duration) {
  const Wire in("q0");
  const Bytes frame = packet::frame4({.dscp = 43});
  const std::uint64_t before = received("q1");
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < duration)
    for (int i = 0; i < 256; ++i) (void)in.send(frame);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(received("q1") - before) / took.count();
}

constexpr int kPairs = 7;
constexpr std::chrono::seconds kDuration{1};

int run() {
  if (const std::string why = PrivateNet::enter(); !why.empty())
    return fmt::print(stderr, "forward_bench: {}\n", why), 1;
  sh("mount -t sysfs none /sys && ip link set lo up && "
     "ip link add p0 address 02:00:00:00:00:01 type veth peer name q0 address 02:00:00:00:00:02 && "
     "ip link add p1 address 02:00:00:00:00:03 type veth peer name q1 address 02:00:00:00:00:04 && "
     "for i in p0 q0 p1 q1; do ip link set $i up; done; echo 1 >/proc/sys/net/ipv4/ip_forward; "
     "ip addr add 192.0.2.254/24 dev p0; ip addr add 198.51.100.254/24 dev p1; "
     "ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev p1");
  auto backend = make_backend("bpf", {.bpffs = "/nonexistent"});
  if (!backend) return fmt::print(stderr, "{}\n", to_string(backend.error())), 1;
  const auto up = qos::compile(qos::Policy(), {.order = Order::kUp});
  const Ifindex ports[] = {*Ifindex::make(::if_nametoindex("p0")),
                           *Ifindex::make(::if_nametoindex("p1"))};
  std::vector<double> ratios;
  for (int i = 0; i < kPairs; ++i) {
    const double bare = rate(kDuration);
    for (Ifindex p : ports)
      if (auto done = (*backend)->apply(*(*backend)->plan(p, up)); !done)
        return fmt::print(stderr, "{}\n", to_string(done.error())), 1;
    const double ruled = rate(kDuration);
    for (Ifindex p : ports) (void)(*backend)->apply(*(*backend)->plan_removal(p));
    ratios.push_back(ruled / bare);
    fmt::print("{:9.0f} packets/s bare, {:9.0f} with every packet bounced: {:.3f}\n", bare, ruled,
               ratios.back());
  }
  std::ranges::sort(ratios);
  fmt::print("median {:.3f} (bar 0.93)\n", ratios[ratios.size() / 2]);
  return 0;
}

}  // namespace
}  // namespace lldp::dataplane

int main() { return lldp::dataplane::run(); }
