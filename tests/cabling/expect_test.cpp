// SPDX-License-Identifier: Apache-2.0
#include "cabling/expect.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace lldp::cabling {
namespace {

using testing::ElementsAre;

constexpr const char* kPlan = R"(graph {
  "leaf1":"swp1" -- "spine1":"swp1"
  "leaf1":"swp2" -- "spine2":"swp1"
  "leaf2":"swp1" -- "spine1":"swp2"
  "server1":"eth0" -- "leaf1":"swp9"
})";

Drawing drawing(const char* text) {
  auto read = read_dot(text);
  EXPECT_TRUE(read) << to_string(read.error());
  return read.value_or(Drawing{});
}

Expectations of(const char* text, const char* self, const char* chassis = "") {
  auto made = Expectations::of(drawing(text), self, chassis);
  EXPECT_TRUE(made) << to_string(made.error());
  return made.value_or(Expectations{});
}

std::string refusal(const char* text, const char* self, const char* chassis = "") {
  const auto made = Expectations::of(drawing(text), self, chassis);
  return made ? "accepted as " + made->self() : to_string(made.error());
}

/// What is said of a port on which these are heard.
std::string said(const Expectations& all, const char* port, std::vector<Heard> heard) {
  const auto finding = all.judge(port, heard);
  return finding ? std::string(to_string(finding->verdict)) + ": " + finding->text() : "nothing";
}

TEST(Expect, SaysOfEachPortHowItStands) {
  const auto leaf = of(kPlan, "leaf1");
  EXPECT_EQ(leaf.self(), "leaf1");
  EXPECT_THAT(leaf.silence(), ElementsAre(testing::Field(&Finding::port, "swp1"),
                                          testing::Field(&Finding::port, "swp2"),
                                          testing::Field(&Finding::port, "swp9")));
  EXPECT_EQ(said(leaf, "swp1", {{.system_name = "spine1", .port_id = "swp1"}}),
            "as-expected: expected spine1:swp1, heard spine1:swp1");
  EXPECT_EQ(said(leaf, "swp2", {{.system_name = "spine1", .port_id = "swp2"}}),
            "wrong: expected spine2:swp1, heard spine1:swp2");
  EXPECT_EQ(said(leaf, "swp9", {}), "missing: expected server1:eth0, heard none");
  EXPECT_EQ(said(leaf, "swp3", {{.system_name = "leaf2", .port_id = "swp3"}}),
            "unplanned: no neighbor expected, heard leaf2:swp3");
  EXPECT_EQ(said(leaf, "swp4", {}), "nothing");
}

TEST(Expect, TheRightPortOfTheRightNeighborCounts) {
  const auto leaf = of(kPlan, "leaf1");
  EXPECT_EQ(said(leaf, "swp1", {{.system_name = "spine1", .port_id = "swp2"}}),
            "wrong: expected spine1:swp1, heard spine1:swp2");
  EXPECT_EQ(said(leaf, "swp1", {{.system_name = "spine2", .port_id = "swp1"}}),
            "wrong: expected spine1:swp1, heard spine2:swp1");
}

TEST(Expect, AnExpectedNeighborMayHaveCompany) {  // an LLDP agent in the firmware of a NIC
  const auto leaf = of(kPlan, "leaf1");
  EXPECT_EQ(said(leaf, "swp9",
                 {{.chassis_id = "02:00:00:00:00:07", .port_id = "02:00:00:00:00:07"},
                  {.system_name = "server1", .port_id = "eth0"}}),
            "as-expected: expected server1:eth0, heard 02:00:00:00:00:07:02:00:00:00:00:07, "
            "server1:eth0");
}

TEST(Expect, NoOtherSwitchMayBeOnThePort) {
  const auto leaf = of(kPlan, "leaf1");
  const Heard spine{.system_name = "spine1", .port_id = "swp1", .is_switch = true};
  const Heard other{.system_name = "leaf2", .port_id = "swp7", .is_switch = true};
  EXPECT_EQ(said(leaf, "swp1", {spine, other}),
            "wrong: expected spine1:swp1, heard spine1:swp1, leaf2:swp7");
  EXPECT_THAT(said(leaf, "swp1", {other, spine}), testing::StartsWith("wrong: "));
  EXPECT_THAT(said(leaf, "swp9", {{.system_name = "server1", .port_id = "eth0"}, other}),
              testing::StartsWith("wrong: "));
  Heard host = other;
  host.is_switch = false;
  EXPECT_THAT(said(leaf, "swp1", {spine, host}), testing::StartsWith("as-expected: "));
}

TEST(Expect, ASecondAgentOfTheExpectedSwitchIsNoOtherSwitch) {
  const auto leaf = of(kPlan, "leaf1");
  const Heard spine{.system_name = "spine1",
                    .chassis_id = "02:00:00:00:00:05",
                    .port_id = "swp1",
                    .is_switch = true};
  Heard again = spine;
  again.port_id = "Ethernet0";
  EXPECT_THAT(said(leaf, "swp1", {again, spine}), testing::StartsWith("as-expected: "));
  again.system_name.clear();  // known by the chassis ID of the one that has the name
  EXPECT_THAT(said(leaf, "swp1", {again, spine}), testing::StartsWith("as-expected: "));
  again.chassis_id = "02:00:00:00:00:06";
  EXPECT_THAT(said(leaf, "swp1", {again, spine}), testing::StartsWith("wrong: "));
}

TEST(Expect, PortDescriptionServesWherePortIdIsNoNameOfThePlan) {
  const auto leaf = of(kPlan, "leaf1");
  // lldpd of Debian; a number, as some switches send.
  for (const char* port_id : {"02:00:00:00:00:07", "513"})
    EXPECT_THAT(said(leaf, "swp9",
                     {{.system_name = "server1", .port_id = port_id, .port_description = "eth0"}}),
                testing::StartsWith("as-expected: "));
  EXPECT_EQ(
      said(
          leaf, "swp9",
          {{.system_name = "server1", .port_id = "02:00:00:00:00:07", .port_description = "eth1"}}),
      "wrong: expected server1:eth0, heard server1:eth1");
  // The drawing has a swp2 on spine1: that is where the cable is, whatever somebody wrote on it.
  EXPECT_EQ(said(leaf, "swp1",
                 {{.system_name = "spine1", .port_id = "swp2", .port_description = "swp1"}}),
            "wrong: expected spine1:swp1, heard spine1:swp2");
}

TEST(Expect, PortsDrawnByMacAddressCompareAsAddresses) {
  const auto leaf = of(R"(graph { leaf1:swp1 -- h1:"02-00-00-00-00-0A" })", "leaf1");
  EXPECT_EQ(said(leaf, "swp1", {{.system_name = "h1", .port_id = "02:00:00:00:00:0a"}}),
            "as-expected: expected h1:02:00:00:00:00:0a, heard h1:02:00:00:00:00:0a");
}

TEST(Expect, ShortAndFullNamesAreOneUnlessTwoDevicesShareTheShortOne) {
  const auto verdict = [](const char* drawn, const char* heard, const char* other = "x") {
    const std::string text =
        std::string("graph { self:p -- \"") + drawn + "\":q; \"" + other + "\":a -- self:b }";
    const auto finding =
        of(text.c_str(), "self")
            .judge("p", std::vector<Heard>{{.system_name = heard, .port_id = "q"}});
    return finding && finding->verdict == Verdict::kAsExpected;
  };
  EXPECT_TRUE(verdict("leaf1", "leaf1.dc1.example"));
  EXPECT_TRUE(verdict("leaf1.dc1.example", "leaf1"));
  EXPECT_TRUE(verdict("Leaf1", "LEAF1.dc1.example"));
  EXPECT_FALSE(verdict("leaf1.dc1.example", "leaf1.dc2.example"));
  EXPECT_FALSE(verdict("leaf1.dc1.example", "leaf1.dc1"));
  EXPECT_FALSE(verdict("leaf1", "leaf10"));
  EXPECT_FALSE(verdict("leaf1", "leaf1.dc2.example", "leaf1.dc2.example"));
  EXPECT_FALSE(verdict("leaf1.dc1.example", "leaf1", "leaf1.dc2.example"));
  EXPECT_TRUE(verdict("leaf1.dc1.example", "leaf1.dc1.example", "leaf1.dc2.example"));
}

TEST(Expect, ANeighborWithoutNameGoesByItsChassisId) {
  const auto leaf = of(R"(graph {
      h1 [chassis="02-00-00-00-00-0A"] leaf1:swp1 -- h1:eth0
      leaf1:swp2 -- "02:00:00:00:00:0b":eth0 })",
                       "leaf1");
  const auto heard = [](const char* chassis, const char* name = "") {
    return Heard{.system_name = name, .chassis_id = chassis, .port_id = "eth0"};
  };
  EXPECT_THAT(said(leaf, "swp1", {heard("02:00:00:00:00:0a")}), testing::StartsWith("as-expected"));
  EXPECT_THAT(said(leaf, "swp2", {heard("02:00:00:00:00:0b")}), testing::StartsWith("as-expected"));
  EXPECT_EQ(said(leaf, "swp1", {heard("02:00:00:00:00:0b")}),
            "wrong: expected h1:eth0, heard 02:00:00:00:00:0b:eth0");
  // A name that is told is what it is called.
  EXPECT_EQ(said(leaf, "swp1", {heard("02:00:00:00:00:0a", "h2")}),
            "wrong: expected h1:eth0, heard h2:eth0");
}

TEST(Expect, FindsTheDeviceByNameOrChassisId) {
  constexpr const char* kDrawn =
      R"(graph { "l1.dc1":p -- s:1; "l1.dc2":p -- s:2; "l2.dc1":p -- s:3
                 s [chassis="02:00:00:00:00:01"] })";
  EXPECT_EQ(refusal(kDrawn, "L1.dc1"), "accepted as l1.dc1");
  EXPECT_EQ(refusal(kDrawn, "l2"), "accepted as l2.dc1");
  EXPECT_EQ(refusal(kDrawn, "s.dc1"), "accepted as s");
  EXPECT_EQ(refusal(kDrawn, "other", "02:00:00:00:00:01"), "accepted as s");
  EXPECT_EQ(refusal(kDrawn, "l1"), "l1: the file has 2 nodes of this short name");
  EXPECT_EQ(refusal(kDrawn, "l3", "02:00:00:00:00:02"), "l3: the file has no node of this name");
  EXPECT_EQ(refusal(kDrawn, "", "02:00:00:00:00:02"),
            "02:00:00:00:00:02: the file has no node of this name");
}

TEST(Expect, KnowsThePortByAnAliasThatIsItsAlone) {
  const auto plan = read_json(R"({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "links": [
    {"source": "a", "target": "b", "ports": {"a": "p1", "b": "q1"},
     "aliases": {"b": ["etp1", "02:00:00:00:00:AA", "uplink"]}},
    {"source": "a", "target": "b", "ports": {"a": "p2", "b": "q2"}, "aliases": {"b": ["uplink"]}}]})");
  ASSERT_TRUE(plan) << to_string(plan.error());
  const auto a = Expectations::of(*plan, "a", "");
  ASSERT_TRUE(a) << to_string(a.error());
  const auto of_port = [](const char* port) { return Heard{.system_name = "b", .port_id = port}; };
  for (const char* port : {"q1", "etp1", "02:00:00:00:00:aa"})
    EXPECT_EQ(said(*a, "p1", {of_port(port)}).substr(0, 11), "as-expected") << port;
  for (const char* port : {"q2", "uplink", "etp2"})
    EXPECT_EQ(said(*a, "p1", {of_port(port)}).substr(0, 5), "wrong") << port;
}

TEST(Expect, RefusesAPlanWithoutPortsOfItsDevice) {
  const auto plan = read_json(
      R"({"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]})");
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(to_string(Expectations::of(*plan, "a", "").error()),
            "links[0]: names no ports: give each link of a cabling plan `ports`");
}

TEST(Expect, APortHasOneLink) {
  EXPECT_EQ(refusal("graph {\na:1 -- b:1\na:1 -- c:1\n}", "a"),
            "line 3: a:1 has another link already");
  EXPECT_EQ(refusal("graph {\na:1 -- b:1\nb:1 -- a:1\n}", "a"), "accepted as a");
  EXPECT_EQ(refusal("graph {\na:1 -- b:1\nc:1 -- b:2; c:1 -- b:3\n}", "a"), "accepted as a");
}

TEST(Expect, ControlCharactersStayOffTheScreen) {
  const auto a = of("graph { a:1 -- \"b\x1b[2J\":\"p\x07\" }", "a");
  EXPECT_EQ(said(a, "1", {}), "missing: expected b\\x1b[2J:p\\x07, heard none");
  EXPECT_THAT(said(a, "1", {{.system_name = "b\\x1b[2J", .port_id = "p\\x07"}}),
              testing::StartsWith("as-expected"));
}

// Two cables of one device that are each other's, and nothing else that is wrong.
TEST(Expect, NamesTheTwoPortsOfEverySwap) {
  constexpr std::size_t kPorts = 16;
  std::string plan = "graph {";
  std::map<std::string, std::vector<Heard>, std::less<>> right;
  for (std::size_t i = 0; i < kPorts; ++i) {
    // Two cables to each spine: a swap between them is one as well.
    const std::string spine = "spine" + std::to_string(i / 2);
    const std::string port = "swp" + std::to_string(i % 2 + 7);
    plan += "leaf:p" + std::to_string(i) + " -- " + spine + ":" + port + ";";
    right["p" + std::to_string(i)] = {{.system_name = spine, .port_id = port}};
  }
  const auto leaf = of((plan + "}").c_str(), "leaf");
  for (auto a = right.begin(); a != right.end(); ++a)
    for (auto b = std::next(a); b != right.end(); ++b) {
      auto heard = right;
      std::swap(heard[a->first], heard[b->first]);
      for (const Finding& finding : leaf.judge_all(heard)) {
        const bool one_of_them = finding.port == a->first || finding.port == b->first;
        EXPECT_EQ(finding.verdict, one_of_them ? Verdict::kSwapped : Verdict::kAsExpected);
        const std::string& other = finding.port == a->first ? b->first : a->first;
        EXPECT_EQ(finding.exchange, one_of_them ? other : "");
      }
    }
  // Three in a ring are wrong, each of them: no exchange of two mends one.
  auto ring = right;
  ring["p0"] = right["p2"];
  ring["p2"] = right["p4"];
  ring["p4"] = right["p0"];
  EXPECT_EQ(std::ranges::count(leaf.judge_all(ring), Verdict::kWrong, &Finding::verdict), 3);
  // Where one of the two hears no neighbor there is nothing to exchange.
  auto half = right;
  half["p0"] = right["p2"];
  half["p2"] = {};
  EXPECT_EQ(std::ranges::count(leaf.judge_all(half), Verdict::kSwapped, &Finding::verdict), 0);
}

}  // namespace
}  // namespace lldp::cabling
