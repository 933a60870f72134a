// SPDX-License-Identifier: Apache-2.0
#include "agent/links/pfc_monitor.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "os/dcbnl.hpp"

namespace lldp::io {
namespace {

/// Reads in one receive(); what is left wakes us again.
constexpr int kReadsOfATurn = 64;

/// An answer with all that an interface can have of DCB takes about 2,000 octets.
struct Buffer {
  alignas(nlmsghdr) std::array<std::uint8_t, 16384> octets;
  /// Octets read, or -1 and errno.
  ssize_t fill(int fd, int flags) { return ::recv(fd, octets.data(), octets.size(), flags); }
  /// Calls `take` with each message of `size` octets.
  template <class Take>
  void each(ssize_t size, Take take) {
    int left = static_cast<int>(size);
    for (auto* h = reinterpret_cast<nlmsghdr*>(octets.data()); nlmsg_ok(h, left);
         h = nlmsg_next(h, &left))
      take(*h, ByteSpan(reinterpret_cast<const std::uint8_t*>(h), h->nlmsg_len));
  }
};

Result<UniqueFd> connect(int flags) {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, NETLINK_ROUTE));
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (fd && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) == 0)
    return fd;
  return fail(Error{errno, "dcbnl", std::strerror(errno)});
}

}  // namespace

Result<PfcMonitor> PfcMonitor::open() {
  auto events = connect(SOCK_NONBLOCK);
  if (!events) return fail(events.error());
  auto requests = connect(0);
  if (!requests) return fail(requests.error());
  const int group = RTNLGRP_DCB;
  if (::setsockopt(events->get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)
    return fail(Error{errno, "dcbnl", std::strerror(errno)});
  return PfcMonitor(std::move(*events), std::move(*requests));
}

std::optional<core::Pfc> PfcMonitor::ask(std::string_view name) { return read(name).pfc; }

PfcMonitor::State PfcMonitor::read(std::string_view name) {
  State found;
  const Bytes request = dcbnl::get_request(name, ++sequence_);
  if (::send(requests_.get(), request.data(), request.size(), 0) < 0) return found;
  // The kernel has answered when send() returns: what is not there now does not come.
  Buffer buffer;
  for (bool answered = false; !answered;) {
    const ssize_t size = buffer.fill(requests_.get(), MSG_DONTWAIT);
    if (size < 0) return found;
    buffer.each(size, [&](const nlmsghdr& header, ByteSpan message) {
      if (header.nlmsg_seq != sequence_) return;  // of a question that was given up
      answered = true;
      auto parsed = dcbnl::parse(message);
      if (!parsed) return;
      if (parsed->pfc)
        found.pfc = core::Pfc{
            .enabled = parsed->pfc->enabled, .cap = parsed->pfc->cap, .mbc = parsed->pfc->mbc};
      for (const dcbnl::App& app : parsed->apps)
        if (app.selector == dcbnl::kDscp && app.protocol <= Dscp::kMax &&
            app.priority <= Priority::kMax)
          found.dscps.at(app.priority) |= std::uint64_t{1} << app.protocol;
      found.settings = std::move(*parsed);
    });
  }
  return found;
}

void PfcMonitor::receive(const std::function<void(std::string_view)>& changed) {
  Buffer buffer;
  for (int i = 0; i < kReadsOfATurn; ++i) {
    const ssize_t size = buffer.fill(events_.get(), 0);
    if (size < 0 && errno == ENOBUFS) {
      changed({});
      continue;
    }
    if (size < 0) return;
    buffer.each(size, [&](const nlmsghdr&, ByteSpan message) {
      if (const auto parsed = dcbnl::parse(message); parsed && parsed->pfc) changed(parsed->name);
    });
  }
}

}  // namespace lldp::io
