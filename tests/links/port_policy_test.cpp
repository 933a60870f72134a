// SPDX-License-Identifier: Apache-2.0
#include "agent/links/port_policy.hpp"

#include <gtest/gtest.h>

namespace lldp::io {
namespace {

Interface ethernet(std::string name, std::string kind = "", std::string master_kind = "") {
  return {.ifindex = Ifindex::of<7>(),
          .name = std::move(name),
          .kind = std::move(kind),
          .master_kind = std::move(master_kind),
          .ethernet = true,
          .up = true};
}
const NameSelection kAll{.wanted = {"*"}};

struct KindCase {
  const char* name = "";
  const char* kind = "";
  bool port = false;
  friend void PrintTo(const KindCase& c, std::ostream* os) { *os << c.name; }
};
class UsualPorts : public testing::TestWithParam<KindCase> {};
TEST_P(UsualPorts, AreThoseAtTheEndOfACable) {
  EXPECT_EQ(is_port(ethernet("x0", GetParam().kind), kAll, {}), GetParam().port);
}
const KindCase kKinds[] = {
    {"Physical", "", true},    {"Veth", "veth", true},      {"Tap", "tun", true},
    {"Dsa", "dsa", true},      {"Bridge", "bridge", false}, {"Bond", "bond", false},
    {"Vlan", "vlan", false},   {"Vxlan", "vxlan", false},   {"Macvlan", "macvlan", false},
    {"Dummy", "dummy", false}, {"Vrf", "vrf", false},       {"Ifb", "ifb", false},
};
INSTANTIATE_TEST_SUITE_P(Kinds, UsualPorts, testing::ValuesIn(kKinds),
                         [](const auto& c) { return c.param.name; });

TEST(IsPort, GoesByNameAloneWhenAPatternNamesIt) {
  const NameSelection globs{.wanted = {"dum*"}};
  EXPECT_TRUE(is_port(ethernet("dummy0", "dummy"), globs, {}));
  EXPECT_FALSE(is_port(ethernet("swp1"), globs, {}));
}

TEST(IsPort, TakesAStackedInterfaceByItsExactNameAlone) {
  for (const char* kind : {"vlan", "macvlan", "macvtap", "ipvlan", "macsec"}) {
    Interface upper = ethernet("swp1.100", kind);
    upper.lower = Ifindex::of<1>();
    EXPECT_FALSE(is_port(upper, {.wanted = {"swp*"}}, {})) << kind;
    EXPECT_FALSE(is_port(upper, {.wanted = {"swp1.10?"}}, {})) << kind;
    EXPECT_TRUE(is_port(upper, {.wanted = {"swp*", "swp1.100"}}, {})) << kind;
    EXPECT_TRUE(is_stacked(upper)) << kind;
  }
  for (const char* kind : {"bond", "team", "bridge", "vrf", "vxlan"}) {
    EXPECT_FALSE(is_port(ethernet("swp0", kind), {.wanted = {"swp*"}}, {})) << kind;
    EXPECT_TRUE(is_port(ethernet("swp0", kind), {.wanted = {"swp0"}}, {})) << kind;
  }
  for (const char* kind : {"", "veth", "dsa", "netkit"}) {  // the other end, or the switch's own
    Interface end = ethernet("swp1", kind);
    end.lower = Ifindex::of<1>();
    EXPECT_TRUE(is_port(end, {.wanted = {"swp*"}}, {})) << kind;
    EXPECT_FALSE(is_stacked(end)) << kind;
  }
}

TEST(IsPort, IsNoneThatIsLeftOut) {
  const NameSelection but{.wanted = {"*", "swp48"}, .unwanted = {"swp4?", "eth0"}};
  EXPECT_TRUE(is_port(ethernet("swp1"), but, {}));
  EXPECT_FALSE(is_port(ethernet("swp48"), but, {}));
  EXPECT_FALSE(is_port(ethernet("eth0"), but, {}));
}

TEST(IsPort, IsAPhysicalOneWhereNoneIsNamed) {
  Interface port = ethernet("eth0");
  EXPECT_FALSE(is_port(port, {}, {}));
  port.physical = true;
  EXPECT_TRUE(is_port(port, {}, {}));
  EXPECT_FALSE(is_port(port, {.unwanted = {"eth0"}}, {}));
  EXPECT_FALSE(is_port(ethernet("veth0", "veth"), {.unwanted = {"eth0"}}, {}));
}

TEST(IsPort, IsAlwaysEthernet) {
  Interface tun = ethernet("tun0", "tun");
  tun.ethernet = false;
  EXPECT_FALSE(is_port(tun, kAll, {}));
  EXPECT_FALSE(is_port(tun, {.wanted = {"tun0"}}, {}));
}

struct MasterCase {
  const char* name = "";
  const char* master = "";
  Hearing hearing = Hearing::kShared;
  bool bridged = false;
  friend void PrintTo(const MasterCase& c, std::ostream* os) { *os << c.name; }
};
class Masters : public testing::TestWithParam<MasterCase> {};
TEST_P(Masters, DecideHowFramesAreHeard) {
  const Interface link = ethernet("swp1", "", GetParam().master);
  EXPECT_EQ(port_of(link).hearing, GetParam().hearing);
  EXPECT_EQ(is_bridged(link), GetParam().bridged);
}
const MasterCase kMasters[] = {
    {"None", "", Hearing::kShared, false},    {"Bridge", "bridge", Hearing::kShared, true},
    {"Vrf", "vrf", Hearing::kShared, false},  {"Bond", "bond", Hearing::kBound, false},
    {"Team", "team", Hearing::kBound, false}, {"OpenVswitch", "openvswitch", Hearing::kTap, true},
};
INSTANTIATE_TEST_SUITE_P(Kinds, Masters, testing::ValuesIn(kMasters),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace lldp::io
