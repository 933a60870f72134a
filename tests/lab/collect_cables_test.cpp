// SPDX-License-Identifier: Apache-2.0
// The cables of a whole fabric, as its agents tell them, against a plan.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "agent/report/report.hpp"
#include "lab/agents/fabric_network.hpp"
#include "lab/collect/cables.hpp"
#include "lab/collect/read.hpp"
#include "lab/topology/generators.hpp"
#include "lab/topology/json.hpp"

namespace lldp::lab::collect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Wrong = CableFinding::Kind;

/// 100 devices: 64 hosts, 32 leaves, 4 spines, every port by its name in the fabric; links of 100
/// Gb/s. What is wired may differ from the plan.
struct Wired {
  Wired() {
    const auto made = clos({.switches = {32, 4}, .pods = {}, .hosts = 64});
    fabric = *made;
    auto text = nlohmann::json::parse(to_json(fabric));
    for (auto& link : text.at("links")) link["speed"] = "100G", link["mtu"] = "9216";
    plan = *cabling::read_json(text.dump());
    wires = fabric.links;
    speeds.assign(wires.size(), 100'000);
    mtus.assign(wires.size(), 9216);
  }
  [[nodiscard]] std::vector<Device> told() const {
    std::vector<Device> devices;
    for (const Node& node : fabric.nodes)
      devices.push_back(
          {.chassis = "chassis of " + node.name, .name = node.name, .role = node.role});
    for (std::size_t w = 0; w < wires.size(); ++w)
      for (std::size_t e = 0; e < 2; ++e) {
        const LinkEnd& own = wires[w].ends[e];
        const LinkEnd& far = wires[w].ends[1 - e];
        const Device& peer = devices[far.node];
        Port port{.name = own.port, .up = true, .speed_mbps = speeds[w], .mtu = mtus[w]};
        if (!cut.contains(w))
          port.heard.push_back(
              {.chassis = peer.chassis, .name = peer.name, .port = far.port, .role = peer.role});
        devices[own.node].ports.push_back(std::move(port));
      }
    return devices;
  }
  [[nodiscard]] CableCheck check() const { return *check_cables(plan, told()); }
  [[nodiscard]] std::string end(std::size_t wire, std::size_t e) const {
    const LinkEnd& end = fabric.links[wire].ends[e];
    return fabric.nodes[end.node].name + ":" + end.port;
  }

  Fabric fabric{};
  cabling::Drawing plan{};
  std::vector<Link> wires{};
  std::vector<std::uint32_t> speeds{};
  std::vector<std::uint32_t> mtus{};
  std::set<std::size_t> cut{};
};

TEST(Cables, OfAFabricOfAHundredAgentsAreAllRight) {
  const Wired fabric;
  EXPECT_EQ(fabric.fabric.nodes.size(), 100U);
  const CableCheck check = fabric.check();
  EXPECT_EQ(check.planned, fabric.fabric.links.size());
  EXPECT_EQ(check.right, check.planned);
  EXPECT_THAT(check.findings, IsEmpty());
  EXPECT_THAT(check.counts, IsEmpty());
}

/// CABLE_STEP=1 collect_test --gtest_filter='Cables.*': every pair, and both ways to swap it.
TEST(Cables, EverySwappedPairIsOneFindingThatNamesBothPlugs) {
  const char* given = std::getenv("CABLE_STEP");
  const std::size_t step = given != nullptr ? std::strtoul(given, nullptr, 10) : 101;
  Wired fabric;
  std::size_t pairs = 0;
  std::size_t number = 0;
  for (std::size_t a = 0; a < fabric.wires.size(); ++a)
    for (std::size_t b = a + 1; b < fabric.wires.size(); ++b)
      for (std::size_t e = 0; e < 2; ++e) {
        if (number++ % step != 0) continue;
        std::swap(fabric.wires[a].ends[1], fabric.wires[b].ends[e]);
        const CableCheck check = fabric.check();
        ++pairs;
        ASSERT_EQ(check.findings.size(), 1U)
            << fabric.end(a, 1) << " and " << fabric.end(b, e) << "\n"
            << to_table(check);
        const CableFinding& f = check.findings[0];
        EXPECT_EQ(f.kind, Wrong::kSwapped);
        EXPECT_EQ(check.right, check.planned - 2);
        // Either the two plugs that were exchanged, or those at the other ends.
        const auto names = [&](const std::string& one, const std::string& two) {
          const auto port = [](const std::string& end) { return end.substr(end.find(':') + 1); };
          const bool same = one.substr(0, one.find(':')) == two.substr(0, two.find(':'));
          return f.text == fmt::format("exchange {} and {}", same ? port(one) : one,
                                       same ? port(two) : two) ||
                 f.text == fmt::format("exchange {} and {}", same ? port(two) : two,
                                       same ? port(one) : one);
        };
        EXPECT_TRUE(names(fabric.end(a, 1), fabric.end(b, e)) ||
                    names(fabric.end(a, 0), fabric.end(b, 1 - e)))
            << f.text << ": " << fabric.end(a, 1) << " " << fabric.end(b, e);
        std::swap(fabric.wires[a].ends[1], fabric.wires[b].ends[e]);
      }
  EXPECT_GT(pairs, 300U);
}

TEST(Cables, EveryMissingCableIsFound) {
  Wired fabric;
  for (std::size_t w = 0; w < fabric.wires.size(); w += 5) {
    fabric.cut = {w};
    const CableCheck check = fabric.check();
    ASSERT_EQ(check.findings.size(), 1U);
    EXPECT_EQ(check.findings[0].kind, Wrong::kMissing);
    EXPECT_EQ(check.findings[0].device + ":" + check.findings[0].port, fabric.end(w, 0));
    EXPECT_EQ(check.findings[0].peer, fabric.end(w, 1));
    ASSERT_EQ(check.counts.size(), 1U);
    EXPECT_EQ(check.counts[0].planned, check.counts[0].seen + 1);
  }
}

TEST(Cables, EveryHalfSpeedCableIsFound) {
  Wired fabric;
  for (std::size_t w = 0; w < fabric.wires.size(); w += 5) {
    fabric.speeds[w] = 50'000;
    const CableCheck check = fabric.check();
    ASSERT_EQ(check.findings.size(), 1U);
    EXPECT_EQ(check.findings[0],
              (CableFinding{Wrong::kSpeed, fabric.fabric.nodes[fabric.wires[w].ends[0].node].name,
                            fabric.wires[w].ends[0].port, fabric.end(w, 1),
                            "runs at 50 Gb/s, planned 100 Gb/s"}));
    fabric.speeds[w] = 100'000;
  }
  fabric.mtus[3] = 1500;
  const CableCheck check = fabric.check();
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_EQ(check.findings[0].kind, Wrong::kMtu);
  EXPECT_EQ(check.findings[0].text, "has MTU 1500, planned 9216");
}

/// A device that does not answer is known by what the other ends hear.
TEST(Cables, MtuAndSpeedOfASilentEndAreThoseThatItsNeighborHears) {
  Wired fabric;
  std::vector<Device> devices = fabric.told();
  const std::size_t silent = fabric.wires[3].ends[1].node;
  for (std::size_t w = 0; w < fabric.wires.size(); ++w)
    for (const std::size_t e : {0U, 1U})
      if (fabric.wires[w].ends[e].node == silent) {
        const LinkEnd& other = fabric.wires[w].ends[1 - e];
        for (Port& port : devices[other.node].ports)
          if (port.name == other.port) {
            port.heard[0].frame_octets = w == 3 ? 1518 : 9216 + 22;  // as some agents count
            port.heard[0].speed_mbps = w == 3 ? 0 : 100'000;
          }
      }
  devices.erase(devices.begin() + static_cast<std::ptrdiff_t>(silent));
  const auto mtu = [&] { return check_cables(fabric.plan, devices)->findings; };
  EXPECT_THAT(mtu(),
              testing::ElementsAre(CableFinding{
                  Wrong::kMtu, fabric.fabric.nodes[silent].name, fabric.wires[3].ends[1].port,
                  fabric.end(3, 0), "has MTU 1500 by its Maximum Frame Size, planned 9216"}));
  nlohmann::json text = nlohmann::json::parse(to_json(fabric.fabric));  // nothing is planned
  fabric.plan = *cabling::read_json(text.dump());
  EXPECT_THAT(mtu(), testing::ElementsAre(testing::Field(
                         &CableFinding::text,
                         HasSubstr("has MTU 9216 here and 1500 by its Maximum Frame Size at the "
                                   "other end"))));
}

/// What `show --json` of real agents tells, of links as their drivers report them. Every fifth
/// cable; all with CABLE_STEP=1.
TEST(Cables, OfHalfSpeedAreFoundInWhatAHundredAgentsTell) {
  Wired fabric;
  agents::Network net = agents::network_of(fabric.fabric, 1);
  net.start_all();
  net.run_for(std::chrono::seconds(10));
  core::Actions ignored;
  const auto report = [&](std::size_t node, const std::string& name, std::uint32_t speed) {
    auto& ports = net.nodes[node].ports;
    for (std::size_t slot = 0; slot < ports.size(); ++slot)
      if (*ports[slot].name == name)
        net.nodes[node].agent->set_link(
            {.ifindex = *Ifindex::make(slot + 1),
             .name = name,
             .address = ports[slot].address,
             .up = true,
             .carrier_changes = ports[slot].carrier_changes,
             .mtu = 9216,
             .details = core::LinkDetails{.mac_phy = core::MacPhy{.speed_mbps = speed}}},
            net.now, ignored);
  };
  const auto told = [&](std::size_t node) {
    const auto snapshot = net.agent(node).snapshot(net.now);
    auto device = read_device(report::show_json(snapshot, {}, {}), fabric.fabric.nodes[node].name);
    EXPECT_TRUE(device);
    return device ? *device : Device();
  };
  for (const Link& link : fabric.wires)
    for (const LinkEnd& end : link.ends) report(end.node, end.port, 100'000);
  std::vector<Device> devices;
  for (std::size_t n = 0; n < fabric.fabric.nodes.size(); ++n) devices.push_back(told(n));
  const auto right = check_cables(fabric.plan, devices);
  ASSERT_TRUE(right);
  EXPECT_EQ(right->right, fabric.wires.size()) << to_table(*right);
  const char* given = std::getenv("CABLE_STEP");
  const std::size_t step = given != nullptr ? std::strtoul(given, nullptr, 10) : 5;
  for (std::size_t w = 0; w < fabric.wires.size(); w += step) {
    const auto run_at = [&](std::uint32_t speed) {
      for (const LinkEnd& end : fabric.wires[w].ends) {
        report(end.node, end.port, speed);
        devices[end.node] = told(end.node);
      }
    };
    run_at(50'000);
    const auto check = check_cables(fabric.plan, devices);
    ASSERT_EQ(check->findings.size(), 1U) << to_table(*check);
    EXPECT_EQ(check->findings[0].kind, Wrong::kSpeed);
    EXPECT_EQ(check->findings[0].device + ":" + check->findings[0].port, fabric.end(w, 0));
    EXPECT_EQ(check->findings[0].peer, fabric.end(w, 1));
    EXPECT_EQ(check->findings[0].text, "runs at 50 Gb/s, planned 100 Gb/s");
    run_at(100'000);
  }
}

TEST(Cables, EveryUnplannedCableIsFound) {
  Wired fabric;
  for (std::size_t n = 1; n < fabric.fabric.nodes.size(); n += 9) {
    Link link;
    link.ends = {LinkEnd{0, "extra"}, LinkEnd{n, "spare"}};
    fabric.wires.push_back(link);
    fabric.speeds.push_back(100'000);
    fabric.mtus.push_back(9216);
    const CableCheck check = fabric.check();
    ASSERT_EQ(check.findings.size(), 1U);
    EXPECT_EQ(check.findings[0].kind, Wrong::kUnplanned);
    EXPECT_EQ(check.right, check.planned);
    fabric.wires.pop_back(), fabric.speeds.pop_back(), fabric.mtus.pop_back();
  }
}

TEST(Cables, WhatIsNoNumberIsNotComparedAndSaid) {
  Wired fabric;
  auto text = nlohmann::json::parse(to_json(fabric.fabric));
  text.at("links").front()["mtu"] = "jumbo";
  fabric.plan = *cabling::read_json(text.dump());
  const CableCheck check = fabric.check();
  EXPECT_EQ(check.right, check.planned);
  EXPECT_THAT(check.notes, testing::ElementsAre(HasSubstr("mtu jumbo is none: not compared")));
}

TEST(Cables, OneInAWrongFreePortIsWrong) {
  Wired fabric;
  fabric.wires[0].ends[1].port = "spare";
  const CableCheck check = fabric.check();
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_EQ(check.findings[0].kind, Wrong::kWrong);
  EXPECT_THAT(check.findings[0].text, HasSubstr(":spare"));
}

// Names and hard inputs

Device device(const std::string& name, std::vector<Port> ports) {
  return {.chassis = "02:00:00:00:00:0" + name.substr(name.size() - 1),
          .name = name,
          .role = Role::kSwitch,
          .ports = std::move(ports)};
}
CableCheck against(std::string_view csv, const std::vector<Device>& devices) {
  return *check_cables(*cabling::read(csv), devices);
}

TEST(Cables, OfBreakoutsGoByTheNamesOfEitherSide) {
  const std::vector<Device> devices = {device(
      "leaf1.example.net",
      {{.name = "swp1s0", .heard = {{.name = "Spine1", .port = "Eth1/1/2", .role = Role::kSwitch}}},
       {.name = "swp1s1",
        .heard = {{.chassis = "02:00:00:00:00:02",
                   .name = "spine1",
                   .port = "513",
                   .description = "Ethernet1/1/3"}}}})};
  EXPECT_EQ(against("source,source port,destination,destination port\n"
                    "leaf1,swp1s0,spine1,Ethernet1/1/2\nleaf1,SWP1S1,spine1,Ethernet1/1/3\n",
                    devices)
                .right,
            2U);
}

TEST(Cables, OfAPlanWithAThousandWrongLinesNameThemAndTheRestIsUsed) {
  std::string csv = "source,source port,destination,destination port\n";
  for (int i = 0; i < 1000; ++i) csv += "leaf1,,spine1,\n";
  csv += "leaf1,swp1,spine1,swp9\n";
  const CableCheck check = against(
      csv, {device("leaf1", {{.name = "swp1", .heard = {{.name = "spine1", .port = "swp9"}}}})});
  EXPECT_EQ(check.right, 1U);
  EXPECT_EQ(check.planned, 1U);
  ASSERT_THAT(check.notes, testing::Not(IsEmpty()));
  EXPECT_THAT(check.notes.front(), HasSubstr("line 2"));
  EXPECT_LT(check.notes.size(), 20U);
}

TEST(Cables, OfAPlanWithAPortTwiceNameTheLineAndUseTheRest) {
  const auto plan = cabling::read_plan(
      "graph G {\n\"leaf1\":\"swp1\" -- \"spine1\":\"swp1\"\n\"leaf1\":\"swp1\" -- "
      "\"spine2\":\"swp1\"\n\"leaf1\":\"swp2\" -- \"spine2\":\"swp1\"\n}\n");
  const auto check = check_cables(*plan, {});
  ASSERT_TRUE(check) << to_string(check.error());
  EXPECT_EQ(check->planned, 2U);
  EXPECT_THAT(check->notes,
              testing::ElementsAre("line 3: leaf1:swp1 has a cable already, by line 2: left out"));
}

TEST(Cables, OfTwoDevicesWithOneChassisIdGoByTheirNames) {
  std::vector<Device> devices = {
      device("leaf1",
             {{.name = "p",
               .heard = {{.chassis = "02:00:00:00:00:0a", .name = "host1", .port = "e"}}}}),
      device("leaf2",
             {{.name = "p",
               .heard = {{.chassis = "02:00:00:00:00:0a", .name = "host2", .port = "e"}}}})};
  EXPECT_EQ(
      against("source,source port,destination,destination port\nleaf1,p,host1,e\nleaf2,p,host2,e\n",
              devices)
          .right,
      2U);
}

TEST(Cables, OfDevicesThatDoNotTellAreUnknownAndNotMissing) {
  const CableCheck check =
      against("source,source port,destination,destination port\nleaf1,p,spine1,q\n", {});
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_EQ(check.findings[0].kind, Wrong::kUnknown);
}

TEST(Cables, SpeedsAreReadAsPlannersWriteThem) {
  for (const char* text : {"100G", "100Gbps", "100 Gb/s", "100000", "100GbE"})
    EXPECT_EQ(speed_mbps_of(text), 100'000U) << text;
  for (const char* text : {"", "fast", "0", "100T", "9999999999", "G"})
    EXPECT_EQ(speed_mbps_of(text), std::nullopt) << text;
}

TEST(Cables, TableAndJsonTellTheSame) {
  Wired fabric;
  fabric.cut = {0};
  const CableCheck check = fabric.check();
  EXPECT_THAT(to_table(check), HasSubstr("missing    " + fabric.end(0, 0)));
  const auto json = nlohmann::json::parse(to_json(check));
  EXPECT_EQ(json["findings"][0]["kind"], "missing");
  EXPECT_EQ(json["planned"], check.planned);
  Marks marks;
  add_marks(check, fabric.fabric, marks);
  EXPECT_EQ(marks.doubtful_links.size(), 1U);
}

}  // namespace
}  // namespace lldp::lab::collect
