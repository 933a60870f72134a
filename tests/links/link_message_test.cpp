// SPDX-License-Identifier: Apache-2.0
#include "agent/links/link_message.hpp"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_bridge.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>

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

Bytes attribute_of(std::uint16_t type, ByteSpan value) {
  const nlattr header{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + value.size()),
                      .nla_type = type};
  const auto* p = reinterpret_cast<const std::uint8_t*>(&header);
  Bytes all(p, p + sizeof header);
  all.insert(all.end(), value.begin(), value.end());
  all.resize(NLMSG_ALIGN(all.size()));
  return all;
}

TEST(LinkMessage, TellsTheXdpProgramThatIsAttached) {
  struct {
    nlattr attached_header{.nla_len = sizeof(nlattr) + 1, .nla_type = IFLA_XDP_ATTACHED};
    std::uint32_t attached = 2;  // one octet, and padding
    nlattr id_header{.nla_len = sizeof(nlattr) + 4, .nla_type = IFLA_XDP_PROG_ID};
    std::uint32_t id = 42;
  } xdp;
  const Bytes with = Message(RTM_NEWLINK, info())
                         .text(IFLA_IFNAME, "swp7")
                         .attribute(IFLA_XDP, &xdp, sizeof xdp)
                         .octets();
  EXPECT_EQ(std::get<Interface>(*parse_link_message(with)).xdp, 42U);
  const Bytes without =
      Message(RTM_NEWLINK, info()).text(IFLA_IFNAME, "swp7").attribute(IFLA_XDP, &xdp, 8).octets();
  EXPECT_EQ(std::get<Interface>(*parse_link_message(without)).xdp, 0U);
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

Interface interface_of(const Message& message) {
  const auto parsed = parse_link_message(message.octets());
  return parsed ? std::get<Interface>(*parsed) : Interface{};
}
/// A network card's port.
Message card(const char* name = "eth0") {
  return Message(RTM_NEWLINK, info())
      .text(IFLA_IFNAME, name)
      .attribute(IFLA_ADDRESS, kMac.data(), kMac.size());
}

TEST(LinkMessage, TellsWhatIsOfOneKindAlone) {
  const auto with_kind = [](std::string_view kind, std::uint16_t type, const Bytes& value) {
    Bytes nest = attribute_of(IFLA_INFO_KIND, as_octets(std::string(kind) + '\0'));
    const Bytes data = attribute_of(IFLA_INFO_DATA, attribute_of(type, value));
    nest.insert(nest.end(), data.begin(), data.end());
    return interface_of(card().attribute(IFLA_LINKINFO, nest.data(), nest.size()));
  };
  EXPECT_EQ(with_kind("vlan", IFLA_VLAN_ID, {7, 1}).vlan, 0x107);
  EXPECT_EQ(with_kind("vlan", IFLA_VLAN_ID, {7}).vlan, 0) << "too short";
  EXPECT_EQ(with_kind("vlan", IFLA_VLAN_ID + 1, {7, 1}).vlan, 0);
  EXPECT_EQ(with_kind("macvlan", IFLA_VLAN_ID, {7, 1}).vlan, 0);
  EXPECT_TRUE(with_kind("bridge", IFLA_BR_VLAN_FILTERING, {1}).vlan_filtering);
  EXPECT_FALSE(with_kind("bridge", IFLA_BR_VLAN_FILTERING, {0}).vlan_filtering);
  EXPECT_FALSE(with_kind("bridge", IFLA_BR_VLAN_FILTERING, {}).vlan_filtering);
  EXPECT_FALSE(with_kind("vlan", IFLA_BR_VLAN_FILTERING, {1}).vlan_filtering);
}

TEST(LinkMessage, TellsTheVlansOfABridgesPort) {
  ifinfomsg bridged = info();
  bridged.ifi_family = AF_BRIDGE;
  struct Entry {
    nlattr header{.nla_len = sizeof(nlattr) + sizeof(bridge_vlan_info),
                  .nla_type = IFLA_BRIDGE_VLAN_INFO};
    bridge_vlan_info vlan{};
  };
  const Entry vlans[] = {
      {.vlan = {.flags = BRIDGE_VLAN_INFO_RANGE_END, .vid = 5}},  // of no beginning
      {.vlan = {.flags = BRIDGE_VLAN_INFO_PVID | BRIDGE_VLAN_INFO_UNTAGGED, .vid = 10}},
      {.vlan = {.flags = BRIDGE_VLAN_INFO_RANGE_BEGIN, .vid = 20}},
      {.vlan = {.flags = BRIDGE_VLAN_INFO_RANGE_END, .vid = 22}},
      {.vlan = {.flags = BRIDGE_VLAN_INFO_RANGE_END, .vid = 30}},  // nor this
      {.vlan = {.flags = BRIDGE_VLAN_INFO_RANGE_BEGIN, .vid = 60}},
      {.vlan = {.flags = BRIDGE_VLAN_INFO_RANGE_END, .vid = 50}},  // before its beginning
      {.vlan = {.flags = 0, .vid = 0}},                            // none
      {.vlan = {.flags = BRIDGE_VLAN_INFO_PVID, .vid = 0xffff}}};  // none either
  const auto parsed = [&](std::uint16_t type) {
    return parse_link_message(
        Message(type, bridged).attribute(IFLA_AF_SPEC, vlans, sizeof vlans).octets());
  };
  EXPECT_EQ(parsed(RTM_NEWLINK),
            LinkMessage(BridgeVlans{Ifindex::of<7>(), 10, {5, 10, 20, 21, 22, 30, 60}}));
}

TEST(LinkMessage, IsPhysicalWithADeviceOrAPermanentAddress) {
  EXPECT_FALSE(interface_of(card()).physical) << "l2tpeth, vmnet";
  EXPECT_TRUE(
      interface_of(
          card().text(IFLA_PARENT_DEV_NAME, "virtio2").text(IFLA_PARENT_DEV_BUS_NAME, "virtio"))
          .physical);
  EXPECT_TRUE(interface_of(card().attribute(IFLA_PERM_ADDRESS, kMac.data(), kMac.size())).physical);
  const Interface pci = interface_of(
      card().text(IFLA_PARENT_DEV_NAME, "0000:03:00.0").text(IFLA_PARENT_DEV_BUS_NAME, "pci"));
  EXPECT_TRUE(pci.physical);
  EXPECT_EQ(pci.pci, "0000:03:00.0");
}

TEST(LinkMessage, IsNotPhysicalWithAKind) {
  const Bytes nest = link_info("macvlan", "");
  EXPECT_FALSE(interface_of(card()
                                .attribute(IFLA_PERM_ADDRESS, kMac.data(), kMac.size())
                                .attribute(IFLA_LINKINFO, nest.data(), nest.size()))
                   .physical);
}

TEST(LinkMessage, IsNotPhysicalWhenItStandsForSomethingElse) {
  EXPECT_FALSE(interface_of(card("vif1.0")
                                .text(IFLA_PARENT_DEV_NAME, "vif-1-0")
                                .text(IFLA_PARENT_DEV_BUS_NAME, "xen-backend"))
                   .physical);
  EXPECT_FALSE(interface_of(card("enp3s0f0s88")
                                .text(IFLA_PARENT_DEV_NAME, "mlx5_core.sf.2")
                                .text(IFLA_PARENT_DEV_BUS_NAME, "auxiliary"))
                   .physical);
  const auto port_of_asic = [](const char* name) {
    return interface_of(card()
                            .text(IFLA_PARENT_DEV_NAME, "0000:03:00.0")
                            .text(IFLA_PARENT_DEV_BUS_NAME, "pci")
                            .text(IFLA_PHYS_PORT_NAME, name));
  };
  for (const char* representor : {"pf0", "pf0vf1", "pf1sf88", "c1pf0vf0", "pf0hpf"})
    EXPECT_FALSE(port_of_asic(representor).physical) << representor;
  for (const char* socket : {"p1", "p12s3", "c", "cage1"})
    EXPECT_TRUE(port_of_asic(socket).physical) << socket;
}

TEST(LinkMessage, TellsTheAsicAndTheLowerLink) {
  const Bytes id{0x98, 0x03, 0x9b, 0, 0x0a, 0xff};
  const Interface link =
      interface_of(card().attribute(IFLA_PHYS_SWITCH_ID, id.data(), id.size()).u32(IFLA_LINK, 12));
  EXPECT_EQ(link.switch_id, std::string(id.begin(), id.end()));
  EXPECT_EQ(link.lower, Ifindex::of<12>());
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__  // a recording has its machine's order
// As Linux 6.18 told of its one card, a virtio device; without what is of no concern to us.
TEST(LinkMessage, TellsARecordedCard) {
  const Bytes recorded{
      0xc8, 0,    0,    0,    0x10, 0,    0,    0,    1,    0,    0,    0, 0,    0,    0,    0,
      0,    0,    1,    0,    4,    0,    0,    0,    0x43, 0x10, 1,    0, 0,    0,    0,    0,
      9,    0,    3,    0,    0x65, 0x74, 0x68, 0x30, 0,    0,    0,    0, 8,    0,    0x0d, 0,
      0xe8, 3,    0,    0,    8,    0,    4,    0,    0x78, 5,    0,    0, 8,    0,    0x32, 0,
      0x44, 0,    0,    0,    8,    0,    0x33, 0,    0xff, 0xff, 0,    0, 8,    0,    0x1b, 0,
      0,    0,    0,    0,    8,    0,    0x1f, 0,    1,    0,    0,    0, 8,    0,    0x28, 0,
      0xff, 0xff, 0,    0,    8,    0,    0x29, 0,    0,    0,    1,    0, 8,    0,    0x3a, 0,
      0,    0,    1,    0,    8,    0,    0x23, 0,    2,    0,    0,    0, 6,    0,    0x44, 0,
      0x0c, 0,    0,    0,    5,    0,    0x27, 0,    0,    0,    0,    0, 0x0a, 0,    1,    0,
      2,    0xfc, 0,    0,    0,    1,    0,    0,    0x0a, 0,    2,    0, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0,    0,    0x0a, 0,    0x36, 0,    2,    0xfc, 0,    0, 0,    1,    0,    0,
      0x0c, 0,    0x38, 0,    0x76, 0x69, 0x72, 0x74, 0x69, 0x6f, 0x32, 0, 0x0b, 0,    0x39, 0,
      0x76, 0x69, 0x72, 0x74, 0x69, 0x6f, 0,    0};
  const Interface want{.ifindex = Ifindex::of<4>(),
                       .name = "eth0",
                       .address = {0x02, 0xfc, 0, 0, 0, 1},
                       .mtu = 1400,
                       .carrier_changes = 2,
                       .ethernet = true,
                       .physical = true,
                       .up = true};
  EXPECT_EQ(parse_link_message(recorded), LinkMessage(want));
}
#endif

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

TEST(LinkMessage, TakesALoopbackForNoEthernet) {
  const auto parsed = parse_link_message(Message(RTM_NEWLINK, info(IFF_UP | IFF_LOOPBACK))
                                             .text(IFLA_IFNAME, "lo")
                                             .attribute(IFLA_ADDRESS, kMac.data(), kMac.size())
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
  EXPECT_EQ(parse_link_message(Message(RTM_DELLINK, bridge).octets()),
            LinkMessage(BridgeVlans{.ifindex = Ifindex::of<7>()}));
}

TEST(LinkMessage, TellsForwardingOfAllInterfacesAndOfIpv4OfOne) {
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
  family.ncm_family = AF_INET;
  EXPECT_EQ(of(NETCONFA_IFINDEX_ALL), LinkMessage(Forwarding{Forwarding::Family::kIpv4, true}));
  EXPECT_EQ(of(NETCONFA_IFINDEX_DEFAULT), std::nullopt);
  EXPECT_EQ(of(0), std::nullopt);
  EXPECT_EQ(of(7), LinkMessage(Forwarding{Forwarding::Family::kIpv4, true, Ifindex::of<7>()}));
}

ifaddrmsg address(unsigned char family, int flags = IFA_F_PERMANENT) {
  ifaddrmsg a{};
  a.ifa_family = family;
  a.ifa_flags = static_cast<std::uint8_t>(flags);
  a.ifa_index = 7;
  return a;
}
TEST(LinkMessage, TellsAnAddressAndItsEnd) {
  const std::uint8_t v4[] = {192, 0, 2, 7};
  const std::uint8_t peer[] = {192, 0, 2, 8};
  const std::uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8};
  const auto told = [](std::uint16_t type, int flags, const auto& octets, unsigned char family) {
    return parse_link_message(Message(type, address(family, flags))
                                  .attribute(IFA_ADDRESS, octets, sizeof octets)
                                  .octets());
  };
  const InterfaceAddress four{Ifindex::of<7>(), std::string("\1\xc0\0\2\7", 5)};
  const InterfaceAddress six{Ifindex::of<7>(),
                             std::string("\2\x20\x01\x0d\xb8", 5) + std::string(12, '\0')};
  EXPECT_EQ(told(RTM_NEWADDR, 0, v4, AF_INET), LinkMessage(AddressChange{four, true}));
  EXPECT_EQ(told(RTM_NEWADDR, 0, v6, AF_INET6), LinkMessage(AddressChange{six, true}));
  EXPECT_EQ(told(RTM_DELADDR, 0, v4, AF_INET), LinkMessage(AddressChange{four, false}));
  for (const int passing : {IFA_F_SECONDARY, IFA_F_TENTATIVE, IFA_F_DEPRECATED})
    EXPECT_EQ(told(RTM_NEWADDR, passing, v6, AF_INET6), LinkMessage(AddressChange{six, false}));
  EXPECT_EQ(told(RTM_NEWADDR, 0, v6, AF_INET), std::nullopt);  // not of that family
  EXPECT_EQ(told(RTM_NEWADDR, 0, v4, AF_UNSPEC), std::nullopt);
  EXPECT_EQ(parse_link_message(Message(RTM_NEWADDR, address(AF_INET))
                                   .attribute(IFA_ADDRESS, peer, sizeof peer)
                                   .attribute(IFA_LOCAL, v4, sizeof v4)
                                   .octets()),
            LinkMessage(AddressChange{four, true}));
  EXPECT_EQ(parse_link_message(Message(RTM_NEWADDR, address(AF_INET6))
                                   .attribute(IFA_ADDRESS, v6, sizeof v6)
                                   .u32(IFA_FLAGS, IFA_F_PERMANENT | IFA_F_TENTATIVE)
                                   .octets()),
            LinkMessage(AddressChange{six, false}));
}
TEST(LinkMessage, RefusesInterfacesWithoutANumber) {
  const std::uint8_t v4[] = {192, 0, 2, 7};
  for (const int none : {-1, INT_MIN}) {
    ifaddrmsg of_address = address(AF_INET);
    of_address.ifa_index = static_cast<std::uint32_t>(none);
    EXPECT_EQ(parse_link_message(
                  Message(RTM_NEWADDR, of_address).attribute(IFA_LOCAL, v4, sizeof v4).octets()),
              std::nullopt);
    for (const int family : {AF_UNSPEC, AF_BRIDGE}) {
      ifinfomsg link = info();
      link.ifi_family = static_cast<std::uint8_t>(family);
      link.ifi_index = none;
      for (const std::uint16_t type : {RTM_NEWLINK, RTM_DELLINK})
        EXPECT_EQ(parse_link_message(Message(type, link).text(IFLA_IFNAME, "swp7").octets()),
                  std::nullopt);
    }
  }
}

TEST(LinkMessage, TellsWhatTheOperatorAndTheDriverCallIt) {
  const auto told = parse_link_message(Message(RTM_NEWLINK, info())
                                           .text(IFLA_IFNAME, "swp7")
                                           .text(IFLA_IFALIAS, "to spine 3")
                                           .text(IFLA_PHYS_PORT_NAME, "p7")
                                           .octets());
  ASSERT_TRUE(told);
  EXPECT_EQ(std::get<Interface>(*told).alias, "to spine 3");
  EXPECT_EQ(std::get<Interface>(*told).port_name, "p7");
}

TEST(LinkMessage, RefusesEveryTruncation) {
  const Bytes octets = Message(RTM_NEWLINK, info()).text(IFLA_IFNAME, "swp7").octets();
  for (std::size_t size = 0; size < octets.size(); ++size)
    EXPECT_EQ(parse_link_message(ByteSpan(octets).first(size)), std::nullopt) << size;
}

/// Every message that there is, with a length that says that it ends sooner: what is read of it is
/// copied to where nothing stands behind.
TEST(LinkMessage, ReadsNothingBehindTheEndOfAnyMessage) {
  ifinfomsg bridge = info();
  bridge.ifi_family = AF_BRIDGE;
  netconfmsg family{};
  family.ncm_family = AF_INET;
  const std::uint8_t v4[] = {192, 0, 2, 7};
  const Bytes kind = link_info("vlan", "bridge");
  const Bytes octets[] = {
      Message(RTM_NEWLINK, info())
          .text(IFLA_IFNAME, "swp7")
          .attribute(IFLA_ADDRESS, kMac.data(), kMac.size())
          .attribute(IFLA_LINKINFO | NLA_F_NESTED, kind.data(), kind.size())
          .octets(),
      Message(RTM_DELLINK, info()).octets(), Message(RTM_NEWLINK, bridge).octets(),
      Message(RTM_NEWNETCONF, family)
          .u32(NETCONFA_IFINDEX, static_cast<std::uint32_t>(NETCONFA_IFINDEX_ALL))
          .u32(NETCONFA_FORWARDING, 1)
          .octets(),
      Message(RTM_NEWADDR, address(AF_INET)).attribute(IFA_LOCAL, v4, sizeof v4).octets()};
  for (const Bytes& whole : octets) {
    EXPECT_TRUE(parse_link_message(whole));
    for (std::uint32_t size = 0; size < whole.size(); ++size) {
      const auto cut = std::make_unique<std::uint8_t[]>(std::max(size, 4U));
      std::memcpy(cut.get(), whole.data(), size);
      if (size >= NLMSG_HDRLEN) std::memcpy(cut.get(), &size, sizeof size);
      const auto parsed = parse_link_message(ByteSpan(cut.get(), size));
      EXPECT_TRUE(!parsed || size >= NLMSG_HDRLEN + sizeof(netconfmsg)) << size;
    }
  }
  EXPECT_EQ(std::get<BridgeVlans>(*parse_link_message(octets[2])).vlans,
            std::vector<std::uint16_t>());
}

TEST(LinkMessage, RefusesATextWithoutItsEnd) {
  for (const std::uint16_t type : {IFLA_IFNAME, IFLA_IFALIAS, IFLA_PHYS_PORT_NAME,
                                   IFLA_PARENT_DEV_NAME, IFLA_PARENT_DEV_BUS_NAME}) {
    Message message(RTM_NEWLINK, info());
    if (type != IFLA_IFNAME) message.text(IFLA_IFNAME, "swp7");
    EXPECT_EQ(parse_link_message(message.attribute(type, "swp7", 4).octets()), std::nullopt)
        << type;
  }
  for (const std::uint16_t type : {IFLA_INFO_KIND, IFLA_INFO_SLAVE_KIND}) {
    const Bytes nest = attribute_of(type, as_octets(std::string_view("veth")));
    EXPECT_EQ(parse_link_message(Message(RTM_NEWLINK, info())
                                     .text(IFLA_IFNAME, "swp7")
                                     .attribute(IFLA_LINKINFO, nest.data(), nest.size())
                                     .octets()),
              std::nullopt)
        << type;
  }
}

TEST(LinkMessage, RefusesANumberThatIsTooShort) {
  constexpr std::uint16_t kNumber = 7;
  for (const std::uint16_t type : {IFLA_MTU, IFLA_MASTER, IFLA_LINK, IFLA_CARRIER_CHANGES})
    EXPECT_EQ(parse_link_message(Message(RTM_NEWLINK, info())
                                     .text(IFLA_IFNAME, "swp7")
                                     .attribute(type, &kNumber, sizeof kNumber)
                                     .octets()),
              std::nullopt)
        << type;
  netconfmsg family{};
  family.ncm_family = AF_INET;
  for (const std::uint16_t type : {NETCONFA_IFINDEX, NETCONFA_FORWARDING})
    EXPECT_EQ(parse_link_message(
                  Message(RTM_NEWNETCONF, family)
                      .attribute(type, &kNumber, sizeof kNumber)
                      .u32(type == NETCONFA_IFINDEX ? NETCONFA_FORWARDING : NETCONFA_IFINDEX,
                           static_cast<std::uint32_t>(NETCONFA_IFINDEX_ALL))
                      .octets()),
              std::nullopt)
        << type;
  const std::uint8_t v4[] = {192, 0, 2, 7};
  EXPECT_EQ(parse_link_message(Message(RTM_NEWADDR, address(AF_INET))
                                   .attribute(IFA_LOCAL, v4, sizeof v4)
                                   .attribute(IFA_FLAGS, &kNumber, sizeof kNumber)
                                   .octets()),
            std::nullopt);
}

}  // namespace
}  // namespace lldp::io
