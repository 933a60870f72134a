// SPDX-License-Identifier: Apache-2.0
#include "dataplane/tc.hpp"

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <net/if_arp.h>
#include <netlink/attr.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <set>

#include "os/netlink.hpp"

namespace lldp::dataplane {
namespace {

/// What waits in the kernel for us is a few thousand events; when there are more we look at all.
constexpr int kEventBuffer = 1 << 20;
constexpr int kReadsPerTurn = 64;

void tell(nlmsghdr* header, const std::function<void(const TcObject&)>& each) {
  if (const auto object = parse_tc(header); object && each) each(*object);
}

void tell(nlmsghdr* header, const std::function<void(Ifindex, const LinkFacts&)>& each) {
  if (header->nlmsg_type != RTM_NEWLINK) return;
  std::array<nlattr*, IFLA_MAX + 1> attributes{};
  if (nlmsg_parse(header, sizeof(ifinfomsg), attributes.data(), IFLA_MAX, nullptr) < 0) return;
  const auto* info = static_cast<const ifinfomsg*>(nlmsg_data(header));
  const auto port = Ifindex::make(static_cast<std::uint32_t>(info->ifi_index));
  if (!port) return;
  LinkFacts facts{.switch_port = attributes[IFLA_PHYS_SWITCH_ID] != nullptr,
                  .up = (info->ifi_flags & IFF_UP) != 0};
  if (attributes[IFLA_IFNAME]) facts.name = nla_get_string(attributes[IFLA_IFNAME]);
  const auto number = [&](std::size_t attribute) {
    return attributes[attribute]
               ? Ifindex::make(nla_get_u32(attributes[attribute])).value_or(Ifindex())
               : Ifindex();
  };
  facts.master = number(IFLA_MASTER);
  if (!attributes[IFLA_LINK_NETNSID]) facts.lower = number(IFLA_LINK);
  std::array<nlattr*, IFLA_INFO_MAX + 1> kind{};
  if (attributes[IFLA_LINKINFO] &&
      nla_parse_nested(kind.data(), IFLA_INFO_MAX, attributes[IFLA_LINKINFO], nullptr) == 0 &&
      kind[IFLA_INFO_KIND])
    facts.kind = nla_get_string(kind[IFLA_INFO_KIND]);
  facts.virtual_ethernet = facts.kind.empty() && info->ifi_type == ARPHRD_ETHER &&
                           attributes[IFLA_PARENT_DEV_NAME] == nullptr &&
                           attributes[IFLA_PERM_ADDRESS] == nullptr;
  std::array<nlattr*, IFLA_XDP_MAX + 1> xdp{};
  if (attributes[IFLA_XDP] &&
      nla_parse_nested(xdp.data(), IFLA_XDP_MAX, attributes[IFLA_XDP], nullptr) == 0 &&
      xdp[IFLA_XDP_ATTACHED] && nla_get_u8(xdp[IFLA_XDP_ATTACHED]) != XDP_ATTACHED_NONE)
    facts.xdp_program = xdp[IFLA_XDP_PROG_ID] ? nla_get_u32(xdp[IFLA_XDP_PROG_ID]) : ~0U;
  each(*port, facts);
}

std::string_view name_of(int type) {
  switch (type) {
    case RTM_NEWQDISC:
      return "RTM_NEWQDISC";
    case RTM_DELQDISC:
      return "RTM_DELQDISC";
    case RTM_GETQDISC:
      return "RTM_GETQDISC";
    case RTM_NEWTCLASS:
      return "RTM_NEWTCLASS";
    case RTM_GETTCLASS:
      return "RTM_GETTCLASS";
    case RTM_NEWTFILTER:
      return "RTM_NEWTFILTER";
    case RTM_DELTFILTER:
      return "RTM_DELTFILTER";
    case RTM_GETTFILTER:
      return "RTM_GETTFILTER";
    case RTM_GETLINK:
      return "RTM_GETLINK";
    default:
      return "rtnetlink";
  }
}

Error explained(int type, int code, const std::string& words) {
  if (code == ENODEV) return {code, {}, "the port has vanished"};
  std::string text(name_of(type));
  text += ": " + (words.empty() ? std::string(std::strerror(code)) : words);
  if (code == EPERM) text += ": run with CAP_NET_ADMIN, or choose another backend";
  if ((code == EOPNOTSUPP && words.empty()) || (code == ENOENT && type == RTM_NEWQDISC))
    text += ": this kernel lacks a qdisc or classifier it takes; choose another backend";
  return {code, {}, text};
}

}  // namespace

Result<TcSocket> TcSocket::open() {
  auto fd = netlink::open(NETLINK_ROUTE, "rtnetlink");
  if (!fd) return fail(fd.error());
  return TcSocket(std::move(*fd));
}

std::uint32_t TcSocket::port_id() const {
  sockaddr_nl self{};
  socklen_t size = sizeof self;
  return ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&self), &size) == 0 ? self.nl_pid
                                                                                      : 0;
}

Result<void> TcSocket::run(nlmsghdr* ask, const std::function<void(nlmsghdr*)>& each) {
  if (const auto refusal = netlink::ask(socket_.get(), ask, ++sequence_, buffer_, each))
    return fail(explained(ask->nlmsg_type, refusal->code, refusal->words));
  return {};
}

Result<void> TcSocket::request(const TcMessage& message) {
  return run(nlmsg_hdr(message.get()), nullptr);
}

Result<void> TcSocket::dump(const TcMessage& message,
                            const std::function<void(const TcObject&)>& each) {
  return run(nlmsg_hdr(message.get()), [&](nlmsghdr* h) { tell(h, each); });
}

Result<void> TcSocket::links(Ifindex port,
                             const std::function<void(Ifindex, const LinkFacts&)>& each) {
  const std::unique_ptr<nl_msg, NlMsgFree> message(
      nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST | (port.value() == 0 ? NLM_F_DUMP : 0)));
  if (!message) throw std::bad_alloc();
  ifinfomsg info{};
  info.ifi_index = static_cast<int>(port.value());
  nlmsg_append(message.get(), &info, sizeof info, NLMSG_ALIGNTO);
  const std::uint32_t mask = RTEXT_FILTER_SKIP_STATS;
  if (nla_put(message.get(), IFLA_EXT_MASK, sizeof mask, &mask) < 0) throw std::bad_alloc();
  return run(nlmsg_hdr(message.get()), [&](nlmsghdr* h) { tell(h, each); });
}

Result<TcEvents> TcEvents::open() {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl self{};
  self.nl_family = AF_NETLINK;
  const int group = RTNLGRP_TC;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&self), sizeof self) != 0 ||
      ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)
    return fail(Error{errno, "rtnetlink", std::strerror(errno)});
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kEventBuffer, sizeof kEventBuffer) != 0)
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kEventBuffer, sizeof kEventBuffer);
  return TcEvents(std::move(fd));
}

std::vector<Ifindex> TcEvents::take() {
  std::set<Ifindex> ports;
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ENOBUFS) break;
    if (got < 0 || static_cast<std::size_t>(got) > buffer_.size()) {  // some were lost
      ports.insert(Ifindex());
      continue;
    }
    int left = static_cast<int>(got);
    for (auto* h = reinterpret_cast<nlmsghdr*>(buffer_.data()); nlmsg_ok(h, left);
         h = nlmsg_next(h, &left)) {
      if (!nlmsg_valid_hdr(h, sizeof(tcmsg))) continue;
      // The kernel reports a qdisc that a program asked about to all listeners, with the port ID of
      // that program: without this, each of our own questions would cause the next one.
      if (std::find(ignored_.begin(), ignored_.end(), h->nlmsg_pid) != ignored_.end()) continue;
      // An action by itself has no number of an interface, and filters anywhere may have it.
      if (h->nlmsg_type == RTM_NEWACTION || h->nlmsg_type == RTM_DELACTION) {
        ports.insert(Ifindex());
        continue;
      }
      // A block that several interfaces share has no number of theirs.
      const auto* tcm = static_cast<const tcmsg*>(nlmsg_data(h));
      ports.insert(Ifindex::make(static_cast<std::uint32_t>(tcm->tcm_ifindex)).value_or(Ifindex()));
    }
  }
  return {ports.begin(), ports.end()};
}

}  // namespace lldp::dataplane
