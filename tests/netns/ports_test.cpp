// SPDX-License-Identifier: Apache-2.0
// Which interfaces are ports, what may be done on them, and what the machine is taken for. Nothing
// in a namespace is physical: what hardware there is, tests/links puts together.
#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "os/fd.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class PortsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    a_.emplace();
    b_.emplace();
  }
  static std::vector<std::string> ports(const Agent& agent) {
    std::vector<std::string> out;
    const auto show = agent.show();
    for (const auto& port : show["ports"]) out.push_back(port["name"]);
    return out;
  }
  static std::string alarms(const Agent& agent) {
    std::string out;
    const auto show = agent.show();
    for (const auto& alarm : show["alarms"]) out += alarm["code"].get<std::string>() + " ";
    return out;
  }
  /// The agent has so many neighbors at p0, and the other end as many.
  static testing::AssertionResult know(const Agent& agent, std::size_t n, const Agent& other,
                                       std::size_t of_other) {
    if (eventually([&] { return agent.neighbors("p0") == n && other.neighbors("p0") == of_other; }))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << agent.show().dump(1) << other.show().dump(1);
  }

  std::optional<Namespace> a_;
  std::optional<Namespace> b_;
};

TEST_F(PortsTest, GlobTakesNoInterfaceOnAPortAndItsNameDoes) {
  join(*a_, *b_, 2, "swp");
  a_->ip("link add link swp0 name swp0.100 up type macvlan mode bridge");  // as a VLAN: it stands
                                                                           // on it
  Agent agent(*a_, {"--ports", "swp*"});
  EXPECT_EQ(ports(agent), (std::vector<std::string>{"swp0", "swp1"}));
  agent.process().signal(SIGTERM);
  agent.process().wait();
  Agent named(*a_, {"--ports", "swp*,swp0.100"});
  EXPECT_EQ(ports(named), (std::vector<std::string>{"swp0", "swp0.100", "swp1"}));
}

TEST_F(PortsTest, NamedPortThatIsGoneOrRenamedIsAnAlarm) {
  join(*a_, *b_, 2, "swp");
  Agent agent(*a_, {"--ports", "swp0,swp1,swp7", "--role", "switch"});
  const auto text = [&](std::string_view port) {
    const auto show = agent.show();
    for (const auto& alarm : show["alarms"])
      if (alarm["code"] == "port-missing" && alarm["port"] == port)
        return alarm["text"].get<std::string>();
    return std::string();
  };
  EXPECT_EQ(
      text("swp7"),
      "`ports` names it, and no interface is called so: it speaks no LLDP and has no rules, so "
      "packets that turn by it stay as they are; correct `ports`, or give the interface this "
      "name");
  EXPECT_EQ(text("swp1"), "");
  a_->ip("link set swp1 down");
  a_->ip("link set swp1 name ens2np0");
  ASSERT_TRUE(eventually([&] { return !text("swp1").empty(); })) << agent.show().dump(1);
  EXPECT_THAT(text("swp1"), HasSubstr("and this interface is called ens2np0 now: it speaks"));
  a_->ip("link set ens2np0 name swp1");
  EXPECT_TRUE(eventually([&] { return text("swp1").empty(); })) << agent.show().dump(1);
  a_->ip("link del swp0");
  EXPECT_TRUE(eventually([&] { return !text("swp0").empty(); })) << agent.show().dump(1);
}

// Linux takes nearly any octet in a name: rules are set by it, and what the alarm says to do about
// the port can be typed.
TEST_F(PortsTest, NameOfAnyOctetsHasRulesAndARemedyThatCanBeTyped) {
  const std::vector<std::string> names{"x\x1b[31m\"", "x\xe2\x80\xae#a", "x*'"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    a_->ip(fmt::format("link add {} type veth peer name q{} netns {}", names[i], i, b_->name()));
    a_->ip("link set dev " + names[i] + " up");
    b_->ip(fmt::format("link set q{} up", i));
  }
  Agent agent(*a_, {"--ports", "x*", "--role", "switch", "--level", "1", "--qos.lossless", "slides",
                    "--backend", "bpf,dcb"});
  const auto installed = [&] {
    std::string out;
    const auto rules = agent.call("org.lldplevel.Rules");
    for (const auto& port : rules["ports"]) out += port["installed"].get<std::string>() + " ";
    return out;
  };
  EXPECT_TRUE(eventually([&] { return installed() == "yes yes yes "; }))
      << agent.call("org.lldplevel.Rules").dump(1) << agent.log();
  const auto remedies = [&] {
    std::vector<std::string> out;
    const auto show = agent.show();
    for (const auto& alarm : show["alarms"])
      if (alarm["code"] == "unheard") {
        const auto text = alarm["text"].get<std::string>();
        out.push_back(text.substr(text.rfind("port.")));
      }
    return out;
  };
  ASSERT_TRUE(eventually([&] { return remedies().size() == names.size(); }))
      << agent.show().dump(1);
  std::string config = "ports = x*\n";
  for (const std::string& line : remedies()) config += line + "\n";
  agent.write_config(config);
  const auto answer = agent.call("org.lldplevel.Reload");
  EXPECT_TRUE(answer.is_object()) << answer.dump();
  EXPECT_EQ(remedies(), std::vector<std::string>()) << config << agent.log();
  // As it is shown, as the configuration has it, and in octets.
  for (const char* typed : {R"(x\\x1b[31m\")", R"(x\\x1b\\x5b31m\\x22)", R"(x\u001b[31m\")"}) {
    EXPECT_TRUE(
        agent.call("org.lldplevel.Pause", fmt::format(R"({{"ports":["{}"]}})", typed)).is_object());
    EXPECT_EQ(alarms(agent), "paused ") << typed;
    EXPECT_TRUE(agent.call("org.lldplevel.Resume", fmt::format(R"({{"ports":["{}"]}})", typed))
                    .is_object());
    EXPECT_EQ(alarms(agent), "") << typed;
  }
}

/// As Docker, libvirt and Kubernetes leave a server.
void make_server(const Namespace& server, const Namespace& containers) {
  server.sysctl("net/ipv4/conf/all/forwarding", "1");
  server.sysctl("net/ipv6/conf/all/forwarding", "1");
  std::string lines =
      "link add docker0 type bridge\nlink add cni0 type bridge\nlink add virbr0 type bridge\n";
  for (const char* bridge : {"docker0", "cni0"})
    for (int i = 0; i < 4; ++i)
      lines += fmt::format(
          "link add v{0}{1} type veth peer name e{0}{1} netns {2}\n"
          "link set v{0}{1} master {0}\nlink set v{0}{1} up\n",
          bridge, i, containers.name());
  for (int i = 0; i < 3; ++i)
    lines += fmt::format(
        "tuntap add vnet{0} mode tap\nlink set vnet{0} master virbr0\n"
        "link set vnet{0} up\n",
        i);
  lines += "link set docker0 up\nlink set cni0 up\nlink set virbr0 up\n";
  server.ip_batch(lines);
}

TEST_F(PortsTest, ServerWithContainersIsAHostAndDoesNotSpeakToThem) {
  make_server(*a_, *b_);
  const Agent agent(*a_, {"--ports=-no-such"});
  const auto device = agent.show()["device"];
  EXPECT_EQ(device["role"], "host");
  EXPECT_EQ(device["role_reason"], "it forwards IP with 0 physical ports only, and bridges none");
  EXPECT_THAT(ports(agent), testing::IsEmpty());
  EXPECT_EQ(alarms(agent), "no-port ");
  EXPECT_THAT(agent.log(), HasSubstr("ready: 0 ports, host, for it forwards IP with 0 physical"));
}

TEST_F(PortsTest, ServerWithContainersIsAHostEvenWhereTheyAreNamed) {
  make_server(*a_, *b_);
  const Agent agent(*a_, {"--ports", "vdocker*,vnet?,virbr0,!vnet2"});
  EXPECT_THAT(ports(agent), testing::ElementsAre("vdocker00", "vdocker01", "vdocker02", "vdocker03",
                                                 "virbr0", "vnet0", "vnet1"));
  EXPECT_EQ(agent.show()["device"]["role"], "host");
}

TEST_F(PortsTest, RoleThatIsSetHasNoReason) {
  const Agent agent(*a_, {"--role", "switch"});
  EXPECT_EQ(agent.show()["device"]["role"], "switch");
  EXPECT_TRUE(agent.show()["device"]["role_reason"].is_null());
}

TEST_F(PortsTest, NoPortIsAnAlarmUntilOneComes) {
  const Agent agent(*a_, {"--ports", "swp*"});
  EXPECT_EQ(alarms(agent), "no-port ");
  a_->ip("tuntap add swp1 mode tap");
  EXPECT_TRUE(eventually([&] { return alarms(agent).empty(); }));
  a_->ip("link del swp1");
  EXPECT_TRUE(eventually([&] { return alarms(agent) == "no-port "; }));
}

TEST_F(PortsTest, AdminStatusIsFollowedAtReload) {
  join(*a_, *b_);
  Agent agent(*a_, {"--role", "switch"});
  const Agent peer(*b_, {"--role", "host"});
  ASSERT_TRUE(know(agent, 1, peer, 1));
  const auto set = [&](const char* admin) {
    agent.write_config(fmt::format("port.p0.admin = {}\n", admin));
    agent.process().signal(SIGHUP);
    return eventually([&] { return agent.port("p0")["admin"] == admin; });
  };
  ASSERT_TRUE(set("rx"));
  EXPECT_TRUE(know(agent, 1, peer, 0)) << "the last frame says that no more come";
  ASSERT_TRUE(set("tx"));
  EXPECT_TRUE(know(agent, 0, peer, 1));
  ASSERT_TRUE(set("off"));
  EXPECT_TRUE(know(agent, 0, peer, 0));
}

/// Frames of LLDP that come in at a port.
class Ear {
 public:
  Ear(const Namespace& space, const char* port) {
    const Inside here(space);
    fd_ = UniqueFd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = __builtin_bswap16(ETH_P_LLDP);
    at.sll_ifindex = static_cast<int>(::if_nametoindex(port));
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  }
  std::size_t heard() {
    char frame[2048];
    sockaddr_ll from{};
    socklen_t size = sizeof from;
    while (::recvfrom(fd_.get(), frame, sizeof frame, 0, reinterpret_cast<sockaddr*>(&from),
                      &size) >= 0) {
      count_ += from.sll_pkttype != PACKET_OUTGOING;
      size = sizeof from;
    }
    return count_;
  }

 private:
  UniqueFd fd_;
  std::size_t count_ = 0;
};

// With transport = auto the first frame had nobody to send it, and was counted; the next came with
// the next tick. It goes before anybody is answered.
TEST_F(PortsTest, FirstFrameDoesNotWaitForTheQuestionWhetherLldpdRuns) {
  join(*a_, *b_);
  const TemporaryDirectory files;
  Ear ear(*b_, "p0");
  const Agent agent(*a_, {"--lldpd.socket", files.file("none")});
  const auto sent = [&] {
    return agent.call("org.lldplevel.Stats")["ports"][0]["statsFramesOutTotal"];
  };
  EXPECT_GE(sent(), 1);
  ASSERT_TRUE(eventually([&] { return ear.heard() > 0; }));
  EXPECT_EQ(sent(), ear.heard());
}

// docs/develop/rules.md, Terms: saved first. The state file is a pipe that is not read yet, so its
// writing takes long, as on a file system that is frozen. What tells of it waits a moment for that,
// and not for ever.
TEST_F(PortsTest, FrameWaitsForTheWritingOfWhatItTells) {
  join(*a_, *b_);
  Ear ear(*b_, "p0");
  Agent agent(*a_, {"--role", "switch", "--lldp.tx-interval", "3600"});
  ASSERT_TRUE(eventually([&] { return ear.heard() > 0; }));
  const std::string part = agent.state_file() + ".part";
  ASSERT_EQ(::mkfifo(part.c_str(), 0600), 0);
  const std::size_t before = ear.heard();
  agent.write_config("role = switch\nlevel = 3\n");
  agent.process().signal(SIGHUP);
  std::this_thread::sleep_for(120ms);
  EXPECT_EQ(ear.heard(), before);
  EXPECT_TRUE(eventually([&] { return ear.heard() > before; }));
  EXPECT_EQ(agent.level(), 3);
  const UniqueFd reader(::open(part.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::string text(4096, '\0');
  EXPECT_TRUE(eventually([&] {
    const ssize_t n = ::read(reader.get(), text.data(), text.size());
    return n > 0 && text.find("\nlevel 3\n") != text.npos;
  }));
}

TEST_F(PortsTest, DryRunSaysNothingAndChangesNothing) {
  join(*a_, *b_);
  const TemporaryDirectory files;
  Ear ear(*b_, "p0");
  {
    Agent agent(*a_,
                {"--dry-run", "--role", "switch", "--on-change", "touch " + files.file("ran")});
    const Agent peer(*b_, {"--role", "host"});
    EXPECT_TRUE(know(agent, 1, peer, 0));
    EXPECT_TRUE(eventually([&] { return agent.level() == 1; })) << "it learns";
    EXPECT_THAT(agent.log(), HasSubstr("a dry run: nothing is sent"));
    a_->ip("link set p0 down");
    a_->ip("link set p0 up");
    EXPECT_TRUE(eventually([&] { return agent.neighbors("p0") == 1; }));
    agent.process().signal(SIGTERM);
    EXPECT_EQ(agent.process().wait(), 0);
    EXPECT_EQ(peer.neighbors("p0"), 0U);
  }
  EXPECT_EQ(ear.heard(), 0U);
  EXPECT_NE(::access(files.file("ran").c_str(), F_OK), 0);
}

TEST_F(PortsTest, NamesThatNoInterfaceHasAreSaid) {
  join(*a_, *b_);
  const Agent agent(*a_, {"--ports", "p0,nosuch", "--port.other.admin", "rx"});
  EXPECT_THAT(agent.log(), HasSubstr("ports: 'nosuch' is no interface here"));
  EXPECT_THAT(agent.log(), HasSubstr("port.other.admin: 'other' is no interface here"));
  EXPECT_THAT(agent.log(), Not(HasSubstr("'p0' is no interface")));
  agent.write_config("port.later.admin = rx\n");
  (void)agent.call("org.lldplevel.Reload");
  EXPECT_THAT(agent.log(), HasSubstr("port.later.admin: 'later' is no interface here"));
}

TEST_F(PortsTest, DryRunIsReadAtTheStartAndWhatItRunsBesideItWithIt) {
  join(*a_, *b_);
  const Agent agent(*a_, {"--role", "switch"});
  agent.write_config(
      "dry-run = yes\non-change = true\nmetrics.listen = 127.0.0.1:9187\nsnmp.agentx = /none\n");
  EXPECT_EQ(agent.call("org.lldplevel.Reload").dump(), R"({"restart":["dry-run"]})");
  EXPECT_THAT(agent.log(), HasSubstr("`dry-run` changed; restart the daemon"));
  EXPECT_THAT(agent.log(), HasSubstr("configuration read again"));
  EXPECT_THAT(agent.log(), Not(HasSubstr("no launcher")));
}

TEST_F(PortsTest, KeysThatWaitForARestartAreNamed) {
  join(*a_, *b_);
  const Agent agent(*a_, {"--role", "switch"});
  const auto waiting = [&] {
    std::string out;
    const auto config = agent.call("org.lldplevel.Config");
    for (const auto& key : config.at("keys"))
      if (key.contains("after_restart"))
        out += key["key"].get<std::string>() + "=" + key["after_restart"].get<std::string>() + " ";
    return out;
  };
  const auto reload = [&](const std::string& file) {
    agent.write_config(file);
    return agent.call("org.lldplevel.Reload").dump();
  };
  EXPECT_EQ(waiting(), "");
  // All that are read at start only.
  const std::string all =
      "dry-run = yes\nsocket = /tmp/s\ncontrol.group = root\nseccomp = no\nstate-file = /tmp/f\n"
      "transport = lldpd\nlldpd.socket = /tmp/l\nlldpd.grace = 9\nbackend = flower\nbpffs = "
      "/tmp/b\n"
      "flower.offload = require\nqdisc = htb\n";
  EXPECT_EQ(reload(all),
            R"({"restart":["bpffs","control.group","dry-run","flower.offload","lldpd.grace",)"
            R"("lldpd.socket","qdisc","seccomp","transport"]})")
      << "the command line has the others";
  EXPECT_EQ(waiting(),
            "flower.offload=require qdisc=htb bpffs=/tmp/b transport=lldpd lldpd.socket=/tmp/l "
            "lldpd.grace=9 control.group=root seccomp=no dry-run=yes ");
  EXPECT_THAT(reload("qdisc = htb\nqdisc.rate = nonsense\n"), HasSubstr("nothing is changed"));
  EXPECT_THAT(waiting(), HasSubstr("dry-run=yes")) << "as at the last reload";
  EXPECT_EQ(reload("lldpd.grace = 9\nlldp.tx-interval = 7\n"), R"({"restart":["lldpd.grace"]})");
  EXPECT_EQ(waiting(), "lldpd.grace=9 ");
  EXPECT_EQ(reload("lldp.tx-interval = 7\n"), "{}");
  EXPECT_EQ(waiting(), "");
}

TEST_F(PortsTest, WhatRunsBesideItGoesOnWhereADryRunWasWantedTooLate) {
  join(*a_, *b_);
  const Agent agent(*a_, {"--role", "switch", "--on-change", "true"});
  agent.write_config("dry-run = yes\n");
  (void)agent.call("org.lldplevel.Reload");
  EXPECT_THAT(agent.log(), HasSubstr("`dry-run` changed; restart the daemon"));
  EXPECT_THAT(agent.call("org.lldplevel.Show").dump(), HasSubstr("\"on-change\""));
}

TEST_F(PortsTest, DryRunListensWhereTheServiceWould) {
  join(*a_, *b_, 3);
  const Agent agent(
      *a_, {"--dry-run", "--role", "switch", "--port.p1.admin", "off", "--port.p2.admin", "tx"});
  EXPECT_EQ(agent.port("p0")["admin"], "rx");
  EXPECT_EQ(agent.port("p1")["admin"], "off");
  EXPECT_EQ(agent.port("p2")["admin"], "off");
}

TEST_F(PortsTest, DryRunStandsBesideTheServiceWithItsFile) {
  join(*a_, *b_);
  const TemporaryDirectory files;
  std::ofstream(files.file("conf")) << "ports = *\nrole = switch\nlevel = 2\nbackend = print\n"
                                    << "socket = " << files.file("control") << "\n"
                                    << "state-file = " << files.file("state") << "\n";
  const auto is_there = [&](const char* name) {
    return eventually([&] { return ::access(files.file(name).c_str(), F_OK) == 0; });
  };
  std::vector<std::string> command{support::program("lldp-leveld"), "--config", files.file("conf")};
  Process service(a_->inside(command), files.file("log"));
  ASSERT_TRUE(is_there("control") && is_there("state")) << service.output();
  command.push_back("--dry-run");
  Process dry(a_->inside(command), files.file("dry.log"));
  EXPECT_TRUE(is_there("control.dry-run") && is_there("state.dry-run")) << dry.output();
  dry.signal(SIGTERM);
  EXPECT_EQ(dry.wait(), 0);
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait(), 0) << service.output();
}

}  // namespace
}  // namespace lldp::netns
