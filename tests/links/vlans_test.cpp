// SPDX-License-Identifier: Apache-2.0
#include "agent/links/vlans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lldp::io {
namespace {

using testing::ElementsAre;

Interface link(std::uint32_t ifindex, const char* kind) {
  return {.ifindex = *Ifindex::make(ifindex), .kind = kind};
}

TEST(Vlans, AreThoseOfABridgeThatHeedsThem) {
  std::map<Ifindex, Interface> all;
  Interface port = link(2, "");
  port.master = Ifindex::of<9>();
  Interface bridge = link(9, "bridge");
  const std::map<Ifindex, BridgeVlans> bridged{{port.ifindex, {port.ifindex, 10, {10, 20}}}};
  all = {{port.ifindex, port}, {bridge.ifindex, bridge}};
  EXPECT_EQ(vlans_of(port, all, bridged), (BridgeVlans{.ifindex = port.ifindex}))
      << "any bridge has VLAN 1 on its ports, and most heed none";
  bridge.vlan_filtering = true;
  all[bridge.ifindex] = bridge;
  EXPECT_EQ(vlans_of(port, all, bridged), (BridgeVlans{port.ifindex, 10, {10, 20}}));
}

TEST(Vlans, AreThoseOfInterfacesOnThePortOrItsBond) {
  Interface port = link(2, "");
  port.master = Ifindex::of<9>();
  port.master_kind = "bond";
  Interface on_port = link(3, "vlan");
  on_port.lower = port.ifindex;
  on_port.vlan = 300;
  Interface on_bond = link(4, "vlan");
  on_bond.lower = port.master;
  on_bond.vlan = 40;
  Interface elsewhere = link(5, "vlan");
  elsewhere.lower = Ifindex::of<77>();
  elsewhere.vlan = 5;
  const std::map<Ifindex, Interface> all{{port.ifindex, port},
                                         {on_port.ifindex, on_port},
                                         {on_bond.ifindex, on_bond},
                                         {elsewhere.ifindex, elsewhere}};
  EXPECT_THAT(vlans_of(port, all, {}).vlans, ElementsAre(40, 300));
  port.master_kind = "bridge";
  EXPECT_THAT(vlans_of(port, all, {}).vlans, ElementsAre(300));
}

}  // namespace
}  // namespace lldp::io
