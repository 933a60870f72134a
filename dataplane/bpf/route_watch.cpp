// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/route_watch.hpp"

#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "dataplane/bpf/object.hpp"
#include "os/poll_set.hpp"

namespace lldp::dataplane::bpf {
namespace {

constexpr std::size_t kPart = 32768;  ///< as large as the kernel makes the parts of a list
/// Parts at a time: some milliseconds, 8,000 routes.
constexpr int kReadsPerTurn = 16;
constexpr std::chrono::seconds kRetry{10};
/// While a route with a program is known.
constexpr std::chrono::steady_clock::duration kRecheck = std::chrono::seconds(10);
/// Of the time that lists take: at most a twentieth of all.
constexpr int kPauses = 20;
constexpr std::chrono::steady_clock::duration kLeastPause = std::chrono::milliseconds(1);
/// Lists in a row that changes may interrupt. What all of them lack is not there.
constexpr int kMostInterruptions = 3;

}  // namespace

Result<UniqueFd> RouteWatch::open_socket() {
  const auto refused = [] { return fail(Error{errno, "routes", std::strerror(errno)}); };
  auto filter = load_route_filter();
  if (!filter) return fail(filter.error());
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!fd) return refused();
  const int program = filter->get();
  sockaddr_nl self{};
  self.nl_family = AF_NETLINK;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof program) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&self), sizeof self) != 0)
    return refused();
  for (const int group : {RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_NEXTHOP})
    if (::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)
      return refused();
  return fd;
}

Result<RouteWatch> RouteWatch::open(Opener opener) {
  Timer timer;
  auto poll = make_poll_set("routes", {{timer.fd()}});
  if (!poll) return fail(poll.error());
  RouteWatch self(std::move(*poll), std::move(timer), std::move(opener));
  self.begin();
  (void)self.take();  // a usual table as a whole
  return self;
}

void RouteWatch::begin() {
  if (!socket_) {
    auto socket = opener_();
    if (!socket) return refuse(socket.error().code);
    epoll_event interest{.events = EPOLLIN, .data = {}};
    if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket->get(), &interest) != 0)
      return refuse(errno);
    socket_ = std::move(*socket);
  }
  began_ = Clock::now();
  again_ = interrupted_ = false;
  if (interruptions_ == 0) listed_.reset();
  ask(List::kIpv4);
}

void RouteWatch::ask(List list) {
  list_ = list;
  struct {
    nlmsghdr head;
    union {
      rtmsg route;
      nhmsg nexthop;
    };
  } question{};
  const bool nexthops = list == List::kNexthops;
  question.head.nlmsg_type = nexthops ? RTM_GETNEXTHOP : RTM_GETROUTE;
  question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.head.nlmsg_len =
      NLMSG_LENGTH(nexthops ? sizeof question.nexthop : sizeof question.route);
  question.head.nlmsg_seq = ++sequence_;
  if (!nexthops) question.route.rtm_family = list == List::kIpv4 ? AF_INET : AF_INET6;
  if (::send(socket_.get(), &question, question.head.nlmsg_len, 0) < 0) refuse(errno);
}

void RouteWatch::refuse(int code) {
  socket_ = UniqueFd();
  list_ = List::kNone;
  unread_ = code != 0 ? code : EIO;
  timer_.set(kRetry);
}

bool RouteWatch::take() {
  const auto before = std::pair(found_, unread_);
  if (timer_.take()) begin();
  if (socket_) read();
  return before != std::pair(found_, unread_);
}

void RouteWatch::read() {
  const auto room = std::make_unique_for_overwrite<char[]>(kPart);
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const ssize_t got = ::recv(socket_.get(), room.get(), kPart, MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0 && errno == ENOBUFS) {  // some that were told are lost
      again_ = true;
      schedule();
      continue;
    }
    if (got < 0) return refuse(errno);
    if (static_cast<std::size_t>(got) > kPart) return refuse(EMSGSIZE);
    int left = static_cast<int>(got);
    for (auto* h = reinterpret_cast<nlmsghdr*>(room.get()); nlmsg_ok(h, left);
         h = nlmsg_next(h, &left))
      if (!take(h)) return;
  }
}

bool RouteWatch::take(nlmsghdr* message) {
  const bool of_list = list_ != List::kNone && message->nlmsg_seq == sequence_;
  if (message->nlmsg_type < NLMSG_MIN_TYPE) return !of_list || take_end(message);
  const bool listed = (message->nlmsg_flags & NLM_F_MULTI) != 0;
  if (listed && !of_list) return true;
  if (listed && (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0) interrupted_ = true;
  const auto route = parse_bpf_route(message);
  const bool goes = message->nlmsg_type == RTM_DELROUTE || message->nlmsg_type == RTM_DELNEXTHOP;
  if (!route) return true;
  if (goes) {
    again_ = true;
  } else {
    if (!found_) found_ = route;
    if (list_ != List::kNone && !listed_) listed_ = route;
  }
  schedule();
  return true;
}

bool RouteWatch::take_end(const nlmsghdr* message) {
  int code = 0;
  if (message->nlmsg_type == NLMSG_ERROR || message->nlmsg_type == NLMSG_DONE) {
    if (message->nlmsg_len >= NLMSG_LENGTH(sizeof code))
      std::memcpy(&code, NLMSG_DATA(message), sizeof code);
  } else {
    return true;
  }
  if (code != 0) {
    constexpr int kMostErrno = 4095;
    refuse(code < 0 && code >= -kMostErrno ? -code : 0);
    return false;
  }
  if ((message->nlmsg_flags & NLM_F_DUMP_INTR) != 0) interrupted_ = true;
  switch (list_) {
    case List::kIpv4:
      ask(List::kIpv6);
      break;
    case List::kIpv6:
      ask(List::kNexthops);
      break;
    case List::kNexthops:
      finish();
      break;
    case List::kNone:
      break;
  }
  return static_cast<bool>(socket_);
}

void RouteWatch::finish() {
  list_ = List::kNone;
  ended_ = Clock::now();
  took_ = ended_ - began_;
  if (interrupted_ && ++interruptions_ < kMostInterruptions) {
    again_ = true;
  } else {
    interruptions_ = 0;
    found_ = listed_;
    unread_ = 0;
  }
  schedule();
}

void RouteWatch::schedule() {
  if (list_ != List::kNone) return;  // after that one
  if (!again_ && !found_) return timer_.stop();
  const Clock::duration least = again_ ? kLeastPause : kRecheck;
  timer_.set(ended_ + std::max(least, kPauses * took_) - Clock::now());
}

}  // namespace lldp::dataplane::bpf
