// SPDX-License-Identifier: Apache-2.0
// The daemon with what runs beside it.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/netns/support.hpp"
#include "tests/support/activator.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class DaemonCompanions : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    space_.emplace();
    space_->ip("link set lo up");
  }
  /// The answer to GET /metrics there, or nothing.
  [[nodiscard]] std::string scrape(int port) const {
    const std::string script = fmt::format(
        "exec 3<>/dev/tcp/127.0.0.1/{}; printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3",
        port);
    TemporaryDirectory files;
    Process client(space_->inside({"bash", "-c", script}), files.file("answer"));
    client.wait();
    return client.output();
  }
  [[nodiscard]] bool answers(int port) const {
    return scrape(port).find("\nlldp_level_up 1\n") != std::string::npos;
  }
  /// As root it runs as another user, who must be able to come here.
  static bool is_out_of_reach(const Agent& agent) {
    const std::string log = agent.log();  // a launcher that is a service tells its status alone
    return log.find("cannot be run: Permission denied") != std::string::npos ||
           log.find("the exporter: exit status 127") != std::string::npos;
  }

  std::optional<Namespace> space_;
};

TEST_F(DaemonCompanions, ExporterAnswersFollowsAReloadAndEndsWithTheDaemon) {
  Agent agent(*space_, {"--role", "switch", "--metrics.listen", "9001"});
  const bool up = eventually([&] { return answers(9001) || is_out_of_reach(agent); });
  if (is_out_of_reach(agent)) GTEST_SKIP() << "nobody may not enter the build directory";
  ASSERT_TRUE(up) << agent.log();
  EXPECT_THAT(scrape(9001),
              ContainsRegex("\nlldp_level_daemon_resident_memory_bytes [1-9][0-9]{6}"));
  agent.process().signal(SIGKILL);
  agent.process().wait();
  EXPECT_TRUE(eventually([&] { return scrape(9001).find("HTTP") == std::string::npos; }));
}

TEST_F(DaemonCompanions, ReloadMovesThem) {
  Agent agent(*space_, {"--role", "switch"});
  agent.process().signal(SIGTERM);
  agent.process().wait();
  agent.write_config("metrics.listen = 9001\non-change = echo first >&2\n");
  agent.restart();
  const bool up = eventually([&] { return answers(9001) || is_out_of_reach(agent); });
  if (is_out_of_reach(agent)) GTEST_SKIP() << "nobody may not enter the build directory";
  ASSERT_TRUE(up) << agent.log();
  // The first is told that there is no port.
  EXPECT_TRUE(eventually([&] { return agent.log().find("\nfirst\n") != std::string::npos; }))
      << agent.log();
  const std::size_t before = agent.log().size();
  agent.write_config("metrics.listen = 9002\non-change = cat; grep Cap /proc/self/status\n");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return answers(9002); })) << agent.log();
  EXPECT_FALSE(answers(9001));
  space_->ip_batch("link add p0 type veth peer name p1\nlink set p0 up\nlink set p1 up\n");
  // Our own frames come back by the other port.
  EXPECT_TRUE(eventually([&] {
    return agent.log().find(R"("event":"alarm-raised","port":"p)") != std::string::npos &&
           agent.log().find("CapEff:\t0000000000000000") != std::string::npos;
  })) << agent.log();
  EXPECT_THAT(agent.log().substr(before), Not(HasSubstr("first")));
  agent.write_config("");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return !answers(9002); })) << agent.log();
}

TEST_F(DaemonCompanions, ReloadThatAsksForTheFirstIsTold) {
  Agent agent(*space_, {"--role", "switch"});
  agent.write_config("metrics.listen = 9001\n");
  agent.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    return agent.log().find(
               "metrics.listen: there is no launcher to start it, as none was wanted at start: "
               "restart\n") != std::string::npos;
  })) << agent.log();
  const nlohmann::json show = agent.show();
  EXPECT_EQ(show["companions"][0]["state"], "failed") << show;
  EXPECT_EQ(show["companions"][0]["key"], "metrics.listen") << show;
}

/// As under systemd: launchers are services of their own.
class DaemonServices : public DaemonCompanions {
 protected:
  void SetUp() override {
    DaemonCompanions::SetUp();
    if (!space_) return;
    ::setenv("LLDP_LEVEL_LAUNCHERS", files_.file("").c_str(), 1);
    agent_.emplace(*space_, std::vector<std::string>{"--role", "switch"});
    ::unsetenv("LLDP_LEVEL_LAUNCHERS");
    for (const char* kind : {"exporter", "hook"}) {
      // The launcher listens where the daemon's ports are, as a service of the machine does.
      auto command =
          space_->inside({support::program("lldp-level-launcher"), kind, agent_->config_file()});
      services_.push_back(
          std::make_unique<support::Activator>(files_.file(kind), std::move(command)));
    }
  }
  void reload(std::string_view config) {
    agent_->write_config(config);
    agent_->process().signal(SIGHUP);
  }

  TemporaryDirectory files_;
  std::optional<Agent> agent_;
  std::vector<std::unique_ptr<support::Activator>> services_;
};

TEST_F(DaemonServices, ComeFollowAndGoWithReloadsAndWithTheDaemon) {
  reload("metrics.listen = 9001\n");
  const bool up = eventually([&] { return answers(9001) || is_out_of_reach(*agent_); });
  if (is_out_of_reach(*agent_)) GTEST_SKIP() << "nobody may not enter the build directory";
  ASSERT_TRUE(up) << agent_->log();
  EXPECT_THAT(agent_->log(), Not(HasSubstr("there is no launcher")));
  reload("metrics.listen = 9002\non-change = cat\n");
  EXPECT_TRUE(eventually([&] { return answers(9002); })) << agent_->log();
  EXPECT_FALSE(answers(9001));
  // Its launcher dies, and with it what it started.
  ::kill(services_[0]->running(), SIGKILL);
  EXPECT_TRUE(eventually([&] {
    return agent_->log().find("lldp-level-exporter.service` says why") != std::string::npos &&
           answers(9002);
  })) << agent_->log();
  agent_->process().signal(SIGKILL);
  agent_->process().wait();
  EXPECT_TRUE(eventually([&] {
    return services_[0]->running() == 0 && services_[1]->running() == 0 &&
           scrape(9002).find("HTTP") == std::string::npos;
  }));
}

TEST_F(DaemonServices, GoByTheFileAlone) {
  for (const auto& [key, value] : {std::pair("on-change", "true"),
                                   {"metrics.listen", "9001"},
                                   {"snmp.agentx", "/run/agentx"}}) {
    const auto said =
        agent_->call("org.lldplevel.Set", nlohmann::json{{"key", key}, {"value", value}}.dump());
    EXPECT_THAT(said.dump(), HasSubstr("goes by the file alone")) << key;
  }
}

}  // namespace
}  // namespace lldp::netns
