// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pkt_cls.h>
#include <net/if.h>

#include <ostream>

#include "dataplane/bpf/lldp_level_shared.h"
#include "dataplane/bpf/object.hpp"
#include "qos/policy.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/probe.hpp"

namespace lldp::dataplane {

using packet::frame;
using packet::frame4;
using packet::frame6;

// The default classes: 5:dscp43 -> 6:dscp51 -> 0:dscp0.
inline constexpr unsigned kFirst = 43;
inline constexpr unsigned kSecond = 51;
inline constexpr unsigned kLossy = 0;

inline constexpr std::uint32_t kMark = 0xb000;  // lldp_level_shared.h
inline constexpr std::uint32_t kFromUp = kMark | 1;
inline constexpr std::uint32_t marked(unsigned priority) { return kFromUp | (8 | priority) << 6; }

/// The mark of a packet of this class.
inline constexpr std::uint32_t marked_class(unsigned dscp) {
  return dscp == kFirst ? marked(5) : dscp == kSecond ? marked(6) : kFromUp;
}
// Ports with places in the state, and an interface without one.
inline constexpr std::uint32_t kUpPort = 7;
inline constexpr std::uint32_t kDownPort = 8;
inline constexpr std::uint32_t kBond = 9;

inline const Bytes kRouterAlert{0x94, 4, 0, 0};  ///< an option of IPv4

class BpfProgram : public testing::Test {
 protected:
  void SetUp() override {
    probe_ = Probe::open();
    if (!probe_) GTEST_SKIP() << "needs CAP_BPF and CAP_NET_ADMIN";
    know(kUpPort, qos::Tag::of<1>());
    know(kDownPort, qos::Tag());
  }
  void know(std::uint32_t port, qos::Tag tag) {
    ASSERT_TRUE(programs_.need_place(*Ifindex::make(port)));
    programs_.set_tag(*Ifindex::make(port), tag);
  }
  const bpf::Programs::Loaded& of(Order order) {
    auto loaded = programs_.get(qos::compile(qos::Policy(), {.order = order}));
    EXPECT_TRUE(loaded) << to_string(loaded.error());
    return **loaded;
  }
  /// What the program makes of a packet; it must leave the verdict to others.
  Skb in(Order order, Skb skb) {
    EXPECT_EQ(probe_->run(of(order).programs.in, skb), -1);
    return skb;
  }
  Skb out(Order order, Skb skb) {
    EXPECT_EQ(probe_->run(of(order).programs.out, skb), -1);
    return skb;
  }

  std::unique_ptr<Probe> probe_;
  bpf::Programs programs_{std::nullopt};
};

}  // namespace lldp::dataplane
