// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/expect.hpp"

#include "agent/report/report.hpp"
#include "tests/support/golden.hpp"

namespace lldp::cli {
namespace {

core::PortInfo port(std::string name, std::string neighbor = {}, std::string port_id = {},
                    std::string description = {}) {
  core::PortInfo info{.name = std::move(name), .up = true};
  if (neighbor.empty()) return info;
  core::NeighborInfo n{.port_description = std::move(description), .system_name = neighbor};
  n.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 9});
  n.port_id.subtype = PortId::kInterfaceName;
  n.port_id.octets = std::move(port_id);
  info.neighbors.push_back(std::move(n));
  return info;
}

/// What the daemon of a leaf answers, two of whose cables are swapped.
std::string answer(std::string name = "leaf1.example") {
  core::Snapshot s{.system_name = std::move(name)};
  s.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 1});
  s.ports = {port("eth0", "mgmt", "7"),
             port("swp1", "spine1", "swp1"),
             port("swp2", "spine3", "swp1"),
             port("swp3", "spine2", "swp1"),
             port("swp4"),
             port("swp5"),
             port("swp9", "h1", "17", "eth0")};
  return report::show_json(s, {}, {});
}

cabling::Drawing drawing() {
  return cabling::read_dot(R"(graph {
    leaf1:swp1 -- spine1:swp1; leaf1:swp2 -- spine2:swp1; leaf1:swp3 -- spine3:swp1
    leaf1:swp4 -- spine4:swp1; leaf1:swp9 -- h1:eth0; leaf1:swp10 -- h2:eth0
    other [chassis="02:00:00:00:00:01"]; other:swp1 -- spine1:swp1
  })")
      .value();
}

TEST(ExpectCommand, Text) {
  const auto cabling = check_cabling(drawing(), answer(), "");
  ASSERT_TRUE(cabling) << to_string(cabling.error());
  EXPECT_FALSE(cabling->as_expected());
  support::expect_golden(cabling_text(*cabling, {}), "cli/golden/expect.txt");
}

TEST(ExpectCommand, ASecondSwitchOnThePortIsWrong) {
  core::Snapshot s{.system_name = "leaf1"};
  s.ports = {port("swp1", "spine1", "swp1")};
  core::NeighborInfo other{.system_name = "leaf2"};
  other.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 8});
  other.device_type = DeviceType::kSwitch;
  s.ports[0].neighbors.push_back(other);
  const auto verdict = [&] {
    return check_cabling(drawing(), report::show_json(s, {}, {}), "").value().ports[0].verdict;
  };
  EXPECT_EQ(verdict(), cabling::Verdict::kWrong);
  s.ports[0].neighbors[1].device_type = DeviceType::kHost;
  EXPECT_EQ(verdict(), cabling::Verdict::kAsExpected);
}

TEST(ExpectCommand, Json) {
  const auto cabling = check_cabling(drawing(), answer(), "");
  ASSERT_TRUE(cabling) << to_string(cabling.error());
  support::expect_golden(cabling_json(*cabling) + "\n", "cli/golden/expect.json");
}

TEST(ExpectCommand, TheDeviceIsFoundByNameOrChassisOrAsTold) {
  EXPECT_EQ(check_cabling(drawing(), answer("x"), "").value().device, "other");
  EXPECT_EQ(check_cabling(drawing(), answer("x"), "leaf1").value().device, "leaf1");
  EXPECT_EQ(to_string(check_cabling(drawing(), answer(), "leaf9").error()),
            "leaf9: the file has no node of this name");
}

TEST(ExpectCommand, AllAsExpected) {
  core::Snapshot s{.system_name = "a"};
  s.ports = {port("1", "b", "2"), port("3")};
  const auto drawn = cabling::read_dot("graph { a:1 -- b:2 }").value();
  const auto cabling = check_cabling(drawn, report::show_json(s, {}, {}), "").value();
  EXPECT_TRUE(cabling.as_expected());
  EXPECT_EQ(cabling_text(cabling, {}),
            "a: 1 port, all as expected\n"
            "PORT  CABLE        EXPECTED  HEARD\n"
            "1     as-expected  b:2       b:2\n");
}

TEST(ExpectCommand, AnAnswerOfAnotherShapeIsRefused) {
  EXPECT_EQ(check_cabling(drawing(), R"({"version":9})", "").error(), report::not_understood());
}

TEST(ExpectCommand, APortGoesByItsAliasWhereTheFileHasThat) {
  core::Snapshot s{.system_name = "leaf1"};
  s.ports = {port("Ethernet0", "spine1", "etp9"), port("Ethernet4", "spine2", "etp9")};
  const auto drawn =
      cabling::read_dot("graph { leaf1:etp1 -- spine1:etp9; leaf1:Ethernet4 -- spine2:etp9 }");
  ASSERT_TRUE(drawn);
  const auto as_expected = [&](const report::Protection& protection) {
    return check_cabling(*drawn, report::show_json(s, protection, {}), "").value().as_expected();
  };
  EXPECT_TRUE(as_expected({.aliases = {{"Ethernet0", "etp1"}, {"Ethernet4", "etp2"}}}));
  EXPECT_FALSE(as_expected({}));
}

}  // namespace
}  // namespace lldp::cli
