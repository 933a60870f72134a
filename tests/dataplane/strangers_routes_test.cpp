// SPDX-License-Identifier: Apache-2.0
// Routes with a program of others, with the kernel: see strangers_test.cpp for what else they do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>
#include <iterator>
#include <thread>

#include "tests/dataplane/private_net.hpp"
#include "tests/dataplane/strangers.hpp"
#include "tests/netns/refusal.hpp"

namespace lldp::dataplane {
namespace {

using testing::HasSubstr;

struct Route {
  const char* does = "";
  const char* told = "";  ///< empty: it does no harm
  const char* undoes = "ip route flush table 77";
};
constexpr Route kRoutes[] = {
    {"ip route add 198.51.100.0/24 dev p0 encap bpf xmit obj $ROUTE sec lwt_xmit table 77",
     "classify bypassed: a BPF program of a route (198.51.100.0/24 table 77, encap bpf xmit) may "
     "send packets into the ingress of an interface, where they count as come by that one, so that "
     "turns are missed or made wrongly: ip route del 198.51.100.0/24 table 77\n"},
    {"ip -6 route add 2001:db8::/32 dev p0 encap bpf xmit obj $ROUTE sec lwt_xmit table 77",
     "a route (2001:db8::/32 table 77,", "ip -6 route flush table 77"},
    {"ip route add 198.51.100.0/24 table 77 nexthop dev p1 weight 1 nexthop dev p0 encap bpf xmit "
     "obj $ROUTE sec lwt_xmit",
     "a route (198.51.100.0/24 table 77,"},
    {"ip nexthop add id 9 dev p0 encap bpf xmit obj $ROUTE sec lwt_xmit", "a nexthop (id 9, ",
     "ip nexthop del id 9"},
    {"ip route add 198.51.100.0/24 dev p0 encap bpf out obj $ROUTE sec lwt_out table 77", ""},
    {"ip -6 route add 2001:db8::/32 encap seg6 mode encap segs 2001:db8::1 dev p0 table 77", "",
     "ip -6 route flush table 77"},
    {"ip route add 198.51.100.0/24 dev p0 table 77", ""},
    {"ip route add 198.51.100.0/24 table 77 nexthop dev p0 weight 1 nexthop dev p1", ""},
    {"ip nexthop add id 9 dev p0", "", "ip nexthop del id 9"},
};

TEST_P(Strangers, RouteIsToldIfItsProgramMaySendPacketsOn) {
  ::setenv("ROUTE", LLDP_TEST_ROUTE, 1);
  ASSERT_TRUE(sh("ip link set p0 up && ip link set p1 up"));
  const std::array one{port_};
  const auto until = [&](const auto& done) {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    do {
      (void)backend_->take_events();
      if (done(complaints())) return true;
    } while (::poll(&ready, 1, 60000) == 1);
    return false;
  };
  std::size_t left_out = 0;
  for (const Order order : {Order::kUp, Order::kDown}) {
    put(order);
    EXPECT_EQ(complaints(), "");
    for (const Route& r : kRoutes) {
      SCOPED_TRACE(r.does);
      (void)backend_->take_events();
      if (!sh(r.does + std::string(" 2>/dev/null"))) {
        ++left_out;
        continue;
      }
      const auto events = backend_->take_events();
      EXPECT_EQ(std::ranges::count(events.changed, Ifindex()), *r.told == '\0' ? 0 : 1);
      EXPECT_THAT(backend_->glance(one, Backend::Glance::kOfTime),
                  testing::SizeIs(*r.told == '\0' ? 0 : 1));
      const std::string told = complaints();
      EXPECT_THAT(told, HasSubstr(r.told));
      EXPECT_EQ(told.empty(), *r.told == '\0') << told;
      ASSERT_TRUE(sh(r.undoes));
      EXPECT_TRUE(until([](const std::string& now) { return now.empty(); }));
    }
  }
  std::cout << left_out << " of " << 2 * std::size(kRoutes) << " are refused by this kernel\n";
  EXPECT_LT(left_out, 2 * std::size(kRoutes));
}

// As a daemon finds it that starts.
TEST_P(Strangers, RouteIsToldThatWasThereBefore) {
  ::setenv("ROUTE", LLDP_TEST_ROUTE, 1);
  if (!sh("ip link set p0 up && ip route add 198.51.100.0/24 dev p0 encap bpf xmit obj $ROUTE sec "
          "lwt_xmit table 77 2>/dev/null"))
    GTEST_SKIP() << "this kernel runs no program of a route";
  open();
  put(Order::kUp);
  EXPECT_THAT(complaints(), HasSubstr("a route (198.51.100.0/24 table 77,"));
  ASSERT_TRUE(sh("ip route flush table 77"));
}

TEST_P(Strangers, RoutesThatCannotBeReadAreTold) {
  std::thread([&] {
    ASSERT_TRUE(netns::refuse({.name = "filter",
                               .call = SYS_setsockopt,
                               .second = SOL_SOCKET,
                               .third = SO_ATTACH_BPF,
                               .code = EPERM}));
    open();
  }).join();
  put(Order::kUp);
  EXPECT_EQ(complaints(),
            "classify unverified: routes cannot be read (Operation not permitted): one with a BPF "
            "program may send packets past the rules, unseen, so that turns are missed or made "
            "wrongly: allow lldp-leveld CAP_BPF and netlink sockets of NETLINK_ROUTE, which a MAC "
            "policy or a filter of system calls may refuse\n");
}

}  // namespace
}  // namespace lldp::dataplane
