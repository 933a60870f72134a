// SPDX-License-Identifier: Apache-2.0
// The cabling check end to end: a fabric as the lab writes it, real agents, real veth.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

/// A fabric of the lab, each node a namespace with an agent that knows the plan.
class CabledFabric : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    for (const char* format : {"json", "dot"})
      run({support::program("lldp-level-lab"), "topo", "clos", "--switches", "2,2", "--hosts", "2",
           std::string("--") + format, "--output", file(format)});
    std::ifstream in(file("json"));
    plan_ = json::parse(in);
  }
  [[nodiscard]] std::string file(std::string_view format) const {
    return files_.file(fmt::format("fabric.{}", format));
  }
  /// Lays the cables of `links`, and starts the agents.
  void cable(const json& links) {
    for (const json& node : plan_["nodes"]) nodes_.try_emplace(node["id"]);
    for (const json& link : links) {
      const std::string a = link["source"];
      const std::string b = link["target"];
      nodes_.at(a).ip(fmt::format("link add {} type veth peer name {} netns {}", name_of(link, a),
                                  name_of(link, b), nodes_.at(b).name()));
      nodes_.at(a).ip(fmt::format("link set {} up", name_of(link, a)));
      nodes_.at(b).ip(fmt::format("link set {} up", name_of(link, b)));
    }
    for (const json& node : plan_["nodes"])
      agents_.try_emplace(
          node["id"], nodes_.at(node["id"]),
          std::vector<std::string>{"--role", node["role"], "--system-name", node["id"],
                                   "--lldp.tx-interval", "1", "--expect", file("dot")});
  }
  static std::string name_of(const json& link, const std::string& node) {
    return link["ports"][node];
  }
  /// Exit status and output of `lldp-level expect` at a node, asked until the former is `status`.
  std::string expect(const std::string& node, std::string_view format, int status) {
    std::string output;
    int is = -1;
    EXPECT_TRUE(eventually([&] {
      Process client({support::program("lldp-level"), "--socket", agents_.at(node).socket(),
                      "expect", file(format)},
                     files_.file("output"));
      is = client.wait();
      output = client.output();
      return is == status;
    })) << is
        << ": " << output;
    return output;
  }
  /// The texts of the standing alarms `cabling`, by port.
  std::map<std::string, std::string> alarms(const std::string& node) {
    std::map<std::string, std::string> all;
    const json show = agents_.at(node).show();
    for (const json& alarm : show["alarms"])
      if (alarm["code"] == "cabling") all[alarm["port"]] = alarm["text"];
    return all;
  }

  TemporaryDirectory files_;
  json plan_;
  std::map<std::string, Namespace> nodes_;
  std::map<std::string, Agent> agents_;
};

TEST_F(CabledFabric, AsTheLabWroteItEverybodyIsContent) {
  cable(plan_["links"]);
  for (const auto& [name, node] : nodes_)
    for (const char* format : {"json", "dot"})
      EXPECT_THAT(expect(name, format, 0), HasSubstr(", all as expected\n")) << name;
  for (const auto& [name, node] : nodes_) EXPECT_TRUE(alarms(name).empty()) << name;
}

TEST_F(CabledFabric, TwoSwappedCablesAreNamedAtAllFourEnds) {
  // Two links between switches, without a node in common, change their far ends.
  json links = plan_["links"];
  std::vector<json*> two;
  for (json& link : links) {
    const auto role = [&](const char* end) {
      for (const json& node : plan_["nodes"])
        if (node["id"] == link[end]) return node["role"] == "switch";
      return false;
    };
    if (!role("source") || !role("target")) continue;
    if (two.empty() || ((*two[0])["source"] != link["source"] &&
                        (*two[0])["target"] != link["target"] && two.size() < 2))
      two.push_back(&link);
  }
  ASSERT_EQ(two.size(), 2U);
  struct Cable {
    std::string a{}, a_port{}, b{}, b_port{};
  };
  const auto cable_of = [](const json& link) {
    const std::string a = link["source"];
    const std::string b = link["target"];
    return Cable{a, name_of(link, a), b, name_of(link, b)};
  };
  const Cable x = cable_of(*two[0]);
  const Cable y = cable_of(*two[1]);
  (*two[0])["target"] = y.b;
  (*two[0])["ports"] = {{x.a, x.a_port}, {y.b, y.b_port}};
  (*two[1])["target"] = x.b;
  (*two[1])["ports"] = {{y.a, y.a_port}, {x.b, x.b_port}};
  cable(links);

  const auto at = [](const std::string& node, const std::string& port) {
    return node + ":" + port;
  };
  const std::map<std::string, std::array<std::string, 3>> ends = {
      {x.a, {x.a_port, at(x.b, x.b_port), at(y.b, y.b_port)}},
      {x.b, {x.b_port, at(x.a, x.a_port), at(y.a, y.a_port)}},
      {y.a, {y.a_port, at(y.b, y.b_port), at(x.b, x.b_port)}},
      {y.b, {y.b_port, at(y.a, y.a_port), at(x.a, x.a_port)}}};
  for (const auto& [name, node] : nodes_) {
    const auto wrong = ends.find(name);
    if (wrong == ends.end()) {
      EXPECT_THAT(expect(name, "json", 0), HasSubstr("all as expected")) << name;
      continue;
    }
    const auto& [port, expected, heard] = wrong->second;
    const std::map<std::string, std::string> only = {
        {port, fmt::format("expected {}, heard {}", expected, heard)}};
    EXPECT_TRUE(eventually([&, name = name] { return alarms(name) == only; }))
        << name << ": " << json(alarms(name)).dump();
    EXPECT_THAT(expect(name, "json", 1), HasSubstr(", 1 not as expected\n")) << name;
  }
}

TEST_F(CabledFabric, AFileThatCannotBeUsedIsSaidAndTheOldOneCounts) {
  cable(plan_["links"]);
  const std::string node = plan_["nodes"][0]["id"];
  EXPECT_THAT(expect(node, "json", 0), HasSubstr("all as expected"));
  const auto reload_with = [&](std::string_view text) {
    std::ofstream(file("dot")) << text;
    agents_.at(node).process().signal(SIGHUP);
  };
  const auto alarms_become = [&](const std::map<std::string, std::string>& wanted) {
    return eventually([&] { return alarms(node) == wanted; });
  };
  reload_with("graph {\n  a -- b\n}");
  EXPECT_TRUE(alarms_become(
      {{"", file("dot") + ": line 2: the link has no port on a: write \"node\":\"port\""}}));
  reload_with("graph { a:1 -- b:2 }");
  EXPECT_TRUE(
      alarms_become({{"", file("dot") + ": " + node + ": the file has no node of this name"}}));
  reload_with("graph { \"" + node + "\":nic7 -- b:2 }");
  EXPECT_TRUE(eventually([&] {
    const auto now = alarms(node);
    return now.size() >= 2 && !now.contains("") && now.contains("nic7") &&
           now.at("nic7") == "expected b:2, but there is no port nic7";
  })) << json(alarms(node)).dump();
  reload_with("graph {");
  EXPECT_TRUE(eventually([&] { return alarms(node).contains(""); }));
  EXPECT_TRUE(alarms(node).contains("nic7"));
}

}  // namespace
}  // namespace lldp::netns
