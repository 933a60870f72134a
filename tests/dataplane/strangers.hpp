// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <net/if.h>

#include <array>
#include <memory>
#include <string>

#include "dataplane/bpf/kernel.hpp"
#include "dataplane/factory.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/hooked.hpp"
#include "tests/dataplane/private_net.hpp"

namespace lldp::dataplane {

/// An up port p0, and a port p1 beside it.
class Strangers : public testing::TestWithParam<Hooked> {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    if (GetParam() == Hooked::kTcx && !bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
    sh("for i in p0 p1 br0 bond0; do ip link del $i 2>/dev/null; done");
    ASSERT_TRUE(
        sh("for i in 0 1; do ip link add p$i up type veth peer name q$i; done; ip link set q0 up"));
    port_ = *Ifindex::make(::if_nametoindex("p0"));
    open();
    put(Order::kUp);
  }
  void open() {
    backend_.reset();
    auto backend = make_backend(
        "bpf", {.bpf = {.bpffs = PrivateNet::bpffs(),
                        .hook = GetParam() == Hooked::kTcx ? BpfOptions::Hook::kTcx
                                                           : BpfOptions::Hook::kClsact}});
    ASSERT_TRUE(backend) << to_string(backend.error());
    backend_ = std::move(*backend);
  }
  void put(Order order) {
    order_ = order;
    const auto plan = backend_->plan(ref(port_), rules_of(order));
    ASSERT_TRUE(plan) << to_string(plan.error());
    ASSERT_TRUE(finish(*backend_, *plan));
    sh("tc qdisc add dev p0 clsact 2>/dev/null");
  }
  /// As "classify bypassed: TEXT"; empty: all is done.
  std::string verified() {
    const auto reading = backend_->verify(ref(port_), rules_of(order_));
    EXPECT_TRUE(reading) << to_string(reading.error());
    return reading ? complaints_of(*reading) : std::string();
  }
  /// The same of now, whether an event has told of it or not.
  std::string complaints() {
    (void)backend_->glance(std::array{port_}, Backend::Glance::kOfQuestion);
    return verified();
  }

  std::unique_ptr<Backend> backend_;
  Ifindex port_{};
  Order order_ = Order::kUp;
};

}  // namespace lldp::dataplane
