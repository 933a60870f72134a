// SPDX-License-Identifier: Apache-2.0
#include "agent/links/machine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/links/link_monitor.hpp"
#include "agent/links/port_policy.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

/// A machine put together interface by interface.
class Parts {
 public:
  Interface& add(std::string name, std::string kind = "") {
    const auto ifindex = *Ifindex::make(++last_);
    return all_[ifindex] = {.ifindex = ifindex,
                            .name = std::move(name),
                            .kind = std::move(kind),
                            .ethernet = true};
  }
  Interface& card(std::string name, std::string switch_id = "") {
    Interface& link = add(std::move(name));
    link.physical = true;
    link.switch_id = std::move(switch_id);
    return link;
  }
  void cards(int count, const std::string& prefix, const std::string& switch_id = "") {
    for (int i = 1; i <= count; ++i) card(prefix + std::to_string(i), switch_id);
  }
  static void enslave(Interface& link, const Interface& master) {
    link.master = master.ifindex;
    link.master_kind = master.kind;
  }
  [[nodiscard]] const std::map<Ifindex, Interface>& all() const { return all_; }
  [[nodiscard]] std::map<Ifindex, Interface>& all_of_them() { return all_; }
  [[nodiscard]] Machine machine() const { return Machine(all_); }
  [[nodiscard]] Role role(bool forwards_ip = false) const {
    return machine().role(forwards_ip ? Forwards::kByAll : Forwards::kNothing).role;
  }
  [[nodiscard]] std::string why(bool forwards_ip = false) const {
    return machine().role(forwards_ip ? Forwards::kByAll : Forwards::kNothing).why;
  }
  [[nodiscard]] std::string ports() const {
    std::string out;
    const Machine found = machine();
    for (const auto& [ifindex, link] : all_)
      if (found.is_default_port(link)) out += (out.empty() ? "" : " ") + link.name;
    return out;
  }

 private:
  std::map<Ifindex, Interface> all_;
  std::uint32_t last_ = 0;
};

TEST(Machine, WithoutAFrontPanelHasItsPhysicalPorts) {
  Parts p;
  p.cards(2, "eth");
  p.add("docker0", "bridge");
  p.add("veth1", "veth");
  p.add("tap0", "tun");
  p.add("dummy0", "dummy");
  p.add("eth1.100", "vlan");
  p.add("macvtap0", "macvtap");
  p.add("vxlan.calico", "vxlan");
  EXPECT_EQ(p.ports(), "eth1 eth2");
  EXPECT_EQ(p.role(), Role::kHost);
  EXPECT_EQ(p.why(), "it forwards nothing between physical ports");
}

TEST(Machine, WithAFrontPanelHasThatAlone) {
  Parts p;
  p.card("eth0");  // for management
  p.cards(4, "swp", "\x01\x02");
  EXPECT_EQ(p.ports(), "swp1 swp2 swp3 swp4");
  EXPECT_EQ(p.role(), Role::kSwitch);
  EXPECT_EQ(p.why(), "it has a front panel of 4 physical ports");
}

TEST(Machine, DsaPortsAreAFrontPanelHoweverFew) {
  Parts p;
  p.card("eth0");
  p.add("lan1", "dsa");
  p.add("lan2", "dsa");
  EXPECT_EQ(p.ports(), "lan1 lan2");
  EXPECT_EQ(p.role(), Role::kSwitch);
}

TEST(Machine, TwoAsicsAreOneFrontPanel) {
  Parts p;
  p.cards(4, "a", "first");
  p.cards(5, "b", "second");
  EXPECT_EQ(p.ports(), "a1 a2 a3 a4 b1 b2 b3 b4 b5");
  EXPECT_EQ(p.why(), "it has a front panel of 9 physical ports");
}

// A card with an embedded switch gives its sockets the switch's ID, and its virtual functions
// representors.
TEST(Machine, NetworkCardsWithSwitchIdsAreNoFrontPanel) {
  Parts p;
  p.card("enp1s0f0np0", "card 1");
  p.card("enp1s0f1np1", "card 1");
  p.card("enp2s0f0np0", "card 2");
  for (int i = 0; i < 64; ++i) p.add("eth" + std::to_string(i)).switch_id = "card 1";
  EXPECT_EQ(p.ports(), "enp1s0f0np0 enp1s0f1np1 enp2s0f0np0");
  EXPECT_EQ(p.role(true), Role::kHost);
}

TEST(Machine, IsASwitchWithTwoPhysicalPortsInABridge) {
  Parts p;
  Interface& br0 = p.add("br0", "bridge");
  Parts::enslave(p.card("eth1"), br0);
  EXPECT_EQ(p.role(), Role::kHost);
  Parts::enslave(p.card("eth2"), br0);
  EXPECT_EQ(p.role(), Role::kSwitch);
  EXPECT_EQ(p.why(), "its bridge br0 has 2 physical ports");
}

TEST(Machine, PortsOfTwoBridgesDoNotAddUp) {
  Parts p;
  Parts::enslave(p.card("eth1"), p.add("br1", "bridge"));
  Parts::enslave(p.card("eth2"), p.add("br2", "bridge"));
  EXPECT_EQ(p.role(), Role::kHost);
}

TEST(Machine, OpenVswitchIsABridge) {
  Parts p;
  Interface& ovs = p.add("ovs-system", "openvswitch");
  Parts::enslave(p.card("eth1"), ovs);
  Parts::enslave(p.add("vnet0", "tun"), ovs);
  EXPECT_EQ(p.role(), Role::kHost);
  Parts::enslave(p.card("eth2"), ovs);
  EXPECT_EQ(p.role(), Role::kSwitch);
}

// A hypervisor: guests and one bond in a bridge, and a bridge for each VLAN of the bond.
TEST(Machine, BondIsOneCableAndSoIsWhatStandsOnIt) {
  Parts p;
  Interface& bond = p.add("bond0", "bond");
  Parts::enslave(p.card("eth1"), bond);
  Parts::enslave(p.card("eth2"), bond);
  Interface& br0 = p.add("br0", "bridge");
  Parts::enslave(bond, br0);
  for (int i = 0; i < 20; ++i) Parts::enslave(p.add("vnet" + std::to_string(i), "tun"), br0);
  for (int i = 100; i < 103; ++i) {
    Interface& vlan = p.add("bond0." + std::to_string(i), "vlan");
    vlan.lower = bond.ifindex;
    Parts::enslave(vlan, br0);
  }
  EXPECT_EQ(p.role(true), Role::kHost);
  Parts::enslave(p.card("eth3"), br0);
  EXPECT_EQ(p.why(true), "its bridge br0 has 2 physical ports");
}

TEST(Machine, VlansOfTwoCardsInABridgeAreTwoCables) {
  Parts p;
  Interface& br0 = p.add("br0", "bridge");
  for (const char* name : {"eth1", "eth2"}) {
    const Ifindex lower = p.card(name).ifindex;
    Interface& vlan = p.add(std::string(name) + ".7", "vlan");
    vlan.lower = lower;
    Parts::enslave(vlan, br0);
  }
  EXPECT_EQ(p.role(), Role::kSwitch);
}

TEST(Machine, VlanThatStandsOnItselfEndsTheSearch) {
  Parts p;
  Interface& vlan = p.add("a", "vlan");
  vlan.lower = vlan.ifindex;
  Parts::enslave(vlan, p.add("br0", "bridge"));
  EXPECT_EQ(p.role(), Role::kHost);
}

TEST(Machine, IsASwitchThatForwardsIpBetweenFourPhysicalPorts) {
  Parts p;
  p.cards(3, "eth");
  for (int i = 0; i < 30; ++i) p.add("veth" + std::to_string(i), "veth");
  EXPECT_EQ(p.role(true), Role::kHost);
  EXPECT_EQ(p.why(true), "it forwards IP with 3 physical ports only, and bridges none");
  p.card("eth4");
  EXPECT_EQ(p.role(false), Role::kHost);
  EXPECT_EQ(p.role(true), Role::kSwitch);
  EXPECT_EQ(p.why(true), "it forwards IP, with 4 physical ports");
}

TEST(VirtualFunction, IsToldBySysfs) {
  const TempDir devices;
  std::filesystem::create_directories(devices / "0000:03:00.0");
  std::filesystem::create_directories(devices / "0000:03:02.1");
  std::filesystem::create_directory_symlink("../0000:03:00.0", devices / "0000:03:02.1/physfn");
  EXPECT_FALSE(is_virtual_function("0000:03:00.0", devices.path()));
  EXPECT_TRUE(is_virtual_function("0000:03:02.1", devices.path()));
  EXPECT_FALSE(is_virtual_function("0000:ff:00.0", devices.path()));
}

std::vector<std::string> left_out(const Parts& parts, NameSelection ports, bool forwards_ip) {
  return io::left_out(parts.all(), ports, parts.machine(), forwards_ip);
}

TEST(LeftOut, ArePhysicalPortsThatPacketsReachAndNoPatternTakes) {
  Parts parts;
  parts.cards(3, "swp");
  for (auto& [ifindex, link] : parts.all_of_them()) link.up = true;
  parts.add("veth0", "veth").up = true;
  using Names = std::vector<std::string>;
  EXPECT_EQ(left_out(parts, {.wanted = {"swp1", "swp2"}}, true), Names{"swp3"});
  EXPECT_EQ(left_out(parts, {.wanted = {"swp1", "swp2"}}, false), Names{}) << "nothing is routed";
  EXPECT_EQ(left_out(parts, {.wanted = {"swp1", "swp2"}, .unwanted = {"swp3"}}, true), Names{});
  EXPECT_EQ(left_out(parts, {.wanted = {"swp*"}}, true), Names{});
  EXPECT_EQ(left_out(parts, {.wanted = {"none"}}, true), Names{}) << "no port: another alarm";
  EXPECT_EQ(left_out(parts, {.unwanted = {"swp1"}}, true), Names{}) << "the default";
}

TEST(LeftOut, AreNotThoseThatAPortStandsOn) {
  Parts parts;
  const Interface bond = parts.add("bond0", "bond");
  Interface& vlan = parts.add("eth2.100", "vlan");
  parts.card("swp1").up = true;
  for (const char* name : {"eth0", "eth1", "eth2"}) {
    Interface& link = parts.card(name);
    link.up = true;
    if (link.name != "eth2") Parts::enslave(link, bond);
    if (link.name == "eth2") vlan.lower = link.ifindex;
  }
  const auto names = [&](std::vector<std::string> wanted) {
    return left_out(parts, {.wanted = std::move(wanted)}, true);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({"swp1", "bond0", "eth2.100"}), Names{});
  EXPECT_EQ(names({"swp1", "bond0"}), Names{"eth2"});
  EXPECT_EQ(names({"swp1", "eth2.100"}), (Names{"eth0", "eth1"}));
}

TEST(LeftOut, AreNotThoseOfAnotherVrfUnlessABridgeHasBoth) {
  Parts parts;
  const Interface vrf = parts.add("mgmt", "vrf");
  const Interface bridge = parts.add("br0", "bridge");
  parts.card("swp1").up = true;
  Interface& other = parts.card("eth0");
  other.up = true;
  Parts::enslave(other, vrf);
  EXPECT_EQ(left_out(parts, {.wanted = {"swp1"}}, true), std::vector<std::string>{});
  for (auto& [ifindex, link] : parts.all_of_them())
    if (link.physical) Parts::enslave(link, bridge);
  EXPECT_EQ(left_out(parts, {.wanted = {"swp1"}}, false), std::vector<std::string>{"eth0"});
}

TEST(Machine, SaysOfAHostAloneThatItForwards) {
  Parts p;
  p.cards(2, "eth");
  EXPECT_FALSE(p.machine().role(Forwards::kNothing).forwards);
  EXPECT_TRUE(p.machine().role(Forwards::kBySome).forwards);
  EXPECT_TRUE(p.machine().role(Forwards::kByAll).forwards);
  p.cards(2, "other");
  EXPECT_FALSE(p.machine().role(Forwards::kByAll).forwards) << "a switch";
  const Machine::Verdict some = p.machine().role(Forwards::kBySome);
  EXPECT_EQ(some.role, Role::kHost);
  EXPECT_TRUE(some.forwards);
  EXPECT_EQ(some.why, "it forwards IP by some interfaces only, and bridges none");
}

bool has_guests(const Parts& parts, const NameSelection& ports = {}) {
  return forwards_for_guests(parts.all(), ports, parts.machine());
}

TEST(Guests, AreWhatContainersMachinesAndVpnsLeaveOnAServer) {
  for (const char* kind :
       {"bridge", "veth", "tun", "macvlan", "macvtap", "ipvlan", "netkit", "openvswitch"}) {
    Parts parts;
    parts.cards(2, "eth");
    EXPECT_FALSE(has_guests(parts));
    parts.add("x", kind);
    EXPECT_TRUE(has_guests(parts)) << kind;
  }
  for (const char* kind : {"wireguard", "vxlan", "ipip", "gre", "ppp", "of-another-kernel"}) {
    Parts parts;
    Interface& link = parts.add("x", kind);
    EXPECT_FALSE(has_guests(parts)) << kind << " that is down, as tunl0 is";
    link.up = true;
    EXPECT_TRUE(has_guests(parts)) << kind;
  }
  Parts representor;
  representor.card("eth0");
  representor.add("eth0_vf1");
  EXPECT_TRUE(has_guests(representor)) << "a virtual machine's function";
}

TEST(Guests, AreNotWhatARouterHas) {
  Parts parts;
  parts.cards(2, "eth");
  for (const char* kind : {"bond", "team", "vlan", "vrf", "dummy", "ifb", "macsec"})
    parts.add(std::string("a") + kind, kind).up = true;
  parts.add("lo").ethernet = false;
  EXPECT_FALSE(has_guests(parts));
}

TEST(Guests, AreNotOnAnAddressThatRoutersShare) {
  Parts parts;
  parts.cards(2, "eth");
  Interface& vrrp = parts.add("vrrp.7", "macvlan");
  for (const std::uint8_t family : {std::uint8_t{1}, std::uint8_t{2}}) {
    vrrp.address = {0x00, 0x00, 0x5e, 0x00, family, 7};
    EXPECT_FALSE(has_guests(parts));
  }
  vrrp.address[4] = 3;
  EXPECT_TRUE(has_guests(parts));
}

TEST(Guests, AreNotOnABridgeOfPortsAlone) {
  Parts parts;
  parts.card("eth0");
  const Ifindex bridge = parts.add("br0", "bridge").ifindex;
  parts.add("eth1").master = bridge;
  const NameSelection ports{.wanted = {"eth*"}};
  EXPECT_FALSE(has_guests(parts, ports));
  parts.add("tap0", "tun").master = bridge;
  EXPECT_TRUE(has_guests(parts, ports));
}

TEST(Guests, AreNoPorts) {
  Parts parts;
  parts.card("eth0");
  parts.add("p0", "veth");
  EXPECT_TRUE(has_guests(parts));
  EXPECT_FALSE(has_guests(parts, {.wanted = {"eth0", "p*"}}));
  EXPECT_TRUE(has_guests(parts, {.wanted = {"eth0", "p*"}, .unwanted = {"p0"}}));
}

TEST(RoutedTogether, AreTheCablesOfOneVrf) {
  Parts parts;
  const Interface vrf = parts.add("red", "vrf");
  const Ifindex first = parts.card("eth0").ifindex;
  const Ifindex second = parts.card("eth1").ifindex;
  Interface& third = parts.card("eth2");
  using Ports = std::vector<Ifindex>;
  const auto together = [&](const Ports& ports) { return routed_together(parts.all(), ports); };
  EXPECT_EQ(together({}), Ports{});
  EXPECT_EQ(together({second, first}), (Ports{first, second}));
  EXPECT_EQ(together({first, second, third.ifindex}), (Ports{first, second, third.ifindex}));
  Parts::enslave(third, vrf);
  EXPECT_EQ(together({first, second, third.ifindex}), (Ports{first, second}));
  EXPECT_EQ(together({first, third.ifindex}).size(), 1U);
  EXPECT_EQ(together({first, *Ifindex::make(99)}), Ports{first}) << "it is gone";
}

TEST(RoutedTogether, TakesABondAndWhatStandsOnAnInterfaceForOneCable) {
  Parts parts;
  const Interface bond = parts.add("bond0", "bond");
  const Ifindex single = parts.card("eth2").ifindex;
  Interface& vlan = parts.add("bond0.7", "vlan");
  vlan.lower = bond.ifindex;
  std::vector<Ifindex> ports;
  for (const char* name : {"eth0", "eth1"}) {
    Interface& member = parts.card(name);
    Parts::enslave(member, bond);
    ports.push_back(member.ifindex);
  }
  EXPECT_EQ(routed_together(parts.all(), ports).size(), 1U);
  ports.push_back(bond.ifindex);
  ports.push_back(vlan.ifindex);
  EXPECT_EQ(routed_together(parts.all(), ports).size(), 1U);
  ports.push_back(single);
  EXPECT_EQ(routed_together(parts.all(), ports).size(), 2U);
}

}  // namespace
}  // namespace lldp::io
