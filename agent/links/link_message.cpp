// SPDX-License-Identifier: Apache-2.0
#include "agent/links/link_message.hpp"

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_bridge.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <span>

namespace lldp::io {
namespace {

/// The attributes of one level, by type. libnl checks types and lengths against the policy, which
/// has a row for each type up to the last one wanted.
class Attributes {
 public:
  Attributes(const nlattr* first, int length, std::span<const nla_policy> policy) {
    assert(policy.size() <= table_.size());
    valid_ = nla_parse(table_.data(), static_cast<int>(policy.size()) - 1,
                       const_cast<nlattr*>(first), length, policy.data()) == 0;
  }
  explicit operator bool() const { return valid_; }
  [[nodiscard]] const nlattr* operator[](std::size_t type) const { return table_[type]; }
  [[nodiscard]] std::uint32_t u32(std::size_t type) const {
    return table_[type] ? nla_get_u32(table_[type]) : 0;
  }
  [[nodiscard]] std::string text(std::size_t type) const {
    return table_[type] ? nla_get_string(table_[type]) : std::string();
  }
  [[nodiscard]] std::string octets(std::size_t type) const {
    const nlattr* a = table_[type];
    return a ? std::string(static_cast<const char*>(nla_data(a)),
                           static_cast<std::size_t>(nla_len(a)))
             : std::string();
  }

 private:
  std::array<nlattr*, IFLA_PARENT_DEV_BUS_NAME + 1>
      table_{};  ///< the longest of the levels we read
  bool valid_ = false;
};

/// VLAN IDs have twelve bits; the last one is reserved.
constexpr unsigned kVids = 4096;
constexpr unsigned kLastVid = kVids - 1;

constexpr nla_policy of_type(std::uint16_t type) {
  return {.type = type, .minlen = 0, .maxlen = 0};
}

/// Whether the port of an ASIC stands for a function of a host rather than for a socket on the
/// front: devlink calls those pf0, pf0vf1, c1pf0sf88, and sockets p1 or p1s0.
bool is_representor(std::string_view port_name) {
  if (port_name.starts_with('c')) {
    port_name.remove_prefix(1);
    port_name.remove_prefix(std::min(port_name.find_first_not_of("0123456789"), port_name.size()));
  }
  return port_name.starts_with("pf");
}

/// rtnetlink has no word for it. IFLA_PARENT_DEV_NAME is there since Linux 5.14, IFLA_PERM_ADDRESS
/// since 5.6; drivers of ASICs that make their ports without a device give them an address at
/// least.
bool is_physical(const Interface& link, const Attributes& top) {
  if (!link.ethernet || !link.kind.empty()) return false;
  const std::string bus = top.text(IFLA_PARENT_DEV_BUS_NAME);
  const std::string parent = top.text(IFLA_PARENT_DEV_NAME);
  if (bus == "xen-backend") return false;
  if (bus == "auxiliary" && parent.find(".sf.") != parent.npos) return false;
  if (is_representor(top.text(IFLA_PHYS_PORT_NAME))) return false;
  return !parent.empty() || top[IFLA_PERM_ADDRESS] != nullptr;
}

/// Runs come as their ends; IEEE 802.1Q has 1 to 4094.
std::optional<LinkMessage> parse_bridge_port(const nlmsghdr* header, Ifindex ifindex) {
  BridgeVlans out{.ifindex = ifindex};
  if (header->nlmsg_type == RTM_DELLINK) return out;
  std::array<nla_policy, IFLA_AF_SPEC + 1> policy{};
  policy[IFLA_AF_SPEC] = of_type(NLA_NESTED);
  const Attributes top(nlmsg_attrdata(header, sizeof(ifinfomsg)),
                       nlmsg_attrlen(header, sizeof(ifinfomsg)), policy);
  if (!top) return std::nullopt;
  const nlattr* spec = top[IFLA_AF_SPEC];
  if (spec == nullptr) return out;
  std::vector<bool> there(kVids);
  std::uint16_t begin = 0;
  int left = nla_len(spec);
  for (const auto* a = static_cast<const nlattr*>(nla_data(spec)); nla_ok(a, left);
       a = nla_next(a, &left)) {
    bridge_vlan_info vlan{};
    if (nla_type(a) != IFLA_BRIDGE_VLAN_INFO || nla_len(a) < static_cast<int>(sizeof vlan))
      continue;
    std::memcpy(&vlan, nla_data(a), sizeof vlan);
    if (vlan.vid == 0 || vlan.vid >= kLastVid) continue;
    if ((vlan.flags & BRIDGE_VLAN_INFO_PVID) != 0) out.port_vlan = vlan.vid;
    const bool ends = (vlan.flags & BRIDGE_VLAN_INFO_RANGE_END) != 0 && begin != 0;
    for (unsigned vid = ends ? begin : vlan.vid; vid <= vlan.vid; ++vid) there[vid] = true;
    begin = (vlan.flags & BRIDGE_VLAN_INFO_RANGE_BEGIN) != 0 ? vlan.vid : std::uint16_t{0};
  }
  for (std::uint16_t vid = 1; vid < kLastVid; ++vid)
    if (there[vid]) out.vlans.push_back(vid);
  return out;
}

/// What is of one kind of interfaces alone.
void read_kind(Interface& link, const nlattr* data) {
  std::array<nla_policy, IFLA_BR_VLAN_FILTERING + 1> policy{};
  static_assert(int{IFLA_VLAN_ID} < int{IFLA_BR_VLAN_FILTERING});
  if (link.kind == "vlan") policy[IFLA_VLAN_ID] = of_type(NLA_U16);
  if (link.kind == "bridge") policy[IFLA_BR_VLAN_FILTERING] = of_type(NLA_U8);
  if (data == nullptr || (link.kind != "vlan" && link.kind != "bridge")) return;
  const Attributes kind(static_cast<const nlattr*>(nla_data(data)), nla_len(data), policy);
  if (link.kind == "vlan" && kind[IFLA_VLAN_ID]) link.vlan = nla_get_u16(kind[IFLA_VLAN_ID]);
  if (link.kind == "bridge" && kind[IFLA_BR_VLAN_FILTERING])
    link.vlan_filtering = nla_get_u8(kind[IFLA_BR_VLAN_FILTERING]) != 0;
}

std::optional<LinkMessage> parse_interface(const nlmsghdr* header) {
  const auto* info = static_cast<const ifinfomsg*>(nlmsg_data(header));
  const auto ifindex = Ifindex::make(static_cast<std::uint32_t>(info->ifi_index));
  if (ifindex && ifindex->value() != 0 && info->ifi_family == AF_BRIDGE)
    return parse_bridge_port(header, *ifindex);
  if (!ifindex || ifindex->value() == 0 || info->ifi_family != AF_UNSPEC) return std::nullopt;
  if (header->nlmsg_type == RTM_DELLINK) return InterfaceGone{*ifindex};

  std::array<nla_policy, IFLA_PARENT_DEV_BUS_NAME + 1> policy{};
  policy[IFLA_IFNAME] = of_type(NLA_STRING);
  policy[IFLA_MTU] = of_type(NLA_U32);
  policy[IFLA_MASTER] = of_type(NLA_U32);
  policy[IFLA_LINK] = of_type(NLA_U32);
  policy[IFLA_IFALIAS] = of_type(NLA_STRING);
  policy[IFLA_PHYS_PORT_NAME] = of_type(NLA_STRING);
  policy[IFLA_PARENT_DEV_NAME] = of_type(NLA_STRING);
  policy[IFLA_PARENT_DEV_BUS_NAME] = of_type(NLA_STRING);
  policy[IFLA_LINKINFO] = of_type(NLA_NESTED);
  policy[IFLA_CARRIER_CHANGES] = of_type(NLA_U32);
  policy[IFLA_XDP] = of_type(NLA_NESTED);
  const Attributes top(nlmsg_attrdata(header, sizeof *info), nlmsg_attrlen(header, sizeof *info),
                       policy);
  if (!top || !top[IFLA_IFNAME]) return std::nullopt;

  Interface link{.ifindex = *ifindex,
                 .name = top.text(IFLA_IFNAME),
                 .mtu = top.u32(IFLA_MTU),
                 .carrier_changes = top.u32(IFLA_CARRIER_CHANGES)};
  if (const auto master = Ifindex::make(top.u32(IFLA_MASTER))) link.master = *master;
  if (const auto lower = Ifindex::make(top.u32(IFLA_LINK))) link.lower = *lower;
  link.up = (info->ifi_flags & IFF_UP) != 0 && (info->ifi_flags & IFF_LOWER_UP) != 0;
  if (const nlattr* address = top[IFLA_ADDRESS];
      address && nla_len(address) == static_cast<int>(link.address.size())) {
    std::memcpy(link.address.data(), nla_data(address), link.address.size());
    link.ethernet = info->ifi_type == ARPHRD_ETHER && (info->ifi_flags & IFF_LOOPBACK) == 0;
  }
  if (const nlattr* nest = top[IFLA_LINKINFO]) {
    std::array<nla_policy, IFLA_INFO_SLAVE_KIND + 1> nested_policy{};
    nested_policy[IFLA_INFO_KIND] = of_type(NLA_STRING);
    nested_policy[IFLA_INFO_SLAVE_KIND] = of_type(NLA_STRING);
    nested_policy[IFLA_INFO_DATA] = of_type(NLA_NESTED);
    const Attributes nested(static_cast<const nlattr*>(nla_data(nest)), nla_len(nest),
                            nested_policy);
    if (!nested) return std::nullopt;
    link.kind = nested.text(IFLA_INFO_KIND);
    link.master_kind = nested.text(IFLA_INFO_SLAVE_KIND);
    read_kind(link, nested[IFLA_INFO_DATA]);
  }
  link.switch_id = top.octets(IFLA_PHYS_SWITCH_ID);
  link.alias = top.text(IFLA_IFALIAS);
  link.port_name = top.text(IFLA_PHYS_PORT_NAME);
  link.physical = is_physical(link, top);
  if (top.text(IFLA_PARENT_DEV_BUS_NAME) == "pci") link.pci = top.text(IFLA_PARENT_DEV_NAME);
  if (const nlattr* nest = top[IFLA_XDP]) {
    std::array<nla_policy, IFLA_XDP_PROG_ID + 1> nested_policy{};
    nested_policy[IFLA_XDP_PROG_ID] = of_type(NLA_U32);
    const Attributes nested(static_cast<const nlattr*>(nla_data(nest)), nla_len(nest),
                            nested_policy);
    if (nested) link.xdp = nested.u32(IFLA_XDP_PROG_ID);
  }
  return link;
}

std::optional<LinkMessage> parse_forwarding(const nlmsghdr* header) {
  const auto* info = static_cast<const netconfmsg*>(nlmsg_data(header));
  std::array<nla_policy, NETCONFA_FORWARDING + 1> policy{};
  policy[NETCONFA_IFINDEX] = of_type(NLA_U32);
  policy[NETCONFA_FORWARDING] = of_type(NLA_U32);
  const int head = NLMSG_ALIGN(sizeof *info);
  const Attributes top(nlmsg_attrdata(header, head), nlmsg_attrlen(header, head), policy);
  if (!top || !top[NETCONFA_FORWARDING]) return std::nullopt;
  const std::uint32_t index = top.u32(NETCONFA_IFINDEX);
  const bool all = index == static_cast<std::uint32_t>(NETCONFA_IFINDEX_ALL);
  const auto one = Ifindex::make(index);  // none: the default of interfaces to come
  const bool enabled = top.u32(NETCONFA_FORWARDING) != 0;
  if (info->ncm_family == AF_INET && all) return Forwarding{Forwarding::Family::kIpv4, enabled};
  if (info->ncm_family == AF_INET6 && all) return Forwarding{Forwarding::Family::kIpv6, enabled};
  if (info->ncm_family == AF_INET && one && *one != Ifindex())
    return Forwarding{Forwarding::Family::kIpv4, enabled, *one};
  return std::nullopt;
}

std::optional<LinkMessage> parse_address(const nlmsghdr* header) {
  const auto* info = static_cast<const ifaddrmsg*>(nlmsg_data(header));
  const auto ifindex = Ifindex::make(info->ifa_index);
  const bool ipv4 = info->ifa_family == AF_INET;
  if (!ifindex || (!ipv4 && info->ifa_family != AF_INET6)) return std::nullopt;
  std::array<nla_policy, IFA_FLAGS + 1> policy{};
  policy[IFA_FLAGS] = of_type(NLA_U32);
  const Attributes top(nlmsg_attrdata(header, sizeof *info), nlmsg_attrlen(header, sizeof *info),
                       policy);
  if (!top) return std::nullopt;
  // Of a point-to-point link IFA_ADDRESS is the other end's.
  const std::string octets = top[IFA_LOCAL] ? top.octets(IFA_LOCAL) : top.octets(IFA_ADDRESS);
  if (octets.size() != (ipv4 ? 4U : 16U)) return std::nullopt;
  const std::uint32_t flags = top[IFA_FLAGS] ? top.u32(IFA_FLAGS) : info->ifa_flags;
  // IFA_F_SECONDARY of IPv4 is IFA_F_TEMPORARY of IPv6.
  constexpr std::uint32_t kPassing =
      IFA_F_SECONDARY | IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED;
  return AddressChange{{*ifindex, std::string(1, ipv4 ? '\1' : '\2') + octets},
                       header->nlmsg_type == RTM_NEWADDR && (flags & kPassing) == 0};
}

}  // namespace

std::optional<LinkMessage> parse_link_message(ByteSpan message) {
  if (message.size() < NLMSG_HDRLEN) return std::nullopt;
  const auto* header = reinterpret_cast<const nlmsghdr*>(message.data());
  if (header->nlmsg_len > message.size()) return std::nullopt;
  switch (header->nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      if (!nlmsg_valid_hdr(header, sizeof(ifinfomsg))) return std::nullopt;
      return parse_interface(header);
    case RTM_NEWADDR:
    case RTM_DELADDR:
      if (!nlmsg_valid_hdr(header, sizeof(ifaddrmsg))) return std::nullopt;
      return parse_address(header);
    case RTM_NEWNETCONF:
      if (!nlmsg_valid_hdr(header, sizeof(netconfmsg))) return std::nullopt;
      return parse_forwarding(header);
    default:
      return std::nullopt;
  }
}

}  // namespace lldp::io
