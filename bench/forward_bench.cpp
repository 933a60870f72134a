// SPDX-License-Identifier: Apache-2.0
// What the programs take from a forwarding rate: UDP with a lossless DSCP through a veth router,
// without and with rules on both ports, in pairs; prints the median of the ratios. Needs root;
// makes its own namespace. `forward_bench clsact` and `forward_bench tcx` stay on one
// hook.
//
// A veth router runs in its sender's context, so the sender's CPU time is what a packet costs, and
// other work on the machine takes no part in it; sending is in it, with and without rules.
#include <fmt/format.h>
#include <net/if.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/bpf/bpf.hpp"
#include "dataplane/factory.hpp"
#include "qos/policy.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/ports.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/dataplane/wire.hpp"

namespace lldp::dataplane {
namespace {

std::uint64_t received(const char* interface) {
  return std::strtoull(
      output_of(fmt::format("cat /sys/class/net/{}/statistics/rx_packets", interface)).c_str(),
      nullptr, 10);
}

std::chrono::nanoseconds cpu_time() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

constexpr int kPairs = 41;
constexpr std::uint64_t kPackets = 100'000;

/// Packets that reach the far end per second of CPU time.
double rate(const Wire& in, const Bytes& frame) {
  const std::uint64_t before = received("q1");
  const auto start = cpu_time();
  for (std::uint64_t i = 0; i < kPackets; ++i) (void)in.send(frame);
  const std::chrono::duration<double> took = cpu_time() - start;
  const std::uint64_t arrived = received("q1") - before;
  if (arrived < kPackets || arrived > kPackets + 10)  // the kernel's own few come on top
    fmt::print(stderr, "forward_bench: {} of {} packets arrived\n", arrived, kPackets);
  return static_cast<double>(arrived) / took.count();
}

int run(BpfOptions::Hook hook) {
  if (const std::string why = PrivateNet::enter(); !why.empty())
    return fmt::print(stderr, "forward_bench: {}\n", why), 1;
  // The next hop's address is not q1's: the far end counts a packet and drops it, and does not
  // forward it in turn.
  sh("mount -t sysfs none /sys && ip link set lo up && "
     "ip link add p0 address 02:00:00:00:00:01 type veth peer name q0 address 02:00:00:00:00:02 && "
     "ip link add p1 address 02:00:00:00:00:03 type veth peer name q1 address 02:00:00:00:00:04 && "
     "for i in p0 q0 p1 q1; do ip link set $i up; done; echo 1 >/proc/sys/net/ipv4/ip_forward; "
     "ip addr add 192.0.2.254/24 dev p0; ip addr add 198.51.100.254/24 dev p1; "
     "ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:05 dev p1");
  auto backend = make_backend("bpf", {.bpf = {.bpffs = PrivateNet::bpffs(), .hook = hook}});
  if (!backend) return fmt::print(stderr, "{}\n", to_string(backend.error())), 1;
  const auto up = qos::compile(qos::Policy(), {.order = Order::kUp});
  const Ifindex ports[] = {*Ifindex::make(::if_nametoindex("p0")),
                           *Ifindex::make(::if_nametoindex("p1"))};
  const Wire in("q0");
  const Bytes frame = packet::frame4({.dscp = 43});
  std::vector<double> bares;
  std::vector<double> ratios;
  for (int i = 0; i < kPairs; ++i) {
    const double bare = rate(in, frame);
    for (Ifindex p : ports)
      if (auto done = finish(**backend, *(*backend)->plan(ref(p), up)); !done)
        return fmt::print(stderr, "{}\n", to_string(done.error())), 1;
    for (Ifindex p : ports)
      if (auto& bpf = static_cast<Bpf&>(**backend); bpf.migrate(p) != bpf.migrates())
        return fmt::print(stderr, "the rules do not move to TCX\n"), 1;
    const double ruled = rate(in, frame);
    for (Ifindex p : ports) (void)finish(**backend, *(*backend)->plan_removal(ref(p)));
    bares.push_back(bare);
    ratios.push_back(ruled / bare);
  }
  std::ranges::sort(bares);
  std::ranges::sort(ratios);
  const auto quantile = [](const std::vector<double>& v, double q) {
    return v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1))];
  };
  fmt::print(
      "{:.0f} packets/s bare; with every packet bounced {:.3f} of it ({:.3f} to {:.3f}), bar "
      "0.93\n",
      quantile(bares, 0.5), quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75));
  return 0;
}

}  // namespace
}  // namespace lldp::dataplane

int main(int argc, char** argv) {
  using Hook = lldp::dataplane::BpfOptions::Hook;
  const std::string_view hook = argc > 1 ? argv[1] : "";
  return lldp::dataplane::run(hook == "tcx"      ? Hook::kTcx
                              : hook == "clsact" ? Hook::kClsact
                                                 : Hook::kAuto);
}
