// SPDX-License-Identifier: Apache-2.0
// The filter of a socket that hears of routes, in the kernel, on messages of ours.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <utility>
#include <vector>

#include "dataplane/bpf/bpf_route.hpp"
#include "dataplane/bpf/object.hpp"
#include "tests/dataplane/route_messages.hpp"

namespace lldp::dataplane::routes {
namespace {

class RouteFilter : public testing::Test {
 protected:
  void SetUp() override {
    const auto filter = bpf::load_route_filter();
    if (!filter && filter.error().code == EPERM) GTEST_SKIP() << "needs CAP_BPF and CAP_NET_ADMIN";
    ASSERT_TRUE(filter) << to_string(filter.error());
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    kernel_ = UniqueFd(ends[0]);
    ours_ = UniqueFd(ends[1]);
    const int program = filter->get();
    ASSERT_EQ(::setsockopt(ours_.get(), SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof program), 0);
  }
  [[nodiscard]] bool passes(const Message& message) const {
    const ByteSpan octets = message.octets();
    EXPECT_EQ(::send(kernel_.get(), octets.data(), octets.size(), 0),
              static_cast<ssize_t>(octets.size()));
    char octet = 0;
    const ssize_t got = ::recv(ours_.get(), &octet, sizeof octet, MSG_TRUNC);
    EXPECT_TRUE(got < 0 || got == static_cast<ssize_t>(octets.size())) << "whole or not at all";
    return got > 0;
  }

  UniqueFd kernel_;
  UniqueFd ours_;
};

TEST_F(RouteFilter, PassesThoseWithABpfProgramAlone) {
  for (const int type : {RTM_NEWROUTE, RTM_DELROUTE}) {
    for (const Encapsulation& bpf : {kXmit, kInOut}) {
      EXPECT_TRUE(passes(route(type).encapsulated(bpf)));
      EXPECT_TRUE(passes(route6(type).encapsulated(bpf)));
    }
    for (const Encapsulation& other : {kPlain, kMpls}) {
      EXPECT_FALSE(passes(route(type).encapsulated(other)));
      EXPECT_FALSE(passes(route6(type).encapsulated(other)));
    }
  }
  for (const int type : {RTM_NEWNEXTHOP, RTM_DELNEXTHOP}) {
    EXPECT_TRUE(passes(nexthop(kXmit, type)));
    EXPECT_FALSE(passes(nexthop(kPlain, type)));
    EXPECT_FALSE(passes(nexthop(kMpls, type)));
  }
}

// A route's nexthops have their attributes within one of its own.
TEST_F(RouteFilter, LooksAtEachPath) {
  for (const std::size_t gateway : {0U, 4U, 16U}) {
    for (const std::size_t paths : {1U, 2U, 3U, 16U, 63U, 64U}) {
      const std::vector<Encapsulation> plain(paths);
      EXPECT_FALSE(passes(route().paths(plain, gateway))) << paths;
      EXPECT_FALSE(passes(route6().paths(std::vector(paths, kMpls), gateway))) << paths;
      for (const std::size_t at : {std::size_t{0}, paths / 2, paths - 1}) {
        std::vector<Encapsulation> one(paths, kMpls);
        one[at] = kXmit;
        EXPECT_TRUE(passes(route().paths(one, gateway))) << paths << ", " << at;
        one = plain;
        one[at] = kXmit;
        Message message = route(RTM_DELROUTE);
        EXPECT_TRUE(passes(message.paths(one, gateway).attribute(RTA_PRIORITY, 7)));
      }
    }
  }
}

// An interface may have the number that is that of BPF, and a nexthop flags that read as a type.
TEST_F(RouteFilter, TakesNoNexthopForAnAttribute) {
  Message message = route();
  nlattr* const nest = nla_nest_start(message.raw(), RTA_MULTIPATH);
  for (int i = 0; i < 4; ++i) {
    constexpr rtnexthop kBare{.rtnh_len = sizeof(rtnexthop),
                              .rtnh_flags = RTA_ENCAP_TYPE,
                              .rtnh_hops = 0,
                              .rtnh_ifindex = LWTUNNEL_ENCAP_BPF};
    message.add(kBare);
  }
  nla_nest_end(message.raw(), nest);
  EXPECT_FALSE(passes(message));
}

TEST_F(RouteFilter, PassesMoreThanItLooksAt) {
  EXPECT_FALSE(passes(route().paths(std::vector<Encapsulation>(64))));
  EXPECT_TRUE(passes(route().paths(std::vector<Encapsulation>(65))));
}

TEST_F(RouteFilter, PassesListsAndRefusals) {
  EXPECT_TRUE(passes(route(RTM_NEWROUTE, NLM_F_MULTI)));
  EXPECT_TRUE(passes(end_of_list(7)));
  Message refusal(NLMSG_ERROR, 0);
  EXPECT_TRUE(passes(refusal.add(nlmsgerr{})));
}

TEST_F(RouteFilter, DropsOtherNewsAndWhatIsCutOff) {
  constexpr int kBuckets = 116;  // RTM_NEWNEXTHOPBUCKET, Linux 5.13
  for (const int type : {int{RTM_NEWLINK}, kBuckets}) {
    Message other(type, 0);
    EXPECT_FALSE(passes(other.add(rtmsg{}).encapsulated(kXmit)));
  }
  const Message whole = [] {
    Message message = route();
    message.paths({kPlain, kPlain});
    return message;
  }();
  for (std::size_t size = 1; size < whole.octets().size(); ++size) {
    ASSERT_EQ(::send(kernel_.get(), whole.octets().data(), size, 0), static_cast<ssize_t>(size));
    char octet = 0;
    EXPECT_LE(::recv(ours_.get(), &octet, sizeof octet, 0), 0) << size;
  }
}

}  // namespace
}  // namespace lldp::dataplane::routes
