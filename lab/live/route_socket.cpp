// SPDX-License-Identifier: Apache-2.0
#include "lab/live/route_socket.hpp"

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <netlink/attr.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace lldp::lab::live {
namespace {

/// So many acknowledgements fit the default receive buffer many times over.
constexpr std::size_t kBatch = 64;

std::unique_ptr<nl_msg, NlFree> new_link(int flags, unsigned set_flags, int ifindex = 0) {
  std::unique_ptr<nl_msg, NlFree> message(
      nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | flags));
  ifinfomsg header{};
  header.ifi_index = ifindex;
  header.ifi_flags = set_flags;
  header.ifi_change = set_flags;
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  return message;
}

std::unique_ptr<nl_msg, NlFree> new_neighbor(unsigned family, unsigned state, unsigned flags,
                                             int port) {
  std::unique_ptr<nl_msg, NlFree> message(
      nlmsg_alloc_simple(RTM_NEWNEIGH, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE));
  ndmsg header{};
  header.ndm_family = static_cast<std::uint8_t>(family);
  header.ndm_ifindex = port;
  header.ndm_state = static_cast<std::uint16_t>(state);
  header.ndm_flags = static_cast<std::uint8_t>(flags);
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  return message;
}

int family_of(ByteSpan ip) { return ip.size() == 4 ? AF_INET : AF_INET6; }

void put(nl_msg* message, int type, ByteSpan octets) {
  nla_put(message, type, static_cast<int>(octets.size()), octets.data());
}

void put_end(nl_msg* message, const VethEnd& end) {
  nla_put_string(message, IFLA_IFNAME, end.name.c_str());
  nla_put(message, IFLA_ADDRESS, static_cast<int>(end.address.size()), end.address.data());
}

}  // namespace

Result<RouteBatch> RouteBatch::open() {
  RouteBatch batch;
  batch.socket_.reset(nl_socket_alloc());
  if (!batch.socket_) return fail(Error{ENOMEM, "netlink", "out of memory"});
  if (const int e = nl_connect(batch.socket_.get(), NETLINK_ROUTE); e < 0)
    return fail(Error{0, "netlink", nl_geterror(e)});
  const int on = 1;  // acknowledgements without a copy of the request
  setsockopt(nl_socket_get_fd(batch.socket_.get()), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  return batch;
}

void RouteBatch::add_veth(const VethEnd& near, const VethEnd& far, int far_namespace) {
  auto message = new_link(NLM_F_CREATE | NLM_F_EXCL, IFF_UP, near.ifindex);
  put_end(message.get(), near);
  nlattr* info = nla_nest_start(message.get(), IFLA_LINKINFO);
  nla_put_string(message.get(), IFLA_INFO_KIND, "veth");
  nlattr* data = nla_nest_start(message.get(), IFLA_INFO_DATA);
  nlattr* peer = nla_nest_start(message.get(), VETH_INFO_PEER);
  ifinfomsg header{};  // not up: the kernel refuses that before the pair is complete
  header.ifi_index = far.ifindex;
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put_end(message.get(), far);
  nla_put_u32(message.get(), IFLA_NET_NS_FD, static_cast<std::uint32_t>(far_namespace));
  nla_nest_end(message.get(), peer);
  nla_nest_end(message.get(), data);
  nla_nest_end(message.get(), info);
  requests_.push_back({std::move(message), near.name});
}

void RouteBatch::set_up(const std::string& name) {
  auto message = new_link(0, IFF_UP);
  nla_put_string(message.get(), IFLA_IFNAME, name.c_str());
  requests_.push_back({std::move(message), name});
}

void RouteBatch::set_down(const std::string& name) {
  auto message = new_link(0, 0);
  static_cast<ifinfomsg*>(nlmsg_data(nlmsg_hdr(message.get())))->ifi_change = IFF_UP;
  nla_put_string(message.get(), IFLA_IFNAME, name.c_str());
  requests_.push_back({std::move(message), name});
}

void RouteBatch::add_bridge(const std::string& name, int ifindex) {
  auto message = new_link(NLM_F_CREATE | NLM_F_EXCL, 0, ifindex);
  nla_put_string(message.get(), IFLA_IFNAME, name.c_str());
  nlattr* info = nla_nest_start(message.get(), IFLA_LINKINFO);
  nla_put_string(message.get(), IFLA_INFO_KIND, "bridge");
  nla_nest_end(message.get(), info);
  requests_.push_back({std::move(message), name});
}

void RouteBatch::enslave(int port, int bridge) {
  auto message = new_link(0, 0, port);
  nla_put_u32(message.get(), IFLA_MASTER, static_cast<std::uint32_t>(bridge));
  requests_.push_back({std::move(message), "bridge"});
  message = new_link(0, 0, port);
  nlattr* info = nla_nest_start(message.get(), IFLA_LINKINFO);
  nla_put_string(message.get(), IFLA_INFO_SLAVE_KIND, "bridge");
  nlattr* data = nla_nest_start(message.get(), IFLA_INFO_SLAVE_DATA);
  for (const int off : {IFLA_BRPORT_LEARNING, IFLA_BRPORT_UNICAST_FLOOD, IFLA_BRPORT_MCAST_FLOOD,
                        IFLA_BRPORT_BCAST_FLOOD})
    nla_put_u8(message.get(), off, 0);
  nla_nest_end(message.get(), data);
  nla_nest_end(message.get(), info);
  requests_.push_back({std::move(message), "bridge"});
}

void RouteBatch::replace_forwarding(const MacAddress& to, int port) {
  auto message = new_neighbor(AF_BRIDGE, NUD_NOARP, NTF_MASTER, port);
  put(message.get(), NDA_LLADDR, to);
  requests_.push_back({std::move(message), "forwarding entry"});
}

void RouteBatch::replace_route(ByteSpan to, int port) {
  std::unique_ptr<nl_msg, NlFree> message(
      nlmsg_alloc_simple(RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE));
  rtmsg header{};
  header.rtm_family = static_cast<std::uint8_t>(family_of(to));
  header.rtm_dst_len = static_cast<std::uint8_t>(8 * to.size());
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = RT_SCOPE_LINK;
  header.rtm_type = RTN_UNICAST;
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put(message.get(), RTA_DST, to);
  nla_put_u32(message.get(), RTA_OIF, static_cast<std::uint32_t>(port));
  requests_.push_back({std::move(message), "route"});
}

void RouteBatch::replace_address(ByteSpan address, unsigned network_bits, int port) {
  std::unique_ptr<nl_msg, NlFree> message(
      nlmsg_alloc_simple(RTM_NEWADDR, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE));
  ifaddrmsg header{};
  header.ifa_family = static_cast<std::uint8_t>(family_of(address));
  header.ifa_prefixlen = static_cast<std::uint8_t>(network_bits);
  header.ifa_index = static_cast<std::uint32_t>(port);
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put(message.get(), IFA_LOCAL, address);
  put(message.get(), IFA_ADDRESS, address);
  requests_.push_back({std::move(message), "address"});
}

void RouteBatch::replace_neighbor(ByteSpan ip, const MacAddress& mac, int port) {
  auto message = new_neighbor(static_cast<unsigned>(family_of(ip)), NUD_PERMANENT, 0, port);
  put(message.get(), NDA_DST, ip);
  put(message.get(), NDA_LLADDR, mac);
  requests_.push_back({std::move(message), "neighbour"});
}

Result<void> RouteBatch::commit() {
  for (std::size_t first = 0; first < requests_.size(); first += kBatch)
    if (auto ok = exchange(first, std::min(first + kBatch, requests_.size())); !ok)
      return fail(ok.error());
  requests_.clear();
  return {};
}

Result<void> RouteBatch::exchange(std::size_t first, std::size_t last) {
  std::array<iovec, kBatch> parts{};
  for (std::size_t i = first; i < last; ++i) {
    nlmsghdr* header = nlmsg_hdr(requests_[i].message.get());
    header->nlmsg_seq = static_cast<std::uint32_t>(i);
    parts[i - first] = {header, NLMSG_ALIGN(header->nlmsg_len)};
  }
  const int fd = nl_socket_get_fd(socket_.get());
  msghdr out{};
  out.msg_iov = parts.data();
  out.msg_iovlen = last - first;
  if (sendmsg(fd, &out, 0) < 0) return fail(Error{errno, "netlink", std::strerror(errno)});
  alignas(nlmsghdr) std::array<char, 1 << 14> answer{};
  Result<void> outcome;
  for (std::size_t left = last - first; left > 0;) {
    const ssize_t n = recv(fd, answer.data(), answer.size(), 0);
    if (n <= 0) return fail(Error{errno, "netlink", std::strerror(errno)});
    int rest = static_cast<int>(n);
    for (auto* h = reinterpret_cast<nlmsghdr*>(answer.data()); nlmsg_ok(h, rest);
         h = nlmsg_next(h, &rest)) {
      if (h->nlmsg_type != NLMSG_ERROR || left == 0) continue;
      --left;
      const int code = -static_cast<nlmsgerr*>(nlmsg_data(h))->error;
      if (code == 0 || !outcome || h->nlmsg_seq >= requests_.size()) continue;
      outcome = fail(Error{code, requests_[h->nlmsg_seq].name, std::strerror(code)});
    }
  }
  return outcome;
}

}  // namespace lldp::lab::live
