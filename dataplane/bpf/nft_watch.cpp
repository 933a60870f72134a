// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/nft_watch.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "os/netlink.hpp"
#include "os/poll_set.hpp"

namespace lldp::dataplane::bpf {
namespace {

/// Of messages with a generation. More than this holds need not be kept: one is enough.
constexpr int kReceiveBuffer = 4096;
constexpr std::size_t kMessage = 256;

}  // namespace

Result<UniqueFd> NftWatch::open_socket() {
  auto fd = netlink::open(NETLINK_NETFILTER, "nftables");
  if (!fd) return fd;
  constexpr int kEnd = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN;
  // A load of two octets takes them for the network's order; netlink has the machine's.
  std::array<sock_filter, 4> code{{
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(nlmsghdr, nlmsg_type)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(kEnd), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  }};
  const sock_fprog filter{.len = code.size(), .filter = code.data()};
  const int group = NFNLGRP_NFTABLES;
  // Before it is a member: what is not for it is never in the queue.
  if (::setsockopt(fd->get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer) != 0 ||
      ::setsockopt(fd->get(), SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0 ||
      ::setsockopt(fd->get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)
    return fail(Error{errno, "nftables", std::strerror(errno)});
  return fd;
}

Result<NftWatch> NftWatch::open(std::chrono::nanoseconds pause) {
  auto socket = open_socket();
  if (!socket) return fail(socket.error());
  Timer timer;
  auto poll = make_poll_set("nftables", {{timer.fd()}, {socket->get()}});
  if (!poll) return fail(poll.error());
  return NftWatch(std::move(*poll), std::move(timer), std::move(*socket), pause);
}

void NftWatch::listen(bool on) {
  epoll_event interest{.events = on ? std::uint32_t{EPOLLIN} : 0, .data = {}};
  ::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, socket_.get(), &interest);
  listens_ = on;
}

bool NftWatch::take() {
  if (timer_.take()) listen(true);
  if (!listens_) return false;
  bool told = false;
  for (std::array<char, kMessage> room{};;) {
    const ssize_t got = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) break;
    told |= got >= 0 || errno == ENOBUFS;  // some are lost: it is known that there were some
    if (got < 0 && errno != ENOBUFS && errno != EINTR) break;
  }
  if (!told) return false;
  listen(false);
  timer_.set(pause_);
  return true;
}

}  // namespace lldp::dataplane::bpf
