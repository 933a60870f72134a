// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>

#include "dataplane/bpf/bpf.hpp"
#include "dataplane/bpf/kernel.hpp"
#include "dataplane/factory.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/dataplane/wire.hpp"

namespace lldp::dataplane {

/// A netlink request of this type fails, the n-th from now on; the kernel never sees it.
struct RefusedRequest {
  int type = 0;
  int after = 0;
};
extern RefusedRequest refused_request;
/// Something that happens right before the next netlink request of this type.
struct Meanwhile {
  int type = -1;
  std::function<void()> happens{};
};
extern Meanwhile meanwhile;
/// The so-manieth call from now on, of bpf(2), mmap(2) or a netlink request, fails, or that and all
/// after it.
enum class Refuse { kNone, kOne, kAllFromThere };
struct RefuseCall {
  int left = 0;  ///< calls until then, that one counted; 0 and less: it has been refused
  Refuse which = Refuse::kNone;
};
extern RefuseCall refuse_call;

using Tags = std::initializer_list<packet::Tag>;
/// Frames between the far ends of p0 and p1, as a bridge leaves them.
inline Bytes across4(const packet::Ipv4& h, Tags tags = {}) {
  return packet::readdressed(packet::frame4(h, tags), 4, 2);
}
inline Bytes across6(const packet::Ipv6& h, Tags tags = {}) {
  return packet::readdressed(packet::frame6(h, tags), 4, 2);
}

enum class Means { kAuto, kClsact, kClsactWithoutBpffs, kClsactAndQueues, kTcx };
inline std::ostream& operator<<(std::ostream& os, Means m) {
  switch (m) {
    case Means::kAuto:
      return os << "Auto";
    case Means::kClsact:
      return os << "Clsact";
    case Means::kClsactWithoutBpffs:
      return os << "ClsactNoBpffs";
    case Means::kClsactAndQueues:
      return os << "ClsactAndQueues";
    case Means::kTcx:
      return os << "Tcx";
  }
  return os;
}

inline BpfOptions::Hook hook_of(Means m) {
  return m == Means::kAuto  ? BpfOptions::Hook::kAuto
         : m == Means::kTcx ? BpfOptions::Hook::kTcx
                            : BpfOptions::Hook::kClsact;
}

/// The same on every hook: a switch with ports p0 and p1, whose wires are held by their other ends.
class BpfBackend : public testing::TestWithParam<Means> {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    if (GetParam() == Means::kTcx && !bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
    for (const char* n : {"p0", "p1", "br0"}) sh("ip link del " + std::string(n) + " 2>/dev/null");
    std::error_code none;
    std::filesystem::remove_all(PrivateNet::bpffs() + "/lldp-level", none);
    // The switch's addresses end in 1 and 3, those of its neighbors in 2 and 4.
    ASSERT_TRUE(
        sh("ip link add p0 address 02:00:00:00:00:01 type veth peer name q0 address "
           "02:00:00:00:00:02 &&"
           "ip link add p1 address 02:00:00:00:00:03 type veth peer name q1 address "
           "02:00:00:00:00:04 &&"
           "for i in lo p0 q0 p1 q1; do ip link set $i up; done &&"
           "echo 1 >/proc/sys/net/ipv4/conf/all/forwarding &&"
           "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"));
    backend_ = open();
    ASSERT_TRUE(backend_);
    p0_ = *Ifindex::make(::if_nametoindex("p0"));
    p1_ = *Ifindex::make(::if_nametoindex("p1"));
  }
  static std::unique_ptr<Backend> open(Means means = GetParam()) {
    const bool pins = means != Means::kClsactWithoutBpffs && means != Means::kClsactAndQueues;
    auto backend =
        make_backend("bpf", {.bpf = {.bpffs = pins ? PrivateNet::bpffs() : "/nonexistent",
                                     .hook = hook_of(means),
                                     .queues = means == Means::kClsactAndQueues}});
    EXPECT_TRUE(backend) << to_string(backend.error());
    return backend ? std::move(*backend) : nullptr;
  }
  void put(Ifindex port, const qos::Ruleset& rules) {
    const auto plan = backend_->plan(ref(port), rules);
    ASSERT_TRUE(plan) << to_string(plan.error());
    const auto done = finish(*backend_, *plan);
    ASSERT_TRUE(done) << to_string(done.error());
  }
  void put(Order p0, Order p1) {
    put(p0_, rules_of(p0));
    put(p1_, rules_of(p1));
  }
  void flush() {
    for (Ifindex port : numbers_of(*backend_->ports())) {
      const auto plan = backend_->plan_removal(ref(port));
      ASSERT_TRUE(plan) << to_string(plan.error());
      const auto done = finish(*backend_, *plan);
      ASSERT_TRUE(done) << to_string(done.error());
    }
  }
  /// A router between the subnets of packet::ipv4 and packet::ipv6; `vlan`: behind VLAN interfaces.
  static void route(const std::string& vlan = "", const std::string& kind = "p") {
    const std::string in = kind + "0" + vlan;
    const std::string out = kind + "1" + vlan;
    ASSERT_TRUE(sh("ip addr add 192.0.2.254/24 dev " + in +
                   " && ip addr add 198.51.100.254/24 dev " + out +
                   " && ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev " + out +
                   " && ip -6 route replace 3031:3233::/32 dev " + out +
                   " && ip -6 neigh replace 3031:3233:3435:3637:3839:3a3b:3c3d:3e3f lladdr "
                   "02:00:00:00:00:04 dev " +
                   out));
  }
  static void bridge() {
    ASSERT_TRUE(
        sh("ip link add br0 up type bridge && ip link set p0 master br0 && ip link set p1 master "
           "br0"));
  }
  /// The n-th request of this type is refused while this lives.
  struct Refusal {
    explicit Refusal(int type, int n = 1) { refused_request = {type, n}; }
    ~Refusal() { refused_request = {}; }
  };
  static std::string filters_of(const std::string& port) {
    return output_of("tc filter show dev " + port + " ingress; tc filter show dev " + port +
                     " egress");
  }
  /// What comes out at q1 of what goes in at q0.
  static std::optional<Bytes> through(const Bytes& frame) {
    const Wire in("q0");
    const Wire out("q1");
    EXPECT_TRUE(in.send(frame));
    return out.receive();
  }

  [[nodiscard]] Bpf& bpf() { return static_cast<Bpf&>(*backend_); }

  std::unique_ptr<Backend> backend_;
  Ifindex p0_{};
  Ifindex p1_{};
};

/// Packets of class 5 from q0 to q1 of a bridge, one after the other until finish(): each has to
/// come out changed.
class Stream {
 public:
  Stream()
      : sender_([this] {
          const Bytes frame = across4({.dscp = 43});
          while (!done_)  // few enough on their way that no queue overflows
            if (sent_ - changed_ - missed_ < 200 && in_.send(frame)) ++sent_;
        }),
        receiver_([this] {
          const Bytes right = across4({.dscp = 51});
          while (const auto frame = out_.receive(300)) ++(*frame == right ? changed_ : missed_);
        }) {}
  void finish() {
    done_ = true;
    sender_.join();
    receiver_.join();
  }
  [[nodiscard]] std::size_t sent() const { return sent_; }
  [[nodiscard]] std::size_t changed() const { return changed_; }
  [[nodiscard]] std::size_t missed() const { return missed_; }

 private:
  const Wire in_{"q0"};
  const Wire out_{"q1"};
  std::atomic<bool> done_ = false;
  std::atomic<std::size_t> sent_ = 0;
  std::atomic<std::size_t> changed_ = 0;
  std::atomic<std::size_t> missed_ = 0;
  std::thread sender_;
  std::thread receiver_;
};

}  // namespace lldp::dataplane
