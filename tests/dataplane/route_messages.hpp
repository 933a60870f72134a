// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/lwtunnel.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "dataplane/tc.hpp"

/// Messages about routes and nexthops, as the kernel gives them.
namespace lldp::dataplane::routes {

/// One of the ways of an encapsulation, or none.
struct Encapsulation {
  std::uint16_t type = LWTUNNEL_ENCAP_NONE;
  std::vector<int> programs{};  ///< LWT_BPF_*
};
inline const Encapsulation kPlain{};
inline const Encapsulation kXmit{LWTUNNEL_ENCAP_BPF, {LWT_BPF_XMIT}};
inline const Encapsulation kInOut{LWTUNNEL_ENCAP_BPF, {LWT_BPF_IN, LWT_BPF_OUT}};
/// Its options are numbered as those of BPF are.
inline const Encapsulation kMpls{LWTUNNEL_ENCAP_MPLS, {LWT_BPF_XMIT}};

class Message {
 public:
  Message(int type, int flags, std::uint32_t sequence = 0)
      : all_(nlmsg_alloc_size(std::size_t{1} << 18)) {
    nlmsg_put(all_.get(), 0, sequence, type, 0, flags);
  }
  template <class T>
  Message& add(const T& fixed) {
    nlmsg_append(all_.get(), const_cast<T*>(&fixed), sizeof fixed, NLMSG_ALIGNTO);
    return *this;
  }
  template <class T>
  Message& attribute(int type, const T& value) {
    nla_put(all_.get(), type, sizeof value, &value);
    return *this;
  }
  Message& encapsulated(const Encapsulation& in, int options = RTA_ENCAP,
                        int type = RTA_ENCAP_TYPE) {
    if (in.type == LWTUNNEL_ENCAP_NONE) return *this;
    nlattr* const all = nla_nest_start(all_.get(), options);
    for (const int program : in.programs) {
      nlattr* const one = nla_nest_start(all_.get(), program);
      nla_put_string(all_.get(), LWT_BPF_PROG_NAME, "r.o:[lwt]");
      nla_nest_end(all_.get(), one);
    }
    nla_nest_end(all_.get(), all);
    return attribute(type, in.type);
  }
  /// RTA_MULTIPATH. `gateway`: octets of an address in each.
  Message& paths(const std::vector<Encapsulation>& all, std::size_t gateway = 4) {
    nlattr* const nest = nla_nest_start(all_.get(), RTA_MULTIPATH);
    for (const Encapsulation& one : all) {
      const std::size_t begin = octets().size();
      const rtnexthop head{.rtnh_len = 0, .rtnh_flags = 0, .rtnh_hops = 0, .rtnh_ifindex = 6};
      nlmsg_append(all_.get(), const_cast<rtnexthop*>(&head), sizeof head, NLMSG_ALIGNTO);
      const std::vector<char> address(gateway);
      if (gateway != 0) nla_put(all_.get(), RTA_GATEWAY, static_cast<int>(gateway), address.data());
      encapsulated(one);
      auto* const here =
          reinterpret_cast<rtnexthop*>(reinterpret_cast<char*>(nlmsg_hdr(all_.get())) + begin);
      here->rtnh_len = static_cast<unsigned short>(octets().size() - begin);
    }
    nla_nest_end(all_.get(), nest);
    return *this;
  }
  [[nodiscard]] nl_msg* raw() { return all_.get(); }
  [[nodiscard]] nlmsghdr* get() { return nlmsg_hdr(all_.get()); }
  [[nodiscard]] ByteSpan octets() const {
    const nlmsghdr* const head = nlmsg_hdr(all_.get());
    return {reinterpret_cast<const std::uint8_t*>(head), head->nlmsg_len};
  }

 private:
  std::unique_ptr<nl_msg, NlMsgFree> all_;
};

/// To 198.51.100.0/24, of table 1000.
inline Message route(int type = RTM_NEWROUTE, int flags = 0, std::uint32_t sequence = 0) {
  Message message(type, flags, sequence);
  message.add(rtmsg{.rtm_family = AF_INET, .rtm_dst_len = 24, .rtm_table = RT_TABLE_COMPAT});
  message.attribute(RTA_TABLE, std::uint32_t{1000});
  message.attribute(RTA_DST, htonl(0xc6336400));
  return message;
}
/// To 2001:db8::/32, of the main table.
inline Message route6(int type = RTM_NEWROUTE, int flags = 0, std::uint32_t sequence = 0) {
  Message message(type, flags, sequence);
  message.add(rtmsg{.rtm_family = AF_INET6, .rtm_dst_len = 32, .rtm_table = RT_TABLE_MAIN});
  in6_addr to{};
  to.s6_addr[0] = 0x20;
  to.s6_addr[1] = 0x01;
  to.s6_addr[2] = 0x0d;
  to.s6_addr[3] = 0xb8;
  message.attribute(RTA_DST, to);
  return message;
}
inline Message nexthop(const Encapsulation& in, int type = RTM_NEWNEXTHOP, int flags = 0,
                       std::uint32_t sequence = 0) {
  Message message(type, flags, sequence);
  message.add(nhmsg{.nh_family = AF_INET});
  message.attribute(NHA_ID, std::uint32_t{9});
  message.attribute(NHA_OIF, std::uint32_t{6});
  message.encapsulated(in, NHA_ENCAP, NHA_ENCAP_TYPE);
  return message;
}
/// The end of a list.
inline Message end_of_list(std::uint32_t sequence, int code = 0, int flags = 0) {
  Message message(NLMSG_DONE, NLM_F_MULTI | flags, sequence);
  message.add(code);
  return message;
}

}  // namespace lldp::dataplane::routes
