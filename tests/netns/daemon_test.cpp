// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "os/fd.hpp"
#include "tests/netns/daemon_fixture.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST_F(DaemonTest, LearnsItsNeighbourAndItsLevel) {
  join(*a_, *b_);
  const Agent host(*a_, {"--role", "host"});
  const Agent leaf(*b_, {"--role", "switch"});
  ASSERT_TRUE(knows(leaf, "p0", 1));
  ASSERT_TRUE(knows(host, "p0", 1));
  EXPECT_TRUE(eventually([&] { return leaf.level() == 1; }));
  EXPECT_EQ(leaf.port("p0")["type"], "downlink");
  EXPECT_TRUE(eventually([&] { return host.port("p0")["neighbors"][0]["level"] == 1; }));
  EXPECT_EQ(host.port("p0")["neighbors"][0]["system_name"], b_->name());
  EXPECT_EQ(host.level(), 0);
}

TEST_F(DaemonTest, GivesBackWhatOnlyItsStartRead) {
  Agent agent(*a_);
  const auto resident_of_files = [&] {
    std::ifstream status(fmt::format("/proc/{}/status", agent.process().pid()));
    for (std::string word; status >> word;)
      if (long kilobytes = 0; word == "RssFile:" && status >> kilobytes) return kilobytes;
    return 0L;
  };
  const long before = resident_of_files();
  EXPECT_TRUE(eventually([&] { return resident_of_files() < before - 1000; })) << before;
}

TEST_F(DaemonTest, HoldsTheNeighboursPfcAgainstTheLosslessPriorities) {
  join(*a_, *b_);
  const Agent leaf(*b_, {"--role", "switch"});
  const std::vector<std::uint8_t> frame{
      0x01, 0x80, 0xc2, 0,    0,    0x0e, 0x02, 0,    0,
      0,    0,    9,    0x88, 0xcc,                       // to the nearest bridge
      0x02, 0x07, 4,    0x02, 0,    0,    0,    0,    9,  // Chassis ID
      0x04, 0x03, 5,    'p',  '1',                        // Port ID
      0x06, 0x02, 0,    121,                              // TTL
      0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08, 0x28,     // PFC for 3 and 5
      0,    0};
  send(*a_, frame);
  ASSERT_TRUE(knows(leaf, "p0", 1));
  const auto show = leaf.show();
  EXPECT_EQ(leaf.port("p0")["neighbors"][0]["pfc_enabled"], (std::vector{3, 5}));
  EXPECT_TRUE(leaf.port("p0")["pfc_enabled"].is_null());  // veth has no dcbnl
  ASSERT_EQ(show["alarms"].size(), 1U) << show.dump(1);
  EXPECT_EQ(show["alarms"][0]["code"], "pfc-mismatch");
  EXPECT_EQ(show["alarms"][0]["text"],
            "priority 6 has no PFC at 02:00:00:00:00:09 port p1; priority 3 has PFC at "
            "02:00:00:00:00:09 port p1 and is in no lossless class; if lossless traffic uses it: "
            "qos.lossless = 5:dscp43>6:dscp51,3:dscp26+24-31>2:dscp19");
}

TEST_F(DaemonTest, ForgetsAtOnceWhenTheLinkGoesDownAndKeepsItsLevel) {
  join(*a_, *b_);
  const Agent host(*a_, {"--role", "host"});
  const Agent leaf(*b_, {"--role", "switch"});
  ASSERT_TRUE(eventually([&] { return leaf.level() == 1; }));
  a_->ip("link set p0 down");
  EXPECT_TRUE(knows(leaf, "p0", 0));
  EXPECT_EQ(leaf.port("p0")["up"], false);
  EXPECT_EQ(leaf.level(), 1);
  a_->ip("link set p0 up");
  EXPECT_TRUE(knows(leaf, "p0", 1));
}

TEST_F(DaemonTest, IsForgottenAtOnceWhenItIsStopped) {
  join(*a_, *b_);
  const Agent leaf(*b_, {"--role", "switch"});
  for (const char* flush : {"no", "yes"}) {
    Agent host(*a_, {"--role", "host"});
    host.write_config(std::string("flush = ") + flush + "\n");
    host.restart();
    ASSERT_TRUE(knows(leaf, "p0", 1));
    host.process().signal(SIGTERM);
    EXPECT_EQ(host.process().wait(), 0);
    EXPECT_TRUE(knows(leaf, "p0", 0)) << flush;
  }
  EXPECT_THAT(leaf.log(), HasSubstr("shut down"));
}

TEST_F(DaemonTest, SaysThatAFrameWasNotSent) {
  join(*a_, *b_);
  a_->ip("link set p0 txqueuelen 0");
  run(a_->inside({"tc", "qdisc", "add", "dev", "p0", "root", "pfifo", "limit", "0"}));
  const Agent agent(*a_, {"--role", "switch"});
  EXPECT_TRUE(eventually([&] {
    return agent.log().find("p0: frame not sent: No buffer space available") != std::string::npos;
  })) << agent.log();
  run(a_->inside({"tc", "qdisc", "del", "dev", "p0", "root"}));
}

TEST_F(DaemonTest, StartsWithAStateFileThatIsDamagedAndSaysSo) {
  join(*a_, *b_);
  Agent agent(*a_, {"--role", "switch"});
  agent.process().signal(SIGKILL);
  agent.process().wait();
  for (const char* suffix : {"", ".sync", ".new"})
    std::ofstream(agent.state_file() + suffix) << "nonsense\n";
  agent.restart();
  EXPECT_THAT(agent.log(), HasSubstr(agent.state_file() + ": damaged ("));
  EXPECT_THAT(agent.show()["alarms"].dump(), HasSubstr(agent.state_file() + ": was damaged"));
  EXPECT_EQ(agent.port("p0")["up"], true);
}

// docs/develop/rules.md A3
TEST_F(DaemonTest, ANeighborThatIsStoppedTakesNobodysOrderAlong) {
  join(*a_, *b_);
  Agent spine(*a_, {"--role", "switch", "--level", "2"});
  const Agent leaf(*b_, {"--role", "switch", "--level", "1"});
  const auto order = [&] { return leaf.port("p0")["order"]; };
  const auto is_silent = [&] {
    const auto show = leaf.show();
    for (const auto& alarm : show["alarms"])
      if (alarm["code"] == "silent") return true;
    return false;
  };
  ASSERT_TRUE(eventually([&] { return order() == "up"; }));
  EXPECT_FALSE(is_silent());
  spine.process().signal(SIGTERM);
  EXPECT_EQ(spine.process().wait(), 0);
  EXPECT_TRUE(eventually(is_silent));
  EXPECT_EQ(order(), "up");
  spine.restart();
  EXPECT_TRUE(eventually([&] { return !is_silent(); }));
  EXPECT_EQ(order(), "up");
}

// A carrier that came and went unseen: A8, by the kernel's own count.
TEST_F(DaemonTest, ACarrierThatWentWhileTheDaemonWasDeadIsSeen) {
  join(*a_, *b_, 2);
  Agent low(*a_, {"--role", "switch", "--level", "1"});
  Agent spine(*b_, {"--role", "switch", "--level", "2"});
  const auto order = [&](const char* port) { return spine.port(port)["order"]; };
  ASSERT_TRUE(eventually([&] { return order("p0") == "down" && order("p1") == "down"; }));
  spine.process().signal(SIGKILL);
  spine.process().wait();
  a_->ip("link set p0 down");
  a_->ip("link set p0 up");
  low.process().signal(SIGSTOP);  // nobody speaks to it
  spine.restart();
  EXPECT_EQ(order("p0"), "up");
  EXPECT_EQ(order("p1"), "down");
  low.process().signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return order("p0") == "down"; }));
}

// docs/develop/rules.md, Terms: saved first
TEST_F(DaemonTest, WhatAFrameTellsStandsInTheStateFileBefore) {
  join(*a_, *b_);
  const Agent host(*a_, {"--role", "host"});
  const Agent leaf(*b_, {"--role", "switch"});
  ASSERT_TRUE(eventually([&] {
    const auto port = host.port("p0");
    return !port["neighbors"].empty() && port["neighbors"][0]["level"] == 1;
  }));
  EXPECT_TRUE(stores(leaf, "\nlevel 1\n"));
}

TEST_F(DaemonTest, ForgetsOnRequest) {
  join(*a_, *b_);
  Agent spine(*a_, {"--role", "switch", "--level", "2"});
  const Agent leaf(*b_, {"--role", "switch"});
  ASSERT_TRUE(eventually([&] { return leaf.level() == 3 && leaf.port("p0")["order"] == "down"; }));
  spine.process().signal(SIGTERM);
  spine.process().wait();
  ASSERT_TRUE(eventually([&] { return leaf.show()["alarms"].size() == 1; }));
  EXPECT_TRUE(stores(leaf, "\nlevel 3\n"));
  (void)leaf.call("org.lldplevel.Forget");
  EXPECT_FALSE(stores(leaf, "\nlevel 3\n")) << "whoever kills it now finds it again";
  EXPECT_EQ(leaf.level(), -1);
  EXPECT_EQ(leaf.port("p0")["order"], "down");  // the rank stays
  EXPECT_THAT(leaf.log(), HasSubstr("level dropped on request"));
}

TEST_F(DaemonTest, PausedPortIsMuteAndDeafAndKeepsItsOrderUntilResumed) {
  join(*a_, *b_);
  const Agent spine(*a_, {"--role", "switch", "--level", "2", "--lldp.tx-interval", "1"});
  Agent leaf(*b_, {"--role", "switch", "--level", "1"});
  ASSERT_TRUE(eventually([&] { return leaf.port("p0")["order"] == "up"; }));
  ASSERT_TRUE(knows(spine, "p0", 1));
  const auto alarm = [&] {
    const auto show = leaf.show();
    for (const auto& one : show["alarms"])
      if (one["code"] == "paused") return one["port"].get<std::string>();
    return std::string();
  };
  const auto in = [&] {
    return leaf.call("org.lldplevel.Stats")["ports"][0]["statsFramesInTotal"].get<int>();
  };

  for (const char* command : {"Pause", "Update"})
    EXPECT_EQ(leaf.call(std::string("org.lldplevel.") + command, R"({"ports":["p9"]})")["reason"],
              "p9: is no port");
  const auto mute = [&](const char* parameters) {
    return leaf.call("org.lldplevel.Mute", parameters);
  };
  EXPECT_EQ(mute(R"({"alarm":"silent","port":"p9","seconds":"60"})")["reason"], "p9: is no port");
  EXPECT_EQ(mute(R"({"alarm":"silent","port":"p0","seconds":"60"})").dump(), "{}");
  EXPECT_EQ(mute(R"({"alarm":"port-missing","port":"p9","seconds":"60"})").dump(), "{}");
  EXPECT_EQ(mute(R"({"alarm":"silent","port":"p0","seconds":"0"})").dump(), "{}");
  EXPECT_EQ(leaf.call("org.lldplevel.Pause").dump(), "{}");  // its connection ends, the pause not
  EXPECT_TRUE(knows(spine, "p0", 0)) << "it was told";
  EXPECT_EQ(alarm(), "p0");
  EXPECT_EQ(leaf.port("p0")["admin"], "off");
  EXPECT_EQ(leaf.neighbors("p0"), 0U);
  EXPECT_EQ(leaf.port("p0")["order"], "up");
  EXPECT_THAT(leaf.show()["alarms"].dump(), Not(HasSubstr("forget p0")));  // it may well be there
  EXPECT_EQ(leaf.call("org.lldplevel.Update", R"({"ports":["p0"]})")["reason"],
            "p0: is down, or may not send");
  EXPECT_EQ(leaf.call("org.lldplevel.Update")["reason"], "no port is up and may send");

  const int before = in();
  (void)leaf.call("org.lldplevel.Reload");
  b_->ip("link set p0 down");
  b_->ip("link set p0 up");
  ASSERT_TRUE(eventually([&] { return leaf.port("p0")["up"] == true; }));
  const auto sent = [&] {
    return spine.call("org.lldplevel.Stats")["ports"][0]["statsFramesOutTotal"].get<int>();
  };
  const int already = sent();
  ASSERT_TRUE(eventually([&] { return sent() >= already + 2; }));
  EXPECT_EQ(in(), before);
  EXPECT_EQ(alarm(), "p0");

  EXPECT_EQ(leaf.call("org.lldplevel.Resume", R"({"ports":["p*"]})").dump(), "{}");
  EXPECT_TRUE(knows(spine, "p0", 1));
  EXPECT_TRUE(knows(leaf, "p0", 1));
  EXPECT_EQ(alarm(), "");
  EXPECT_EQ(leaf.call("org.lldplevel.Resume").dump(), "{}") << "nothing to do is no mistake";

  (void)leaf.call("org.lldplevel.Pause", R"({"ports":["p0"]})");
  leaf.process().signal(SIGTERM);
  EXPECT_EQ(leaf.process().wait(), 0);
  leaf.restart();
  EXPECT_EQ(alarm(), "");
  EXPECT_TRUE(knows(spine, "p0", 1));
}

TEST_F(DaemonTest, CommandsReachThePortsThatAreNamedAndNoOthers) {
  join(*a_, *b_, 3);
  const Agent leaf(*b_, {"--role", "switch", "--level", "1"});
  const auto tell = [&](const char* method, const char* ports) {
    const auto answer = leaf.call("org.lldplevel." + std::string(method),
                                  R"({"ports":)" + std::string(ports) + "}");
    return answer.contains("reason") ? answer["reason"].get<std::string>() : "";
  };
  const auto off = [&] {
    std::string out;
    for (const char* port : {"p0", "p1", "p2"})
      if (leaf.port(port)["admin"] == "off") out += std::string(port) + ' ';
    return out;
  };
  EXPECT_EQ(tell("Pause", R"(["p0","p[2]"])"), "p[2]: is no port");
  EXPECT_EQ(off(), "") << "all of it or nothing";
  EXPECT_EQ(tell("Pause", R"(["p1"])"), "");
  EXPECT_EQ(off(), "p1 ");
  EXPECT_EQ(tell("Update", R"(["p0","p2"])"), "");
  EXPECT_EQ(tell("Update", R"(["p?"])"), "p1: is down, or may not send");
  EXPECT_EQ(tell("Pause", R"(["p*"])"), "");
  EXPECT_EQ(off(), "p0 p1 p2 ");
  EXPECT_EQ(tell("Resume", R"(["p0","p2"])"), "");
  EXPECT_EQ(off(), "p1 ");
  EXPECT_EQ(tell("Resume", R"(["q*"])"), "q*: is no port");
  EXPECT_EQ(tell("Resume", "[]"), "");
  EXPECT_EQ(off(), "");
  EXPECT_EQ(tell("Forget", "[]"), "level: is pinned by the configuration");
  EXPECT_EQ(tell("Forget", R"(["p2"])"), "");
  EXPECT_THAT(leaf.log(), HasSubstr("p2: remembered neighbor dropped on request"));
  EXPECT_THAT(leaf.log(), Not(HasSubstr("p1: remembered neighbor dropped on request")));
  EXPECT_THAT(leaf.log(), Not(HasSubstr("level dropped on request")));
}

TEST_F(DaemonTest, PauseFollowsARenameAndOutlivesTheInterface) {
  join(*a_, *b_);
  const Agent leaf(*b_, {"--role", "switch"});
  (void)leaf.call("org.lldplevel.Pause", R"({"ports":["p0"]})");
  const auto paused = [&] {
    std::string ports;
    const auto show = leaf.show();
    for (const auto& alarm : show["alarms"])
      if (alarm["code"] == "paused") ports += alarm["port"].get<std::string>() + " ";
    return ports;
  };
  ASSERT_EQ(paused(), "p0 ");
  b_->ip("link set p0 name q0");
  EXPECT_TRUE(eventually([&] { return paused() == "q0 "; }));
  EXPECT_EQ(leaf.port("q0")["admin"], "off");
  b_->ip("link set q0 name p0");
  EXPECT_TRUE(eventually([&] { return paused() == "p0 "; }));
  b_->ip("link del p0");
  EXPECT_TRUE(eventually([&] { return paused().empty(); }));
  join(*a_, *b_);
  EXPECT_TRUE(eventually([&] { return paused() == "p0 "; }));
  EXPECT_THAT(leaf.log(), Not(HasSubstr("lldp-leveld: alarm paused"))) << "of which port?";
  b_->ip("link del p0");
  EXPECT_TRUE(eventually([&] { return paused().empty(); }));
  EXPECT_EQ(leaf.call("org.lldplevel.Resume", R"({"ports":["p0"]})").dump(), "{}");
  join(*a_, *b_);
  EXPECT_TRUE(eventually([&] { return leaf.port("p0")["admin"] == "rxtx"; }));
  EXPECT_EQ(paused(), "");
}

// IEEE 802.1AB-2016 9.2.5: txCredit
TEST_F(DaemonTest, FloodOfUpdatesSendsNoMoreThanTheCreditLets) {
  join(*a_, *b_);
  const Agent leaf(*b_, {"--role", "switch", "--lldp.tx-interval", "3600"});
  const auto sent = [&] {
    return leaf.call("org.lldplevel.Stats")["ports"][0]["statsFramesOutTotal"].get<int>();
  };
  ASSERT_TRUE(eventually([&] { return sent() >= 1; }));
  const int before = sent();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(leaf.call("org.lldplevel.Update").dump(), "{}");
  ASSERT_TRUE(eventually([&] { return sent() > before; }));
  const auto seconds =
      std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - began).count();
  EXPECT_LE(sent(), before + 8 + seconds);
}

TEST_F(DaemonTest, NeighborThatChangesAllTheTimeDoesNotFillTheLog) {
  join(*a_, *b_);
  const Agent leaf(*b_, {"--role", "switch"});
  std::vector<std::uint8_t> frame{
      0x01, 0x80, 0xc2, 0,   0,   0x0e, 0x02, 0, 0,   0,    0, 9,   0x88, 0xcc,
      0x02, 7,    4,    2,   0,   0,    0,    0, 9,                            // Chassis ID
      0x04, 3,    5,    'p', '1', 0x06, 2,    0, 121, 0x0a, 1, '0', 0,    0};  // System Name
  std::uint8_t& name = frame[frame.size() - 3];
  constexpr std::uint8_t kLast = 'Z';
  for (name = '0'; name != kLast; ++name) send(*a_, frame);
  send(*a_, frame);
  ASSERT_TRUE(eventually([&] {
    return leaf.neighbors("p0") == 1 && leaf.port("p0")["neighbors"][0]["system_name"] == "Z";
  }));
  const std::string log = leaf.log();
  int lines = 0;
  for (auto at = log.find("system-name"); at != log.npos; at = log.find("system-name", at + 1))
    ++lines;
  EXPECT_GT(lines, 5) << log;
  EXPECT_LE(lines, 20) << log;
}

TEST_F(DaemonTest, SetHoldsUntilTheNextReloadAndSaysSo) {
  join(*a_, *b_);
  Agent leaf(*b_, {"--role", "switch"});
  const Agent peer(*a_, {"--role", "host"});
  leaf.write_config("port.p0.description = of-the-file\n");
  (void)leaf.call("org.lldplevel.Reload");
  const auto set = [&](std::string_view key, std::string_view value) {
    const auto reply =
        leaf.call("org.lldplevel.Set", fmt::format(R"({{"key":"{}","value":"{}"}})", key, value));
    return reply.value("reason", "done");
  };
  const auto heard = [&](std::string_view name) {
    return eventually([&] {
      const auto port = peer.port("p0");
      return !port["neighbors"].empty() && port["neighbors"][0]["port_description"] == name;
    });
  };
  EXPECT_TRUE(heard("of-the-file"));
  leaf.write_config("port.p0.description = half-written\nlevel = \n");  // not asked to be read
  EXPECT_EQ(set("port.p0.description", "another"), "done");
  EXPECT_TRUE(heard("another"));
  EXPECT_EQ(leaf.show()["device"]["set"].dump(), R"({"port.p0.description":"another"})");
  EXPECT_EQ(set("level", "0"), "level: '0' is not in range: use 1-254");
  EXPECT_EQ(set("level", "\\u0000"), "level: '\\x00' has a control character: leave it out");
  EXPECT_EQ(set("backend", "none"),
            "backend: is read at start only: write it into the file and restart the daemon");
  EXPECT_THAT(set("on-change", "true"), HasSubstr("there is no launcher"));
  EXPECT_EQ(set("port.p0.admin", "rx"), "done");
  EXPECT_EQ(leaf.port("p0")["admin"], "rx");
  EXPECT_EQ(leaf.show()["device"]["set"].size(), 2U);
  const auto alarm = [&] {
    std::string text;
    const auto show = leaf.show();
    for (const auto& one : show["alarms"])
      if (one["code"] == "set") text += one["text"].get<std::string>();
    return text;
  };
  EXPECT_EQ(alarm(),
            "port.p0.admin = rx, port.p0.description = another: set on request; "
            "`lldp-level reload` ends it");
  EXPECT_THAT(leaf.log(), HasSubstr("port.p0.description = another: set on request, until"));

  leaf.write_config("port.p0.description = of-the-file\n");
  (void)leaf.call("org.lldplevel.Reload");
  EXPECT_EQ(leaf.show()["device"]["set"].dump(), "{}");
  EXPECT_EQ(alarm(), "");
  EXPECT_EQ(leaf.port("p0")["admin"], "rxtx");
  EXPECT_TRUE(heard("of-the-file"));
  EXPECT_EQ(set("port.p0.description", "another"), "done");
  leaf.process().signal(SIGTERM);
  EXPECT_EQ(leaf.process().wait(), 0);
  leaf.restart();
  EXPECT_EQ(leaf.show()["device"]["set"].dump(), "{}");
  EXPECT_TRUE(heard("of-the-file"));
}

TEST_F(DaemonTest, AHostKnowsItsLeafUntilItIsForgotten) {  // docs/develop/rules.md P4
  join(*a_, *b_);
  const Agent host(*a_, {"--role", "host"});
  Agent leaf(*b_, {"--role", "switch"});
  const auto tiers = [&] { return host.show()["device"]["location"]["tiers"]; };
  ASSERT_TRUE(eventually([&] { return tiers().size() == 1; }));
  EXPECT_EQ(tiers()[0]["level"], 1);
  EXPECT_EQ(tiers()[0]["id"], leaf.show()["device"]["chassis_id"]);
  leaf.process().signal(SIGTERM);
  leaf.process().wait();
  ASSERT_TRUE(eventually([&] { return host.port("p0")["neighbors"].empty(); }));
  EXPECT_EQ(tiers().size(), 1U);
  (void)host.call("org.lldplevel.Forget");
  EXPECT_EQ(tiers().size(), 1U);  // the port remembers the leaf
  (void)host.call("org.lldplevel.Forget", R"({"ports":["p0"]})");
  (void)host.call("org.lldplevel.Forget");
  EXPECT_TRUE(tiers().empty());
  EXPECT_THAT(host.log(), HasSubstr("location dropped on request"));
}

TEST_F(DaemonTest, KeepsItsLevelAcrossAKill) {
  join(*a_, *b_);
  std::optional<Agent> host(std::in_place, *a_, std::vector<std::string>{"--role", "host"});
  Agent leaf(*b_, {"--role", "switch"});
  ASSERT_TRUE(eventually([&] { return leaf.level() == 1; }));
  const auto chassis = leaf.show()["device"]["chassis_id"];
  leaf.process().signal(SIGKILL);
  EXPECT_EQ(leaf.process().wait(), 128 + SIGKILL);
  host.reset();
  leaf.restart();
  const auto device = leaf.show()["device"];
  EXPECT_EQ(device["level"], 1);
  EXPECT_EQ(device["level_source"], "restored");
  EXPECT_EQ(device["chassis_id"], chassis);
}

TEST_F(DaemonTest, PortIdIsTheAliasOfAnInterfaceThatHasOne) {
  join(*a_, *b_);
  const Agent one(*a_, {"--role", "switch", "--lldp.port-id", "alias"});
  const Agent two(*b_, {"--role", "switch"});
  const auto is = [&](const char* id) {
    return eventually([&] {
      const auto port = two.port("p0");
      return port["neighbors"].size() == 1 && port["neighbors"][0]["port_id"] == id;
    });
  };
  EXPECT_TRUE(is("p0"));
  a_->ip("link set p0 alias to-spine");
  EXPECT_TRUE(is("to-spine")) << two.port("p0").dump(1);
}

TEST_F(DaemonTest, FollowsAPortThatIsRenamedMovedAndBack) {
  join(*a_, *b_);
  const Agent one(*a_, {"--role", "switch"});
  const Agent two(*b_, {"--role", "switch"});
  ASSERT_TRUE(knows(two, "p0", 1));
  a_->ip("link set p0 name swp1");
  EXPECT_TRUE(eventually([&] {
    const auto port = two.port("p0");
    return port["neighbors"].size() == 1 && port["neighbors"][0]["port_id"] == "swp1";
  }));
  const Namespace elsewhere;
  a_->ip("link set swp1 netns " + elsewhere.name());
  EXPECT_TRUE(eventually([&] { return one.port("swp1").is_null(); }));
  EXPECT_TRUE(knows(two, "p0", 0));
  elsewhere.ip("link set swp1 netns " + a_->name());
  a_->ip("link set swp1 up");
  EXPECT_TRUE(knows(one, "swp1", 1));
  EXPECT_TRUE(knows(two, "p0", 1));
}

TEST_F(DaemonTest, FollowsAStormOfInterfaces) {
  const Agent agent(*a_, {"--role", "switch"});
  std::string add;
  std::string del;
  for (int i = 0; i < 50; ++i) {
    add += fmt::format("link add s{0} type veth peer name t{0}\nlink set s{0} up\n", i);
    del += fmt::format("link del s{}\n", i);
  }
  a_->ip_batch(add + del + add);
  EXPECT_TRUE(eventually([&] { return agent.show()["ports"].size() == 100; }));
  a_->ip_batch(del);
  EXPECT_TRUE(eventually([&] { return agent.show()["ports"].empty(); }));
}

TEST_F(DaemonTest, HearsLldpdAndIsHeardByIt) {
  join(*a_, *b_);
  const Agent leaf(*a_, {"--role", "switch"});
  const TemporaryDirectory files;
  const std::string socket = files.file("lldpd");
  // -O: no configuration but ours; a first line so that the file is there.
  run({"sh", "-c", "echo 'configure system capabilities enabled station' > " + files.file("conf")});
  Process lldpd(b_->inside({"/usr/sbin/lldpd", "-d", "-u", socket, "-O", files.file("conf"), "-L",
                            "/usr/sbin/lldpcli"}),
                files.file("log"));
  ASSERT_TRUE(knows(leaf, "p0", 1)) << lldpd.output();
  EXPECT_TRUE(eventually([&] { return leaf.level() == 1; })) << leaf.show().dump(1);
  EXPECT_EQ(leaf.port("p0")["neighbors"][0]["device_type"], "host");

  std::string seen;
  const auto ask = [&] {
    Process lldpcli({"/usr/sbin/lldpcli", "-u", socket, "show", "neighbors", "details"},
                    files.file("seen"));
    lldpcli.wait();
    seen = lldpcli.output();
    return seen.find("OUI: 00,80,C2, SubType: 20, Len: 3 01,01,01") != std::string::npos &&
           seen.find("OUI: 02,4C,56, SubType: 1, Len: 3 01,01,02") != std::string::npos;
  };
  EXPECT_TRUE(eventually(ask)) << seen;
  EXPECT_THAT(seen, HasSubstr(a_->name()));
  lldpd.signal(SIGTERM);
  EXPECT_EQ(lldpd.wait(), 0);
  EXPECT_TRUE(knows(leaf, "p0", 0));
}

TEST_F(DaemonTest, SendsFramesThatTsharkFindsNothingWrongWith) {
  join(*a_, *b_);
  const TemporaryDirectory files;
  Process capture(b_->inside({"tcpdump", "-i", "p0", "-U", "-w", files.file("pcap"), "ether",
                              "proto", "0x88cc"}),
                  files.file("log"));
  const auto captured = [&](std::string_view octets) {
    std::ifstream in(files.file("pcap"), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {}).find(octets) != std::string::npos;
  };
  ASSERT_TRUE(
      eventually([&] { return capture.output().find("listening on") != std::string::npos; }));
  Agent agent(*a_, {"--role", "switch", "--level", "2"});
  using namespace std::string_view_literals;
  EXPECT_TRUE(eventually([&] { return captured("p0\x06\x02\x00\x79"sv); }));  // Port ID, TTL
  agent.process().signal(SIGTERM);
  EXPECT_EQ(agent.process().wait(), 0);
  EXPECT_TRUE(eventually([&] { return captured("p0\x06\x02\x00\x00"sv); }));
  capture.signal(SIGINT);
  ASSERT_EQ(capture.wait(), 0) << capture.output();
  const std::string text = run({"tshark", "-r", files.file("pcap"), "-V"});
  EXPECT_THAT(text, HasSubstr("Chassis Subtype = MAC address"));
  EXPECT_THAT(text, HasSubstr("Time To Live = 121 sec"));
  EXPECT_THAT(text, HasSubstr("Time To Live = 0 sec"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Malformed")));
  EXPECT_THAT(text, testing::Not(HasSubstr("Expert Info (Error")));
}

TEST_F(DaemonTest, SaysInOneLineWhatKeepsItFromStarting) {
  const TemporaryDirectory files;
  const auto failure = [&](std::vector<std::string> command) {
    const TemporaryDirectory output;
    Process process(a_->inside(std::move(command)), output.file("log"));
    EXPECT_EQ(process.wait(), 1);
    return process.output();
  };
  const std::string program = support::program("lldp-leveld");
  const std::string state = files.file("state");
  EXPECT_EQ(failure({"setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw", program,
                     "--socket", files.file("s"), "--state-file", state}),
            "lldp-leveld: packet socket: Operation not permitted: CAP_NET_RAW is needed\n");
  const std::string refused =
      failure({program, "--socket", "/proc/nowhere/s", "--state-file", state});
  EXPECT_THAT(refused, HasSubstr("/proc/nowhere/s"));
  EXPECT_EQ(std::count(refused.begin(), refused.end(), '\n'), 1) << refused;
}

}  // namespace
}  // namespace lldp::netns
