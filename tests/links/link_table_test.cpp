// SPDX-License-Identifier: Apache-2.0
#include "agent/links/link_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lldp::io {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Ifindex at(std::uint32_t ifindex) { return *Ifindex::make(ifindex); }

Interface port(std::uint32_t ifindex, std::uint32_t master = 0) {
  Interface out{.ifindex = at(ifindex), .name = "p" + std::to_string(ifindex)};
  if (master != 0) out.master = at(master);
  return out;
}
Interface vlan(std::uint32_t ifindex, std::uint32_t lower, std::uint16_t id) {
  Interface out{.ifindex = at(ifindex), .lower = at(lower), .name = "v" + std::to_string(ifindex)};
  out.kind = "vlan";
  out.vlan = id;
  return out;
}
Interface bridge(std::uint32_t ifindex, bool filtering) {
  Interface out{.ifindex = at(ifindex), .name = "b" + std::to_string(ifindex), .kind = "bridge"};
  out.vlan_filtering = filtering;
  return out;
}

class LinkTableTest : public testing::Test {
 protected:
  LinkTableTest() {
    table_.observe(
        {.changed = [this](const Interface& link) { told_.push_back(link.name); },
         .gone = [this](Ifindex gone) { told_.push_back("-" + std::to_string(gone.value())); },
         .forwarding = [this] { told_.emplace_back("forwarding"); },
         .addresses = [this] { told_.emplace_back("addresses"); }});
  }
  std::vector<std::string> after(const LinkMessage& message) {
    table_.take(message);
    return told();
  }
  std::vector<std::string> told() { return std::exchange(told_, {}); }

  LinkTable table_;
  std::vector<std::string> told_;
};

TEST_F(LinkTableTest, ToldIsWhatDiffersAndNothingElse) {
  EXPECT_THAT(after(port(2)), ElementsAre("p2"));
  EXPECT_THAT(after(port(2)), IsEmpty());
  Interface renamed = port(2);
  renamed.name = "q2";
  EXPECT_THAT(after(renamed), ElementsAre("q2"));
  EXPECT_EQ(table_.interfaces().at(at(2)).name, "q2");
  EXPECT_THAT(after(InterfaceGone{at(2)}), ElementsAre("-2"));
  EXPECT_THAT(after(InterfaceGone{at(2)}), IsEmpty());
  EXPECT_THAT(table_.interfaces(), IsEmpty());
}

TEST_F(LinkTableTest, AVlanIsToldOfWithThePortItStandsOnAndThoseOfItsBond) {
  for (const auto& link : {port(2), port(3), port(4, 9), port(5, 9), port(9)}) table_.take(link);
  told();
  EXPECT_THAT(after(vlan(10, 2, 7)), ElementsAre("v10", "p2"));
  EXPECT_THAT(after(vlan(11, 9, 8)), ElementsAre("v11", "p4", "p5", "p9"));
  EXPECT_THAT(after(vlan(11, 9, 8)), IsEmpty());
  // Those that it had, and those that it has now.
  EXPECT_THAT(after(vlan(10, 3, 7)), ElementsAre("v10", "p2", "p3"));
  EXPECT_THAT(after(vlan(10, 3, 6)), ElementsAre("v10", "p3", "p3"));
  EXPECT_THAT(after(InterfaceGone{at(10)}), ElementsAre("-10", "p3"));
  Interface named = vlan(11, 9, 8);
  named.alias = "storage";  // the same VLAN on the same port
  EXPECT_THAT(after(named), ElementsAre("v11"));
}

TEST_F(LinkTableTest, WhetherABridgeHeedsVlansConcernsItsPorts) {
  for (const auto& link : {bridge(9, false), port(2, 9), port(3, 9), port(4)}) table_.take(link);
  told();
  EXPECT_THAT(after(bridge(9, true)), ElementsAre("b9", "p2", "p3", "p2", "p3"));
  Interface longer = bridge(9, true);
  longer.mtu = 9000;
  EXPECT_THAT(after(longer), ElementsAre("b9"));
  EXPECT_THAT(after(InterfaceGone{at(9)}), ElementsAre("-9", "p2", "p3"));
}

TEST_F(LinkTableTest, TheVlansOfABridgesPortAreThatPorts) {
  table_.take(port(2));
  told();
  EXPECT_THAT(after(BridgeVlans{.ifindex = at(2), .port_vlan = 1, .vlans = {1, 5}}),
              ElementsAre("p2"));
  EXPECT_THAT(after(BridgeVlans{.ifindex = at(2), .port_vlan = 1, .vlans = {1, 5}}), IsEmpty());
  EXPECT_THAT(after(BridgeVlans{.ifindex = at(2), .port_vlan = 5, .vlans = {1, 5}}),
              ElementsAre("p2"));
  EXPECT_THAT(after(BridgeVlans{.ifindex = at(8), .vlans = {5}}), IsEmpty());  // not there yet
  table_.take_all({{at(8), BridgeVlans{.ifindex = at(8), .vlans = {6}}}});
  EXPECT_THAT(told(), ElementsAre("p2"));  // which has none any more
  EXPECT_THAT(table_.bridge_vlans(), testing::SizeIs(1));
  EXPECT_THAT(after(BridgeVlans{.ifindex = at(8)}), IsEmpty());
  EXPECT_THAT(table_.bridge_vlans(), IsEmpty());
  table_.take(BridgeVlans{.ifindex = at(2), .vlans = {5}});
  table_.take(InterfaceGone{at(2)});
  EXPECT_THAT(table_.bridge_vlans(), IsEmpty());
}

TEST_F(LinkTableTest, AWholeListTakesAwayWhatIsNotInIt) {
  for (const auto& link : {port(2), port(3), port(4)}) table_.take(link);
  told();
  table_.keep({at(3)});
  EXPECT_THAT(told(), ElementsAre("-2", "-4"));
  EXPECT_THAT(table_.interfaces(), testing::SizeIs(1));
  const InterfaceAddress first{at(3),
                               "\x01"
                               "abcd"};
  const InterfaceAddress second{at(3),
                                "\x01"
                                "efgh"};
  table_.take_all({first});
  EXPECT_THAT(told(), ElementsAre("addresses"));
  table_.take_all({first});
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(after(AddressChange{first, true}), IsEmpty());
  EXPECT_THAT(after(AddressChange{second, true}), ElementsAre("addresses"));
  EXPECT_THAT(after(AddressChange{first, false}), ElementsAre("addresses"));
  EXPECT_THAT(after(AddressChange{first, false}), IsEmpty());
  EXPECT_THAT(table_.addresses(), ElementsAre(second));
}

TEST_F(LinkTableTest, ItForwardsIfOneFamilyDoes) {
  using Family = Forwarding::Family;
  EXPECT_FALSE(table_.forwarding());
  EXPECT_THAT(after(Forwarding{Family::kIpv4, false}), IsEmpty());
  EXPECT_THAT(after(Forwarding{Family::kIpv6, true}), ElementsAre("forwarding"));
  EXPECT_THAT(after(Forwarding{Family::kIpv4, true}), IsEmpty());
  EXPECT_THAT(after(Forwarding{Family::kIpv6, false}), IsEmpty());
  EXPECT_TRUE(table_.forwarding());
  EXPECT_THAT(after(Forwarding{Family::kIpv4, false}), ElementsAre("forwarding"));
}

TEST_F(LinkTableTest, ItForwardsBySomeInterfacesUntilAllDo) {
  using Family = Forwarding::Family;
  EXPECT_EQ(table_.forwards(), Forwards::kNothing);
  EXPECT_THAT(after(Forwarding{Family::kIpv4, true, at(2)}), ElementsAre("forwarding"));
  EXPECT_EQ(table_.forwards(), Forwards::kBySome);
  EXPECT_FALSE(table_.forwarding());
  EXPECT_THAT(after(Forwarding{Family::kIpv4, true, at(3)}), IsEmpty());
  EXPECT_THAT(after(Forwarding{Family::kIpv4, false, at(2)}), IsEmpty());
  EXPECT_THAT(after(Forwarding{Family::kIpv4, false, at(3)}), ElementsAre("forwarding"));
  EXPECT_EQ(table_.forwards(), Forwards::kNothing);
  // What Linux tells of `all`: it first, and then each interface.
  EXPECT_THAT(after(Forwarding{Family::kIpv4, true, at(4)}), ElementsAre("forwarding"));
  EXPECT_THAT(after(Forwarding{Family::kIpv4, true}), ElementsAre("forwarding"));
  EXPECT_THAT(after(Forwarding{Family::kIpv4, true, at(2)}), IsEmpty());
  EXPECT_EQ(table_.forwards(), Forwards::kByAll);
  EXPECT_THAT(after(Forwarding{Family::kIpv4, false}), ElementsAre("forwarding"));
  EXPECT_EQ(table_.forwards(), Forwards::kNothing);
}

TEST_F(LinkTableTest, InterfaceThatIsGoneForwardsNothing) {
  table_.take(port(2));
  table_.take(Forwarding{Forwarding::Family::kIpv4, true, at(2)});
  static_cast<void>(told());
  EXPECT_THAT(after(InterfaceGone{at(2)}), ElementsAre("forwarding", "-2"));
  EXPECT_EQ(table_.forwards(), Forwards::kNothing);
  table_.take_forwarding({at(7), at(8)});
  EXPECT_THAT(told(), ElementsAre("forwarding"));
  table_.take_forwarding({});
  EXPECT_THAT(told(), ElementsAre("forwarding"));
}

TEST(LinkTable, NobodyNeedListen) {
  LinkTable table;
  table.take(bridge(9, false));
  table.take(port(2, 9));
  table.take(vlan(10, 2, 7));
  table.take(bridge(9, true));
  table.take(BridgeVlans{.ifindex = at(2), .vlans = {5}});
  table.take(AddressChange{{at(2),
                            "\x01"
                            "abcd"},
                           true});
  table.take(Forwarding{Forwarding::Family::kIpv4, true});
  table.take(InterfaceGone{at(10)});
  table.take_all(std::set<InterfaceAddress>{});
  EXPECT_EQ(table.interfaces().size(), 2U);
  EXPECT_TRUE(table.forwarding());
}

}  // namespace
}  // namespace lldp::io
