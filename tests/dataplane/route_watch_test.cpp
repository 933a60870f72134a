// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/route_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <vector>

#include "tests/dataplane/route_messages.hpp"

namespace lldp::dataplane::routes {
namespace {

using bpf::BpfRoute;

/// Routes, and the kernel's end of their socket.
class RouteWatch : public testing::Test {
 protected:
  /// The socket of the routes; the one before is lost.
  Result<UniqueFd> make() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()),
              0);
    kernel_ = UniqueFd(ends[0]);
    return UniqueFd(ends[1]);
  }
  void open() {
    auto routes = bpf::RouteWatch::open([this] { return make(); });
    ASSERT_TRUE(routes);
    routes_.emplace(std::move(*routes));
  }
  void say(const Message& message) {
    const ByteSpan octets = message.octets();
    ASSERT_EQ(::send(kernel_.get(), octets.data(), octets.size(), 0),
              static_cast<ssize_t>(octets.size()));
  }
  [[nodiscard]] bool is_readable() const {
    pollfd ready{.fd = routes_->fd(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 0) == 1;
  }
  /// The family that is asked about, or AF_MAX for nexthops; -1: nothing is.
  int asked() {
    struct {
      nlmsghdr head;
      std::uint8_t family;
      std::array<char, 64> rest;
    } question{};
    if (::recv(kernel_.get(), &question, sizeof question, 0) <= 0) return -1;
    EXPECT_NE(question.head.nlmsg_flags & NLM_F_DUMP, 0);
    sequence_ = question.head.nlmsg_seq;
    return question.head.nlmsg_type == RTM_GETNEXTHOP ? AF_MAX : question.family;
  }
  /// As is asked next.
  int asked_later() {
    pollfd ready{.fd = routes_->fd(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 60000);
    (void)routes_->take();
    return asked();
  }
  /// Answers all three lists. The first was asked for already.
  void list(const std::vector<Encapsulation>& ipv4, int flags = 0) {
    for (const Encapsulation& one : ipv4)
      say(route(RTM_NEWROUTE, NLM_F_MULTI | flags, sequence_).encapsulated(one));
    say(end_of_list(sequence_));
    (void)routes_->take();
    ASSERT_EQ(asked(), AF_INET6);
    say(end_of_list(sequence_));
    (void)routes_->take();
    ASSERT_EQ(asked(), AF_MAX);
    say(end_of_list(sequence_));
  }

  UniqueFd kernel_;
  std::optional<bpf::RouteWatch> routes_;
  std::uint32_t sequence_ = 0;
};

const std::optional<BpfRoute> kRoute = BpfRoute{"route", "198.51.100.0/24 table 1000"};

TEST_F(RouteWatch, AreNotKnownUntilAllWereListed) {
  open();
  ASSERT_EQ(asked(), AF_INET);
  EXPECT_EQ(routes_->unread(), EINPROGRESS);
  say(route(RTM_NEWROUTE, NLM_F_MULTI, sequence_));
  EXPECT_FALSE(routes_->take());
  list({kPlain, kInOut});
  EXPECT_EQ(routes_->unread(), EINPROGRESS);
  EXPECT_TRUE(routes_->take());
  EXPECT_EQ(routes_->unread(), 0);
  EXPECT_EQ(routes_->found(), std::nullopt);
  EXPECT_FALSE(is_readable());
  EXPECT_EQ(asked(), -1);
}

TEST_F(RouteWatch, WithAProgramAreFoundInEachList) {
  for (const int where : {AF_INET, AF_INET6, AF_MAX}) {
    open();
    std::optional<BpfRoute> wanted;
    for (const int list : {AF_INET, AF_INET6, AF_MAX}) {
      ASSERT_EQ(asked(), list);
      if (list == where) {
        Message listed = list == AF_INET ? route(RTM_NEWROUTE, NLM_F_MULTI, sequence_)
                         : list == AF_INET6
                             ? route6(RTM_NEWROUTE, NLM_F_MULTI, sequence_)
                             : nexthop(kXmit, RTM_NEWNEXTHOP, NLM_F_MULTI, sequence_);
        if (list != AF_MAX) listed.encapsulated(kXmit);
        wanted = bpf::parse_bpf_route(listed.get());
        say(listed);
        EXPECT_TRUE(routes_->take()) << "it is told at once";
      }
      say(end_of_list(sequence_));
      (void)routes_->take();
    }
    EXPECT_TRUE(wanted);
    EXPECT_EQ(routes_->found(), wanted);
    EXPECT_EQ(routes_->unread(), 0);
  }
}

TEST_F(RouteWatch, AreHeardOfWhenTheyComeAndListedAgainWhenTheyGo) {
  open();
  ASSERT_EQ(asked(), AF_INET);
  list({});
  ASSERT_TRUE(routes_->take());
  say(route().encapsulated(kInOut));
  EXPECT_FALSE(routes_->take());
  say(route().paths({kPlain, kXmit}));
  EXPECT_TRUE(is_readable());
  EXPECT_TRUE(routes_->take());
  EXPECT_EQ(routes_->found(), kRoute);
  say(route(RTM_DELROUTE).encapsulated(kXmit));
  EXPECT_FALSE(routes_->take()) << "there may be others";
  ASSERT_EQ(asked_later(), AF_INET);
  list({kXmit});
  EXPECT_FALSE(routes_->take());
  say(route(RTM_DELROUTE).encapsulated(kXmit));
  EXPECT_FALSE(routes_->take());
  ASSERT_EQ(asked_later(), AF_INET);
  list({kPlain});
  EXPECT_TRUE(routes_->take());
  EXPECT_EQ(routes_->found(), std::nullopt);
}

TEST_F(RouteWatch, ThatComeWhileTheyAreListedStay) {
  open();
  ASSERT_EQ(asked(), AF_INET);
  say(route6().encapsulated(kXmit));
  list({});
  (void)routes_->take();
  EXPECT_EQ(routes_->unread(), 0);
  EXPECT_EQ(routes_->found(), (BpfRoute{"route", "2001:db8::/32 table 254"}));
}

TEST_F(RouteWatch, ThatGoWhileTheyAreListedAreListedAgain) {
  open();
  ASSERT_EQ(asked(), AF_INET);
  say(route(RTM_NEWROUTE, NLM_F_MULTI, sequence_).encapsulated(kXmit));
  say(route(RTM_DELROUTE).encapsulated(kXmit));
  list({});
  (void)routes_->take();
  EXPECT_EQ(routes_->found(), kRoute);
  ASSERT_EQ(asked_later(), AF_INET);
  list({});
  EXPECT_TRUE(routes_->take());
  EXPECT_EQ(routes_->found(), std::nullopt);
}

TEST_F(RouteWatch, OfAnInterruptedListAreKnownAfterThree) {
  open();
  ASSERT_EQ(asked(), AF_INET);
  list({kPlain}, NLM_F_DUMP_INTR);
  (void)routes_->take();
  EXPECT_EQ(routes_->unread(), EINPROGRESS);
  ASSERT_EQ(asked_later(), AF_INET);
  list({kPlain, kXmit}, NLM_F_DUMP_INTR);
  (void)routes_->take();
  EXPECT_EQ(routes_->found(), kRoute);
  EXPECT_EQ(routes_->unread(), EINPROGRESS);
  ASSERT_EQ(asked_later(), AF_INET);
  list({kPlain}, NLM_F_DUMP_INTR);
  (void)routes_->take();
  EXPECT_EQ(routes_->unread(), 0);
  EXPECT_EQ(routes_->found(), kRoute) << "this list may lack it";
}

TEST_F(RouteWatch, AreReadABoundedNumberAtATime) {
  open();
  ASSERT_EQ(asked(), AF_INET);
  for (int i = 0; i < 16; ++i) say(route(RTM_NEWROUTE, NLM_F_MULTI, sequence_));
  say(route(RTM_NEWROUTE, NLM_F_MULTI, sequence_).encapsulated(kXmit));
  EXPECT_FALSE(routes_->take());
  EXPECT_TRUE(is_readable());
  EXPECT_TRUE(routes_->take());
  EXPECT_EQ(routes_->found(), kRoute);
}

TEST_F(RouteWatch, ThatTheKernelDoesNotListAreUnread) {
  for (const int flags : {0, NLM_F_MULTI}) {
    open();
    ASSERT_EQ(asked(), AF_INET);
    say(route(RTM_NEWROUTE, NLM_F_MULTI, sequence_).encapsulated(kXmit));
    Message refusal(flags == 0 ? NLMSG_ERROR : NLMSG_DONE, flags, sequence_);
    say(refusal.add(-EPERM));
    EXPECT_TRUE(routes_->take());
    EXPECT_EQ(routes_->unread(), EPERM);
    EXPECT_EQ(routes_->found(), kRoute) << "what is known stays";
  }
}

TEST_F(RouteWatch, OfAnAnswerThatIsCutOffAreUnread) {
  open();
  ASSERT_EQ(asked(), AF_INET);
  const std::vector<Encapsulation> many(4000);
  say(route(RTM_NEWROUTE, NLM_F_MULTI, sequence_).paths(many));
  EXPECT_TRUE(routes_->take());
  EXPECT_EQ(routes_->unread(), EMSGSIZE);
}

TEST(RouteWatchOpen, WithoutASocketAreUnread) {
  auto routes = bpf::RouteWatch::open([]() -> Result<UniqueFd> { return fail(Error{EACCES}); });
  ASSERT_TRUE(routes);
  EXPECT_EQ(routes->unread(), EACCES);
  EXPECT_FALSE(routes->take());
}

}  // namespace
}  // namespace lldp::dataplane::routes
