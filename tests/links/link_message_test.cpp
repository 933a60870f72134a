// SPDX-License-Identifier: Apache-2.0
#include "agent/links/link_message.hpp"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>

#include <cstring>

namespace lldp::io {
namespace {

/// A message written octet by octet, as the kernel would.
class Message {
 public:
  template <class Head>
  Message(std::uint16_t type, const Head& head) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    append(&header, sizeof header);
    append(&head, sizeof head);
  }
  Message& attribute(std::uint16_t type, const void* data, std::size_t size) {
    nlattr header{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + size), .nla_type = type};
    append(&header, sizeof header);
    append(data, size);
    return *this;
  }
  Message& text(std::uint16_t type, const char* value) {
    return attribute(type, value, std::strlen(value) + 1);
  }
  Message& u32(std::uint16_t type, std::uint32_t value) {
    return attribute(type, &value, sizeof value);
  }
  [[nodiscard]] Bytes octets() const {
    Bytes all = octets_;
    const auto size = static_cast<std::uint32_t>(all.size());
    std::memcpy(all.data(), &size, sizeof size);
    return all;
  }

 private:
  void append(const void* data, std::size_t size) {
    const auto* p = static_cast<const std::uint8_t*>(data);
    octets_.insert(octets_.end(), p, p + size);
    octets_.resize(NLMSG_ALIGN(octets_.size()));
  }
  Bytes octets_;
};

ifinfomsg info(unsigned flags = IFF_UP | IFF_LOWER_UP) {
  ifinfomsg i{};
  i.ifi_type = ARPHRD_ETHER;
  i.ifi_index = 7;
  i.ifi_flags = flags;
  return i;
}
constexpr MacAddress kMac{2, 0, 0, 0, 0, 7};

Bytes link_info(const char* kind, const char* master_kind) {
  Bytes all;
  for (auto [type, value] :
       {std::pair(IFLA_INFO_KIND, kind), {IFLA_INFO_SLAVE_KIND, master_kind}}) {
    nlattr header{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + std::strlen(value) + 1),
                  .nla_type = static_cast<std::uint16_t>(type)};
    const auto* p = reinterpret_cast<const std::uint8_t*>(&header);
    all.insert(all.end(), p, p + sizeof header);
    all.insert(all.end(), value, value + std::strlen(value) + 1);
    all.resize(NLMSG_ALIGN(all.size()));
  }
  return all;
}

TEST(LinkMessage, TellsAnInterface) {
  const Bytes nest = link_info("veth", "bridge");
  const Bytes octets = Message(RTM_NEWLINK, info())
                           .text(IFLA_IFNAME, "swp7")
                           .u32(IFLA_MTU, 9000)
                           .u32(IFLA_MASTER, 3)
                           .attribute(IFLA_ADDRESS, kMac.data(), kMac.size())
                           .attribute(IFLA_LINKINFO, nest.data(), nest.size())
                           .octets();
  const Interface want{.ifindex = Ifindex::of<7>(),
                       .master = Ifindex::of<3>(),
                       .name = "swp7",
                       .kind = "veth",
                       .master_kind = "bridge",
                       .address = kMac,
                       .mtu = 9000,
                       .ethernet = true,
                       .up = true};
  EXPECT_EQ(parse_link_message(octets), LinkMessage(want));
}

TEST(LinkMessage, IsUpOnlyWithCarrier) {
  for (const unsigned flags : {unsigned{IFF_UP}, unsigned{IFF_LOWER_UP}, 0U}) {
    const auto parsed =
        parse_link_message(Message(RTM_NEWLINK, info(flags)).text(IFLA_IFNAME, "swp7").octets());
    ASSERT_TRUE(parsed);
    EXPECT_FALSE(std::get<Interface>(*parsed).up) << flags;
  }
}

TEST(LinkMessage, IsEthernetOnlyWithAnAddressOfSixOctets) {
  const auto parsed = parse_link_message(Message(RTM_NEWLINK, info())
                                             .text(IFLA_IFNAME, "ib0")
                                             .attribute(IFLA_ADDRESS, kMac.data(), 4)
                                             .octets());
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(std::get<Interface>(*parsed).ethernet);
}

TEST(LinkMessage, TellsThatAnInterfaceIsGone) {
  EXPECT_EQ(parse_link_message(Message(RTM_DELLINK, info()).octets()),
            LinkMessage(InterfaceGone{Ifindex::of<7>()}));
}

TEST(LinkMessage, TakesLeavingABridgeForNoDeletion) {
  ifinfomsg bridge = info();
  bridge.ifi_family = AF_BRIDGE;
  EXPECT_EQ(parse_link_message(Message(RTM_DELLINK, bridge).octets()), std::nullopt);
}

TEST(LinkMessage, TellsForwardingOfAllInterfacesOnly) {
  netconfmsg family{};
  family.ncm_family = AF_INET6;
  const auto of = [&](int ifindex) {
    return parse_link_message(Message(RTM_NEWNETCONF, family)
                                  .u32(NETCONFA_IFINDEX, static_cast<std::uint32_t>(ifindex))
                                  .u32(NETCONFA_FORWARDING, 1)
                                  .octets());
  };
  EXPECT_EQ(of(NETCONFA_IFINDEX_ALL), LinkMessage(Forwarding{Forwarding::Family::kIpv6, true}));
  EXPECT_EQ(of(NETCONFA_IFINDEX_DEFAULT), std::nullopt);
  EXPECT_EQ(of(7), std::nullopt);
}

TEST(LinkMessage, RefusesEveryTruncation) {
  const Bytes octets = Message(RTM_NEWLINK, info()).text(IFLA_IFNAME, "swp7").octets();
  for (std::size_t size = 0; size < octets.size(); ++size)
    EXPECT_EQ(parse_link_message(ByteSpan(octets).first(size)), std::nullopt) << size;
}

TEST(LinkMessage, RefusesANameWithoutItsEnd) {
  EXPECT_EQ(
      parse_link_message(Message(RTM_NEWLINK, info()).attribute(IFLA_IFNAME, "swp7", 4).octets()),
      std::nullopt);
}

}  // namespace
}  // namespace lldp::io
