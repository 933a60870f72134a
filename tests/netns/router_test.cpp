// SPDX-License-Identifier: Apache-2.0
// A router of two ports, which `role = auto` takes for a host: alarm `forwards`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/wire.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using dataplane::Wire;
using dataplane::packet::frame4;
using dataplane::packet::readdressed;
using testing::HasSubstr;
using testing::Not;

/// Machines with the ports p0 and p1, whose neighbors are two switches of level 2.
class RouterTest : public testing::Test {
 protected:
  static constexpr unsigned kFirst = 43;
  static constexpr unsigned kSecond = 51;

  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    for (auto* space : {&router_, &server_, &left_, &right_}) space->emplace();
    for (auto* space : {&left_, &right_}) (*space)->sysctl("net/ipv4/conf/all/forwarding", "0");
    cable(*router_, "p0", *left_, "q0", 1);
    cable(*router_, "p1", *right_, "q0", 3);
    cable(*server_, "p0", *left_, "q1", 5);
    cable(*server_, "p1", *right_, "q1", 7);
    router_->ip_batch("addr add 192.0.2.254/24 dev p0\naddr add 198.51.100.254/24 dev p1\n");
    for (auto* space : {&left_, &right_})
      switches_.emplace_back(std::make_unique<Agent>(
          **space, with({"--role", "switch", "--level", "2", "--backend", "none"})));
  }
  static std::vector<std::string> with(std::vector<std::string> options) {
    options.insert(options.end(), {"--qos.lossless", "5:dscp43>6:dscp51", "--qos.lossy", "0:dscp0",
                                   "--lldp.tx-interval", "1"});
    return options;
  }
  /// It tells a TTL of 2 s, three of which pass before the alarm.
  static std::vector<std::string> machine() {
    return with(
        {"--ports", "p0,p1", "--backend", "bpf", "--bpffs", "/nonexistent", "--lldp.tx-hold", "1"});
  }
  static void cable(const Namespace& a, const char* at_a, const Namespace& b, const char* at_b,
                    int address) {
    const auto mac = [](int last) { return " address 02:00:00:00:00:0" + std::to_string(last); };
    a.ip("link add " + std::string(at_a) + mac(address) + " type veth peer name " + at_b +
         mac(address + 1) + " netns " + b.name());
    a.ip("link set " + std::string(at_a) + " up");
    b.ip("link set " + std::string(at_b) + " up");
  }
  static void forward(const Namespace& space, bool on) {
    space.sysctl("net/ipv4/conf/all/forwarding", on ? "1" : "0");
  }
  static bool hears_both(const Agent& agent) {
    return eventually([&] { return agent.neighbors("p0") == 1 && agent.neighbors("p1") == 1; });
  }
  /// The exit status and the text of `lldp-level check`.
  static std::pair<int, std::string> check(const Agent& agent) {
    const TemporaryDirectory files;
    Process process({support::program("lldp-level"), "check", "--socket", agent.socket()},
                    files.file("check"));
    const int status = process.wait();
    return {status, process.output()};
  }
  static std::string text(const Agent& agent) {
    const auto show = agent.show();
    for (const auto& alarm : show["alarms"])
      if (alarm["code"] == "forwards") return alarm["text"];
    return {};
  }
  static bool told(const Agent& agent) {
    return eventually([&] { return !text(agent).empty(); });
  }
  static bool silent(const Agent& agent) {
    return eventually([&] { return text(agent).empty(); });
  }
  /// What becomes of a packet of the first class on its way through the router, in by p0 and out by
  /// p1: its DSCP.
  std::optional<unsigned> forwarded() const {
    router_->ip("neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev p1");
    std::optional<Wire> in;
    std::optional<Wire> out;
    {
      const Inside left(*left_);
      in.emplace("q0");
    }
    {
      const Inside right(*right_);
      out.emplace("q0");
    }
    if (!in->send(frame4({.dscp = kFirst}))) return std::nullopt;
    const auto got = out->receive(5000);
    if (!got) return std::nullopt;
    for (const unsigned dscp : {kFirst, kSecond})
      if (*got == readdressed(frame4({.dscp = dscp, .ttl = 63}), 4, 3)) return dscp;
    return std::nullopt;
  }

  std::optional<Namespace> router_;
  std::optional<Namespace> server_;
  std::optional<Namespace> left_;
  std::optional<Namespace> right_;
  std::vector<std::unique_ptr<Agent>> switches_;
};

TEST_F(RouterTest, IsToldUntilItsRoleIsSet) {
  forward(*router_, true);
  Agent router(*router_, machine());
  EXPECT_TRUE(eventually([&] { return router.log().find("alarm forwards") != std::string::npos; }))
      << "nothing is asked";
  ASSERT_TRUE(told(router)) << router.show().dump(1);
  EXPECT_EQ(forwarded(), kFirst) << "it turned, unchanged";
  EXPECT_EQ(text(router),
            "forwards IP, and neighbors are heard on p0, p1: `role = auto` takes it for a host, so "
            "packets that it forwards from one of these ports to another are not changed where "
            "they turn; set role = switch, or role = host if it forwards none between its ports");
  const auto [status, said] = check(router);
  EXPECT_EQ(status, 1) << said;
  EXPECT_THAT(said, HasSubstr("forwards"));

  router.write_config("role = host\n");
  router.process().signal(SIGHUP);
  EXPECT_TRUE(silent(router));
  const auto [accepted, all_well] = check(router);
  EXPECT_EQ(accepted, 0) << all_well;

  router.write_config("");
  router.process().signal(SIGHUP);
  EXPECT_TRUE(told(router)) << router.show().dump(1);
  forward(*router_, false);
  EXPECT_TRUE(silent(router));

  forward(*router_, true);
  router.write_config("role = switch\nlevel = 1\n");
  router.process().signal(SIGHUP);
  EXPECT_TRUE(silent(router));
  EXPECT_TRUE(eventually([&] { return forwarded() == kSecond; }))
      << router.call("org.lldplevel.Rules").dump(1);
}

TEST_F(RouterTest, AlarmFollowsForwardingPortsAndGuests) {
  forward(*router_, false);
  const Agent router(*router_, machine());
  ASSERT_TRUE(hears_both(router));
  EXPECT_EQ(text(router), "");
  router_->sysctl("net/ipv6/conf/all/forwarding", "1");
  EXPECT_TRUE(told(router)) << router.show().dump(1);
  router_->ip("link set p1 down");
  EXPECT_TRUE(silent(router));
  router_->sysctl("net/ipv6/conf/all/forwarding", "0");
  router_->sysctl("net/ipv4/conf/p0/forwarding", "1");
  router_->ip("link set p1 up");
  EXPECT_TRUE(told(router)) << router.show().dump(1);
  EXPECT_EQ(forwarded(), kFirst) << "by p0 alone it forwards";
  router_->ip("link add docker0 type bridge");
  EXPECT_TRUE(silent(router));
}

// The router starts later than the server, and is told.
TEST_F(RouterTest, ServerWithAVethBesideIsSilent) {
  forward(*server_, true);
  server_->ip("link add veth0 type veth peer name eth0 netns " + left_->name());
  const Agent server(*server_, machine());
  ASSERT_TRUE(hears_both(server));
  forward(*router_, true);
  const Agent router(*router_, machine());
  ASSERT_TRUE(told(router)) << router.show().dump(1);
  EXPECT_EQ(text(server), "");
  const auto [status, said] = check(server);
  EXPECT_EQ(status, 0) << said;
  EXPECT_THAT(server.log(), Not(HasSubstr("alarm forwards")));
}

}  // namespace
}  // namespace lldp::netns
