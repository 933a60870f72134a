// SPDX-License-Identifier: Apache-2.0
// A whole fabric of real agents against a plan: speeds and MTU as the kernel has them.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/netns/support.hpp"
#include "tests/netns/tap_cable.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using nlohmann::json;

constexpr std::uint32_t kFull = 50'000;
constexpr std::uint32_t kHalf = 25'000;
constexpr unsigned kMtu = 9000;

/// Two leaves, two spines, two hosts: cables of 50 Gb/s and MTU 9000, as planned.
class SpeedFabric : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    if (!std::filesystem::exists("/dev/net/tun")) GTEST_SKIP() << "no tap devices here";
    run({support::program("lldp-level-lab"), "topo", "clos", "--switches", "2,2", "--hosts", "2",
         "--json", "--output", files_.file("plan")});
    std::ifstream(files_.file("plan")) >> plan_;
    for (json& link : plan_["links"]) link["speed"] = "50G", link["mtu"] = std::to_string(kMtu);
    std::ofstream(files_.file("plan")) << plan_;
  }
  struct Ends {
    std::uint32_t mbps[2] = {kFull, kFull};
    unsigned mtu[2] = {kMtu, kMtu};
  };
  /// Lays all cables, link n of the plan as `other` has it, and starts the agents.
  void cable(const std::map<std::size_t, Ends>& other) {
    for (const json& node : plan_["nodes"]) nodes_.try_emplace(node["id"]);
    for (std::size_t n = 0; n < plan_["links"].size(); ++n) {
      const auto at = other.find(n);
      const Ends ends = at == other.end() ? Ends() : at->second;
      const auto port = [&](std::size_t e) {
        return TapPort{&nodes_.at(node_of(n, e)), port_of(n, e), ends.mbps[e], ends.mtu[e]};
      };
      cables_.emplace_back(port(0), port(1));
    }
    for (const json& node : plan_["nodes"])
      agents_.try_emplace(node["id"], nodes_.at(node["id"]),
                          std::vector<std::string>{"--role", node["role"], "--system-name",
                                                   node["id"], "--lldp.tx-interval", "1"});
  }
  [[nodiscard]] std::string node_of(std::size_t link, std::size_t e) const {
    return plan_["links"][link][e == 0 ? "source" : "target"];
  }
  [[nodiscard]] std::string port_of(std::size_t link, std::size_t e) const {
    return plan_["links"][link]["ports"][node_of(link, e)];
  }
  [[nodiscard]] std::string end_of(std::size_t link, std::size_t e) const {
    return node_of(link, e) + ":" + port_of(link, e);
  }
  /// A finding, as it is listed: `speed at peer text`.
  [[nodiscard]] std::string finding(const char* kind, std::size_t link, std::size_t e,
                                    std::string_view text) const {
    return fmt::format("{} {} {} {}", kind, end_of(link, e), end_of(link, 1 - e), text);
  }
  /// The findings of `collect --expect`, of what all but these tell.
  std::vector<std::string> findings(const std::string& silent = {}) {
    const std::string folder = files_.file("dumps");
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    std::filesystem::remove(files_.file("report"));  // what a process prints is appended
    for (const auto& [name, agent] : agents_)
      if (name != silent)
        Process({support::program("lldp-level"), "--socket", agent.socket(), "show", "detail",
                 "--json"},
                folder + "/" + name + ".show.json")
            .wait();
    Process lab({support::program("lldp-level-lab"), "collect", folder, "--expect",
                 files_.file("plan"), "--json", "-o", files_.file("now.json")},
                files_.file("report"));
    lab.wait();
    const json report = json::parse(lab.output(), nullptr, false);
    std::vector<std::string> list;
    if (!report.is_object() || !report.contains("cables")) return {lab.output()};
    for (const json& f : report["cables"]["findings"])
      list.push_back(fmt::format("{} {}:{} {} {}", f["kind"].get<std::string>(),
                                 f["device"].get<std::string>(), f["port"].get<std::string>(),
                                 f["peer"].get<std::string>(), f["text"].get<std::string>()));
    return list;
  }
  void expect_findings(const std::vector<std::string>& wanted, const std::string& silent = {}) {
    std::vector<std::string> are;
    EXPECT_TRUE(eventually([&] { return (are = findings(silent)) == wanted; }))
        << testing::PrintToString(are) << "\ninstead of\n"
        << testing::PrintToString(wanted);
  }

  TemporaryDirectory files_;
  json plan_;
  std::map<std::string, Namespace> nodes_;
  std::list<TapCable> cables_;
  std::map<std::string, Agent> agents_;
};

TEST_F(SpeedFabric, HalfSpeedAndWrongMtuAreFoundAmongLiveAgents) {
  ASSERT_GE(plan_["links"].size(), 6U);
  cable({{1, {{kHalf, kHalf}, {kMtu, kMtu}}}, {4, {{kFull, kFull}, {kMtu, 1500}}}});
  expect_findings({finding("speed", 1, 0, "runs at 25 Gb/s, planned 50 Gb/s"),
                   finding("mtu", 4, 1, "has MTU 1500, planned 9000")});
}

TEST_F(SpeedFabric, DeviceThatDoesNotAnswerIsKnownByItsNeighbors) {
  cable({{0, {{kHalf, kHalf}, {1500, 1500}}}});
  // The end that is compared first tells of itself, or the other end tells what it hears of it.
  for (const auto& [silent, source] : {std::pair(1U, ""), {0U, " by its Maximum Frame Size"}})
    expect_findings({finding("speed", 0, 0, "runs at 25 Gb/s, planned 50 Gb/s"),
                     finding("mtu", 0, 0, fmt::format("has MTU 1500{}, planned 9000", source))},
                    node_of(0, silent));
}

}  // namespace
}  // namespace lldp::netns
