// SPDX-License-Identifier: Apache-2.0
#include "agent/links/management.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace lldp::io {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string k127("\1\x7f\0\0\1", 5);
const std::string k10("\1\x0a\0\0\1", 5);
const std::string k192("\1\xc0\0\2\7", 5);
const std::string kLoopback6 = "\2" + std::string(15, '\0') + "\1";
const std::string kLinkLocal = "\2\xfe\x80" + std::string(13, '\0') + "\1";
const std::string kGlobal = std::string("\2\x20\x01\x0d\xb8", 5) + std::string(11, '\0') + "\1";

class Management : public testing::Test {
 protected:
  std::vector<std::string> chosen(const std::vector<std::string>& wanted) {
    std::vector<std::string> out;
    for (const auto& m : management_addresses(addresses_, interfaces_, wanted))
      out.push_back(interfaces_.at(m.interface).name + " " +
                    network_address_to_string(as_octets(m.address)));
    return out;
  }
  std::set<InterfaceAddress> addresses_{
      {Ifindex::of<1>(), k127},      {Ifindex::of<1>(), kLoopback6}, {Ifindex::of<2>(), kLinkLocal},
      {Ifindex::of<2>(), k192},      {Ifindex::of<2>(), kGlobal},    {Ifindex::of<3>(), k10},
      {Ifindex::of<3>(), kLinkLocal}};
  std::map<Ifindex, Interface> interfaces_{
      {Ifindex::of<1>(), {.name = "lo", .up = true}},
      {Ifindex::of<2>(), {.name = "eth0", .up = true}},
      {Ifindex::of<3>(), {.name = "swp1", .up = true}},
  };
};

TEST_F(Management, IsTheFirstAddressOfEachFamilyThatOthersCanReach) {
  EXPECT_THAT(chosen({}), ElementsAre("eth0 192.0.2.7", "eth0 2001:db8::1"));
}
TEST_F(Management, AnAddressOfTheLoopbackInterfaceComesFirst) {
  addresses_.insert({Ifindex::of<1>(), k10});
  EXPECT_THAT(chosen({}), ElementsAre("lo 10.0.0.1", "eth0 2001:db8::1"));
}
TEST_F(Management, AnInterfaceWithoutCarrierComesLast) {
  interfaces_.at(Ifindex::of<2>()).up = false;
  EXPECT_THAT(chosen({}), ElementsAre("swp1 10.0.0.1", "eth0 2001:db8::1"));
  EXPECT_THAT(chosen({"*"}), ElementsAre("swp1 10.0.0.1", "eth0 192.0.2.7", "eth0 2001:db8::1"));
  interfaces_.at(Ifindex::of<3>()).up = false;
  EXPECT_THAT(chosen({}), ElementsAre("eth0 192.0.2.7", "eth0 2001:db8::1"));
}
TEST_F(Management, IsNoIpv4MappedAddress) {
  const std::string mapped =
      "\2" + std::string(10, '\0') + "\xff\xff\x0a" + std::string(2, '\0') + "\1";
  addresses_.insert({Ifindex::of<1>(), mapped});
  EXPECT_THAT(chosen({}), ElementsAre("eth0 192.0.2.7", "eth0 2001:db8::1"));
  EXPECT_THAT(chosen({"::ffff:*"}), ElementsAre("lo ::ffff:10.0.0.1"));
}
TEST_F(Management, IsAllThatAGlobNames) {
  EXPECT_THAT(chosen({"swp*"}), ElementsAre("swp1 10.0.0.1"));
  EXPECT_THAT(chosen({"10.*", "fe80::*"}),
              ElementsAre("eth0 fe80::1", "swp1 10.0.0.1", "swp1 fe80::1"));
  EXPECT_THAT(chosen({"mgmt"}), IsEmpty());
}
TEST_F(Management, IsNoAddressForThisMachineOrLinkAloneWhereAllAreAskedFor) {
  EXPECT_THAT(chosen({"*"}), ElementsAre("eth0 192.0.2.7", "eth0 2001:db8::1", "swp1 10.0.0.1"));
  EXPECT_THAT(chosen({"*", "127.*"}), Contains("lo 127.0.0.1"));
}
TEST_F(Management, IsNotEndless) {
  for (char i = 1; i < 20; ++i) addresses_.insert({Ifindex::of<3>(), k10.substr(0, 4) + i});
  EXPECT_EQ(chosen({"*"}).size(), 8U);
}
TEST_F(Management, AMachineWithoutAddressesHasNone) {
  addresses_.clear();
  EXPECT_THAT(chosen({}), IsEmpty());
}

}  // namespace
}  // namespace lldp::io
