// SPDX-License-Identifier: Apache-2.0
// A daemon beside a switch that takes its time: rules count when they are in force, and whatever a
// daemon that was killed had asked for, the next one brings to what is wanted.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/lossless/client.hpp"
#include "sim/lossless/switch_file.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using dataplane::output_of;
using dataplane::PrivateNet;
using dataplane::sh;
using lab::lossless::SwitchClient;
using nlohmann::json;
using testing::HasSubstr;

/// A leaf on p0, whose rules a switch process takes 300 ms to bring into force; its neighbor is a
/// spine on q0, in the same namespace.
class SoftLate : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    sh("ip link del p0 2>/dev/null");
    ASSERT_TRUE(sh("echo 0 > /proc/sys/net/ipv4/ip_forward"));
    ASSERT_TRUE(sh("ip link add p0 up type veth peer name q0 && ip link set q0 up"));
    lab::lossless::SwitchFile file{.socket = files_.file("switch"), .rules_late_ms = 300};
    file.station.name = "leaf";
    file.station.ports = {{.name = "p0", .address = {2, 0, 0, 0, 0, 1}}};
    std::ofstream(files_.file("switch.json")) << format(file);
    switch_.emplace(std::vector<std::string>{support::program("lldp-level-lab"), "switch",
                                             files_.file("switch.json")},
                    files_.file("switch.log"));
    auto client = SwitchClient::open(files_.file("switch"), std::chrono::steady_clock::now() + 20s);
    ASSERT_TRUE(client) << to_string(client.error()) << switch_->output();
    client_.emplace(std::move(*client));
    start_leaf();
    ASSERT_TRUE(eventually([&] { return show().is_object(); })) << leaf_->output();
  }
  std::vector<std::string> command(const std::string& name, const std::string& config) {
    std::ofstream(files_.file(name + ".conf"))
        << "role = switch\ntransport = packet\nsocket = " << files_.file(name)
        << "\nstate-file = " << files_.file(name + ".state") << "\n"
        << config;
    return {support::program("lldp-leveld"), "--config", files_.file(name + ".conf")};
  }
  /// With the classes of the switch, unless `lossless` are others.
  void start_leaf(const std::string& lossless = "slides") {
    leaf_.emplace(
        command("leaf", "level = 1\nports = p0\nbackend = soft\nsoft.socket = " +
                            files_.file("switch") + "\nqos.lossless = " + lossless + "\n"),
        files_.file("log"));
  }
  void start_spine() {
    spine_.emplace(
        command("spine", "level = 2\nports = q0\nbackend = none\nqos.lossless = slides\n"),
        files_.file("log2"));
  }
  void kill_leaf() {
    leaf_->signal(SIGKILL);
    EXPECT_EQ(leaf_->wait(), 128 + SIGKILL);
  }
  json show() const {
    return json::parse(output_of(support::program("lldp-level") + " show --json --socket " +
                                 files_.file("leaf") + " 2>/dev/null"),
                       nullptr, false);
  }
  std::string state() const {
    const json all = show();
    return all.is_object() ? all["protection"]["state"].get<std::string>() : "";
  }
  /// Of p0, as the switch has them in force; nothing: none.
  std::optional<Order> in_force() const {
    const auto view = client_->read();
    EXPECT_TRUE(view) << to_string(view.error());
    if (!view) return std::nullopt;
    const auto port = view->ports.find("p0");
    if (port == view->ports.end() || !port->second.rules) return std::nullopt;
    return port->second.rules->port.order;
  }
  /// Active, and never before the rules are in force.
  void expect_protection() {
    EXPECT_TRUE(eventually([&] {
      if (state() != "active") return false;
      EXPECT_EQ(in_force(), Order::kUp);
      return true;
    })) << show().dump(1)
        << leaf_->output();
  }

  TemporaryDirectory files_;
  std::optional<Process> switch_;
  std::optional<SwitchClient> client_;
  std::optional<Process> spine_;
  std::optional<Process> leaf_;
};

TEST_F(SoftLate, ProtectionIsActiveWhenTheRulesAreInForce) {
  start_spine();
  expect_protection();
}

TEST_F(SoftLate, KilledWhileAChangeIsUnderWay) {
  start_spine();
  for (int kills = 0; kills < 3; ++kills) {  // each time a little later in its life
    ASSERT_TRUE(eventually([&] { return show().is_object(); }));
    for (int i = 0; i < kills; ++i) static_cast<void>(show());
    kill_leaf();
    start_leaf();
  }
  expect_protection();
}

TEST_F(SoftLate, KilledWithItsRulesInForce) {
  start_spine();
  expect_protection();
  kill_leaf();
  EXPECT_EQ(in_force(), Order::kUp) << "rules outlive the daemon";
  start_leaf();
  expect_protection();
}

TEST_F(SoftLate, KilledWhereItsRulesAreRefused) {
  start_spine();
  kill_leaf();
  start_leaf("3:dscp26");  // which are not the switch's
  ASSERT_TRUE(eventually([&] { return state() == "failed"; })) << show().dump(1);
  kill_leaf();
  start_leaf();
  expect_protection();
}

}  // namespace
}  // namespace lldp::netns
