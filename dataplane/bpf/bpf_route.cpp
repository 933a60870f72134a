// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/bpf_route.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/lwtunnel.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dataplane/tc.hpp"

namespace lldp::dataplane::bpf {
namespace {

struct RouteParts {
  nlattr* first = nullptr;
  int octets = 0;

  [[nodiscard]] nlattr* find(int type) const { return nla_find(first, octets, type); }
  /// `type` says what kind of encapsulation `encapsulation` is.
  [[nodiscard]] bool sends_on(int encapsulation, int type) const {
    nlattr* const options = find(encapsulation);
    return options != nullptr && value_of<std::uint16_t>(find(type)) == LWTUNNEL_ENCAP_BPF &&
           nla_find(static_cast<nlattr*>(nla_data(options)), nla_len(options), LWT_BPF_XMIT) !=
               nullptr;
  }
};

/// Of a route over several paths.
bool any_sends_on(const nlattr* paths) {
  if (paths == nullptr) return false;
  auto* at = static_cast<char*>(nla_data(paths));
  rtnexthop head{};
  constexpr int kHead = sizeof head;
  for (int left = nla_len(paths); left >= kHead;) {
    std::memcpy(&head, at, sizeof head);
    if (head.rtnh_len < kHead || head.rtnh_len > left) return false;
    const RouteParts its{reinterpret_cast<nlattr*>(at + kHead), head.rtnh_len - kHead};
    if (its.sends_on(RTA_ENCAP, RTA_ENCAP_TYPE)) return true;
    at += RTNH_ALIGN(head.rtnh_len);
    left -= RTNH_ALIGN(head.rtnh_len);
  }
  return false;
}

std::string prefix_of(const rtmsg& route, const nlattr* destination) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  const int size = route.rtm_family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
  if (destination != nullptr && nla_len(destination) == size)
    std::memcpy(address.data(), nla_data(destination), static_cast<std::size_t>(size));
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(route.rtm_family, address.data(), text.data(), text.size());
  return fmt::format("{}/{}", text.data(), route.rtm_dst_len);
}

std::optional<BpfRoute> route_in(nlmsghdr* message) {
  if (!nlmsg_valid_hdr(message, sizeof(rtmsg))) return std::nullopt;
  const auto& route = *static_cast<const rtmsg*>(nlmsg_data(message));
  if (route.rtm_family != AF_INET && route.rtm_family != AF_INET6) return std::nullopt;
  const RouteParts all{nlmsg_attrdata(message, sizeof route), nlmsg_attrlen(message, sizeof route)};
  if (!all.sends_on(RTA_ENCAP, RTA_ENCAP_TYPE) && !any_sends_on(all.find(RTA_MULTIPATH)))
    return std::nullopt;
  const auto table = value_of<std::uint32_t>(all.find(RTA_TABLE));
  return BpfRoute{"route", fmt::format("{} table {}", prefix_of(route, all.find(RTA_DST)),
                                       table.value_or(route.rtm_table))};
}

std::optional<BpfRoute> nexthop_in(nlmsghdr* message) {
  if (!nlmsg_valid_hdr(message, sizeof(nhmsg))) return std::nullopt;
  const RouteParts all{nlmsg_attrdata(message, sizeof(nhmsg)),
                       nlmsg_attrlen(message, sizeof(nhmsg))};
  if (!all.sends_on(NHA_ENCAP, NHA_ENCAP_TYPE)) return std::nullopt;
  return BpfRoute{"nexthop",
                  fmt::format("id {}", value_of<std::uint32_t>(all.find(NHA_ID)).value_or(0))};
}

}  // namespace

std::optional<BpfRoute> parse_bpf_route(nlmsghdr* message) {
  switch (message->nlmsg_type) {
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return route_in(message);
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
      return nexthop_in(message);
    default:
      return std::nullopt;
  }
}

}  // namespace lldp::dataplane::bpf
