// SPDX-License-Identifier: Apache-2.0
// What a daemon takes from its configuration while it runs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "os/fd.hpp"
#include "tests/netns/daemon_fixture.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST_F(DaemonTest, LooksAtItsRoleAnewWhenForwardingChangesAndAtReload) {
  join(*a_, *b_);
  Agent agent(*a_);
  const auto comes_to = [&](const char* role, const char* why) {
    return eventually([&] {
      const auto device = agent.show()["device"];
      return device["role"] == role && device["role_reason"] == why;
    });
  };
  EXPECT_TRUE(comes_to("host", "it forwards nothing between physical ports"));
  a_->sysctl("net/ipv4/conf/all/forwarding", "1");
  EXPECT_TRUE(comes_to("host", "it forwards IP with 0 physical ports only, and bridges none"));
  a_->sysctl("net/ipv4/conf/all/forwarding", "0");
  EXPECT_TRUE(comes_to("host", "it forwards nothing between physical ports"));
  agent.write_config("role = switch\n");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return agent.show()["device"]["role"] == "switch"; }));
  agent.write_config("level = 2\n");  // which no host has
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(comes_to("switch", "its level is set"));
  agent.write_config("");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(comes_to("host", "it forwards nothing between physical ports"));
}

TEST_F(DaemonTest, ReadsItsConfigurationAnewAndKeepsTheOldOneWhenItIsWrong) {
  join(*a_, *b_, 2);
  Agent agent(*a_, {"--role", "switch"});
  ASSERT_EQ(agent.show()["ports"].size(), 2U);
  agent.write_config("ports = p1\n");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return agent.show()["ports"].size() == 1; }));
  agent.write_config("ports = p0\nlevel = 999\n");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(
      eventually([&] { return agent.log().find("nothing is changed") != std::string::npos; }));
  EXPECT_EQ(agent.show()["ports"][0]["name"], "p1");
}

TEST_F(DaemonTest, PortThatAReloadLeavesOutTakesLeaveAndIsRemembered) {
  join(*a_, *b_);
  Agent leaf(*a_, {"--role", "switch", "--level", "1"});
  Agent spine(*b_, {"--role", "switch", "--level", "2"});
  ASSERT_TRUE(knows(spine, "p0", 1));
  ASSERT_TRUE(eventually(
      [&] { return leaf.port("p0")["order"] == "up" && spine.port("p0")["order"] == "down"; }));
  leaf.write_config("ports = *,-p0\n");
  leaf.process().signal(SIGHUP);
  EXPECT_TRUE(knows(spine, "p0", 0));
  EXPECT_THAT(spine.log(), HasSubstr("shut down"));
  EXPECT_EQ(spine.port("p0")["order"], "down");
  EXPECT_TRUE(eventually([&] { return leaf.log().find("p0: port removed") != std::string::npos; }));
  spine.process().signal(SIGKILL);
  EXPECT_EQ(spine.process().wait(), 128 + SIGKILL);
  leaf.write_config("");
  leaf.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return leaf.port("p0")["order"] == "up"; })) << leaf.log();
}

TEST_F(DaemonTest, PortThatIsRenamedOutOfPortsIsRememberedByTheNameItHad) {
  join(*a_, *b_);
  const Agent leaf(*a_, {"--role", "switch", "--level", "1", "--ports", "p*"});
  Agent spine(*b_, {"--role", "switch", "--level", "2"});
  ASSERT_TRUE(knows(spine, "p0", 1));
  ASSERT_TRUE(eventually([&] { return leaf.port("p0")["order"] == "up"; }));
  a_->ip("link set p0 name other0");
  EXPECT_TRUE(knows(spine, "p0", 0));
  EXPECT_THAT(spine.log(), HasSubstr("shut down"));
  spine.process().signal(SIGKILL);
  EXPECT_EQ(spine.process().wait(), 128 + SIGKILL);
  a_->ip("link set other0 name p0");
  EXPECT_TRUE(eventually([&] { return leaf.port("p0")["order"] == "up"; })) << leaf.log();
  EXPECT_THAT(leaf.log(), Not(HasSubstr("alarm silent")));
}

/// A host name that this process and those that it starts have for themselves.
class OwnHostName {
 public:
  OwnHostName() : home_(::open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC)) {
    EXPECT_EQ(::unshare(CLONE_NEWUTS), 0) << std::strerror(errno);
  }
  OwnHostName(const OwnHostName&) = delete;
  OwnHostName& operator=(const OwnHostName&) = delete;
  ~OwnHostName() { EXPECT_EQ(::setns(home_.get(), CLONE_NEWUTS), 0) << std::strerror(errno); }
  static void set(std::string_view name) {
    EXPECT_EQ(::sethostname(name.data(), name.size()), 0) << std::strerror(errno);
  }

 private:
  UniqueFd home_;
};

// As DHCP or cloud-init sets it, when the daemon has long been started.
TEST_F(DaemonTest, TellsTheHostNameThatIsSetAfterItsStart) {
  join(*a_, *b_);
  const OwnHostName host;
  host.set("before");
  Agent agent(*a_, {"--lldp.tx-interval", "1"}, Agent::Called::kAsTheHost);
  const Agent peer(*b_);
  const auto hears = [&](const char* name) {
    return eventually([&] {
      const auto neighbors = peer.port("p0")["neighbors"];
      return neighbors.size() == 1 && neighbors[0]["system_name"] == name;
    });
  };
  EXPECT_TRUE(hears("before"));
  host.set("after");
  EXPECT_TRUE(hears("after"));
  host.set("and-after-a-reload");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(hears("and-after-a-reload"));
  EXPECT_EQ(agent.show()["device"]["system_name"], "and-after-a-reload");
}

TEST_F(DaemonTest, SaysOfAKeyThatIsReadAtStartOnlyThatItHasNotChanged) {
  join(*a_, *b_);
  Agent agent(*a_, {"--role", "switch"});
  ASSERT_TRUE(eventually([&] { return agent.show()["ports"].size() == 1; }));
  agent.write_config("qdisc = htb\nlldpd.grace = 9\n");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return agent.log().find("read again") != std::string::npos; }));
  EXPECT_THAT(agent.log(), testing::AllOf(HasSubstr("`qdisc` changed; restart the daemon"),
                                          HasSubstr("`lldpd.grace` changed"),
                                          testing::Not(HasSubstr("transport is"))));
}

TEST_F(DaemonTest, JoinsTheGroupsOfAnotherScopeWhenItIsConfigured) {
  join(*a_, *b_);
  Agent agent(*a_, {"--role", "switch"});
  const auto groups = [&] { return a_->ip("maddr show dev p0"); };
  EXPECT_THAT(groups(), HasSubstr("01:80:c2:00:00:0e"));
  agent.write_config("lldp.scopes = nearest-customer-bridge\n");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return groups().find("01:80:c2:00:00:00") != std::string::npos; }))
      << agent.log();
  EXPECT_THAT(groups(), testing::Not(HasSubstr("01:80:c2:00:00:0e")));
}

}  // namespace
}  // namespace lldp::netns
